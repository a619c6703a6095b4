import { nodeItself, openReplica } from '@engram/backend';
import { keyBytes, type Op, prefixRange } from '@engram/core';
import { SimCopy, Prng, quiet, Scheduler, SharedLog, SharedLogStorage, SimClock } from '@engram/sim';
import { expect, test } from 'vitest';
import { inSlicesOf, openNode } from './harness.ts';
import { checkQuiet, everything, putOf, txnOf } from './ops.ts';

const KEYS = 3000;
const SLICE_STEPS = 200;
const deleteAll: Op = { kind: 'delete-range', range: prefixRange(keyBytes('k')), prevKv: false };

test('a member that follows gives way in a batch of very many records, and shows it whole or not at all', async () => {
  const clock = new SimClock({ scheduler: new Scheduler(), turnMs: () => 1 });
  const log = new SharedLog('log');
  const leader = await clock.run(openNode(new SharedLogStorage(log, new SimCopy()), { clock }));
  const fatal: Error[] = [];
  const storage = new SharedLogStorage(log, new SimCopy());
  const follower = await clock.run(
    openReplica({
      storage,
      clock,
      random: new Prng(7),
      logger: quiet,
      memberId: 2n,
      ...inSlicesOf(SLICE_STEPS, clock),
      onFatal: (error) => fatal.push(error),
    }),
  );
  const { replica } = follower;
  for (let from = 0; from < KEYS; from += 100) {
    const puts = Array.from({ length: 100 }, (_, at) => putOf(`k${from + at}`, 'v'));
    await clock.run(leader.backend.txn(txnOf(...puts), nodeItself));
  }
  await clock.run(leader.backend.txn(txnOf(deleteAll), nodeItself));

  const batches = log.batchesFrom(replica.next);
  for (const batch of batches.slice(0, -1)) await clock.run(Promise.resolve(replica.follow(batch)));
  await clock.run(replica.whenApplied());
  const before = replica.revision;
  const long = batches.at(-1)!;
  expect(long.records.length).toBe(KEYS);

  let taken = false;
  const following = Promise.resolve(replica.follow(long)).then(() => {
    taken = true;
  });
  expect(() => replica.follow(long), 'a second batch meanwhile').toThrow(/while another is decoded/);
  const slices = (): number => replica.loop.usage.get('durable')!.slices;
  const begun = slices();
  let counts = 0;
  for (; !taken; counts += 1) {
    const { count } = await clock.run(Promise.resolve(replica.range(everything({ countOnly: true }), never)));
    expect(count).toBe(replica.revision === before ? KEYS : 0);
    await clock.pass(1);
  }
  await following;
  expect(counts, 'counts that others made').toBeGreaterThan(1);
  // Each record is decoded, and noted for readers.
  expect(slices() - begun).toBeGreaterThan((1.9 * KEYS) / SLICE_STEPS);
  await clock.run(replica.whenApplied());
  expect(replica.revision).toBe(before + 1);
  const last = await clock.run(Promise.resolve(replica.range(everything({ countOnly: true }), never)));
  expect(last.count).toBe(0);
  expect(fatal).toEqual([]);
  checkQuiet(follower);
});

const never = new AbortController().signal;
