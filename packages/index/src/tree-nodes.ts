import { assert } from '@engram/core';
import { type KeyRef, type KeySlabs, NO_KEY, printOf } from './key-slabs.ts';
import { COUNT, HEADER, NodePool, PREFIX } from './node-pool.ts';
import { NO_VERSION, type VersionSlot } from './version-slot.ts';
import type { VersionTable } from './version-table.ts';

const REFS = HEADER;

/** The version of a leaf's head word: its complement marks a tombstone, so that liveness costs no look at the version. */
export const slotOf = (head: number): VersionSlot => (head < 0 ? ~head : head);
export const headOf = (slot: VersionSlot, tombstone: boolean): number => (tombstone ? ~slot : slot);

/**
 * The nodes of the tree and what can be done with one of them. Rows of both kinds begin with the key and its print: the
 * four bytes behind the prefix that all keys of the node share. A search compares prints and looks at a key itself
 * only where prints are equal.
 *
 * A leaf's row is a key and its head. An inner node's row is a child, how many live keys are below it, and its newest
 * mod revision; the row's key is the lowest that may be below the child, and the node's own copy. The first row has
 * none (NO_KEY): the parent knows it. `newest` may exceed what is below only where a key was removed by a compaction,
 * and then by no more than to that compaction's revision.
 */
export class TreeNodes {
  readonly capacity: number;
  /** Below it a node is joined with a neighbour. */
  readonly rowsMin: number;
  /** Two nodes become one where they have no more rows together. Above twice `rowsMin`, so neighbours do not flap. */
  readonly joinMax: number;
  readonly keys: KeySlabs;
  readonly leaves: NodePool;
  readonly inners: NodePool;
  readonly #versions: VersionTable;
  /** Where columns begin, in words from a node's base. */
  readonly #prints: number;
  readonly #third: number;
  readonly #live: number;

  constructor(capacity: number, keys: KeySlabs, versions: VersionTable) {
    assert(Number.isInteger(capacity) && capacity >= 4, 'a node has at least 4 rows');
    this.capacity = capacity;
    this.rowsMin = Math.max(2, capacity >>> 2);
    this.joinMax = capacity - (capacity >>> 2);
    this.keys = keys;
    this.#versions = versions;
    this.leaves = new NodePool(capacity, 3, false);
    this.inners = new NodePool(capacity, 4, true);
    this.#prints = HEADER + capacity;
    this.#third = HEADER + 2 * capacity;
    this.#live = HEADER + 3 * capacity;
  }

  get memoryBytes(): number {
    return this.leaves.memoryBytes + this.inners.memoryBytes;
  }

  /** The row of the key, or the complement of the row before which it belongs. */
  searchLeaf(leaf: number, key: Uint8Array): number {
    return this.#search(this.leaves.words(leaf), this.leaves.base(leaf), 0, key);
  }

  /** The row of the child below which the key belongs. */
  childRow(inner: number, key: Uint8Array): number {
    const row = this.#search(this.inners.words(inner), this.inners.base(inner), 1, key);
    return row >= 0 ? row : ~row - 1;
  }

  #search(words: Int32Array, base: number, first: number, key: Uint8Array): number {
    const count = words[base + COUNT]!;
    if (first >= count) return ~first;
    const refs = base + REFS;
    const prefix = words[base + PREFIX]!;
    if (prefix > 0) {
      const order = this.keys.comparePrefix(words[refs + first]!, key, prefix);
      if (order > 0) return ~first;
      if (order < 0) return ~count;
    }
    const print = printOf(key, prefix, key.length);
    const prints = base + this.#prints;
    let low = first;
    let high = count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const found = words[prints + middle]!;
      if (found < print) low = middle + 1;
      else if (found > print) high = middle;
      else {
        const order = this.keys.compare(words[refs + middle]!, key, prefix);
        if (order === 0) return middle;
        if (order < 0) low = middle + 1;
        else high = middle;
      }
    }
    return ~low;
  }

  leafKey(leaf: number, row: number): KeyRef {
    return this.leaves.words(leaf)[this.leaves.base(leaf) + REFS + row]!;
  }

  head(leaf: number, row: number): number {
    return this.leaves.words(leaf)[this.leaves.base(leaf) + this.#third + row]!;
  }

  setHead(leaf: number, row: number, head: number): void {
    this.leaves.words(leaf)[this.leaves.base(leaf) + this.#third + row] = head;
  }

  /** Where the heads of a leaf begin in its words. */
  headsAt(leaf: number): number {
    return this.leaves.base(leaf) + this.#third;
  }

  /** Adds a row behind the others; `reprint` is due before the next search. For bulk loading. */
  appendLeafRow(leaf: number, key: KeyRef, head: number): void {
    const words = this.leaves.words(leaf);
    const base = this.leaves.base(leaf);
    const row = words[base + COUNT]!;
    words[base + REFS + row] = key;
    words[base + this.#third + row] = head;
    words[base + COUNT] = row + 1;
  }

  insertLeafRow(leaf: number, row: number, ref: KeyRef, key: Uint8Array, head: number): void {
    const words = this.leaves.words(leaf);
    const base = this.leaves.base(leaf);
    const count = words[base + COUNT]!;
    assert(count < this.capacity, 'a full leaf');
    this.leaves.move(leaf, row, leaf, row + 1, count - row);
    words[base + REFS + row] = ref;
    words[base + this.#third + row] = head;
    words[base + COUNT] = count + 1;
    const prefix = words[base + PREFIX]!;
    let shared = prefix;
    if (count === 0) shared = key.length;
    // A key between two others shares what they share.
    else if (row === 0) shared = this.keys.shared(words[base + REFS + 1]!, key, prefix);
    else if (row === count) shared = this.keys.shared(words[base + REFS]!, key, prefix);
    if (shared === prefix) words[base + this.#prints + row] = printOf(key, prefix, key.length);
    else this.#setPrefix(words, base, 0, shared);
  }

  removeLeafRow(leaf: number, row: number): void {
    const count = this.leaves.count(leaf);
    this.leaves.move(leaf, row + 1, leaf, row, count - row - 1);
    this.leaves.setCount(leaf, count - 1);
  }

  leafLive(leaf: number): number {
    const words = this.leaves.words(leaf);
    const heads = this.headsAt(leaf);
    const count = this.leaves.count(leaf);
    let live = 0;
    for (let row = 0; row < count; row += 1) if (words[heads + row]! >= 0) live += 1;
    return live;
  }

  leafNewest(leaf: number): number {
    const words = this.leaves.words(leaf);
    const heads = this.headsAt(leaf);
    const count = this.leaves.count(leaf);
    let newest = 0;
    for (let row = 0; row < count; row += 1) {
      const mod = this.#versions.mod(slotOf(words[heads + row]!));
      if (mod > newest) newest = mod;
    }
    return newest;
  }

  innerKey(inner: number, row: number): KeyRef {
    return this.inners.words(inner)[this.inners.base(inner) + REFS + row]!;
  }

  setInnerKey(inner: number, row: number, key: KeyRef): void {
    this.inners.words(inner)[this.inners.base(inner) + REFS + row] = key;
  }

  child(inner: number, row: number): number {
    return this.inners.words(inner)[this.inners.base(inner) + this.#third + row]!;
  }

  live(inner: number, row: number): number {
    return this.inners.words(inner)[this.inners.base(inner) + this.#live + row]!;
  }

  newest(inner: number, row: number): number {
    return this.inners.doubles(inner)[this.inners.doubleBase(inner) + row]!;
  }

  setSummary(inner: number, row: number, live: number, newest: number): void {
    this.inners.words(inner)[this.inners.base(inner) + this.#live + row] = live;
    this.inners.doubles(inner)[this.inners.doubleBase(inner) + row] = newest;
  }

  innerLive(inner: number): number {
    const count = this.inners.count(inner);
    let live = 0;
    for (let row = 0; row < count; row += 1) live += this.live(inner, row);
    return live;
  }

  innerNewest(inner: number): number {
    const count = this.inners.count(inner);
    let newest = 0;
    for (let row = 0; row < count; row += 1) newest = Math.max(newest, this.newest(inner, row));
    return newest;
  }

  /** `reprint` is due before the next search. */
  insertInnerRow(inner: number, row: number, key: KeyRef, child: number, live: number, newest: number): void {
    const count = this.inners.count(inner);
    assert(count < this.capacity, 'a full inner node');
    this.inners.move(inner, row, inner, row + 1, count - row);
    const words = this.inners.words(inner);
    const base = this.inners.base(inner);
    words[base + REFS + row] = key;
    words[base + this.#third + row] = child;
    words[base + COUNT] = count + 1;
    this.setSummary(inner, row, live, newest);
  }

  removeInnerRow(inner: number, row: number): void {
    const count = this.inners.count(inner);
    this.inners.move(inner, row + 1, inner, row, count - row - 1);
    this.inners.setCount(inner, count - 1);
  }

  /** Moves the rows from `keep` on to a new node, which it returns. */
  divide(pool: NodePool, node: number, keep: number): number {
    const right = pool.allocate();
    const count = pool.count(node);
    pool.move(node, keep, right, 0, count - keep);
    pool.setCount(right, count - keep);
    pool.setCount(node, keep);
    return right;
  }

  /** Moves rows between neighbours until the left one has `leftCount`. */
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
    this.#reprint(this.leaves.words(leaf), this.leaves.base(leaf), 0);
  }

  reprintInner(inner: number): void {
    this.#reprint(this.inners.words(inner), this.inners.base(inner), 1);
  }

  #reprint(words: Int32Array, base: number, first: number): void {
    const last = words[base + COUNT]! - 1;
    if (last < first) return;
    // Keys are in order: what first and last share, all share.
    this.#setPrefix(words, base, first, this.keys.sharedBy(words[base + REFS + first]!, words[base + REFS + last]!));
  }

  #setPrefix(words: Int32Array, base: number, first: number, prefix: number): void {
    words[base + PREFIX] = prefix;
    const count = words[base + COUNT]!;
    for (let row = first; row < count; row += 1) {
      words[base + this.#prints + row] = this.keys.print(words[base + REFS + row]!, prefix);
    }
  }

  /** Every print and prefix is what the keys say. O(rows). */
  verifyPrints(pool: NodePool, node: number): void {
    const words = pool.words(node);
    const base = pool.base(node);
    const first = pool === this.leaves ? 0 : 1;
    const count = words[base + COUNT]!;
    assert(count <= this.capacity, 'a node with too many rows');
    if (first === 1) assert(words[base + REFS] === NO_KEY, "an inner node's first row has a key");
    for (let row = first; row < count; row += 1) {
      const ref = words[base + REFS + row]!;
      assert(words[base + this.#prints + row] === this.keys.print(ref, words[base + PREFIX]!), 'a wrong print');
      assert(this.keys.sharedBy(words[base + REFS + first]!, ref) >= words[base + PREFIX]!, 'a wrong prefix');
    }
  }

  /** The newest version of a leaf's row with mod <= revision, NO_VERSION where there is none or it is a tombstone. */
  liveAt(head: number, revision: number): VersionSlot {
    let slot = slotOf(head);
    const versions = this.#versions;
    while (slot !== NO_VERSION && versions.mod(slot) > revision) slot = versions.previous(slot);
    return slot === NO_VERSION || versions.isTombstone(slot) ? NO_VERSION : slot;
  }
}
