// Generated from proto/errorpb.proto by tools/generate.ts. Do not edit.
import { EMPTY_BYTES } from '@engram/core';
import { type Codec, NONE } from '../codec.ts';
import { MalformedMessage, type Reader } from '../reader.ts';
import type { Writer } from '../writer.ts';
import * as metapb from './metapb.ts';

export interface NotLeader {
  readonly regionId: number;
  readonly leader: metapb.Peer | undefined;
}
export interface NotLeaderInit {
  readonly regionId?: number | undefined;
  readonly leader?: metapb.PeerInit | undefined;
}
export function writeNotLeader(w: Writer, m: NotLeaderInit): void {
  if (m.leader !== undefined) {
    const end = w.length;
    metapb.writePeer(w, m.leader);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (m.regionId !== undefined && !(m.regionId === 0)) {
    w.varint(m.regionId);
    w.varint(8);
  }
}
export function readNotLeader(r: Reader, end: number): NotLeader {
  let regionId = 0;
  let leader: metapb.Peer | undefined;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 8:
        regionId = r.count();
        break;
      case 18:
        leader = metapb.readPeer(r, r.limit());
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { regionId, leader };
}
export const NotLeaderCodec: Codec<NotLeader, NotLeaderInit> = { write: writeNotLeader, read: readNotLeader };

export interface IsWitness {
  readonly regionId: number;
}
export interface IsWitnessInit {
  readonly regionId?: number | undefined;
}
export function writeIsWitness(w: Writer, m: IsWitnessInit): void {
  if (m.regionId !== undefined && !(m.regionId === 0)) {
    w.varint(m.regionId);
    w.varint(8);
  }
}
export function readIsWitness(r: Reader, end: number): IsWitness {
  let regionId = 0;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 8:
        regionId = r.count();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { regionId };
}
export const IsWitnessCodec: Codec<IsWitness, IsWitnessInit> = { write: writeIsWitness, read: readIsWitness };

export interface BucketVersionNotMatch {
  readonly version: number;
  readonly keys: readonly Uint8Array[];
}
export interface BucketVersionNotMatchInit {
  readonly version?: number | undefined;
  readonly keys?: readonly Uint8Array[] | undefined;
}
export function writeBucketVersionNotMatch(w: Writer, m: BucketVersionNotMatchInit): void {
  if (m.keys !== undefined && m.keys.length > 0) {
    for (let i = m.keys.length - 1; i >= 0; i -= 1) {
      w.bytes(m.keys[i]!);
      w.varint(18);
    }
  }
  if (m.version !== undefined && !(m.version === 0)) {
    w.varint(m.version);
    w.varint(8);
  }
}
export function readBucketVersionNotMatch(r: Reader, end: number): BucketVersionNotMatch {
  let version = 0;
  let keys: Uint8Array[] | undefined;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 8:
        version = r.count();
        break;
      case 18:
        (keys ??= []).push(r.bytes());
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { version, keys: keys ?? NONE };
}
export const BucketVersionNotMatchCodec: Codec<BucketVersionNotMatch, BucketVersionNotMatchInit> = { write: writeBucketVersionNotMatch, read: readBucketVersionNotMatch };

export interface DiskFull {
  readonly storeId: readonly number[];
  readonly reason: string;
}
export interface DiskFullInit {
  readonly storeId?: readonly number[] | undefined;
  readonly reason?: string | undefined;
}
export function writeDiskFull(w: Writer, m: DiskFullInit): void {
  if (m.reason !== undefined && !(m.reason === '')) {
    w.text(m.reason);
    w.varint(18);
  }
  if (m.storeId !== undefined && m.storeId.length > 0) {
    const end = w.length;
    for (let i = m.storeId.length - 1; i >= 0; i -= 1) w.varint(m.storeId[i]!);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readDiskFull(r: Reader, end: number): DiskFull {
  let storeId: number[] | undefined;
  let reason = '';
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 8:
        (storeId ??= []).push(r.count());
        break;
      case 10: {
        storeId ??= [];
        for (const limit = r.limit(); r.at < limit; ) storeId.push(r.count());
        break;
      }
      case 18:
        reason = r.text();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { storeId: storeId ?? NONE, reason };
}
export const DiskFullCodec: Codec<DiskFull, DiskFullInit> = { write: writeDiskFull, read: readDiskFull };

export interface StoreNotMatch {
  readonly requestStoreId: number;
  readonly actualStoreId: number;
}
export interface StoreNotMatchInit {
  readonly requestStoreId?: number | undefined;
  readonly actualStoreId?: number | undefined;
}
export function writeStoreNotMatch(w: Writer, m: StoreNotMatchInit): void {
  if (m.actualStoreId !== undefined && !(m.actualStoreId === 0)) {
    w.varint(m.actualStoreId);
    w.varint(16);
  }
  if (m.requestStoreId !== undefined && !(m.requestStoreId === 0)) {
    w.varint(m.requestStoreId);
    w.varint(8);
  }
}
export function readStoreNotMatch(r: Reader, end: number): StoreNotMatch {
  let requestStoreId = 0;
  let actualStoreId = 0;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 8:
        requestStoreId = r.count();
        break;
      case 16:
        actualStoreId = r.count();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { requestStoreId, actualStoreId };
}
export const StoreNotMatchCodec: Codec<StoreNotMatch, StoreNotMatchInit> = { write: writeStoreNotMatch, read: readStoreNotMatch };

export interface RegionNotFound {
  readonly regionId: number;
}
export interface RegionNotFoundInit {
  readonly regionId?: number | undefined;
}
export function writeRegionNotFound(w: Writer, m: RegionNotFoundInit): void {
  if (m.regionId !== undefined && !(m.regionId === 0)) {
    w.varint(m.regionId);
    w.varint(8);
  }
}
export function readRegionNotFound(r: Reader, end: number): RegionNotFound {
  let regionId = 0;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 8:
        regionId = r.count();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { regionId };
}
export const RegionNotFoundCodec: Codec<RegionNotFound, RegionNotFoundInit> = { write: writeRegionNotFound, read: readRegionNotFound };

export interface RegionNotInitialized {
  readonly regionId: number;
}
export interface RegionNotInitializedInit {
  readonly regionId?: number | undefined;
}
export function writeRegionNotInitialized(w: Writer, m: RegionNotInitializedInit): void {
  if (m.regionId !== undefined && !(m.regionId === 0)) {
    w.varint(m.regionId);
    w.varint(8);
  }
}
export function readRegionNotInitialized(r: Reader, end: number): RegionNotInitialized {
  let regionId = 0;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 8:
        regionId = r.count();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { regionId };
}
export const RegionNotInitializedCodec: Codec<RegionNotInitialized, RegionNotInitializedInit> = { write: writeRegionNotInitialized, read: readRegionNotInitialized };

export interface KeyNotInRegion {
  readonly key: Uint8Array;
  readonly regionId: number;
  readonly startKey: Uint8Array;
  readonly endKey: Uint8Array;
}
export interface KeyNotInRegionInit {
  readonly key?: Uint8Array | undefined;
  readonly regionId?: number | undefined;
  readonly startKey?: Uint8Array | undefined;
  readonly endKey?: Uint8Array | undefined;
}
export function writeKeyNotInRegion(w: Writer, m: KeyNotInRegionInit): void {
  if (m.endKey !== undefined && !(m.endKey.length === 0)) {
    w.bytes(m.endKey);
    w.varint(34);
  }
  if (m.startKey !== undefined && !(m.startKey.length === 0)) {
    w.bytes(m.startKey);
    w.varint(26);
  }
  if (m.regionId !== undefined && !(m.regionId === 0)) {
    w.varint(m.regionId);
    w.varint(16);
  }
  if (m.key !== undefined && !(m.key.length === 0)) {
    w.bytes(m.key);
    w.varint(10);
  }
}
export function readKeyNotInRegion(r: Reader, end: number): KeyNotInRegion {
  let key: Uint8Array = EMPTY_BYTES;
  let regionId = 0;
  let startKey: Uint8Array = EMPTY_BYTES;
  let endKey: Uint8Array = EMPTY_BYTES;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        key = r.bytes();
        break;
      case 16:
        regionId = r.count();
        break;
      case 26:
        startKey = r.bytes();
        break;
      case 34:
        endKey = r.bytes();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { key, regionId, startKey, endKey };
}
export const KeyNotInRegionCodec: Codec<KeyNotInRegion, KeyNotInRegionInit> = { write: writeKeyNotInRegion, read: readKeyNotInRegion };

export interface EpochNotMatch {
  readonly currentRegions: readonly metapb.Region[];
}
export interface EpochNotMatchInit {
  readonly currentRegions?: readonly metapb.RegionInit[] | undefined;
}
export function writeEpochNotMatch(w: Writer, m: EpochNotMatchInit): void {
  if (m.currentRegions !== undefined && m.currentRegions.length > 0) {
    for (let i = m.currentRegions.length - 1; i >= 0; i -= 1) {
      const end = w.length;
      metapb.writeRegion(w, m.currentRegions[i]!);
      w.varint(w.length - end);
      w.varint(10);
    }
  }
}
export function readEpochNotMatch(r: Reader, end: number): EpochNotMatch {
  let currentRegions: metapb.Region[] | undefined;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        (currentRegions ??= []).push(metapb.readRegion(r, r.limit()));
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { currentRegions: currentRegions ?? NONE };
}
export const EpochNotMatchCodec: Codec<EpochNotMatch, EpochNotMatchInit> = { write: writeEpochNotMatch, read: readEpochNotMatch };

export interface ServerIsBusy {
  readonly reason: string;
  readonly backoffMs: number;
  readonly estimatedWaitMs: number;
  readonly appliedIndex: number;
}
export interface ServerIsBusyInit {
  readonly reason?: string | undefined;
  readonly backoffMs?: number | undefined;
  readonly estimatedWaitMs?: number | undefined;
  readonly appliedIndex?: number | undefined;
}
export function writeServerIsBusy(w: Writer, m: ServerIsBusyInit): void {
  if (m.appliedIndex !== undefined && !(m.appliedIndex === 0)) {
    w.varint(m.appliedIndex);
    w.varint(32);
  }
  if (m.estimatedWaitMs !== undefined && !(m.estimatedWaitMs === 0)) {
    w.varint(m.estimatedWaitMs);
    w.varint(24);
  }
  if (m.backoffMs !== undefined && !(m.backoffMs === 0)) {
    w.varint(m.backoffMs);
    w.varint(16);
  }
  if (m.reason !== undefined && !(m.reason === '')) {
    w.text(m.reason);
    w.varint(10);
  }
}
export function readServerIsBusy(r: Reader, end: number): ServerIsBusy {
  let reason = '';
  let backoffMs = 0;
  let estimatedWaitMs = 0;
  let appliedIndex = 0;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        reason = r.text();
        break;
      case 16:
        backoffMs = r.count();
        break;
      case 24:
        estimatedWaitMs = r.uint32();
        break;
      case 32:
        appliedIndex = r.count();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { reason, backoffMs, estimatedWaitMs, appliedIndex };
}
export const ServerIsBusyCodec: Codec<ServerIsBusy, ServerIsBusyInit> = { write: writeServerIsBusy, read: readServerIsBusy };

export interface StaleCommand {
}
export interface StaleCommandInit {
}
export function writeStaleCommand(_w: Writer, _m: StaleCommandInit): void {
}
export function readStaleCommand(r: Reader, end: number): StaleCommand {
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return {  };
}
export const StaleCommandCodec: Codec<StaleCommand, StaleCommandInit> = { write: writeStaleCommand, read: readStaleCommand };

export interface RaftEntryTooLarge {
  readonly regionId: number;
  readonly entrySize: number;
}
export interface RaftEntryTooLargeInit {
  readonly regionId?: number | undefined;
  readonly entrySize?: number | undefined;
}
export function writeRaftEntryTooLarge(w: Writer, m: RaftEntryTooLargeInit): void {
  if (m.entrySize !== undefined && !(m.entrySize === 0)) {
    w.varint(m.entrySize);
    w.varint(16);
  }
  if (m.regionId !== undefined && !(m.regionId === 0)) {
    w.varint(m.regionId);
    w.varint(8);
  }
}
export function readRaftEntryTooLarge(r: Reader, end: number): RaftEntryTooLarge {
  let regionId = 0;
  let entrySize = 0;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 8:
        regionId = r.count();
        break;
      case 16:
        entrySize = r.count();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { regionId, entrySize };
}
export const RaftEntryTooLargeCodec: Codec<RaftEntryTooLarge, RaftEntryTooLargeInit> = { write: writeRaftEntryTooLarge, read: readRaftEntryTooLarge };

export interface MaxTimestampNotSynced {
}
export interface MaxTimestampNotSyncedInit {
}
export function writeMaxTimestampNotSynced(_w: Writer, _m: MaxTimestampNotSyncedInit): void {
}
export function readMaxTimestampNotSynced(r: Reader, end: number): MaxTimestampNotSynced {
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return {  };
}
export const MaxTimestampNotSyncedCodec: Codec<MaxTimestampNotSynced, MaxTimestampNotSyncedInit> = { write: writeMaxTimestampNotSynced, read: readMaxTimestampNotSynced };

export interface ReadIndexNotReady {
  readonly reason: string;
  readonly regionId: number;
}
export interface ReadIndexNotReadyInit {
  readonly reason?: string | undefined;
  readonly regionId?: number | undefined;
}
export function writeReadIndexNotReady(w: Writer, m: ReadIndexNotReadyInit): void {
  if (m.regionId !== undefined && !(m.regionId === 0)) {
    w.varint(m.regionId);
    w.varint(16);
  }
  if (m.reason !== undefined && !(m.reason === '')) {
    w.text(m.reason);
    w.varint(10);
  }
}
export function readReadIndexNotReady(r: Reader, end: number): ReadIndexNotReady {
  let reason = '';
  let regionId = 0;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        reason = r.text();
        break;
      case 16:
        regionId = r.count();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { reason, regionId };
}
export const ReadIndexNotReadyCodec: Codec<ReadIndexNotReady, ReadIndexNotReadyInit> = { write: writeReadIndexNotReady, read: readReadIndexNotReady };

export interface ProposalInMergingMode {
  readonly regionId: number;
}
export interface ProposalInMergingModeInit {
  readonly regionId?: number | undefined;
}
export function writeProposalInMergingMode(w: Writer, m: ProposalInMergingModeInit): void {
  if (m.regionId !== undefined && !(m.regionId === 0)) {
    w.varint(m.regionId);
    w.varint(8);
  }
}
export function readProposalInMergingMode(r: Reader, end: number): ProposalInMergingMode {
  let regionId = 0;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 8:
        regionId = r.count();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { regionId };
}
export const ProposalInMergingModeCodec: Codec<ProposalInMergingMode, ProposalInMergingModeInit> = { write: writeProposalInMergingMode, read: readProposalInMergingMode };

export interface DataIsNotReady {
  readonly regionId: number;
  readonly peerId: number;
  readonly safeTs: bigint;
}
export interface DataIsNotReadyInit {
  readonly regionId?: number | undefined;
  readonly peerId?: number | undefined;
  readonly safeTs?: bigint | undefined;
}
export function writeDataIsNotReady(w: Writer, m: DataIsNotReadyInit): void {
  if (m.safeTs !== undefined && !(m.safeTs === 0n)) {
    w.varint64(m.safeTs);
    w.varint(24);
  }
  if (m.peerId !== undefined && !(m.peerId === 0)) {
    w.varint(m.peerId);
    w.varint(16);
  }
  if (m.regionId !== undefined && !(m.regionId === 0)) {
    w.varint(m.regionId);
    w.varint(8);
  }
}
export function readDataIsNotReady(r: Reader, end: number): DataIsNotReady {
  let regionId = 0;
  let peerId = 0;
  let safeTs = 0n;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 8:
        regionId = r.count();
        break;
      case 16:
        peerId = r.count();
        break;
      case 24:
        safeTs = r.uint64();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { regionId, peerId, safeTs };
}
export const DataIsNotReadyCodec: Codec<DataIsNotReady, DataIsNotReadyInit> = { write: writeDataIsNotReady, read: readDataIsNotReady };

export interface RecoveryInProgress {
  readonly regionId: number;
}
export interface RecoveryInProgressInit {
  readonly regionId?: number | undefined;
}
export function writeRecoveryInProgress(w: Writer, m: RecoveryInProgressInit): void {
  if (m.regionId !== undefined && !(m.regionId === 0)) {
    w.varint(m.regionId);
    w.varint(8);
  }
}
export function readRecoveryInProgress(r: Reader, end: number): RecoveryInProgress {
  let regionId = 0;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 8:
        regionId = r.count();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { regionId };
}
export const RecoveryInProgressCodec: Codec<RecoveryInProgress, RecoveryInProgressInit> = { write: writeRecoveryInProgress, read: readRecoveryInProgress };

export interface FlashbackInProgress {
  readonly regionId: number;
  readonly flashbackStartTs: bigint;
}
export interface FlashbackInProgressInit {
  readonly regionId?: number | undefined;
  readonly flashbackStartTs?: bigint | undefined;
}
export function writeFlashbackInProgress(w: Writer, m: FlashbackInProgressInit): void {
  if (m.flashbackStartTs !== undefined && !(m.flashbackStartTs === 0n)) {
    w.varint64(m.flashbackStartTs);
    w.varint(16);
  }
  if (m.regionId !== undefined && !(m.regionId === 0)) {
    w.varint(m.regionId);
    w.varint(8);
  }
}
export function readFlashbackInProgress(r: Reader, end: number): FlashbackInProgress {
  let regionId = 0;
  let flashbackStartTs = 0n;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 8:
        regionId = r.count();
        break;
      case 16:
        flashbackStartTs = r.uint64();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { regionId, flashbackStartTs };
}
export const FlashbackInProgressCodec: Codec<FlashbackInProgress, FlashbackInProgressInit> = { write: writeFlashbackInProgress, read: readFlashbackInProgress };

export interface FlashbackNotPrepared {
  readonly regionId: number;
}
export interface FlashbackNotPreparedInit {
  readonly regionId?: number | undefined;
}
export function writeFlashbackNotPrepared(w: Writer, m: FlashbackNotPreparedInit): void {
  if (m.regionId !== undefined && !(m.regionId === 0)) {
    w.varint(m.regionId);
    w.varint(8);
  }
}
export function readFlashbackNotPrepared(r: Reader, end: number): FlashbackNotPrepared {
  let regionId = 0;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 8:
        regionId = r.count();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { regionId };
}
export const FlashbackNotPreparedCodec: Codec<FlashbackNotPrepared, FlashbackNotPreparedInit> = { write: writeFlashbackNotPrepared, read: readFlashbackNotPrepared };

export interface MismatchPeerId {
  readonly requestPeerId: number;
  readonly storePeerId: number;
}
export interface MismatchPeerIdInit {
  readonly requestPeerId?: number | undefined;
  readonly storePeerId?: number | undefined;
}
export function writeMismatchPeerId(w: Writer, m: MismatchPeerIdInit): void {
  if (m.storePeerId !== undefined && !(m.storePeerId === 0)) {
    w.varint(m.storePeerId);
    w.varint(16);
  }
  if (m.requestPeerId !== undefined && !(m.requestPeerId === 0)) {
    w.varint(m.requestPeerId);
    w.varint(8);
  }
}
export function readMismatchPeerId(r: Reader, end: number): MismatchPeerId {
  let requestPeerId = 0;
  let storePeerId = 0;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 8:
        requestPeerId = r.count();
        break;
      case 16:
        storePeerId = r.count();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { requestPeerId, storePeerId };
}
export const MismatchPeerIdCodec: Codec<MismatchPeerId, MismatchPeerIdInit> = { write: writeMismatchPeerId, read: readMismatchPeerId };

export interface UndeterminedResult {
  readonly message: string;
}
export interface UndeterminedResultInit {
  readonly message?: string | undefined;
}
export function writeUndeterminedResult(w: Writer, m: UndeterminedResultInit): void {
  if (m.message !== undefined && !(m.message === '')) {
    w.text(m.message);
    w.varint(10);
  }
}
export function readUndeterminedResult(r: Reader, end: number): UndeterminedResult {
  let message = '';
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        message = r.text();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { message };
}
export const UndeterminedResultCodec: Codec<UndeterminedResult, UndeterminedResultInit> = { write: writeUndeterminedResult, read: readUndeterminedResult };

export interface Error {
  readonly message: string;
  readonly notLeader: NotLeader | undefined;
  readonly regionNotFound: RegionNotFound | undefined;
  readonly keyNotInRegion: KeyNotInRegion | undefined;
  readonly epochNotMatch: EpochNotMatch | undefined;
  readonly serverIsBusy: ServerIsBusy | undefined;
  readonly staleCommand: StaleCommand | undefined;
  readonly storeNotMatch: StoreNotMatch | undefined;
  readonly raftEntryTooLarge: RaftEntryTooLarge | undefined;
  readonly maxTimestampNotSynced: MaxTimestampNotSynced | undefined;
  readonly readIndexNotReady: ReadIndexNotReady | undefined;
  readonly proposalInMergingMode: ProposalInMergingMode | undefined;
  readonly dataIsNotReady: DataIsNotReady | undefined;
  readonly regionNotInitialized: RegionNotInitialized | undefined;
  readonly diskFull: DiskFull | undefined;
  readonly recoveryInProgress: RecoveryInProgress | undefined;
  readonly flashbackInProgress: FlashbackInProgress | undefined;
  readonly flashbackNotPrepared: FlashbackNotPrepared | undefined;
  readonly isWitness: IsWitness | undefined;
  readonly mismatchPeerId: MismatchPeerId | undefined;
  readonly bucketVersionNotMatch: BucketVersionNotMatch | undefined;
  readonly undeterminedResult: UndeterminedResult | undefined;
}
export interface ErrorInit {
  readonly message?: string | undefined;
  readonly notLeader?: NotLeaderInit | undefined;
  readonly regionNotFound?: RegionNotFoundInit | undefined;
  readonly keyNotInRegion?: KeyNotInRegionInit | undefined;
  readonly epochNotMatch?: EpochNotMatchInit | undefined;
  readonly serverIsBusy?: ServerIsBusyInit | undefined;
  readonly staleCommand?: StaleCommandInit | undefined;
  readonly storeNotMatch?: StoreNotMatchInit | undefined;
  readonly raftEntryTooLarge?: RaftEntryTooLargeInit | undefined;
  readonly maxTimestampNotSynced?: MaxTimestampNotSyncedInit | undefined;
  readonly readIndexNotReady?: ReadIndexNotReadyInit | undefined;
  readonly proposalInMergingMode?: ProposalInMergingModeInit | undefined;
  readonly dataIsNotReady?: DataIsNotReadyInit | undefined;
  readonly regionNotInitialized?: RegionNotInitializedInit | undefined;
  readonly diskFull?: DiskFullInit | undefined;
  readonly recoveryInProgress?: RecoveryInProgressInit | undefined;
  readonly flashbackInProgress?: FlashbackInProgressInit | undefined;
  readonly flashbackNotPrepared?: FlashbackNotPreparedInit | undefined;
  readonly isWitness?: IsWitnessInit | undefined;
  readonly mismatchPeerId?: MismatchPeerIdInit | undefined;
  readonly bucketVersionNotMatch?: BucketVersionNotMatchInit | undefined;
  readonly undeterminedResult?: UndeterminedResultInit | undefined;
}
export function writeError(w: Writer, m: ErrorInit): void {
  if (m.undeterminedResult !== undefined) {
    const end = w.length;
    writeUndeterminedResult(w, m.undeterminedResult);
    w.varint(w.length - end);
    w.varint(178);
  }
  if (m.bucketVersionNotMatch !== undefined) {
    const end = w.length;
    writeBucketVersionNotMatch(w, m.bucketVersionNotMatch);
    w.varint(w.length - end);
    w.varint(170);
  }
  if (m.mismatchPeerId !== undefined) {
    const end = w.length;
    writeMismatchPeerId(w, m.mismatchPeerId);
    w.varint(w.length - end);
    w.varint(162);
  }
  if (m.isWitness !== undefined) {
    const end = w.length;
    writeIsWitness(w, m.isWitness);
    w.varint(w.length - end);
    w.varint(154);
  }
  if (m.flashbackNotPrepared !== undefined) {
    const end = w.length;
    writeFlashbackNotPrepared(w, m.flashbackNotPrepared);
    w.varint(w.length - end);
    w.varint(146);
  }
  if (m.flashbackInProgress !== undefined) {
    const end = w.length;
    writeFlashbackInProgress(w, m.flashbackInProgress);
    w.varint(w.length - end);
    w.varint(138);
  }
  if (m.recoveryInProgress !== undefined) {
    const end = w.length;
    writeRecoveryInProgress(w, m.recoveryInProgress);
    w.varint(w.length - end);
    w.varint(130);
  }
  if (m.diskFull !== undefined) {
    const end = w.length;
    writeDiskFull(w, m.diskFull);
    w.varint(w.length - end);
    w.varint(122);
  }
  if (m.regionNotInitialized !== undefined) {
    const end = w.length;
    writeRegionNotInitialized(w, m.regionNotInitialized);
    w.varint(w.length - end);
    w.varint(114);
  }
  if (m.dataIsNotReady !== undefined) {
    const end = w.length;
    writeDataIsNotReady(w, m.dataIsNotReady);
    w.varint(w.length - end);
    w.varint(106);
  }
  if (m.proposalInMergingMode !== undefined) {
    const end = w.length;
    writeProposalInMergingMode(w, m.proposalInMergingMode);
    w.varint(w.length - end);
    w.varint(98);
  }
  if (m.readIndexNotReady !== undefined) {
    const end = w.length;
    writeReadIndexNotReady(w, m.readIndexNotReady);
    w.varint(w.length - end);
    w.varint(90);
  }
  if (m.maxTimestampNotSynced !== undefined) {
    const end = w.length;
    writeMaxTimestampNotSynced(w, m.maxTimestampNotSynced);
    w.varint(w.length - end);
    w.varint(82);
  }
  if (m.raftEntryTooLarge !== undefined) {
    const end = w.length;
    writeRaftEntryTooLarge(w, m.raftEntryTooLarge);
    w.varint(w.length - end);
    w.varint(74);
  }
  if (m.storeNotMatch !== undefined) {
    const end = w.length;
    writeStoreNotMatch(w, m.storeNotMatch);
    w.varint(w.length - end);
    w.varint(66);
  }
  if (m.staleCommand !== undefined) {
    const end = w.length;
    writeStaleCommand(w, m.staleCommand);
    w.varint(w.length - end);
    w.varint(58);
  }
  if (m.serverIsBusy !== undefined) {
    const end = w.length;
    writeServerIsBusy(w, m.serverIsBusy);
    w.varint(w.length - end);
    w.varint(50);
  }
  if (m.epochNotMatch !== undefined) {
    const end = w.length;
    writeEpochNotMatch(w, m.epochNotMatch);
    w.varint(w.length - end);
    w.varint(42);
  }
  if (m.keyNotInRegion !== undefined) {
    const end = w.length;
    writeKeyNotInRegion(w, m.keyNotInRegion);
    w.varint(w.length - end);
    w.varint(34);
  }
  if (m.regionNotFound !== undefined) {
    const end = w.length;
    writeRegionNotFound(w, m.regionNotFound);
    w.varint(w.length - end);
    w.varint(26);
  }
  if (m.notLeader !== undefined) {
    const end = w.length;
    writeNotLeader(w, m.notLeader);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (m.message !== undefined && !(m.message === '')) {
    w.text(m.message);
    w.varint(10);
  }
}
export function readError(r: Reader, end: number): Error {
  let message = '';
  let notLeader: NotLeader | undefined;
  let regionNotFound: RegionNotFound | undefined;
  let keyNotInRegion: KeyNotInRegion | undefined;
  let epochNotMatch: EpochNotMatch | undefined;
  let serverIsBusy: ServerIsBusy | undefined;
  let staleCommand: StaleCommand | undefined;
  let storeNotMatch: StoreNotMatch | undefined;
  let raftEntryTooLarge: RaftEntryTooLarge | undefined;
  let maxTimestampNotSynced: MaxTimestampNotSynced | undefined;
  let readIndexNotReady: ReadIndexNotReady | undefined;
  let proposalInMergingMode: ProposalInMergingMode | undefined;
  let dataIsNotReady: DataIsNotReady | undefined;
  let regionNotInitialized: RegionNotInitialized | undefined;
  let diskFull: DiskFull | undefined;
  let recoveryInProgress: RecoveryInProgress | undefined;
  let flashbackInProgress: FlashbackInProgress | undefined;
  let flashbackNotPrepared: FlashbackNotPrepared | undefined;
  let isWitness: IsWitness | undefined;
  let mismatchPeerId: MismatchPeerId | undefined;
  let bucketVersionNotMatch: BucketVersionNotMatch | undefined;
  let undeterminedResult: UndeterminedResult | undefined;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        message = r.text();
        break;
      case 18:
        notLeader = readNotLeader(r, r.limit());
        break;
      case 26:
        regionNotFound = readRegionNotFound(r, r.limit());
        break;
      case 34:
        keyNotInRegion = readKeyNotInRegion(r, r.limit());
        break;
      case 42:
        epochNotMatch = readEpochNotMatch(r, r.limit());
        break;
      case 50:
        serverIsBusy = readServerIsBusy(r, r.limit());
        break;
      case 58:
        staleCommand = readStaleCommand(r, r.limit());
        break;
      case 66:
        storeNotMatch = readStoreNotMatch(r, r.limit());
        break;
      case 74:
        raftEntryTooLarge = readRaftEntryTooLarge(r, r.limit());
        break;
      case 82:
        maxTimestampNotSynced = readMaxTimestampNotSynced(r, r.limit());
        break;
      case 90:
        readIndexNotReady = readReadIndexNotReady(r, r.limit());
        break;
      case 98:
        proposalInMergingMode = readProposalInMergingMode(r, r.limit());
        break;
      case 106:
        dataIsNotReady = readDataIsNotReady(r, r.limit());
        break;
      case 114:
        regionNotInitialized = readRegionNotInitialized(r, r.limit());
        break;
      case 122:
        diskFull = readDiskFull(r, r.limit());
        break;
      case 130:
        recoveryInProgress = readRecoveryInProgress(r, r.limit());
        break;
      case 138:
        flashbackInProgress = readFlashbackInProgress(r, r.limit());
        break;
      case 146:
        flashbackNotPrepared = readFlashbackNotPrepared(r, r.limit());
        break;
      case 154:
        isWitness = readIsWitness(r, r.limit());
        break;
      case 162:
        mismatchPeerId = readMismatchPeerId(r, r.limit());
        break;
      case 170:
        bucketVersionNotMatch = readBucketVersionNotMatch(r, r.limit());
        break;
      case 178:
        undeterminedResult = readUndeterminedResult(r, r.limit());
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { message, notLeader, regionNotFound, keyNotInRegion, epochNotMatch, serverIsBusy, staleCommand, storeNotMatch, raftEntryTooLarge, maxTimestampNotSynced, readIndexNotReady, proposalInMergingMode, dataIsNotReady, regionNotInitialized, diskFull, recoveryInProgress, flashbackInProgress, flashbackNotPrepared, isWitness, mismatchPeerId, bucketVersionNotMatch, undeterminedResult };
}
export const ErrorCodec: Codec<Error, ErrorInit> = { write: writeError, read: readError };
