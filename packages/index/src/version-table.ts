import {
  type VersionMeta,
  assert,
  type LeaseId,
  leaseId,
  type LogPosition,
  NO_LEASE,
  type Revision,
} from '@engram/core';
import { NO_VERSION, type VersionSlot } from './version-slot.ts';

const CHUNK_BITS = 14;
const CHUNK_ROWS = 1 << CHUNK_BITS;
const ROW_MASK = CHUNK_ROWS - 1;

// A row has all fields of a version in 56 bytes. Versions are read in no order. A row takes one or two cache lines;
// columns would cost a cache miss for each field.
const ROW_DOUBLES = 7;
const ROW_WORDS = 14;
// Indexes of doubles.
const MOD = 0;
const CREATE = 1;
const VERSION = 2;
const POSITION = 3;
// Indexes of 32-bit words, after the doubles.
const LEASE = 8; // and 9. A tombstone has no lease; its first word is the version that superseded it.
const SUB = 10; // twice the sub, plus 1 for a tombstone
const BYTES = 11;
const PREVIOUS = 12; // in a free row: the next free row
const KEY = 13;

const PASSED_MASK = 0x3fff_ffff;

const leaseBits = new BigInt64Array(1);
const leaseWords = new Int32Array(leaseBits.buffer);

/**
 * The rows of all versions, outside the JavaScript heap. They are in chunks, so that the table grows without copying. A
 * version refers to the version that it superseded. Only a tombstone also refers to its superseder, because compaction
 * drops tombstones from the middle of a chain.
 */
export class VersionTable {
  readonly #doubles: Float64Array[] = [];
  readonly #words: Int32Array[] = [];
  #free: VersionSlot = NO_VERSION;
  #rows = 0;
  #held = 0;
  #bytes = 0;
  /** Versions that `at` has passed since the caller set this to 0. A small integer, which takes no memory of its own. */
  passed = 0;

  /** Versions held. */
  get held(): number {
    return this.#held;
  }

  /** Sum of `bytes` of the versions held. */
  get bytesHeld(): number {
    return this.#bytes;
  }

  get memoryBytes(): number {
    return this.#doubles.length * CHUNK_ROWS * ROW_DOUBLES * 8;
  }

  /** Does not touch the previous version. If that is a tombstone, the caller must call `setNext`. */
  add(key: number, previous: VersionSlot, meta: VersionMeta): VersionSlot {
    assert(meta.bytes >= 0 && meta.bytes < 2 ** 32, 'version bytes out of bounds');
    assert(meta.sub >= 0 && meta.sub < 2 ** 31, 'version sub out of bounds');
    assert(!meta.tombstone || meta.lease === NO_LEASE, 'a tombstone with a lease');
    const slot = this.#allocate();
    const doubles = this.#doubles[slot >>> CHUNK_BITS]!;
    const words = this.#words[slot >>> CHUNK_BITS]!;
    const double = (slot & ROW_MASK) * ROW_DOUBLES;
    const word = (slot & ROW_MASK) * ROW_WORDS;
    doubles[double + MOD] = meta.modRevision;
    doubles[double + CREATE] = meta.createRevision;
    doubles[double + VERSION] = meta.version;
    doubles[double + POSITION] = meta.position;
    if (meta.tombstone) {
      words[word + LEASE] = NO_VERSION;
      words[word + LEASE + 1] = 0;
    } else if (meta.lease === NO_LEASE) {
      words[word + LEASE] = 0;
      words[word + LEASE + 1] = 0;
    } else {
      leaseBits[0] = meta.lease;
      words[word + LEASE] = leaseWords[0]!;
      words[word + LEASE + 1] = leaseWords[1]!;
    }
    words[word + SUB] = (meta.sub << 1) | (meta.tombstone ? 1 : 0);
    words[word + BYTES] = meta.bytes;
    words[word + PREVIOUS] = previous;
    words[word + KEY] = key;
    this.#held += 1;
    this.#bytes += meta.bytes;
    return slot;
  }

  /** Frees the row for reuse. The caller must remove the references to it. */
  drop(slot: VersionSlot): void {
    this.#bytes -= this.bytes(slot);
    this.#held -= 1;
    this.setPrevious(slot, this.#free);
    this.#free = slot;
  }

  mod(slot: VersionSlot): Revision {
    return this.#doubles[slot >>> CHUNK_BITS]![(slot & ROW_MASK) * ROW_DOUBLES + MOD] as Revision;
  }

  create(slot: VersionSlot): Revision {
    return this.#doubles[slot >>> CHUNK_BITS]![(slot & ROW_MASK) * ROW_DOUBLES + CREATE] as Revision;
  }

  version(slot: VersionSlot): number {
    return this.#doubles[slot >>> CHUNK_BITS]![(slot & ROW_MASK) * ROW_DOUBLES + VERSION]!;
  }

  position(slot: VersionSlot): LogPosition {
    return this.#doubles[slot >>> CHUNK_BITS]![(slot & ROW_MASK) * ROW_DOUBLES + POSITION] as LogPosition;
  }

  hasLease(slot: VersionSlot): boolean {
    const words = this.#words[slot >>> CHUNK_BITS]!;
    const word = (slot & ROW_MASK) * ROW_WORDS;
    return (words[word + SUB]! & 1) === 0 && (words[word + LEASE]! | words[word + LEASE + 1]!) !== 0;
  }

  lease(slot: VersionSlot): LeaseId {
    if (!this.hasLease(slot)) return NO_LEASE;
    const words = this.#words[slot >>> CHUNK_BITS]!;
    const word = (slot & ROW_MASK) * ROW_WORDS;
    leaseWords[0] = words[word + LEASE]!;
    leaseWords[1] = words[word + LEASE + 1]!;
    return leaseId(leaseBits[0]!);
  }

  sub(slot: VersionSlot): number {
    return this.#words[slot >>> CHUNK_BITS]![(slot & ROW_MASK) * ROW_WORDS + SUB]! >>> 1;
  }

  isTombstone(slot: VersionSlot): boolean {
    return (this.#words[slot >>> CHUNK_BITS]![(slot & ROW_MASK) * ROW_WORDS + SUB]! & 1) === 1;
  }

  bytes(slot: VersionSlot): number {
    return this.#words[slot >>> CHUNK_BITS]![(slot & ROW_MASK) * ROW_WORDS + BYTES]! >>> 0;
  }

  previous(slot: VersionSlot): VersionSlot {
    return this.#words[slot >>> CHUNK_BITS]![(slot & ROW_MASK) * ROW_WORDS + PREVIOUS]!;
  }

  setPrevious(slot: VersionSlot, previous: VersionSlot): void {
    this.#words[slot >>> CHUNK_BITS]![(slot & ROW_MASK) * ROW_WORDS + PREVIOUS] = previous;
  }

  /** The version that superseded this tombstone. */
  next(tombstone: VersionSlot): VersionSlot {
    return this.#words[tombstone >>> CHUNK_BITS]![(tombstone & ROW_MASK) * ROW_WORDS + LEASE]!;
  }

  setNext(tombstone: VersionSlot, next: VersionSlot): void {
    this.#words[tombstone >>> CHUNK_BITS]![(tombstone & ROW_MASK) * ROW_WORDS + LEASE] = next;
  }

  /** Writes the positions of these versions to `into`, from index `from` on. Returns the sum of their `bytes`. */
  places(slots: readonly VersionSlot[], into: LogPosition[], from: number): number {
    const doubles = this.#doubles;
    const words = this.#words;
    let bytes = 0;
    for (let at = 0; at < slots.length; at += 1) {
      const slot = slots[at]!;
      const chunk = slot >>> CHUNK_BITS;
      const row = slot & ROW_MASK;
      into[from + at] = doubles[chunk]![row * ROW_DOUBLES + POSITION] as LogPosition;
      bytes += words[chunk]![row * ROW_WORDS + BYTES]! >>> 0;
    }
    return bytes;
  }

  /** Like `places`, with the `bytes` of each version in `lengths`. */
  placesOf(slots: readonly VersionSlot[], positions: Float64Array, lengths: Uint32Array, from: number): number {
    let bytes = 0;
    for (let at = 0; at < slots.length; at += 1) {
      const slot = slots[at]!;
      const chunk = slot >>> CHUNK_BITS;
      const row = slot & ROW_MASK;
      const length = this.#words[chunk]![row * ROW_WORDS + BYTES]! >>> 0;
      positions[from + at] = this.#doubles[chunk]![row * ROW_DOUBLES + POSITION]!;
      lengths[from + at] = length;
      bytes += length;
    }
    return bytes;
  }

  /** The place of the version's key in the slabs. */
  key(slot: VersionSlot): number {
    return this.#words[slot >>> CHUNK_BITS]![(slot & ROW_MASK) * ROW_WORDS + KEY]!;
  }

  /** The newest version of a chain with mod <= revision, tombstones included; `from` may be NO_VERSION. */
  at(from: VersionSlot, revision: Revision): VersionSlot {
    let slot = from;
    let passed = 0;
    while (slot !== NO_VERSION && this.mod(slot) > revision) {
      slot = this.previous(slot);
      passed += 1;
    }
    if (passed > 0) this.passed = (this.passed + passed) & PASSED_MASK;
    return slot;
  }

  #allocate(): VersionSlot {
    const reused = this.#free;
    if (reused !== NO_VERSION) {
      this.#free = this.previous(reused);
      return reused;
    }
    const slot = this.#rows;
    if (slot >>> CHUNK_BITS === this.#doubles.length) {
      assert(slot < 2 ** 31 - CHUNK_ROWS, 'more versions than slots');
      const chunk = new ArrayBuffer(CHUNK_ROWS * ROW_DOUBLES * 8);
      this.#doubles.push(new Float64Array(chunk));
      this.#words.push(new Int32Array(chunk));
    }
    this.#rows = slot + 1;
    return slot;
  }
}
