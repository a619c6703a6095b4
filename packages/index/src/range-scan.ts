import { isEmptyRange, isUnbounded, type KeyRange } from '@engram/core';
import type { KeyTree } from './key-tree.ts';
import type { TreeNodes } from './tree-nodes.ts';

/** Receives the nodes of the tree that a scan of a range reaches. */
export interface RangeVisitor {
  /** Returns true to skip the subtree. `whole`: all keys of the subtree are in the range. */
  subtree(whole: boolean, live: number, newest: number): boolean;
  /**
   * Gets the rows [from, to) of a leaf, in key order; `live` and `newest` are those of the whole leaf. Returns true to
   * stop.
   */
  leaf(leaf: number, from: number, to: number, live: number, newest: number): boolean;
}

/** Passes a range to a visitor in key order. For a single key `find` is faster. */
export function scanRange(nodes: TreeNodes, tree: KeyTree, range: KeyRange, visitor: RangeVisitor): void {
  if (isEmptyRange(range)) return;
  const high = isUnbounded(range) ? undefined : range.end;
  const low = range.key.length === 0 ? undefined : range.key;
  scan(nodes, tree.root, tree.height, low, high, tree.live, tree.newest, visitor);
}

function scan(
  nodes: TreeNodes,
  node: number,
  height: number,
  low: Uint8Array | undefined,
  high: Uint8Array | undefined,
  live: number,
  newest: number,
  visitor: RangeVisitor,
): boolean {
  if (visitor.subtree(low === undefined && high === undefined, live, newest)) return false;
  if (height === 0) {
    const from = low === undefined ? 0 : rowOf(nodes, node, low);
    const to = high === undefined ? nodes.leaves.count(node) : rowOf(nodes, node, high);
    return from < to && visitor.leaf(node, from, to, live, newest);
  }
  const first = low === undefined ? 0 : nodes.childRow(node, low);
  const last = high === undefined ? nodes.inners.count(node) - 1 : nodes.childRow(node, high);
  for (let row = first; row <= last; row += 1) {
    const ended = scan(
      nodes,
      nodes.child(node, row),
      height - 1,
      row === first ? low : undefined,
      row === last ? high : undefined,
      nodes.live(node, row),
      nodes.newest(node, row),
      visitor,
    );
    if (ended) return true;
  }
  return false;
}

function rowOf(nodes: TreeNodes, leaf: number, key: Uint8Array): number {
  const row = nodes.searchLeaf(leaf, key);
  return row < 0 ? ~row : row;
}
