import type { VersionMeta } from '@engram/core';
import type { KeyIndex, VersionSlot } from '@engram/index';

/** Everything that the index knows of a version. */
export function versionMeta(index: KeyIndex, slot: VersionSlot): VersionMeta {
  return {
    createRevision: index.createRevision(slot),
    modRevision: index.modRevision(slot),
    sub: index.sub(slot),
    version: index.version(slot),
    lease: index.lease(slot),
    tombstone: index.isTombstone(slot),
    position: index.position(slot),
    bytes: index.bytes(slot),
  };
}
