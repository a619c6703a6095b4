import { compareBytes } from '@engram/core';
import type { KeyCodec } from '../codec/key-codec.ts';
import { type Peer, PeerRole, type Region as RegionMeta } from '../proto/gen/metapb.ts';

/**
 * One region as this client knows it. Bounds are decoded. `end` of zero length is the end of all keys. The cache owns the
 * object and replaces it when the region's epoch changes. Only `leader`, `usedMs` and `valid` change in place.
 */
export interface Region {
  readonly id: number;
  readonly start: Uint8Array;
  readonly end: Uint8Array;
  readonly version: number;
  readonly confVer: number;
  /** The peers that hold data. Witnesses are left out. */
  readonly peers: readonly Peer[];
  /** Ids of peers that PD reports as down. They are asked last. */
  readonly downPeers: ReadonlySet<number>;
  /** Index in `peers` of the leader, -1 if unknown. */
  leader: number;
  usedMs: number;
  valid: boolean;
}

export interface PdView {
  readonly region: RegionMeta | undefined;
  readonly leader: Peer | undefined;
  readonly downPeers: readonly { readonly peer: Peer | undefined }[];
}

/** Throws TikvError `corrupt-key`. Undefined if PD named no region, or no peer that holds data. */
export function regionOf(view: PdView, codec: KeyCodec, nowMs: number): Region | undefined {
  const { region, leader } = view;
  if (region === undefined) return undefined;
  const peers = region.peers.filter(({ isWitness }) => !isWitness);
  if (peers.length === 0) return undefined;
  return {
    id: region.id,
    start: codec.boundFromPd(region.startKey),
    end: codec.boundFromPd(region.endKey),
    version: region.regionEpoch?.version ?? 0,
    confVer: region.regionEpoch?.confVer ?? 0,
    peers,
    downPeers: new Set(view.downPeers.flatMap(({ peer }) => (peer === undefined ? [] : [peer.id]))),
    leader: peers.findIndex(({ id }) => id === leader?.id && id !== 0),
    usedMs: nowMs,
    valid: true,
  };
}

export const canVote = (peer: Peer): boolean => peer.role !== PeerRole.Learner;

/** A range of keys. `end` of zero length is the end of all keys. */
export type RegionRange = Pick<Region, 'start' | 'end'>;

export const holdsKey = ({ start, end }: RegionRange, key: Uint8Array): boolean =>
  compareBytes(start, key) <= 0 && (end.length === 0 || compareBytes(key, end) < 0);

/** Whether the keys just below `end` are in the region. `end` of zero length is the end of all keys. */
export const holdsEnd = (region: Region, end: Uint8Array): boolean =>
  end.length === 0
    ? region.end.length === 0
    : compareBytes(region.start, end) < 0 && (region.end.length === 0 || compareBytes(end, region.end) <= 0);

/** Orders epochs of one region. `version` grows at splits and merges, `confVer` at changes of membership. */
export const isNewer = (
  left: { version: number; confVer: number },
  right: { version: number; confVer: number },
): boolean => left.version > right.version || (left.version === right.version && left.confVer > right.confVer);

/** The lower of two upper bounds, where zero length is infinity. */
export function lowerEnd(left: Uint8Array, right: Uint8Array): Uint8Array {
  if (left.length === 0) return right;
  if (right.length === 0) return left;
  return compareBytes(left, right) <= 0 ? left : right;
}

export const upperStart = (left: Uint8Array, right: Uint8Array): Uint8Array =>
  compareBytes(left, right) >= 0 ? left : right;
