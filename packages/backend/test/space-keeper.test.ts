import { type Logger, revision } from '@engram/core';
import { quiet, SimClock } from '@engram/sim';
import { beforeEach, expect, test } from 'vitest';
import { SpaceKeeper } from '../src/lead/space-keeper.ts';

let clock: SimClock;
let totalBytes: number;
let inUseBytes: number;
let compacted: number;
let tries: PromiseWithResolvers<void>[];
let endedHolds: number;
let keeper: SpaceKeeper;
beforeEach(() => {
  clock = new SimClock();
  [totalBytes, inUseBytes, compacted, tries, endedHolds] = [0, 0, 0, [], 0];
  keeper = make();
});

function make(logger: Logger = quiet): SpaceKeeper {
  return new SpaceKeeper({
    quotaBytes: 1000,
    size: () => ({ totalBytes, inUseBytes }),
    compactRevision: () => revision(compacted),
    reclaim: () => {
      tries.push(Promise.withResolvers());
      return tries.at(-1)!.promise;
    },
    endHolds: () => {
      endedHolds += 1;
    },
    timeoutMs: 7000,
    clock,
    logger,
  });
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
}

async function gaveBack(bytes: number): Promise<void> {
  totalBytes -= bytes;
  tries.at(-1)!.resolve();
  await settled();
}

test('far below the quota nothing is done', () => {
  totalBytes = 700;
  expect(keeper.ask(40)).toBe('room');
  expect(tries.length).toBe(0);
});

test.each([
  { inUse: 600, started: 1, why: 'much of it is garbage' },
  { inUse: 780, started: 0, why: 'nearly all of it lives' },
])('near the quota $started tries begin, and no write waits: $why', ({ inUse, started }) => {
  [totalBytes, inUseBytes] = [800, inUse];
  expect(keeper.ask(10)).toBe('room');
  expect(keeper.ask(10)).toBe('room');
  expect(tries.length).toBe(started);
  expect(keeper.waiting).toBeUndefined();
});

test('at the quota a write waits for what is given back, whatever is known of garbage', async () => {
  [totalBytes, inUseBytes] = [995, 995];
  const answer = keeper.ask(10);
  expect(answer).toBeInstanceOf(Promise);
  expect(keeper.waiting).toBeInstanceOf(Promise);
  await gaveBack(300);
  await answer;
  expect(keeper.waiting).toBeUndefined();
  expect(keeper.ask(10)).toBe('room');
});

test('a write that waits goes on as soon as there is room, before all is given back', async () => {
  totalBytes = 995;
  let rooms = 0;
  for (let write = 0; write < 3; write += 1) void (keeper.ask(10) as Promise<void>).then(() => (rooms += 1));
  clock.advance(60);
  await settled();
  expect(rooms).toBe(0);
  totalBytes = 900;
  clock.advance(60);
  await settled();
  expect(rooms).toBe(3);
  expect(keeper.ask(10)).toBe('room');
  // At the quota again, a write waits for the same try.
  totalBytes = 995;
  expect(keeper.ask(10)).toBeInstanceOf(Promise);
  expect(tries.length).toBe(1);
});

test.each([
  { freed: 0, later: 'full', why: 'it gave nothing back' },
  { freed: 20, later: 'full', why: 'it gave hardly anything back' },
  { freed: 100, later: 'a promise', why: 'it was worth it' },
])('after a try the next is $later: $why', async ({ freed, later }) => {
  totalBytes = 995;
  void keeper.ask(100);
  await gaveBack(freed);
  totalBytes = 995;
  const answer = keeper.ask(100);
  expect(answer instanceof Promise ? 'a promise' : answer).toBe(later);
  if (later !== 'full') return;
  clock.advance(10_000);
  expect(keeper.ask(100)).toBeInstanceOf(Promise);
});

test('after a try that was not worth it, a compaction is reason enough for the next', async () => {
  totalBytes = 995;
  void keeper.ask(100);
  await gaveBack(0);
  expect(keeper.ask(100)).toBe('full');
  compacted = 7;
  expect(keeper.ask(100)).toBeInstanceOf(Promise);
});

test('near the quota there is one try for each compaction, however much garbage stays', async () => {
  [totalBytes, inUseBytes, compacted] = [800, 600, 5];
  for (let ask = 0; ask < 3; ask += 1) {
    expect(keeper.ask(10)).toBe('room');
    tries[0]!.resolve();
    await settled();
    clock.advance(60_000);
  }
  expect(tries.length).toBe(1);
  compacted = 6;
  expect(keeper.ask(10)).toBe('room');
  expect(tries.length).toBe(2);
});

test('a try that fails is over, and leaves the write to be refused', async () => {
  totalBytes = 995;
  const answer = keeper.ask(10);
  tries[0]!.reject(new Error('no disk'));
  await answer;
  expect(keeper.ask(10)).toBe('full');
});

test('a write that waits for too long is answered Timeout, and the try goes on', async () => {
  totalBytes = 995;
  const answers = [keeper.ask(10), keeper.waiting].map((answer) =>
    (answer as Promise<void>).catch((error) => error.code),
  );
  clock.advance(7000);
  expect(await Promise.all(answers)).toEqual(['Timeout', 'Timeout']);
  expect(keeper.ask(10)).toBeInstanceOf(Promise);
  expect(tries.length).toBe(1);
});

test('snapshots are ended while a write waits for room, after a fourth of its time, and not before', async () => {
  totalBytes = 800;
  inUseBytes = 600;
  expect(keeper.ask(10)).toBe('room');
  clock.advance(60_000);
  expect(endedHolds, 'nobody waits').toBe(0);
  totalBytes = 995;
  const answer = keeper.ask(10);
  clock.advance(1749);
  expect(endedHolds).toBe(0);
  clock.advance(1);
  expect(endedHolds).toBe(1);
  clock.advance(50);
  expect(endedHolds, 'one that was begun meanwhile may hold a later compaction up').toBe(2);
  await gaveBack(300);
  await answer;
  clock.advance(60_000);
  expect(endedHolds, 'nobody waits any more').toBe(2);
});

test('when it is closed, nobody waits any more', async () => {
  totalBytes = 995;
  const answer = keeper.ask(10);
  keeper.close();
  await answer;
  expect(keeper.ask(10)).toBe('room');
  expect(keeper.waiting).toBeUndefined();
  expect(clock.advance(100_000)).toBe(0);
});
