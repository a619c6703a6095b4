import { setTimeout as sleep } from 'node:timers/promises';
import type { Prng } from '@engram/sim';
import { EtcdClient, EtcdError } from '../../test/support/etcd-client.ts';
import { leaderAmong, type MemberProcess } from '../cluster/cluster-member.ts';
import type { Lab } from '../tikv/lab.ts';
import type { ClientsSeen, Fault as FaultOf } from './campaign.ts';
import { between, type Wire } from './wire.ts';

/** The parts that faults act on. Hosts have the names of the members. */
export interface Scene extends ClientsSeen {
  readonly members: readonly MemberProcess[];
  readonly lab: Lab;
  readonly storesHost: string;
  readonly clientsHost: string;
  readonly wire: Wire;
  readonly prng: Prng;
  /** Returns the member that leads. Waits until there is one. */
  readonly leader: () => Promise<MemberProcess>;
}

type Fault = FaultOf<Scene>;

const nothing = async (): Promise<void> => {};
const names = (members: readonly MemberProcess[]): readonly string[] => members.map(({ place }) => place.name);

async function follower({ members, leader, prng }: Scene): Promise<MemberProcess> {
  const leads = await leader();
  return prng.pick(members.filter((member) => member !== leads));
}

async function killed(victim: MemberProcess): Promise<() => Promise<void>> {
  await victim.kill();
  return async () => {
    victim.start();
    await victim.ready();
  };
}

async function paused(victim: MemberProcess): Promise<() => Promise<void>> {
  victim.signal('SIGSTOP');
  return async () => victim.signal('SIGCONT');
}

/** Sets rules that hold until the fault ends. */
async function spoiled(wire: Wire, rules: Parameters<Wire['set']>[0]): Promise<() => Promise<void>> {
  await wire.set(rules);
  return () => wire.set([]);
}

const LOST = { lose: 1 };
/** By this time after its election, a leader has taken over and clients write through it. */
const TAKEN_OVER_MS = 1000;

/**
 * A leader sleeps past its successor's first writes. When it wakes, no member can reach it, and neither can storage,
 * which would fence its appends. Clients can. Its answers to clients must not be older than what the successor has
 * acknowledged: it must not answer before a quorum has confirmed it.
 */
async function outdated({ members, leader, wire, storesHost, readAt }: Scene): Promise<() => Promise<void>> {
  const victim = await leader();
  const others = members.filter((member) => member !== victim);
  await wire.set(between([victim.place.name], [...names(others), storesHost], LOST));
  victim.signal('SIGSTOP');
  await leaderAmong(others, 500);
  await sleep(TAKEN_OVER_MS);
  const readers = readAt(victim.endpoint);
  victim.signal('SIGCONT');
  return async () => {
    await readers.stop();
    await wire.set([]);
  };
}

async function storeFault(
  { lab }: Scene,
  begin: NodeJS.Signals,
  end: (process: number) => void,
): Promise<() => Promise<void>> {
  const process = await lab.processOf(await lab.busiestStore());
  lab.signal(`s${process}`, begin);
  return async () => end(process);
}

const RECOVERY_MAX_MS = 30_000;

/** Resolves when a linearizable read is answered at `endpoint`. */
async function reads(endpoint: string): Promise<void> {
  using client = new EtcdClient(endpoint, { deadlineMs: RECOVERY_MAX_MS });
  for (const endMs = performance.now() + RECOVERY_MAX_MS; ; await sleep(50)) {
    try {
      await client.range({ key: Buffer.from('x') });
      return;
    } catch (error) {
      if (!(error instanceof EtcdError) || performance.now() > endMs) throw error;
    }
  }
}

const PD_GONE_MS = 20_000;
const PROGRESS_MS = 2000;

/**
 * PD answers no member, but the stores reach it: unlike real stores, these request a timestamp from it at each commit.
 * Writes and linearizable reads must continue meanwhile, at all members.
 */
async function pdGone({ wire, members, lab, storesHost, acknowledged, readAt }: Scene): Promise<() => Promise<void>> {
  const port = Number(lab.pdDirect[0]!.split(':').at(-1));
  // A member that still settles the effects of the previous fault needs PD for that.
  await Promise.all(members.map(({ endpoint }) => reads(endpoint)));
  await wire.set(between(names(members), [storesHost], { ...LOST, port }));
  const startMs = performance.now();
  return async () => {
    try {
      while (performance.now() < startMs + PD_GONE_MS) {
        const before = acknowledged();
        const readers = members.map(({ endpoint }) => readAt(endpoint));
        await sleep(PROGRESS_MS);
        await Promise.all(readers.map((each) => each.stop()));
        const answered = readers.map((each) => each.answered);
        if (acknowledged() === before || answered.includes(0)) {
          const ms = Math.round(performance.now() - startMs);
          throw new Error(`after ${ms} ms: ${acknowledged() - before} writes, and reads by member: ${answered.join()}`);
        }
      }
    } finally {
      await wire.set([]);
    }
  };
}

const REFUSED_WITHIN_MS = 3000;

/** While its disk is full, a TiKV store refuses requests that would add data, and serves reads. */
async function disksFull(lab: Lab, processes: readonly number[]): Promise<() => Promise<void>> {
  for (const process of processes) lab.setDiskFull(process, true);
  return async () => {
    for (const process of processes) lab.setDiskFull(process, false);
  };
}

/** No write is acknowledged meanwhile, and reads continue at all members. */
async function allDisksFull({ lab, members, acknowledged, readAt }: Scene): Promise<() => Promise<void>> {
  const end = await disksFull(
    lab,
    Array.from({ length: lab.stores }, (_, at) => at + 1),
  );
  await sleep(REFUSED_WITHIN_MS);
  return async () => {
    const before = acknowledged();
    const readers = members.map(({ endpoint }) => readAt(endpoint));
    await sleep(PROGRESS_MS);
    await Promise.all(readers.map((each) => each.stop()));
    const after = acknowledged();
    await end();
    const answered = readers.map((each) => each.answered);
    if (after !== before || answered.includes(0))
      throw new Error(
        `${after - before} writes on full disks (is the lab built anew?), reads by member: ${answered.join()}`,
      );
  };
}

export const faults: Readonly<Record<string, Fault>> = {
  'kill -9 of the leader': async ({ leader }) => killed(await leader()),
  'kill -9 of the leader and the busiest store': async (scene) => {
    const victim = await scene.leader();
    const process = await scene.lab.processOf(await scene.lab.busiestStore());
    scene.lab.signal(`s${process}`, 'SIGKILL');
    const restart = await killed(victim);
    return async () => {
      scene.lab.restartStore(process);
      await restart();
    };
  },
  'kill -9 of a follower': async (scene) => killed(await follower(scene)),
  'SIGSTOP of the leader': async ({ leader }) => paused(await leader()),
  'SIGSTOP of a follower': async (scene) => paused(await follower(scene)),
  'clients read at a leader that has a successor and cannot know it': outdated,
  'SIGTERM of the leader': async ({ leader }) => {
    const victim = await leader();
    await victim.stop();
    return async () => {
      victim.start();
      await victim.ready();
    };
  },
  MoveLeader: async (scene) => {
    const { leader } = scene;
    const leads = await leader();
    const next = await follower(scene);
    using there = new EtcdClient(next.endpoint, { deadlineMs: 3000 });
    using here = new EtcdClient(leads.endpoint, { deadlineMs: 5000 });
    try {
      const { header } = await there.status();
      await here.moveLeader(header?.memberId ?? 0n);
    } catch (error) {
      // The leader may have changed meanwhile.
      if (!(error instanceof EtcdError)) throw error;
    }
    return nothing;
  },
  'the leader is cut off from the members': async ({ wire, members, leader }) =>
    spoiled(wire, between([(await leader()).place.name], names(members), LOST)),
  'a follower is cut off from the members': async (scene) =>
    spoiled(scene.wire, between([(await follower(scene)).place.name], names(scene.members), LOST)),
  'the leader hears no member': async ({ wire, members, leader }) => {
    const to = (await leader()).place.name;
    const others = names(members).filter((name) => name !== to);
    return spoiled(
      wire,
      others.map((from) => ({ from, to, ...LOST })),
    );
  },
  'no member hears the leader': async ({ wire, members, leader }) => {
    const from = (await leader()).place.name;
    const others = names(members).filter((name) => name !== from);
    return spoiled(
      wire,
      others.map((to) => ({ from, to, ...LOST })),
    );
  },
  'the leader is cut off from storage': async ({ wire, leader, storesHost }) =>
    spoiled(wire, between([(await leader()).place.name], [storesHost], LOST)),
  'the leader is cut off from everybody': async ({ wire, members, leader, storesHost, clientsHost }) =>
    spoiled(wire, between([(await leader()).place.name], [...names(members), storesHost, clientsHost], LOST)),
  'all members are cut off from storage': async ({ wire, members, storesHost }) =>
    spoiled(wire, between(names(members), [storesHost], LOST)),
  'members are slow to each other and out of order': async ({ wire, members }) =>
    spoiled(wire, between(names(members), names(members), { delayMs: 20, jitterMs: 60 })),
  'members lose a tenth and double a tenth': async ({ wire, members }) =>
    spoiled(wire, between(names(members), names(members), { lose: 0.1, double: 0.1 })),
  'storage is slow and loses packets': async ({ wire, members, storesHost }) =>
    spoiled(wire, between(names(members), [storesHost], { delayMs: 10, jitterMs: 20, lose: 0.02 })),
  'clients are slow and lose packets': async ({ wire, members, clientsHost }) =>
    spoiled(wire, between(names(members), [clientsHost], { delayMs: 10, jitterMs: 20, lose: 0.02 })),
  'kill -9 of the busiest store': (scene) => storeFault(scene, 'SIGKILL', (process) => scene.lab.restartStore(process)),
  'SIGSTOP of the busiest store': (scene) =>
    storeFault(scene, 'SIGSTOP', (process) => scene.lab.signal(`s${process}`, 'SIGCONT')),
  "the busiest store's disk is full": async ({ lab }) =>
    disksFull(lab, [await lab.processOf(await lab.busiestStore())]),
  "all stores' disks are full": allDisksFull,
  'SIGSTOP of PD': async ({ lab }) => {
    lab.signal('pd1', 'SIGSTOP');
    return async () => lab.signal('pd1', 'SIGCONT');
  },
  'kill -9 of PD': async ({ lab }) => {
    lab.signal('pd1', 'SIGKILL');
    return async () => lab.restartPd(1);
  },
  'PD is gone for the members': pdGone,
  'leaders of regions move': async ({ lab, prng }) => {
    for (let round = 0; round < 3; round += 1) {
      for (const region of await lab.regions()) await lab.transferLeader(region, prng.pick(region.stores));
      await sleep(500);
    }
    return nothing;
  },
};
