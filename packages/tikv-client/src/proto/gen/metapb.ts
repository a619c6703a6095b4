// Generated from proto/metapb.proto by tools/generate.ts. Do not edit.
import { EMPTY_BYTES } from '@engram/core';
import { type Codec, NONE } from '../codec.ts';
import { MalformedMessage, type Reader } from '../reader.ts';
import type { Writer } from '../writer.ts';

export const StoreState = { Up: 0, Offline: 1, Tombstone: 2 } as const;

export const NodeState = { Preparing: 0, Serving: 1, Removing: 2, Removed: 3 } as const;

export interface StoreLabel {
  readonly key: string;
  readonly value: string;
}
export interface StoreLabelInit {
  readonly key?: string | undefined;
  readonly value?: string | undefined;
}
export function writeStoreLabel(w: Writer, m: StoreLabelInit): void {
  if (m.value !== undefined && !(m.value === '')) {
    w.text(m.value);
    w.varint(18);
  }
  if (m.key !== undefined && !(m.key === '')) {
    w.text(m.key);
    w.varint(10);
  }
}
export function readStoreLabel(r: Reader, end: number): StoreLabel {
  let key = '';
  let value = '';
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        key = r.text();
        break;
      case 18:
        value = r.text();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { key, value };
}
export const StoreLabelCodec: Codec<StoreLabel, StoreLabelInit> = { write: writeStoreLabel, read: readStoreLabel };

export interface Store {
  readonly id: number;
  readonly address: string;
  readonly state: number;
  readonly labels: readonly StoreLabel[];
  readonly version: string;
  readonly peerAddress: string;
  readonly statusAddress: string;
  readonly gitHash: string;
  readonly startTimestamp: bigint;
  readonly deployPath: string;
  readonly lastHeartbeat: bigint;
  readonly physicallyDestroyed: boolean;
  readonly nodeState: number;
}
export interface StoreInit {
  readonly id?: number | undefined;
  readonly address?: string | undefined;
  readonly state?: number | undefined;
  readonly labels?: readonly StoreLabelInit[] | undefined;
  readonly version?: string | undefined;
  readonly peerAddress?: string | undefined;
  readonly statusAddress?: string | undefined;
  readonly gitHash?: string | undefined;
  readonly startTimestamp?: bigint | undefined;
  readonly deployPath?: string | undefined;
  readonly lastHeartbeat?: bigint | undefined;
  readonly physicallyDestroyed?: boolean | undefined;
  readonly nodeState?: number | undefined;
}
export function writeStore(w: Writer, m: StoreInit): void {
  if (m.nodeState !== undefined && !(m.nodeState === 0)) {
    w.int32(m.nodeState);
    w.varint(104);
  }
  if (m.physicallyDestroyed !== undefined && !(!m.physicallyDestroyed)) {
    w.varint(1);
    w.varint(96);
  }
  if (m.lastHeartbeat !== undefined && !(m.lastHeartbeat === 0n)) {
    w.varint64(m.lastHeartbeat);
    w.varint(88);
  }
  if (m.deployPath !== undefined && !(m.deployPath === '')) {
    w.text(m.deployPath);
    w.varint(82);
  }
  if (m.startTimestamp !== undefined && !(m.startTimestamp === 0n)) {
    w.varint64(m.startTimestamp);
    w.varint(72);
  }
  if (m.gitHash !== undefined && !(m.gitHash === '')) {
    w.text(m.gitHash);
    w.varint(66);
  }
  if (m.statusAddress !== undefined && !(m.statusAddress === '')) {
    w.text(m.statusAddress);
    w.varint(58);
  }
  if (m.peerAddress !== undefined && !(m.peerAddress === '')) {
    w.text(m.peerAddress);
    w.varint(50);
  }
  if (m.version !== undefined && !(m.version === '')) {
    w.text(m.version);
    w.varint(42);
  }
  if (m.labels !== undefined && m.labels.length > 0) {
    for (let i = m.labels.length - 1; i >= 0; i -= 1) {
      const end = w.length;
      writeStoreLabel(w, m.labels[i]!);
      w.varint(w.length - end);
      w.varint(34);
    }
  }
  if (m.state !== undefined && !(m.state === 0)) {
    w.int32(m.state);
    w.varint(24);
  }
  if (m.address !== undefined && !(m.address === '')) {
    w.text(m.address);
    w.varint(18);
  }
  if (m.id !== undefined && !(m.id === 0)) {
    w.varint(m.id);
    w.varint(8);
  }
}
export function readStore(r: Reader, end: number): Store {
  let id = 0;
  let address = '';
  let state = 0;
  let labels: StoreLabel[] | undefined;
  let version = '';
  let peerAddress = '';
  let statusAddress = '';
  let gitHash = '';
  let startTimestamp = 0n;
  let deployPath = '';
  let lastHeartbeat = 0n;
  let physicallyDestroyed = false;
  let nodeState = 0;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 8:
        id = r.count();
        break;
      case 18:
        address = r.text();
        break;
      case 24:
        state = r.int32();
        break;
      case 34:
        (labels ??= []).push(readStoreLabel(r, r.limit()));
        break;
      case 42:
        version = r.text();
        break;
      case 50:
        peerAddress = r.text();
        break;
      case 58:
        statusAddress = r.text();
        break;
      case 66:
        gitHash = r.text();
        break;
      case 72:
        startTimestamp = r.int64();
        break;
      case 82:
        deployPath = r.text();
        break;
      case 88:
        lastHeartbeat = r.int64();
        break;
      case 96:
        physicallyDestroyed = r.uint32() !== 0;
        break;
      case 104:
        nodeState = r.int32();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { id, address, state, labels: labels ?? NONE, version, peerAddress, statusAddress, gitHash, startTimestamp, deployPath, lastHeartbeat, physicallyDestroyed, nodeState };
}
export const StoreCodec: Codec<Store, StoreInit> = { write: writeStore, read: readStore };

export interface RegionEpoch {
  readonly confVer: number;
  readonly version: number;
}
export interface RegionEpochInit {
  readonly confVer?: number | undefined;
  readonly version?: number | undefined;
}
export function writeRegionEpoch(w: Writer, m: RegionEpochInit): void {
  if (m.version !== undefined && !(m.version === 0)) {
    w.varint(m.version);
    w.varint(16);
  }
  if (m.confVer !== undefined && !(m.confVer === 0)) {
    w.varint(m.confVer);
    w.varint(8);
  }
}
export function readRegionEpoch(r: Reader, end: number): RegionEpoch {
  let confVer = 0;
  let version = 0;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 8:
        confVer = r.count();
        break;
      case 16:
        version = r.count();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { confVer, version };
}
export const RegionEpochCodec: Codec<RegionEpoch, RegionEpochInit> = { write: writeRegionEpoch, read: readRegionEpoch };

export interface Region {
  readonly id: number;
  readonly startKey: Uint8Array;
  readonly endKey: Uint8Array;
  readonly regionEpoch: RegionEpoch | undefined;
  readonly peers: readonly Peer[];
  readonly isInFlashback: boolean;
  readonly flashbackStartTs: bigint;
}
export interface RegionInit {
  readonly id?: number | undefined;
  readonly startKey?: Uint8Array | undefined;
  readonly endKey?: Uint8Array | undefined;
  readonly regionEpoch?: RegionEpochInit | undefined;
  readonly peers?: readonly PeerInit[] | undefined;
  readonly isInFlashback?: boolean | undefined;
  readonly flashbackStartTs?: bigint | undefined;
}
export function writeRegion(w: Writer, m: RegionInit): void {
  if (m.flashbackStartTs !== undefined && !(m.flashbackStartTs === 0n)) {
    w.varint64(m.flashbackStartTs);
    w.varint(64);
  }
  if (m.isInFlashback !== undefined && !(!m.isInFlashback)) {
    w.varint(1);
    w.varint(56);
  }
  if (m.peers !== undefined && m.peers.length > 0) {
    for (let i = m.peers.length - 1; i >= 0; i -= 1) {
      const end = w.length;
      writePeer(w, m.peers[i]!);
      w.varint(w.length - end);
      w.varint(42);
    }
  }
  if (m.regionEpoch !== undefined) {
    const end = w.length;
    writeRegionEpoch(w, m.regionEpoch);
    w.varint(w.length - end);
    w.varint(34);
  }
  if (m.endKey !== undefined && !(m.endKey.length === 0)) {
    w.bytes(m.endKey);
    w.varint(26);
  }
  if (m.startKey !== undefined && !(m.startKey.length === 0)) {
    w.bytes(m.startKey);
    w.varint(18);
  }
  if (m.id !== undefined && !(m.id === 0)) {
    w.varint(m.id);
    w.varint(8);
  }
}
export function readRegion(r: Reader, end: number): Region {
  let id = 0;
  let startKey: Uint8Array = EMPTY_BYTES;
  let endKey: Uint8Array = EMPTY_BYTES;
  let regionEpoch: RegionEpoch | undefined;
  let peers: Peer[] | undefined;
  let isInFlashback = false;
  let flashbackStartTs = 0n;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 8:
        id = r.count();
        break;
      case 18:
        startKey = r.bytes();
        break;
      case 26:
        endKey = r.bytes();
        break;
      case 34:
        regionEpoch = readRegionEpoch(r, r.limit());
        break;
      case 42:
        (peers ??= []).push(readPeer(r, r.limit()));
        break;
      case 56:
        isInFlashback = r.uint32() !== 0;
        break;
      case 64:
        flashbackStartTs = r.uint64();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { id, startKey, endKey, regionEpoch, peers: peers ?? NONE, isInFlashback, flashbackStartTs };
}
export const RegionCodec: Codec<Region, RegionInit> = { write: writeRegion, read: readRegion };

export const PeerRole = { Voter: 0, Learner: 1, IncomingVoter: 2, DemotingVoter: 3 } as const;

export interface Peer {
  readonly id: number;
  readonly storeId: number;
  readonly role: number;
  readonly isWitness: boolean;
}
export interface PeerInit {
  readonly id?: number | undefined;
  readonly storeId?: number | undefined;
  readonly role?: number | undefined;
  readonly isWitness?: boolean | undefined;
}
export function writePeer(w: Writer, m: PeerInit): void {
  if (m.isWitness !== undefined && !(!m.isWitness)) {
    w.varint(1);
    w.varint(32);
  }
  if (m.role !== undefined && !(m.role === 0)) {
    w.int32(m.role);
    w.varint(24);
  }
  if (m.storeId !== undefined && !(m.storeId === 0)) {
    w.varint(m.storeId);
    w.varint(16);
  }
  if (m.id !== undefined && !(m.id === 0)) {
    w.varint(m.id);
    w.varint(8);
  }
}
export function readPeer(r: Reader, end: number): Peer {
  let id = 0;
  let storeId = 0;
  let role = 0;
  let isWitness = false;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 8:
        id = r.count();
        break;
      case 16:
        storeId = r.count();
        break;
      case 24:
        role = r.int32();
        break;
      case 32:
        isWitness = r.uint32() !== 0;
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { id, storeId, role, isWitness };
}
export const PeerCodec: Codec<Peer, PeerInit> = { write: writePeer, read: readPeer };
