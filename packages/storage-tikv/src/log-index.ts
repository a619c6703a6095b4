import type { LogPosition } from '@engram/core';
import type { Snapshot } from '@engram/tikv-client';
import { type LogSource, scanLog, searchLog } from './log-source.ts';
import type { LogTail } from './log-tail.ts';

/** Where a batch begins. */
export interface BatchPlaceInLog {
  readonly segment: number;
  readonly first: LogPosition;
}

/** Seals of segments without batches, which a search passes over, in one answer. */
const ROWS = 16;

/**
 * Finds the batch that holds a position. Positions ascend with the segments, so a search by halves finds the segment: some
 * ten questions for a thousand segments, and what they find is remembered, because it never changes.
 */
export class LogIndex {
  readonly #source: LogSource;
  /** The first batch in a segment, or behind it. */
  readonly #firsts = new Map<number, BatchPlaceInLog>();

  /** The first segment that is left: what lies before it was deleted, and would be searched in vain, region by region. */
  readonly #begin: () => number;

  constructor(source: LogSource, begin: () => number = () => 1) {
    this.#source = source;
    this.#begin = begin;
  }

  /** Undefined where the snapshot has none. `tail` is of the same snapshot. */
  async locate(
    snapshot: Snapshot,
    tail: LogTail,
    position: LogPosition,
    signal: AbortSignal,
  ): Promise<BatchPlaceInLog | undefined> {
    const { last } = tail;
    if (last === undefined || position >= tail.next) return undefined;
    if (position >= last.first) return last;
    const segment = await this.#segmentOf(snapshot, last.segment, position, signal);
    if (segment === undefined) return undefined;
    const { keys } = this.#source;
    const range = { start: keys.segmentStart(segment), end: keys.behindSlot(segment, position) };
    const options = { reverse: true, keysOnly: true, limit: 1, signal };
    for await (const { key } of scanLog(this.#source, snapshot, range, options)) {
      if (key.kind === 'slot') return { segment, first: key.first };
    }
    return undefined;
  }

  /** The last one that begins at the position or before it. */
  async #segmentOf(
    snapshot: Snapshot,
    lastSegment: number,
    position: LogPosition,
    signal: AbortSignal,
  ): Promise<number | undefined> {
    let [low, high] = [this.#begin(), lastSegment];
    let found: number | undefined;
    while (low <= high) {
      const middle = Math.floor((low + high) / 2);
      const first = await this.firstFrom(snapshot, middle, signal);
      if (first !== undefined && first.first <= position) {
        found = first.segment;
        low = Math.max(middle, first.segment) + 1;
      } else {
        high = middle - 1;
      }
    }
    return found;
  }

  /** The first batch in the segment or behind it; undefined where the snapshot has none. */
  async firstFrom(snapshot: Snapshot, segment: number, signal: AbortSignal): Promise<BatchPlaceInLog | undefined> {
    const known = this.#firsts.get(segment);
    if (known !== undefined) return known;
    const { keys } = this.#source;
    const range = { start: keys.segmentStart(segment), end: keys.logEnd };
    for await (const { key } of searchLog(this.#source, snapshot, range, { keysOnly: true, limit: ROWS, signal })) {
      if (key.kind !== 'slot') continue;
      const first = { segment: key.segment, first: key.first };
      this.#firsts.set(segment, first);
      return first;
    }
    return undefined;
  }
}
