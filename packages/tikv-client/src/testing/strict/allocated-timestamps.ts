import { assert } from '@engram/core';
import type { Timestamp } from '@engram/tso';

/** Maximal runs of allocated timestamps, and single timestamps named by stores, that are remembered. */
const RUNS_MAX = 500_000;
const TOLD_MAX = 500_000;

/**
 * The timestamps that PD has allocated, and those that stores have named: commit timestamps that they calculated, start timestamps
 * of locks. Old timestamps that were forgotten count as allocated.
 */
export class AllocatedTimestamps {
  /** First timestamps of runs without gaps, ascending. `#lasts` has their last timestamps. */
  readonly #firsts: Timestamp[] = [];
  readonly #lasts: Timestamp[] = [];
  readonly #told = new Set<Timestamp>();
  #forgotten: Timestamp = 0n;
  readonly #runsMax: number;

  constructor(runsMax = RUNS_MAX) {
    this.#runsMax = runsMax;
  }

  /** The highest allocated timestamp. */
  get highest(): Timestamp {
    return this.#lasts[this.#lasts.length - 1] ?? 0n;
  }

  /** Records that PD has allocated `first` to `last`. Answers of several streams may arrive slightly out of order. */
  allocate(first: Timestamp, last: Timestamp): void {
    assert(first <= last, 'a run of timestamps has a first and a last');
    let at = this.#firsts.length;
    while (at > 0 && this.#firsts[at - 1]! > first) at -= 1;
    if (at > 0 && this.#lasts[at - 1]! + 1n === first) this.#lasts[at - 1] = last;
    else {
      this.#firsts.splice(at, 0, first);
      this.#lasts.splice(at, 0, last);
    }
    if (this.#firsts.length <= this.#runsMax) return;
    const half = this.#runsMax >>> 1;
    this.#forgotten = this.#lasts[half - 1]!;
    this.#firsts.splice(0, half);
    this.#lasts.splice(0, half);
  }

  /** Records that a store has named `timestamp`. 0 means none. */
  tell(timestamp: Timestamp): void {
    if (timestamp === 0n) return;
    this.#told.add(timestamp);
    if (this.#told.size <= TOLD_MAX) return;
    const oldest = this.#told.values().next().value!;
    this.#told.delete(oldest);
    if (oldest > this.#forgotten && oldest < (this.#firsts[0] ?? 0n)) this.#forgotten = oldest;
  }

  /** Whether PD has allocated exactly this timestamp. */
  isAllocated(timestamp: Timestamp): boolean {
    if (timestamp <= 0n) return false;
    if (timestamp <= this.#forgotten) return true;
    let low = 0;
    let high = this.#firsts.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#firsts[middle]! <= timestamp) low = middle + 1;
      else high = middle;
    }
    return low > 0 && timestamp <= this.#lasts[low - 1]!;
  }

  /** Whether PD has allocated the timestamp or a store has named it, so that it may identify a transaction or a commit. */
  isKnown(timestamp: Timestamp): boolean {
    return this.isAllocated(timestamp) || this.#told.has(timestamp);
  }

  /** Whether the timestamp is not from the future: PD has allocated it or a later one, or a store has named it. */
  isPast(timestamp: Timestamp): boolean {
    return timestamp > 0n && (timestamp <= this.highest || this.#told.has(timestamp));
  }
}
