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

  private constructor(flat: FlatIntervals) {
    this.#flat = flat;
    this.#shared = sharedByAll(flat);
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
    const { key, end } = range;
    const at = this.#lastFrom(key);
    if (at < 0) return false;
    const flat = this.#flat;
    const upper = 2 * at + 1;
    if (flat.offsets[upper] === flat.offsets[upper + 1]) return true;
    if (compareKey(flat, upper, key, 0) <= 0) return false;
    return isPoint(range) || (!isUnbounded(range) && compareKey(flat, upper, end, 0) >= 0);
  }

  /** The last interval that starts at or below the key; -1 if there is none. */
  #lastFrom(key: Uint8Array): number {
    const flat = this.#flat;
    const { size } = this;
    if (size === 0 || key.length === 0) return -1;
    const shared = this.#shared;
    // With the first bytes of all starts only the others are compared; without them the key is below all or above.
    for (let at = 0; at < shared; at += 1) {
      const difference = at < key.length ? key[at]! - flat.bytes[at]! : -1;
      if (difference !== 0) return difference < 0 ? -1 : size - 1;
    }
    const startsBefore = (at: number): boolean => compareKey(flat, 2 * at, key, shared) <= 0;
    const found = this.#found;
    if (startsBefore(found) && (found + 1 === size || !startsBefore(found + 1))) return found;
    const at = firstNotBefore(size, startsBefore) - 1;
    if (at >= 0) this.#found = at;
    return at;
  }
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
