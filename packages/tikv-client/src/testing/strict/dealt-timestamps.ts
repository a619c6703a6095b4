import { assert } from '@engram/core';
import type { Timestamp } from '../../codec/timestamp.ts';

/** Runs of dealt timestamps, and single told ones, that are remembered; of older ones only that they are old. */
const RUNS_MAX = 500_000;
const TOLD_MAX = 500_000;

/**
 * Which timestamps PD has dealt, and which ones stores have told of: commit timestamps that they calculated, start timestamps of
 * locks. What has been forgotten for its age counts as dealt.
 */
export class DealtTimestamps {
  /** Runs without gaps, in order: firsts and lasts. */
  readonly #firsts: Timestamp[] = [];
  readonly #lasts: Timestamp[] = [];
  readonly #told = new Set<Timestamp>();
  #forgotten: Timestamp = 0n;
  readonly #runsMax: number;

  constructor(runsMax = RUNS_MAX) {
    this.#runsMax = runsMax;
  }

  /** The highest one that was dealt. */
  get highest(): Timestamp {
    return this.#lasts[this.#lasts.length - 1] ?? 0n;
  }

  /** PD has dealt `first` to `last`. Answers of several streams may be seen a little out of order. */
  deal(first: Timestamp, last: Timestamp): void {
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

  /** A store has named it. 0 is none. */
  tell(timestamp: Timestamp): void {
    if (timestamp === 0n) return;
    this.#told.add(timestamp);
    if (this.#told.size <= TOLD_MAX) return;
    const oldest = this.#told.values().next().value!;
    this.#told.delete(oldest);
    if (oldest > this.#forgotten && oldest < (this.#firsts[0] ?? 0n)) this.#forgotten = oldest;
  }

  /** PD has dealt exactly this one. */
  isDealt(timestamp: Timestamp): boolean {
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

  /** PD has dealt it or a store has told of it: it may name a transaction or a commit. */
  isKnown(timestamp: Timestamp): boolean {
    return this.isDealt(timestamp) || this.#told.has(timestamp);
  }

  /** Not from the future: PD has dealt it or a later one, or a store has told of it. */
  isPast(timestamp: Timestamp): boolean {
    return timestamp > 0n && (timestamp <= this.highest || this.#told.has(timestamp));
  }
}
