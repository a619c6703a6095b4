import { compareBytes, EMPTY_BYTES, isPoint, isUnbounded, type KeyRange, keySuccessor } from '@engram/core';
import { firstNotBefore } from './name-table.ts';

/** An upper bound. Empty is above every key. */
function compareEnds(left: Uint8Array, right: Uint8Array): number {
  if (left.length === 0) return right.length === 0 ? 0 : 1;
  return right.length === 0 ? -1 : compareBytes(left, right);
}

/** Intervals that are added in the order of their starts, joined where they touch or overlap. */
class Intervals {
  readonly starts: Uint8Array[] = [];
  readonly ends: Uint8Array[] = [];

  add(start: Uint8Array, end: Uint8Array): void {
    const last = this.ends.length - 1;
    const lastEnd = this.ends[last];
    if (lastEnd === undefined || (lastEnd.length > 0 && compareBytes(start, lastEnd) > 0)) {
      this.starts.push(start);
      this.ends.push(end);
    } else if (compareEnds(end, lastEnd) > 0) {
      this.ends[last] = end;
    }
  }
}

/**
 * A set of keys as intervals [start, end) that neither touch nor overlap, in order, so a search finds the only one that
 * can hold a key. Ranges are joined as etcd joins permissions (server/auth/range_perm_cache.go): [a, c) and [c, e) hold
 * [a, e). Immutable; shares the bytes of the ranges.
 */
export class IntervalSet {
  static readonly empty = new IntervalSet([], []);

  readonly #starts: readonly Uint8Array[];
  /** Empty: no upper bound. */
  readonly #ends: readonly Uint8Array[];

  private constructor(starts: readonly Uint8Array[], ends: readonly Uint8Array[]) {
    this.#starts = starts;
    this.#ends = ends;
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
      .filter(({ start, end }) => end.length === 0 || compareBytes(start, end) < 0)
      .sort((left, right) => compareBytes(left.start, right.start));
    const joined = new Intervals();
    for (const { start, end } of bounds) joined.add(start, end);
    return new IntervalSet(joined.starts, joined.ends);
  }

  /**
   * What is in any of the sets. Sets that lie one behind the other are only copied; those that interleave cost a
   * comparison for each interval and each doubling of the number of sets.
   */
  static union(sets: readonly IntervalSet[]): IntervalSet {
    let level = sets
      .filter((set) => set.size > 0)
      .sort((left, right) => compareBytes(left.#starts[0]!, right.#starts[0]!));
    while (level.length > 1) {
      const next: IntervalSet[] = [];
      for (let at = 0; at < level.length; at += 2) {
        const right = level[at + 1];
        next.push(right === undefined ? level[at]! : IntervalSet.#join(level[at]!, right));
      }
      level = next;
    }
    return level[0] ?? IntervalSet.empty;
  }

  static #join(left: IntervalSet, right: IntervalSet): IntervalSet {
    const lastEnd = left.#ends.at(-1)!;
    if (lastEnd.length > 0 && compareBytes(lastEnd, right.#starts[0]!) < 0) {
      return new IntervalSet(left.#starts.concat(right.#starts), left.#ends.concat(right.#ends));
    }
    const joined = new Intervals();
    let leftAt = 0;
    let rightAt = 0;
    while (leftAt < left.size || rightAt < right.size) {
      const takesLeft =
        rightAt === right.size ||
        (leftAt < left.size && compareBytes(left.#starts[leftAt]!, right.#starts[rightAt]!) <= 0);
      if (takesLeft) {
        joined.add(left.#starts[leftAt]!, left.#ends[leftAt]!);
        leftAt += 1;
      } else {
        joined.add(right.#starts[rightAt]!, right.#ends[rightAt]!);
        rightAt += 1;
      }
    }
    return new IntervalSet(joined.starts, joined.ends);
  }

  /** Intervals after joining. */
  get size(): number {
    return this.#starts.length;
  }

  /**
   * Whether the set holds the whole range, as the client sent it: without an end its key, with the end `\0` every key from its
   * key on, otherwise [key, end) without a gap. A range whose end is not above its key has no keys; the set must hold
   * its key. Nothing holds an empty key. O(log n).
   */
  holds(range: KeyRange): boolean {
    const { key, end } = range;
    if (key.length === 0) return false;
    const starts = this.#starts;
    const at = firstNotBefore(starts.length, (index) => compareBytes(starts[index]!, key) <= 0) - 1;
    if (at < 0) return false;
    const upper = this.#ends[at]!;
    if (upper.length === 0) return true;
    if (compareBytes(key, upper) >= 0) return false;
    return isPoint(range) || (!isUnbounded(range) && compareBytes(end, upper) <= 0);
  }
}
