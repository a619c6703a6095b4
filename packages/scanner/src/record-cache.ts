import { assert, type ByteViews, type LogPosition, SequenceRing } from '@engram/core';
import { ByteTable, SLAB_BYTES_MAX } from './byte-table.ts';

/** The smallest slab size, for tiny caches in tests. */
const SLAB_BYTES_MIN = 64;
const PENDING_MIN = 1024;

/**
 * Encoded versions by log position, bounded in bytes. The cache has two generations instead of a list of uses. A read
 * moves a version to the young generation. When the young one has grown to half the bound, the old one is dropped as a
 * whole. Eviction takes no work for each entry, and versions used within the last half bound of traffic are present.
 *
 * Versions that are not durable yet are kept apart and outside the bound, because storage cannot return them. The
 * writer bounds their bytes.
 */
export class RecordCache {
  readonly #halfBytesMax: number;
  /**
   * Versions that are not durable yet. They become durable in the order of the log. Positions of records that are not
   * versions stay empty.
   */
  readonly #pending = new SequenceRing<Uint8Array>(PENDING_MIN);
  readonly #slabBytes: number;
  #young: ByteTable;
  #old: ByteTable;

  constructor(bytesMax: number) {
    assert(bytesMax >= 0, 'a cache bound is below 0');
    this.#halfBytesMax = bytesMax / 2;
    this.#slabBytes = Math.max(SLAB_BYTES_MIN, Math.min(SLAB_BYTES_MAX, Math.floor(bytesMax / 16)));
    this.#young = new ByteTable(this.#slabBytes);
    this.#old = new ByteTable(this.#slabBytes);
  }

  get bytes(): number {
    return this.#young.bytes + this.#old.bytes;
  }

  get bytesMax(): number {
    return this.#halfBytesMax * 2;
  }

  /** A shared view. The caller must not change it, and must copy it to keep it. */
  get(position: LogPosition): Uint8Array | undefined {
    const young = this.#young.get(position);
    if (young !== undefined) return young;
    const old = this.#old.get(position);
    if (old === undefined) return this.#pending.get(position);
    this.#makeRoom();
    this.#young.copy(position, old);
    return old;
  }

  /** As `get`, but puts the view into `into` at `index`. False if the version is not in the cache. */
  locate(position: LogPosition, into: ByteViews, index: number): boolean {
    if (this.#young.locate(position, into, index)) return true;
    const kv = this.get(position);
    if (kv !== undefined) into.setView(index, kv);
    return kv !== undefined;
  }

  addPending(position: LogPosition, kv: Uint8Array): void {
    this.#pending.put(position, kv);
  }

  /** The pending version is durable now and may be evicted. Versions settle in the order of the log. */
  settle(position: LogPosition): void {
    const kv = this.#pending.get(position);
    if (kv === undefined) return;
    this.#pending.forgetBefore(position + 1);
    if (this.#young.has(position)) return;
    this.#makeRoom();
    this.#young.adopt(position, kv);
  }

  /** The pending versions from this position on will never be durable: their positions are assigned again. */
  forgetPending(position: LogPosition): void {
    this.#pending.truncate(position);
  }

  /** Adds a copy of `kv`. */
  add(position: LogPosition, kv: Uint8Array): void {
    if (this.#young.has(position)) return;
    this.#makeRoom();
    this.#young.copy(position, kv);
  }

  #makeRoom(): void {
    if (this.#young.bytes <= this.#halfBytesMax && !this.#young.full) return;
    this.#old = this.#young;
    this.#young = new ByteTable(this.#slabBytes, this.#old.size);
  }
}
