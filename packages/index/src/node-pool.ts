const CHUNK_BITS = 8;
const CHUNK_NODES = 1 << CHUNK_BITS;
const NODE_MASK = CHUNK_NODES - 1;

/** Words of a node: how many rows, how many leading bytes all its keys share, then its columns of `capacity` words. */
export const COUNT = 0;
export const PREFIX = 1;
export const HEADER = 2;

const NO_NODE = -1;

/**
 * Nodes of one kind, packed outside the JavaScript heap, in chunks. All columns are 32-bit words; the last may be one
 * of doubles.
 */
export class NodePool {
  readonly #capacity: number;
  readonly #columns: number;
  readonly #withDoubles: boolean;
  readonly #nodeWords: number;
  readonly #words: Int32Array[] = [];
  readonly #doubles: Float64Array[] = [];
  #free = NO_NODE;
  #made = 0;
  #used = 0;

  constructor(capacity: number, columns: number, withDoubles: boolean) {
    this.#capacity = capacity;
    this.#columns = columns;
    this.#withDoubles = withDoubles;
    // Even, so that doubles stay aligned.
    this.#nodeWords = (HEADER + capacity * (columns + (withDoubles ? 2 : 0)) + 1) & ~1;
  }

  /** Nodes in use. */
  get used(): number {
    return this.#used;
  }

  get memoryBytes(): number {
    return this.#words.length * CHUNK_NODES * this.#nodeWords * 4;
  }

  /** A node without rows. */
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

  /** The array in which the node lies; it begins at `base`. */
  words(node: number): Int32Array {
    return this.#words[node >>> CHUNK_BITS]!;
  }

  base(node: number): number {
    return (node & NODE_MASK) * this.#nodeWords;
  }

  /** The same memory; the node's column of doubles begins at `doubleBase`. */
  doubles(node: number): Float64Array {
    return this.#doubles[node >>> CHUNK_BITS]!;
  }

  doubleBase(node: number): number {
    return (this.base(node) + HEADER + this.#capacity * this.#columns) >>> 1;
  }

  count(node: number): number {
    return this.words(node)[this.base(node) + COUNT]!;
  }

  setCount(node: number, count: number): void {
    this.words(node)[this.base(node) + COUNT] = count;
  }

  /** Copies rows with all their columns; the node may be the same, and the rows may overlap. Counts are the caller's. */
  move(from: number, fromRow: number, to: number, toRow: number, rows: number): void {
    const source = this.words(from);
    const target = this.words(to);
    let sourceAt = this.base(from) + HEADER + fromRow;
    let targetAt = this.base(to) + HEADER + toRow;
    for (let column = 0; column < this.#columns; column += 1) {
      copyWords(source, sourceAt, target, targetAt, rows);
      sourceAt += this.#capacity;
      targetAt += this.#capacity;
    }
    // The column of doubles has two words for each row.
    if (this.#withDoubles) copyWords(source, sourceAt + fromRow, target, targetAt + toRow, rows * 2);
  }
}

/** A loop: rows are few, and a native call costs more than copying them. */
function copyWords(source: Int32Array, from: number, target: Int32Array, to: number, count: number): void {
  if (to > from) for (let at = count - 1; at >= 0; at -= 1) target[to + at] = source[from + at]!;
  else for (let at = 0; at < count; at += 1) target[to + at] = source[from + at]!;
}
