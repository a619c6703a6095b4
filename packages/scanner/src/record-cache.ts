import { assert, type ByteViews, type LogPosition, SequenceRing } from '@engram/core';
import { ByteTable, SLAB_BYTES_MAX } from './byte-table.ts';

/** The smallest slab size, for tiny caches in tests. */
const SLAB_BYTES_MIN = 64;
const WRITTEN_MIN = 1024;
/**
 * The bytes of the newest durable versions that are kept without having been read, at most this part of the bound. Their
 * memory is collected with the young generation if it is dropped before it gets old: after about 4 MiB of writes.
 */
const RECENT_BYTES_MAX = 256 << 10;
const RECENT_PART_MAX = 1 / 16;

/**
 * Encoded versions by log position, bounded in bytes.
 *
 * Versions that were read have two generations instead of a list of uses. A read moves a version to the young
 * generation. When the young one has grown to half the bound, the old one is dropped as a whole. Eviction takes no work
 * for each entry, and versions used within the last half bound of reads are present.
 *
 * Versions that were only written are kept while they are the newest. Most are never read, or only by those who read
 * them at once: kept for longer, they were most of the memory of a node that is written to, and garbage of the old
 * generation in the end. A version of a key that was read lately will be read again: the owner adds it.
 *
 * Versions that are not durable yet are outside the bound, because storage cannot return them. The writer bounds their
 * bytes.
 */
export class RecordCache {
  readonly #halfBytesMax: number;
  readonly #recentBytesMax: number;
  /**
   * The newest versions. Those before `#settled` are durable. They become durable in the order of the log. Positions of
   * records that are not versions stay empty.
   */
  readonly #written = new SequenceRing<Uint8Array>(WRITTEN_MIN);
  #settled = 0;
  /** Of the versions in `#written` that are durable. */
  #recentBytes = 0;
  readonly #slabBytes: number;
  #young: ByteTable;
  #old: ByteTable;

  constructor(bytesMax: number) {
    assert(bytesMax >= 0, 'a cache bound is below 0');
    this.#recentBytesMax = Math.min(RECENT_BYTES_MAX, bytesMax * RECENT_PART_MAX);
    this.#halfBytesMax = (bytesMax - this.#recentBytesMax) / 2;
    this.#slabBytes = Math.max(SLAB_BYTES_MIN, Math.min(SLAB_BYTES_MAX, Math.floor(bytesMax / 16)));
    this.#young = new ByteTable(this.#slabBytes);
    this.#old = new ByteTable(this.#slabBytes);
  }

  get bytes(): number {
    return this.#young.bytes + this.#old.bytes + this.#recentBytes;
  }

  get bytesMax(): number {
    return this.#halfBytesMax * 2 + this.#recentBytesMax;
  }

  /** A shared view. The caller must not change it, and must copy it to keep it. */
  get(position: LogPosition): Uint8Array | undefined {
    const young = this.#young.get(position);
    if (young !== undefined) return young;
    const old = this.#old.get(position);
    if (old === undefined) return this.#written.get(position);
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
    this.#written.put(position, kv);
  }

  /** The pending versions up to this one are durable now and may be evicted. */
  settle(position: LogPosition): void {
    const written = this.#written;
    for (let at = Math.max(this.#settled, written.first); at <= position; at += 1) {
      this.#recentBytes += written.get(at)?.length ?? 0;
    }
    if (position >= this.#settled) this.#settled = position + 1;
    while (this.#recentBytes > this.#recentBytesMax) {
      const { first } = written;
      this.#recentBytes -= written.get(first)?.length ?? 0;
      written.forgetBefore(first + 1);
    }
  }

  /** The pending versions from this position on will never be durable: their positions are assigned again. */
  forgetPending(position: LogPosition): void {
    assert(position >= this.#settled, 'a durable version is taken back');
    this.#written.truncate(position);
  }

  /** Whether the version was read lately. */
  hasRead(position: LogPosition): boolean {
    return this.#young.has(position) || this.#old.has(position);
  }

  /** Adds a copy of `kv`. */
  add(position: LogPosition, kv: Uint8Array): void {
    if (this.#young.has(position)) return;
    this.#makeRoom();
    this.#young.copy(position, kv);
  }

  /**
   * Puts versions next to each other, in the order of `positions`. Call it after all were read. The views that were given
   * out keep their bytes.
   */
  gather(positions: Float64Array): void {
    for (let at = 0; at < positions.length; at += 1) {
      this.#makeRoom();
      this.#young.move(positions[at] as LogPosition);
    }
  }

  #makeRoom(): void {
    if (this.#young.bytes <= this.#halfBytesMax && !this.#young.full) return;
    this.#old = this.#young;
    this.#young = new ByteTable(this.#slabBytes, this.#old.size);
  }
}
