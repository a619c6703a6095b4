import type { ReadBatch, Replica } from '@engram/backend';
import { epoch, type LogPosition, logPosition } from '@engram/core';
import { SimClock } from '@engram/sim';
import { type LogBatch, type Storage, StorageDivergedError } from '@engram/storage';
import { expect, test } from 'vitest';
import { Follower } from '../src/follower.ts';
import { KnownLeader } from '../src/known-leader.ts';
import type { Peers } from '../src/peers.ts';

const quiet = { debug() {}, info() {}, warn() {}, error() {} };

test('the leader changes while a follower asks the old one for the end of the log: it follows the new one', async () => {
  const clock = new SimClock();
  const leader = new KnownLeader(clock);
  const followed: bigint[] = [];
  const peers: Peers = {
    call: async () => new Uint8Array(),
    // The stream of a leader that is stopped does not end.
    async *follow(member: bigint, _from: LogPosition, signal: AbortSignal): AsyncGenerator<LogBatch> {
      followed.push(member);
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    },
  } as Partial<Peers> as Peers;
  const follower = new Follower({
    memberId: 3n,
    leader,
    clock,
    logger: quiet,
    replica: { next: logPosition(1), applied: logPosition(1) } as Partial<Replica> as Replica,
    storage: { log: {}, values: {} } as Partial<Storage> as Storage,
    endOf: async ({ memberId }) => {
      if (memberId === 1n) leader.set({ memberId: 2n, epoch: epoch(6) });
      return logPosition(1);
    },
    peers,
    onRefused: () => undefined,
    nameOf: () => undefined,
    onFatal: (error) => expect.fail(String(error)),
  });
  leader.set({ memberId: 1n, epoch: epoch(5) });
  follower.start();
  await clock.settle();
  clock.advance(100);
  await clock.settle();
  expect(followed).toEqual([2n]);
  await follower.stop();
});

test('a follower that finds itself different from its leader takes nothing more, and its node ends', async () => {
  const clock = new SimClock();
  const leader = new KnownLeader(clock);
  const chain = new Uint8Array(16);
  const ended: Error[] = [];
  const adopted: LogBatch[] = [];
  const values = {
    adopt: async (batch: LogBatch) => {
      adopted.push(batch);
      throw new StorageDivergedError('other records');
    },
  };
  const follower = new Follower({
    memberId: 3n,
    leader,
    clock,
    logger: quiet,
    replica: {
      next: logPosition(1),
      applied: logPosition(1),
      read: (batch: LogBatch) => ({ batch }) as ReadBatch,
      follow: () => expect.fail('took a batch'),
    } as Partial<Replica> as Replica,
    storage: { values: values as Partial<Storage['values']> } as Partial<Storage> as Storage,
    endOf: async () => logPosition(2),
    peers: {
      async *follow(): AsyncGenerator<LogBatch> {
        yield { first: logPosition(1), records: [new Uint8Array(1)], chain };
      },
    } as Partial<Peers> as Peers,
    onRefused: () => undefined,
    nameOf: () => undefined,
    onFatal: (error) => ended.push(error),
  });
  leader.set({ memberId: 1n, epoch: epoch(5) });
  follower.start();
  await clock.settle();
  expect(ended).toEqual([expect.any(StorageDivergedError)]);
  expect(adopted.map((batch) => batch.chain)).toEqual([chain]);
  await follower.stop();
});

/** A follower of leader 1, which sends these batches on each stream until the test changes them. */
function followerOf(faults: () => string | undefined) {
  const clock = new SimClock();
  const leader = new KnownLeader(clock);
  const state = { next: 1, streams: [] as number[], refused: [] as bigint[], logged: [] as object[], adopted: 0 };
  const replica = {
    get next() {
      return logPosition(state.next);
    },
    get applied() {
      return logPosition(state.next);
    },
    read: (batch: LogBatch) => faults() ?? ({ batch } as ReadBatch),
    follow: (batch: LogBatch) => {
      state.next += batch.records.length;
    },
  } as Partial<Replica> as Replica;
  const values = {
    adopt: async () => {
      state.adopted += 1;
    },
  } as Partial<Storage['values']> as Storage['values'];
  const follower = new Follower({
    memberId: 3n,
    leader,
    clock,
    logger: { ...quiet, error: (fields, message) => state.logged.push({ ...fields, message }) },
    replica,
    storage: { values } as Partial<Storage> as Storage,
    endOf: async () => logPosition(state.next),
    peers: {
      async *follow(_member: bigint, from: LogPosition, signal: AbortSignal): AsyncGenerator<LogBatch> {
        state.streams.push(clock.nowMs());
        yield { first: from, records: [new Uint8Array(1)] };
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      },
    } as Partial<Peers> as Peers,
    onRefused: (member) => state.refused.push(member),
    nameOf: (member) => `m${member}`,
    onFatal: (error) => expect.fail(String(error)),
  });
  const pass = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 10) {
      await clock.settle();
      clock.advance(10);
    }
    await clock.settle();
  };
  return { follower, leader, clock, state, pass };
}

test('a batch that no leader writes is refused, counted and logged once, and its leader is asked again ever later', async () => {
  let fault: string | undefined = 'record 1: cannot decode a log record';
  const { follower, leader, state, pass } = followerOf(() => fault);
  leader.set({ memberId: 1n, epoch: epoch(5) });
  follower.start();
  await pass(30_000);
  const gaps = state.streams.slice(1).map((ms, at) => Math.round((ms - state.streams[at]!) / 100) * 100);
  expect(gaps).toEqual([100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000, 5000]);
  expect(state.refused).toEqual(state.streams.map(() => 1n));
  expect(state.logged).toEqual([{ member: '1', name: 'm1', error: fault, message: 'refused a batch of the leader' }]);
  // Nothing of it was taken, not even into this node's copy.
  expect([state.next, state.adopted]).toEqual([1, 0]);
  fault = undefined;
  await pass(5_000);
  expect([state.next, state.adopted]).toEqual([2, 1]);
  await follower.stop();
});

test('a member that has refused a batch follows the next leader at once', async () => {
  let fault: string | undefined = 'a batch without a record';
  const { follower, leader, state, pass } = followerOf(() => fault);
  leader.set({ memberId: 1n, epoch: epoch(5) });
  follower.start();
  await pass(12_000);
  const streams = state.streams.length;
  fault = undefined;
  leader.set({ memberId: 2n, epoch: epoch(6) });
  await pass(50);
  expect(state.streams.length).toBe(streams + 1);
  expect(state.next).toBe(2);
  await follower.stop();
});
