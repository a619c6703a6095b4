import { assert, type LogPosition, logPosition, NEW_LOG_SEAL, type Seal } from '@engram/core';
import type { LogBatch } from './log.ts';
import { StorageCorruptError, StorageOpenError } from './storage-error.ts';

interface StoredRecord {
  readonly bytes: Uint8Array;
  /** How many records of the same batch come after it. */
  readonly following: number;
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
  readonly #records = new Map<LogPosition, StoredRecord>();
  /** Drops become durable with the next append or checkpoint: until then a crash takes them back. */
  #undurableDrops = new Map<LogPosition, StoredRecord>();
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

  append(batch: LogBatch, seal: Seal): void {
    assert(batch.first === this.next, 'a batch that does not begin at the end of the log');
    let position = batch.first;
    let following = batch.records.length;
    for (const bytes of batch.records) {
      following -= 1;
      this.#records.set(position, { bytes, following });
      this.recordBytes += bytes.length;
      position = logPosition(position + 1);
    }
    this.next = position;
    this.last = { batch, seal };
    this.#undurableDrops.clear();
  }

  record(position: LogPosition): Uint8Array | undefined {
    return this.#records.get(position)?.bytes;
  }

  has(position: number): boolean {
    return this.#records.has(logPosition(position));
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
    for (const [position, record] of this.#records) copy.#records.set(position, record);
    for (const [position, record] of this.#undurableDrops) copy.#undurableDrops.set(position, record);
    return copy;
  }

  /** The batch at `from`, or what of it lies behind. */
  batch(from: LogPosition): LogBatch {
    const records: Uint8Array[] = [];
    let position = from;
    for (let following = Number.POSITIVE_INFINITY; following > 0; position = logPosition(position + 1)) {
      const stored = this.#records.get(position);
      if (stored === undefined) throw this.missing(position);
      records.push(stored.bytes);
      following = stored.following;
    }
    return { first: from, records };
  }

  drop(positions: readonly LogPosition[]): void {
    for (const position of positions) {
      const stored = this.#records.get(position);
      if (stored === undefined) continue;
      this.#undurableDrops.set(position, stored);
      this.#records.delete(position);
      this.recordBytes -= stored.bytes.length;
    }
  }

  makeDropsDurable(): void {
    this.#undurableDrops.clear();
  }

  crash(): void {
    for (const [position, stored] of this.#undurableDrops) {
      this.#records.set(position, stored);
      this.recordBytes += stored.bytes.length;
    }
    this.#undurableDrops.clear();
  }

  /** Loses the record, as a failing disk would. */
  damage(position: LogPosition): void {
    assert(this.#records.delete(position), 'damage to a record that is not there');
  }

  missing(position: LogPosition): StorageCorruptError {
    return new StorageCorruptError(`record ${position} is missing`, this.name);
  }
}
