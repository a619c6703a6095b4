import { expect, test } from 'vitest';
import { FakeSink, settled, turn } from './fakes.ts';
import { from, World } from './world.ts';

/** At most this many watchers are told or dropped in one turn. */
const VISITS_MAX = 500;
const MANY = 10 * VISITS_MAX + 1;

/** Returns the results of `look`: one now, and one after each turn until no callback waits for a turn. */
async function turnByTurn(world: World, look: () => number): Promise<number[]> {
  const seen = [look()];
  await settled();
  while (turn(world.clock)) {
    await settled();
    seen.push(look());
  }
  return seen;
}

test('a stream with many watchers is closed over some turns, and hears nothing more from the first on', async () => {
  const world = new World({ auto: false, history: ['a'], steps: VISITS_MAX });
  for (let at = 0; at < MANY; at += 1) world.watch('quiet');
  for (let at = 0; at < 100; at += 1) world.watch('b', { prevKv: at % 2 === 0 });
  for (let at = 0; at < MANY; at += 1) world.watch('a', from(2)); // dropped last, after their reads have come back
  await world.clock.pass(0);
  const reads = [...world.store.reads];
  let left = world.hub.stats.slowWatchers;
  world.stream.close();
  expect(world.hub.stats).toMatchObject({ streams: 0, watchers: 0 });
  expect([world.stream.cancel(1), world.stream.cancel(MANY + 101)]).toEqual([false, false]);
  world.put('a');
  world.put('b');
  world.put('b');
  world.stream.requestProgress();
  world.stream.drained();
  world.compact(3);
  for (const read of reads.slice(4)) read.settle(read === reads[4] ? new Error('unreadable') : undefined);
  const dropped = await turnByTurn(world, () => {
    const before = left;
    left = world.hub.stats.slowWatchers;
    return before - left;
  });
  expect(Math.max(...dropped)).toBeLessThanOrEqual(VISITS_MAX);
  expect(left).toBe(0);
  expect(world.hub.wantsEvents()).toBe(false);
  expect(world.sink.take()).toEqual([]);
  expect(reads.slice(0, 4).every((read) => read.signal.aborted)).toBe(true);
  expect(world.store.reads.length, 'no read begins for it').toBe(4);
  expect(world.hub.stats).toMatchObject({ slowWatchers: 0, pendingEvents: 0, pendingBytes: 0 });
});

test('many watchers that need what was compacted are cancelled over some turns, each once', async () => {
  const world = new World({ auto: false, history: ['a', 'a', 'a', 'a'], steps: VISITS_MAX });
  for (let at = 0; at < MANY; at += 1) world.watch('a', from(2));
  await world.clock.pass(0);
  world.compact(3);
  const cancelled: string[] = [];
  const seen = await turnByTurn(world, () => {
    const lines = world.sink.take();
    cancelled.push(...lines);
    return lines.length;
  });
  expect(Math.max(...seen)).toBeLessThanOrEqual(VISITS_MAX);
  expect(new Set(cancelled)).toEqual(new Set(Array.from({ length: MANY }, (_, at) => `${at} compacted 3`)));
  expect(cancelled.length).toBe(MANY);
  expect(world.hub.stats).toMatchObject({ watchers: 0, slowWatchers: 0 });
});

test('a compaction during the round of another reaches those whom that round has passed', async () => {
  const world = new World({ auto: false, history: ['a', 'a', 'a', 'a'], steps: VISITS_MAX });
  for (let at = 0; at < MANY; at += 1) world.watch('a', from(at < VISITS_MAX ? 4 : 2));
  world.compact(3);
  expect(world.sink.take()).toEqual([]); // the first watchers need no revision below it
  world.compact(5);
  await turnByTurn(world, () => 0);
  const cancelled = world.sink.take().map((line) => line.replace(/ .*/, ''));
  expect(new Set(cancelled).size).toBe(MANY);
});

test('periodic progress of many watchers leaves over some turns, and the next round begins behind it', async () => {
  const world = new World({ steps: VISITS_MAX });
  for (let at = 0; at < MANY; at += 1) world.watch('a', { progressNotify: true });
  const lines: string[] = [];
  const look = (): number => {
    const told = world.sink.take();
    lines.push(...told);
    return told.length;
  };
  world.clock.scheduler.step(); // the interval has passed
  expect(Math.max(...(await turnByTurn(world, look)))).toBeLessThanOrEqual(VISITS_MAX);
  expect(new Set(lines)).toEqual(new Set(Array.from({ length: MANY }, (_, at) => `${at} progress 1`)));
  expect(lines.length).toBe(MANY);
  expect(world.clock.waiting).toBe(1);
  world.clock.scheduler.step();
  await turnByTurn(world, look);
  expect(lines.length).toBe(2 * MANY);
});

test('a round of progress tells the revision of its turn, and never before an event', async () => {
  const world = new World({ steps: VISITS_MAX });
  for (let at = 0; at < MANY; at += 1) world.watch('b', { progressNotify: true });
  world.watch('a', { progressNotify: true });
  world.clock.scheduler.step();
  world.put('a');
  await turnByTurn(world, () => 0);
  const marks = world.sink.take().filter((line) => line.includes('progress'));
  expect(marks.length).toBe(MANY); // the last one had an event within the round
  expect(marks.slice(0, VISITS_MAX).every((line) => line.endsWith('progress 1'))).toBe(true);
  expect(marks.slice(VISITS_MAX).every((line) => line.endsWith('progress 2'))).toBe(true);
});

test('who wants progress anew during a round has one timer', async () => {
  const world = new World({ steps: VISITS_MAX });
  for (let at = 0; at < MANY; at += 1) world.watch('a', { progressNotify: true });
  world.clock.scheduler.step();
  for (let at = 0; at < MANY; at += 1) world.stream.cancel(at);
  world.watch('a', { progressNotify: true });
  await turnByTurn(world, () => 0);
  expect(world.clock.waiting).toBe(1);
  world.stream.cancel(MANY);
  expect(world.clock.waiting).toBe(0);
});

test('a hub with many streams is closed over some turns too', async () => {
  const world = new World({ auto: false, history: ['a'], steps: VISITS_MAX });
  const sinks = Array.from({ length: 3 }, () => new FakeSink());
  for (const sink of sinks) {
    const stream = world.hub.openStream(sink);
    for (let at = 0; at < VISITS_MAX + 1; at += 1) world.watch('a', from(2), stream);
  }
  world.hub.close();
  expect(world.hub.stats).toMatchObject({ streams: 0, watchers: 0 });
  await world.clock.pass(0);
  expect(world.hub.stats.slowWatchers).toBe(0);
});

test('many streams that are closed in one go are dropped over some turns too', async () => {
  const world = new World({ auto: false, history: ['a'], steps: VISITS_MAX });
  const streams = Array.from({ length: 300 }, () => world.hub.openStream(new FakeSink()));
  for (const stream of streams) for (let at = 0; at < 10; at += 1) world.watch('a', from(2), stream);
  await world.clock.pass(0);
  let left = world.hub.stats.slowWatchers;
  for (const stream of streams) stream.close();
  expect(world.hub.stats).toMatchObject({ streams: 1, watchers: 0 });
  const dropped = await turnByTurn(world, () => {
    const before = left;
    left = world.hub.stats.slowWatchers;
    return before - left;
  });
  expect(Math.max(...dropped)).toBeLessThanOrEqual(VISITS_MAX);
  expect(left).toBe(0);
});
