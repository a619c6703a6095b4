import { type EventGroup, revision } from '@engram/core';
import { expect, test } from 'vitest';
import { type PageName, RecentPages } from '../src/catch-up/recent-pages.ts';
import { FakeSink } from './fakes.ts';
import { World } from './world.ts';

const key = (text: string): Uint8Array => Buffer.from(text);
const range = (start: string, end = '') => ({ key: key(start), end: key(end) });
const named = (first: number, other: Partial<PageName> = {}): PageName => ({
  range: range('a', 'c'),
  prevKv: false,
  from: revision(first),
  compactRevision: revision(1),
  ...other,
});
const from = (start: number) => ({ startRevision: revision(start) });

test('watchers of one range that are behind at the same revision share one read, and the same array', async () => {
  const world = new World({ auto: false, history: ['a', 'a', 'b', 'a'] });
  const sinks = Array.from({ length: 50 }, () => new FakeSink());
  let reads = 0;
  const settle = async (): Promise<void> => {
    while (world.store.reads.length > 0) {
      reads += 1;
      world.store.reads[0]!.settle();
      await world.clock.pass(0);
    }
  };
  world.watch('a', from(3), world.hub.openStream(sinks[0]!));
  world.watch('b', from(3));
  await world.clock.pass(0);
  for (const sink of sinks.slice(1)) world.watch('a', from(3), world.hub.openStream(sink));
  await world.clock.pass(0);
  // Eight reads at a time began before the first page was there.
  await settle();
  expect(reads).toBeLessThanOrEqual(8);
  for (const sink of sinks) expect(sink.groups.map((group) => group.revision)).toEqual([3, 5]);
  expect(new Set(sinks.map((sink) => sink.groups[0])).size).toBeLessThanOrEqual(8);
  expect(world.hub.stats.slowWatchers).toBe(0);
  world.put('a');
  for (const sink of sinks) expect(sink.groups.at(-1)!.revision).toBe(6);
});

test('a page that was read before a compaction is not given to a watcher that begins below it', async () => {
  const world = new World({ auto: false, history: ['a', 'a', 'a', 'a'] });
  world.watch('a', from(2));
  world.watch('b', from(2)); // It stays behind, so that pages are remembered.
  await world.clock.pass(0);
  world.store.reads[0]!.settle();
  await world.clock.pass(0);
  expect(world.sink.take().join()).toContain('2:a');
  world.compact(4);
  world.sink.take();
  world.watch('a', from(2));
  await world.clock.pass(0);
  expect(world.sink.take()).toEqual(['2 compacted 4']);
});

test('after a compaction history is read again, because superseded versions may be gone', async () => {
  const world = new World({ auto: false, history: ['a', 'a', 'a', 'a'] });
  world.watch('a', { ...from(4), prevKv: true });
  world.watch('b', from(4)); // It stays behind, so that pages are remembered.
  await world.clock.pass(0);
  world.store.reads[0]!.settle();
  await world.clock.pass(0);
  world.compact(4);
  const before = world.store.reads.length;
  world.watch('a', { ...from(4), prevKv: true });
  await world.clock.pass(0);
  expect(world.store.reads.length).toBe(before + 1);
});

const page = (first: number, bytes: number) => {
  const groups = [{ revision: revision(first), events: [{ kv: new Uint8Array(bytes) }] } as unknown as EventGroup];
  return { groups, next: revision(first + 1) };
};

test('a page is found by its range, prev_kv, begin and compact revision, and only for who wants all of it', () => {
  const recent = new RecentPages(10_000);
  const kept = page(7, 10);
  recent.keep(named(5), kept);
  expect(recent.find(named(5), revision(7))).toBe(kept);
  expect(recent.find(named(5), revision(6))).toBeUndefined();
  const ranges = [range('a', 'd'), range('ac'), range('', 'ac'), range('a\0', 'c')].map((other) => ({ range: other }));
  for (const other of [{ prevKv: true }, { from: revision(6) }, { compactRevision: revision(2) }, ...ranges]) {
    expect(recent.find(named(5, other), revision(7))).toBeUndefined();
  }
});

test('pages take bounded memory: the oldest goes first, and a very long one is not kept', () => {
  const recent = new RecentPages(10_000);
  const find = (first: number) => recent.find(named(first), revision(100));
  for (const first of [1, 2, 3, 4]) recent.keep(named(first), page(first, 2_500));
  expect([1, 2, 3, 4].map((first) => find(first) !== undefined)).toEqual([false, true, true, true]);
  recent.keep(named(5), page(5, 6_000));
  expect(find(5)).toBeUndefined();
  recent.clear();
  expect(find(4)).toBeUndefined();
});
