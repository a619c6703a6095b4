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
const VOLUME_MIB = 512;
const BALLAST = `${PATH}/ballast`;
/** Clients have to fill what the member has reserved of its volume before. */
const END_MAX_MS = 150_000;
const SECOND = '--peer-urls=http://second:2380';
const FIXED = 'the membership of this cluster is fixed: members need --storage=tikv';

export interface OneMember {
  readonly cluster: KindCluster;
  readonly labImage: string;
  readonly prng: Prng;
}

/** The chart with one member on its own disk. It is gone at the end. */
export async function judgeOne(judge: Judge, { cluster, labImage, prng }: OneMember): Promise<void> {
  const [node, other] = (await cluster.workers()) as [string, string];
  await cluster.onNode(node, ['sh', '-c', smallDisk]);
  await cluster.apply(volume('one', node));
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

  const faults = { ...faultsOfPods, 'its volume is full': fullVolume(node) };
  await judge.check(
    'one member: nothing is lost while its pod is deleted, evicted, killed, stopped, replaced, and its volume full',
    async () => {
      const { problems, print } = await campaign<Scene>({
        prng,
        endpoints: [endpoint],
        faults: Object.fromEntries(Object.entries(faults).map(([name, fault]) => [name, healed(fault)])),
        chosen: Object.keys(faults),
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

  await judge.check('one member on its own disk stays alone: what asks for a second one is refused', async () => {
    await refused('a second member', run('etcdctl', ['--endpoints', endpoint, 'member', 'add', 'x', SECOND]), FIXED);
    await refused(
      'three replicas',
      one.apply('--set', 'replicaCount=3'),
      'more than one member needs storage.type=tikv',
    );
    await cluster.onNode(other, ['mkdir', '-p', PATH]);
    await cluster.apply(volume('another', other));
    await cluster.kubectl('scale', 'statefulset/one', '--replicas=2');
    await cluster.says('one-1', /couldn't find local name/);
    await cluster.kubectl('scale', 'statefulset/one', '--replicas=1');
    await one.ready();
  });
  await cluster.helm('uninstall', 'one', '--wait');
  await cluster.onNode(node, ['umount', PATH]);
}

async function refused(what: string, work: Promise<unknown>, why: string): Promise<void> {
  const outcome = await work.then(
    () => 'done',
    (error: unknown) => String(error),
  );
  if (!outcome.includes(why)) throw new Error(`${what}: ${outcome}`);
}

/** A file system of its own, which can be filled. */
const smallDisk = [
  `truncate --size=${VOLUME_MIB}M ${PATH}.image`,
  `mkfs.ext4 -q -m 0 ${PATH}.image`,
  `mkdir -p ${PATH}`,
  `mount -o loop ${PATH}.image ${PATH}`,
].join(' && ');

/** Leaves no space, until the member has ended and says why. It is started again and again, and goes on when there is space. */
function fullVolume(node: string): Fault<Scene> {
  return async ({ cluster, release, leader }) => {
    const pod = (await leader()).name;
    const before = await cluster.restarts(pod);
    await cluster.onNode(node, ['sh', '-c', `dd if=/dev/zero of=${BALLAST} bs=64k 2>/dev/null || sync`]);
    await cluster.startedAgain(pod, before, { maxMs: END_MAX_MS });
    // By the first process, which served, or by one that did not start any more.
    await cluster.says(pod, /no space left on device/i);
    return async () => {
      await cluster.onNode(node, ['rm', BALLAST]);
      await release.ready();
    };
  };
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
function volume(name: string, node: string) {
  const onNode = [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [node] }] }];
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name },
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      local: { path: PATH },
      nodeAffinity: { required: { nodeSelectorTerms: onNode } },
    },
  };
}
