import {
  compareBytes,
  equalBytes,
  type EventGroup,
  isPoint,
  isUnbounded,
  type KeyRange,
  type KvEvent,
} from '@engram/core';
import type { PureJob, Turn } from '@engram/loop';
import {
  DROP_DELETES,
  DROP_NOTHING,
  DROP_PUTS,
  type Filter,
  passes,
  type Subset,
  SubsetDraft,
} from './group-subsets.ts';

/** Ascending pairs of indices into the events. The first index of a pair is included, the second is not. */
export type Stretches = readonly number[];

/** Bound of the events in all kept subsets, as a multiple of the group's events. */
const KEPT_MAX = 2;

/**
 * A revision with very many events, such as the DeleteRange of a prefix. Its events come in a few ascending runs of
 * keys, one per operation. A binary search in each run finds the events that a range matches, and two indices per run
 * describe them. Every walk over the events gives way.
 */
export class LargeGroup {
  readonly #events: readonly KvEvent[];
  readonly #turn: Turn;
  readonly #stride: number;
  /** The index at which each run begins, then the index at which the last run ends. */
  readonly #runs: readonly number[];
  readonly #whole: Subset;
  readonly #kept = new Map<string, Subset>();
  #keptEvents = 0;
  #cutEvents = 0;

  private constructor(whole: Subset, runs: readonly number[], turn: Turn, stride: number) {
    this.#whole = whole;
    this.#events = whole.groups[0]!.events;
    this.#runs = runs;
    this.#turn = turn;
    this.#stride = stride;
  }

  /** `stride`: events that are looked at between two questions to `turn`. */
  static *of(group: EventGroup, turn: Turn, stride: number): PureJob<LargeGroup> {
    const { events } = group;
    const runs: number[] = [];
    const draft = new SubsetDraft();
    for (let from = 0; from < events.length; from += stride) {
      const end = Math.min(events.length, from + stride);
      for (let at = from; at < end; at += 1) {
        if (at === 0 || compareBytes(events[at - 1]!.key, events[at]!.key) >= 0) runs.push(at);
        draft.count(events[at]!);
      }
      if (turn.shouldYield(end - from)) yield;
    }
    runs.push(events.length);
    return new LargeGroup(draft.subset(group), runs, turn, stride);
  }

  /** The number of runs to search. */
  get runs(): number {
    return this.#runs.length - 1;
  }

  /** The number of events copied out of this group so far. */
  get cutEvents(): number {
    return this.#cutEvents;
  }

  /** Whether the unfiltered subset of these events exists already, so that no event needs to be copied. */
  has(stretches: Stretches): boolean {
    return this.#isWhole(stretches) || this.#kept.has(subsetId(stretches, DROP_NOTHING));
  }

  #isWhole([start, end]: Stretches): boolean {
    return start === 0 && end === this.#events.length;
  }

  /** Finds the events whose keys are in the range. */
  within(range: KeyRange): Stretches {
    const stretches: number[] = [];
    const events = this.#events;
    for (let run = 0; run < this.runs; run += 1) {
      const runEnd = this.#runs[run + 1]!;
      const start = lowerBound(events, this.#runs[run]!, runEnd, range.key);
      let end = runEnd;
      if (isPoint(range)) end = start < runEnd && equalBytes(events[start]!.key, range.key) ? start + 1 : start;
      else if (!isUnbounded(range)) end = lowerBound(events, start, runEnd, range.end);
      if (end === start) continue;
      if (stretches.at(-1) === start) stretches[stretches.length - 1] = end;
      else stretches.push(start, end);
    }
    return stretches;
  }

  /**
   * The subset of these events for a filter, or undefined if no event is left. While the subset is kept, watchers with
   * the same matches get the same object.
   */
  *subset(stretches: Stretches, filter: Filter): PureJob<Subset | undefined> {
    const matched = yield* this.#subset(stretches, DROP_NOTHING);
    const dropped = (filter & DROP_PUTS ? matched.puts : 0) + (filter & DROP_DELETES ? matched.deletes : 0);
    if (dropped === 0) return matched;
    if (dropped === matched.puts + matched.deletes) return undefined;
    return yield* this.#subset(stretches, filter);
  }

  *#subset(stretches: Stretches, filter: Filter): PureJob<Subset> {
    if (filter === DROP_NOTHING && this.#isWhole(stretches)) return this.#whole;
    const id = subsetId(stretches, filter);
    const known = this.#kept.get(id);
    if (known !== undefined) return known;
    const subset = yield* this.#cut(stretches, filter);
    const { length } = subset.groups[0]!.events;
    if (this.#keptEvents + length > KEPT_MAX * this.#events.length) {
      this.#kept.clear();
      this.#keptEvents = 0;
    }
    this.#kept.set(id, subset);
    this.#keptEvents += length;
    return subset;
  }

  *#cut(stretches: Stretches, filter: Filter): PureJob<Subset> {
    const { revision } = this.#whole.groups[0]!;
    const draft = new SubsetDraft();
    const events: KvEvent[] = [];
    const turn = this.#turn;
    const stride = this.#stride;
    for (let pair = 0; pair < stretches.length; pair += 2) {
      const stretchEnd = stretches[pair + 1]!;
      for (let from = stretches[pair]!; from < stretchEnd; from += stride) {
        const end = Math.min(stretchEnd, from + stride);
        for (let at = from; at < end; at += 1) {
          const event = this.#events[at]!;
          if (!passes(filter, event)) continue;
          events.push(event);
          draft.count(event);
        }
        this.#cutEvents += end - from;
        if (turn.shouldYield(end - from)) yield;
      }
    }
    return draft.subset({ revision, events });
  }
}

const subsetId = (stretches: Stretches, filter: Filter): string => `${filter}:${stretches.join()}`;

/** The first index in [from, to) whose key is not below `key`, or `to` if there is none. The keys must ascend. */
function lowerBound(events: readonly KvEvent[], from: number, to: number, key: Uint8Array): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareBytes(events[middle]!.key, key) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
