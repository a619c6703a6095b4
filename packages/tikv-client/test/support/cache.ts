import { compareBytes } from '@engram/core';
import type { Region } from '../../src/region/region.ts';
import type { RegionCache } from '../../src/region/region-cache.ts';

/** A region of the one-byte keys [from, to). */
export const noRegion = (id: number, from: number, to: number, version: number): Region => ({
  id,
  start: Uint8Array.of(from),
  end: Uint8Array.of(to),
  version,
  confVer: 1,
  peers: [{ id: id * 10, storeId: 1, role: 0, isWitness: false }],
  downPeers: new Set(),
  leader: 0,
  usedMs: 0,
  valid: true,
});

export function decodeMembers({ start, end }: Region): readonly number[] {
  return Array.from({ length: end[0]! - start[0]! }, (_, at) => start[0]! + at);
}

/** Whether the regions of the cache are valid, in order and without overlaps. */
export function regionSet(cache: RegionCache): boolean {
  const regions = cache.regions();
  return regions.every(
    (region, at) => region.valid && (at === 0 || compareBytes(regions[at - 1]!.end, region.start) <= 0),
  );
}
