import { setTimeout as sleep } from 'node:timers/promises';
import type { Prng } from '@engram/sim';
import type { ClientsSeen, Fault as FaultOf } from '../chaos/campaign.ts';
import { leaderAmong } from '../cluster/cluster-member.ts';
import type { ContainerLab, ContainerMember } from './cluster.ts';
import type { Container, NetworkName } from './engine.ts';

/** The containers that faults act on. */
export interface Scene extends ClientsSeen {
  readonly members: readonly ContainerMember[];
  readonly lab: ContainerLab;
  readonly prng: Prng;
  /** Returns the member that leads. Waits until there is one. */
  readonly leader: () => Promise<ContainerMember>;
}

type Fault = FaultOf<Scene>;

async function follower({ members, leader, prng }: Scene): Promise<ContainerMember> {
  const leads = await leader();
  return prng.pick(members.filter((member) => member !== leads));
}

async function killed(victim: ContainerMember): Promise<() => Promise<void>> {
  await victim.container.kill();
  return () => victim.startAgain();
}

async function paused(victim: Container): Promise<() => Promise<void>> {
  await victim.pause();
  return () => victim.unpause();
}

/** The victim is ready again at the end: its addresses are new, and it and the others have to find each other by name. */
async function disconnected(
  victims: readonly ContainerMember[],
  ...networks: readonly NetworkName[]
): Promise<() => Promise<void>> {
  const ends = await Promise.all(victims.map(({ container }) => container.disconnect(...networks)));
  return async () => {
    await Promise.all(ends.map((end) => end()));
    await Promise.all(victims.map((victim) => victim.ready()));
  };
}

async function restarted(victim: Container): Promise<() => Promise<void>> {
  await victim.kill();
  return () => victim.start();
}

/** By this time after its election, a leader has taken over and clients write through it. */
const TAKEN_OVER_MS = 1000;

/**
 * A leader stands still past its successor's first writes. When it goes on, it reaches neither a member nor storage, which
 * would refuse its appends; clients reach it. Its answers must not be older than what the successor has acknowledged.
 */
async function outdated({ members, leader, readAt }: Scene): Promise<() => Promise<void>> {
  const victim = await leader();
  const connect = await victim.container.disconnect('peers', 'storage');
  await victim.container.pause();
  await leaderAmong(
    members.filter((member) => member !== victim),
    500,
  );
  await sleep(TAKEN_OVER_MS);
  const readers = readAt(victim.endpoint);
  await victim.container.unpause();
  return async () => {
    await readers.stop();
    await connect();
    await victim.ready();
  };
}

export const faults: Readonly<Record<string, Fault>> = {
  'kill -9 of the leader': async ({ leader }) => killed(await leader()),
  'kill -9 of a follower': async (scene) => killed(await follower(scene)),
  'kill -9 of the leader and the busiest store': async ({ leader, lab }) => {
    const [victim, store] = [await leader(), await lab.busiestStore()];
    const startStore = await restarted(store);
    const startMember = await killed(victim);
    return async () => {
      await startStore();
      await startMember();
    };
  },
  'the leader is stopped': async ({ leader }) => {
    const victim = await leader();
    await victim.container.stop();
    return () => victim.startAgain();
  },
  'the leader is paused': async ({ leader }) => paused((await leader()).container),
  'a follower is paused': async (scene) => paused((await follower(scene)).container),
  'the leader is disconnected from the members': async ({ leader }) => disconnected([await leader()], 'peers'),
  'a follower is disconnected from the members': async (scene) => disconnected([await follower(scene)], 'peers'),
  'the leader is disconnected from storage': async ({ leader }) => disconnected([await leader()], 'storage'),
  'the leader is disconnected from everybody': async ({ leader }) =>
    disconnected([await leader()], 'peers', 'storage', 'clients'),
  'all members are disconnected from storage': async ({ members }) => disconnected(members, 'storage'),
  'clients read at a leader that has a successor and cannot know it': outdated,
  'kill -9 of the busiest store': async ({ lab }) => restarted(await lab.busiestStore()),
  'the busiest store is paused': async ({ lab }) => paused(await lab.busiestStore()),
  'kill -9 of PD': async ({ lab }) => restarted(lab.pd),
  'PD is paused': async ({ lab }) => paused(lab.pd),
};
