import type { Replica } from '@engram/backend';
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
      follow: () => expect.fail('took a batch'),
    } as Partial<Replica> as Replica,
    storage: { values: values as Partial<Storage['values']> } as Partial<Storage> as Storage,
    endOf: async () => logPosition(2),
    peers: {
      async *follow(): AsyncGenerator<LogBatch> {
        yield { first: logPosition(1), records: [new Uint8Array(1)], chain };
      },
    } as Partial<Peers> as Peers,
    onFatal: (error) => ended.push(error),
  });
  leader.set({ memberId: 1n, epoch: epoch(5) });
  follower.start();
  await clock.settle();
  expect(ended).toEqual([expect.any(StorageDivergedError)]);
  expect(adopted.map((batch) => batch.chain)).toEqual([chain]);
  await follower.stop();
});
