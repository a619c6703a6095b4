import { assert, type LogPosition, logPosition, NEW_LOG_SEAL, type Seal } from '@engram/core';
import type { LogBatch } from './log.ts';
import { StorageCorruptError, StorageOpenError } from './storage-error.ts';

interface StoredBatch {
  readonly first: LogPosition;
  /** The list of who appended it, until one of them is dropped. */
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

/** What survives a crash. One storage at a time works on it. */
export class MemoryDisk {
  readonly name: string;
  sealed: Seal = NEW_LOG_SEAL;
  next: LogPosition = logPosition(1);
  /** What ends the log. */
  last: StoredAppend | undefined;
  /** An append of which nobody knows yet: it arrives before the next one, unless a seal comes first. */
  onItsWay: StoredAppend | undefined;
  checkpoint: StoredCheckpoint | undefined;
  recordBytes = 0;
  readonly #batches: StoredBatch[] = [];
  /** Drops become durable with the next append or checkpoint: until then a crash takes them back. */
  readonly #undurableDrops = new Map<LogPosition, Uint8Array>();
  #holder: object | undefined;

  constructor(name: string) {
    this.name = name;
  }

  /** For this storage alone, until it is released. StorageOpenError: another holds it. */
  hold(holder: object): void {
    if (this.#holder !== undefined && this.#holder !== holder)
      throw new StorageOpenError('locked', `${this.name} is in use: dispose or crash its storage first`);
    this.#holder = holder;
  }

  /** Nothing where it is another's by now. */
  release(holder: object): void {
    if (this.#holder === holder) this.#holder = undefined;
  }

  /** However many records it has, they are not looked at one by one but for their lengths. */
  append(batch: LogBatch, seal: Seal): void {
    assert(batch.first === this.next, 'a batch that does not begin at the end of the log');
    this.#batches.push({ first: batch.first, records: batch.records, shared: true });
    for (const { length } of batch.records) this.recordBytes += length;
    this.next = logPosition(batch.first + batch.records.length);
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

  /** The same bytes, held by nobody. */
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

  /** The batch at `from`, or what of it lies behind. */
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

  /** Undefined before the first one and behind the last. */
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
