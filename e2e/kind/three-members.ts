import type { Prng } from '@engram/sim';
import { campaign } from '../chaos/campaign.ts';
import { leaderAmong } from '../cluster/cluster-member.ts';
import { RetryingClients } from '../cluster/load.ts';
import { equal, type Judge } from '../support/judge.ts';
import { ClientPod } from './client-pod.ts';
import { ContainerEnds } from './container-ends.ts';
import { type ClusterScene, faults } from './faults.ts';
import { type KindCluster, run } from './kind-cluster.ts';
import { timed } from './timed.ts';
import { ChartRelease, type PodLab } from './workloads.ts';

const MEMBERS = 3;
const RETRYING_CLIENTS = 6;
const CALLS_MIN = 200;
const FIRST_PORT = 30_000;

export interface ThreeMembers {
  readonly cluster: KindCluster;
  readonly labImage: string;
  readonly lab: PodLab;
  readonly prng: Prng;
  /** How long faults are injected. */
  readonly seconds: number;
  /** The names of the faults. */
  readonly chosen: readonly string[];
}

/** The chart with three members over PD and three stores in pods. It is gone at the end. */
export async function judgeThree(judge: Judge, options: ThreeMembers): Promise<void> {
  const { cluster, labImage, lab, prng } = options;
  const three = new ChartRelease(cluster, 'three', FIRST_PORT, {
    replicaCount: String(MEMBERS),
    'storage.type': 'tikv',
    'tikv.pdEndpoints': `{${lab.address}}`,
    'persistence.enabled': 'false',
  });
  const members = await timed('helm install of three members', () => three.install(MEMBERS));
  const endpoints = members.map(({ endpoint }) => endpoint);
  console.log(`   memory: ${await cluster.memory()}`);
  await using ends = await ContainerEnds.of(cluster, /^three-\d+$/);

  await judge.check(
    'three members: put, get and watch, in a pod and outside of the cluster, see one store',
    async () => {
      const outside = (at: number, ...args: readonly string[]): Promise<string> =>
        run('etcdctl', ['--endpoints', endpoints[at]!, ...args]);
      const client = await ClientPod.watching(cluster, labImage, 'client-of-three', 'three:2379', 'from');
      await client.etcdctl('three:2379', 'put', 'from', 'a pod');
      equal('value outside', (await outside(1, 'get', 'from', '--print-value-only')).trim(), 'a pod');
      await outside(2, 'put', 'from', 'outside');
      const last = await client.etcdctl('three-0.three-headless:2379', 'get', 'from', '--print-value-only');
      equal('value in a pod', last.trim(), 'outside');
      await client.saw('a pod');
      await client.saw('outside');
      const list = await outside(0, 'member', 'list');
      equal('started members', [...list.matchAll(/, started, /g)].length, MEMBERS);
      await client.remove();
    },
  );

  await judge.check('helm upgrade replaces all three members, and no call fails beyond one retry', async () => {
    const clients = new RetryingClients(endpoints, RETRYING_CLIENTS);
    const uids = (): Promise<readonly string[]> => cluster.uids(members.map(({ name }) => name));
    const before = await uids();
    await timed('helm upgrade', () => three.apply('--set', 'podAnnotations.upgrade=first'));
    await three.ready();
    await clients.stop();
    const after = await uids();
    equal('members that are the same', before.filter((uid) => after.includes(uid)).length, 0);
    console.log(
      `   ${clients.requests} calls, ${clients.retries} at a second member, ${clients.failures.length} failed there`,
    );
    equal('calls that failed twice', clients.failures.join('; '), '');
    if (clients.requests < CALLS_MIN) throw new Error(`${clients.requests} calls show nothing`);
  });

  await judge.check('while one member is evicted, the budget keeps the two others', async () => {
    await cluster.evict(members[0]!.name);
    const second = await cluster.evict(members[1]!.name).then(
      () => 'evicted',
      (error: unknown) => String(error),
    );
    if (!second.includes("violate the pod's disruption budget")) throw new Error(second);
    await three.ready();
  });

  await judge.check(
    'three members: nothing is lost, and all that was seen has an order, under faults of pods, nodes and networks',
    async () => {
      const { problems, print } = await campaign<ClusterScene>({
        prng,
        endpoints,
        faults,
        chosen: options.chosen,
        seconds: options.seconds,
        scene: (clients) => ({
          ...clients,
          cluster,
          release: three,
          members,
          lab,
          prng,
          leader: () => leaderAmong(members, 500),
        }),
      });
      print();
      if (problems.length > 0) throw new Error(problems.join('\n'));
    },
  );

  await judge.check('three members: none ended by itself', async () => {
    console.log(`   ${ends.count} containers ended`);
    equal('ended by themselves', ends.byThemselves.join(', '), '');
    if (ends.count === 0) throw new Error('no end of a container was seen');
  });
  await cluster.helm('uninstall', 'three', '--wait');
}
