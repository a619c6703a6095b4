import { EMPTY_BYTES } from '@engram/core';
import { decodeMemcomparable } from '../../codec/memcomparable.ts';
import type { Region as RegionMeta } from '../../proto/gen/metapb.ts';
import type { RegionRange } from '../../region/region.ts';

/** The bounds of every region in every version that PD or a store has named, in user keys. */
export class KnownRegions {
  readonly #bounds = new Map<string, RegionRange>();

  learn(region: RegionMeta | undefined): void {
    if (region === undefined) return;
    const name = nameOf(region.id, region.regionEpoch?.version ?? 0);
    if (this.#bounds.has(name)) return;
    const bound = (encoded: Uint8Array): Uint8Array =>
      encoded.length === 0 ? EMPTY_BYTES : decodeMemcomparable(encoded);
    this.#bounds.set(name, { start: bound(region.startKey), end: bound(region.endKey) });
  }

  /** Undefined if neither PD nor a store has named the region in this version, so no client can know it. */
  boundsOf(id: number, version: number): RegionRange | undefined {
    return this.#bounds.get(nameOf(id, version));
  }
}

const nameOf = (id: number, version: number): string => `${id}/${version}`;
