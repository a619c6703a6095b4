import { assert, type LogPosition } from '@engram/core';
import { batchFrom, type LogBatch, endOf, recordBytes } from '@engram/storage';

export interface KeptBatchesOptions {
  /** Of the copied batches; a multiple of `slabBytes`. */
  readonly bytesMax: number;
  /** The newest batches up to this size are kept as they are; the last one whatever its size. */
  readonly newestBytesMax: number;
  readonly slabBytes: number;
}

const LENGTH_BYTES = 4;
/** What a slab leaves free behind each batch, for the memory that its place takes elsewhere. */
const PLACE_BYTES = 64;

/**
 * The batches of the log that were pushed last. They follow each other without a gap.
 *
 * Only the newest batches are kept as objects. All are also copied into slabs, which are used again when their batches are
 * the oldest. Kept as objects for longer, batches would die in the old generation of the heap: that was a full collection for
 * each 64 MiB that were written (docs/PERFORMANCE.md).
 */
export class KeptBatches {
  readonly #options: KeptBatchesOptions;
  readonly #newest: LogBatch[] = [];
  #newestBytes = 0;
  /** Oldest first. They hold a suffix of what was pushed. */
  readonly #slabs: Slab[] = [];

  constructor(options: KeptBatchesOptions) {
    this.#options = options;
  }

  /** The first position that is kept; undefined if nothing is. */
  get first(): LogPosition | undefined {
    const newest = this.#newest[0]?.first;
    const copied = this.#slabs[0]?.first;
    return copied === undefined || (newest !== undefined && newest < copied) ? newest : copied;
  }

  /** The position behind the last batch; undefined if nothing is kept. */
  get end(): LogPosition | undefined {
    const last = this.#newest.at(-1);
    return last && endOf(last);
  }

  /** The memory that it takes. */
  get bytes(): number {
    return this.#slabs.length * this.#options.slabBytes + this.#newestBytes;
  }

  /** The batch must begin at `end`. */
  push(batch: LogBatch): void {
    assert(this.end === undefined || batch.first === this.end, 'a batch that does not follow the one before');
    const bytes = recordBytes(batch.records);
    this.#newest.push(batch);
    this.#newestBytes += bytes;
    while (this.#newestBytes > this.#options.newestBytesMax && this.#newest.length > 1) {
      this.#newestBytes -= recordBytes(this.#newest.shift()!.records);
    }
    this.#copy(batch, bytes + LENGTH_BYTES * batch.records.length + PLACE_BYTES);
  }

  /** The batch that has the position, from there on; undefined if it is not kept. The caller may keep its bytes. */
  at(position: LogPosition): LogBatch | undefined {
    const batch =
      this.#newest.findLast(({ first }) => first <= position) ??
      this.#slabs.findLast(({ first }) => first !== undefined && first <= position)?.at(position);
    if (batch === undefined || position >= endOf(batch)) return undefined;
    return batchFrom(batch, position);
  }

  #copy(batch: LogBatch, bytes: number): void {
    const { bytesMax, slabBytes } = this.#options;
    if (bytes > slabBytes) {
      // Rare. What is before it would be behind a gap.
      this.#slabs.length = 0;
      return;
    }
    if (this.#slabs.at(-1)?.add(batch, bytes) === true) return;
    const oldest = this.#slabs.length * slabBytes < bytesMax ? undefined : this.#slabs.shift();
    const slab = oldest ?? new Slab(slabBytes);
    slab.clear();
    slab.add(batch, bytes);
    this.#slabs.push(slab);
  }
}

interface Place {
  readonly first: LogPosition;
  readonly count: number;
  readonly chain: Uint8Array | undefined;
  /** Where it lies: the length of each record (u32, little endian), then the records. */
  readonly from: number;
  readonly to: number;
}

class Slab {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #places: Place[] = [];
  #used = 0;

  constructor(bytes: number) {
    this.#bytes = new Uint8Array(bytes);
    this.#view = new DataView(this.#bytes.buffer);
  }

  get first(): LogPosition | undefined {
    return this.#places[0]?.first;
  }

  clear(): void {
    this.#places = [];
    this.#used = 0;
  }

  /** False if it has no room for these bytes. */
  add({ first, records, chain }: LogBatch, bytes: number): boolean {
    const from = this.#used;
    if (from + bytes > this.#bytes.length) return false;
    let at = from + LENGTH_BYTES * records.length;
    for (let index = 0; index < records.length; index += 1) {
      const record = records[index]!;
      this.#view.setUint32(from + LENGTH_BYTES * index, record.length, true);
      this.#bytes.set(record, at);
      at += record.length;
    }
    this.#used = from + bytes;
    this.#places.push({ first, count: records.length, chain, from, to: at });
    return true;
  }

  /** A copy of the batch that begins there or before. */
  at(position: LogPosition): LogBatch | undefined {
    const place = this.#places.findLast(({ first }) => first <= position);
    if (place === undefined) return undefined;
    const { first, count, chain, from, to } = place;
    const begin = from + LENGTH_BYTES * count;
    const payload = this.#bytes.slice(begin, to);
    const records: Uint8Array[] = [];
    for (let index = 0, at = 0; index < count; index += 1) {
      const length = this.#view.getUint32(from + LENGTH_BYTES * index, true);
      records.push(payload.subarray(at, at + length));
      at += length;
    }
    return { first, records, chain };
  }
}
