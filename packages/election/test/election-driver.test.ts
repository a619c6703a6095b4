import { type Clock, EngramError, type Epoch, type Logger, logPosition } from '@engram/core';
import { Prng, SimClock } from '@engram/sim';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { logIndex, term } from '@engram/raft-ts';
import {
  bootstrapState,
  decodePeerMessage,
  decodeRaftState,
  Election,
  ElectionDriver,
  encodeRaftState,
  type ElectionDriverOptions,
  type Member,
  type MemberId,
  MemoryRaftDisk,
  MemoryRaftStorage,
  type PeerMessage,
} from '../index.ts';
import { OwnerWatch } from '../src/driver/owner-watch.ts';
import { id, member, optionsOf } from './support/members.ts';

const never = new AbortController().signal;
const TICK_MS = 100;
const CLUSTER = 7n;

let clock: SimClock;
let lines: string[];
let drivers: Map<MemberId, ElectionDriver>;
/** The calls to each member's owner, in words. */
let told: Map<MemberId, string[]>;
let failures: Map<MemberId, unknown>;
let disks: Map<MemberId, MemoryRaftDisk>;
/** Members whose messages are lost, and that get none. */
let cut: Set<MemberId>;
/** All messages that the members have sent. */
let sent: PeerMessage[];
/** Why messages were not taken. */
let faults: string[];
/** The call of the election that throws. */
let failing: 'send' | 'clusterChanged' | undefined;

const keep = (_fields: object, message: string): void => void lines.push(message);
const logger: Logger = { debug: keep, info: keep, warn: keep, error: keep };

beforeEach(() => {
  clock = new SimClock();
  lines = [];
  drivers = new Map();
  told = new Map();
  failures = new Map();
  disks = new Map();
  cut = new Set();
  sent = [];
  faults = [];
  failing = undefined;
});

afterEach(async () => {
  for (const driver of drivers.values()) await driver[Symbol.asyncDispose]();
  expect(clock.waiting).toBe(0);
});

async function open(
  self: MemberId,
  members: readonly Member[] | undefined,
  change: { readonly gate?: () => Promise<void> } & Partial<ElectionDriverOptions> = {},
  ticking: Clock = clock,
): Promise<ElectionDriver> {
  const disk = disks.get(self) ?? new MemoryRaftDisk();
  disks.set(self, disk);
  const words: string[] = [];
  told.set(self, words);
  const { gate, ...options } = change;
  const driver = await ElectionDriver.open(
    { ...optionsOf(self, CLUSTER), tickMs: TICK_MS, firstMembers: members, ...options },
    {
      clock: ticking,
      random: new Prng(Number(self)),
      logger,
      storage: new MemoryRaftStorage(disk, gate),
      network: {
        send: (to, bytes) => {
          sent.push(decodePeerMessage(bytes));
          if (failing === 'send') throw new TypeError('the test says so');
          if (cut.has(self) || cut.has(to)) return;
          clock.soon(() => {
            const fault = drivers.get(to)?.receive(bytes, { member: self, dialed: true });
            if (fault !== undefined) faults.push(fault);
          });
        },
      },
      owner: {
        lead: (epoch) => {
          words.push(`lead ${epoch}`);
          drivers.get(self)?.announce(epoch, { segment: 1, position: logPosition(1) });
        },
        stepDown: (epoch) => {
          words.push(`step down ${epoch}`);
          drivers.get(self)?.resigned(epoch);
        },
        follow: (leader, epoch) => void words.push(`follow ${leader} in ${epoch}`),
        noLeader: () => void words.push('no leader'),
        clusterChanged: ({ members: list }) => {
          if (failing === 'clusterChanged') throw new TypeError('the test says so');
          words.push(`members ${list.map((one) => one.id).join(' ')}`);
        },
        removed: () => void words.push('removed'),
        failed: (error) => void failures.set(self, error),
      },
    },
  );
  drivers.set(self, driver);
  return driver;
}

async function openAll(count: number): Promise<void> {
  const members = Array.from({ length: count }, (_, at) => member(at + 1));
  for (const one of members) await open(one.id, members);
  for (const [self, driver] of drivers) {
    for (const other of drivers.keys()) if (other !== self) driver.peerConnected(other);
  }
}

async function pass(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += TICK_MS) {
    await clock.settle();
    clock.advance(TICK_MS);
    await clock.settle();
  }
}

/** The member that leads, once its store has taken over. */
async function leaderOf(): Promise<ElectionDriver> {
  for (let round = 0; round < 100; round += 1) {
    const found = [...drivers.values()].find((driver) => driver.view.leadingIn !== undefined);
    if (found !== undefined) return found;
    await pass(TICK_MS);
  }
  throw new Error('nobody leads');
}

async function codeOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => 'resolved',
    (error: unknown) => (error instanceof EngramError ? error.code : error),
  );
}

describe('an election', () => {
  test('of three members has one leader, and confirms its leadership', async () => {
    await openAll(3);
    const leader = await leaderOf();
    const confirmation = leader.confirmLeadership(never);
    await clock.settle();
    expect(await confirmation).toBe(leader.view.leadingIn);
    const follower = [...drivers.values()].find((driver) => driver !== leader)!;
    expect(await codeOf(follower.confirmLeadership(never))).toBe('NotLeader');
    expect(told.get(follower.view.self)).toContain(`follow ${leader.view.self} in ${leader.view.leadingIn}`);
  });

  test('goes on with what is kept', async () => {
    await openAll(1);
    const first = await leaderOf();
    const epochs: (Epoch | undefined)[] = [first.view.leadingIn];
    await first[Symbol.asyncDispose]();
    await open(id(1), undefined);
    epochs.push((await leaderOf()).view.leadingIn);
    expect(epochs).toEqual([2, 3]);
  });

  test('a member that joins is told who leads', async () => {
    await openAll(1);
    const leader = await leaderOf();
    await pass(6000);
    const added = leader.changeMembers(
      { kind: 'add', id: id(2), peerUrls: ['http://127.0.0.1:2'], isLearner: true },
      never,
    );
    await clock.settle();
    expect((await added).members.map((one) => one.id)).toEqual([id(1), id(2)]);
    // Before a joining member starts, it looks for itself in the saved states of the others.
    await clock.settle();
    const saved = new Election(
      { ...optionsOf(id(1), CLUSTER), random: new Prng(1) },
      decodeRaftState(disks.get(id(1))!.bytes!),
    );
    expect(saved.view.cluster.members.map((one) => one.id)).toEqual([id(1), id(2)]);
    const joined = await open(id(2), undefined, { isGivenMember: (other) => other === id(1) });
    joined.publish('m2', ['http://127.0.0.1:279']);
    await pass(3000);
    expect(joined.view).toMatchObject({ leader: id(1), isLearner: true });
    expect(leader.view.cluster.members[1]).toEqual(member(2, { isLearner: true }));
  });
});

test('what depends on a save leaves after it', async () => {
  const members = [member(1), member(2)];
  const gate = Promise.withResolvers<void>();
  let opened = false;
  await open(id(1), members, { gate: () => (opened ? gate.promise : Promise.resolve()) });
  opened = true;
  await open(id(2), members);
  const votes = (): number =>
    sent.filter((one) => one.kind === 'raft' && one.message.type === 'vote' && one.message.from === id(1)).length;
  // Member 1 has the pre-vote of the other member, and can't make its term durable.
  await pass(3000);
  expect(drivers.get(id(1))!.view.term).toBeGreaterThan(1);
  expect(votes()).toBe(0);
  gate.resolve();
  await pass(3000);
  expect(votes()).toBeGreaterThan(0);
});

describe('waits', () => {
  test('end with their signal', async () => {
    await openAll(3);
    const leader = await leaderOf();
    cut.add(leader.view.self);
    const abort = new AbortController();
    const waiting = codeOf(leader.confirmLeadership(abort.signal));
    await clock.settle();
    const reason = new Error('the client has gone');
    abort.abort(reason);
    expect(await waiting).toBe(reason);
    expect(await codeOf(leader.confirmLeadership(abort.signal))).toBe(reason);
  });

  test('end with the leadership', async () => {
    await openAll(3);
    const leader = await leaderOf();
    cut.add(leader.view.self);
    const waiting = codeOf(leader.confirmLeadership(never));
    const change = codeOf(leader.changeMembers({ kind: 'remove', id: id(9) }, never));
    await pass(2000);
    expect(await waiting).toBe('LeaderChanged');
    expect(await change).toBe('MemberNotFound');
    expect(told.get(leader.view.self)!.slice(-2)).toEqual([expect.stringContaining('step down'), 'no leader']);
  });

  test('end with the driver', async () => {
    await openAll(3);
    const leader = await leaderOf();
    cut.add(leader.view.self);
    const waiting = [
      codeOf(leader.confirmLeadership(never)),
      codeOf(leader.set('name', Uint8Array.of(1), never)),
      codeOf(leader.handOver(never)),
    ];
    await clock.settle();
    await leader[Symbol.asyncDispose]();
    expect(await Promise.all(waiting)).toEqual(['Stopped', 'Stopped', 'Stopped']);
    expect(await codeOf(leader.confirmLeadership(never))).toBe('Stopped');
  });
});

describe('handing over', () => {
  test('resolves when the other one leads', async () => {
    await openAll(3);
    const leader = await leaderOf();
    const target = [...drivers.values()].find((driver) => driver !== leader)!;
    const transfer = leader.transferLeader(target.view.self, never);
    await clock.settle(50);
    await transfer;
    expect(target.view.leader).toBe(target.view.self);
    await clock.settle(50);
    const back = target.handOver(never);
    await clock.settle(50);
    await back;
    expect(target.view.leader).not.toBe(target.view.self);
  });

  test("is refused with etcd's codes", async () => {
    await openAll(3);
    const leader = await leaderOf();
    const follower = [...drivers.values()].find((driver) => driver !== leader)!;
    expect(await codeOf(follower.transferLeader(leader.view.self, never))).toBe('NotLeader');
    expect(await codeOf(follower.handOver(never))).toBe('NotLeader');
    expect(await codeOf(leader.transferLeader(id(9), never))).toBe('BadLeaderTransferee');
    expect(await codeOf(leader.transferLeader(leader.view.self, never))).toBe('resolved');
    for (const other of drivers.keys()) if (other !== leader.view.self) leader.peerDisconnected(other);
    expect(await codeOf(leader.handOver(never))).toBe('Unhealthy');
  });
});

describe('a driver that can not go on says so once and stops', () => {
  test('its storage fails', async () => {
    const broken = new Error('the disk is on fire');
    let works = true;
    await open(id(1), [member(1)], {
      gate: async () => {
        if (!works) throw broken;
      },
    });
    works = false;
    await pass(2000);
    expect(failures.get(id(1))).toBe(broken);
    expect(told.get(id(1))).toEqual([]);
  });

  test('a later start of the member has taken its state over', async () => {
    await openAll(1);
    await leaderOf();
    const first = drivers.get(id(1))!;
    const disk = disks.get(id(1))!;
    await new MemoryRaftStorage(disk).load();
    const change = codeOf(first.set('name', Uint8Array.of(1), never));
    await clock.settle();
    expect(failures.get(id(1))).toMatchObject({ code: 'storage-taken-over' });
    expect(await change).toBe('Stopped');
  });

  test('it has lost what it had acknowledged', async () => {
    await openAll(3);
    const leader = await leaderOf();
    await pass(500);
    const lost = [...drivers.values()].find((driver) => driver !== leader)!.view.self;
    await drivers.get(lost)![Symbol.asyncDispose]();
    disks.delete(lost);
    await open(lost, [member(1), member(2), member(3)]);
    await pass(500);
    expect(faults[0]).toMatch('is said to have been acknowledged here, but the log ends at');
    expect(failures).toEqual(new Map());
  });
});

test('a message that cannot be read is refused', async () => {
  await openAll(1);
  const driver = await leaderOf();
  const fault = driver.receive(Uint8Array.of(1, 2, 3), { member: id(2), dialed: false });
  expect(fault).toMatch('bytes that cannot be decoded');
  expect(driver.view.leader).toBe(id(1));
});

test('ticks that were missed are not made up for', async () => {
  let nowMs = 0;
  let due = { atMs: 0, fire: (): void => {} };
  const after = (delayMs: number, fire: () => void) => {
    // Only the ticks: storage is asked less often.
    if (delayMs <= TICK_MS) due = { atMs: nowMs + delayMs, fire };
    return { cancel: () => {} };
  };
  const stopped: Clock = {
    nowMs: () => nowMs,
    wallMs: () => nowMs,
    after,
    soon: () => {},
    endOfTurn: () => {},
  };
  await open(id(1), [member(1)], {}, stopped);
  const missed = vi.spyOn(Election.prototype, 'missed');
  // The process stops for a minute.
  nowMs = 60_000;
  let fired = 0;
  for (; due.atMs <= nowMs; fired += 1) due.fire();
  expect(fired).toBe(1);
  expect(due.atMs).toBe(nowMs + TICK_MS);
  // The tick that fired was due at 100 ms.
  expect(missed.mock.calls).toEqual([[599]]);
  missed.mockRestore();
});

test('a network that throws loses messages, and ends no member', async () => {
  await openAll(3);
  await leaderOf();
  failing = 'send';
  await pass(5000);
  failing = undefined;
  await pass(5000);
  await leaderOf();
  expect(lines).toContain('a message was not sent');
  expect(failures).toEqual(new Map());
});

test('a change of the membership that the owner fails to take over is done, and ends no member', async () => {
  await openAll(3);
  const leader = await leaderOf();
  await pass(6000);
  failing = 'clusterChanged';
  const change = leader.changeMembers({ kind: 'update', id: id(3), peerUrls: ['http://127.0.0.1:9'] }, never);
  await pass(2000);
  expect(await change).toMatchObject({ members: [{}, {}, { peerUrls: ['http://127.0.0.1:9'] }] });
  expect(lines.filter((line) => line === 'the member list of this change was not taken over')).toHaveLength(3);
  expect(failures).toEqual(new Map());
});

describe('a committed entry that no member can read', () => {
  async function poisoned(): Promise<MemberId> {
    const lone = bootstrapState(CLUSTER, [member(1)]);
    const entry = { kind: 'normal', term: term(1), index: logIndex(2), data: Uint8Array.of(0x7a, 0) } as const;
    const disk = new MemoryRaftDisk();
    disk.bytes = encodeRaftState({ ...lone, entries: [entry], hardState: { ...lone.hardState, commit: logIndex(2) } });
    disks.set(id(1), disk);
    return id(1);
  }

  test('ends a member with the way out in the error', async () => {
    const self = await poisoned();
    await expect(open(self, undefined)).rejects.toThrow('--skip-raft-entries=2');
  });

  test('has no effect on a member that is told to skip it', async () => {
    const self = await poisoned();
    const driver = await open(self, undefined, { skippedEntries: new Set([logIndex(2)]) });
    await leaderOf();
    await pass(500);
    expect(driver.view.cluster.members.map((one) => one.id)).toEqual([self]);
    expect(failures).toEqual(new Map());
  });
});

describe('a process whose state another one has taken over', () => {
  test('ends within five seconds, although it never votes again', async () => {
    const driver = await open(id(1), [member(1)]);
    await leaderOf();
    await pass(20_000);
    expect(failures).toEqual(new Map());
    await new MemoryRaftStorage(disks.get(id(1))).load();
    expect(driver.view.leader).toBe(id(1));
    await pass(4_800);
    await pass(300);
    expect(failures.get(id(1))).toMatchObject({ code: 'storage-taken-over' });
  });

  test('goes on as long as storage does not tell, and asks again', async () => {
    const answers: (() => Promise<boolean>)[] = [
      () => Promise.reject(new Error('no answer')),
      () => new Promise(() => {}),
      () => Promise.resolve(true),
      () => Promise.resolve(false),
      () => Promise.resolve(false),
    ];
    let asked = 0;
    const aborted: boolean[] = [];
    const storage = new MemoryRaftStorage(new MemoryRaftDisk());
    await storage.load();
    storage.isOwned = (signal) => {
      asked += 1;
      signal.addEventListener('abort', () => aborted.push(true));
      const answer = answers.shift()!();
      return Promise.race([
        answer,
        new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
      ]);
    };
    let taken = 0;
    const watch = new OwnerWatch({ storage, clock, onTaken: () => (taken += 1) });
    await pass(15_100);
    expect([asked, taken, aborted.length]).toEqual([3, 0, 1]);
    await pass(5_000);
    expect([asked, taken]).toEqual([4, 1]);
    await pass(20_000);
    expect([asked, taken]).toEqual([4, 1]);
    watch.close();
    await watch.idle();
  });
});
