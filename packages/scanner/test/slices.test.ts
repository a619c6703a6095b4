import { encodeKeyValue, encodePutRecord, withoutValue } from '@engram/coder';
import {
  rangeOp,
  AnswerRoom,
  compareBytes,
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
import { Pins, RecordCache, Scanner, VersionBytes } from '@engram/scanner';
import { Prng, SimClock } from '@engram/sim';
import type { Values } from '@engram/storage';
import { expect, test } from 'vitest';
import { readList } from './support/read-list.ts';

const SEED = Number(process.env['SEED'] ?? 20_261_124);
const never = new AbortController().signal;
const newest = revision(1_000_000);

interface Version {
  readonly key: string;
  readonly mod: number;
  readonly create: number;
  readonly version: number;
  readonly value: Uint8Array;
  readonly kv: Uint8Array;
}

/** Keys with versions whose bytes are available without waiting. `turns` counts the turns given to other work. */
class Bed {
  readonly index = new KeyIndex();
  readonly pins = new Pins();
  readonly history: Version[] = [];
  readonly scanner: Scanner;
  turns = 0;
  readonly #records = new Map<LogPosition, Uint8Array>();
  readonly #newest = new Map<string, Version>();
  #mod = 1;

  constructor({ steps, ...options }: { steps?: number; answerBytesMax?: number } = {}) {
    const values: Pick<Values, 'peek'> = { peek: (position) => this.#records.get(position) };
    const clock = new SimClock();
    const soon = clock.soon.bind(clock);
    clock.soon = (fire) => {
      this.turns += 1;
      soon(fire);
    };
    const loop = new Loop(steps === undefined ? { clock } : { clock, pace: new StepPace(steps) });
    const bytes = new VersionBytes(new RecordCache(0), values as Values);
    this.scanner = new Scanner({ index: this.index, bytes, pins: this.pins, loop, ...options });
  }

  put(key: string, value: Uint8Array): void {
    this.#mod += 1;
    const before = this.#newest.get(key);
    const kv = {
      key: keyBytes(key),
      createRevision: revision(before?.create ?? this.#mod),
      modRevision: revision(this.#mod),
      version: (before?.version ?? 0) + 1,
      value,
      lease: leaseId(0n),
    };
    const position = logPosition(this.#mod);
    this.#records.set(position, encodePutRecord(0, kv));
    const encoded = encodeKeyValue(kv);
    this.index.append(kv.key, { ...kv, sub: 0, tombstone: false, position, bytes: encoded.length });
    const { createRevision: create, version } = kv;
    const added = { key, mod: this.#mod, create, version, value, kv: encoded };
    this.history.push(added);
    this.#newest.set(key, added);
  }

  get revision(): number {
    return this.#mod;
  }

  /** The algorithm of etcd, step by step (server/etcdserver/txn/range.go), over a list of all versions. */
  expected(op: RangeOp, at: number): { kvs: Uint8Array[]; count: number; more: boolean } {
    const byKey = new Map<string, Version>();
    for (const version of this.history) if (version.mod <= at) byKey.set(version.key, version);
    const live = [...byKey.values()].sort((left, right) => compareBytes(keyBytes(left.key), keyBytes(right.key)));
    if (op.countOnly) return { kvs: [], count: live.length, more: false };
    const filters = [op.minModRevision, op.maxModRevision, op.minCreateRevision, op.maxCreateRevision];
    const filtered = filters.some((filter) => filter !== 0);
    const limitFirst = op.sortOrder === SortOrder.NONE && !filtered && op.limit > 0;
    const passing = (limitFirst ? live.slice(0, op.limit + 1) : live).filter(
      ({ mod, create }) =>
        (op.minModRevision === 0 || mod >= op.minModRevision) &&
        (op.maxModRevision === 0 || mod <= op.maxModRevision) &&
        (op.minCreateRevision === 0 || create >= op.minCreateRevision) &&
        (op.maxCreateRevision === 0 || create <= op.maxCreateRevision),
    );
    const sign = op.sortOrder === SortOrder.DESCEND ? -1 : 1;
    const number = (version: Version): number =>
      op.sortTarget === SortTarget.VERSION
        ? version.version
        : op.sortTarget === SortTarget.CREATE
          ? version.create
          : version.mod;
    if (op.sortTarget === SortTarget.KEY && sign < 0) passing.reverse();
    else if (op.sortTarget === SortTarget.VALUE) {
      passing.sort((left, right) => sign * compareBytes(left.value, right.value));
    } else if (op.sortTarget !== SortTarget.KEY) passing.sort((left, right) => sign * (number(left) - number(right)));
    const more = op.limit > 0 && passing.length > op.limit;
    const kvs = (more ? passing.slice(0, op.limit) : passing).map(({ kv }) => (op.keysOnly ? withoutValue(kv) : kv));
    return { kvs, count: live.length, more };
  }
}

const list = (over: Partial<RangeOp> = {}): RangeOp => rangeOp(prefixRange(keyBytes('k')), over);

const keyOf = (at: number): string => `k${String(at).padStart(6, '0')}`;

function filled(keys: number, bed = new Bed()): Bed {
  for (let at = 0; at < keys; at += 1) bed.put(keyOf(at), Uint8Array.of(at & 0xff, at >>> 8));
  return bed;
}

test(`whatever a range asks for, it is the same in one slice and in slices of nothing (SEED=${SEED})`, async () => {
  const prng = new Prng(SEED);
  let paged = 0;
  for (let round = 0; round < 12; round += 1) {
    const longShare = round % 3 === 0 ? 0.5 : 0.1; // half of them do not fit into what is answered at once
    const bed = new Bed(round % 2 === 0 ? { steps: 0 } : {});
    for (let writes = 20 + prng.below(300); writes > 0; writes -= 1) {
      // Few values, so that many are equal; some long ones that differ late.
      const value = new Uint8Array(prng.chance(longShare) ? 6000 : prng.below(100)).fill(prng.below(3));
      bed.put(keyOf(prng.below(150)), value);
    }
    for (let ops = 0; ops < 60; ops += 1) {
      const bound = (): number => (prng.chance(0.8) ? 0 : prng.below(bed.revision + 2));
      const op = list({
        limit: prng.chance(0.4) ? 0 : prng.below(bed.index.liveKeys + 3),
        sortOrder: prng.below(3),
        sortTarget: prng.below(5),
        keysOnly: prng.chance(0.3),
        countOnly: prng.chance(0.1),
        minModRevision: bound(),
        maxModRevision: bound(),
        minCreateRevision: bound(),
        maxCreateRevision: bound(),
      });
      const at = prng.chance(0.5) ? bed.revision : 2 + prng.below(bed.revision - 1);
      const expected = bed.expected(op, at);
      const what = `round ${round}: ${JSON.stringify(op)} at ${at}`;
      const { kvs, count, more } = await bed.scanner.scan(op, revision(at), never);
      expect({ kvs: [...kvs], count, more }, what).toEqual(expected);
      const sent = await bed.scanner.scanPaged(op, revision(at), never);
      const read = await readList(sent.kvs, 1 + prng.below(50));
      if ('bring' in sent.kvs) {
        paged += op.sortTarget === SortTarget.KEY ? 0 : 1;
        sent.kvs[Symbol.dispose]();
      }
      expect({ kvs: read.map((kv) => Uint8Array.from(kv)), count: sent.count, more: sent.more }, what).toEqual(
        expected,
      );
      expect(bed.pins.size, 'a pin that nobody gave back').toBe(0);
    }
    if (round % 2 === 0) expect(bed.turns).toBeGreaterThan(500);
  }
  expect(paged, 'sorted lists in pages').toBeGreaterThan(20);
});

test.each([
  { over: { keysOnly: true }, why: 'keys only', turnsMin: 20 },
  { over: { sortTarget: SortTarget.VALUE, limit: 1 }, why: 'by value', sortOrder: SortOrder.ASCEND, turnsMin: 215 },
  {
    over: { sortTarget: SortTarget.MOD, sortOrder: SortOrder.DESCEND, limit: 1 },
    why: 'by mod revision, one',
    turnsMin: 150,
  },
  { over: { sortTarget: SortTarget.VERSION, sortOrder: SortOrder.DESCEND }, why: 'by version, all', turnsMin: 255 },
  { over: { sortOrder: SortOrder.DESCEND }, why: 'by key, descending', turnsMin: 58 },
  { over: { sortOrder: SortOrder.DESCEND, limit: 7_000 }, why: 'by key, descending, cut', turnsMin: 26 },
  { over: { minModRevision: 19_000 }, why: 'filtered', turnsMin: 20 },
  { over: {}, why: 'all', turnsMin: 20 },
])('others have their turn during a long range: $why', async ({ over, sortOrder, turnsMin }) => {
  const bed = filled(20_000, new Bed({ steps: 1000 }));
  const op = list({ ...over, ...(sortOrder === undefined ? {} : { sortOrder }) });
  const result = await bed.scanner.scan(op, newest, never);
  expect(result.count).toBe(20_000);
  // A slice for each 1,000 steps of every pass over the keys.
  expect(bed.turns).toBeGreaterThanOrEqual(turnsMin);
});

test('a count at an old revision gives way too, and is pinned meanwhile', async () => {
  const bed = filled(20_000, new Bed({ steps: 1000 }));
  const at = revision(bed.revision);
  filled(20_000, bed);
  const counting = bed.scanner.scan(list({ countOnly: true }), at, never);
  expect(counting).toBeInstanceOf(Promise);
  expect(bed.pins.clearBelow(revision(bed.revision)), 'the old revision is held').toBeInstanceOf(Promise);
  expect((await counting).count).toBe(20_000);
  expect(bed.turns).toBeGreaterThanOrEqual(15);
  expect(bed.pins.size).toBe(0);
  // The count of a page is sliced too.
  const page = await bed.scanner.scan(list({ limit: 10 }), at, never);
  expect(page).toMatchObject({ count: 20_000, more: true, kvs: { length: 10 } });
});

test.each([
  { over: {}, why: 'a list' },
  { over: { keysOnly: true }, why: 'keys only' },
  { over: { sortTarget: SortTarget.VALUE, sortOrder: SortOrder.ASCEND }, why: 'sorted by value' },
])('a range that gives way holds its revision until it is made: $why', async ({ over }) => {
  const bed = filled(20_000, new Bed({ steps: 1000 }));
  const scanning = bed.scanner.scan(list(over), revision(bed.revision), never);
  expect(scanning).toBeInstanceOf(Promise);
  expect(bed.pins.size).toBe(1);
  expect((await scanning).kvs.length).toBe(20_000);
  expect(bed.pins.size).toBe(0);
});

test('a range ends when nobody waits for it, whatever it was at', async () => {
  const bed = filled(5000, new Bed({ steps: 100 }));
  const orders = [{ keysOnly: true }, { sortTarget: SortTarget.VALUE }, { sortTarget: SortTarget.MOD }, {}];
  for (const over of orders) {
    const abort = new AbortController();
    const scanning = bed.scanner.scan(list({ sortOrder: SortOrder.DESCEND, ...over }), newest, abort.signal);
    abort.abort(new Error('the client has gone'));
    await expect(scanning).rejects.toThrow('the client has gone');
    expect(bed.pins.size).toBe(0);
  }
});

const tooLarge = async (work: () => unknown): Promise<boolean> => {
  try {
    await work();
    return false;
  } catch (error) {
    if (isEngramError(error, 'ResponseTooLarge')) return true;
    throw error;
  }
};

test.each([
  { over: {}, why: 'a list' },
  { over: { keysOnly: true }, why: 'keys only' },
  { over: { sortTarget: SortTarget.MOD, sortOrder: SortOrder.ASCEND }, why: 'sorted by number' },
  { over: { sortTarget: SortTarget.VALUE, sortOrder: SortOrder.ASCEND }, why: 'sorted by value' },
])('an answer has a bound: $why', async ({ over }) => {
  // Each version counts 64 bytes and its own length: some 90 bytes.
  const fits = filled(1000, new Bed({ answerBytesMax: 100_000 }));
  expect(await tooLarge(() => fits.scanner.scan(list(over), newest, never))).toBe(false);
  const bed = filled(10_000, new Bed({ answerBytesMax: 100_000 }));
  expect(await tooLarge(() => bed.scanner.scan(list(over), newest, never))).toBe(true);
  expect(await tooLarge(() => bed.scanner.scan(list({ ...over, limit: 10 }), newest, never)), 'a page of it').toBe(
    false,
  );
  expect(bed.pins.size).toBe(0);
});

test('several ranges share the room that they are given', async () => {
  const bed = filled(1000);
  const room = new AnswerRoom(250_000);
  for (let range = 0; range < 2; range += 1) await bed.scanner.scan(list(), newest, never, room);
  expect(await tooLarge(() => bed.scanner.scan(list(), newest, never, room))).toBe(true);
  const points = new AnswerRoom(1000);
  const point = list({ range: { key: keyBytes(keyOf(1)), end: new Uint8Array(0) } });
  let read = 0;
  while (!(await tooLarge(() => bed.scanner.scan(point, newest, never, points)))) read += 1;
  expect(read).toBeGreaterThan(5);
  expect(read).toBeLessThan(15);
});
