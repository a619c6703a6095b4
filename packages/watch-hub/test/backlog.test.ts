import { AssertionError, type EventGroup, revision, utf8 } from '@engram/core';
import { putGroup } from '@engram/core/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Backlog, Backlogs } from '../src/live/backlog.ts';
import { FakeSink } from './fakes.ts';
import { from, World } from './world.ts';

const OVERHEAD_BYTES = 430;
const sized = (bytes: number): EventGroup =>
  putGroup(revision(2), { key: utf8('a'), kv: new Uint8Array(bytes - OVERHEAD_BYTES) });

test('a backlog takes what fits, to the byte; the account of all bounds each', () => {
  const backlogs = new Backlogs({ groupsMax: 3, bytesMax: 2_000, totalBytesMax: 3_000 });
  const [one, other] = [new Backlog(), new Backlog()];
  expect([1_000, 1_001, 1_000, 500].map((bytes) => backlogs.push(one, sized(bytes)))).toEqual([
    true,
    false,
    true,
    false,
  ]);
  expect([1_001, 500, 500, 500].map((bytes) => backlogs.push(other, sized(bytes)))).toEqual([false, true, true, false]);
  expect([backlogs.events, backlogs.bytes]).toEqual([4, 3_000]);
  backlogs.release(one);
  expect(backlogs.push(other, sized(500))).toBe(true);
  expect(backlogs.push(other, sized(500)), 'as many revisions as it may have').toBe(false);
  expect([backlogs.events, backlogs.bytes]).toEqual([3, 1_500]);
  expect(() => backlogs.release(one)).toThrow(AssertionError);
});

test('superseded versions count too', () => {
  const backlogs = new Backlogs({ groupsMax: 9, bytesMax: 9_000, totalBytesMax: 9_000 });
  backlogs.push(new Backlog(), putGroup(revision(2), { key: utf8('a'), kv: utf8('12'), prevKv: utf8('345') }));
  expect(backlogs.bytes).toBe(OVERHEAD_BYTES + 5);
});

test('the account is the sum of what is held, whatever comes and goes', () => {
  const step = fc.record({ backlog: fc.nat(3), bytes: fc.integer({ min: 430, max: 1_500 }), release: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const backlogs = new Backlogs({ groupsMax: 4, bytesMax: 3_000, totalBytesMax: 7_000 });
      const held = Array.from({ length: 4 }, () => new Backlog());
      for (const { backlog, bytes, release } of steps) {
        if (release) {
          backlogs.release(held[backlog]!);
          held[backlog] = new Backlog();
        } else backlogs.push(held[backlog]!, sized(bytes));
        const sums = held.map(({ groups }) =>
          groups.reduce((sum, { events }) => sum + OVERHEAD_BYTES + events[0]!.kv.length, 0),
        );
        expect(backlogs.bytes).toBe(sums.reduce((sum, each) => sum + each, 0));
        expect(Math.max(...sums)).toBeLessThanOrEqual(3_000);
        expect(backlogs.bytes).toBeLessThanOrEqual(7_000);
      }
    }),
  );
});

test('large values end a backlog before its revisions do, and the watcher gets them from history', async () => {
  const world = new World({ auto: false, history: ['a'], hub: { backlogBytesMax: 1 << 20 } });
  world.watch('*', from(2));
  const big = 'k'.repeat(300_000);
  for (let at = 0; at < 10; at += 1) world.put(big);
  expect(world.hub.stats).toMatchObject({ pendingEvents: 3, slowWatchers: 1 });
  expect(world.hub.stats.pendingBytes).toBeGreaterThan(900_000);
  expect(world.hub.stats.pendingBytes).toBeLessThanOrEqual(1 << 20);
  world.put('a'); // there is room for it, but it would follow a gap
  expect(world.hub.stats.pendingEvents).toBe(3);
  while (world.store.reads.length > 0) {
    world.store.reads[0]!.settle();
    await world.clock.pass(0);
  }
  world.put('a');
  expect(world.sink.groups.map((group) => group.revision)).toEqual(Array.from({ length: 13 }, (_, at) => at + 2));
  expect(world.hub.stats).toMatchObject({ pendingEvents: 0, pendingBytes: 0, slowWatchers: 0 });
});

test('a watcher that finds no room in the account of all is served from history, and a cancel gives room back', async () => {
  const world = new World({ auto: false, history: ['a'], hub: { backlogTotalBytesMax: 1_000 } });
  const sinks = [new FakeSink(), new FakeSink(), new FakeSink()];
  const streams = sinks.map((sink) => world.hub.openStream(sink));
  for (const stream of streams) world.watch('a', from(2), stream);
  await world.clock.pass(0);
  world.put('a');
  expect(world.hub.stats.pendingEvents).toBe(2);
  streams[1]!.cancel(0);
  streams[2]!.close();
  expect(world.hub.stats).toMatchObject({ pendingEvents: 0, pendingBytes: 0 });
  while (world.store.reads.length > 0) {
    world.store.reads[0]!.settle();
    await world.clock.pass(0);
  }
  expect(sinks.map((sink) => sink.groups.map((group) => group.revision))).toEqual([[2, 3], [], []]);
});
