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

const deleted = async ({ cluster, release }: Scene, pod: string, ...flags: readonly string[]) => {
  await cluster.kubectl('delete', 'pod', pod, ...flags);
  return () => release.ready();
};

const evicted = async ({ cluster, release }: Scene, pod: string) => {
  await cluster.evict(pod);
  return () => release.ready();
};

const killed = async ({ cluster, release }: Scene, pod: string) => {
  await cluster.signal(pod, 'SIGKILL');
  return () => release.ready();
};

const stopped = async ({ cluster, release }: Scene, pod: string) => {
  await cluster.signal(pod, 'SIGSTOP');
  return async () => {
    await cluster.signal(pod, 'SIGCONT');
    await release.ready();
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
  'all members are replaced by helm upgrade': async ({ release }) => {
    upgrades += 1;
    await release.apply('--set', `podAnnotations.upgrade=number-${upgrades}`);
    return () => release.ready();
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
  "the leader's node is drained": async ({ cluster, release, leader }) => {
    const node = await cluster.nodeOf((await leader()).name);
    const flags = ['--ignore-daemonsets', '--delete-emptydir-data', '--force', '--timeout=150s'];
    await cluster.kubectl('drain', node, ...flags);
    return async () => {
      await cluster.kubectl('uncordon', node);
      await release.ready();
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
