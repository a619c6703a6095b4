import type { Revision } from '@engram/core';
import type { KeyIndex, VersionSlot } from '@engram/index';

/**
 * The versions of one key, newest first, that a compaction at `compacted` keeps and that are not newer than `upTo`: all
 * above it, and of what is at or below the newest, unless that is an older tombstone (etcd
 * server/storage/mvcc/key_index.go). They depend on history alone, not on how far garbage has been worked off.
 */
export function visitKept(
  index: KeyIndex,
  head: VersionSlot,
  compacted: Revision,
  upTo: Revision,
  visit: (slot: VersionSlot) => void,
): void {
  for (let slot = head; slot >= 0; slot = index.previous(slot)) {
    const mod = index.modRevision(slot);
    if (mod > upTo) continue;
    if (mod > compacted) {
      visit(slot);
      continue;
    }
    if (!index.isTombstone(slot) || mod === compacted) visit(slot);
    return;
  }
}
