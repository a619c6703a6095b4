import type { Turn } from '@engram/loop';
import type { RangeVisitor } from './range-scan.ts';
import { slotOf, type TreeNodes } from './tree-nodes.ts';
import { NO_VERSION, type VersionSlot } from './version-slot.ts';
import type { VersionTable } from './version-table.ts';

/** Versions per key that are read ahead. The versions of a leaf must stay in the cache until they are visited. */
const TOUCHED_DEPTH = 8;

/**
 * The key is bytes [start, end) of `page`, which are valid during the call only. Returns the steps of the turn that the visit took:
 * one, if nothing is returned. A key may have a hundred thousand versions.
 */
export type HeadVisit = (page: Uint8Array, start: number, end: number, head: VersionSlot) => number | undefined;

/**
 * Visits keys without an object for each key. Keys and versions are not stored in key order, so each access would wait
 * for memory. The keys and versions of a whole leaf are read ahead, so that these waits overlap.
 */
export class SurveyVisitor implements RangeVisitor {
  readonly #nodes: TreeNodes;
  readonly #versions: VersionTable;
  readonly #visit: HeadVisit;
  readonly #turn: Turn | undefined;
  #room: number;
  #touched = 0;
  readonly #chains: Int32Array;
  next: Uint8Array | undefined;

  /** With a turn, the visit also stops when it should yield. */
  constructor(nodes: TreeNodes, versions: VersionTable, max: number, visit: HeadVisit, turn?: Turn) {
    this.#nodes = nodes;
    this.#versions = versions;
    this.#room = max;
    this.#visit = visit;
    this.#turn = turn;
    this.#chains = new Int32Array(nodes.capacity);
  }

  subtree(): boolean {
    return false;
  }

  leaf(leaf: number, from: number, to: number): boolean {
    const nodes = this.#nodes;
    const { keys } = nodes;
    let end = Math.min(to, from + this.#room);
    this.#touch(leaf, from, end);
    for (let row = from; row < end; row += 1) {
      const key = nodes.leafKey(leaf, row);
      const start = keys.startOf(key);
      const steps = this.#visit(keys.pageOf(key), start, start + keys.length(key), slotOf(nodes.head(leaf, row)));
      if (this.#turn?.shouldYield(steps) !== true) continue;
      end = row + 1;
      this.#room = end - from;
    }
    this.#room -= end - from;
    if (end === to) return false;
    this.next = keys.copy(nodes.leafKey(leaf, end));
    return true;
  }

  #touch(leaf: number, from: number, end: number): void {
    const nodes = this.#nodes;
    const versions = this.#versions;
    const chains = this.#chains;
    let left = 0;
    // The sum is kept, because the compiler would otherwise remove the reads.
    for (let row = from; row < end; row += 1) {
      this.#touched += nodes.keys.length(nodes.leafKey(leaf, row));
      chains[left] = slotOf(nodes.head(leaf, row));
      left += 1;
    }
    for (let depth = 0; depth < TOUCHED_DEPTH && left > 0; depth += 1) {
      let kept = 0;
      for (let at = 0; at < left; at += 1) {
        const previous = versions.previous(chains[at]!);
        if (previous === NO_VERSION) continue;
        chains[kept] = previous;
        kept += 1;
      }
      left = kept;
    }
    this.#touched += left;
  }
}
