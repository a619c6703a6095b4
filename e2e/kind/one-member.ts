import { setTimeout as sleep } from 'node:timers/promises';
import type { Prng } from '@engram/sim';
import { campaign, type Fault } from '../chaos/campaign.ts';
import { leaderAmong } from '../cluster/cluster-member.ts';
import { Watcher } from '../cluster/load.ts';
import { equal, type Judge } from '../support/judge.ts';
import { ClientPod } from './client-pod.ts';
import { faultsOfPods, type Scene } from './faults.ts';
import { type KindCluster, run } from './kind-cluster.ts';
import { timed } from './timed.ts';
import { ChartRelease } from './workloads.ts';

const FIRST_PORT = 30_010;
/** How long a process is stopped. */
const HELD_MS = 2_000;
const SEEN_MAX_MS = 10_000;
const PATH = '/var/local/one';

export interface OneMember {
  readonly cluster: KindCluster;
  readonly labImage: string;
  readonly prng: Prng;
}

/** The chart with one member on its own disk. It is gone at the end. */
export async function judgeOne(judge: Judge, { cluster, labImage, prng }: OneMember): Promise<void> {
  const [node] = await cluster.workers();
  await cluster.onNode(node!, ['mkdir', '-p', PATH]);
  await cluster.apply(volume(node!));
  const one = new ChartRelease(cluster, 'one', FIRST_PORT, {
    'persistence.storageClass': '-',
    'persistence.size': '1Gi',
  });
  const members = await timed('helm install of one member', () => one.install(1));
  const [{ endpoint }] = members as [(typeof members)[0]];

  await judge.check('one member: put, get and watch, in a pod and outside of the cluster', async () => {
    const outside = (...args: readonly string[]): Promise<string> => run('etcdctl', ['--endpoints', endpoint, ...args]);
    const client = await ClientPod.watching(cluster, labImage, 'client-of-one', 'one:2379', 'from');
    const watcher = new Watcher(endpoint);
    await client.etcdctl('one:2379', 'put', 'from', 'a pod');
    equal('value outside', (await outside('get', 'from', '--print-value-only')).trim(), 'a pod');
    await outside('put', 'from', 'outside');
    equal('value in a pod', (await client.etcdctl('one:2379', 'get', 'from', '--print-value-only')).trim(), 'outside');
    await client.saw('a pod');
    await client.saw('outside');
    await seen(watcher, 3);
    await watcher.stop();
    equal('revisions that a watcher outside saw', watcher.revisions.join(), '2,3');
    await client.remove();
  });

  await judge.check(
    'one member: nothing is lost while its pod is deleted, evicted, killed, stopped, replaced',
    async () => {
      const { problems, print } = await campaign<Scene>({
        prng,
        endpoints: [endpoint],
        faults: Object.fromEntries(Object.entries(faultsOfPods).map(([name, fault]) => [name, healed(fault)])),
        chosen: Object.keys(faultsOfPods),
        seconds: 0,
        rounds: 1,
        scene: (clients) => ({
          ...clients,
          cluster,
          release: one,
          members,
          prng,
          leader: () => leaderAmong(members, 500),
        }),
      });
      print();
      if (problems.length > 0) throw new Error(problems.join('\n'));
    },
  );
  await cluster.helm('uninstall', 'one', '--wait');
}

async function seen(watcher: Watcher, revision: number): Promise<void> {
  for (const endMs = performance.now() + SEEN_MAX_MS; watcher.last < revision; await sleep(20))
    if (performance.now() > endMs) throw new Error(`a watcher outside is at ${watcher.last}, and not at ${revision}`);
}

/** The fault with its end: no write is acknowledged while the only member is away. */
function healed(fault: Fault<Scene>): Fault<Scene> {
  return async (scene) => {
    const end = await fault(scene);
    await sleep(HELD_MS);
    await end();
    return async () => undefined;
  };
}

/** A volume on a node's disk. There is no provisioner. */
function volume(node: string) {
  const onNode = [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [node] }] }];
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: 'one' },
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      local: { path: PATH },
      nodeAffinity: { required: { nodeSelectorTerms: onNode } },
    },
  };
}
