import { assert, compareBytes, type Revision } from '@engram/core';
import { NO_KEY } from './key-slabs.ts';
import type { KeyTree } from './key-tree.ts';
import { slotOf, type TreeNodes } from './tree-nodes.ts';
import { NO_VERSION } from './version-slot.ts';
import type { VersionTable } from './version-table.ts';

interface Summary {
  readonly live: number;
  readonly newest: number;
}

/** Asserts order, separators, prints, counts, newest revisions, fill and the number of nodes. */
export function verifyTree(nodes: TreeNodes, tree: KeyTree, versions: VersionTable, compacted: Revision): void {
  let leaves = 0;
  let inners = 0;
  let held = 0;
  let before: Uint8Array | undefined;

  function checkSummary(found: Summary, live: number, newest: number): void {
    assert(found.live === live, 'a wrong count of live keys');
    assert(newest >= found.newest, 'a newest revision too low');
    assert(newest === found.newest || newest <= compacted, 'a newest revision too high');
  }

  function checkLeaf(leaf: number, low: Uint8Array | undefined): Summary {
    leaves += 1;
    nodes.verifyPrints(nodes.leaves, leaf);
    for (let row = 0; row < nodes.leaves.count(leaf); row += 1) {
      const ref = nodes.leafKey(leaf, row);
      const key = nodes.keys.copy(ref);
      assert(before === undefined || compareBytes(before, key) < 0, 'keys out of order');
      assert(low === undefined || compareBytes(low, key) <= 0, 'a key below its separator');
      before = key;
      const head = nodes.head(leaf, row);
      assert(versions.isTombstone(slotOf(head)) === head < 0, 'a head that lies about its life');
      assert(nodes.headNewest(leaf, row) === versions.mod(slotOf(head)), 'a head of another revision');
      for (let slot = slotOf(head); slot !== NO_VERSION; slot = versions.previous(slot)) {
        held += 1;
        assert(versions.key(slot) === ref, 'a version with another key');
        const previous = versions.previous(slot);
        if (previous === NO_VERSION) continue;
        assert(versions.mod(previous) < versions.mod(slot), 'versions out of order');
        if (versions.isTombstone(previous)) assert(versions.next(previous) === slot, 'a tombstone lost its superseder');
      }
    }
    return { live: nodes.leafLive(leaf), newest: nodes.newestOf(nodes.leaves, leaf) };
  }

  function check(node: number, height: number, low: Uint8Array | undefined): Summary {
    if (height === 0) return checkLeaf(node, low);
    inners += 1;
    nodes.verifyPrints(nodes.inners, node);
    const count = nodes.inners.count(node);
    assert(count >= 2, 'an inner node with one child');
    for (let row = 0; row < count; row += 1) {
      const ref = nodes.innerKey(node, row);
      const bound = ref === NO_KEY ? low : nodes.keys.copy(ref);
      assert(before === undefined || bound === undefined || compareBytes(before, bound) < 0, 'a key above its bound');
      const child = nodes.child(node, row);
      if (height === 1) assert(nodes.leaves.count(child) > 0, 'an empty leaf');
      checkSummary(check(child, height - 1, bound), nodes.live(node, row), nodes.newest(node, row));
    }
    return { live: nodes.innerLive(node), newest: nodes.newestOf(nodes.inners, node) };
  }

  checkSummary(check(tree.root, tree.height, undefined), tree.live, tree.newest);
  assert(leaves === nodes.leaves.used && inners === nodes.inners.used, 'nodes that nobody uses');
  assert(held === versions.held, 'versions that nobody reaches');
}
