import type { LogPosition } from '@engram/core';
import { type LogBatch, recordBytes } from '@engram/storage';

/** The memory that a batch takes besides its records: arrays, views, its entries here. */
const OVERHEAD_BYTES = 256;
const RECORD_OVERHEAD_BYTES = 100;

/**
 * Keeps the batches used last in memory, up to a bound in bytes, and finds them by any of their positions. A single batch
 * may be larger than the bound.
 */
export class RecentBatches {
  readonly #bytesMax: number;
  /** By their first position, least recently used first. */
  readonly #batches = new Map<LogPosition, LogBatch>();
  /** Their first positions, ascending. */
  readonly #firsts: LogPosition[] = [];
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  add(batch: LogBatch): void {
    if (this.#batches.has(batch.first)) return;
    this.#firsts.splice(this.#behind(batch.first), 0, batch.first);
    this.#batches.set(batch.first, batch);
    this.#bytes += costOf(batch);
    for (const [first, oldest] of this.#batches) {
      if (this.#bytes <= this.#bytesMax || oldest === batch) break;
      this.#firsts.splice(this.#behind(first) - 1, 1);
      this.#batches.delete(first);
      this.#bytes -= costOf(oldest);
    }
  }

  get(position: LogPosition): Uint8Array | undefined {
    const first = this.#firsts[this.#behind(position) - 1];
    const batch = first === undefined ? undefined : this.#batches.get(first);
    const record = batch?.records[position - batch.first];
    if (batch === undefined || record === undefined) return undefined;
    this.#batches.delete(batch.first);
    this.#batches.set(batch.first, batch);
    return record;
  }

  /** How many batches begin at the position or before. */
  #behind(position: LogPosition): number {
    let [low, high] = [0, this.#firsts.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#firsts[middle]! <= position) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function costOf({ records }: LogBatch): number {
  return OVERHEAD_BYTES + RECORD_OVERHEAD_BYTES * records.length + recordBytes(records);
}
