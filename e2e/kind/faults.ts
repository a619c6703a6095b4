import type { Prng } from '@engram/sim';
import type { ClientsSeen, Fault as FaultOf } from '../chaos/campaign.ts';
import type { KindCluster } from './kind-cluster.ts';
import type { ChartRelease, PodLab, PodMember } from './workloads.ts';

/** What faults of one release of the chart act on. */
export interface Scene extends ClientsSeen {
  readonly cluster: KindCluster;
  readonly release: ChartRelease;
  readonly members: readonly PodMember[];
  readonly prng: Prng;
  /** Returns the member that leads. Waits until there is one. */
  readonly leader: () => Promise<PodMember>;
}

/** With TiKV in pods below the members. */
export interface ClusterScene extends Scene {
  readonly lab: PodLab;
}

type Fault = FaultOf<Scene>;
type ClusterFault = FaultOf<ClusterScene>;

async function follower({ members, leader, prng }: Scene): Promise<PodMember> {
  const leads = await leader();
  return prng.pick(members.filter((member) => member !== leads));
}

const namesOf = (members: readonly PodMember[]): readonly string[] => members.map(({ name }) => name);

/** What replaces a pod. It ends when all members are ready, and rejects if the pod is the one that it was. */
async function replacing({ cluster, release }: Scene, pods: readonly string[], work: () => Promise<unknown>) {
  const before = await cluster.uids(pods);
  await work();
  return async () => {
    await release.ready();
    const now = await cluster.uids(pods);
    const kept = pods.filter((_, at) => before.includes(now[at]!));
    if (kept.length > 0) throw new Error(`not replaced: ${kept.join(', ')}`);
  };
}

const deleted = (scene: Scene, pod: string, ...flags: readonly string[]) =>
  replacing(scene, [pod], () => scene.cluster.kubectl('delete', 'pod', pod, ...flags));

const evicted = (scene: Scene, pod: string) => replacing(scene, [pod], () => scene.cluster.evict(pod));

const killed = async ({ cluster, release }: Scene, pod: string) => {
  const before = await cluster.restarts(pod);
  await cluster.signal(pod, 'SIGKILL');
  return async () => {
    await release.ready();
    await cluster.startedAgain(pod, before);
  };
};

const stopped = async ({ cluster, release }: Scene, pod: string) => {
  await cluster.signal(pod, 'SIGSTOP');
  return async () => {
    const stands = await cluster.isStopped(pod).finally(() => cluster.signal(pod, 'SIGCONT'));
    await release.ready();
    if (!stands) throw new Error(`${pod} did not stand still`);
  };
};

const cutOff = async ({ cluster, release }: Scene, pod: string, others?: readonly string[]) => {
  const heal = await cluster.cutOff(pod, others);
  return async () => {
    await heal();
    await release.ready();
  };
};

let upgrades = 0;

/** Those that one member outlives as well: its data are on a volume. */
export const faultsOfPods: Readonly<Record<string, Fault>> = {
  "the leader's pod is deleted": async (scene) => deleted(scene, (await scene.leader()).name),
  "the leader's pod is deleted at once": async (scene) =>
    deleted(scene, (await scene.leader()).name, '--grace-period=0', '--force'),
  "the leader's pod is evicted": async (scene) => evicted(scene, (await scene.leader()).name),
  'kill -9 of the leader': async (scene) => killed(scene, (await scene.leader()).name),
  'SIGSTOP of the leader': async (scene) => stopped(scene, (await scene.leader()).name),
  'all members are replaced by helm upgrade': (scene) => {
    upgrades += 1;
    return replacing(scene, namesOf(scene.members), () =>
      scene.release.apply('--set', `podAnnotations.upgrade=number-${upgrades}`),
    );
  },
};

export const faults: Readonly<Record<string, ClusterFault>> = {
  ...faultsOfPods,
  "a follower's pod is deleted": async (scene) => deleted(scene, (await follower(scene)).name),
  'SIGSTOP of a follower': async (scene) => stopped(scene, (await follower(scene)).name),
  'the leader is cut off from everybody': async (scene) => cutOff(scene, (await scene.leader()).name),
  'the leader is cut off from the other members': async (scene) => {
    const leads = await scene.leader();
    return cutOff(scene, leads.name, namesOf(scene.members.filter((member) => member !== leads)));
  },
  'the leader is cut off from TiKV': async (scene) => cutOff(scene, (await scene.leader()).name, scene.lab.pods),
  "the leader's node is drained": async (scene) => {
    const { cluster } = scene;
    const leads = (await scene.leader()).name;
    const node = await cluster.nodeOf(leads);
    const flags = ['--ignore-daemonsets', '--delete-emptydir-data', '--force', '--timeout=150s'];
    const end = await replacing(scene, [leads], () => cluster.kubectl('drain', node, ...flags));
    return async () => {
      await cluster.kubectl('uncordon', node);
      await end();
    };
  },
  "the leader's node stands still": async ({ cluster, release, leader }) => {
    const node = await cluster.nodeOf((await leader()).name);
    await cluster.pauseNode(node);
    return async () => {
      await cluster.unpauseNode(node);
      await release.ready();
    };
  },
  'kill -9 of the busiest store': async (scene) => killed(scene, await scene.lab.busiestStore()),
  'SIGSTOP of the busiest store': async (scene) => stopped(scene, await scene.lab.busiestStore()),
  'kill -9 of PD': async (scene) => killed(scene, scene.lab.pdPod),
};
