import { compareBytes, EMPTY_BYTES, isPoint, isUnbounded, type KeyRange, keySuccessor } from '@engram/core';
import { finish, type PureJob, type Turn, unhurried } from '@engram/loop';
import { compareKey, concatenate, countOf, type FlatIntervals, flatten, joinIntervals } from './flat-intervals.ts';
import { firstNotBefore } from './name-table.ts';

/**
 * A set of keys as intervals [start, end) that neither touch nor overlap, in order, so a search finds the only one that
 * can hold a key. Ranges are joined as etcd joins permissions (server/auth/range_perm_cache.go): [a, c) and [c, e) hold
 * [a, e). Immutable; has its own bytes.
 */
export class IntervalSet {
  readonly #flat: FlatIntervals;
  /** With how many equal bytes all starts begin. */
  readonly #shared: number;
  /** The interval that the last search found: a user asks for keys of one interval again and again. */
  #found = 0;
  /** With how many of the `#shared` bytes the end of that interval begins as well. */
  #sharedEnd: number;

  private constructor(flat: FlatIntervals) {
    this.#flat = flat;
    this.#shared = sharedByAll(flat);
    this.#sharedEnd = this.size > 0 ? sharedByEnd(flat, 0, this.#shared) : 0;
  }

  /**
   * Of ranges in any order. A range without a key, or whose end is not above its key, holds nothing: etcd's interval
   * tree takes an empty key for the largest (pkg/adt: BytesAffineComparable).
   */
  static of(ranges: readonly KeyRange[]): IntervalSet {
    const bounds = ranges
      .filter(({ key }) => key.length > 0)
      .map((range) => ({
        start: range.key,
        end: isPoint(range) ? keySuccessor(range.key) : isUnbounded(range) ? EMPTY_BYTES : range.end,
      }))
      .filter(({ start, end }) => end.length === 0 || compareBytes(start, end) < 0);
    return new IntervalSet(finish(joinIntervals(flatten(bounds), unhurried)));
  }

  /** What is in any of the sets. */
  static union(sets: readonly IntervalSet[]): IntervalSet {
    return finish(IntervalSet.unite(sets, unhurried));
  }

  /** As `union`, as a job. */
  static *unite(sets: readonly IntervalSet[], turn: Turn): PureJob<IntervalSet> {
    if (sets.length === 1) return sets[0]!;
    return new IntervalSet(yield* joinIntervals(concatenate(sets.map((set) => set.#flat)), turn));
  }

  /** Intervals after joining. */
  get size(): number {
    return countOf(this.#flat);
  }

  /**
   * Whether the set holds the whole range, as the client sent it: without an end its key, with the end `\0` every key
   * from its key on, otherwise [key, end) without a gap. A range whose end is not above its key has no keys; the set
   * must hold its key. Nothing holds an empty key. O(log n).
   */
  holds(range: KeyRange): boolean {
    const { key } = range;
    const { size } = this;
    if (size === 0 || key.length === 0) return false;
    // With the first bytes of all starts only the others are compared; without them the key is below all or above.
    const { bytes } = this.#flat;
    for (let at = 0; at < this.#shared; at += 1) {
      const difference = at < key.length ? key[at]! - bytes[at]! : -1;
      if (difference !== 0) return difference > 0 && this.#endsBehind(range, size - 1, 0);
    }
    const at = this.#lastFrom(key);
    return at >= 0 && this.#endsBehind(range, at, this.#sharedEnd);
  }

  /** Whether the range, whose key is not below an interval's start, is in it. The key begins with `shared` bytes of its end. */
  #endsBehind(range: KeyRange, at: number, shared: number): boolean {
    const flat = this.#flat;
    const upper = 2 * at + 1;
    if (flat.offsets[upper] === flat.offsets[upper + 1]) return true;
    if (compareKey(flat, upper, range.key, shared) <= 0) return false;
    return isPoint(range) || (!isUnbounded(range) && compareKey(flat, upper, range.end, 0) >= 0);
  }

  /** The last interval that starts at or below a key that begins as all of them do; -1 if there is none. */
  #lastFrom(key: Uint8Array): number {
    const flat = this.#flat;
    const shared = this.#shared;
    const found = this.#found;
    const isLast = found + 1 === this.size || compareKey(flat, 2 * found + 2, key, shared) > 0;
    return isLast && compareKey(flat, 2 * found, key, shared) <= 0 ? found : this.#search(key);
  }

  /** As `#lastFrom`, in all intervals. The one that it finds is the first that the next search looks at. */
  #search(key: Uint8Array): number {
    const flat = this.#flat;
    const at = firstNotBefore(this.size, (start) => compareKey(flat, 2 * start, key, this.#shared) <= 0) - 1;
    if (at < 0) return at;
    this.#found = at;
    this.#sharedEnd = sharedByEnd(flat, at, this.#shared);
    return at;
  }
}

/** With how many of the first `max` bytes of its start the end of an interval begins. */
function sharedByEnd({ bytes, offsets }: FlatIntervals, at: number, max: number): number {
  const start = offsets[2 * at]!;
  const end = offsets[2 * at + 1]!;
  const most = Math.min(max, offsets[2 * at + 2]! - end);
  let shared = 0;
  while (shared < most && bytes[start + shared] === bytes[end + shared]) shared += 1;
  return shared;
}

/** The starts are sorted, so what the first and the last begin with, all do. */
function sharedByAll(flat: FlatIntervals): number {
  const count = countOf(flat);
  if (count === 0) return 0;
  const { bytes, offsets } = flat;
  const last = offsets[2 * (count - 1)]!;
  const max = Math.min(offsets[1]!, offsets[2 * count - 1]! - last);
  let shared = 0;
  while (shared < max && bytes[shared] === bytes[last + shared]) shared += 1;
  return shared;
}
