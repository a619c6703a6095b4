import { recordKv } from '@engram/coder';
import { type ByteViews, EngramError, type LogPosition } from '@engram/core';
import { StorageTrimmedError, type Values } from '@engram/storage';
import type { RecordCache } from './record-cache.ts';

/** Of the cache's bound: what one read may bring in. */
const KEPT_PART_MAX = 1 / 8;

/** The encoded mvccpb.KeyValue of versions: from memory where they are, from storage where not. */
export class VersionBytes {
  readonly #cache: RecordCache;
  readonly #values: Values;

  constructor(cache: RecordCache, values: Values) {
    this.#cache = cache;
    this.#values = values;
  }

  /** Without waiting, or undefined. */
  peek(position: LogPosition): Uint8Array | undefined {
    return this.#cache.get(position) ?? this.#peekStorage(position);
  }

  #peekStorage(position: LogPosition): Uint8Array | undefined {
    const record = this.#values.peek(position);
    if (record === undefined) return undefined;
    const kv = recordKv(record);
    this.#cache.add(position, kv);
    return kv;
  }

  /** All of them in their order; synchronous when none has to be waited for. */
  getMany(
    positions: readonly LogPosition[],
    signal: AbortSignal,
  ): readonly Uint8Array[] | Promise<readonly Uint8Array[]> {
    const kvs = new Array<Uint8Array>(positions.length);
    let missing: number[] | undefined;
    for (let at = 0; at < positions.length; at += 1) {
      const kv = this.peek(positions[at]!);
      if (kv !== undefined) kvs[at] = kv;
      else if (missing === undefined) missing = [at];
      else missing.push(at);
    }
    if (missing === undefined) return kvs;
    const take = (at: number, kv: Uint8Array): void => {
      kvs[at] = kv;
    };
    const wanted = missing.map((at) => positions[at]!);
    return this.#load(wanted, missing, take, signal).then(() => kvs);
  }

  /**
   * As `getMany`, behind what `into` holds. The promise resolves when all are there. `positions` are those of long lists: in
   * such an array they are no objects, whatever they are above. It is not read any more once this has returned.
   */
  collect(positions: Float64Array, into: ByteViews, signal: AbortSignal): Promise<void> | undefined {
    const first = into.extend(positions.length);
    let missing: number[] | undefined;
    for (let at = 0; at < positions.length; at += 1) {
      const position = positions[at] as LogPosition;
      if (this.#cache.locate(position, into, first + at)) continue;
      const kv = this.#peekStorage(position);
      if (kv !== undefined) into.setView(first + at, kv);
      else if (missing === undefined) missing = [at];
      else missing.push(at);
    }
    if (missing === undefined) return undefined;
    const wanted = missing.map((at) => positions[at] as LogPosition);
    return this.#load(wanted, missing, (at, kv) => into.setView(first + at, kv), signal);
  }

  /** All of them in their order, durable ones only, around the cache: neither looked for in it nor put there. */
  async passing(positions: readonly LogPosition[], signal: AbortSignal): Promise<readonly Uint8Array[]> {
    const records = await this.#records(positions, signal);
    return records.map(recordKv);
  }

  /** Compacted: this node still lists a version that its cluster has compacted, and has deleted with its log since. */
  async #records(positions: readonly LogPosition[], signal: AbortSignal): Promise<readonly Uint8Array[]> {
    try {
      return await this.#values.getMany(positions, signal);
    } catch (error) {
      if (error instanceof StorageTrimmedError) throw new EngramError('Compacted', { cause: error });
      throw error;
    }
  }

  /** `take` is called for each that is wanted, with its place among all. */
  async #load(
    wanted: readonly LogPosition[],
    places: readonly number[],
    take: (at: number, kv: Uint8Array) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const records = await this.#records(wanted, signal);
    // Who lists will list again, all the more after a restart of many clients; a list that is a large part of the
    // cache would only push the hot versions out.
    let bytes = 0;
    for (const { length } of records) bytes += length;
    const keep = bytes <= this.#cache.bytesMax * KEPT_PART_MAX;
    for (let at = 0; at < wanted.length; at += 1) {
      const kv = recordKv(records[at]!);
      if (keep) this.#cache.add(wanted[at]!, kv);
      take(places[at]!, kv);
    }
  }
}
