import { assert, type LogPosition, logPosition, Mutex, type Seal, sameSeal } from '@engram/core';
import {
  type AcknowledgedMark,
  type AppendOutcome,
  isFenced,
  type Log,
  type LogBatch,
  type StorageCorruptError,
  StorageFailedError,
  sameBatch,
  takesOver,
  endOf,
} from '@engram/storage';
import type { Database, Writes } from './database.ts';
import {
  RECORD_HEADER_BYTES,
  RECORD_KEY_BYTES,
  readRecordEntry,
  recordKey,
  writeRecordHeader,
  writeRecordKey,
} from './record-entry.ts';
import type { StateFile } from './state-file.ts';
import type { Usage } from './usage.ts';

// The most that a read holds in memory besides the batch that it assembles.
const READ_AHEAD_BYTES = 1 << 20;
const READ_AHEAD_RECORDS = 1000;

const never = new AbortController().signal;

export interface LevelLogParts {
  readonly database: Database;
  readonly stateFile: StateFile;
  readonly mark: AcknowledgedMark;
  readonly usage: Usage;
}

export class LevelLog implements Log {
  readonly #parts: LevelLogParts;
  readonly #database: Database;
  #next: LogPosition;
  /** The seal of the last append; undefined before the first one since opening. */
  #lastSeal: Seal | undefined;
  #appending = false;
  /** Appends and seals take turns. */
  readonly #mutex = new Mutex();

  /** `next` is the position that the next append takes. */
  constructor(parts: LevelLogParts, next: LogPosition) {
    this.#parts = parts;
    this.#database = parts.database;
    this.#next = next;
  }

  /** The position that the next append takes. */
  get next(): LogPosition {
    return this.#next;
  }

  append(batch: LogBatch, seal: Seal): Promise<AppendOutcome> {
    return this.#database.lifetime.run(async () => {
      assert(!this.#appending, 'two appends at a time');
      assert(batch.records.length > 0, 'an empty batch');
      this.#appending = true;
      try {
        return await this.#mutex.run(() => this.#append(batch, seal));
      } finally {
        this.#appending = false;
      }
    });
  }

  read(from: LogPosition, signal: AbortSignal): AsyncIterable<LogBatch> {
    this.#database.lifetime.check();
    this.#database.check();
    assert(from >= 1, 'the log begins at position 1');
    return this.#read(from, this.#next, signal);
  }

  seal(seal: Seal): Promise<LogPosition> {
    return this.#database.lifetime.run(() =>
      this.#mutex.run(async () => {
        this.#database.check();
        const { stateFile, mark } = this.#parts;
        const held = this.#sealed;
        if (takesOver(held, seal, 'the log')) {
          await stateFile.update({ sealed: seal });
          this.#lastSeal ??= held;
          mark.advance({ sealed: seal.epoch });
        }
        return this.#next;
      }),
    );
  }

  heldBy(seal: Seal, signal: AbortSignal): Promise<boolean> {
    return this.#database.lifetime.run(async () => {
      signal.throwIfAborted();
      this.#database.check();
      return sameSeal(this.#sealed, seal);
    });
  }

  get #sealed(): Seal {
    return this.#parts.stateFile.state.sealed;
  }

  async #append(batch: LogBatch, seal: Seal): Promise<AppendOutcome> {
    this.#database.check();
    const fenced = isFenced(this.#sealed, seal);
    if (await this.#endsLog(batch, seal)) return { kind: 'committed' };
    if (fenced) return { kind: 'fenced' };
    assert(batch.first === this.#next, 'a batch that does not begin at the end of the log');
    let bytes = 0;
    try {
      await this.#database.write((writes) => {
        bytes = putRecords(writes, batch);
      }, true);
    } catch (cause) {
      if (cause instanceof StorageFailedError) return { kind: 'uncertain', cause };
      throw cause;
    }
    this.#next = endOf(batch);
    this.#lastSeal = seal;
    this.#parts.usage.appended(batch.records.length, bytes);
    this.#parts.mark.advance({ end: this.#next });
    return { kind: 'committed' };
  }

  /** Whether the last append was this batch with this seal. */
  async #endsLog(batch: LogBatch, seal: Seal): Promise<boolean> {
    if (endOf(batch) !== this.#next || batch.first < 1) return false;
    if (!sameSeal(this.#lastSeal ?? this.#sealed, seal)) return false;
    for await (const last of this.#read(batch.first, this.#next, never)) return sameBatch(last, batch);
    return false;
  }

  async *#read(from: LogPosition, end: LogPosition, signal: AbortSignal): AsyncGenerator<LogBatch> {
    const { lifetime, level } = this.#database;
    signal.throwIfAborted();
    if (from > end) throw this.#database.corrupt(`the log ends before ${end}, and ${from} is asked for`);
    if (from === end) return;
    const range = { gte: recordKey(from), lt: recordKey(end) };
    // The records are consecutive, so their keys need not be read: each CRC covers its position.
    const iterator = level.values({ ...range, highWaterMarkBytes: READ_AHEAD_BYTES });
    try {
      let position: number = from;
      let records: Uint8Array[] = [];
      while (position < end) {
        signal.throwIfAborted();
        const entries = await lifetime.run(() => this.#database.reading(() => iterator.nextv(READ_AHEAD_RECORDS)));
        if (entries.length === 0) throw await this.#damage(position);
        for (const bytes of entries) {
          const entry = readRecordEntry(bytes, position);
          if (entry === undefined) throw await this.#damage(position);
          records.push(entry.record);
          position += 1;
          if (entry.following > 0) continue;
          const batch = { first: logPosition(position - records.length), records };
          records = [];
          signal.throwIfAborted();
          lifetime.check();
          yield batch;
        }
      }
      if (records.length > 0) throw this.#database.corrupt(`the batch that ends the log at ${end} is not whole`);
    } finally {
      await iterator.close();
    }
  }

  /** Reads the record by its key to tell a missing one from a damaged one. */
  async #damage(position: number): Promise<StorageCorruptError> {
    const { lifetime, level } = this.#database;
    const bytes = await lifetime.run(() => this.#database.reading(() => level.get(recordKey(position))));
    return this.#database.corrupt(`record ${position} is ${bytes === undefined ? 'missing' : 'damaged'}`);
  }
}

/** Builds all entries of a batch in one allocation. Returns their length. */
function putRecords(writes: Writes, batch: LogBatch): number {
  let size = 0;
  for (const record of batch.records) size += RECORD_KEY_BYTES + RECORD_HEADER_BYTES + record.length;
  const bytes = new Uint8Array(Buffer.allocUnsafeSlow(size).buffer);
  let at = 0;
  let position: number = batch.first;
  let following = batch.records.length;
  for (const record of batch.records) {
    following -= 1;
    const header = at + RECORD_KEY_BYTES;
    const start = header + RECORD_HEADER_BYTES;
    const end = start + record.length;
    writeRecordKey(bytes, at, position);
    writeRecordHeader(bytes, header, position, following, record);
    bytes.set(record, start);
    writes.put(bytes.subarray(at, header), bytes.subarray(header, end));
    at = end;
    position += 1;
  }
  return size;
}
