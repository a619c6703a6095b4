import { expect, test } from 'vitest';
import { FakeSink, settled } from './fakes.ts';
import { from, World } from './world.ts';

test('a stream without room delays no other, and reads nothing until it has room', async () => {
  const world = new World({ auto: false });
  const other = new FakeSink();
  world.watch('*', {}, world.hub.openStream(other));
  world.watch('a');
  world.watch('b');
  world.sink.room = 0;
  world.put('a');
  world.put('b');
  expect(world.sink.take()).toEqual(['0 refused']); // no other watcher of the stream is offered events
  expect(other.take()).toEqual(['0 2:a header 2', '0 3:b header 3']);
  expect(world.hub.stats.slowWatchers).toBe(2);
  expect(world.store.reads).toEqual([]);
  world.sink.room = 9;
  world.stream.drained();
  expect(world.store.reads.map(({ from, to }) => [from, to])).toEqual([
    [2, 3],
    [3, 3],
  ]);
});

/** Each watcher reads for itself. */
const alone = { recentBytesMax: 0 };

test('a stream that waits for its turn to read, and meanwhile has no room, gives the turn up', async () => {
  const world = new World({ auto: false, history: ['a'], hub: alone });
  const busy = world.hub.openStream(new FakeSink());
  for (let at = 0; at < 8; at += 1) world.watch('a', from(2), busy);
  await world.clock.pass(0);
  world.watch('a', from(2)); // all reads are taken
  world.watch('b');
  world.sink.room = 0;
  world.put('b');
  expect(world.sink.take()).toEqual(['1 refused']);
  while (world.store.reads.length > 0) {
    world.store.reads[0]!.settle();
    await world.clock.pass(0);
  }
  expect(world.hub.stats.slowWatchers).toBe(2);
  world.sink.room = 9;
  world.stream.drained();
  await world.clock.pass(0);
  expect(world.store.reads.map(({ from }) => from)).toEqual([2, 3]);
});

test('at most eight reads at a time, and streams take turns', async () => {
  const world = new World({ auto: false, history: ['a', 'a', 'a'], hub: alone });
  for (let at = 0; at < 100; at += 1) world.watch('a', from(2));
  await world.clock.pass(0);
  expect(world.store.reads.length).toBe(8);
  world.watch('a', from(3), world.hub.openStream(new FakeSink()));
  world.store.reads[0]!.settle();
  await world.clock.pass(0);
  world.store.reads[0]!.settle();
  await world.clock.pass(0);
  expect(world.store.reads.map(({ from }) => from)).toContain(3);
  expect(world.store.reads.length).toBe(8);
});

test('one slow read holds nobody up', async () => {
  const world = new World({ auto: false, history: ['a'] });
  world.watch('a', from(1));
  const slow = world.store.reads[0]!;
  for (let at = 0; at < 20; at += 1) world.watch('a', from(2));
  await world.clock.pass(0);
  while (world.store.reads.length > 1) {
    world.store.reads.find((read) => read !== slow)!.settle();
    await world.clock.pass(0);
  }
  expect(world.sink.take().length).toBe(20);
  expect(world.hub.stats.slowWatchers).toBe(1);
});

test('a large past is offered in pieces of about a mebibyte, a larger revision alone', async () => {
  const world = new World();
  const big = 'k'.repeat(400_000);
  for (const change of [big, big, big, 'small']) world.put(change);
  world.put(big, big, big, big);
  world.put('small');
  world.watch('*', from(2));
  await settled();
  expect(world.sink.take().map((line) => line.match(/\d+:/g))).toEqual([['2:', '3:'], ['4:', '5:'], ['6:'], ['7:']]);
});

test('more than a backlog holds during a read: the rest comes by another read', async () => {
  const world = new World({ auto: false, history: ['a'] });
  world.watch('a', from(2));
  for (let at = 0; at < 10_005; at += 1) world.put('a');
  expect(world.hub.stats.pendingEvents).toBe(10_000);
  world.store.reads[0]!.settle();
  await settled();
  world.store.reads[0]!.settle();
  await settled();
  world.put('a');
  expect(world.sink.groups.map(({ revision }) => revision)).toEqual(Array.from({ length: 10_007 }, (_, at) => at + 2));
  expect(world.store.reads).toEqual([]);
});
