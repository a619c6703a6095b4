import { assert } from '@engram/core';
import type { PureJob, Turn } from '@engram/loop';

/**
 * Intervals [start, end) of keys, their bounds one behind the other in one buffer: sorting and searching many of them
 * touches little memory, and makes no object for each.
 */
export interface FlatIntervals {
  readonly bytes: Uint8Array;
  /**
   * Twice as many as there are intervals, and one more. The `at`-th interval starts with the bytes from offset 2 at to
   * offset 2 at + 1, and ends before those that follow, up to the next offset. An empty end is above every key.
   */
  readonly offsets: Uint32Array;
}

export interface Bounds {
  readonly start: Uint8Array;
  readonly end: Uint8Array;
}

export const countOf = ({ offsets }: FlatIntervals): number => (offsets.length - 1) / 2;

export function flatten(intervals: readonly Bounds[]): FlatIntervals {
  const offsets = new Uint32Array(intervals.length * 2 + 1);
  const bytes = new Uint8Array(sizeOf(intervals.reduce((sum, { start, end }) => sum + start.length + end.length, 0)));
  let offset = 0;
  for (const [at, { start, end }] of intervals.entries()) {
    bytes.set(start, offset);
    bytes.set(end, offset + start.length);
    offsets[2 * at + 1] = offset + start.length;
    offset += start.length + end.length;
    offsets[2 * at + 2] = offset;
  }
  return { bytes, offsets };
}

/** One list behind the other. */
export function concatenate(lists: readonly FlatIntervals[]): FlatIntervals {
  const count = lists.reduce((sum, list) => sum + countOf(list), 0);
  const offsets = new Uint32Array(count * 2 + 1);
  const bytes = new Uint8Array(sizeOf(lists.reduce((sum, list) => sum + list.bytes.length, 0)));
  let to = 0;
  let base = 0;
  for (const list of lists) {
    bytes.set(list.bytes, base);
    for (let at = 1; at < list.offsets.length; at += 1) offsets[to + at] = base + list.offsets[at]!;
    to += list.offsets.length - 1;
    base += list.bytes.length;
  }
  return { bytes, offsets };
}

/** Intervals that a pass looks at in the time of a step of the loop. All passes together take 0.4 us for each. */
const A_STEP = 8;
/** Intervals after which a pass asks whether it should yield. */
const STRIDE = 1024;

/** The same keys as intervals in order that neither touch nor overlap. Some passes over all intervals do not give way. */
export function* joinIntervals(flat: FlatIntervals, turn: Turn): PureJob<FlatIntervals> {
  const { bytes, offsets } = flat;
  const order = new Uint32Array(countOf(flat));
  for (let at = 0; at < order.length; at += 1) order[at] = at;
  yield* sortByStart(flat, order, turn);
  // The bounds of each joined interval, as numbers of bounds of `flat`: its start, its end, the start of the next.
  const bounds = new Uint32Array(order.length * 2);
  let count = 0;
  let size = 0;
  for (let place = 0; place < order.length; place += 1) {
    if (place % STRIDE === 0 && turn.shouldYield(STRIDE / A_STEP)) yield;
    const at = order[place]!;
    const start = 2 * at;
    const end = start + 1;
    const heldEnd = bounds[count - 1];
    if (heldEnd === undefined || (!isOpen(offsets, heldEnd) && compareBounds(bytes, offsets, start, heldEnd) > 0)) {
      bounds[count] = start;
      bounds[count + 1] = end;
      count += 2;
      size += offsets[end + 1]! - offsets[start]!;
    } else if (!isOpen(offsets, heldEnd) && (isOpen(offsets, end) || compareBounds(bytes, offsets, end, heldEnd) > 0)) {
      bounds[count - 1] = end;
      size += lengthOf(offsets, end) - lengthOf(offsets, heldEnd);
    }
  }
  return yield* gather(flat, bounds.subarray(0, count), size, turn);
}

/**
 * Compares a bound with a key: start `at` is bound 2 at, its end 2 at + 1. The first `shared` bytes of both must be equal.
 */
export function compareKey({ bytes, offsets }: FlatIntervals, bound: number, key: Uint8Array, shared: number): number {
  const from = offsets[bound]!;
  const length = offsets[bound + 1]! - from;
  const common = Math.min(length, key.length);
  for (let at = shared; at < common; at += 1) {
    const difference = bytes[from + at]! - key[at]!;
    if (difference !== 0) return difference;
  }
  return length - key.length;
}

const lengthOf = (offsets: Uint32Array, bound: number): number => offsets[bound + 1]! - offsets[bound]!;

/** Whether an end is above every key. */
const isOpen = (offsets: Uint32Array, end: number): boolean => lengthOf(offsets, end) === 0;

/** A copy of some bounds, which are `size` bytes. Copied byte by byte: they are short, and there are many. */
function* gather(
  { bytes, offsets }: FlatIntervals,
  bounds: Uint32Array,
  size: number,
  turn: Turn,
): PureJob<FlatIntervals> {
  const gathered = new Uint8Array(size);
  const ends = new Uint32Array(bounds.length + 1);
  let to = 0;
  for (let at = 0; at < bounds.length; at += 1) {
    if (at % STRIDE === 0 && turn.shouldYield(STRIDE / A_STEP)) yield;
    const end = offsets[bounds[at]! + 1]!;
    for (let from = offsets[bounds[at]!]!; from < end; from += 1, to += 1) gathered[to] = bytes[from]!;
    ends[at + 1] = to;
  }
  assert(to === size, 'the bytes of joined intervals were counted wrongly');
  return { bytes: gathered, offsets: ends };
}

function compareBounds(bytes: Uint8Array, offsets: Uint32Array, left: number, right: number): number {
  const leftFrom = offsets[left]!;
  const rightFrom = offsets[right]!;
  const leftLength = offsets[left + 1]! - leftFrom;
  const rightLength = offsets[right + 1]! - rightFrom;
  const common = Math.min(leftLength, rightLength);
  for (let at = 0; at < common; at += 1) {
    const difference = bytes[leftFrom + at]! - bytes[rightFrom + at]!;
    if (difference !== 0) return difference;
  }
  return leftLength - rightLength;
}

function sizeOf(bytes: number): number {
  assert(bytes < 2 ** 32, 'the permissions of one user have 4 GiB');
  return bytes;
}

/** Shorter runs are sorted by comparing. */
const RUN_MIN = 16;
/** Longer runs are first distributed by one byte, so that no sort takes long. */
const RUN_MAX = 8192;
const HEAD_BYTES = 4;
/** One for keys that have ended, and one for each byte. */
const BUCKETS = 257;

/**
 * Sorts numbers of intervals by start, in place. What the keys of a run have in common is passed over. A long run is
 * distributed by the next byte. Of a shorter one the next four bytes become a number, the numbers are sorted as numbers, and
 * runs of equal ones in the same way by what follows.
 */
function* sortByStart({ bytes, offsets }: FlatIntervals, order: Uint32Array, turn: Turn): PureJob<void> {
  const open: { readonly from: number; readonly to: number; readonly depth: number }[] = [];
  open.push({ from: 0, to: order.length, depth: 0 });
  for (let run = open.pop(); run !== undefined; run = open.pop()) {
    const { from } = run;
    const items = order.subarray(from, run.to);
    const steps = items.length / A_STEP;
    if (turn.shouldYield(steps)) yield;
    let shortest = Number.POSITIVE_INFINITY;
    for (const at of items) shortest = Math.min(shortest, lengthOf(offsets, 2 * at));
    if (items.length > RUN_MAX) {
      const depth = sharedLength(bytes, offsets, items, run.depth, shortest);
      if (turn.shouldYield(steps)) yield;
      const ends = distribute(bytes, offsets, items, depth);
      if (turn.shouldYield(2 * steps)) yield;
      // Those that have ended are equal.
      for (let bucket = 1; bucket < BUCKETS; bucket += 1) {
        if (ends[bucket]! - ends[bucket - 1]! < 2) continue;
        open.push({ from: from + ends[bucket - 1]!, to: from + ends[bucket]!, depth: depth + 1 });
      }
    } else if (items.length < RUN_MIN || shortest < run.depth + HEAD_BYTES) {
      // Where a key ends, four bytes do not tell it from one that goes on with zeros.
      items.sort((left, right) => compareBounds(bytes, offsets, 2 * left, 2 * right));
      if (turn.shouldYield(10 * steps)) yield;
    } else {
      const depth = sharedLength(bytes, offsets, items, run.depth, shortest - HEAD_BYTES);
      for (const [begin, end] of sortByHead(bytes, offsets, items, depth)) {
        open.push({ from: from + begin, to: from + end, depth: depth + HEAD_BYTES });
      }
      if (turn.shouldYield(5 * steps)) yield;
    }
  }
}

/** Sorts a run by the byte at `depth`. Returns where each bucket ends. */
function distribute(bytes: Uint8Array, offsets: Uint32Array, items: Uint32Array, depth: number): Uint32Array {
  const bucketOf = (at: number): number =>
    lengthOf(offsets, 2 * at) === depth ? 0 : bytes[offsets[2 * at]! + depth]! + 1;
  const ends = new Uint32Array(BUCKETS);
  for (const at of items) ends[bucketOf(at)]! += 1;
  for (let bucket = 1; bucket < BUCKETS; bucket += 1) ends[bucket]! += ends[bucket - 1]!;
  const next = new Uint32Array(BUCKETS);
  next.set(ends.subarray(0, BUCKETS - 1), 1);
  for (const at of items.slice()) {
    const bucket = bucketOf(at);
    items[next[bucket]!] = at;
    next[bucket]! += 1;
  }
  return ends;
}

/** Sorts a run by four bytes from `depth` on, which all keys have. Returns the parts of it that are equal there. */
function sortByHead(
  bytes: Uint8Array,
  offsets: Uint32Array,
  items: Uint32Array,
  depth: number,
): (readonly [begin: number, end: number])[] {
  const heads = new Float64Array(items.length);
  for (let place = 0; place < items.length; place += 1) {
    const from = offsets[2 * items[place]!]! + depth;
    const head = bytes[from]! * 2 ** 24 + (bytes[from + 1]! << 16) + (bytes[from + 2]! << 8) + bytes[from + 3]!;
    // 32 bits of the key and 13 of its place.
    heads[place] = head * RUN_MAX + place;
  }
  heads.sort();
  const before = items.slice();
  const equal: (readonly [number, number])[] = [];
  let begin = 0;
  for (let place = 0; place < items.length; place += 1) {
    items[place] = before[heads[place]! % RUN_MAX]!;
    const next = heads[place + 1];
    if (next !== undefined && Math.floor(heads[place]! / RUN_MAX) === Math.floor(next / RUN_MAX)) continue;
    if (place > begin) equal.push([begin, place + 1]);
    begin = place + 1;
  }
  return equal;
}

/** How many bytes all keys of a run begin with alike: at least `known`, and no more than `max`. */
function sharedLength(bytes: Uint8Array, offsets: Uint32Array, items: Uint32Array, known: number, max: number): number {
  const first = offsets[2 * items[0]!]!;
  let shared = max;
  for (const at of items) {
    const from = offsets[2 * at]!;
    let common = known;
    while (common < shared && bytes[from + common] === bytes[first + common]) common += 1;
    shared = common;
  }
  return shared;
}
