import {
  compareBytes,
  equalBytes,
  type EventGroup,
  isPoint,
  isUnbounded,
  type KeyRange,
  type KvEvent,
} from '@engram/core';
import { DROP_DELETES, DROP_NOTHING, DROP_PUTS, type Filter, passes, type Share, ShareDraft } from './group-shares.ts';
import { EVENT_US } from './slice-limits.ts';
import type { Sliced } from './sliced.ts';

/** Indices of events: from the first of a pair up to below the second, pair after pair, ascending. */
export type Stretches = readonly number[];

/** Events in shares that are kept for other ranges that match the same, as a multiple of the group's. */
const KEPT_MAX = 2;

/**
 * A revision with very many events, as a DeleteRange of a prefix has it. Its events come in few ascending runs of keys,
 * one for each operation, so what a range matches is found by searching each run for the range's ends, and is known by
 * where it begins and ends: no list of indices for each range, and no question for each event. Whatever walks over the
 * events does so in slices.
 */
export class LargeGroup {
  readonly #events: readonly KvEvent[];
  readonly #sliced: Sliced;
  /** Where each run begins, and behind them where the last one ends. */
  readonly #runs: readonly number[];
  readonly #whole: Share;
  readonly #kept = new Map<string, Share>();
  #keptEvents = 0;
  #cutEvents = 0;

  private constructor(whole: Share, sliced: Sliced, runs: readonly number[]) {
    this.#whole = whole;
    this.#events = whole.groups[0]!.events;
    this.#sliced = sliced;
    this.#runs = runs;
  }

  static async of(group: EventGroup, sliced: Sliced): Promise<LargeGroup> {
    const { events } = group;
    const runs: number[] = [];
    const draft = new ShareDraft();
    const { eventsMax } = sliced;
    for (let from = 0; from < events.length; from += eventsMax) {
      const end = Math.min(events.length, from + eventsMax);
      for (let at = from; at < end; at += 1) {
        if (at === 0 || compareBytes(events[at - 1]!.key, events[at]!.key) >= 0) runs.push(at);
        draft.count(events[at]!);
      }
      if (sliced.spend((end - from) * EVENT_US)) await sliced.turn();
    }
    runs.push(events.length);
    return new LargeGroup(draft.share(group), sliced, runs);
  }

  /** How many there are to search. */
  get runs(): number {
    return this.#runs.length - 1;
  }

  /** Events that were copied out of it so far. */
  get cutEvents(): number {
    return this.#cutEvents;
  }

  /** What a watcher gets of these without a filter is there, and nothing is copied. */
  has(stretches: Stretches): boolean {
    return this.#isWhole(stretches) || this.#kept.has(shareId(stretches, DROP_NOTHING));
  }

  #isWhole([start, end]: Stretches): boolean {
    return start === 0 && end === this.#events.length;
  }

  /** The events of keys in the range. */
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

  /** What a watcher gets of these; undefined: nothing. All who match the same get the same object. */
  async share(stretches: Stretches, filter: Filter): Promise<Share | undefined> {
    const matched = await this.#share(stretches, DROP_NOTHING);
    const dropped = (filter & DROP_PUTS ? matched.puts : 0) + (filter & DROP_DELETES ? matched.deletes : 0);
    if (dropped === 0) return matched;
    if (dropped === matched.puts + matched.deletes) return undefined;
    return this.#share(stretches, filter);
  }

  async #share(stretches: Stretches, filter: Filter): Promise<Share> {
    if (filter === DROP_NOTHING && this.#isWhole(stretches)) return this.#whole;
    const id = shareId(stretches, filter);
    const known = this.#kept.get(id);
    if (known !== undefined) return known;
    const share = await this.#cut(stretches, filter);
    const { length } = share.groups[0]!.events;
    if (this.#keptEvents + length > KEPT_MAX * this.#events.length) {
      this.#kept.clear();
      this.#keptEvents = 0;
    }
    this.#kept.set(id, share);
    this.#keptEvents += length;
    return share;
  }

  async #cut(stretches: Stretches, filter: Filter): Promise<Share> {
    const { revision } = this.#whole.groups[0]!;
    const draft = new ShareDraft();
    const events: KvEvent[] = [];
    const sliced = this.#sliced;
    const { eventsMax } = sliced;
    for (let pair = 0; pair < stretches.length; pair += 2) {
      const stretchEnd = stretches[pair + 1]!;
      for (let from = stretches[pair]!; from < stretchEnd; from += eventsMax) {
        const end = Math.min(stretchEnd, from + eventsMax);
        for (let at = from; at < end; at += 1) {
          const event = this.#events[at]!;
          if (!passes(filter, event)) continue;
          events.push(event);
          draft.count(event);
        }
        this.#cutEvents += end - from;
        if (sliced.spend((end - from) * EVENT_US)) await sliced.turn();
      }
    }
    return draft.share({ revision, events });
  }
}

const shareId = (stretches: Stretches, filter: Filter): string => `${filter}:${stretches.join()}`;

/** The first index in [from, to), ascending by key, whose key is not below `key`; `to` where there is none. */
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
