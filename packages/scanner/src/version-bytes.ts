import { recordKv } from '@engram/coder';
import { assert, type ByteViews, EngramError, type LogPosition } from '@engram/core';
import { type Job, settled, type Turn, unhurried } from '@engram/loop';
import { StorageClosedError, StorageTrimmedError, StorageUnavailableError, type Values } from '@engram/storage';
import type { RecordCache } from './record-cache.ts';

/** The share of the cache's bound that one read may add. */
const KEPT_PART_MAX = 1 / 8;
/** Reads of more versions do not block the process: together they cost less, as neighbours. */
const INLINE_MAX = 4;

/** Versions of a shorter list are not put next to each other. */
const GATHER_MIN = 64;
/** A version that was read is copied into the cache: some microseconds. */
const STEPS_EACH = 4;
/** The cache aligns versions to 8 bytes. */
const ALIGNED_GAP_MAX = 7;

/** The encoded mvccpb.KeyValue of versions, from memory if they are there, otherwise from storage. */
export class VersionBytes {
  readonly #cache: RecordCache;
  readonly #values: Values;

  constructor(cache: RecordCache, values: Values) {
    this.#cache = cache;
    this.#values = values;
  }

  /** Undefined if the version is not available without waiting. */
  peek(position: LogPosition): Uint8Array | undefined {
    return this.#cache.get(position) ?? this.#peekStorage(position, true);
  }

  /** As `peek`, for a version that is read for the last time: it is not added to the cache. */
  peekLast(position: LogPosition): Uint8Array | undefined {
    const kv = this.#cache.get(position);
    if (kv !== undefined) return kv;
    const record = this.#values.peek(position, true);
    return record && recordKv(record);
  }

  #peekStorage(position: LogPosition, inline: boolean): Uint8Array | undefined {
    const record = this.#values.peek(position, inline);
    if (record === undefined) return undefined;
    const kv = recordKv(record);
    this.#cache.add(position, kv);
    return kv;
  }

  /** The versions at all positions, in their order: few. Synchronous if all are available without waiting. */
  getMany(
    positions: readonly LogPosition[],
    signal: AbortSignal,
  ): readonly Uint8Array[] | Promise<readonly Uint8Array[]> {
    const job = this.many(positions, unhurried, signal);
    const { done, value } = job.next();
    if (done === true) return value;
    // Unhurried, it yields its read alone.
    return Promise.resolve(value).then(() => {
      const end = job.next();
      assert(end.done === true, 'a job that is not hurried yields behind its read');
      return end.value;
    });
  }

  /** As `getMany`, for many: gives way to others, also behind a read. */
  *many(positions: readonly LogPosition[], turn: Turn, signal: AbortSignal): Job<readonly Uint8Array[]> {
    const kvs = new Array<Uint8Array>(positions.length);
    const inline = positions.length <= INLINE_MAX;
    let missing: number[] | undefined;
    for (let at = 0; at < positions.length; at += 1) {
      const kv = this.#cache.get(positions[at]!) ?? this.#peekStorage(positions[at]!, inline);
      if (kv !== undefined) kvs[at] = kv;
      else if (missing === undefined) missing = [at];
      else missing.push(at);
      if (turn.shouldYield()) yield;
    }
    if (missing === undefined) return kvs;
    const wanted = missing.map((at) => positions[at]!);
    const set = (at: number, kv: Uint8Array): void => {
      kvs[at] = kv;
    };
    yield* this.#load(wanted, missing, set, turn, signal);
    return kvs;
  }

  /**
   * As `many`, but appends the versions to `into`. A Float64Array holds the positions of a long list without an object for each. The
   * job reads `positions` until it ends.
   */
  *collect(positions: Float64Array, into: ByteViews, turn: Turn, signal: AbortSignal): Job<void> {
    const first = into.extend(positions.length);
    const inline = positions.length <= INLINE_MAX;
    let missing: number[] | undefined;
    for (let at = 0; at < positions.length; at += 1) {
      const position = positions[at] as LogPosition;
      if (!this.#cache.locate(position, into, first + at)) {
        const kv = this.#peekStorage(position, inline);
        if (kv !== undefined) into.setView(first + at, kv);
        else if (missing === undefined) missing = [at];
        else missing.push(at);
      }
      if (turn.shouldYield()) yield;
    }
    if (missing === undefined) {
      this.#gather(positions, into, first);
      return;
    }
    const wanted = missing.map((at) => positions[at] as LogPosition);
    yield* this.#load(wanted, missing, (at, kv) => into.setView(first + at, kv), turn, signal);
  }

  /**
   * Versions that were read one by one lie in the order of those reads. A list that meets them so waits for memory at
   * each. The next list of these keys finds them in a row.
   */
  #gather(positions: Float64Array, listed: ByteViews, first: number): void {
    const { length } = positions;
    if (length < GATHER_MIN || listed.breaks(first, first + length, ALIGNED_GAP_MAX) * 2 < length) return;
    this.#cache.gather(positions);
  }

  /**
   * The versions at all positions, in their order. They must be durable. Bypasses the cache: neither looks them up in
   * it nor adds them.
   */
  async passing(positions: readonly LogPosition[], signal: AbortSignal): Promise<readonly Uint8Array[]> {
    const records = await this.#records(positions, signal);
    return records.map(recordKv);
  }

  /**
   * Rejects with Timeout if a version is gone with its log. This member was silent for so long then that the others
   * stopped waiting for it: it has yet to apply the compaction that removed the version. The caller must ask again, or
   * ask another member. Not Compacted, which would say of the newest revision that it is gone, and of a write whose
   * answer needs the version that it was not done. Rejects with Timeout too
   * where storage has not answered in its time, and with Stopped if the storage is closed: the node stops.
   */
  async #records(positions: readonly LogPosition[], signal: AbortSignal): Promise<readonly Uint8Array[]> {
    try {
      return await this.#values.getMany(positions, signal);
    } catch (error) {
      if (error instanceof StorageTrimmedError || error instanceof StorageUnavailableError)
        throw new EngramError('Timeout', { cause: error });
      if (error instanceof StorageClosedError) throw new EngramError('Stopped', { cause: error });
      throw error;
    }
  }

  /** Calls `set` for each wanted version, with its index among all versions. */
  *#load(
    wanted: readonly LogPosition[],
    places: readonly number[],
    set: (at: number, kv: Uint8Array) => void,
    turn: Turn,
    signal: AbortSignal,
  ): Job<void> {
    const records = yield* settled(this.#records(wanted, signal));
    const keeps = this.#keeps(records);
    for (let at = 0; at < wanted.length; at += 1) {
      set(places[at]!, this.#take(wanted[at]!, records[at]!, keeps));
      if (turn.shouldYield(STEPS_EACH)) yield;
    }
  }

  /**
   * A client that lists will list again, especially when many clients restart. But a list that is a large part of the cache
   * would only displace the hot versions.
   */
  #keeps(records: readonly Uint8Array[]): boolean {
    let bytes = 0;
    for (const { length } of records) bytes += length;
    return bytes <= this.#cache.bytesMax * KEPT_PART_MAX;
  }

  #take(position: LogPosition, record: Uint8Array, keeps: boolean): Uint8Array {
    const kv = recordKv(record);
    if (keeps) this.#cache.add(position, kv);
    return kv;
  }
}
