import { assert } from '@engram/core';
import { type KeyRef, type KeySlabs, NO_KEY, printOf } from './key-slabs.ts';
import { COUNT, NodePool, PREFIX } from './node-pool.ts';
import type { VersionSlot } from './version-slot.ts';

// A leaf's head word is a version. The word of a tombstone is the complement, so that the version is not read for
// liveness.
export const slotOf = (head: number): VersionSlot => (head < 0 ? ~head : head);
export const headOf = (slot: VersionSlot, tombstone: boolean): number => (tombstone ? ~slot : slot);

/**
 * The nodes of the tree, and the operations on single nodes. A row's print is four bytes of its key, after the prefix
 * that all keys of the node share. A search compares prints and reads a key only if prints are equal. The tree is
 * larger than the caches, so the cost of a search is the number of places that it reads.
 *
 * A leaf's row is a key, its head, and the head's mod revision. An inner node's row is a child, the number of live keys
 * below it, and the newest mod revision below it. Its key is the lowest that may be below the child; the node owns that
 * copy. The first row has no key (NO_KEY), because the parent has it. `newest` may exceed the revisions below only
 * after a compaction removed a key, and is then at most that compaction's revision.
 */
export class TreeNodes {
  readonly capacity: number;
  /** A node with fewer rows is joined or balanced with a neighbour. */
  readonly rowsMin: number;
  /**
   * Two nodes become one if they have at most this many rows together. Well above `rowsMin` and below `capacity`, so
   * that nodes are not split and joined again and again.
   */
  readonly joinMax: number;
  readonly keys: KeySlabs;
  readonly leaves: NodePool;
  readonly inners: NodePool;

  constructor(capacity: number, keys: KeySlabs) {
    assert(Number.isInteger(capacity) && capacity >= 4, 'a node has at least 4 rows');
    this.capacity = capacity;
    this.rowsMin = Math.max(2, capacity >>> 2);
    this.joinMax = capacity - (capacity >>> 2);
    this.keys = keys;
    this.leaves = new NodePool(capacity, false);
    this.inners = new NodePool(capacity, true);
  }

  get memoryBytes(): number {
    return this.leaves.memoryBytes + this.inners.memoryBytes;
  }

  /** The row of the key, or the complement of the row before which the key belongs. */
  searchLeaf(leaf: number, key: Uint8Array): number {
    return this.#search(this.leaves, leaf, 0, key);
  }

  /** The row of the child below which the key belongs. */
  childRow(inner: number, key: Uint8Array): number {
    const row = this.#search(this.inners, inner, 1, key);
    return row >= 0 ? row : ~row - 1;
  }

  #search(pool: NodePool, node: number, first: number, key: Uint8Array): number {
    const words = pool.words(node);
    const base = pool.base(node);
    const count = words[base + COUNT]!;
    if (first >= count) return ~first;
    const prefix = words[base + PREFIX]!;
    const print = printOf(key, prefix, key.length);
    const prints = base + pool.prints;
    const pairs = base + pool.pairs;
    let low = first;
    let high = count;
    let looked = first;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const found = words[prints + middle]!;
      if (found < print) low = middle + 1;
      else if (found > print) high = middle;
      else {
        looked = middle;
        const order = this.keys.compare(words[pairs + 2 * middle]!, key, prefix);
        if (order < 0) low = middle + 1;
        else if (order > 0) high = middle;
        else {
          low = ~middle;
          break;
        }
      }
    }
    if (prefix > 0) {
      // The prefix is compared last, preferably with a key that was compared before, whose bytes are in the cache.
      const order = this.keys.comparePrefix(words[pairs + 2 * looked]!, key, prefix);
      if (order > 0) return ~first;
      if (order < 0) return ~count;
    }
    return ~low;
  }

  leafKey(leaf: number, row: number): KeyRef {
    return this.#word(this.leaves, leaf, this.leaves.pairs + 2 * row);
  }

  head(leaf: number, row: number): number {
    return this.#word(this.leaves, leaf, this.leaves.pairs + 2 * row + 1);
  }

  /** The mod revision of a row's head. */
  headNewest(leaf: number, row: number): number {
    return this.#newest(this.leaves, leaf, row);
  }

  setHead(leaf: number, row: number, head: number, newest: number): void {
    this.leaves.words(leaf)[this.leaves.base(leaf) + this.leaves.pairs + 2 * row + 1] = head;
    this.leaves.doubles(leaf)[this.leaves.newestAt(leaf) + row] = newest;
  }

  /** Adds a row at the end. `reprintLeaf` must be called before the next search. For bulk loading. */
  appendLeafRow(leaf: number, key: KeyRef, head: number, newest: number): void {
    const row = this.leaves.count(leaf);
    assert(row < this.capacity, 'a full leaf');
    this.leaves.words(leaf)[this.leaves.base(leaf) + this.leaves.pairs + 2 * row] = key;
    this.setHead(leaf, row, head, newest);
    this.leaves.setCount(leaf, row + 1);
  }

  insertLeafRow(leaf: number, row: number, key: KeyRef, head: number, newest: number): void {
    const count = this.leaves.count(leaf);
    assert(count < this.capacity, 'a full leaf');
    this.leaves.move(leaf, row, leaf, row + 1, count - row);
    this.leaves.words(leaf)[this.leaves.base(leaf) + this.leaves.pairs + 2 * row] = key;
    this.setHead(leaf, row, head, newest);
    this.leaves.setCount(leaf, count + 1);
    this.#printRow(this.leaves, leaf, 0, row);
  }

  removeLeafRow(leaf: number, row: number): void {
    const count = this.leaves.count(leaf);
    this.leaves.move(leaf, row + 1, leaf, row, count - row - 1);
    this.leaves.setCount(leaf, count - 1);
  }

  leafLive(leaf: number): number {
    const count = this.leaves.count(leaf);
    let live = 0;
    for (let row = 0; row < count; row += 1) if (this.head(leaf, row) >= 0) live += 1;
    return live;
  }

  innerKey(inner: number, row: number): KeyRef {
    return this.#word(this.inners, inner, this.inners.pairs + 2 * row);
  }

  setInnerKey(inner: number, row: number, key: KeyRef): void {
    this.inners.words(inner)[this.inners.base(inner) + this.inners.pairs + 2 * row] = key;
  }

  child(inner: number, row: number): number {
    return this.#word(this.inners, inner, this.inners.pairs + 2 * row + 1);
  }

  live(inner: number, row: number): number {
    return this.#word(this.inners, inner, this.inners.live + row);
  }

  newest(inner: number, row: number): number {
    return this.#newest(this.inners, inner, row);
  }

  setSummary(inner: number, row: number, live: number, newest: number): void {
    this.inners.words(inner)[this.inners.base(inner) + this.inners.live + row] = live;
    this.inners.doubles(inner)[this.inners.newestAt(inner) + row] = newest;
  }

  innerLive(inner: number): number {
    const count = this.inners.count(inner);
    let live = 0;
    for (let row = 0; row < count; row += 1) live += this.live(inner, row);
    return live;
  }

  /** The newest mod revision of a node's rows; 0 without rows. */
  newestOf(pool: NodePool, node: number): number {
    const count = pool.count(node);
    let newest = 0;
    for (let row = 0; row < count; row += 1) newest = Math.max(newest, this.#newest(pool, node, row));
    return newest;
  }

  insertInnerRow(inner: number, row: number, key: KeyRef, child: number, live: number, newest: number): void {
    const count = this.inners.count(inner);
    assert(count < this.capacity, 'a full inner node');
    this.inners.move(inner, row, inner, row + 1, count - row);
    this.setInnerKey(inner, row, key);
    this.inners.words(inner)[this.inners.base(inner) + this.inners.pairs + 2 * row + 1] = child;
    this.setSummary(inner, row, live, newest);
    this.inners.setCount(inner, count + 1);
    if (row > 0) this.#printRow(this.inners, inner, 1, row);
  }

  removeInnerRow(inner: number, row: number): void {
    const count = this.inners.count(inner);
    this.inners.move(inner, row + 1, inner, row, count - row - 1);
    this.inners.setCount(inner, count - 1);
  }

  /** Moves the rows from `keep` on to a new node and returns it. `tighten` must be called for both nodes. */
  divide(pool: NodePool, node: number, keep: number): number {
    const right = pool.allocate();
    const count = pool.count(node);
    pool.move(node, keep, right, 0, count - keep);
    pool.setCount(right, count - keep);
    pool.setCount(node, keep);
    pool.words(right)[pool.base(right) + PREFIX] = this.#word(pool, node, PREFIX);
    return right;
  }

  /** Moves rows between neighbours until the left node has `leftCount`. Both must be reprinted. */
  balance(pool: NodePool, left: number, right: number, leftCount: number): void {
    const leftNow = pool.count(left);
    const rightNow = pool.count(right);
    const rightCount = leftNow + rightNow - leftCount;
    if (leftCount > leftNow) {
      pool.move(right, 0, left, leftNow, leftCount - leftNow);
      pool.move(right, leftCount - leftNow, right, 0, rightCount);
    } else {
      pool.move(right, 0, right, leftNow - leftCount, rightNow);
      pool.move(left, leftCount, right, 0, leftNow - leftCount);
    }
    pool.setCount(left, leftCount);
    pool.setCount(right, rightCount);
  }

  reprintLeaf(leaf: number): void {
    this.#reprint(this.leaves, leaf, 0);
  }

  reprintInner(inner: number): void {
    this.#reprint(this.inners, inner, 1);
  }

  /**
   * Updates the prefix after rows were moved away, as the remaining keys may share more bytes. Reads all keys only if
   * they do.
   */
  tighten(pool: NodePool, node: number): void {
    const first = pool === this.leaves ? 0 : 1;
    const prefix = this.#sharedByRows(pool, node, first);
    if (prefix !== this.#word(pool, node, PREFIX)) this.#setPrefix(pool, node, first, prefix);
  }

  #reprint(pool: NodePool, node: number, first: number): void {
    this.#setPrefix(pool, node, first, this.#sharedByRows(pool, node, first));
  }

  /** Keys are in order, so all share the common prefix of the first and the last. */
  #sharedByRows(pool: NodePool, node: number, first: number): number {
    const last = pool.count(node) - 1;
    if (last < first) return 0;
    const lowest = this.#word(pool, node, pool.pairs + 2 * first);
    const highest = this.#word(pool, node, pool.pairs + 2 * last);
    return this.keys.sharedBy(lowest, highest);
  }

  /** Sets the print of a row with a new key. Sets all prints if the new key shortens the common prefix. */
  #printRow(pool: NodePool, node: number, first: number, row: number): void {
    const words = pool.words(node);
    const base = pool.base(node);
    const pairs = base + pool.pairs;
    const count = words[base + COUNT]!;
    const key = words[pairs + 2 * row]!;
    const prefix = words[base + PREFIX]!;
    let shared = prefix;
    if (count === first + 1) shared = this.keys.length(key);
    // A key between two others has their common prefix.
    else if (row === first) shared = Math.min(prefix, this.keys.sharedBy(key, words[pairs + 2 * (row + 1)]!));
    else if (row === count - 1) shared = Math.min(prefix, this.keys.sharedBy(key, words[pairs + 2 * first]!));
    if (shared === prefix) words[base + pool.prints + row] = this.keys.print(key, prefix);
    else this.#setPrefix(pool, node, first, shared);
  }

  #setPrefix(pool: NodePool, node: number, first: number, prefix: number): void {
    const words = pool.words(node);
    const base = pool.base(node);
    words[base + PREFIX] = prefix;
    const count = words[base + COUNT]!;
    for (let row = first; row < count; row += 1) {
      words[base + pool.prints + row] = this.keys.print(words[base + pool.pairs + 2 * row]!, prefix);
    }
  }

  /** Asserts every print and prefix. O(rows). */
  verifyPrints(pool: NodePool, node: number): void {
    const first = pool === this.leaves ? 0 : 1;
    const count = pool.count(node);
    const prefix = this.#word(pool, node, PREFIX);
    assert(count <= this.capacity, 'a node with too many rows');
    if (first === 1) assert(this.innerKey(node, 0) === NO_KEY, "an inner node's first row has a key");
    for (let row = first; row < count; row += 1) {
      const key = this.#word(pool, node, pool.pairs + 2 * row);
      assert(this.#word(pool, node, pool.prints + row) === this.keys.print(key, prefix), 'a wrong print');
      const lowest = this.#word(pool, node, pool.pairs + 2 * first);
      assert(this.keys.sharedBy(lowest, key) >= prefix, 'a wrong prefix');
    }
  }

  #word(pool: NodePool, node: number, at: number): number {
    return pool.words(node)[pool.base(node) + at]!;
  }

  #newest(pool: NodePool, node: number, row: number): number {
    return pool.doubles(node)[pool.newestAt(node) + row]!;
  }
}
