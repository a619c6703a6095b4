import { type VersionMeta, type LeaseId, logPosition, NO_LEASE, revision } from '@engram/core';
import { type KeyIndex, NO_VERSION, type VersionSlot } from '@engram/index';

export function put(mod: number, options: { sub?: number; version?: number; create?: number; lease?: LeaseId } = {}) {
  return {
    createRevision: revision(options.create ?? mod),
    modRevision: revision(mod),
    sub: options.sub ?? 0,
    version: options.version ?? 1,
    lease: options.lease ?? NO_LEASE,
    tombstone: false,
    position: logPosition(mod * 100 + (options.sub ?? 0)),
    bytes: 10 + (mod % 7),
  } satisfies VersionMeta;
}

export function tombstone(mod: number, sub = 0) {
  return { ...put(mod, { sub }), createRevision: revision(0), version: 0, tombstone: true } satisfies VersionMeta;
}

export function metaOf(index: KeyIndex, slot: VersionSlot): VersionMeta | undefined {
  if (slot === NO_VERSION) return undefined;
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

/** All versions of a chain, oldest first. */
export function chainOf(index: KeyIndex, head: VersionSlot): VersionMeta[] {
  const chain: VersionMeta[] = [];
  for (let slot = head; slot !== NO_VERSION; slot = index.previous(slot)) chain.unshift(metaOf(index, slot)!);
  return chain;
}

/** Adds all versions of an index to a loader. */
export function reload(index: KeyIndex, loader: { add(key: Uint8Array, meta: VersionMeta): VersionSlot }): void {
  index.walk(new Uint8Array(0), Number.POSITIVE_INFINITY, (key, head) => {
    for (const meta of chainOf(index, head)) loader.add(key, meta);
  });
}
