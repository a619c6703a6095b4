import { assert, compareBytes, EMPTY_BYTES } from '@engram/core';
import { decodeMemcomparable, encodeMemcomparable } from '../codec/memcomparable.ts';
import type { RegionInit } from '../proto/gen/metapb.ts';
import type { RegionInit as PdRegionInit } from '../proto/gen/pdpb.ts';

export interface FakeRegion {
  readonly id: number;
  /** Bounds are user keys. Zero length is infinity. */
  start: Uint8Array;
  end: Uint8Array;
  version: number;
  confVer: number;
  readonly peers: { readonly id: number; readonly storeId: number; readonly role?: number }[];
  /** 0 during an election. */
  leaderId: number;
  /** The store that has led it last when it served a request; 0 before the first. */
  servedBy: number;
}

const encodeBound = (key: Uint8Array): Uint8Array => (key.length === 0 ? EMPTY_BYTES : encodeMemcomparable(key));

export const decodeBound = (bound: Uint8Array): Uint8Array =>
  bound.length === 0 ? EMPTY_BYTES : decodeMemcomparable(bound);

export const toMeta = (region: FakeRegion): RegionInit => ({
  id: region.id,
  startKey: encodeBound(region.start),
  endKey: encodeBound(region.end),
  regionEpoch: { confVer: region.confVer, version: region.version },
  peers: region.peers,
});

export const toPdRegion = (region: FakeRegion): PdRegionInit => ({
  region: toMeta(region),
  leader: region.peers.find(({ id }) => id === region.leaderId),
});

/** The regions of the stores, and PD's possibly outdated view of them. */
export class FakeRegions {
  #nextId = 1;
  #regions: FakeRegion[] = [];
  /** PD's frozen view. Undefined if PD knows the current regions. */
  pdView: readonly FakeRegion[] | undefined;

  constructor(storeIds: readonly number[]) {
    const region = this.#make(EMPTY_BYTES, EMPTY_BYTES, 1, 1, storeIds);
    this.#regions.push(region);
  }

  #make(start: Uint8Array, end: Uint8Array, version: number, confVer: number, storeIds: readonly number[]): FakeRegion {
    const id = this.#nextId++;
    const peers = storeIds.map((storeId) => ({ id: this.#nextId++, storeId }));
    return { id, start, end, version, confVer, peers, leaderId: peers[0]!.id, servedBy: 0 };
  }

  all(): readonly FakeRegion[] {
    return this.#regions;
  }

  byId(id: number): FakeRegion | undefined {
    return this.#regions.find((region) => region.id === id);
  }

  holding(key: Uint8Array): FakeRegion {
    const region = this.#regions.find(
      ({ start, end }) => compareBytes(start, key) <= 0 && (end.length === 0 || compareBytes(key, end) < 0),
    );
    assert(region !== undefined, 'the regions cover all keys');
    return region;
  }

  /** Freezes PD's view of the regions until `followPd`. */
  freezePd(): void {
    this.pdView = this.#regions.map((region) => ({ ...region, peers: [...region.peers] }));
  }

  followPd(): void {
    this.pdView = undefined;
  }

  forPd(): readonly FakeRegion[] {
    return this.pdView ?? this.#regions;
  }

  /** Splits at `keys`. The left part keeps the id, as in TiKV with right-derive off. Leaders stay on their store. */
  split(...keys: readonly Uint8Array[]): void {
    for (const key of keys) {
      const region = this.holding(key);
      if (compareBytes(region.start, key) === 0) continue;
      region.version += 1;
      const storeIds = region.peers.map(({ storeId }) => storeId);
      const right = this.#make(key, region.end, region.version, region.confVer, storeIds);
      const leaderStore = region.peers.find(({ id }) => id === region.leaderId)?.storeId;
      right.leaderId = right.peers.find(({ storeId }) => storeId === leaderStore)?.id ?? 0;
      right.servedBy = region.servedBy;
      region.end = key;
      this.#regions.splice(this.#regions.indexOf(region) + 1, 0, right);
    }
  }

  /** Merges the next region into the region that holds `key`. */
  mergeWithNext(key: Uint8Array): void {
    const left = this.holding(key);
    const right = this.#regions[this.#regions.indexOf(left) + 1];
    assert(right !== undefined, 'the last region has no neighbour');
    left.version = Math.max(left.version, right.version) + 1;
    left.end = right.end;
    left.servedBy = 0;
    this.#regions.splice(this.#regions.indexOf(right), 1);
  }

  /** `storeId` 0: the region has no leader. */
  transferLeader(key: Uint8Array, storeId: number): void {
    const region = this.holding(key);
    region.leaderId = region.peers.find((peer) => peer.storeId === storeId)?.id ?? 0;
  }

  movePeer(key: Uint8Array, fromStore: number, toStore: number): void {
    const region = this.holding(key);
    const at = region.peers.findIndex(({ storeId }) => storeId === fromStore);
    const old = region.peers[at]!;
    const peer = { id: this.#nextId++, storeId: toStore };
    region.peers[at] = peer;
    region.confVer += 2;
    if (region.leaderId === old.id) region.leaderId = peer.id;
  }
}
