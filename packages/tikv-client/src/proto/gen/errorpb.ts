// Made by packages/protobuf/tools/generate.ts from proto/. Not edited by hand.
import { EMPTY_BYTES } from '@engram/core';
import { type Codec, decode, encode, type Init, type Reader, type Writer } from '@engram/protobuf';
import * as metapb from './metapb.ts';

export interface NotLeader {
  regionId: number;
  leader: metapb.Peer | undefined;
}
export type NotLeaderInit = Init<NotLeader>;

export const newNotLeader = (): NotLeader => ({ regionId: 0, leader: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readNotLeader(r: Reader, message: NotLeader): NotLeader {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.regionId = r.count();
        break;
      case 18: {
        const outer = r.enter();
        message.leader = metapb.readPeer(r, message.leader ?? metapb.newPeer());
        r.leave(outer);
        break;
      }
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeNotLeader(w: Writer, message: NotLeaderInit): void {
  if (message.leader !== undefined) {
    const end = w.length;
    metapb.writePeer(w, message.leader);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (message.regionId !== undefined && message.regionId !== 0) {
    w.int64(message.regionId);
    w.varint(8);
  }
}

export const NotLeaderCodec: Codec<NotLeader, NotLeaderInit> = {
  write: writeNotLeader,
  read: (r) => readNotLeader(r, newNotLeader()),
};
export const encodeNotLeader = (message: NotLeaderInit): Uint8Array => encode(NotLeaderCodec, message);
export const decodeNotLeader = (bytes: Uint8Array): NotLeader => decode(NotLeaderCodec, bytes);

export interface IsWitness {
  regionId: number;
}
export type IsWitnessInit = Init<IsWitness>;

export const newIsWitness = (): IsWitness => ({ regionId: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readIsWitness(r: Reader, message: IsWitness): IsWitness {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.regionId = r.count();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeIsWitness(w: Writer, message: IsWitnessInit): void {
  if (message.regionId !== undefined && message.regionId !== 0) {
    w.int64(message.regionId);
    w.varint(8);
  }
}

export const IsWitnessCodec: Codec<IsWitness, IsWitnessInit> = {
  write: writeIsWitness,
  read: (r) => readIsWitness(r, newIsWitness()),
};
export const encodeIsWitness = (message: IsWitnessInit): Uint8Array => encode(IsWitnessCodec, message);
export const decodeIsWitness = (bytes: Uint8Array): IsWitness => decode(IsWitnessCodec, bytes);

export interface BucketVersionNotMatch {
  version: number;
  keys: Uint8Array[];
}
export type BucketVersionNotMatchInit = Init<BucketVersionNotMatch>;

export const newBucketVersionNotMatch = (): BucketVersionNotMatch => ({ version: 0, keys: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readBucketVersionNotMatch(r: Reader, message: BucketVersionNotMatch): BucketVersionNotMatch {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.version = r.count();
        break;
      case 18:
        message.keys.push(r.bytes());
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeBucketVersionNotMatch(w: Writer, message: BucketVersionNotMatchInit): void {
  if (message.keys !== undefined && message.keys.length > 0) {
    for (let at = message.keys.length - 1; at >= 0; at -= 1) {
      w.bytes(message.keys[at]!);
      w.varint(18);
    }
  }
  if (message.version !== undefined && message.version !== 0) {
    w.int64(message.version);
    w.varint(8);
  }
}

export const BucketVersionNotMatchCodec: Codec<BucketVersionNotMatch, BucketVersionNotMatchInit> = {
  write: writeBucketVersionNotMatch,
  read: (r) => readBucketVersionNotMatch(r, newBucketVersionNotMatch()),
};
export const encodeBucketVersionNotMatch = (message: BucketVersionNotMatchInit): Uint8Array => encode(BucketVersionNotMatchCodec, message);
export const decodeBucketVersionNotMatch = (bytes: Uint8Array): BucketVersionNotMatch => decode(BucketVersionNotMatchCodec, bytes);

export interface DiskFull {
  storeId: number[];
  reason: string;
}
export type DiskFullInit = Init<DiskFull>;

export const newDiskFull = (): DiskFull => ({ storeId: [], reason: '', });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readDiskFull(r: Reader, message: DiskFull): DiskFull {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.storeId.push(r.count());
        break;
      case 10: {
        const outer = r.enterList();
        while (r.more()) message.storeId.push(r.count());
        r.leave(outer);
        break;
      }
      case 18:
        message.reason = r.lenientString();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeDiskFull(w: Writer, message: DiskFullInit): void {
  if (message.reason !== undefined && message.reason !== '') {
    w.string(message.reason);
    w.varint(18);
  }
  if (message.storeId !== undefined && message.storeId.length > 0) {
    const end = w.length;
    for (let at = message.storeId.length - 1; at >= 0; at -= 1) w.int64(message.storeId[at]!);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const DiskFullCodec: Codec<DiskFull, DiskFullInit> = {
  write: writeDiskFull,
  read: (r) => readDiskFull(r, newDiskFull()),
};
export const encodeDiskFull = (message: DiskFullInit): Uint8Array => encode(DiskFullCodec, message);
export const decodeDiskFull = (bytes: Uint8Array): DiskFull => decode(DiskFullCodec, bytes);

export interface StoreNotMatch {
  requestStoreId: number;
  actualStoreId: number;
}
export type StoreNotMatchInit = Init<StoreNotMatch>;

export const newStoreNotMatch = (): StoreNotMatch => ({ requestStoreId: 0, actualStoreId: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readStoreNotMatch(r: Reader, message: StoreNotMatch): StoreNotMatch {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.requestStoreId = r.count();
        break;
      case 16:
        message.actualStoreId = r.count();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeStoreNotMatch(w: Writer, message: StoreNotMatchInit): void {
  if (message.actualStoreId !== undefined && message.actualStoreId !== 0) {
    w.int64(message.actualStoreId);
    w.varint(16);
  }
  if (message.requestStoreId !== undefined && message.requestStoreId !== 0) {
    w.int64(message.requestStoreId);
    w.varint(8);
  }
}

export const StoreNotMatchCodec: Codec<StoreNotMatch, StoreNotMatchInit> = {
  write: writeStoreNotMatch,
  read: (r) => readStoreNotMatch(r, newStoreNotMatch()),
};
export const encodeStoreNotMatch = (message: StoreNotMatchInit): Uint8Array => encode(StoreNotMatchCodec, message);
export const decodeStoreNotMatch = (bytes: Uint8Array): StoreNotMatch => decode(StoreNotMatchCodec, bytes);

export interface RegionNotFound {
  regionId: number;
}
export type RegionNotFoundInit = Init<RegionNotFound>;

export const newRegionNotFound = (): RegionNotFound => ({ regionId: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readRegionNotFound(r: Reader, message: RegionNotFound): RegionNotFound {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.regionId = r.count();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeRegionNotFound(w: Writer, message: RegionNotFoundInit): void {
  if (message.regionId !== undefined && message.regionId !== 0) {
    w.int64(message.regionId);
    w.varint(8);
  }
}

export const RegionNotFoundCodec: Codec<RegionNotFound, RegionNotFoundInit> = {
  write: writeRegionNotFound,
  read: (r) => readRegionNotFound(r, newRegionNotFound()),
};
export const encodeRegionNotFound = (message: RegionNotFoundInit): Uint8Array => encode(RegionNotFoundCodec, message);
export const decodeRegionNotFound = (bytes: Uint8Array): RegionNotFound => decode(RegionNotFoundCodec, bytes);

export interface RegionNotInitialized {
  regionId: number;
}
export type RegionNotInitializedInit = Init<RegionNotInitialized>;

export const newRegionNotInitialized = (): RegionNotInitialized => ({ regionId: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readRegionNotInitialized(r: Reader, message: RegionNotInitialized): RegionNotInitialized {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.regionId = r.count();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeRegionNotInitialized(w: Writer, message: RegionNotInitializedInit): void {
  if (message.regionId !== undefined && message.regionId !== 0) {
    w.int64(message.regionId);
    w.varint(8);
  }
}

export const RegionNotInitializedCodec: Codec<RegionNotInitialized, RegionNotInitializedInit> = {
  write: writeRegionNotInitialized,
  read: (r) => readRegionNotInitialized(r, newRegionNotInitialized()),
};
export const encodeRegionNotInitialized = (message: RegionNotInitializedInit): Uint8Array => encode(RegionNotInitializedCodec, message);
export const decodeRegionNotInitialized = (bytes: Uint8Array): RegionNotInitialized => decode(RegionNotInitializedCodec, bytes);

export interface KeyNotInRegion {
  key: Uint8Array;
  regionId: number;
  startKey: Uint8Array;
  endKey: Uint8Array;
}
export type KeyNotInRegionInit = Init<KeyNotInRegion>;

export const newKeyNotInRegion = (): KeyNotInRegion => ({ key: EMPTY_BYTES, regionId: 0, startKey: EMPTY_BYTES, endKey: EMPTY_BYTES, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readKeyNotInRegion(r: Reader, message: KeyNotInRegion): KeyNotInRegion {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10:
        message.key = r.bytes();
        break;
      case 16:
        message.regionId = r.count();
        break;
      case 26:
        message.startKey = r.bytes();
        break;
      case 34:
        message.endKey = r.bytes();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeKeyNotInRegion(w: Writer, message: KeyNotInRegionInit): void {
  if (message.endKey !== undefined && message.endKey.length > 0) {
    w.bytes(message.endKey);
    w.varint(34);
  }
  if (message.startKey !== undefined && message.startKey.length > 0) {
    w.bytes(message.startKey);
    w.varint(26);
  }
  if (message.regionId !== undefined && message.regionId !== 0) {
    w.int64(message.regionId);
    w.varint(16);
  }
  if (message.key !== undefined && message.key.length > 0) {
    w.bytes(message.key);
    w.varint(10);
  }
}

export const KeyNotInRegionCodec: Codec<KeyNotInRegion, KeyNotInRegionInit> = {
  write: writeKeyNotInRegion,
  read: (r) => readKeyNotInRegion(r, newKeyNotInRegion()),
};
export const encodeKeyNotInRegion = (message: KeyNotInRegionInit): Uint8Array => encode(KeyNotInRegionCodec, message);
export const decodeKeyNotInRegion = (bytes: Uint8Array): KeyNotInRegion => decode(KeyNotInRegionCodec, bytes);

export interface EpochNotMatch {
  currentRegions: metapb.Region[];
}
export type EpochNotMatchInit = Init<EpochNotMatch>;

export const newEpochNotMatch = (): EpochNotMatch => ({ currentRegions: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readEpochNotMatch(r: Reader, message: EpochNotMatch): EpochNotMatch {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.currentRegions.push(metapb.readRegion(r, metapb.newRegion()));
        r.leave(outer);
        break;
      }
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeEpochNotMatch(w: Writer, message: EpochNotMatchInit): void {
  if (message.currentRegions !== undefined && message.currentRegions.length > 0) {
    for (let at = message.currentRegions.length - 1; at >= 0; at -= 1) {
      const end = w.length;
      metapb.writeRegion(w, message.currentRegions[at]!);
      w.varint(w.length - end);
      w.varint(10);
    }
  }
}

export const EpochNotMatchCodec: Codec<EpochNotMatch, EpochNotMatchInit> = {
  write: writeEpochNotMatch,
  read: (r) => readEpochNotMatch(r, newEpochNotMatch()),
};
export const encodeEpochNotMatch = (message: EpochNotMatchInit): Uint8Array => encode(EpochNotMatchCodec, message);
export const decodeEpochNotMatch = (bytes: Uint8Array): EpochNotMatch => decode(EpochNotMatchCodec, bytes);

export interface ServerIsBusy {
  reason: string;
  backoffMs: number;
  estimatedWaitMs: number;
  appliedIndex: number;
}
export type ServerIsBusyInit = Init<ServerIsBusy>;

export const newServerIsBusy = (): ServerIsBusy => ({ reason: '', backoffMs: 0, estimatedWaitMs: 0, appliedIndex: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readServerIsBusy(r: Reader, message: ServerIsBusy): ServerIsBusy {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10:
        message.reason = r.lenientString();
        break;
      case 16:
        message.backoffMs = r.count();
        break;
      case 24:
        message.estimatedWaitMs = r.uint32();
        break;
      case 32:
        message.appliedIndex = r.count();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeServerIsBusy(w: Writer, message: ServerIsBusyInit): void {
  if (message.appliedIndex !== undefined && message.appliedIndex !== 0) {
    w.int64(message.appliedIndex);
    w.varint(32);
  }
  if (message.estimatedWaitMs !== undefined && message.estimatedWaitMs !== 0) {
    w.varint(message.estimatedWaitMs);
    w.varint(24);
  }
  if (message.backoffMs !== undefined && message.backoffMs !== 0) {
    w.int64(message.backoffMs);
    w.varint(16);
  }
  if (message.reason !== undefined && message.reason !== '') {
    w.string(message.reason);
    w.varint(10);
  }
}

export const ServerIsBusyCodec: Codec<ServerIsBusy, ServerIsBusyInit> = {
  write: writeServerIsBusy,
  read: (r) => readServerIsBusy(r, newServerIsBusy()),
};
export const encodeServerIsBusy = (message: ServerIsBusyInit): Uint8Array => encode(ServerIsBusyCodec, message);
export const decodeServerIsBusy = (bytes: Uint8Array): ServerIsBusy => decode(ServerIsBusyCodec, bytes);

export interface StaleCommand {
}
export type StaleCommandInit = Init<StaleCommand>;

export const newStaleCommand = (): StaleCommand => ({ });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readStaleCommand(r: Reader, message: StaleCommand): StaleCommand {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeStaleCommand(_w: Writer, _message: StaleCommandInit): void {
}

export const StaleCommandCodec: Codec<StaleCommand, StaleCommandInit> = {
  write: writeStaleCommand,
  read: (r) => readStaleCommand(r, newStaleCommand()),
};
export const encodeStaleCommand = (message: StaleCommandInit): Uint8Array => encode(StaleCommandCodec, message);
export const decodeStaleCommand = (bytes: Uint8Array): StaleCommand => decode(StaleCommandCodec, bytes);

export interface RaftEntryTooLarge {
  regionId: number;
  entrySize: number;
}
export type RaftEntryTooLargeInit = Init<RaftEntryTooLarge>;

export const newRaftEntryTooLarge = (): RaftEntryTooLarge => ({ regionId: 0, entrySize: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readRaftEntryTooLarge(r: Reader, message: RaftEntryTooLarge): RaftEntryTooLarge {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.regionId = r.count();
        break;
      case 16:
        message.entrySize = r.count();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeRaftEntryTooLarge(w: Writer, message: RaftEntryTooLargeInit): void {
  if (message.entrySize !== undefined && message.entrySize !== 0) {
    w.int64(message.entrySize);
    w.varint(16);
  }
  if (message.regionId !== undefined && message.regionId !== 0) {
    w.int64(message.regionId);
    w.varint(8);
  }
}

export const RaftEntryTooLargeCodec: Codec<RaftEntryTooLarge, RaftEntryTooLargeInit> = {
  write: writeRaftEntryTooLarge,
  read: (r) => readRaftEntryTooLarge(r, newRaftEntryTooLarge()),
};
export const encodeRaftEntryTooLarge = (message: RaftEntryTooLargeInit): Uint8Array => encode(RaftEntryTooLargeCodec, message);
export const decodeRaftEntryTooLarge = (bytes: Uint8Array): RaftEntryTooLarge => decode(RaftEntryTooLargeCodec, bytes);

export interface MaxTimestampNotSynced {
}
export type MaxTimestampNotSyncedInit = Init<MaxTimestampNotSynced>;

export const newMaxTimestampNotSynced = (): MaxTimestampNotSynced => ({ });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readMaxTimestampNotSynced(r: Reader, message: MaxTimestampNotSynced): MaxTimestampNotSynced {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeMaxTimestampNotSynced(_w: Writer, _message: MaxTimestampNotSyncedInit): void {
}

export const MaxTimestampNotSyncedCodec: Codec<MaxTimestampNotSynced, MaxTimestampNotSyncedInit> = {
  write: writeMaxTimestampNotSynced,
  read: (r) => readMaxTimestampNotSynced(r, newMaxTimestampNotSynced()),
};
export const encodeMaxTimestampNotSynced = (message: MaxTimestampNotSyncedInit): Uint8Array => encode(MaxTimestampNotSyncedCodec, message);
export const decodeMaxTimestampNotSynced = (bytes: Uint8Array): MaxTimestampNotSynced => decode(MaxTimestampNotSyncedCodec, bytes);

export interface ReadIndexNotReady {
  reason: string;
  regionId: number;
}
export type ReadIndexNotReadyInit = Init<ReadIndexNotReady>;

export const newReadIndexNotReady = (): ReadIndexNotReady => ({ reason: '', regionId: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readReadIndexNotReady(r: Reader, message: ReadIndexNotReady): ReadIndexNotReady {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10:
        message.reason = r.lenientString();
        break;
      case 16:
        message.regionId = r.count();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeReadIndexNotReady(w: Writer, message: ReadIndexNotReadyInit): void {
  if (message.regionId !== undefined && message.regionId !== 0) {
    w.int64(message.regionId);
    w.varint(16);
  }
  if (message.reason !== undefined && message.reason !== '') {
    w.string(message.reason);
    w.varint(10);
  }
}

export const ReadIndexNotReadyCodec: Codec<ReadIndexNotReady, ReadIndexNotReadyInit> = {
  write: writeReadIndexNotReady,
  read: (r) => readReadIndexNotReady(r, newReadIndexNotReady()),
};
export const encodeReadIndexNotReady = (message: ReadIndexNotReadyInit): Uint8Array => encode(ReadIndexNotReadyCodec, message);
export const decodeReadIndexNotReady = (bytes: Uint8Array): ReadIndexNotReady => decode(ReadIndexNotReadyCodec, bytes);

export interface ProposalInMergingMode {
  regionId: number;
}
export type ProposalInMergingModeInit = Init<ProposalInMergingMode>;

export const newProposalInMergingMode = (): ProposalInMergingMode => ({ regionId: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readProposalInMergingMode(r: Reader, message: ProposalInMergingMode): ProposalInMergingMode {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.regionId = r.count();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeProposalInMergingMode(w: Writer, message: ProposalInMergingModeInit): void {
  if (message.regionId !== undefined && message.regionId !== 0) {
    w.int64(message.regionId);
    w.varint(8);
  }
}

export const ProposalInMergingModeCodec: Codec<ProposalInMergingMode, ProposalInMergingModeInit> = {
  write: writeProposalInMergingMode,
  read: (r) => readProposalInMergingMode(r, newProposalInMergingMode()),
};
export const encodeProposalInMergingMode = (message: ProposalInMergingModeInit): Uint8Array => encode(ProposalInMergingModeCodec, message);
export const decodeProposalInMergingMode = (bytes: Uint8Array): ProposalInMergingMode => decode(ProposalInMergingModeCodec, bytes);

export interface DataIsNotReady {
  regionId: number;
  peerId: number;
  safeTs: bigint;
}
export type DataIsNotReadyInit = Init<DataIsNotReady>;

export const newDataIsNotReady = (): DataIsNotReady => ({ regionId: 0, peerId: 0, safeTs: 0n, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readDataIsNotReady(r: Reader, message: DataIsNotReady): DataIsNotReady {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.regionId = r.count();
        break;
      case 16:
        message.peerId = r.count();
        break;
      case 24:
        message.safeTs = r.bigUint64();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeDataIsNotReady(w: Writer, message: DataIsNotReadyInit): void {
  if (message.safeTs !== undefined && message.safeTs !== 0n) {
    w.bigint(message.safeTs);
    w.varint(24);
  }
  if (message.peerId !== undefined && message.peerId !== 0) {
    w.int64(message.peerId);
    w.varint(16);
  }
  if (message.regionId !== undefined && message.regionId !== 0) {
    w.int64(message.regionId);
    w.varint(8);
  }
}

export const DataIsNotReadyCodec: Codec<DataIsNotReady, DataIsNotReadyInit> = {
  write: writeDataIsNotReady,
  read: (r) => readDataIsNotReady(r, newDataIsNotReady()),
};
export const encodeDataIsNotReady = (message: DataIsNotReadyInit): Uint8Array => encode(DataIsNotReadyCodec, message);
export const decodeDataIsNotReady = (bytes: Uint8Array): DataIsNotReady => decode(DataIsNotReadyCodec, bytes);

export interface RecoveryInProgress {
  regionId: number;
}
export type RecoveryInProgressInit = Init<RecoveryInProgress>;

export const newRecoveryInProgress = (): RecoveryInProgress => ({ regionId: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readRecoveryInProgress(r: Reader, message: RecoveryInProgress): RecoveryInProgress {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.regionId = r.count();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeRecoveryInProgress(w: Writer, message: RecoveryInProgressInit): void {
  if (message.regionId !== undefined && message.regionId !== 0) {
    w.int64(message.regionId);
    w.varint(8);
  }
}

export const RecoveryInProgressCodec: Codec<RecoveryInProgress, RecoveryInProgressInit> = {
  write: writeRecoveryInProgress,
  read: (r) => readRecoveryInProgress(r, newRecoveryInProgress()),
};
export const encodeRecoveryInProgress = (message: RecoveryInProgressInit): Uint8Array => encode(RecoveryInProgressCodec, message);
export const decodeRecoveryInProgress = (bytes: Uint8Array): RecoveryInProgress => decode(RecoveryInProgressCodec, bytes);

export interface FlashbackInProgress {
  regionId: number;
  flashbackStartTs: bigint;
}
export type FlashbackInProgressInit = Init<FlashbackInProgress>;

export const newFlashbackInProgress = (): FlashbackInProgress => ({ regionId: 0, flashbackStartTs: 0n, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readFlashbackInProgress(r: Reader, message: FlashbackInProgress): FlashbackInProgress {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.regionId = r.count();
        break;
      case 16:
        message.flashbackStartTs = r.bigUint64();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeFlashbackInProgress(w: Writer, message: FlashbackInProgressInit): void {
  if (message.flashbackStartTs !== undefined && message.flashbackStartTs !== 0n) {
    w.bigint(message.flashbackStartTs);
    w.varint(16);
  }
  if (message.regionId !== undefined && message.regionId !== 0) {
    w.int64(message.regionId);
    w.varint(8);
  }
}

export const FlashbackInProgressCodec: Codec<FlashbackInProgress, FlashbackInProgressInit> = {
  write: writeFlashbackInProgress,
  read: (r) => readFlashbackInProgress(r, newFlashbackInProgress()),
};
export const encodeFlashbackInProgress = (message: FlashbackInProgressInit): Uint8Array => encode(FlashbackInProgressCodec, message);
export const decodeFlashbackInProgress = (bytes: Uint8Array): FlashbackInProgress => decode(FlashbackInProgressCodec, bytes);

export interface FlashbackNotPrepared {
  regionId: number;
}
export type FlashbackNotPreparedInit = Init<FlashbackNotPrepared>;

export const newFlashbackNotPrepared = (): FlashbackNotPrepared => ({ regionId: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readFlashbackNotPrepared(r: Reader, message: FlashbackNotPrepared): FlashbackNotPrepared {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.regionId = r.count();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeFlashbackNotPrepared(w: Writer, message: FlashbackNotPreparedInit): void {
  if (message.regionId !== undefined && message.regionId !== 0) {
    w.int64(message.regionId);
    w.varint(8);
  }
}

export const FlashbackNotPreparedCodec: Codec<FlashbackNotPrepared, FlashbackNotPreparedInit> = {
  write: writeFlashbackNotPrepared,
  read: (r) => readFlashbackNotPrepared(r, newFlashbackNotPrepared()),
};
export const encodeFlashbackNotPrepared = (message: FlashbackNotPreparedInit): Uint8Array => encode(FlashbackNotPreparedCodec, message);
export const decodeFlashbackNotPrepared = (bytes: Uint8Array): FlashbackNotPrepared => decode(FlashbackNotPreparedCodec, bytes);

export interface MismatchPeerId {
  requestPeerId: number;
  storePeerId: number;
}
export type MismatchPeerIdInit = Init<MismatchPeerId>;

export const newMismatchPeerId = (): MismatchPeerId => ({ requestPeerId: 0, storePeerId: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readMismatchPeerId(r: Reader, message: MismatchPeerId): MismatchPeerId {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.requestPeerId = r.count();
        break;
      case 16:
        message.storePeerId = r.count();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeMismatchPeerId(w: Writer, message: MismatchPeerIdInit): void {
  if (message.storePeerId !== undefined && message.storePeerId !== 0) {
    w.int64(message.storePeerId);
    w.varint(16);
  }
  if (message.requestPeerId !== undefined && message.requestPeerId !== 0) {
    w.int64(message.requestPeerId);
    w.varint(8);
  }
}

export const MismatchPeerIdCodec: Codec<MismatchPeerId, MismatchPeerIdInit> = {
  write: writeMismatchPeerId,
  read: (r) => readMismatchPeerId(r, newMismatchPeerId()),
};
export const encodeMismatchPeerId = (message: MismatchPeerIdInit): Uint8Array => encode(MismatchPeerIdCodec, message);
export const decodeMismatchPeerId = (bytes: Uint8Array): MismatchPeerId => decode(MismatchPeerIdCodec, bytes);

export interface UndeterminedResult {
  message: string;
}
export type UndeterminedResultInit = Init<UndeterminedResult>;

export const newUndeterminedResult = (): UndeterminedResult => ({ message: '', });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readUndeterminedResult(r: Reader, message: UndeterminedResult): UndeterminedResult {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10:
        message.message = r.lenientString();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeUndeterminedResult(w: Writer, message: UndeterminedResultInit): void {
  if (message.message !== undefined && message.message !== '') {
    w.string(message.message);
    w.varint(10);
  }
}

export const UndeterminedResultCodec: Codec<UndeterminedResult, UndeterminedResultInit> = {
  write: writeUndeterminedResult,
  read: (r) => readUndeterminedResult(r, newUndeterminedResult()),
};
export const encodeUndeterminedResult = (message: UndeterminedResultInit): Uint8Array => encode(UndeterminedResultCodec, message);
export const decodeUndeterminedResult = (bytes: Uint8Array): UndeterminedResult => decode(UndeterminedResultCodec, bytes);

export interface Error {
  message: string;
  notLeader: NotLeader | undefined;
  regionNotFound: RegionNotFound | undefined;
  keyNotInRegion: KeyNotInRegion | undefined;
  epochNotMatch: EpochNotMatch | undefined;
  serverIsBusy: ServerIsBusy | undefined;
  staleCommand: StaleCommand | undefined;
  storeNotMatch: StoreNotMatch | undefined;
  raftEntryTooLarge: RaftEntryTooLarge | undefined;
  maxTimestampNotSynced: MaxTimestampNotSynced | undefined;
  readIndexNotReady: ReadIndexNotReady | undefined;
  proposalInMergingMode: ProposalInMergingMode | undefined;
  dataIsNotReady: DataIsNotReady | undefined;
  regionNotInitialized: RegionNotInitialized | undefined;
  diskFull: DiskFull | undefined;
  recoveryInProgress: RecoveryInProgress | undefined;
  flashbackInProgress: FlashbackInProgress | undefined;
  flashbackNotPrepared: FlashbackNotPrepared | undefined;
  isWitness: IsWitness | undefined;
  mismatchPeerId: MismatchPeerId | undefined;
  bucketVersionNotMatch: BucketVersionNotMatch | undefined;
  undeterminedResult: UndeterminedResult | undefined;
}
export type ErrorInit = Init<Error>;

export const newError = (): Error => ({ message: '', notLeader: undefined, regionNotFound: undefined, keyNotInRegion: undefined, epochNotMatch: undefined, serverIsBusy: undefined, staleCommand: undefined, storeNotMatch: undefined, raftEntryTooLarge: undefined, maxTimestampNotSynced: undefined, readIndexNotReady: undefined, proposalInMergingMode: undefined, dataIsNotReady: undefined, regionNotInitialized: undefined, diskFull: undefined, recoveryInProgress: undefined, flashbackInProgress: undefined, flashbackNotPrepared: undefined, isWitness: undefined, mismatchPeerId: undefined, bucketVersionNotMatch: undefined, undeterminedResult: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readError(r: Reader, message: Error): Error {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10:
        message.message = r.lenientString();
        break;
      case 18: {
        const outer = r.enter();
        message.notLeader = readNotLeader(r, message.notLeader ?? newNotLeader());
        r.leave(outer);
        break;
      }
      case 26: {
        const outer = r.enter();
        message.regionNotFound = readRegionNotFound(r, message.regionNotFound ?? newRegionNotFound());
        r.leave(outer);
        break;
      }
      case 34: {
        const outer = r.enter();
        message.keyNotInRegion = readKeyNotInRegion(r, message.keyNotInRegion ?? newKeyNotInRegion());
        r.leave(outer);
        break;
      }
      case 42: {
        const outer = r.enter();
        message.epochNotMatch = readEpochNotMatch(r, message.epochNotMatch ?? newEpochNotMatch());
        r.leave(outer);
        break;
      }
      case 50: {
        const outer = r.enter();
        message.serverIsBusy = readServerIsBusy(r, message.serverIsBusy ?? newServerIsBusy());
        r.leave(outer);
        break;
      }
      case 58: {
        const outer = r.enter();
        message.staleCommand = readStaleCommand(r, message.staleCommand ?? newStaleCommand());
        r.leave(outer);
        break;
      }
      case 66: {
        const outer = r.enter();
        message.storeNotMatch = readStoreNotMatch(r, message.storeNotMatch ?? newStoreNotMatch());
        r.leave(outer);
        break;
      }
      case 74: {
        const outer = r.enter();
        message.raftEntryTooLarge = readRaftEntryTooLarge(r, message.raftEntryTooLarge ?? newRaftEntryTooLarge());
        r.leave(outer);
        break;
      }
      case 82: {
        const outer = r.enter();
        message.maxTimestampNotSynced = readMaxTimestampNotSynced(r, message.maxTimestampNotSynced ?? newMaxTimestampNotSynced());
        r.leave(outer);
        break;
      }
      case 90: {
        const outer = r.enter();
        message.readIndexNotReady = readReadIndexNotReady(r, message.readIndexNotReady ?? newReadIndexNotReady());
        r.leave(outer);
        break;
      }
      case 98: {
        const outer = r.enter();
        message.proposalInMergingMode = readProposalInMergingMode(r, message.proposalInMergingMode ?? newProposalInMergingMode());
        r.leave(outer);
        break;
      }
      case 106: {
        const outer = r.enter();
        message.dataIsNotReady = readDataIsNotReady(r, message.dataIsNotReady ?? newDataIsNotReady());
        r.leave(outer);
        break;
      }
      case 114: {
        const outer = r.enter();
        message.regionNotInitialized = readRegionNotInitialized(r, message.regionNotInitialized ?? newRegionNotInitialized());
        r.leave(outer);
        break;
      }
      case 122: {
        const outer = r.enter();
        message.diskFull = readDiskFull(r, message.diskFull ?? newDiskFull());
        r.leave(outer);
        break;
      }
      case 130: {
        const outer = r.enter();
        message.recoveryInProgress = readRecoveryInProgress(r, message.recoveryInProgress ?? newRecoveryInProgress());
        r.leave(outer);
        break;
      }
      case 138: {
        const outer = r.enter();
        message.flashbackInProgress = readFlashbackInProgress(r, message.flashbackInProgress ?? newFlashbackInProgress());
        r.leave(outer);
        break;
      }
      case 146: {
        const outer = r.enter();
        message.flashbackNotPrepared = readFlashbackNotPrepared(r, message.flashbackNotPrepared ?? newFlashbackNotPrepared());
        r.leave(outer);
        break;
      }
      case 154: {
        const outer = r.enter();
        message.isWitness = readIsWitness(r, message.isWitness ?? newIsWitness());
        r.leave(outer);
        break;
      }
      case 162: {
        const outer = r.enter();
        message.mismatchPeerId = readMismatchPeerId(r, message.mismatchPeerId ?? newMismatchPeerId());
        r.leave(outer);
        break;
      }
      case 170: {
        const outer = r.enter();
        message.bucketVersionNotMatch = readBucketVersionNotMatch(r, message.bucketVersionNotMatch ?? newBucketVersionNotMatch());
        r.leave(outer);
        break;
      }
      case 178: {
        const outer = r.enter();
        message.undeterminedResult = readUndeterminedResult(r, message.undeterminedResult ?? newUndeterminedResult());
        r.leave(outer);
        break;
      }
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeError(w: Writer, message: ErrorInit): void {
  if (message.undeterminedResult !== undefined) {
    const end = w.length;
    writeUndeterminedResult(w, message.undeterminedResult);
    w.varint(w.length - end);
    w.varint(178);
  }
  if (message.bucketVersionNotMatch !== undefined) {
    const end = w.length;
    writeBucketVersionNotMatch(w, message.bucketVersionNotMatch);
    w.varint(w.length - end);
    w.varint(170);
  }
  if (message.mismatchPeerId !== undefined) {
    const end = w.length;
    writeMismatchPeerId(w, message.mismatchPeerId);
    w.varint(w.length - end);
    w.varint(162);
  }
  if (message.isWitness !== undefined) {
    const end = w.length;
    writeIsWitness(w, message.isWitness);
    w.varint(w.length - end);
    w.varint(154);
  }
  if (message.flashbackNotPrepared !== undefined) {
    const end = w.length;
    writeFlashbackNotPrepared(w, message.flashbackNotPrepared);
    w.varint(w.length - end);
    w.varint(146);
  }
  if (message.flashbackInProgress !== undefined) {
    const end = w.length;
    writeFlashbackInProgress(w, message.flashbackInProgress);
    w.varint(w.length - end);
    w.varint(138);
  }
  if (message.recoveryInProgress !== undefined) {
    const end = w.length;
    writeRecoveryInProgress(w, message.recoveryInProgress);
    w.varint(w.length - end);
    w.varint(130);
  }
  if (message.diskFull !== undefined) {
    const end = w.length;
    writeDiskFull(w, message.diskFull);
    w.varint(w.length - end);
    w.varint(122);
  }
  if (message.regionNotInitialized !== undefined) {
    const end = w.length;
    writeRegionNotInitialized(w, message.regionNotInitialized);
    w.varint(w.length - end);
    w.varint(114);
  }
  if (message.dataIsNotReady !== undefined) {
    const end = w.length;
    writeDataIsNotReady(w, message.dataIsNotReady);
    w.varint(w.length - end);
    w.varint(106);
  }
  if (message.proposalInMergingMode !== undefined) {
    const end = w.length;
    writeProposalInMergingMode(w, message.proposalInMergingMode);
    w.varint(w.length - end);
    w.varint(98);
  }
  if (message.readIndexNotReady !== undefined) {
    const end = w.length;
    writeReadIndexNotReady(w, message.readIndexNotReady);
    w.varint(w.length - end);
    w.varint(90);
  }
  if (message.maxTimestampNotSynced !== undefined) {
    const end = w.length;
    writeMaxTimestampNotSynced(w, message.maxTimestampNotSynced);
    w.varint(w.length - end);
    w.varint(82);
  }
  if (message.raftEntryTooLarge !== undefined) {
    const end = w.length;
    writeRaftEntryTooLarge(w, message.raftEntryTooLarge);
    w.varint(w.length - end);
    w.varint(74);
  }
  if (message.storeNotMatch !== undefined) {
    const end = w.length;
    writeStoreNotMatch(w, message.storeNotMatch);
    w.varint(w.length - end);
    w.varint(66);
  }
  if (message.staleCommand !== undefined) {
    const end = w.length;
    writeStaleCommand(w, message.staleCommand);
    w.varint(w.length - end);
    w.varint(58);
  }
  if (message.serverIsBusy !== undefined) {
    const end = w.length;
    writeServerIsBusy(w, message.serverIsBusy);
    w.varint(w.length - end);
    w.varint(50);
  }
  if (message.epochNotMatch !== undefined) {
    const end = w.length;
    writeEpochNotMatch(w, message.epochNotMatch);
    w.varint(w.length - end);
    w.varint(42);
  }
  if (message.keyNotInRegion !== undefined) {
    const end = w.length;
    writeKeyNotInRegion(w, message.keyNotInRegion);
    w.varint(w.length - end);
    w.varint(34);
  }
  if (message.regionNotFound !== undefined) {
    const end = w.length;
    writeRegionNotFound(w, message.regionNotFound);
    w.varint(w.length - end);
    w.varint(26);
  }
  if (message.notLeader !== undefined) {
    const end = w.length;
    writeNotLeader(w, message.notLeader);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (message.message !== undefined && message.message !== '') {
    w.string(message.message);
    w.varint(10);
  }
}

export const ErrorCodec: Codec<Error, ErrorInit> = {
  write: writeError,
  read: (r) => readError(r, newError()),
};
export const encodeError = (message: ErrorInit): Uint8Array => encode(ErrorCodec, message);
export const decodeError = (bytes: Uint8Array): Error => decode(ErrorCodec, bytes);
