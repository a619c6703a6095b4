import { compareBytes } from '@engram/core';
import { holdsEnd, holdsKey, isNewer, type Region } from './region.ts';

/**
 * Regions in the order of their starts, without overlaps. Keys in gaps must be looked up in PD. Pure. An older epoch never
 * replaces a newer one, because PD learns of a split later than the stores do.
 */
export class RegionCache {
  readonly #idleMs: number;
  #regions: Region[] = [];

  constructor(idleMs: number) {
    this.#idleMs = idleMs;
  }

  get size(): number {
    return this.#regions.length;
  }

  regions(): readonly Region[] {
    return this.#regions;
  }

  /** The index of the first region that starts above `key`. */
  #after(key: Uint8Array): number {
    let low = 0;
    let high = this.#regions.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compareBytes(this.#regions[middle]!.start, key) <= 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  find(key: Uint8Array, nowMs: number): Region | undefined {
    const region = this.#regions[this.#after(key) - 1];
    return region !== undefined && holdsKey(region, key) ? this.#use(region, nowMs) : undefined;
  }

  /** The region that holds the keys just below `end`. */
  findEnd(end: Uint8Array, nowMs: number): Region | undefined {
    let at = end.length === 0 ? this.#regions.length : this.#after(end);
    // A region that starts exactly at `end` lies above it.
    if (at > 0 && end.length > 0 && compareBytes(this.#regions[at - 1]!.start, end) === 0) at -= 1;
    const region = this.#regions[at - 1];
    return region !== undefined && holdsEnd(region, end) ? this.#use(region, nowMs) : undefined;
  }

  #use(region: Region, nowMs: number): Region | undefined {
    if (nowMs - region.usedMs > this.#idleMs) {
      this.remove(region);
      return undefined;
    }
    region.usedMs = nowMs;
    return region;
  }

  /** False if the region was not inserted, because an overlapping region in the cache is newer. */
  insert(region: Region): boolean {
    const from = this.#firstOverlap(region);
    let to = from;
    while (
      to < this.#regions.length &&
      (region.end.length === 0 || compareBytes(this.#regions[to]!.start, region.end) < 0)
    )
      to += 1;
    const overlapping = this.#regions.slice(from, to);
    for (const known of overlapping) {
      // Versions of overlapping regions are comparable, because a split or merge raises the version of all its regions.
      if (known.id === region.id ? isNewer(known, region) : known.version > region.version) return false;
    }
    for (const known of overlapping) {
      known.valid = false;
      // PD may not know the leader yet. The leader in the cache is the better guess.
      if (known.id === region.id && region.leader < 0) {
        const leaderId = known.peers[known.leader]?.id;
        region.leader = region.peers.findIndex(({ id }) => id === leaderId);
      }
    }
    this.#regions.splice(from, to - from, region);
    return true;
  }

  #firstOverlap(region: Region): number {
    const at = this.#after(region.start);
    const before = this.#regions[at - 1];
    if (before !== undefined && (before.end.length === 0 || compareBytes(before.end, region.start) > 0)) return at - 1;
    return at;
  }

  remove(region: Region): void {
    region.valid = false;
    const at = this.#after(region.start) - 1;
    if (this.#regions[at] === region) this.#regions.splice(at, 1);
  }

  /** False if the cached region does not have that peer. */
  switchLeader(region: Region, peerId: number): boolean {
    const at = region.peers.findIndex(({ id }) => id === peerId);
    if (at < 0) return false;
    region.leader = at;
    return true;
  }
}
