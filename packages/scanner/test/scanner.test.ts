import { encodeKeyValue, encodePutRecord } from '@engram/coder';
import {
  rangeOp,
  type ByteList,
  EMPTY_BYTES,
  isEngramError,
  type LogPosition,
  keyBytes,
  keyText,
  leaseId,
  logPosition,
  prefixRange,
  type RangeOp,
  type Revision,
  revision,
  SortTarget,
} from '@engram/core';
import { KeyIndex } from '@engram/index';
import { Loop } from '@engram/loop';
import { Pins, RecordCache, Scanner, VersionBytes } from '@engram/scanner';
import { SimClock } from '@engram/sim';
import type { StorageSize, Values } from '@engram/storage';
import { decodeKeyValue } from '@engram/coder';
import { expect, test } from 'vitest';

/** Versions by position. Records the number of positions of each `getMany`. */
class SlowValues implements Values {
  readonly records = new Map<LogPosition, Uint8Array>();
  asked: number[] = [];

  async getMany(positions: readonly LogPosition[], signal: AbortSignal): Promise<readonly Uint8Array[]> {
    this.asked.push(positions.length);
    await new Promise((resolve) => setImmediate(resolve));
    signal.throwIfAborted();
    return positions.map((position) => this.records.get(position)!);
  }
  peek(): undefined {}
  drop(): Promise<void> {
    return Promise.resolve();
  }
  saveCheckpoint(): Promise<void> {
    return Promise.resolve();
  }
  loadCheckpoint(): Promise<undefined> {
    return Promise.resolve(undefined);
  }
  size(): StorageSize {
    return { totalBytes: 0, inUseBytes: 0 };
  }
}

interface Bed {
  readonly scanner: Scanner;
  readonly values: SlowValues;
  readonly cache: RecordCache;
  readonly pins: Pins;
}

/** The byte that the value of a key consists of. */
const filling = (keys: number, at: number): number => (keys - at) % 256;

/** Keys `k00000`, `k00001` ..., each put once, in that order, at revisions from 2 on. */
function bed(keys: number, valueBytes = 10, cacheBytesMax = 0): Bed {
  const index = new KeyIndex();
  const values = new SlowValues();
  for (let at = 0; at < keys; at += 1) {
    const kv = {
      key: keyBytes(`k${String(at).padStart(5, '0')}`),
      createRevision: revision(at + 2),
      modRevision: revision(at + 2),
      version: 1,
      value: new Uint8Array(valueBytes).fill(filling(keys, at)),
      lease: leaseId(0n),
    };
    const position = logPosition(at + 1);
    values.records.set(position, encodePutRecord(0, kv));
    index.append(kv.key, { ...kv, sub: 0, tombstone: false, position, bytes: encodeKeyValue(kv).length });
  }
  const cache = new RecordCache(cacheBytesMax);
  const pins = new Pins();
  const scanner = new Scanner({
    index,
    bytes: new VersionBytes(cache, values),
    pins,
    loop: new Loop({ clock: new SimClock() }),
  });
  return { scanner, values, cache, pins };
}

const list = (over: Partial<RangeOp> = {}): RangeOp => rangeOp(prefixRange(keyBytes('k')), over);
const newest = revision(1_000_000);
const never = new AbortController().signal;
const names = (kvs: ByteList): string[] => [...kvs].map((kv) => keyText(decodeKeyValue(kv).key));

test('a long list is one answer, in key order, at one revision, although it is worked off in slices', async () => {
  const { scanner } = bed(10_000);
  const result = await scanner.scan(list(), newest, never);
  expect(result).toMatchObject({ count: 10_000, more: false });
  expect(names(result.kvs)).toEqual(Array.from({ length: 10_000 }, (_, at) => `k${String(at).padStart(5, '0')}`));
});

test.each([
  { limit: 3, more: true, count: 9000, why: 'a page knows how many there are' },
  { limit: 4096, more: true, count: 9000, why: 'a limit at the edge of a slice' },
  { limit: 4097, more: true, count: 9000, why: 'a limit just past it' },
  { limit: 9000, more: false, count: 9000, why: 'exactly all' },
])('limit $limit of 9000: $why', async ({ limit, more, count }) => {
  const result = await bed(9000).scanner.scan(list({ limit }), newest, never);
  expect(result).toMatchObject({ more, count });
  expect(result.kvs).toHaveLength(Math.min(limit, count));
});

test('what is in memory and what is not come in one order', async () => {
  const { scanner } = bed(6000, 10, 1 << 24);
  for (const limit of [1, 70, 2000]) await scanner.scan(list({ limit }), newest, never);
  const result = await scanner.scan(list(), newest, never);
  expect(names(result.kvs)).toEqual(Array.from({ length: 6000 }, (_, at) => `k${String(at).padStart(5, '0')}`));
});

test('a list at an older revision counts that revision', async () => {
  expect(await bed(6000).scanner.scan(list({ limit: 2 }), revision(101), never)).toMatchObject({
    count: 100,
    more: true,
  });
});

test('a sort by value happens after the fetch, and keys_only after the sort', async () => {
  const sorted = await bed(5).scanner.scan(
    list({ sortOrder: 1, sortTarget: 4, limit: 2, keysOnly: true }),
    newest,
    never,
  );
  expect(names(sorted.kvs)).toEqual(['k00004', 'k00003']);
  expect(sorted).toMatchObject({ count: 5, more: true });
  expect(decodeKeyValue([...sorted.kvs][0]!).value).toEqual(EMPTY_BYTES);
});

test('keys_only and counts read no bytes', () => {
  const { scanner, values } = bed(100);
  expect(scanner.scan(list({ keysOnly: true }), newest, never)).toMatchObject({ count: 100, kvs: { length: 100 } });
  expect(scanner.scan(list({ countOnly: true, limit: 1 }), newest, never)).toEqual({
    count: 100,
    kvs: [],
    more: false,
  });
  expect(values.asked).toEqual([]);
});

test('what was read is found in memory the next time, without waiting', async () => {
  const { scanner, values } = bed(100, 10, 1_000_000);
  expect(scanner.scan(list(), newest, never)).toBeInstanceOf(Promise);
  await scanner.scan(list(), newest, never);
  const before = values.asked.length;
  expect(scanner.scan(list(), newest, never)).toMatchObject({ kvs: { length: 100 } });
  expect(values.asked).toHaveLength(before);
});

test('a reader is pinned until its bytes are there, and a compaction waits that long', async () => {
  const { scanner, pins } = bed(100);
  const answer = scanner.scan(list(), revision(50), never);
  let clear = false;
  const waits = pins.clearBelow(revision(60))?.then(() => {
    clear = true;
  });
  await Promise.resolve();
  expect(clear).toBe(false);
  await answer;
  await waits;
  await pins.clearBelow(revision(60));
});

test('a reader at the compacted revision or above holds up nothing', async () => {
  const { pins } = bed(0);
  using _pin = pins.hold(revision(60));
  await pins.clearBelow(revision(60));
});

test('an aborted list ends with the reason', async () => {
  const abort = new AbortController();
  const answer = bed(20_000).scanner.scan(list(), newest, abort.signal);
  abort.abort(new Error('the client has gone'));
  await expect(answer).rejects.toThrow('the client has gone');
});

async function streamed(
  over: Partial<RangeOp>,
  compactAfter = Number.POSITIVE_INFINITY,
): Promise<{ chunks: number[]; names: string[]; ends: unknown }> {
  const { scanner } = bed(3000, 1000);
  const chunks: number[] = [];
  const found: string[] = [];
  let ends: unknown;
  for await (const chunk of scanner.stream(list(over), newest, 64 * 1024, () => chunks.length >= compactAfter, never)) {
    chunks.push(chunk.kvs.length);
    found.push(...names(chunk.kvs));
    if (chunk.last) ends = { count: chunk.count, more: chunk.more };
  }
  return { chunks, names: found, ends };
}

test('a stream of chunks is the list, and its last chunk tells of the whole', async () => {
  const whole = await streamed({});
  expect(whole.names).toHaveLength(3000);
  expect(new Set(whole.names).size).toBe(3000);
  expect(whole.chunks[0]).toBe(10);
  expect(Math.max(...whole.chunks)).toBeLessThanOrEqual(160); // 64 KiB of 1 kB values, doubled at most once too often
  expect(whole.ends).toEqual({ count: 3000, more: false });
});

test.each([
  { over: { limit: 25 }, ends: { count: 3000, more: true }, length: 25 },
  { over: { limit: 3000 }, ends: { count: 3000, more: false }, length: 3000 },
  { over: { countOnly: true }, ends: { count: 3000, more: false }, length: 0 },
  { over: { range: prefixRange(keyBytes('nothing')) }, ends: { count: 0, more: false }, length: 0 },
])('a stream of $over', async ({ over, ends, length }) => {
  const result = await streamed(over);
  expect(result.ends).toEqual(ends);
  expect(result.names).toHaveLength(length);
});

test.each([
  { what: 'by mod revision', over: {}, sortTarget: SortTarget.MOD },
  { what: 'by value, cut', over: { limit: 1_000 }, sortTarget: SortTarget.VALUE },
  { what: 'by value, keys only', over: { keysOnly: true }, sortTarget: SortTarget.VALUE },
])('each chunk of a stream is sorted, and no more than a chunk: $what', async ({ over, sortTarget }) => {
  const plain = await streamed(over);
  const sorted = await streamed({ ...over, sortTarget });
  expect(sorted.chunks).toEqual(plain.chunks);
  expect(sorted.ends).toEqual(plain.ends);
  // The bed's revisions are in the order of the keys.
  const rank = (name: string): number => (sortTarget === SortTarget.VALUE ? filling(3000, Number(name.slice(1))) : 0);
  let from = 0;
  for (const length of plain.chunks) {
    const chunk = plain.names.slice(from, from + length);
    expect(sorted.names.slice(from, from + length)).toEqual(chunk.sort((left, right) => rank(left) - rank(right)));
    from += length;
  }
});

test('a stream that compaction overtakes says so', async () => {
  const failure = await streamed({}, 2).catch((error: unknown) => error);
  expect(isEngramError(failure, 'Compacted')).toBe(true);
});

test('the cache keeps to its bound, and what is used stays', () => {
  const cache = new RecordCache(1000);
  const at = (position: number): LogPosition => logPosition(position);
  for (let position = 1; position <= 100; position += 1) {
    cache.add(at(position), new Uint8Array(50));
    expect(cache.get(at(1)), 'used all the time').toBeDefined();
    expect(cache.bytes).toBeLessThanOrEqual(1000 + 2 * 64 + 2 * 16 * 16 + 50);
  }
  expect(cache.get(at(50))).toBeUndefined();
});

test('what is not durable yet is never dropped from memory', () => {
  const cache = new RecordCache(0);
  cache.addPending(logPosition(1), Uint8Array.of(1));
  for (let position = 2; position < 50; position += 1) cache.add(logPosition(position), new Uint8Array(50));
  expect(cache.get(logPosition(1))).toEqual(Uint8Array.of(1));
});

test('revisions and positions are numbers that do not mix', () => {
  const at: Revision = revision(1);
  // @ts-expect-error a position is not a revision
  const wrong: LogPosition = at;
  expect(wrong).toBe(at);
});

test('who passes over everything gets the bytes, holds off compaction meanwhile, and leaves the cache as it is', async () => {
  const { scanner, values, cache, pins } = bed(50, 10, 1_000_000);
  const positions = Array.from({ length: 50 }, (_, at) => logPosition(at + 1));
  await scanner.versions(positions.slice(0, 5), revision(1), never);
  const cached = cache.bytes;
  const passing = scanner.passing(positions, revision(1), never);
  let cleared = false;
  const clearing = pins.clearBelow(revision(2))?.then(() => {
    cleared = true;
  });
  await Promise.resolve();
  expect(cleared).toBe(false);
  expect((await passing).map((kv) => keyText(decodeKeyValue(kv).key))).toEqual(
    Array.from({ length: 50 }, (_, at) => `k${String(at).padStart(5, '0')}`),
  );
  await clearing;
  expect(cache.bytes).toBe(cached);
  expect(values.asked).toEqual([5, 50]);
});
