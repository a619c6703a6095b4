// Made by packages/protobuf/tools/generate.ts from proto/. Not edited by hand.
import { EMPTY_BYTES } from '@engram/core';
import { type Codec, decode, encode, type Init, type Reader, type Writer } from '@engram/protobuf';

export const StoreState = { Up: 0, Offline: 1, Tombstone: 2 } as const;

export const NodeState = { Preparing: 0, Serving: 1, Removing: 2, Removed: 3 } as const;

export const PeerRole = { Voter: 0, Learner: 1, IncomingVoter: 2, DemotingVoter: 3 } as const;

export interface StoreLabel {
  key: string;
  value: string;
}
export type StoreLabelInit = Init<StoreLabel>;

export const newStoreLabel = (): StoreLabel => ({ key: '', value: '', });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readStoreLabel(r: Reader, message: StoreLabel): StoreLabel {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10:
        message.key = r.lenientString();
        break;
      case 18:
        message.value = r.lenientString();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeStoreLabel(w: Writer, message: StoreLabelInit): void {
  if (message.value !== undefined && message.value !== '') {
    w.string(message.value);
    w.varint(18);
  }
  if (message.key !== undefined && message.key !== '') {
    w.string(message.key);
    w.varint(10);
  }
}

export const StoreLabelCodec: Codec<StoreLabel, StoreLabelInit> = {
  write: writeStoreLabel,
  read: (r) => readStoreLabel(r, newStoreLabel()),
};
export const encodeStoreLabel = (message: StoreLabelInit): Uint8Array => encode(StoreLabelCodec, message);
export const decodeStoreLabel = (bytes: Uint8Array): StoreLabel => decode(StoreLabelCodec, bytes);

export interface Store {
  id: number;
  address: string;
  state: number;
  labels: StoreLabel[];
  version: string;
  peerAddress: string;
  statusAddress: string;
  gitHash: string;
  startTimestamp: bigint;
  deployPath: string;
  lastHeartbeat: bigint;
  physicallyDestroyed: boolean;
  nodeState: number;
}
export type StoreInit = Init<Store>;

export const newStore = (): Store => ({ id: 0, address: '', state: 0, labels: [], version: '', peerAddress: '', statusAddress: '', gitHash: '', startTimestamp: 0n, deployPath: '', lastHeartbeat: 0n, physicallyDestroyed: false, nodeState: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readStore(r: Reader, message: Store): Store {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.id = r.count();
        break;
      case 18:
        message.address = r.lenientString();
        break;
      case 24:
        message.state = r.int32();
        break;
      case 34: {
        const outer = r.enter();
        message.labels.push(readStoreLabel(r, newStoreLabel()));
        r.leave(outer);
        break;
      }
      case 42:
        message.version = r.lenientString();
        break;
      case 50:
        message.peerAddress = r.lenientString();
        break;
      case 58:
        message.statusAddress = r.lenientString();
        break;
      case 66:
        message.gitHash = r.lenientString();
        break;
      case 72:
        message.startTimestamp = r.bigInt64();
        break;
      case 82:
        message.deployPath = r.lenientString();
        break;
      case 88:
        message.lastHeartbeat = r.bigInt64();
        break;
      case 96:
        message.physicallyDestroyed = r.bool();
        break;
      case 104:
        message.nodeState = r.int32();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeStore(w: Writer, message: StoreInit): void {
  if (message.nodeState !== undefined && message.nodeState !== 0) {
    w.int64(message.nodeState);
    w.varint(104);
  }
  if (message.physicallyDestroyed === true) {
    w.varint(message.physicallyDestroyed ? 1 : 0);
    w.varint(96);
  }
  if (message.lastHeartbeat !== undefined && message.lastHeartbeat !== 0n) {
    w.bigint(message.lastHeartbeat);
    w.varint(88);
  }
  if (message.deployPath !== undefined && message.deployPath !== '') {
    w.string(message.deployPath);
    w.varint(82);
  }
  if (message.startTimestamp !== undefined && message.startTimestamp !== 0n) {
    w.bigint(message.startTimestamp);
    w.varint(72);
  }
  if (message.gitHash !== undefined && message.gitHash !== '') {
    w.string(message.gitHash);
    w.varint(66);
  }
  if (message.statusAddress !== undefined && message.statusAddress !== '') {
    w.string(message.statusAddress);
    w.varint(58);
  }
  if (message.peerAddress !== undefined && message.peerAddress !== '') {
    w.string(message.peerAddress);
    w.varint(50);
  }
  if (message.version !== undefined && message.version !== '') {
    w.string(message.version);
    w.varint(42);
  }
  if (message.labels !== undefined && message.labels.length > 0) {
    for (let at = message.labels.length - 1; at >= 0; at -= 1) {
      const end = w.length;
      writeStoreLabel(w, message.labels[at]!);
      w.varint(w.length - end);
      w.varint(34);
    }
  }
  if (message.state !== undefined && message.state !== 0) {
    w.int64(message.state);
    w.varint(24);
  }
  if (message.address !== undefined && message.address !== '') {
    w.string(message.address);
    w.varint(18);
  }
  if (message.id !== undefined && message.id !== 0) {
    w.int64(message.id);
    w.varint(8);
  }
}

export const StoreCodec: Codec<Store, StoreInit> = {
  write: writeStore,
  read: (r) => readStore(r, newStore()),
};
export const encodeStore = (message: StoreInit): Uint8Array => encode(StoreCodec, message);
export const decodeStore = (bytes: Uint8Array): Store => decode(StoreCodec, bytes);

export interface RegionEpoch {
  confVer: number;
  version: number;
}
export type RegionEpochInit = Init<RegionEpoch>;

export const newRegionEpoch = (): RegionEpoch => ({ confVer: 0, version: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readRegionEpoch(r: Reader, message: RegionEpoch): RegionEpoch {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.confVer = r.count();
        break;
      case 16:
        message.version = r.count();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeRegionEpoch(w: Writer, message: RegionEpochInit): void {
  if (message.version !== undefined && message.version !== 0) {
    w.int64(message.version);
    w.varint(16);
  }
  if (message.confVer !== undefined && message.confVer !== 0) {
    w.int64(message.confVer);
    w.varint(8);
  }
}

export const RegionEpochCodec: Codec<RegionEpoch, RegionEpochInit> = {
  write: writeRegionEpoch,
  read: (r) => readRegionEpoch(r, newRegionEpoch()),
};
export const encodeRegionEpoch = (message: RegionEpochInit): Uint8Array => encode(RegionEpochCodec, message);
export const decodeRegionEpoch = (bytes: Uint8Array): RegionEpoch => decode(RegionEpochCodec, bytes);

export interface Region {
  id: number;
  startKey: Uint8Array;
  endKey: Uint8Array;
  regionEpoch: RegionEpoch | undefined;
  peers: Peer[];
  isInFlashback: boolean;
  flashbackStartTs: bigint;
}
export type RegionInit = Init<Region>;

export const newRegion = (): Region => ({ id: 0, startKey: EMPTY_BYTES, endKey: EMPTY_BYTES, regionEpoch: undefined, peers: [], isInFlashback: false, flashbackStartTs: 0n, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readRegion(r: Reader, message: Region): Region {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.id = r.count();
        break;
      case 18:
        message.startKey = r.bytes();
        break;
      case 26:
        message.endKey = r.bytes();
        break;
      case 34: {
        const outer = r.enter();
        message.regionEpoch = readRegionEpoch(r, message.regionEpoch ?? newRegionEpoch());
        r.leave(outer);
        break;
      }
      case 42: {
        const outer = r.enter();
        message.peers.push(readPeer(r, newPeer()));
        r.leave(outer);
        break;
      }
      case 56:
        message.isInFlashback = r.bool();
        break;
      case 64:
        message.flashbackStartTs = r.bigUint64();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeRegion(w: Writer, message: RegionInit): void {
  if (message.flashbackStartTs !== undefined && message.flashbackStartTs !== 0n) {
    w.bigint(message.flashbackStartTs);
    w.varint(64);
  }
  if (message.isInFlashback === true) {
    w.varint(message.isInFlashback ? 1 : 0);
    w.varint(56);
  }
  if (message.peers !== undefined && message.peers.length > 0) {
    for (let at = message.peers.length - 1; at >= 0; at -= 1) {
      const end = w.length;
      writePeer(w, message.peers[at]!);
      w.varint(w.length - end);
      w.varint(42);
    }
  }
  if (message.regionEpoch !== undefined) {
    const end = w.length;
    writeRegionEpoch(w, message.regionEpoch);
    w.varint(w.length - end);
    w.varint(34);
  }
  if (message.endKey !== undefined && message.endKey.length > 0) {
    w.bytes(message.endKey);
    w.varint(26);
  }
  if (message.startKey !== undefined && message.startKey.length > 0) {
    w.bytes(message.startKey);
    w.varint(18);
  }
  if (message.id !== undefined && message.id !== 0) {
    w.int64(message.id);
    w.varint(8);
  }
}

export const RegionCodec: Codec<Region, RegionInit> = {
  write: writeRegion,
  read: (r) => readRegion(r, newRegion()),
};
export const encodeRegion = (message: RegionInit): Uint8Array => encode(RegionCodec, message);
export const decodeRegion = (bytes: Uint8Array): Region => decode(RegionCodec, bytes);

export interface Peer {
  id: number;
  storeId: number;
  role: number;
  isWitness: boolean;
}
export type PeerInit = Init<Peer>;

export const newPeer = (): Peer => ({ id: 0, storeId: 0, role: 0, isWitness: false, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readPeer(r: Reader, message: Peer): Peer {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.id = r.count();
        break;
      case 16:
        message.storeId = r.count();
        break;
      case 24:
        message.role = r.int32();
        break;
      case 32:
        message.isWitness = r.bool();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writePeer(w: Writer, message: PeerInit): void {
  if (message.isWitness === true) {
    w.varint(message.isWitness ? 1 : 0);
    w.varint(32);
  }
  if (message.role !== undefined && message.role !== 0) {
    w.int64(message.role);
    w.varint(24);
  }
  if (message.storeId !== undefined && message.storeId !== 0) {
    w.int64(message.storeId);
    w.varint(16);
  }
  if (message.id !== undefined && message.id !== 0) {
    w.int64(message.id);
    w.varint(8);
  }
}

export const PeerCodec: Codec<Peer, PeerInit> = {
  write: writePeer,
  read: (r) => readPeer(r, newPeer()),
};
export const encodePeer = (message: PeerInit): Uint8Array => encode(PeerCodec, message);
export const decodePeer = (bytes: Uint8Array): Peer => decode(PeerCodec, bytes);
