import { assert, type ByteViews, type LogPosition } from '@engram/core';

/** An offset in a slab has 16 bits. */
export const SLAB_BYTES_MAX = 64 * 1024;
/**
 * The share of a slab that a copy may take. A longer copy gets a slab of its own, because it would waste too much of
 * the end of a shared one.
 */
const SHARED_PART_MAX = 1 / 16;
const SLABS_MAX = 2 ** 16;
const ROWS_MIN = 16;
/**
 * A row is four words, a quarter of a cache line: low and high word of the position, the place (slab and offset), the
 * length.
 */
const ROW_WORDS = 4;
/** The number of rows in a cache line. */
const LINE_ROWS = 4;
const LINE_SHIFT = 2;
/**
 * After a table has grown, each new entry moves this many old rows. All of them are moved before the table must grow
 * again.
 */
const ROWS_MOVED = 8;
/** Marks a row as used, beside the high word of its position, which has 21 bits. */
const USED = 1 << 30;

/**
 * Bytes by log position, outside the JavaScript heap. The bytes are in slabs; an open-addressed table says where in
 * them each version is. A map of views costs ten times as much for each version, in objects that the collector visits
 * again and again, and took a fifth of the CPU of a read. Entries are never removed one by one: a table is dropped as a
 * whole.
 */
export class ByteTable {
  readonly #slabBytes: number;
  readonly #slabs: ArrayBufferLike[] = [];
  #rows: Int32Array;
  /** The number of rows - 1, and how far a hash is shifted right to select a line of rows. */
  #mask: number;
  #shift: number;
  /**
   * The rows from before the table grew. Undefined once all of them are in `#rows`. No rows are added here or removed.
   */
  #before: Int32Array | undefined;
  /**
   * The words of `#before` whose rows have been moved in order. Some later rows have been moved too, because they were
   * looked up.
   */
  #moved = 0;
  #used = 0;
  #heldBytes = 0;
  /** The slab that copies are written to, and where its free end begins. */
  #open = new Uint8Array(0);
  #openIndex = -1;
  #openAt = 0;

  /** Copies share slabs of `slabBytes`, at most SLAB_BYTES_MAX. `rowsExpected` avoids growing. */
  constructor(slabBytes: number, rowsExpected = 0) {
    assert(slabBytes <= SLAB_BYTES_MAX, 'a slab in which an offset has more than 16 bits');
    this.#slabBytes = slabBytes;
    const rows = 2 ** Math.ceil(Math.log2(Math.max(ROWS_MIN, 2 * rowsExpected)));
    this.#rows = new Int32Array(rows * ROW_WORDS);
    this.#mask = rows - 1;
    this.#shift = 32 - Math.log2(rows / LINE_ROWS);
  }

  /** The bytes of all slabs and of the table. */
  get bytes(): number {
    return this.#heldBytes + this.#rows.byteLength + (this.#before?.byteLength ?? 0);
  }

  get size(): number {
    return this.#used;
  }

  /** No more entries can be added. */
  get full(): boolean {
    return this.#slabs.length >= SLABS_MAX - 1;
  }

  has(position: LogPosition): boolean {
    return this.#rows[this.#find(position) + 1] !== 0;
  }

  /** A shared view, which the caller must not change. It keeps its slab alive. */
  get(position: LogPosition): Uint8Array | undefined {
    const row = this.#find(position);
    if (this.#rows[row + 1] === 0) return undefined;
    const place = this.#rows[row + 2]!;
    return new Uint8Array(this.#slabs[place >>> 16]!, place & 0xffff, this.#rows[row + 3]!);
  }

  /** Puts the view into `into` at `index`. False if the table does not have the position. */
  locate(position: LogPosition, into: ByteViews, index: number): boolean {
    const row = this.#find(position);
    if (this.#rows[row + 1] === 0) return false;
    const place = this.#rows[row + 2]!;
    into.set(index, this.#slabs[place >>> 16]!, place & 0xffff, this.#rows[row + 3]!);
    return true;
  }

  /** Adds a copy of the bytes. The position must be new. */
  copy(position: LogPosition, bytes: Uint8Array): void {
    const { length } = bytes;
    if (length > this.#slabBytes * SHARED_PART_MAX) {
      this.#insert(position, this.#addSlab(bytes.slice().buffer), 0, length);
      return;
    }
    this.#openFor(length);
    this.#open.set(bytes, this.#openAt);
    this.#insert(position, this.#openIndex, this.#openAt, length);
    // Copying is fastest from and to multiples of 8.
    this.#openAt = (this.#openAt + length + 7) & ~7;
  }

  /**
   * Moves the bytes of a position behind those that were copied last. Their old place stays in use until the table is
   * dropped. Does nothing for a position that is not there, or whose bytes have a slab of their own.
   */
  move(position: LogPosition): void {
    const row = this.#find(position);
    if (this.#rows[row + 1] === 0) return;
    const length = this.#rows[row + 3]!;
    if (length > this.#slabBytes * SHARED_PART_MAX) return;
    const place = this.#rows[row + 2]!;
    const bytes = new Uint8Array(this.#slabs[place >>> 16]!, place & 0xffff, length);
    this.#openFor(length);
    this.#open.set(bytes, this.#openAt);
    this.#rows[row + 2] = (this.#openIndex << 16) | this.#openAt;
    this.#openAt = (this.#openAt + length + 7) & ~7;
  }

  #openFor(length: number): void {
    if (this.#open.length - this.#openAt > length) return;
    this.#open = new Uint8Array(Buffer.allocUnsafeSlow(this.#slabBytes).buffer);
    this.#openIndex = this.#addSlab(this.#open.buffer);
    this.#openAt = 0;
  }

  #addSlab(slab: ArrayBufferLike): number {
    assert(this.#slabs.length < SLABS_MAX, 'a byte table has more slabs than it can name');
    this.#heldBytes += slab.byteLength;
    return this.#slabs.push(slab) - 1;
  }

  #insert(position: LogPosition, slab: number, offset: number, length: number): void {
    if (2 * (this.#used + 1) > this.#mask + 1) this.#grow();
    const row = this.#find(position);
    assert(this.#rows[row + 1] === 0, 'a position has bytes already');
    this.#rows[row] = position | 0;
    this.#rows[row + 1] = highWord(position);
    this.#rows[row + 2] = (slab << 16) | offset;
    this.#rows[row + 3] = length;
    this.#used += 1;
    if (this.#before !== undefined) this.#moveSome(this.#before);
  }

  /** The first word of the position's row, or of the free row that it would take. */
  #find(position: LogPosition): number {
    const rows = this.#rows;
    const low = position | 0;
    const high = highWord(position);
    // `probe`, inlined: a call costs a tenth of a read.
    let row = rowOf(low, this.#shift);
    for (;;) {
      const at = row * ROW_WORDS;
      const used = rows[at + 1]!;
      if (used === high && rows[at]! === low) return at;
      if (used === 0) return this.#before === undefined ? at : this.#bring(this.#before, low, high, at);
      row = (row + 1) & this.#mask;
    }
  }

  /** Moves the row of a position from `before` to the free row at `at`, if `before` has it. */
  #bring(before: Int32Array, low: number, high: number, at: number): number {
    const from = probe(before, this.#mask >> 1, this.#shift + 1, low, high);
    if (before[from + 1] !== 0) copyRow(before, from, this.#rows, at);
    return at;
  }

  /** Doubles the table. Its rows are moved later: moving them at once took 36 ms for 500,000 rows. */
  #grow(): void {
    assert(this.#before === undefined, 'a table that grows before it has grown');
    const old = this.#rows;
    this.#rows = new Int32Array(old.length * 2);
    this.#mask = (old.length / ROW_WORDS) * 2 - 1;
    this.#shift -= 1;
    this.#before = old;
    this.#moved = 0;
  }

  #moveSome(before: Int32Array): void {
    const end = this.#moved + ROWS_MOVED * ROW_WORDS;
    for (let from = this.#moved; from < end; from += ROW_WORDS) {
      const high = before[from + 1]!;
      if (high === 0) continue;
      const at = probe(this.#rows, this.#mask, this.#shift, before[from]!, high);
      if (this.#rows[at + 1] === 0) copyRow(before, from, this.#rows, at);
    }
    this.#moved = end;
    if (end === before.length) this.#before = undefined;
  }
}

/** The first word of the row of a position, or of the free row where the search for it ends. */
function probe(rows: Int32Array, mask: number, shift: number, low: number, high: number): number {
  let row = rowOf(low, shift);
  for (;;) {
    const at = row * ROW_WORDS;
    const used = rows[at + 1]!;
    if (used === 0 || (used === high && rows[at]! === low)) return at;
    row = (row + 1) & mask;
  }
}

/**
 * Fibonacci hashing, of groups of four positions that share a cache line. Positions are dense, and two dense ranges
 * must not collide. Versions that are listed together were mostly written together, and a list waits for cache lines,
 * not for computation.
 */
function rowOf(low: number, shift: number): number {
  return ((Math.imul(low >>> LINE_SHIFT, 0x9e3779b1) >>> shift) << LINE_SHIFT) | (low & (LINE_ROWS - 1));
}

function copyRow(from: Int32Array, fromAt: number, to: Int32Array, toAt: number): void {
  for (let word = 0; word < ROW_WORDS; word += 1) to[toAt + word] = from[fromAt + word]!;
}

const highWord = (position: LogPosition): number =>
  position <= 0xffff_ffff ? USED : USED + Math.floor(position / 2 ** 32);
