import { Prng, Scheduler, SimHost } from '@engram/sim';
import { expect, test } from 'vitest';
import type { WatchHubOptions } from '@engram/watch-hub';
import { from, World } from './world.ts';

const LATE = ['failed etcdserver: request timed out'];

/** A hub whose one watcher waits for a read of history of at most 10 s, in a process that can stand still. */
function reading(hub: Partial<WatchHubOptions> = {}) {
  const process = new SimHost(new Scheduler(), { name: 'node', random: new Prng(1) }).start();
  const { clock } = process;
  const world = new World({ auto: false, history: ['a'], hub: { clock, historyReadMsMax: 10_000, ...hub } });
  world.watch('a', from(2));
  const standStill = async (ms: number): Promise<void> => {
    process.pause();
    await clock.pass(ms);
    process.resume();
    await clock.pass(0);
  };
  return { world, clock, standStill };
}

test('a process that stood still gives a read the rest of its time', async () => {
  const { world, clock, standStill } = reading();
  await clock.pass(3_500);
  await standStill(60_000);
  expect(world.sink.take()).toEqual([]);
  await standStill(60_000);
  expect(world.sink.take()).toEqual([]);
  world.store.reads[0]!.settle();
  await clock.pass(0);
  expect(world.sink.take()).toEqual(['0 2:a header 2']);
  expect(clock.waiting).toBe(0);
});

test('a read that stays late after a pause is given up', async () => {
  const { world, clock, standStill } = reading();
  await clock.pass(5_000);
  await standStill(20_000);
  // A pause that began between two ticks of a second costs at most the rest of that second.
  await clock.pass(3_999);
  expect(world.sink.take()).toEqual([]);
  await clock.pass(1_001);
  expect(world.sink.take()).toEqual(LATE);
});

test('a read that begins after a pause has its whole time', async () => {
  const { world, clock, standStill } = reading({ historyReadsMax: 2, recentBytesMax: 0 });
  await clock.pass(5_000);
  await standStill(20_000);
  world.watch('a', from(2), world.hub.openStream(world.sink));
  await clock.pass(5_000);
  expect(world.sink.take()).toEqual(LATE);
  await clock.pass(4_999);
  expect(world.sink.take()).toEqual([]);
  await clock.pass(1);
  expect(world.sink.take()).toEqual(LATE);
});
