import { assert } from '@engram/core';
import { type KeyRef, NO_KEY } from './key-slabs.ts';
import { slotOf, type TreeNodes } from './tree-nodes.ts';
import { NO_VERSION, type VersionSlot } from './version-slot.ts';

const HEIGHT_MAX = 40;
/** `seek` does not remember the places of longer keys. */
const SOUGHT_BYTES_MAX = 512;
/** Value of `#soughtBytes` while no place is remembered. */
const LOST = -1;

/**
 * A B+-tree from key to head version, with counts. Changes apply to the current place. `seek` moves the place to a key,
 * and the other methods use that place until the next `seek` or change of rows.
 */
export class KeyTree {
  readonly #nodes: TreeNodes;
  #root: number;
  /** Levels of inner nodes above the leaves. */
  #height = 0;
  #live = 0;
  #newest = 0;
  // The place: the inner nodes from the root down with the row taken in each, the leaf, and the row in it.
  readonly #pathNodes = new Int32Array(HEIGHT_MAX);
  readonly #pathRows = new Int32Array(HEIGHT_MAX);
  #leaf: number;
  #row = 0;
  /**
   * The key at the place, and whether it exists. A write looks up its key several times before it changes it (for its
   * conditions and its current version). A search from the root is a fifth of the cost of a write.
   */
  readonly #sought = new Uint8Array(SOUGHT_BYTES_MAX);
  #soughtBytes = LOST;
  #soughtFound = false;

  constructor(nodes: TreeNodes) {
    this.#nodes = nodes;
    this.#root = nodes.leaves.allocate();
    this.#leaf = this.#root;
  }

  get root(): number {
    return this.#root;
  }

  get height(): number {
    return this.#height;
  }

  /** Keys whose head is not a tombstone. */
  get live(): number {
    return this.#live;
  }

  /** At or above every head's mod revision; 0 without keys. */
  get newest(): number {
    return this.#newest;
  }

  /** Adopts a tree that a loader built from the same nodes. */
  adopt(root: number, height: number, live: number, newest: number): void {
    assert(this.#height === 0 && this.#nodes.leaves.count(this.#root) === 0, 'only an empty tree can adopt another');
    this.#nodes.leaves.free(this.#root);
    this.#soughtBytes = LOST;
    this.#root = root;
    this.#height = height;
    this.#live = live;
    this.#newest = newest;
  }

  /** The head of a key, or NO_VERSION. Does not move the place. */
  find(key: Uint8Array): VersionSlot {
    const nodes = this.#nodes;
    let node = this.#root;
    for (let level = 0; level < this.#height; level += 1) node = nodes.child(node, nodes.childRow(node, key));
    const row = nodes.searchLeaf(node, key);
    return row < 0 ? NO_VERSION : slotOf(nodes.head(node, row));
  }

  /** Moves the place to the key, or to the row where it would be inserted. Returns whether the key exists. */
  seek(key: Uint8Array): boolean {
    if (this.#isSought(key)) return this.#soughtFound;
    const nodes = this.#nodes;
    let node = this.#root;
    for (let level = 0; level < this.#height; level += 1) {
      const row = nodes.childRow(node, key);
      this.#pathNodes[level] = node;
      this.#pathRows[level] = row;
      node = nodes.child(node, row);
    }
    const row = nodes.searchLeaf(node, key);
    this.#leaf = node;
    this.#row = row < 0 ? ~row : row;
    this.#soughtFound = row >= 0;
    this.#soughtBytes = key.length <= SOUGHT_BYTES_MAX ? key.length : LOST;
    if (this.#soughtBytes !== LOST) this.#sought.set(key);
    return this.#soughtFound;
  }

  #isSought(key: Uint8Array): boolean {
    if (key.length !== this.#soughtBytes) return false;
    const sought = this.#sought;
    // Compares from the end, where keys of one kind differ.
    for (let at = key.length - 1; at >= 0; at -= 1) if (key[at] !== sought[at]) return false;
    return true;
  }

  /** The head word at the place. */
  head(): number {
    return this.#nodes.head(this.#leaf, this.#row);
  }

  /** The head's mod revision. */
  headNewest(): number {
    return this.#nodes.headNewest(this.#leaf, this.#row);
  }

  /** The reference to the bytes of the key at the place. */
  key(): KeyRef {
    return this.#nodes.leafKey(this.#leaf, this.#row);
  }

  /** Sets a newer head for the key at the place. */
  setHead(head: number, mod: number): void {
    const before = this.head();
    this.#nodes.setHead(this.#leaf, this.#row, head, mod);
    this.#summarize((head >= 0 ? 1 : 0) - (before >= 0 ? 1 : 0), mod);
  }

  /** Restores the previous head after the newest one was undone. */
  restoreHead(head: number, mod: number): void {
    this.setHead(head, mod);
    this.#lowerNewest();
  }

  /** Inserts a key that `seek` did not find. Its bytes are in the slabs as `ref`. */
  insert(key: Uint8Array, ref: KeyRef, head: number, mod: number): void {
    while (this.#nodes.leaves.count(this.#leaf) === this.#nodes.capacity) {
      this.#split();
      this.seek(key);
    }
    this.#soughtBytes = LOST;
    this.#nodes.insertLeafRow(this.#leaf, this.#row, ref, head, mod);
    this.#summarize(head >= 0 ? 1 : 0, mod);
  }

  /** Removes the key at the place. The caller frees its bytes. */
  remove(): void {
    const delta = this.head() >= 0 ? -1 : 0;
    this.#soughtBytes = LOST;
    this.#nodes.removeLeafRow(this.#leaf, this.#row);
    this.#summarize(delta, 0);
    this.#shrink();
  }

  /** Removes a key whose only version was undone, and its revision from the summaries on the path. */
  removeUndone(): void {
    const delta = this.head() >= 0 ? -1 : 0;
    this.#soughtBytes = LOST;
    this.#nodes.removeLeafRow(this.#leaf, this.#row);
    this.#summarize(delta, 0);
    this.#lowerNewest();
    this.#shrink();
  }

  #summarize(delta: number, mod: number): void {
    const nodes = this.#nodes;
    for (let level = 0; level < this.#height; level += 1) {
      const node = this.#pathNodes[level]!;
      const row = this.#pathRows[level]!;
      const newest = nodes.newest(node, row);
      nodes.setSummary(node, row, nodes.live(node, row) + delta, Math.max(mod, newest));
    }
    this.#live += delta;
    if (mod > this.#newest) this.#newest = mod;
  }

  #lowerNewest(): void {
    const nodes = this.#nodes;
    let newest = nodes.newestOf(nodes.leaves, this.#leaf);
    for (let level = this.#height - 1; level >= 0; level -= 1) {
      const node = this.#pathNodes[level]!;
      const row = this.#pathRows[level]!;
      nodes.setSummary(node, row, nodes.live(node, row), newest);
      newest = nodes.newestOf(nodes.inners, node);
    }
    this.#newest = newest;
  }

  /** Splits one full node on the path whose parent has room, or raises the root. The place is invalid after that. */
  #split(): void {
    this.#soughtBytes = LOST;
    const nodes = this.#nodes;
    let level = this.#height;
    while (level > 0 && nodes.inners.count(this.#pathNodes[level - 1]!) === nodes.capacity) level -= 1;
    if (level === 0) {
      assert(this.#height + 1 < HEIGHT_MAX, 'a tree too high');
      const root = nodes.inners.allocate();
      nodes.insertInnerRow(root, 0, NO_KEY, this.#root, this.#live, this.#newest);
      this.#root = root;
      this.#height += 1;
    } else if (level === this.#height) this.#splitLeaf();
    else this.#splitInner(level);
  }

  #splitLeaf(): void {
    const nodes = this.#nodes;
    const left = this.#leaf;
    const capacity = nodes.capacity;
    // Ascending insertions would leave half-empty leaves if leaves were split in the middle. An eighth of the rows
    // moves, not one row, so that no order of insertion makes leaves of one key.
    const ascending = this.#row === capacity;
    const keep = ascending ? capacity - Math.max(nodes.rowsMin >>> 1, capacity >>> 3) : capacity >>> 1;
    const right = nodes.divide(nodes.leaves, left, keep);
    nodes.tighten(nodes.leaves, left);
    nodes.tighten(nodes.leaves, right);
    const parent = this.#pathNodes[this.#height - 1]!;
    const row = this.#pathRows[this.#height - 1]!;
    nodes.setSummary(parent, row, nodes.leafLive(left), nodes.newestOf(nodes.leaves, left));
    const separator = this.#separator(left, right);
    nodes.insertInnerRow(parent, row + 1, separator, right, nodes.leafLive(right), nodes.newestOf(nodes.leaves, right));
  }

  #splitInner(level: number): void {
    const nodes = this.#nodes;
    const left = this.#pathNodes[level]!;
    const right = nodes.divide(nodes.inners, left, nodes.capacity >>> 1);
    const separator = nodes.innerKey(right, 0);
    nodes.setInnerKey(right, 0, NO_KEY);
    nodes.tighten(nodes.inners, left);
    nodes.tighten(nodes.inners, right);
    const parent = this.#pathNodes[level - 1]!;
    const row = this.#pathRows[level - 1]!;
    nodes.setSummary(parent, row, nodes.innerLive(left), nodes.newestOf(nodes.inners, left));
    nodes.insertInnerRow(
      parent,
      row + 1,
      separator,
      right,
      nodes.innerLive(right),
      nodes.newestOf(nodes.inners, right),
    );
  }

  /** The shortest key that is above all of `left` and not above any of `right`. */
  #separator(left: number, right: number): KeyRef {
    const nodes = this.#nodes;
    const above = nodes.leafKey(right, 0);
    const shared = nodes.keys.sharedBy(nodes.leafKey(left, nodes.leaves.count(left) - 1), above);
    return nodes.keys.addPrefix(above, shared + 1);
  }

  /** Joins nodes that became too small, up to the root, after a row was removed from the leaf at the place. */
  #shrink(): void {
    const nodes = this.#nodes;
    for (let level = this.#height; level > 0; level -= 1) {
      const isLeaf = level === this.#height;
      const pool = isLeaf ? nodes.leaves : nodes.inners;
      if (pool.count(isLeaf ? this.#leaf : this.#pathNodes[level]!) >= nodes.rowsMin) break;
      const parent = this.#pathNodes[level - 1]!;
      const leftRow = Math.max(0, this.#pathRows[level - 1]! - 1);
      assert(nodes.inners.count(parent) >= 2, 'an inner node with one child');
      if (isLeaf) this.#joinLeaves(parent, leftRow);
      else this.#joinInners(parent, leftRow);
    }
    while (this.#height > 0 && nodes.inners.count(this.#root) === 1) {
      const child = nodes.child(this.#root, 0);
      nodes.inners.free(this.#root);
      this.#root = child;
      this.#height -= 1;
    }
  }

  #joinLeaves(parent: number, leftRow: number): void {
    const nodes = this.#nodes;
    const left = nodes.child(parent, leftRow);
    const right = nodes.child(parent, leftRow + 1);
    const rows = nodes.leaves.count(left) + nodes.leaves.count(right);
    // Two leaves need a separator key. Without a page for it, they are joined or stay as they are; neither is empty.
    const joinMax = nodes.keys.hasPage ? nodes.joinMax : nodes.capacity;
    if (rows > joinMax && joinMax === nodes.capacity) return;
    nodes.keys.free(nodes.innerKey(parent, leftRow + 1));
    if (rows <= joinMax) {
      nodes.balance(nodes.leaves, left, right, rows);
      nodes.leaves.free(right);
      nodes.removeInnerRow(parent, leftRow + 1);
    } else {
      nodes.balance(nodes.leaves, left, right, rows >>> 1);
      nodes.reprintLeaf(right);
      nodes.setInnerKey(parent, leftRow + 1, this.#separator(left, right));
      nodes.setSummary(parent, leftRow + 1, nodes.leafLive(right), nodes.newestOf(nodes.leaves, right));
    }
    nodes.reprintLeaf(left);
    nodes.setSummary(parent, leftRow, nodes.leafLive(left), nodes.newestOf(nodes.leaves, left));
    nodes.reprintInner(parent);
  }

  #joinInners(parent: number, leftRow: number): void {
    const nodes = this.#nodes;
    const left = nodes.child(parent, leftRow);
    const right = nodes.child(parent, leftRow + 1);
    const rows = nodes.inners.count(left) + nodes.inners.count(right);
    // The separator moves down, and the key of the right node's new first row moves up.
    nodes.setInnerKey(right, 0, nodes.innerKey(parent, leftRow + 1));
    if (rows <= nodes.joinMax) {
      nodes.balance(nodes.inners, left, right, rows);
      nodes.inners.free(right);
      nodes.removeInnerRow(parent, leftRow + 1);
    } else {
      nodes.balance(nodes.inners, left, right, rows >>> 1);
      nodes.setInnerKey(parent, leftRow + 1, nodes.innerKey(right, 0));
      nodes.setInnerKey(right, 0, NO_KEY);
      nodes.reprintInner(right);
      nodes.setSummary(parent, leftRow + 1, nodes.innerLive(right), nodes.newestOf(nodes.inners, right));
    }
    nodes.reprintInner(left);
    nodes.setSummary(parent, leftRow, nodes.innerLive(left), nodes.newestOf(nodes.inners, left));
    nodes.reprintInner(parent);
  }
}
