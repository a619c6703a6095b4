import { keySuccessor, type Revision } from '@engram/core';
import type { Turn } from '@engram/loop';
import type { RangeVisitor } from './range-scan.ts';
import { slotOf, type TreeNodes } from './tree-nodes.ts';
import { NO_VERSION, type VersionSlot } from './version-slot.ts';
import type { VersionTable } from './version-table.ts';

// For a head that is not newer than the requested revision, the tree has the answer and no version is read. Otherwise each newer
// version is a step: a key may have a hundred thousand of them, and a leaf many such keys.

/** Versions that are passed before the turn is asked within a leaf. */
const PASSED_TOGETHER = 64;

/** Whether so many versions were passed in a leaf that the visit should yield. */
function passedEnough(versions: VersionTable, turn: Turn): boolean {
  if (versions.passed < PASSED_TOGETHER) return false;
  const yields = turn.shouldYield(versions.passed);
  versions.passed = 0;
  return yields;
}

/** For a head newer than `at`: the version that lives at `at`, or NO_VERSION. `versions.passed` grows. */
function olderLive(versions: VersionTable, head: number, at: Revision): VersionSlot {
  versions.passed += 1;
  const slot = versions.at(versions.previous(slotOf(head)), at);
  return slot === NO_VERSION || versions.isTombstone(slot) ? NO_VERSION : slot;
}

/** The key after a row, at which a visit that stopped there continues. */
const behind = (nodes: TreeNodes, leaf: number, row: number): Uint8Array =>
  keySuccessor(nodes.keys.view(nodes.leafKey(leaf, row)));

export class CountVisitor implements RangeVisitor {
  readonly #nodes: TreeNodes;
  readonly #versions: VersionTable;
  readonly #at: Revision;
  readonly #turn: Turn;
  live = 0;
  /** The key at which to continue; undefined at the end of the range. */
  next: Uint8Array | undefined;

  /** The visit also stops when it should yield. */
  constructor(nodes: TreeNodes, versions: VersionTable, at: Revision, turn: Turn) {
    this.#nodes = nodes;
    this.#versions = versions;
    this.#at = at;
    this.#turn = turn;
  }

  subtree(whole: boolean, live: number, newest: number): boolean {
    if (!whole || newest > this.#at) return false;
    this.live += live;
    return true;
  }

  leaf(leaf: number, from: number, to: number, live: number, newest: number): boolean {
    const { leaves } = this.#nodes;
    // The live heads of a whole leaf are counted already.
    const heads = to - from === leaves.count(leaf) ? live : this.#liveHeads(leaf, from, to);
    if (newest > this.#at) return this.#olderLeaf(leaf, from, to, heads);
    this.live += heads;
    if (!this.#turn.shouldYield()) return false;
    this.next = behind(this.#nodes, leaf, to - 1);
    return true;
  }

  #liveHeads(leaf: number, from: number, to: number): number {
    const { leaves } = this.#nodes;
    const words = leaves.words(leaf);
    const heads = leaves.headsAt(leaf);
    let live = 0;
    for (let row = from; row < to; row += 1) if (words[heads + 2 * row]! >= 0) live += 1;
    return live;
  }

  /** A leaf in which a key was changed later, and which has `counted` live heads in these rows. */
  #olderLeaf(leaf: number, from: number, to: number, counted: number): boolean {
    const { leaves } = this.#nodes;
    const at = this.#at;
    const versions = this.#versions;
    const words = leaves.words(leaf);
    const heads = leaves.headsAt(leaf);
    const mods = leaves.doubles(leaf);
    const newests = leaves.newestAt(leaf);
    this.live += counted;
    versions.passed = 0;
    for (let row = from; row < to; row += 1) {
      if (mods[newests + row]! <= at) continue;
      const head = words[heads + 2 * row]!;
      if (head >= 0) this.live -= 1;
      if (olderLive(versions, head, at) !== NO_VERSION) this.live += 1;
      if (!passedEnough(versions, this.#turn)) continue;
      this.live -= this.#liveHeads(leaf, row + 1, to);
      this.next = behind(this.#nodes, leaf, row);
      return true;
    }
    if (!this.#turn.shouldYield(1 + versions.passed)) return false;
    this.next = behind(this.#nodes, leaf, to - 1);
    return true;
  }
}

export class CollectVisitor implements RangeVisitor {
  readonly #nodes: TreeNodes;
  readonly #versions: VersionTable;
  readonly #at: Revision;
  readonly #into: VersionSlot[];
  readonly #turn: Turn;
  #room: number;
  /** The key at which to continue; undefined at the end of the range. */
  next: Uint8Array | undefined;

  /** The visit also stops when it should yield. */
  constructor(nodes: TreeNodes, versions: VersionTable, at: Revision, max: number, into: VersionSlot[], turn: Turn) {
    this.#nodes = nodes;
    this.#versions = versions;
    this.#at = at;
    this.#into = into;
    this.#room = max;
    this.#turn = turn;
  }

  subtree(_whole: boolean, live: number, newest: number): boolean {
    return live === 0 && newest <= this.#at;
  }

  leaf(leaf: number, from: number, to: number, _live: number, newest: number): boolean {
    const { leaves } = this.#nodes;
    const at = this.#at;
    const into = this.#into;
    const words = leaves.words(leaf);
    const heads = leaves.headsAt(leaf);
    const mods = leaves.doubles(leaf);
    const newests = leaves.newestAt(leaf);
    const turn = this.#turn;
    const versions = this.#versions;
    versions.passed = 0;
    for (let row = from; row < to; row += 1) {
      let head = words[heads + 2 * row]!;
      if (newest > at && mods[newests + row]! > at) head = olderLive(versions, head, at);
      if (head >= 0) {
        into.push(head);
        this.#room -= 1;
      }
      if (this.#room > 0 && !passedEnough(versions, turn)) continue;
      this.next = behind(this.#nodes, leaf, row);
      return true;
    }
    if (!turn.shouldYield(1 + versions.passed)) return false;
    this.next = behind(this.#nodes, leaf, to - 1);
    return true;
  }
}

export class ChangesVisitor implements RangeVisitor {
  readonly #nodes: TreeNodes;
  readonly #versions: VersionTable;
  readonly #from: Revision;
  readonly #to: Revision;
  readonly #into: VersionSlot[];
  readonly #turn: Turn;
  /** The key at which to continue; undefined at the end of the range. */
  next: Uint8Array | undefined;

  /** Stops when it should yield. */
  constructor(nodes: TreeNodes, versions: VersionTable, from: Revision, to: Revision, into: VersionSlot[], turn: Turn) {
    this.#nodes = nodes;
    this.#versions = versions;
    this.#from = from;
    this.#to = to;
    this.#into = into;
    this.#turn = turn;
  }

  subtree(_whole: boolean, _live: number, newest: number): boolean {
    return newest < this.#from;
  }

  leaf(leaf: number, from: number, to: number): boolean {
    const nodes = this.#nodes;
    const mods = nodes.leaves.doubles(leaf);
    const newests = nodes.leaves.newestAt(leaf);
    const versions = this.#versions;
    versions.passed = 0;
    for (let row = from; row < to; row += 1) {
      if (mods[newests + row]! < this.#from) continue;
      this.chain(slotOf(nodes.head(leaf, row)));
      if (!passedEnough(versions, this.#turn)) continue;
      this.next = behind(nodes, leaf, row);
      return true;
    }
    if (!this.#turn.shouldYield(1 + versions.passed)) return false;
    this.next = behind(nodes, leaf, to - 1);
    return true;
  }

  /** Appends the versions of one key that are within the bounds. */
  chain(head: VersionSlot): void {
    const versions = this.#versions;
    let slot = versions.at(head, this.#to);
    while (slot !== NO_VERSION && versions.mod(slot) >= this.#from) {
      this.#into.push(slot);
      versions.passed += 1;
      slot = versions.previous(slot);
    }
  }
}

/** Visits a key, whose bytes are the visitor's. Returns the steps of the turn that it took: see `HeadVisit`. */
export type KeyVisit = (key: Uint8Array, head: VersionSlot) => number | undefined;

export class WalkVisitor implements RangeVisitor {
  readonly #nodes: TreeNodes;
  readonly #visit: KeyVisit;
  readonly #turn: Turn | undefined;
  #room: number;
  next: Uint8Array | undefined;

  /** With a turn, the visit also stops when it should yield. */
  constructor(nodes: TreeNodes, max: number, visit: KeyVisit, turn?: Turn) {
    this.#nodes = nodes;
    this.#room = max;
    this.#visit = visit;
    this.#turn = turn;
  }

  subtree(): boolean {
    return false;
  }

  leaf(leaf: number, from: number, to: number): boolean {
    for (let row = from; row < to; row += 1) {
      const key = this.#nodes.keys.copy(this.#nodes.leafKey(leaf, row));
      if (this.#room === 0) {
        this.next = key;
        return true;
      }
      this.#room -= 1;
      const steps = this.#visit(key, slotOf(this.#nodes.head(leaf, row)));
      if (this.#turn?.shouldYield(steps) === true) this.#room = 0;
    }
    return false;
  }
}
