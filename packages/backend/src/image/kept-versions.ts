import type { Revision } from '@engram/core';
import type { KeyIndex, VersionSlot } from '@engram/index';

/**
 * Visits the versions of one key, newest first, that a compaction at `compacted` keeps and that are not newer than
 * `upTo`. These are all versions above `compacted`, and the newest version at or below it, unless that is a tombstone
 * older than `compacted` (etcd server/storage/mvcc/key_index.go). They depend on history alone, not on how much
 * garbage is freed already. Returns how many versions it has seen: the steps of a turn.
 */
export function visitKept(
  index: KeyIndex,
  head: VersionSlot,
  compacted: Revision,
  upTo: Revision,
  visit: (slot: VersionSlot) => void,
): number {
  let seen = 0;
  for (let slot = head; slot >= 0; slot = index.previous(slot)) {
    seen += 1;
    const mod = index.modRevision(slot);
    if (mod > upTo) continue;
    if (mod > compacted) {
      visit(slot);
      continue;
    }
    if (!index.isTombstone(slot) || mod === compacted) visit(slot);
    break;
  }
  return seen;
}
