import { nodeItself } from '@engram/backend';
import { keyBytes, prefixRange } from '@engram/core';
import { Loop, StepPace } from '@engram/loop';
import { Scheduler, SimClock } from '@engram/sim';
import { MemoryStorage } from '@engram/storage';
import { expect, test } from 'vitest';
import { visitKept } from '../src/image/kept-versions.ts';
import { openNode, plainKv, watchAll } from './harness.ts';
import { checkQuiet, everything, put, putOf, txnOf } from './ops.ts';

const KEYS = 3000;
const keyOf = (at: number): string => `k${String(at).padStart(5, '0')}`;

test('a revision with very many events is read in slices, and a compaction takes nothing of it away', async () => {
  const clock = new SimClock({ scheduler: new Scheduler(), turnMs: () => 1 });
  const node = await clock.run(openNode(new MemoryStorage(), { clock, sliceSteps: 500, cacheBytesMax: 4000 }));
  const { backend } = node;
  for (let from = 0; from < KEYS; from += 100) {
    const puts = Array.from({ length: 100 }, (_, at) => putOf(keyOf(from + at), `v${from + at}`));
    await clock.run(backend.txn(txnOf(...puts), nodeItself));
  }
  const range = prefixRange(keyBytes('k'));
  await clock.run(backend.txn(txnOf({ kind: 'delete-range', range, prevKv: false }), nodeItself));
  const deleted = backend.revision;
  await clock.run(backend.txn(put('z', 'last'), nodeItself));

  const sink = watchAll(node, deleted);
  await clock.pass(2);
  const compacted = backend.compact(deleted, true, nodeItself);
  let seen = 0;
  for (; sink.groups.length === 0 && seen < 1000; seen += 1) {
    await clock.pass(1);
    // Other requests are served meanwhile.
    expect((await clock.run(Promise.resolve(backend.range(everything(), nodeItself)))).count).toBe(1);
  }
  expect(seen, 'turns that others had').toBeGreaterThan(10);
  expect(sink.groups.map(({ revision, events }) => [revision, events.length])).toEqual([
    [deleted, KEYS],
    [deleted + 1, 1],
  ]);
  const { events } = sink.groups[0]!;
  expect(events.map(({ prevKv }) => plainKv(prevKv!).value)).toEqual(Array.from({ length: KEYS }, (_, at) => `v${at}`));
  await clock.run(compacted);
  expect(sink.failures).toEqual([]);
  expect(node.fatal).toEqual([]);
  checkQuiet(backend);
});

/** Counts slices, also those of work that is no job. */
class CountingLoop extends Loop {
  parts = 0;
  override slice<Result>(work: () => Result): Result {
    this.parts += 1;
    return super.slice(work);
  }
  get slices(): number {
    return this.parts + this.usage.get('background')!.slices;
  }
}

test('checkpoints, snapshots and hashes of keys with long histories are made in slices by their versions', async () => {
  const [NAMES, HISTORY, STEPS] = [20, 100, 40];
  const clock = new SimClock({ scheduler: new Scheduler(), turnMs: () => 1 });
  const loop = new CountingLoop({ clock, pace: new StepPace(STEPS) });
  const node = await clock.run(openNode(new MemoryStorage(), { clock, loop, checkpointEveryBytes: 1 }));
  const { backend } = node;
  for (let version = 0; version < HISTORY; version += 1) {
    const puts = Array.from({ length: NAMES }, (_, at) => putOf(keyOf(at), 'v'));
    await clock.run(backend.txn(txnOf(...puts), nodeItself));
  }
  while (backend.replica.checkpointing) await clock.pass(1);
  const least = (NAMES * HISTORY) / (STEPS + HISTORY);
  const slicesOf = async (work: Promise<unknown>): Promise<number> => {
    const before = loop.slices;
    await clock.run(work);
    return loop.slices - before;
  };
  const { state } = backend.replica;
  const head = state.index.head(keyBytes(keyOf(3)));
  expect(visitKept(state.index, head, state.compactRevision, state.revision, () => {})).toBe(HISTORY);
  const never = new AbortController().signal;
  const image = backend.image(never);
  expect(await slicesOf(image)).toBeGreaterThanOrEqual(least);
  (await image)[Symbol.dispose]();
  expect(await slicesOf(backend.hashKv(2, never))).toBeGreaterThanOrEqual(least);

  const parts = loop.parts;
  // So much of the log that a checkpoint pays.
  await clock.run(backend.txn(put('z', 'v'.repeat(500_000)), nodeItself));
  while (backend.replica.checkpointing) await clock.pass(1);
  expect(loop.parts - parts).toBeGreaterThanOrEqual(least);
  checkQuiet(backend);
});
