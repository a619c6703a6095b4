import { assert } from '@engram/core';

const CHUNK_BITS = 8;
const CHUNK_NODES = 1 << CHUNK_BITS;
const NODE_MASK = CHUNK_NODES - 1;

// A node begins with two words, then its columns.
/** The number of rows. */
export const COUNT = 0;
/** The number of leading bytes that all keys of the node share. */
export const PREFIX = 1;
const HEADER = 2;

const NO_NODE = -1;

/**
 * Nodes of one kind, packed outside the JavaScript heap, in chunks. A row is a print, a newest mod revision (a double),
 * a pair of words (the place of a key, and its head or child), and in inner nodes a count of live keys. The columns are
 * in that order: a search reads the prints, which are next to the header, and then one pair.
 */
export class NodePool {
  /** Offsets of the columns from the node's base, in words; `newest` in doubles. */
  readonly prints: number;
  readonly newest: number;
  readonly pairs: number;
  readonly live: number;
  readonly #withLive: boolean;
  readonly #nodeWords: number;
  readonly #words: Int32Array[] = [];
  readonly #doubles: Float64Array[] = [];
  #free = NO_NODE;
  #made = 0;
  #used = 0;

  constructor(capacity: number, withLive: boolean) {
    assert(capacity % 2 === 0, 'an odd number of rows, and no double is aligned');
    this.prints = HEADER;
    this.newest = (HEADER + capacity) >>> 1;
    this.pairs = HEADER + 3 * capacity;
    this.live = HEADER + 5 * capacity;
    this.#withLive = withLive;
    this.#nodeWords = HEADER + capacity * (withLive ? 6 : 5);
  }

  /** Nodes in use. */
  get used(): number {
    return this.#used;
  }

  get memoryBytes(): number {
    return this.#words.length * CHUNK_NODES * this.#nodeWords * 4;
  }

  /** Returns a node without rows. */
  allocate(): number {
    let node = this.#free;
    if (node !== NO_NODE) {
      this.#free = this.words(node)[this.base(node)]!;
    } else {
      node = this.#made;
      this.#made += 1;
      if (node >>> CHUNK_BITS === this.#words.length) {
        const chunk = new ArrayBuffer(CHUNK_NODES * this.#nodeWords * 4);
        this.#words.push(new Int32Array(chunk));
        this.#doubles.push(new Float64Array(chunk));
      }
    }
    const words = this.words(node);
    const base = this.base(node);
    words[base + COUNT] = 0;
    words[base + PREFIX] = 0;
    this.#used += 1;
    return node;
  }

  free(node: number): void {
    this.words(node)[this.base(node)] = this.#free;
    this.#free = node;
    this.#used -= 1;
  }

  /** The array that contains the node; the node begins at `base`. */
  words(node: number): Int32Array {
    return this.#words[node >>> CHUNK_BITS]!;
  }

  base(node: number): number {
    return (node & NODE_MASK) * this.#nodeWords;
  }

  /** The same memory as doubles. */
  doubles(node: number): Float64Array {
    return this.#doubles[node >>> CHUNK_BITS]!;
  }

  /** The index in `words` of a node's first head or child; the others follow at every second word. */
  headsAt(node: number): number {
    return this.base(node) + this.pairs + 1;
  }

  /** The index in `doubles` of a node's first newest revision. */
  newestAt(node: number): number {
    return (this.base(node) >>> 1) + this.newest;
  }

  count(node: number): number {
    return this.words(node)[this.base(node) + COUNT]!;
  }

  setCount(node: number, count: number): void {
    this.words(node)[this.base(node) + COUNT] = count;
  }

  /**
   * Copies rows with all their columns. The node may be the same, and the rows may overlap. The caller updates the
   * counts.
   */
  move(from: number, fromRow: number, to: number, toRow: number, rows: number): void {
    const source = this.words(from);
    const target = this.words(to);
    const fromBase = this.base(from);
    const toBase = this.base(to);
    copyWords(source, fromBase + this.prints + fromRow, target, toBase + this.prints + toRow, rows);
    const newest = 2 * this.newest;
    copyWords(source, fromBase + newest + 2 * fromRow, target, toBase + newest + 2 * toRow, 2 * rows);
    copyWords(source, fromBase + this.pairs + 2 * fromRow, target, toBase + this.pairs + 2 * toRow, 2 * rows);
    if (this.#withLive) copyWords(source, fromBase + this.live + fromRow, target, toBase + this.live + toRow, rows);
  }
}

/** A loop, because rows are few and a native call costs more than the copy. */
function copyWords(source: Int32Array, from: number, target: Int32Array, to: number, count: number): void {
  if (to > from) for (let at = count - 1; at >= 0; at -= 1) target[to + at] = source[from + at]!;
  else for (let at = 0; at < count; at += 1) target[to + at] = source[from + at]!;
}
