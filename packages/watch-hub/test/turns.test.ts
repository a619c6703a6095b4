import { type Job, SLICE_MS, WORK_CLASSES, type WorkClass } from '@engram/loop';
import { expect, test } from 'vitest';
import { FakeSink, settled, turn } from './fakes.ts';
import { from, World } from './world.ts';

/** The classes in which work waits for a slice. */
const waiting = ({ loop }: World): readonly WorkClass[] => WORK_CLASSES.filter((work) => loop.waiting(work) > 0);

/** Runs turns until `done`. Returns how many. */
async function turnsUntil(world: World, done: () => boolean): Promise<number> {
  let turns = 0;
  for (await settled(); !done(); turns += 1) {
    expect(turns, 'it ends').toBeLessThan(1_000);
    turn(world.clock);
    await settled();
  }
  return turns;
}

/** Work of a class that never ends. */
function* endless(): Job<void> {
  for (;;) yield;
}

test('a batch that takes effect is durable work; who is closed, compacted or told of progress is caught up with', async () => {
  const world = new World({ steps: 4, history: ['a', 'a', 'a'] });
  for (let at = 0; at < 20; at += 1) world.watch('a', { progressNotify: true });
  const publication = world.batch(['a']);
  expect(waiting(world)).toEqual(['durable']);
  await world.clock.run(publication!);
  world.stream.close();
  expect(waiting(world)).toEqual(['catch-up']);
  await world.clock.pass(0);
  const stream = world.hub.openStream(new FakeSink());
  for (let at = 0; at < 20; at += 1) world.watch('a', { progressNotify: true }, stream);
  world.clock.scheduler.step(); // the interval has passed
  expect(waiting(world)).toEqual(['catch-up']);
});

test('a batch is handed to all while others have endless work of every class', async () => {
  const world = new World({ steps: 4 });
  for (let at = 0; at < 40; at += 1) world.watch('a');
  for (const work of WORK_CLASSES) void world.loop.run({ work, caller: 'busy', stage: 'test' }, endless());
  void world.batch(['a']);
  expect(await turnsUntil(world, () => world.hub.revision === 2)).toBeLessThan(300);
  expect(world.sink.take().length).toBe(40);
});

test('who is behind gets the past while others have endless work of every class, and is live then', async () => {
  const world = new World({ steps: 4, history: Array.from({ length: 30 }, () => 'a'), hub: { catchUpGroupsMax: 10 } });
  for (const work of WORK_CLASSES) void world.loop.run({ work, caller: 'busy', stage: 'test' }, endless());
  world.watch('a', from(2));
  expect(await turnsUntil(world, () => world.hub.stats.slowWatchers === 0)).toBeLessThan(500);
  expect(world.sink.groups.map(({ revision }) => Number(revision))).toEqual(
    Array.from({ length: 30 }, (_, at) => at + 2),
  );
  world.put('a');
  expect(world.sink.groups.length).toBe(31);
});

test('a client that is behind with many streams does not hold another', async () => {
  let nowMs = 0;
  const order: string[] = [];
  const world = new World({ auto: false, history: ['a'], nowMs: () => nowMs, hub: { recentBytesMax: 0 } });
  for (const client of ['many', 'many', 'many', 'many', 'many', 'one']) {
    const sink = new FakeSink();
    sink.events = () => {
      nowMs += SLICE_MS;
      return order.push(client) > 0;
    };
    world.watch('a', from(2), world.hub.openStream(sink, client));
  }
  for (const read of [...world.store.reads]) read.settle();
  await turnsUntil(world, () => order.length === 6);
  expect(order.indexOf('one'), order.join()).toBeLessThanOrEqual(2);
});

test('reads begin again after each that ends, fails, or is given up, however the slices fall', async () => {
  for (const steps of [0, 1, 2, 3, 5, 100]) {
    const world = new World({
      auto: false,
      history: ['a', 'a'],
      steps,
      hub: { historyReadsMax: 2, recentBytesMax: 0 },
    });
    const streams = Array.from({ length: 9 }, () => world.hub.openStream(new FakeSink()));
    for (const stream of streams) world.watch('a', from(2), stream);
    streams[4]!.close();
    for (let reads = 0; world.hub.stats.slowWatchers > 0; reads += 1) {
      await world.clock.pass(0);
      expect(reads, `slices of ${steps}`).toBeLessThan(12);
      world.store.reads[0]?.settle(reads === 3 ? new Error('unreadable') : undefined);
      await world.clock.pass(0);
    }
    expect(world.hub.stats, `slices of ${steps}`).toMatchObject({ streams: 8, slowWatchers: 0, pendingEvents: 0 });
  }
});
