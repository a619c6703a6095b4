import type { LogPosition } from '@engram/core';
import type { Snapshot } from '@engram/tikv-client';
import { type LogSource, readImageRoot, scanLog, searchLog } from './log-source.ts';
import type { LogTail } from './log-tail.ts';

/** Where a batch begins. */
export interface BatchPlaceInLog {
  readonly segment: number;
  readonly first: LogPosition;
}

/** Rows in one answer, so that a search passes over the seals of several segments without batches. */
const ROWS = 16;
/** After so many seals without a batch, the segments may be trimmed ones, of which only the seals are left. */
const SEALS_MAX = 16;

/**
 * Finds the batch that holds a position. Positions ascend with the segments, so a binary search finds the segment, with about
 * ten requests for a thousand segments. Their results are kept in memory, because they never change.
 */
export class BatchLocator {
  readonly #source: LogSource;
  /** By segment: the first batch in the segment, or behind it. */
  readonly #firsts = new Map<number, BatchPlaceInLog>();

  /** The first remaining segment, as far as known without a request. Before it are only seals, however many. */
  readonly #begin: () => number;

  constructor(source: LogSource, begin: () => number = () => 1) {
    this.#source = source;
    this.#begin = begin;
  }

  /** The batch that holds the position; undefined if the snapshot has none. `tail` must be of the same snapshot. */
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

  /** The last segment that begins at the position or before it. */
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

  /**
   * The first batch in the segment or behind it; undefined if the snapshot has none, or does not tell. Segments in regions of different
   * stores: a snapshot may show a later one without an earlier one. It shows the seal of a segment only with all of its batches, so a
   * segment is without batches where its seal is shown and no batch.
   */
  async firstFrom(snapshot: Snapshot, segment: number, signal: AbortSignal): Promise<BatchPlaceInLog | undefined> {
    const known = this.#firsts.get(segment);
    if (known !== undefined) return known;
    const { keys } = this.#source;
    const range = { start: keys.segmentStart(segment), end: keys.logEnd };
    let expected = segment;
    for await (const { key } of searchLog(this.#source, snapshot, range, { keysOnly: true, limit: ROWS, signal })) {
      const isShown = key.segment === expected;
      if (isShown && key.kind === 'slot') {
        const first = { segment: key.segment, first: key.first };
        this.#firsts.set(segment, first);
        return first;
      }
      if (isShown) expected += 1;
      if (isShown && expected - segment !== SEALS_MAX) continue;
      // Earlier versions deleted the seals of trimmed segments.
      const begin = (await readImageRoot(this.#source, signal)).segment;
      if (begin > expected) return await this.firstFrom(snapshot, begin, signal);
      if (!isShown) return undefined;
    }
    return undefined;
  }
}
