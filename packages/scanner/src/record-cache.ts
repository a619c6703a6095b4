import { assert, type ByteViews, type LogPosition, SequenceRing } from '@engram/core';
import { ByteTable, SLAB_BYTES_MAX } from './byte-table.ts';

/** Of a cache so small that it is only there to be tested. */
const SLAB_BYTES_MIN = 64;
const PENDING_MIN = 1024;

/**
 * Encoded versions by log position, bounded in bytes. Two generations instead of a list of uses: what is read moves to
 * the young one, and when that has grown to half the bound, the old one is dropped whole. No work for each entry, and
 * what was used within the last half bound of traffic is there.
 *
 * Versions that are not durable yet are kept apart and outside the bound: storage cannot give them back. The writer's
 * bound on waiting bytes is theirs.
 */
export class RecordCache {
  readonly #halfBytesMax: number;
  /** They become durable in the order of the log; positions of records that are no versions stay empty. */
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

  /** A view, shared: not to be changed, and to be copied by whoever keeps it. */
  get(position: LogPosition): Uint8Array | undefined {
    const young = this.#young.get(position);
    if (young !== undefined) return young;
    const old = this.#old.get(position);
    if (old === undefined) return this.#pending.get(position);
    this.#makeRoom();
    this.#young.copy(position, old);
    return old;
  }

  /** As `get`, into a place among others. False when it is not here. */
  locate(position: LogPosition, into: ByteViews, index: number): boolean {
    if (this.#young.locate(position, into, index)) return true;
    const kv = this.get(position);
    if (kv !== undefined) into.setView(index, kv);
    return kv !== undefined;
  }

  addPending(position: LogPosition, kv: Uint8Array): void {
    this.#pending.put(position, kv);
  }

  /** A pending version is durable now and may be forgotten. They settle in the order of the log. */
  settle(position: LogPosition): void {
    const kv = this.#pending.get(position);
    if (kv === undefined) return;
    this.#pending.forgetBefore(position + 1);
    if (this.#young.has(position)) return;
    this.#makeRoom();
    this.#young.adopt(position, kv);
  }

  /** What is pending from this position on will never be durable: the position is dealt again. */
  forgetPending(position: LogPosition): void {
    this.#pending.truncate(position);
  }

  /** Keeps a copy. */
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
