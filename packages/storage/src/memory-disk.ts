import { assert, type LogPosition, logPosition, NEW_LOG_SEAL, type Seal } from '@engram/core';
import { endOf, type LogBatch } from './log.ts';
import { StorageCorruptError, StorageOpenError } from './storage-error.ts';

interface StoredBatch {
  readonly first: LogPosition;
  /** The list that the caller appended, until one of its records changes. */
  records: readonly (Uint8Array | undefined)[];
  shared: boolean;
}

export interface StoredAppend {
  readonly batch: LogBatch;
  readonly seal: Seal;
}

export interface StoredCheckpoint {
  readonly from: LogPosition;
  readonly chunks: readonly Uint8Array[];
}

/** What survives a crash. One storage at a time holds it. */
export class MemoryDisk {
  readonly name: string;
  sealed: Seal = NEW_LOG_SEAL;
  next: LogPosition = logPosition(1);
  /** The last append in the log. */
  last: StoredAppend | undefined;
  /** An append with an unknown outcome. It arrives before the next append, unless a seal of a newer epoch comes first. */
  onItsWay: StoredAppend | undefined;
  checkpoint: StoredCheckpoint | undefined;
  recordBytes = 0;
  readonly #batches: StoredBatch[] = [];
  /** Drops become durable with the next append or checkpoint. A crash before that reverts them. */
  readonly #undurableDrops = new Map<LogPosition, Uint8Array>();
  #holder: object | undefined;

  constructor(name: string) {
    this.name = name;
  }

  /** Reserves the disk for `holder` until it is released. StorageOpenError if another storage holds it. */
  hold(holder: object): void {
    if (this.#holder !== undefined && this.#holder !== holder)
      throw new StorageOpenError('locked', `${this.name} is in use: dispose or crash its storage first`);
    this.#holder = holder;
  }

  /** No effect if another storage holds it by now. */
  release(holder: object): void {
    if (this.#holder === holder) this.#holder = undefined;
  }

  /** Keeps the record list of the batch as it is. Reads only the lengths of the records. */
  append(batch: LogBatch, seal: Seal): void {
    assert(batch.first === this.next, 'a batch that does not begin at the end of the log');
    this.#batches.push({ first: batch.first, records: batch.records, shared: true });
    for (const { length } of batch.records) this.recordBytes += length;
    this.next = endOf(batch);
    this.last = { batch, seal };
    this.#undurableDrops.clear();
  }

  record(position: LogPosition): Uint8Array | undefined {
    const batch = this.#batchOf(position);
    return batch?.records[position - batch.first];
  }

  has(position: number): boolean {
    return this.record(logPosition(position)) !== undefined;
  }

  /** A copy with the same bytes, held by no storage. */
  copy(name: string): MemoryDisk {
    const copy = new MemoryDisk(name);
    copy.sealed = this.sealed;
    copy.next = this.next;
    copy.last = this.last;
    copy.onItsWay = this.onItsWay;
    copy.checkpoint = this.checkpoint;
    copy.recordBytes = this.recordBytes;
    for (const { first, records } of this.#batches)
      copy.#batches.push({ first, records: records.slice(), shared: false });
    for (const [position, record] of this.#undurableDrops) copy.#undurableDrops.set(position, record);
    return copy;
  }

  /** The batch that contains `from`, without the records before `from`. */
  batch(from: LogPosition): LogBatch {
    const batch = this.#batchOf(from);
    if (batch === undefined) throw this.missing(from);
    const records = (batch.first === from ? batch.records : batch.records.slice(from - batch.first)).map(
      (record, at) => {
        if (record === undefined) throw this.missing(logPosition(from + at));
        return record;
      },
    );
    return { first: from, records };
  }

  drop(positions: readonly LogPosition[]): void {
    for (const position of positions) {
      const bytes = this.record(position);
      if (bytes === undefined) continue;
      this.#undurableDrops.set(position, bytes);
      this.#put(position, undefined);
      this.recordBytes -= bytes.length;
    }
  }

  makeDropsDurable(): void {
    this.#undurableDrops.clear();
  }

  crash(): void {
    for (const [position, bytes] of this.#undurableDrops) {
      this.#put(position, bytes);
      this.recordBytes += bytes.length;
    }
    this.#undurableDrops.clear();
  }

  /** Loses the record, as a failing disk would. */
  damage(position: LogPosition): void {
    assert(this.record(position) !== undefined, 'damage to a record that is not there');
    this.#put(position, undefined);
  }

  /** The batch that contains the position. Undefined before the first batch and after the last. */
  #batchOf(position: LogPosition): StoredBatch | undefined {
    if (position >= this.next) return undefined;
    let low = 0;
    let high = this.#batches.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#batches[middle]!.first <= position) low = middle + 1;
      else high = middle;
    }
    return this.#batches[low - 1];
  }

  #put(position: LogPosition, bytes: Uint8Array | undefined): void {
    const batch = this.#batchOf(position);
    assert(batch !== undefined, 'a record is changed that was never there');
    const records = batch.shared ? batch.records.slice() : (batch.records as (Uint8Array | undefined)[]);
    records[position - batch.first] = bytes;
    batch.records = records;
    batch.shared = false;
  }

  missing(position: LogPosition): StorageCorruptError {
    return new StorageCorruptError(`record ${position} is missing`, this.name);
  }
}
