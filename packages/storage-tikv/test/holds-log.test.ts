import { StorageUnavailableError } from '@engram/storage';
import { never, sealOf } from '@engram/storage/testing';
import { beforeEach, expect, test } from 'vitest';
import { batchOf, first, SimBed } from './sim-bed.ts';

let bed: SimBed;
beforeEach(() => {
  bed = new SimBed();
});

const later = sealOf(2, 9n);

test('whether a seal holds the log is one point read of a store, and no call of PD', async () => {
  const storage = await bed.openSealed();
  await bed.append(storage, batchOf(1));
  const { calls, pdCalls } = bed.cluster;
  const before = [calls.length, pdCalls.length];
  for (let times = 0; times < 5; times += 1) expect(await bed.run(storage.log.heldBy(first, never))).toBe(true);
  expect(calls.slice(before[0]).map(({ command }) => command)).toEqual(new Array(5).fill('Get'));
  expect(pdCalls.length).toBe(before[1]);
});

test('it is known while PD is gone', async () => {
  const storage = await bed.openSealed();
  await bed.run(storage.log.heldBy(first, never));
  bed.cluster.kill(bed.cluster.pdAddresses[0]!);
  await bed.clock.pass(60_000);
  expect(await bed.run(storage.log.heldBy(first, never))).toBe(true);
});

test('a node that has not heard of its successor learns it from the log', async () => {
  const storage = await bed.openSealed();
  await bed.append(storage, batchOf(1));
  const successor = await bed.openSealed(later);
  expect(await bed.run(storage.log.heldBy(first, never))).toBe(false);
  expect(await bed.run(successor.log.heldBy(later, never))).toBe(true);
  await bed.append(successor, batchOf(2), later);
  expect(await bed.run(storage.log.heldBy(first, never))).toBe(false);
  expect(await bed.run(successor.log.heldBy(later, never))).toBe(true);
});

test('of two processes that seal for one holder and epoch only the last holds it', async () => {
  const storage = await bed.openSealed();
  const again = await bed.openSealed();
  expect(await bed.run(storage.log.heldBy(first, never))).toBe(false);
  expect(await bed.run(again.log.heldBy(first, never))).toBe(true);
});

test('a holder that has ended segments of its own still holds it, and a successor behind them ends that', async () => {
  const storage = await bed.openSealed(first, { segmentBytes: 200 });
  const asked: Promise<boolean>[] = [];
  for (let position = 1; position <= 20; position += 1) {
    asked.push(storage.log.heldBy(first, never)); // some of them while a segment ends
    expect(await bed.append(storage, batchOf(position))).toBe('committed');
  }
  expect(new Set(await bed.run(Promise.all(asked)))).toEqual(new Set([true]));
  expect(bed.cluster.calls.filter(({ command }) => command === 'Get').length).toBeGreaterThan(20);
  await bed.openSealed(later, { segmentBytes: 200 });
  expect(await bed.run(storage.log.heldBy(first, never))).toBe(false);
});

test('behind a segment that its holder ended without an answer, the next one decides', async () => {
  const storage = await bed.openSealed(first, { segmentBytes: 200, appendTimeoutMs: 500 });
  await bed.append(storage, batchOf(1, 20));
  await bed.clock.pass(100); // the region is split
  expect(await bed.run(storage.log.heldBy(first, never))).toBe(true);
  bed.next('Prewrite', bed.keys.seal(2), { kind: 'silence', executed: true });
  expect(await bed.append(storage, batchOf(21))).toBe('uncertain');
  expect(await bed.run(storage.log.heldBy(first, never))).toBe(true);
  const successor = await bed.openSealed(later);
  expect(await bed.append(successor, batchOf(21), later)).toBe('committed');
  expect(await bed.run(storage.log.heldBy(first, never))).toBe(false);
});

test('a seal whose writer never heard of its success counts', async () => {
  const storage = await bed.openSealed();
  const successor = await bed.open();
  bed.next('Prewrite', bed.keys.seal(2), { kind: 'silence', executed: true });
  const sealing = successor.log.seal(later);
  await bed.clock.pass(500);
  expect(await bed.run(storage.log.heldBy(first, never))).toBe(false);
  await bed.run(sealing);
});

test('a storage that has not sealed, or was refused, holds nothing', async () => {
  const opened = await bed.open();
  expect(await bed.run(opened.log.heldBy(first, never))).toBe(false);
  const storage = await bed.openSealed();
  const successor = await bed.openSealed(later);
  expect(await bed.append(storage, batchOf(1))).toBe('fenced');
  expect(await bed.run(storage.log.heldBy(first, never))).toBe(false);
  expect(await bed.run(successor.log.heldBy(first, never))).toBe(false);
});

test('without an answer it is unavailable, and the signal ends it with its reason', async () => {
  const storage = await bed.openSealed(first, { readTimeoutMs: 3_000 });
  await bed.run(storage.log.heldBy(first, never));
  const remove = bed.cluster.script(({ command }) =>
    command === 'Get' ? { kind: 'silence', executed: false } : undefined,
  );
  await expect(bed.run(storage.log.heldBy(first, never))).rejects.toThrow(StorageUnavailableError);
  const stop = new AbortController();
  const reason = new Error('no longer wanted');
  const asked = storage.log.heldBy(first, stop.signal);
  const ended = expect(asked).rejects.toBe(reason);
  await bed.clock.pass(100);
  stop.abort(reason);
  await ended;
  remove();
  expect(await bed.run(storage.log.heldBy(first, never))).toBe(true);
});
