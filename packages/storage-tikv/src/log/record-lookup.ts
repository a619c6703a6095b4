import { type Clock, Limiter, type LogPosition } from '@engram/core';
import { endOf } from '@engram/storage';
import type { Snapshot } from '@engram/tikv-client';
import type { BatchPart, StoredBatch } from '../format/batch-format.ts';
import type { BatchPlaceInLog, BatchLocator } from './batch-locator.ts';
import { batchesFrom, wholeBatch } from './log-reader.ts';
import { type LogRow, type LogSource, partOf } from './log-source.ts';
import { type LogTail, type LogView, lookAtTail } from './log-tail.ts';
import type { RecentBatches } from './recent-batches.ts';

/** Batches that are fetched at a time, for all calls together. A batch may have some MiB. */
const LOOKUPS_MAX = 16;
/** With more records of the log than this for each wanted record, batches are fetched one by one. */
const DENSE_MAX = 4;
/** The log keeps its records: a newer view is needed only for a missing record, or before a safe point comes near. */
const VIEW_AGE_MAX_MS = 60_000;

interface View extends LogView {
  readonly sinceMs: number;
}

/** Finds records by position in the batches in TiKV, for a node that does not have them itself. */
export class RecordLookup {
  readonly #source: LogSource;
  readonly #index: BatchLocator;
  readonly #recent: RecentBatches;
  readonly #clock: Clock;
  readonly #limiter = new Limiter(LOOKUPS_MAX);
  #view: View | undefined;

  /** Fetched batches are added to `recent`, too. */
  constructor(source: LogSource, index: BatchLocator, recent: RecentBatches, clock: Clock) {
    this.#source = source;
    this.#index = index;
    this.#recent = recent;
    this.#clock = clock;
  }

  /**
   * Adds the records that the log has to `found`. They are copies, so that one record does not keep a batch in memory.
   * `positions` ascend without duplicates.
   */
  async find(
    positions: readonly LogPosition[],
    found: Map<LogPosition, Uint8Array>,
    signal: AbortSignal,
  ): Promise<void> {
    const share = Math.max(1, Math.ceil(positions.length / LOOKUPS_MAX));
    const lookups: Promise<void>[] = [];
    for (let from = 0; from < positions.length; from += share) {
      const some = positions.slice(from, from + share);
      lookups.push(this.#limiter.run(() => this.#fetch(some, found, signal), signal));
    }
    // All lookups end before this call does, so that none is left running.
    for (const lookup of await Promise.allSettled(lookups)) if (lookup.status === 'rejected') throw lookup.reason;
  }

  /** `positions` ascend. */
  async #fetch(
    positions: readonly LogPosition[],
    found: Map<LogPosition, Uint8Array>,
    signal: AbortSignal,
  ): Promise<void> {
    const span = positions.at(-1)! - positions[0]! + 1;
    const dense = positions.length > 1 && span <= DENSE_MAX * positions.length;
    if (dense && !positions.every((position) => this.#recent.get(position) !== undefined)) {
      await this.#stream(positions, found, signal);
    }
    await this.#fetchEach(
      positions.filter((position) => !found.has(position)),
      found,
      signal,
    );
  }

  /** For positions that need most of the log between them: reads batch after batch, several with one request. */
  async #stream(
    positions: readonly LogPosition[],
    found: Map<LogPosition, Uint8Array>,
    signal: AbortSignal,
  ): Promise<void> {
    const [first, last] = [positions[0]!, positions.at(-1)!];
    const { snapshot, tail } = this.#young ?? (await this.#look(signal));
    const place = await this.#index.locate(snapshot, tail, first, signal);
    if (place === undefined) return;
    const start = this.#source.keys.slot(place.segment, place.first);
    let at = 0;
    for await (const batch of batchesFrom(this.#source, snapshot, start, signal)) {
      this.#recent.add(batch);
      for (; at < positions.length && positions[at]! < endOf(batch); at += 1) {
        const record = batch.records[positions[at]! - batch.first];
        if (record !== undefined) found.set(positions[at]!, record.slice());
      }
      if (endOf(batch) > last) return;
    }
  }

  /** Fetches batch by batch. */
  async #fetchEach(
    positions: readonly LogPosition[],
    found: Map<LogPosition, Uint8Array>,
    signal: AbortSignal,
  ): Promise<void> {
    let batch: StoredBatch | undefined;
    for (const position of positions) {
      const recent = this.#recent.get(position);
      if (recent !== undefined) {
        found.set(position, recent.slice());
        continue;
      }
      if (batch === undefined || position >= endOf(batch)) batch = await this.batchWith(position, signal);
      const record = batch?.records[position - batch.first];
      if (record !== undefined) found.set(position, record.slice());
    }
  }

  /** Reads where the log ends now. */
  async tail(signal: AbortSignal): Promise<LogTail> {
    return (await this.#look(signal)).tail;
  }

  /** The batch that holds the position; undefined if the log has none. */
  async batchWith(position: LogPosition, signal: AbortSignal): Promise<StoredBatch | undefined> {
    const view = this.#young;
    const seen = view && (await this.#batchIn(view, position, signal));
    const batch = seen ?? (await this.#batchIn(await this.#look(signal), position, signal));
    if (batch !== undefined) this.#recent.add(batch);
    return batch;
  }

  /** The last view, unless it is too old. */
  get #young(): View | undefined {
    const view = this.#view;
    return view !== undefined && this.#clock.nowMs() - view.sinceMs < VIEW_AGE_MAX_MS ? view : undefined;
  }

  async #look(signal: AbortSignal): Promise<View> {
    const sinceMs = this.#clock.nowMs();
    this.#view = { ...(await lookAtTail(this.#source, signal)), sinceMs };
    return this.#view;
  }

  async #batchIn(
    { snapshot, tail }: View,
    position: LogPosition,
    signal: AbortSignal,
  ): Promise<StoredBatch | undefined> {
    const place = await this.#index.locate(snapshot, tail, position, signal);
    if (place === undefined) return undefined;
    const first = await this.#part(snapshot, place, 0, signal);
    if (first === undefined) return undefined;
    const parts: BatchPart[] = [first.part];
    let { row } = first;
    while (parts.length < first.part.header.parts) {
      const next = await this.#part(snapshot, place, parts.length, signal);
      if (next === undefined) return undefined;
      parts.push(next.part);
      row = next.row;
    }
    const batch = wholeBatch(this.#source, row, parts);
    return position < endOf(batch) ? batch : undefined;
  }

  async #part(
    snapshot: Snapshot,
    { segment, first }: BatchPlaceInLog,
    part: number,
    signal: AbortSignal,
  ): Promise<{ readonly row: LogRow; readonly part: BatchPart } | undefined> {
    const { keys, timeoutMs } = this.#source;
    const value = await snapshot.get(keys.slot(segment, first, part), { signal, timeoutMs });
    if (value === undefined) return undefined;
    const row: LogRow = { key: { kind: 'slot', segment, first, part }, value };
    return { row, part: partOf(this.#source, row) };
  }
}
