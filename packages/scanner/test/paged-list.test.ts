import { encodeKeyValue, encodePutRecord, recordKv } from '@engram/coder';
import {
  type AnswerAccount,
  rangeOp,
  isEngramError,
  keyBytes,
  leaseId,
  logPosition,
  type LogPosition,
  prefixRange,
  type RangeOp,
  revision,
  SortOrder,
  SortTarget,
} from '@engram/core';
import { KeyIndex } from '@engram/index';
import { Loop, StepPace } from '@engram/loop';
import { Pins, RecordCache, Scanner, VersionBytes, type PagedScanResult } from '@engram/scanner';
import { SimClock } from '@engram/sim';
import { StorageCorruptError, type Values } from '@engram/storage';
import { expect, test } from 'vitest';
import { plannedKeys } from '../src/range-bytes.ts';
import { readList } from './support/read-list.ts';

const never = new AbortController().signal;
const newest = revision(1_000_000);
const list: RangeOp = rangeOp(prefixRange(keyBytes('k')));

interface Bed {
  readonly index: KeyIndex;
  readonly scanner: Scanner;
  readonly loop: Loop;
  readonly pins: Pins;
  readonly reads: number[];
  /** The positions of each read. */
  readonly asked: (readonly LogPosition[])[];
  readonly expected: readonly Buffer[];
}

/** Keys in order, none of them in the cache. Records the bytes of each read. */
function bed(
  keys: number,
  valueBytes: number,
  answerBytesMax = 2 ** 31,
  dropped = (): boolean => false,
  steps = 4000,
): Bed {
  const index = new KeyIndex();
  const records = new Map<LogPosition, Uint8Array>();
  const reads: number[] = [];
  const asked: (readonly LogPosition[])[] = [];
  for (let at = 0; at < keys; at += 1) {
    const [mod, position] = [revision(at + 2), logPosition(at + 1)];
    const key = keyBytes(`k${String(at).padStart(5, '0')}`);
    const kv = {
      key,
      createRevision: mod,
      modRevision: mod,
      version: 1,
      value: new Uint8Array(valueBytes),
      lease: leaseId(0n),
    };
    records.set(position, encodePutRecord(0, kv));
    index.append(key, { ...kv, sub: 0, tombstone: false, position, bytes: encodeKeyValue(kv).length });
  }
  const values: Values = {
    peek: () => undefined,
    async getMany(positions, signal) {
      asked.push(positions);
      await new Promise((resolve) => setImmediate(resolve));
      signal.throwIfAborted();
      if (dropped()) throw new StorageCorruptError('a record is missing', 'here');
      const read = positions.map((position) => records.get(position)!);
      reads.push(read.reduce((sum, { length }) => sum + length, 0));
      return read;
    },
    drop: async () => {},
    saveCheckpoint: async () => {},
    loadCheckpoint: async () => undefined,
    size: () => ({ totalBytes: 0, inUseBytes: 0 }),
  };
  const pins = new Pins();
  const bytes = new VersionBytes(new RecordCache(0), values);
  const loop = new Loop({ clock: new SimClock(), pace: new StepPace(steps) });
  const scanner = new Scanner({ index, bytes, pins, loop, answerBytesMax });
  const expected = [...records.values()].map((record) => Buffer.from(recordKv(record)));
  return { index, scanner, loop, pins, reads, asked, expected };
}

async function paged(
  scanner: Scanner,
  over: Partial<RangeOp> = {},
  signal = never,
  at = newest,
): Promise<PagedScanResult> {
  const result = await scanner.scanPaged({ ...list, ...over }, at, signal);
  if (!('bring' in result.kvs)) throw new Error('it came at once');
  return { kvs: result.kvs, more: result.more, count: result.count };
}

const sameBytes = (left: readonly Buffer[], right: readonly Buffer[]): boolean =>
  Buffer.concat(left).equals(Buffer.concat(right)) && left.length === right.length;

test.each([
  { limit: 0, keys: 9_000, more: false, step: 1 },
  { limit: 5_000, keys: 5_000, more: true, step: 37 },
  { limit: 300, keys: 300, more: true, step: 1_000 },
])('a list with limit $limit, read $step at a time', async ({ limit, keys, more, step }) => {
  const { scanner, pins, reads, expected } = bed(9_000, 300);
  const result = await paged(scanner, { limit });
  expect(reads).toEqual([]); // The list holds only places.
  expect(result).toMatchObject({ count: 9_000, more });
  expect(result.kvs).toHaveLength(keys);
  expect(result.kvs.bytes).toBe(expected.slice(0, keys).reduce((sum, { length }) => sum + length, 0));
  expect(sameBytes(await readList(result.kvs, step), expected.slice(0, keys))).toBe(true);
  // Each read is one page, or the bytes that one `bring` asked for.
  expect(Math.max(...reads)).toBeLessThan(400_000);
  expect(pins.size).toBe(1);
  result.kvs[Symbol.dispose]();
  expect(pins.size).toBe(0);
});

test.each([
  { what: 'by mod revision, descending', over: { sortTarget: SortTarget.MOD, sortOrder: SortOrder.DESCEND } },
  { what: 'by key, descending', over: { sortOrder: SortOrder.DESCEND } },
  { what: 'by version', over: { sortTarget: SortTarget.VERSION, sortOrder: SortOrder.ASCEND }, upward: true },
])('a list $what, in pages', async ({ over, upward }) => {
  const { scanner, pins, reads, expected } = bed(9_000, 300);
  const result = await paged(scanner, over);
  expect(reads).toEqual([]);
  expect(result).toMatchObject({ count: 9_000, more: false });
  expect(result.kvs.heldBytes).toBe(3 * 4_096 * 12 + 256 * 1024);
  const ordered = upward === true ? expected : expected.toReversed();
  expect(sameBytes(await readList(result.kvs, 1_000), ordered)).toBe(true);
  expect(Math.max(...reads)).toBeLessThan(400_000);
  expect(pins.size).toBe(1);
  result.kvs[Symbol.dispose]();
  expect(pins.size).toBe(0);
});

test('a list that is filtered, sorted and cut, in pages', async () => {
  const { scanner, reads, expected } = bed(9_000, 300);
  const filter = { minModRevision: 1_002, maxCreateRevision: 7_001 };
  const order = { sortTarget: SortTarget.CREATE, sortOrder: SortOrder.DESCEND, limit: 5_000 };
  const result = await paged(scanner, { ...filter, ...order });
  expect(reads).toEqual([]);
  // Of all keys in the range, as etcd counts them.
  expect(result).toMatchObject({ count: 9_000, more: true });
  expect(sameBytes(await readList(result.kvs, 37), expected.slice(2_000, 7_000).toReversed())).toBe(true);
  result.kvs[Symbol.dispose]();
});

test.each([
  { keys: 100, valueBytes: 300, kept: 100 },
  { keys: 10, valueBytes: 60_000, kept: 10 },
  { keys: 9_000, valueBytes: 300, kept: 50 },
])('$kept of $keys sorted versions of $valueBytes bytes come at once', async ({ keys, valueBytes, kept }) => {
  const { scanner, pins, expected } = bed(keys, valueBytes);
  const order = { sortTarget: SortTarget.MOD, sortOrder: SortOrder.DESCEND, limit: kept };
  const { kvs, count, more } = await scanner.scanPaged({ ...list, ...order }, newest, never);
  expect('bring' in kvs).toBe(false);
  expect({ count, more }).toEqual({ count: keys, more: kept < keys });
  expect(sameBytes(await readList(kvs, 10), expected.slice(-kept).toReversed())).toBe(true);
  expect(pins.size).toBe(0);
});

test.each([
  { keys: 100, valueBytes: 300, why: 'short' },
  { keys: 10, valueBytes: 60_000, why: 'a few long versions, which are sent from where they lie' },
])('$keys versions of $valueBytes bytes come at once: $why', async ({ keys, valueBytes }) => {
  const { scanner, pins } = bed(keys, valueBytes);
  const { kvs, count } = await scanner.scanPaged(list, newest, never);
  expect('bring' in kvs).toBe(false);
  expect(count).toBe(keys);
  expect(pins.size).toBe(0);
});

test('an empty list is not paged and holds nothing, although its range has many newer keys', async () => {
  const { scanner, pins } = bed(9_000, 300);
  const { kvs, count, more } = await scanner.scanPaged(list, revision(1), never);
  expect('bring' in kvs).toBe(false);
  expect({ length: kvs.length, count, more }).toEqual({ length: 0, count: 0, more: false });
  expect(pins.size).toBe(0);
});

test('long versions, and many, come one at a time', async () => {
  const { scanner, reads, expected } = bed(20, 700_000);
  const result = await paged(scanner);
  expect(sameBytes(await readList(result.kvs, 1), expected)).toBe(true);
  expect(Math.max(...reads)).toBeLessThan(750_000);
  result.kvs[Symbol.dispose]();
});

test('a list that is given up reads no places of another one', async () => {
  const { scanner, asked } = bed(9_000, 300, 2 ** 31, () => false, 100);
  const { kvs } = await paged(scanner);
  const bringing = kvs.bring(0, 100);
  expect(asked, 'it looks into the cache').toHaveLength(0);
  kvs[Symbol.dispose]();
  const other = await paged(scanner, { range: { key: keyBytes('k00500'), end: keyBytes('l') } });
  await bringing;
  expect(asked).toHaveLength(1);
  expect(asked[0]).toEqual(asked[0]?.map((_, at) => at + 1));
  other.kvs[Symbol.dispose]();
});

test('a page that is on its way is asked for once', async () => {
  const { scanner, reads } = bed(9_000, 300);
  const { kvs } = await paged(scanner);
  const [first, again] = [kvs.bring(0, 100), kvs.bring(0, 200)];
  expect(again).toBe(first);
  await first;
  expect(kvs.bring(0, 200)).toBeUndefined();
  expect(reads).toHaveLength(1);
});

test('a reader that is too slow for a compaction is told so', async () => {
  const { scanner, pins } = bed(9_000, 300);
  const { kvs } = await paged(scanner);
  await kvs.bring(0, 1);
  expect(pins.revokeBelow(revision(2_000_000))).toBe(1);
  await expect(kvs.bring(8_000, 3_000_000)).rejects.toSatisfy((error) => isEngramError(error, 'Compacted'));
});

test('a reader whose versions are dropped while they are read is told so, and not of damage', async () => {
  let gone = false;
  const { scanner, pins } = bed(9_000, 300, 2 ** 31, () => gone);
  const { kvs } = await paged(scanner);
  const bringing = kvs.bring(0, 1);
  pins.revokeBelow(revision(2_000_000));
  gone = true;
  await expect(bringing).rejects.toSatisfy((error) => isEngramError(error, 'Compacted'));
});

test('damage is told as damage to a reader whose versions are held', async () => {
  const { scanner } = bed(9_000, 300, 2 ** 31, () => true);
  const { kvs } = await paged(scanner);
  await expect(kvs.bring(0, 1)).rejects.toThrow(StorageCorruptError);
});

test('a list that loses its versions to a compaction while it is made is not answered as if it had none', async () => {
  const { index, scanner, pins } = bed(9_000, 300);
  // At revision 9,002 only the last key lives. All are put again in the next one, so a look at the others finds nothing.
  const keys = Array.from({ length: 9_000 }, (_, at) => keyBytes(`k${String(at).padStart(5, '0')}`));
  const change = (mod: number, at: number, tombstone: boolean): void => {
    const version = { createRevision: revision(tombstone ? 0 : mod), modRevision: revision(mod), sub: at, version: 1 };
    const place = { lease: leaseId(0n), position: logPosition(10_000 * (mod - 9_000) + at), bytes: 10 };
    index.append(keys[at]!, { ...version, ...place, tombstone });
  };
  for (let at = 0; at < 8_999; at += 1) change(9_002, at, true);
  for (let at = 0; at < 9_000; at += 1) change(9_003, at, false);
  const listing = paged(scanner, {}, never, revision(9_002));
  expect(pins.revokeBelow(revision(9_003))).toBe(1);
  while (!index.compact(revision(9_003), 1_000, []));
  await expect(listing).rejects.toSatisfy((error) => isEngramError(error, 'Compacted'));
  expect(pins.size).toBe(0);
});

test('what a list holds is counted by the piece, and known before it is made', async () => {
  const { scanner } = bed(9_000, 300);
  const result = await paged(scanner);
  // Three pieces of 4,096 places, and a page.
  expect(result.kvs.heldBytes).toBe(3 * 4_096 * 12 + 256 * 1024);
  expect(scanner.holdsBytes(list, newest)).toBe(result.kvs.heldBytes);
  expect(scanner.holdsBytes({ ...list, limit: 8_000 }, newest)).toBe(2 * 4_096 * 12 + 256 * 1024);
  expect(
    scanner.holdsBytes({ ...list, sortTarget: SortTarget.VALUE, sortOrder: SortOrder.ASCEND, limit: 1 }, newest),
  ).toBe(9_000 * 32);
  expect(scanner.holdsBytes({ ...list, keysOnly: true }, newest)).toBe(9_000 * 32);
  const sorted = { ...list, sortTarget: SortTarget.MOD, sortOrder: SortOrder.DESCEND };
  expect(scanner.holdsBytes(sorted, newest)).toBe(result.kvs.heldBytes);
});

test('a range that is sorted by value holds what its account has room for', async () => {
  const { scanner, pins, asked } = bed(9_000, 300);
  const sorted = { ...list, sortTarget: SortTarget.VALUE, sortOrder: SortOrder.DESCEND };
  const account = (roomBytes: number): AnswerAccount & { reservedBytes: number } => ({
    reservedBytes: 0,
    reserveAnswer(bytes) {
      this.reservedBytes += bytes;
      return this.reservedBytes <= roomBytes;
    },
  });
  const scan = async (op: RangeOp, holder: AnswerAccount): Promise<number> =>
    (await scanner.scanPaged(op, newest, never, undefined, holder)).kvs.length;
  const enough = account(4_000_000);
  expect(await scan(sorted, enough)).toBe(9_000);
  expect(enough.reservedBytes).toBeGreaterThan(9_000 * 300);
  asked.length = 0;
  await expect(scan(sorted, account(1_000_000))).rejects.toSatisfy((error) => isEngramError(error, 'ResponseTooLarge'));
  expect(asked).toEqual([]); // refused before anything is read
  expect(await scan({ ...sorted, limit: 100 }, account(1_000_000))).toBe(100);
  // Whatever else holds only places.
  expect(await scan({ ...sorted, sortTarget: SortTarget.MOD }, account(0))).toBe(9_000);
  expect(pins.size).toBe(1);
});

test.each([
  { what: 'sorted', over: { sortTarget: SortTarget.MOD }, keys: 9_000 },
  {
    what: 'sorted and cut',
    over: { sortTarget: SortTarget.MOD, sortOrder: SortOrder.DESCEND, limit: 10 },
    keys: 4_116,
  },
  {
    what: 'sorted by value and cut',
    over: { sortTarget: SortTarget.VALUE, sortOrder: SortOrder.ASCEND, limit: 10 },
    keys: 9_000,
  },
  { what: 'filtered', over: { minModRevision: 8_000 }, keys: 9_000 },
  { what: 'cut before it is sorted', over: { sortTarget: SortTarget.MOD, limit: 10 }, keys: 0 },
  { what: 'short', over: { range: prefixRange(keyBytes('k00')), sortOrder: SortOrder.DESCEND }, keys: 0 },
])('a range that is $what holds $keys keys while it is planned', ({ over, keys }) => {
  expect(plannedKeys(bed(9_000, 1).index, { ...list, ...over })).toBe(keys);
});

test('long versions count before they are read', () => {
  const { scanner } = bed(200, 100_000);
  const point = rangeOp({ key: keyBytes('k00007'), end: new Uint8Array() });
  const versionBytes = scanner.holdsBytes(point, newest);
  expect(versionBytes).toBeGreaterThan(100_000);
  expect(versionBytes).toBeLessThan(100_100);
  expect(scanner.holdsBytes({ ...list, limit: 1 }, newest)).toBe(versionBytes);
  expect(scanner.holdsBytes({ ...list, limit: 5 }, newest)).toBe(5 * versionBytes);
  // In pages from here on.
  expect(scanner.holdsBytes({ ...list, limit: 20 }, newest)).toBe(1024 * 1024);
  const sorted = { ...list, sortTarget: SortTarget.MOD, sortOrder: SortOrder.DESCEND };
  const few = rangeOp({ key: keyBytes('k00000'), end: keyBytes('k00020') });
  expect(scanner.holdsBytes({ ...sorted, range: few.range, limit: 1 }, newest)).toBe(1024 * 1024);
  // Its own account does that.
  expect(scanner.holdsBytes({ ...sorted, range: few.range, sortTarget: SortTarget.VALUE }, newest)).toBe(0);
  expect(scanner.holdsBytes({ ...point, sortTarget: SortTarget.VALUE }, newest)).toBe(versionBytes);
  // Too many to be held whole: what a page holds is little.
  expect(scanner.holdsBytes({ ...list, limit: 70 }, newest)).toBe(0);
  expect(scanner.holdsBytes(list, newest)).toBe(0);
});

test('a range sorted by value reads long versions a few at a time', async () => {
  const { scanner, asked } = bed(200, 100_000);
  const sorted = { ...list, sortTarget: SortTarget.VALUE, sortOrder: SortOrder.DESCEND, limit: 1 };
  expect(await scanner.scan(sorted, newest, never)).toMatchObject({ count: 200, more: true });
  expect(asked.map(({ length }) => length)).toEqual(Array.from({ length: 20 }, () => 10));
});

test.each([
  { what: 'of a key that there is not', op: rangeOp({ key: keyBytes('nokey'), end: new Uint8Array() }) },
  { what: 'of keys alone', op: { ...list, limit: 5, keysOnly: true } },
  { what: 'of a count', op: { ...list, limit: 5, countOnly: true } },
])('no version $what counts', ({ op }) => {
  expect(bed(200, 100_000).scanner.holdsBytes(op, newest)).toBe(0);
});

test('a version that is short counts once it is read', () => {
  const { scanner } = bed(10, 60_000);
  expect(scanner.holdsBytes(rangeOp({ key: keyBytes('k00007'), end: new Uint8Array() }), newest)).toBe(0);
});

test('what a list holds is known also within a slice that is used up', async () => {
  const { scanner, loop } = bed(9_000, 300);
  const holds = 2 * 4_096 * 12 + 256 * 1024;
  // Neither end of the range is the end of a leaf.
  const op = rangeOp({ key: keyBytes('k01007'), end: keyBytes('k08008') });
  expect(scanner.holdsBytes(op, newest)).toBe(holds);
  // As where calls start that waited: the list itself has used up the slice.
  const late = loop.slice(() => {
    while (!loop.shouldYield());
    return scanner.holdsBytes(op, newest);
  });
  expect(late).toBe(holds);
});

test.each([
  { what: 'a page', over: { limit: 4_096 } },
  { what: 'a count', over: { countOnly: true } },
  { what: 'a short range', over: { range: prefixRange(keyBytes('k00')) } },
])('$what holds too little to be counted before', ({ over }) => {
  const { scanner } = bed(9_000, 300);
  expect(scanner.holdsBytes({ ...list, ...over }, newest)).toBe(0);
});

test('a sorted list keeps its versions while it is made, and a compaction does not wait for who reads it', async () => {
  const { scanner, pins } = bed(9_000, 300, 2 ** 31, () => false, 100);
  const making = paged(scanner, { sortOrder: SortOrder.DESCEND });
  expect(pins.revokeBelow(revision(2_000_000))).toBe(1);
  expect(pins.holdsBelow(revision(2_000_000))).toBe(true);
  const { kvs } = await making;
  expect(pins.holdsBelow(revision(2_000_000))).toBe(false);
  await expect(kvs.bring(0, 1)).rejects.toSatisfy((error) => isEngramError(error, 'Compacted'));
});

test('of many sorted lists so many are planned at a time, and a compaction does not wait for the others', async () => {
  const { scanner, pins } = bed(9_000, 300, 2 ** 31, () => false, 100);
  const abort = new AbortController();
  const order = { sortOrder: SortOrder.DESCEND };
  // 29 have no more than 262,144 keys together.
  const making = Array.from({ length: 29 }, () => paged(scanner, order));
  const waiting = paged(scanner, order);
  const leaving = paged(scanner, order, abort.signal);
  const late = paged(scanner, order);
  const short = scanner.scanPaged({ ...list, ...order, range: prefixRange(keyBytes('k0000')) }, newest, never);
  const first = Promise.race([
    ...making.map((each) => each.then(() => 'long')),
    Promise.resolve(short).then(() => 'short'),
  ]);
  abort.abort();
  pins.revokeBelow(revision(2_000_000));
  expect(await first, 'a short one does not wait').toBe('short');
  const ends = await Promise.allSettled([...making, waiting, leaving, late]);
  expect(ends.map(({ status }) => status)).toEqual([
    ...making.map(() => 'fulfilled'),
    ...[waiting, leaving, late].map(() => 'rejected'),
  ]);
  await expect(waiting).rejects.toSatisfy((error) => isEngramError(error, 'Compacted'));
  expect(pins.size).toBe(0);
  const result = await paged(scanner, order);
  expect(result.kvs).toHaveLength(9_000);
  result.kvs[Symbol.dispose]();
});

test.each([
  { what: 'a list', over: {} },
  { what: 'a sorted list', over: { sortOrder: SortOrder.DESCEND } },
])('$what that nobody waits for any more holds nothing back', async ({ over }) => {
  const { scanner, pins } = bed(9_000, 300);
  const abort = new AbortController();
  const result = paged(scanner, over, abort.signal);
  abort.abort();
  await expect(result).rejects.toThrow();
  expect(pins.size).toBe(0);
});

test.each([{ over: {} }, { over: { sortOrder: SortOrder.DESCEND } }])(
  'more than gRPC can carry is refused, and holds nothing back: $over',
  async ({ over }) => {
    const { scanner, pins } = bed(9_000, 300, 1_000_000);
    await expect(paged(scanner, over)).rejects.toSatisfy((error) => isEngramError(error, 'ResponseTooLarge'));
    expect(pins.size).toBe(0);
  },
);
