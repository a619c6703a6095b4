import { revision, SharedBudget } from '@engram/core';
import type { Watcher } from '@engram/watch-hub';
import { expect, test } from 'vitest';
import { WatcherShares } from '../src/watcher-shares.ts';
import { Api, b } from './api.ts';
import type { WatchClient } from './watch-client.ts';

/* Watchers count with the memory that they take, in a share for each connection. */

const MAX_BYTES = 1024 * 1024;
const FLOOR_BYTES = 16 * 1024;
const budget = (): SharedBudget => new SharedBudget({ max: MAX_BYTES, greed: 1, floor: FLOOR_BYTES });

/** Creates watchers until one is refused. */
function fill(watch: WatchClient, keyBytes = 10): number {
  for (let at = 0; at < 10_000; at += 1) {
    const { canceled, created, cancelReason, watchId } = watch.create({ key: Buffer.alloc(keyBytes, `${at} `) });
    expect(created).toBe(true);
    if (!canceled) continue;
    expect({ cancelReason, watchId }).toEqual({ cancelReason: 'etcdserver: too many watchers', watchId: -1 });
    return at;
  }
  throw new Error('no bound');
}

test('a watcher too many is answered as cancelled, and the stream goes on', async () => {
  const watcherBytes = budget();
  await using api = await Api.open({ services: { watcherBytes } });
  const watch = api.watch();
  const watchers = fill(watch);
  // A lone holder gets half.
  expect(watcherBytes.used).toBeGreaterThan(0.45 * MAX_BYTES);
  expect(watcherBytes.used).toBeLessThan(0.55 * MAX_BYTES);
  expect(watcherBytes.refusals).toBe(1);
  expect(api.backend.watchHub.stats.watchers).toBe(watchers);
  for (let id = 0; id < 10; id += 1) {
    watch.cancel(id);
    expect(watch.next().canceled).toBe(true);
  }
  expect(watch.create({ key: b('a') }).canceled).toBe(false);
  await api.fill('a');
  expect((await watch.events()).length).toBe(1);
  // A second stream of the connection does not get more.
  expect(fill(api.watch())).toBeLessThanOrEqual(10);
  watch.call.cancel();
  expect(watcherBytes.used).toBeLessThan(20 * 1024);
});

test('keys count', async () => {
  const watcherBytes = budget();
  await using api = await Api.open({ services: { watcherBytes } });
  expect(fill(api.watch(), 100_000)).toBeLessThan(10);
});

test('a watcher that a compaction ends counts no more', async () => {
  const watcherBytes = budget();
  await using api = await Api.open({ services: { watcherBytes } });
  await api.fill('a', 'b', 'c');
  const watch = api.watch();
  await api.compact(3);
  watch.create({ key: b('a'), startRevision: 2 });
  await watch.rest();
  expect(api.backend.watchHub.stats.watchers).toBe(0);
  expect(watcherBytes.used).toBe(0);
});

/** A watcher that counts for 2,000 bytes. */
const watcherOf = (watchId: number): Watcher => ({
  watchId,
  request: {
    range: { key: new Uint8Array(464), end: new Uint8Array(0) },
    startRevision: revision(0),
    prevKv: false,
    progressNotify: false,
    noPut: false,
    noDelete: false,
    fragment: false,
    watchId,
  },
});

test('each connection has a share, however many streams it opens, and gives all of it back', () => {
  const watcherBytes = budget();
  const shares = new WatcherShares(watcherBytes);
  const greedy = Array.from({ length: 50 }, () => shares.open('greedy'));
  let id = 0;
  for (const stream of greedy) {
    for (; stream.mayAdd() && id < 100_000; id += 1) stream.add(watcherOf(id));
  }
  const held = watcherBytes.used;
  expect(held).toBeLessThan(0.55 * MAX_BYTES);
  const modest = shares.open('modest');
  for (let at = 0; at < 16; at += 1) {
    expect(modest.mayAdd()).toBe(true);
    modest.add(watcherOf(at));
  }
  for (const stream of greedy) stream.close();
  expect(watcherBytes.used).toBe(32_000);
  modest.remove(3);
  modest.remove(3);
  expect(watcherBytes.used).toBe(30_000);
  modest.close();
  expect(watcherBytes.used).toBe(0);
  expect(shares.connections).toBe(0);
});
