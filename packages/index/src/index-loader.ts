import { type VersionMeta, assert } from '@engram/core';
import { finish, unhurried } from '@engram/loop';
import type { GarbageQueue } from './garbage-queue.ts';
import { type KeyRef, NO_KEY } from './key-slabs.ts';
import type { KeyTree } from './key-tree.ts';
import { sortByRevision } from './sort-by-revision.ts';
import { headOf, type TreeNodes } from './tree-nodes.ts';
import { NO_VERSION, type VersionSlot } from './version-slot.ts';
import type { VersionTable } from './version-table.ts';

/** The nodes of one level during the build, with the summaries that their parents store. */
class Level {
  readonly node: number[] = [];
  readonly key: KeyRef[] = [];
  readonly live: number[] = [];
  readonly newest: number[] = [];

  push(key: KeyRef, node: number, live: number, newest: number): void {
    this.key.push(key);
    this.node.push(node);
    this.live.push(live);
    this.newest.push(newest);
  }
}

/**
 * Builds an index bottom-up from versions in key order. The versions of a key come oldest first. `finish` returns the
 * index, and the loader must not be used after it.
 */
export class IndexLoader<Index> {
  readonly #index: Index;
  readonly #nodes: TreeNodes;
  readonly #tree: KeyTree;
  readonly #versions: VersionTable;
  readonly #garbage: GarbageQueue;
  /** Leaves keep an eighth of their rows free, so that the first writes do not split all of them. */
  readonly #fill: number;
  readonly #leaves = new Level();
  readonly #candidates: VersionSlot[] = [];
  #leaf = -1;
  #leafRows = 0;
  #lastKey: KeyRef = NO_KEY;
  #lastSlot: VersionSlot = NO_VERSION;
  #finished = false;

  constructor(index: Index, nodes: TreeNodes, tree: KeyTree, versions: VersionTable, garbage: GarbageQueue) {
    this.#index = index;
    this.#nodes = nodes;
    this.#tree = tree;
    this.#versions = versions;
    this.#garbage = garbage;
    this.#fill = nodes.capacity - (nodes.capacity >>> 3);
  }

  /** Adds the next version: a newer one of the same key, or one of a higher key. Copies `key`; does not keep `meta`. */
  add(key: Uint8Array, meta: VersionMeta): VersionSlot {
    const nodes = this.#nodes;
    const order = this.#lastKey === NO_KEY ? -1 : nodes.keys.compare(this.#lastKey, key, 0);
    assert(order <= 0, 'keys to load out of order');
    let slot: VersionSlot;
    if (order === 0) {
      const previous = this.#lastSlot;
      assert(meta.modRevision > this.#versions.mod(previous), 'versions to load out of order');
      slot = this.#versions.add(this.#lastKey, previous, meta);
      if (this.#versions.isTombstone(previous)) this.#versions.setNext(previous, slot);
      nodes.setHead(this.#leaf, this.#leafRows - 1, headOf(slot, meta.tombstone), meta.modRevision);
      this.#candidates.push(slot);
    } else {
      if (this.#leafRows === this.#fill || this.#leaf === -1) this.#openLeaf();
      const ref = nodes.keys.add(key);
      slot = this.#versions.add(ref, NO_VERSION, meta);
      nodes.appendLeafRow(this.#leaf, ref, headOf(slot, meta.tombstone), meta.modRevision);
      this.#leafRows += 1;
      this.#lastKey = ref;
      if (meta.tombstone) this.#candidates.push(slot);
    }
    this.#lastSlot = slot;
    return slot;
  }

  finish(): Index {
    assert(!this.#finished, 'a loader finished twice');
    this.#finished = true;
    if (this.#leaf === -1) return this.#index;
    this.#closeLeaf();
    let level = this.#leaves;
    let height = 0;
    while (level.node.length > 1) {
      level = this.#raise(level);
      height += 1;
    }
    this.#tree.adopt(level.node[0]!, height, level.live[0]!, level.newest[0]!);
    const versions = this.#versions;
    for (const slot of finish(sortByRevision(this.#candidates, versions, unhurried))) {
      const previous = versions.previous(slot);
      const supersedesPut = previous !== NO_VERSION && !versions.isTombstone(previous);
      this.#garbage.add(slot, supersedesPut, versions.isTombstone(slot));
    }
    return this.#index;
  }

  #openLeaf(): void {
    if (this.#leaf !== -1) this.#closeLeaf();
    this.#leaf = this.#nodes.leaves.allocate();
    this.#leafRows = 0;
  }

  #closeLeaf(): void {
    const nodes = this.#nodes;
    const first = nodes.leafKey(this.#leaf, 0);
    const before = this.#leaves.node.at(-1);
    let separator = NO_KEY;
    if (before !== undefined) {
      const shared = nodes.keys.sharedBy(nodes.leafKey(before, nodes.leaves.count(before) - 1), first);
      separator = nodes.keys.addPrefix(first, shared + 1);
    }
    nodes.reprintLeaf(this.#leaf);
    this.#leaves.push(separator, this.#leaf, nodes.leafLive(this.#leaf), nodes.newestOf(nodes.leaves, this.#leaf));
  }

  /** Builds the inner nodes above a level, about equally full. None has a single child. */
  #raise(below: Level): Level {
    const nodes = this.#nodes;
    const above = new Level();
    const children = below.node.length;
    const parents = Math.ceil(children / this.#fill);
    for (let parent = 0; parent < parents; parent += 1) {
      const from = Math.floor((children * parent) / parents);
      const to = Math.floor((children * (parent + 1)) / parents);
      const inner = nodes.inners.allocate();
      for (let at = from; at < to; at += 1) {
        const key = at === from ? NO_KEY : below.key[at]!;
        nodes.insertInnerRow(inner, at - from, key, below.node[at]!, below.live[at]!, below.newest[at]!);
      }
      above.push(below.key[from]!, inner, nodes.innerLive(inner), nodes.newestOf(nodes.inners, inner));
    }
    return above;
  }
}
