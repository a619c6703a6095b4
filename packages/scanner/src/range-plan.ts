import {
  type AnswerRoom,
  type ByteList,
  type ByteViews,
  isPoint,
  type KeyRange,
  type LogPosition,
  type RangeOp,
  type Revision,
  SortOrder,
  SortTarget,
} from '@engram/core';
import type { KeyIndex, VersionSlot } from '@engram/index';
import { byteSteps, type PureJob, type Turn } from '@engram/loop';
import { KeyOnlyList } from './key-only-list.ts';
import { rangeOrder } from './range-order.ts';

/**
 * A range that the index has answered: only the bytes remain to be fetched. Later writes do not affect it. The
 * positions are readable as long as compaction is held back (see Pins).
 */
export interface RangePlan {
  readonly count: number;
  readonly more: boolean;
  /** Complete answers that needed no bytes (keys_only); `positions` is empty then. */
  readonly keys: ByteList | undefined;
  readonly positions: readonly LogPosition[];
  /** Only for a sort by VALUE: the bytes must be sorted, cut to `limit`, and perhaps stripped, after the fetch. */
  readonly byValue: ValueOrder | undefined;
}

export interface ValueOrder {
  readonly descending: boolean;
  /** 0 and below: no limit. */
  readonly limit: number;
  readonly keysOnly: boolean;
  /** The length of the longest version to sort. */
  readonly bytesMax: number;
}

/** The number of versions that are looked up at once. */
const CHUNK = 1024;

const isFiltered = (op: RangeOp): boolean =>
  op.minModRevision !== 0 || op.maxModRevision !== 0 || op.minCreateRevision !== 0 || op.maxCreateRevision !== 0;

/** One key with its value: neither limit nor order matter. */
export const isPlainPoint = (op: RangeOp): boolean =>
  isPoint(op.range) && !op.countOnly && !op.keysOnly && !isFiltered(op);

const isKeyOrder = (op: RangeOp): boolean => op.sortTarget === SortTarget.KEY && op.sortOrder !== SortOrder.DESCEND;

/** Keys with their values in the order of the index: nothing to sort, to filter or to strip. */
export const isPlainList = (op: RangeOp): boolean => isKeyOrder(op) && !op.countOnly && !op.keysOnly && !isFiltered(op);

/** Nothing but the places of the versions is needed until they are sent. */
export const isPaged = (op: RangeOp): boolean => !op.countOnly && !op.keysOnly && op.sortTarget !== SortTarget.VALUE;

/**
 * How many keys must be read: limit + 1 keys tell `more`. The limit applies before the sort if the order is NONE and
 * nothing is filtered, as in etcd. An ascending key order is the order of the index.
 */
export function fetchMax(op: RangeOp): number {
  if (op.limit <= 0 || isFiltered(op)) return Number.POSITIVE_INFINITY;
  return op.sortOrder === SortOrder.NONE || isKeyOrder(op) ? op.limit + 1 : Number.POSITIVE_INFINITY;
}

/**
 * Takes everything that the answer needs from the index. After a yield, the caller must hold `at` back from compaction
 * until it resumes. ResponseTooLarge if the answer does not fit into `room`.
 */
export function* planRange(
  index: KeyIndex,
  op: RangeOp,
  at: Revision,
  room: AnswerRoom,
  turn: Turn,
): PureJob<RangePlan> {
  if (op.countOnly) return countPlan(yield* countRange(index, op.range, at, turn));
  const { slots, count, more } = yield* selectVersions(index, op, at, turn);
  if (op.keysOnly && op.sortTarget !== SortTarget.VALUE) {
    const keys = yield* keysOf(index, slots, room, turn);
    return { count, more, keys, positions: [], byValue: undefined };
  }
  const { positions, bytes } = yield* placesOf(index, slots, turn);
  if (op.sortTarget !== SortTarget.VALUE) {
    room.take(bytes, positions.length);
    return { count, more, keys: undefined, positions, byValue: undefined };
  }
  // All versions must be read before the wanted ones are known. The others are released along the way.
  const { limit, keysOnly } = op;
  const held = limit > 0 ? Math.min(limit, positions.length) : positions.length;
  const bytesMax = yield* longestOf(index, slots, turn);
  room.take(Math.min(bytes, held * bytesMax), held);
  const byValue = { descending: op.sortOrder === SortOrder.DESCEND, limit, keysOnly, bytesMax };
  return { count, more: false, keys: undefined, positions, byValue };
}

const countPlan = (count: number): RangePlan => ({
  count,
  more: false,
  keys: undefined,
  positions: [],
  byValue: undefined,
});

/** How many keys of the range live at a revision. */
export function* countRange(index: KeyIndex, range: KeyRange, at: Revision, turn: Turn): PureJob<number> {
  let count = 0;
  for (let key: Uint8Array | undefined = range.key; key !== undefined; ) {
    const counted = index.countSome({ key, end: range.end }, at, turn);
    count += counted.live;
    key = counted.next;
    if (turn.shouldYield(0)) yield;
  }
  return count;
}

/**
 * The versions of the answer in its order, with the count of the whole range. For a sort by VALUE: all versions, in key
 * order. `at` as for `planRange`.
 */
export function* selectVersions(
  index: KeyIndex,
  op: RangeOp,
  at: Revision,
  turn: Turn,
): PureJob<{ readonly slots: readonly VersionSlot[]; readonly count: number; readonly more: boolean }> {
  const order = rangeOrder(index, op, turn);
  const max = fetchMax(op);
  const filtered = isFiltered(op);
  const chunk: VersionSlot[] = [];
  let seen = 0;
  let next: Uint8Array | undefined = op.range.key;
  while (next !== undefined && seen < max && !order.full) {
    chunk.length = 0;
    next = index.collectSome({ key: next, end: op.range.end }, at, Math.min(CHUNK, max - seen), turn, chunk);
    seen += chunk.length;
    for (const slot of chunk) if (!filtered || passes(index, op, slot)) order.add(slot);
    if (filtered) turn.shouldYield(chunk.length);
    const tidying = order.tidy();
    if (tidying !== undefined) yield* tidying;
    if (turn.shouldYield(0)) yield;
  }
  const count: number = next === undefined ? seen : seen + (yield* countFrom(index, op.range, next, at, turn));
  const more = op.limit > 0 && order.total > op.limit;
  const slots = order.finish();
  return { slots: Array.isArray(slots) ? slots : yield* slots, count, more };
}

const countFrom = (index: KeyIndex, range: KeyRange, key: Uint8Array, at: Revision, turn: Turn): PureJob<number> =>
  countRange(index, { key, end: range.end }, at, turn);

/** Bounds are inclusive, 0 is "not set", and a negative bound is taken literally. */
function passes(index: KeyIndex, op: RangeOp, slot: VersionSlot): boolean {
  const mod = index.modRevision(slot);
  const create = index.createRevision(slot);
  return (
    (op.maxModRevision === 0 || mod <= op.maxModRevision) &&
    (op.minModRevision === 0 || mod >= op.minModRevision) &&
    (op.maxCreateRevision === 0 || create <= op.maxCreateRevision) &&
    (op.minCreateRevision === 0 || create >= op.minCreateRevision)
  );
}

interface Places {
  readonly positions: readonly LogPosition[];
  /** The total length of these versions. */
  readonly bytes: number;
}

function* placesOf(index: KeyIndex, slots: readonly VersionSlot[], turn: Turn): PureJob<Places> {
  const positions = new Array<LogPosition>(slots.length);
  let bytes = 0;
  for (let from = 0; from < slots.length; from += CHUNK) {
    const part = slots.length <= CHUNK ? slots : slots.slice(from, from + CHUNK);
    bytes += index.places(part, positions, from);
    if (turn.shouldYield(part.length)) yield;
  }
  return { positions, bytes };
}

function* longestOf(index: KeyIndex, slots: readonly VersionSlot[], turn: Turn): PureJob<number> {
  let longest = 0;
  for (const slot of slots) {
    longest = Math.max(longest, index.bytes(slot));
    if (turn.shouldYield()) yield;
  }
  return longest;
}

function* keysOf(index: KeyIndex, slots: readonly VersionSlot[], room: AnswerRoom, turn: Turn): PureJob<ByteViews> {
  room.take(0, slots.length);
  const list = new KeyOnlyList(index, slots.length);
  let counted = 0;
  for (const slot of slots) {
    const bytes = list.add(slot);
    if (!turn.shouldYield(byteSteps(bytes))) continue;
    room.take(list.kvs.bytes - counted, 0);
    counted = list.kvs.bytes;
    yield;
  }
  room.take(list.kvs.bytes - counted, 0);
  return list.kvs;
}
