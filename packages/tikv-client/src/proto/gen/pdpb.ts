// Generated from proto/pdpb.proto by tools/generate.ts. Do not edit.
import { EMPTY_BYTES } from '@engram/core';
import { type Codec, NONE } from '../codec.ts';
import { MalformedMessage, type Reader } from '../reader.ts';
import type { Writer } from '../writer.ts';
import * as metapb from './metapb.ts';

export interface RequestHeader {
  readonly clusterId: bigint;
  readonly senderId: bigint;
  readonly callerId: string;
  readonly callerComponent: string;
}
export interface RequestHeaderInit {
  readonly clusterId?: bigint | undefined;
  readonly senderId?: bigint | undefined;
  readonly callerId?: string | undefined;
  readonly callerComponent?: string | undefined;
}
export function writeRequestHeader(w: Writer, m: RequestHeaderInit): void {
  if (m.callerComponent !== undefined && !(m.callerComponent === '')) {
    w.text(m.callerComponent);
    w.varint(34);
  }
  if (m.callerId !== undefined && !(m.callerId === '')) {
    w.text(m.callerId);
    w.varint(26);
  }
  if (m.senderId !== undefined && !(m.senderId === 0n)) {
    w.varint64(m.senderId);
    w.varint(16);
  }
  if (m.clusterId !== undefined && !(m.clusterId === 0n)) {
    w.varint64(m.clusterId);
    w.varint(8);
  }
}
export function readRequestHeader(r: Reader, end: number): RequestHeader {
  let clusterId = 0n;
  let senderId = 0n;
  let callerId = '';
  let callerComponent = '';
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 8:
        clusterId = r.uint64();
        break;
      case 16:
        senderId = r.uint64();
        break;
      case 26:
        callerId = r.text();
        break;
      case 34:
        callerComponent = r.text();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { clusterId, senderId, callerId, callerComponent };
}
export const RequestHeaderCodec: Codec<RequestHeader, RequestHeaderInit> = { write: writeRequestHeader, read: readRequestHeader };

export interface ResponseHeader {
  readonly clusterId: bigint;
  readonly error: Error | undefined;
}
export interface ResponseHeaderInit {
  readonly clusterId?: bigint | undefined;
  readonly error?: ErrorInit | undefined;
}
export function writeResponseHeader(w: Writer, m: ResponseHeaderInit): void {
  if (m.error !== undefined) {
    const end = w.length;
    writeError(w, m.error);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (m.clusterId !== undefined && !(m.clusterId === 0n)) {
    w.varint64(m.clusterId);
    w.varint(8);
  }
}
export function readResponseHeader(r: Reader, end: number): ResponseHeader {
  let clusterId = 0n;
  let error: Error | undefined;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 8:
        clusterId = r.uint64();
        break;
      case 18:
        error = readError(r, r.limit());
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { clusterId, error };
}
export const ResponseHeaderCodec: Codec<ResponseHeader, ResponseHeaderInit> = { write: writeResponseHeader, read: readResponseHeader };

export const ErrorType = { OK: 0, UNKNOWN: 1, NOT_BOOTSTRAPPED: 2, STORE_TOMBSTONE: 3, ALREADY_BOOTSTRAPPED: 4, INCOMPATIBLE_VERSION: 5, REGION_NOT_FOUND: 6, GLOBAL_CONFIG_NOT_FOUND: 7, DUPLICATED_ENTRY: 8, ENTRY_NOT_FOUND: 9, INVALID_VALUE: 10, DATA_COMPACTED: 11, REGIONS_NOT_CONTAIN_ALL_KEY_RANGE: 12 } as const;

export interface Error {
  readonly type: number;
  readonly message: string;
}
export interface ErrorInit {
  readonly type?: number | undefined;
  readonly message?: string | undefined;
}
export function writeError(w: Writer, m: ErrorInit): void {
  if (m.message !== undefined && !(m.message === '')) {
    w.text(m.message);
    w.varint(18);
  }
  if (m.type !== undefined && !(m.type === 0)) {
    w.int32(m.type);
    w.varint(8);
  }
}
export function readError(r: Reader, end: number): Error {
  let type = 0;
  let message = '';
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 8:
        type = r.int32();
        break;
      case 18:
        message = r.text();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { type, message };
}
export const ErrorCodec: Codec<Error, ErrorInit> = { write: writeError, read: readError };

export interface TsoRequest {
  readonly header: RequestHeader | undefined;
  readonly count: number;
  readonly dcLocation: string;
}
export interface TsoRequestInit {
  readonly header?: RequestHeaderInit | undefined;
  readonly count?: number | undefined;
  readonly dcLocation?: string | undefined;
}
export function writeTsoRequest(w: Writer, m: TsoRequestInit): void {
  if (m.dcLocation !== undefined && !(m.dcLocation === '')) {
    w.text(m.dcLocation);
    w.varint(26);
  }
  if (m.count !== undefined && !(m.count === 0)) {
    w.varint(m.count);
    w.varint(16);
  }
  if (m.header !== undefined) {
    const end = w.length;
    writeRequestHeader(w, m.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readTsoRequest(r: Reader, end: number): TsoRequest {
  let header: RequestHeader | undefined;
  let count = 0;
  let dcLocation = '';
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        header = readRequestHeader(r, r.limit());
        break;
      case 16:
        count = r.uint32();
        break;
      case 26:
        dcLocation = r.text();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { header, count, dcLocation };
}
export const TsoRequestCodec: Codec<TsoRequest, TsoRequestInit> = { write: writeTsoRequest, read: readTsoRequest };

export interface Timestamp {
  readonly physical: number;
  readonly logical: number;
  readonly suffixBits: number;
}
export interface TimestampInit {
  readonly physical?: number | undefined;
  readonly logical?: number | undefined;
  readonly suffixBits?: number | undefined;
}
export function writeTimestamp(w: Writer, m: TimestampInit): void {
  if (m.suffixBits !== undefined && !(m.suffixBits === 0)) {
    w.varint(m.suffixBits);
    w.varint(24);
  }
  if (m.logical !== undefined && !(m.logical === 0)) {
    w.varint(m.logical);
    w.varint(16);
  }
  if (m.physical !== undefined && !(m.physical === 0)) {
    w.varint(m.physical);
    w.varint(8);
  }
}
export function readTimestamp(r: Reader, end: number): Timestamp {
  let physical = 0;
  let logical = 0;
  let suffixBits = 0;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 8:
        physical = r.count();
        break;
      case 16:
        logical = r.count();
        break;
      case 24:
        suffixBits = r.uint32();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { physical, logical, suffixBits };
}
export const TimestampCodec: Codec<Timestamp, TimestampInit> = { write: writeTimestamp, read: readTimestamp };

export interface TsoResponse {
  readonly header: ResponseHeader | undefined;
  readonly count: number;
  readonly timestamp: Timestamp | undefined;
}
export interface TsoResponseInit {
  readonly header?: ResponseHeaderInit | undefined;
  readonly count?: number | undefined;
  readonly timestamp?: TimestampInit | undefined;
}
export function writeTsoResponse(w: Writer, m: TsoResponseInit): void {
  if (m.timestamp !== undefined) {
    const end = w.length;
    writeTimestamp(w, m.timestamp);
    w.varint(w.length - end);
    w.varint(26);
  }
  if (m.count !== undefined && !(m.count === 0)) {
    w.varint(m.count);
    w.varint(16);
  }
  if (m.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, m.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readTsoResponse(r: Reader, end: number): TsoResponse {
  let header: ResponseHeader | undefined;
  let count = 0;
  let timestamp: Timestamp | undefined;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        header = readResponseHeader(r, r.limit());
        break;
      case 16:
        count = r.uint32();
        break;
      case 26:
        timestamp = readTimestamp(r, r.limit());
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { header, count, timestamp };
}
export const TsoResponseCodec: Codec<TsoResponse, TsoResponseInit> = { write: writeTsoResponse, read: readTsoResponse };

export interface GetStoreRequest {
  readonly header: RequestHeader | undefined;
  readonly storeId: number;
}
export interface GetStoreRequestInit {
  readonly header?: RequestHeaderInit | undefined;
  readonly storeId?: number | undefined;
}
export function writeGetStoreRequest(w: Writer, m: GetStoreRequestInit): void {
  if (m.storeId !== undefined && !(m.storeId === 0)) {
    w.varint(m.storeId);
    w.varint(16);
  }
  if (m.header !== undefined) {
    const end = w.length;
    writeRequestHeader(w, m.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readGetStoreRequest(r: Reader, end: number): GetStoreRequest {
  let header: RequestHeader | undefined;
  let storeId = 0;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        header = readRequestHeader(r, r.limit());
        break;
      case 16:
        storeId = r.count();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { header, storeId };
}
export const GetStoreRequestCodec: Codec<GetStoreRequest, GetStoreRequestInit> = { write: writeGetStoreRequest, read: readGetStoreRequest };

export interface GetStoreResponse {
  readonly header: ResponseHeader | undefined;
  readonly store: metapb.Store | undefined;
}
export interface GetStoreResponseInit {
  readonly header?: ResponseHeaderInit | undefined;
  readonly store?: metapb.StoreInit | undefined;
}
export function writeGetStoreResponse(w: Writer, m: GetStoreResponseInit): void {
  if (m.store !== undefined) {
    const end = w.length;
    metapb.writeStore(w, m.store);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (m.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, m.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readGetStoreResponse(r: Reader, end: number): GetStoreResponse {
  let header: ResponseHeader | undefined;
  let store: metapb.Store | undefined;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        header = readResponseHeader(r, r.limit());
        break;
      case 18:
        store = metapb.readStore(r, r.limit());
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { header, store };
}
export const GetStoreResponseCodec: Codec<GetStoreResponse, GetStoreResponseInit> = { write: writeGetStoreResponse, read: readGetStoreResponse };

export interface GetAllStoresRequest {
  readonly header: RequestHeader | undefined;
  readonly excludeTombstoneStores: boolean;
}
export interface GetAllStoresRequestInit {
  readonly header?: RequestHeaderInit | undefined;
  readonly excludeTombstoneStores?: boolean | undefined;
}
export function writeGetAllStoresRequest(w: Writer, m: GetAllStoresRequestInit): void {
  if (m.excludeTombstoneStores !== undefined && !(!m.excludeTombstoneStores)) {
    w.varint(1);
    w.varint(16);
  }
  if (m.header !== undefined) {
    const end = w.length;
    writeRequestHeader(w, m.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readGetAllStoresRequest(r: Reader, end: number): GetAllStoresRequest {
  let header: RequestHeader | undefined;
  let excludeTombstoneStores = false;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        header = readRequestHeader(r, r.limit());
        break;
      case 16:
        excludeTombstoneStores = r.uint32() !== 0;
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { header, excludeTombstoneStores };
}
export const GetAllStoresRequestCodec: Codec<GetAllStoresRequest, GetAllStoresRequestInit> = { write: writeGetAllStoresRequest, read: readGetAllStoresRequest };

export interface GetAllStoresResponse {
  readonly header: ResponseHeader | undefined;
  readonly stores: readonly metapb.Store[];
}
export interface GetAllStoresResponseInit {
  readonly header?: ResponseHeaderInit | undefined;
  readonly stores?: readonly metapb.StoreInit[] | undefined;
}
export function writeGetAllStoresResponse(w: Writer, m: GetAllStoresResponseInit): void {
  if (m.stores !== undefined && m.stores.length > 0) {
    for (let i = m.stores.length - 1; i >= 0; i -= 1) {
      const end = w.length;
      metapb.writeStore(w, m.stores[i]!);
      w.varint(w.length - end);
      w.varint(18);
    }
  }
  if (m.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, m.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readGetAllStoresResponse(r: Reader, end: number): GetAllStoresResponse {
  let header: ResponseHeader | undefined;
  let stores: metapb.Store[] | undefined;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        header = readResponseHeader(r, r.limit());
        break;
      case 18:
        (stores ??= []).push(metapb.readStore(r, r.limit()));
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { header, stores: stores ?? NONE };
}
export const GetAllStoresResponseCodec: Codec<GetAllStoresResponse, GetAllStoresResponseInit> = { write: writeGetAllStoresResponse, read: readGetAllStoresResponse };

export interface GetRegionRequest {
  readonly header: RequestHeader | undefined;
  readonly regionKey: Uint8Array;
  readonly needBuckets: boolean;
}
export interface GetRegionRequestInit {
  readonly header?: RequestHeaderInit | undefined;
  readonly regionKey?: Uint8Array | undefined;
  readonly needBuckets?: boolean | undefined;
}
export function writeGetRegionRequest(w: Writer, m: GetRegionRequestInit): void {
  if (m.needBuckets !== undefined && !(!m.needBuckets)) {
    w.varint(1);
    w.varint(24);
  }
  if (m.regionKey !== undefined && !(m.regionKey.length === 0)) {
    w.bytes(m.regionKey);
    w.varint(18);
  }
  if (m.header !== undefined) {
    const end = w.length;
    writeRequestHeader(w, m.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readGetRegionRequest(r: Reader, end: number): GetRegionRequest {
  let header: RequestHeader | undefined;
  let regionKey: Uint8Array = EMPTY_BYTES;
  let needBuckets = false;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        header = readRequestHeader(r, r.limit());
        break;
      case 18:
        regionKey = r.bytes();
        break;
      case 24:
        needBuckets = r.uint32() !== 0;
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { header, regionKey, needBuckets };
}
export const GetRegionRequestCodec: Codec<GetRegionRequest, GetRegionRequestInit> = { write: writeGetRegionRequest, read: readGetRegionRequest };

export interface GetRegionResponse {
  readonly header: ResponseHeader | undefined;
  readonly region: metapb.Region | undefined;
  readonly leader: metapb.Peer | undefined;
  readonly downPeers: readonly PeerStats[];
  readonly pendingPeers: readonly metapb.Peer[];
}
export interface GetRegionResponseInit {
  readonly header?: ResponseHeaderInit | undefined;
  readonly region?: metapb.RegionInit | undefined;
  readonly leader?: metapb.PeerInit | undefined;
  readonly downPeers?: readonly PeerStatsInit[] | undefined;
  readonly pendingPeers?: readonly metapb.PeerInit[] | undefined;
}
export function writeGetRegionResponse(w: Writer, m: GetRegionResponseInit): void {
  if (m.pendingPeers !== undefined && m.pendingPeers.length > 0) {
    for (let i = m.pendingPeers.length - 1; i >= 0; i -= 1) {
      const end = w.length;
      metapb.writePeer(w, m.pendingPeers[i]!);
      w.varint(w.length - end);
      w.varint(50);
    }
  }
  if (m.downPeers !== undefined && m.downPeers.length > 0) {
    for (let i = m.downPeers.length - 1; i >= 0; i -= 1) {
      const end = w.length;
      writePeerStats(w, m.downPeers[i]!);
      w.varint(w.length - end);
      w.varint(42);
    }
  }
  if (m.leader !== undefined) {
    const end = w.length;
    metapb.writePeer(w, m.leader);
    w.varint(w.length - end);
    w.varint(26);
  }
  if (m.region !== undefined) {
    const end = w.length;
    metapb.writeRegion(w, m.region);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (m.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, m.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readGetRegionResponse(r: Reader, end: number): GetRegionResponse {
  let header: ResponseHeader | undefined;
  let region: metapb.Region | undefined;
  let leader: metapb.Peer | undefined;
  let downPeers: PeerStats[] | undefined;
  let pendingPeers: metapb.Peer[] | undefined;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        header = readResponseHeader(r, r.limit());
        break;
      case 18:
        region = metapb.readRegion(r, r.limit());
        break;
      case 26:
        leader = metapb.readPeer(r, r.limit());
        break;
      case 42:
        (downPeers ??= []).push(readPeerStats(r, r.limit()));
        break;
      case 50:
        (pendingPeers ??= []).push(metapb.readPeer(r, r.limit()));
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { header, region, leader, downPeers: downPeers ?? NONE, pendingPeers: pendingPeers ?? NONE };
}
export const GetRegionResponseCodec: Codec<GetRegionResponse, GetRegionResponseInit> = { write: writeGetRegionResponse, read: readGetRegionResponse };

export interface GetRegionByIDRequest {
  readonly header: RequestHeader | undefined;
  readonly regionId: number;
  readonly needBuckets: boolean;
}
export interface GetRegionByIDRequestInit {
  readonly header?: RequestHeaderInit | undefined;
  readonly regionId?: number | undefined;
  readonly needBuckets?: boolean | undefined;
}
export function writeGetRegionByIDRequest(w: Writer, m: GetRegionByIDRequestInit): void {
  if (m.needBuckets !== undefined && !(!m.needBuckets)) {
    w.varint(1);
    w.varint(24);
  }
  if (m.regionId !== undefined && !(m.regionId === 0)) {
    w.varint(m.regionId);
    w.varint(16);
  }
  if (m.header !== undefined) {
    const end = w.length;
    writeRequestHeader(w, m.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readGetRegionByIDRequest(r: Reader, end: number): GetRegionByIDRequest {
  let header: RequestHeader | undefined;
  let regionId = 0;
  let needBuckets = false;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        header = readRequestHeader(r, r.limit());
        break;
      case 16:
        regionId = r.count();
        break;
      case 24:
        needBuckets = r.uint32() !== 0;
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { header, regionId, needBuckets };
}
export const GetRegionByIDRequestCodec: Codec<GetRegionByIDRequest, GetRegionByIDRequestInit> = { write: writeGetRegionByIDRequest, read: readGetRegionByIDRequest };

export interface ScanRegionsRequest {
  readonly header: RequestHeader | undefined;
  readonly startKey: Uint8Array;
  readonly limit: number;
  readonly endKey: Uint8Array;
}
export interface ScanRegionsRequestInit {
  readonly header?: RequestHeaderInit | undefined;
  readonly startKey?: Uint8Array | undefined;
  readonly limit?: number | undefined;
  readonly endKey?: Uint8Array | undefined;
}
export function writeScanRegionsRequest(w: Writer, m: ScanRegionsRequestInit): void {
  if (m.endKey !== undefined && !(m.endKey.length === 0)) {
    w.bytes(m.endKey);
    w.varint(34);
  }
  if (m.limit !== undefined && !(m.limit === 0)) {
    w.int32(m.limit);
    w.varint(24);
  }
  if (m.startKey !== undefined && !(m.startKey.length === 0)) {
    w.bytes(m.startKey);
    w.varint(18);
  }
  if (m.header !== undefined) {
    const end = w.length;
    writeRequestHeader(w, m.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readScanRegionsRequest(r: Reader, end: number): ScanRegionsRequest {
  let header: RequestHeader | undefined;
  let startKey: Uint8Array = EMPTY_BYTES;
  let limit = 0;
  let endKey: Uint8Array = EMPTY_BYTES;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        header = readRequestHeader(r, r.limit());
        break;
      case 18:
        startKey = r.bytes();
        break;
      case 24:
        limit = r.int32();
        break;
      case 34:
        endKey = r.bytes();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { header, startKey, limit, endKey };
}
export const ScanRegionsRequestCodec: Codec<ScanRegionsRequest, ScanRegionsRequestInit> = { write: writeScanRegionsRequest, read: readScanRegionsRequest };

export interface Region {
  readonly region: metapb.Region | undefined;
  readonly leader: metapb.Peer | undefined;
  readonly downPeers: readonly PeerStats[];
  readonly pendingPeers: readonly metapb.Peer[];
}
export interface RegionInit {
  readonly region?: metapb.RegionInit | undefined;
  readonly leader?: metapb.PeerInit | undefined;
  readonly downPeers?: readonly PeerStatsInit[] | undefined;
  readonly pendingPeers?: readonly metapb.PeerInit[] | undefined;
}
export function writeRegion(w: Writer, m: RegionInit): void {
  if (m.pendingPeers !== undefined && m.pendingPeers.length > 0) {
    for (let i = m.pendingPeers.length - 1; i >= 0; i -= 1) {
      const end = w.length;
      metapb.writePeer(w, m.pendingPeers[i]!);
      w.varint(w.length - end);
      w.varint(34);
    }
  }
  if (m.downPeers !== undefined && m.downPeers.length > 0) {
    for (let i = m.downPeers.length - 1; i >= 0; i -= 1) {
      const end = w.length;
      writePeerStats(w, m.downPeers[i]!);
      w.varint(w.length - end);
      w.varint(26);
    }
  }
  if (m.leader !== undefined) {
    const end = w.length;
    metapb.writePeer(w, m.leader);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (m.region !== undefined) {
    const end = w.length;
    metapb.writeRegion(w, m.region);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readRegion(r: Reader, end: number): Region {
  let region: metapb.Region | undefined;
  let leader: metapb.Peer | undefined;
  let downPeers: PeerStats[] | undefined;
  let pendingPeers: metapb.Peer[] | undefined;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        region = metapb.readRegion(r, r.limit());
        break;
      case 18:
        leader = metapb.readPeer(r, r.limit());
        break;
      case 26:
        (downPeers ??= []).push(readPeerStats(r, r.limit()));
        break;
      case 34:
        (pendingPeers ??= []).push(metapb.readPeer(r, r.limit()));
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { region, leader, downPeers: downPeers ?? NONE, pendingPeers: pendingPeers ?? NONE };
}
export const RegionCodec: Codec<Region, RegionInit> = { write: writeRegion, read: readRegion };

export interface ScanRegionsResponse {
  readonly header: ResponseHeader | undefined;
  readonly regionMetas: readonly metapb.Region[];
  readonly leaders: readonly metapb.Peer[];
  readonly regions: readonly Region[];
}
export interface ScanRegionsResponseInit {
  readonly header?: ResponseHeaderInit | undefined;
  readonly regionMetas?: readonly metapb.RegionInit[] | undefined;
  readonly leaders?: readonly metapb.PeerInit[] | undefined;
  readonly regions?: readonly RegionInit[] | undefined;
}
export function writeScanRegionsResponse(w: Writer, m: ScanRegionsResponseInit): void {
  if (m.regions !== undefined && m.regions.length > 0) {
    for (let i = m.regions.length - 1; i >= 0; i -= 1) {
      const end = w.length;
      writeRegion(w, m.regions[i]!);
      w.varint(w.length - end);
      w.varint(34);
    }
  }
  if (m.leaders !== undefined && m.leaders.length > 0) {
    for (let i = m.leaders.length - 1; i >= 0; i -= 1) {
      const end = w.length;
      metapb.writePeer(w, m.leaders[i]!);
      w.varint(w.length - end);
      w.varint(26);
    }
  }
  if (m.regionMetas !== undefined && m.regionMetas.length > 0) {
    for (let i = m.regionMetas.length - 1; i >= 0; i -= 1) {
      const end = w.length;
      metapb.writeRegion(w, m.regionMetas[i]!);
      w.varint(w.length - end);
      w.varint(18);
    }
  }
  if (m.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, m.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readScanRegionsResponse(r: Reader, end: number): ScanRegionsResponse {
  let header: ResponseHeader | undefined;
  let regionMetas: metapb.Region[] | undefined;
  let leaders: metapb.Peer[] | undefined;
  let regions: Region[] | undefined;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        header = readResponseHeader(r, r.limit());
        break;
      case 18:
        (regionMetas ??= []).push(metapb.readRegion(r, r.limit()));
        break;
      case 26:
        (leaders ??= []).push(metapb.readPeer(r, r.limit()));
        break;
      case 34:
        (regions ??= []).push(readRegion(r, r.limit()));
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { header, regionMetas: regionMetas ?? NONE, leaders: leaders ?? NONE, regions: regions ?? NONE };
}
export const ScanRegionsResponseCodec: Codec<ScanRegionsResponse, ScanRegionsResponseInit> = { write: writeScanRegionsResponse, read: readScanRegionsResponse };

export interface KeyRange {
  readonly startKey: Uint8Array;
  readonly endKey: Uint8Array;
}
export interface KeyRangeInit {
  readonly startKey?: Uint8Array | undefined;
  readonly endKey?: Uint8Array | undefined;
}
export function writeKeyRange(w: Writer, m: KeyRangeInit): void {
  if (m.endKey !== undefined && !(m.endKey.length === 0)) {
    w.bytes(m.endKey);
    w.varint(18);
  }
  if (m.startKey !== undefined && !(m.startKey.length === 0)) {
    w.bytes(m.startKey);
    w.varint(10);
  }
}
export function readKeyRange(r: Reader, end: number): KeyRange {
  let startKey: Uint8Array = EMPTY_BYTES;
  let endKey: Uint8Array = EMPTY_BYTES;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        startKey = r.bytes();
        break;
      case 18:
        endKey = r.bytes();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { startKey, endKey };
}
export const KeyRangeCodec: Codec<KeyRange, KeyRangeInit> = { write: writeKeyRange, read: readKeyRange };

export interface BatchScanRegionsRequest {
  readonly header: RequestHeader | undefined;
  readonly needBuckets: boolean;
  readonly ranges: readonly KeyRange[];
  readonly limit: number;
  readonly containAllKeyRange: boolean;
}
export interface BatchScanRegionsRequestInit {
  readonly header?: RequestHeaderInit | undefined;
  readonly needBuckets?: boolean | undefined;
  readonly ranges?: readonly KeyRangeInit[] | undefined;
  readonly limit?: number | undefined;
  readonly containAllKeyRange?: boolean | undefined;
}
export function writeBatchScanRegionsRequest(w: Writer, m: BatchScanRegionsRequestInit): void {
  if (m.containAllKeyRange !== undefined && !(!m.containAllKeyRange)) {
    w.varint(1);
    w.varint(40);
  }
  if (m.limit !== undefined && !(m.limit === 0)) {
    w.int32(m.limit);
    w.varint(32);
  }
  if (m.ranges !== undefined && m.ranges.length > 0) {
    for (let i = m.ranges.length - 1; i >= 0; i -= 1) {
      const end = w.length;
      writeKeyRange(w, m.ranges[i]!);
      w.varint(w.length - end);
      w.varint(26);
    }
  }
  if (m.needBuckets !== undefined && !(!m.needBuckets)) {
    w.varint(1);
    w.varint(16);
  }
  if (m.header !== undefined) {
    const end = w.length;
    writeRequestHeader(w, m.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readBatchScanRegionsRequest(r: Reader, end: number): BatchScanRegionsRequest {
  let header: RequestHeader | undefined;
  let needBuckets = false;
  let ranges: KeyRange[] | undefined;
  let limit = 0;
  let containAllKeyRange = false;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        header = readRequestHeader(r, r.limit());
        break;
      case 16:
        needBuckets = r.uint32() !== 0;
        break;
      case 26:
        (ranges ??= []).push(readKeyRange(r, r.limit()));
        break;
      case 32:
        limit = r.int32();
        break;
      case 40:
        containAllKeyRange = r.uint32() !== 0;
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { header, needBuckets, ranges: ranges ?? NONE, limit, containAllKeyRange };
}
export const BatchScanRegionsRequestCodec: Codec<BatchScanRegionsRequest, BatchScanRegionsRequestInit> = { write: writeBatchScanRegionsRequest, read: readBatchScanRegionsRequest };

export interface BatchScanRegionsResponse {
  readonly header: ResponseHeader | undefined;
  readonly regions: readonly Region[];
}
export interface BatchScanRegionsResponseInit {
  readonly header?: ResponseHeaderInit | undefined;
  readonly regions?: readonly RegionInit[] | undefined;
}
export function writeBatchScanRegionsResponse(w: Writer, m: BatchScanRegionsResponseInit): void {
  if (m.regions !== undefined && m.regions.length > 0) {
    for (let i = m.regions.length - 1; i >= 0; i -= 1) {
      const end = w.length;
      writeRegion(w, m.regions[i]!);
      w.varint(w.length - end);
      w.varint(18);
    }
  }
  if (m.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, m.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readBatchScanRegionsResponse(r: Reader, end: number): BatchScanRegionsResponse {
  let header: ResponseHeader | undefined;
  let regions: Region[] | undefined;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        header = readResponseHeader(r, r.limit());
        break;
      case 18:
        (regions ??= []).push(readRegion(r, r.limit()));
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { header, regions: regions ?? NONE };
}
export const BatchScanRegionsResponseCodec: Codec<BatchScanRegionsResponse, BatchScanRegionsResponseInit> = { write: writeBatchScanRegionsResponse, read: readBatchScanRegionsResponse };

export interface Member {
  readonly name: string;
  readonly memberId: bigint;
  readonly peerUrls: readonly string[];
  readonly clientUrls: readonly string[];
  readonly leaderPriority: number;
  readonly deployPath: string;
  readonly binaryVersion: string;
  readonly gitHash: string;
  readonly dcLocation: string;
}
export interface MemberInit {
  readonly name?: string | undefined;
  readonly memberId?: bigint | undefined;
  readonly peerUrls?: readonly string[] | undefined;
  readonly clientUrls?: readonly string[] | undefined;
  readonly leaderPriority?: number | undefined;
  readonly deployPath?: string | undefined;
  readonly binaryVersion?: string | undefined;
  readonly gitHash?: string | undefined;
  readonly dcLocation?: string | undefined;
}
export function writeMember(w: Writer, m: MemberInit): void {
  if (m.dcLocation !== undefined && !(m.dcLocation === '')) {
    w.text(m.dcLocation);
    w.varint(74);
  }
  if (m.gitHash !== undefined && !(m.gitHash === '')) {
    w.text(m.gitHash);
    w.varint(66);
  }
  if (m.binaryVersion !== undefined && !(m.binaryVersion === '')) {
    w.text(m.binaryVersion);
    w.varint(58);
  }
  if (m.deployPath !== undefined && !(m.deployPath === '')) {
    w.text(m.deployPath);
    w.varint(50);
  }
  if (m.leaderPriority !== undefined && !(m.leaderPriority === 0)) {
    w.int32(m.leaderPriority);
    w.varint(40);
  }
  if (m.clientUrls !== undefined && m.clientUrls.length > 0) {
    for (let i = m.clientUrls.length - 1; i >= 0; i -= 1) {
      w.text(m.clientUrls[i]!);
      w.varint(34);
    }
  }
  if (m.peerUrls !== undefined && m.peerUrls.length > 0) {
    for (let i = m.peerUrls.length - 1; i >= 0; i -= 1) {
      w.text(m.peerUrls[i]!);
      w.varint(26);
    }
  }
  if (m.memberId !== undefined && !(m.memberId === 0n)) {
    w.varint64(m.memberId);
    w.varint(16);
  }
  if (m.name !== undefined && !(m.name === '')) {
    w.text(m.name);
    w.varint(10);
  }
}
export function readMember(r: Reader, end: number): Member {
  let name = '';
  let memberId = 0n;
  let peerUrls: string[] | undefined;
  let clientUrls: string[] | undefined;
  let leaderPriority = 0;
  let deployPath = '';
  let binaryVersion = '';
  let gitHash = '';
  let dcLocation = '';
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        name = r.text();
        break;
      case 16:
        memberId = r.uint64();
        break;
      case 26:
        (peerUrls ??= []).push(r.text());
        break;
      case 34:
        (clientUrls ??= []).push(r.text());
        break;
      case 40:
        leaderPriority = r.int32();
        break;
      case 50:
        deployPath = r.text();
        break;
      case 58:
        binaryVersion = r.text();
        break;
      case 66:
        gitHash = r.text();
        break;
      case 74:
        dcLocation = r.text();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { name, memberId, peerUrls: peerUrls ?? NONE, clientUrls: clientUrls ?? NONE, leaderPriority, deployPath, binaryVersion, gitHash, dcLocation };
}
export const MemberCodec: Codec<Member, MemberInit> = { write: writeMember, read: readMember };

export interface GetMembersRequest {
  readonly header: RequestHeader | undefined;
}
export interface GetMembersRequestInit {
  readonly header?: RequestHeaderInit | undefined;
}
export function writeGetMembersRequest(w: Writer, m: GetMembersRequestInit): void {
  if (m.header !== undefined) {
    const end = w.length;
    writeRequestHeader(w, m.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readGetMembersRequest(r: Reader, end: number): GetMembersRequest {
  let header: RequestHeader | undefined;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        header = readRequestHeader(r, r.limit());
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { header };
}
export const GetMembersRequestCodec: Codec<GetMembersRequest, GetMembersRequestInit> = { write: writeGetMembersRequest, read: readGetMembersRequest };

export interface GetMembersResponse {
  readonly header: ResponseHeader | undefined;
  readonly members: readonly Member[];
  readonly leader: Member | undefined;
  readonly etcdLeader: Member | undefined;
}
export interface GetMembersResponseInit {
  readonly header?: ResponseHeaderInit | undefined;
  readonly members?: readonly MemberInit[] | undefined;
  readonly leader?: MemberInit | undefined;
  readonly etcdLeader?: MemberInit | undefined;
}
export function writeGetMembersResponse(w: Writer, m: GetMembersResponseInit): void {
  if (m.etcdLeader !== undefined) {
    const end = w.length;
    writeMember(w, m.etcdLeader);
    w.varint(w.length - end);
    w.varint(34);
  }
  if (m.leader !== undefined) {
    const end = w.length;
    writeMember(w, m.leader);
    w.varint(w.length - end);
    w.varint(26);
  }
  if (m.members !== undefined && m.members.length > 0) {
    for (let i = m.members.length - 1; i >= 0; i -= 1) {
      const end = w.length;
      writeMember(w, m.members[i]!);
      w.varint(w.length - end);
      w.varint(18);
    }
  }
  if (m.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, m.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readGetMembersResponse(r: Reader, end: number): GetMembersResponse {
  let header: ResponseHeader | undefined;
  let members: Member[] | undefined;
  let leader: Member | undefined;
  let etcdLeader: Member | undefined;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        header = readResponseHeader(r, r.limit());
        break;
      case 18:
        (members ??= []).push(readMember(r, r.limit()));
        break;
      case 26:
        leader = readMember(r, r.limit());
        break;
      case 34:
        etcdLeader = readMember(r, r.limit());
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { header, members: members ?? NONE, leader, etcdLeader };
}
export const GetMembersResponseCodec: Codec<GetMembersResponse, GetMembersResponseInit> = { write: writeGetMembersResponse, read: readGetMembersResponse };

export interface GetClusterInfoRequest {
  readonly header: ResponseHeader | undefined;
}
export interface GetClusterInfoRequestInit {
  readonly header?: ResponseHeaderInit | undefined;
}
export function writeGetClusterInfoRequest(w: Writer, m: GetClusterInfoRequestInit): void {
  if (m.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, m.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readGetClusterInfoRequest(r: Reader, end: number): GetClusterInfoRequest {
  let header: ResponseHeader | undefined;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        header = readResponseHeader(r, r.limit());
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { header };
}
export const GetClusterInfoRequestCodec: Codec<GetClusterInfoRequest, GetClusterInfoRequestInit> = { write: writeGetClusterInfoRequest, read: readGetClusterInfoRequest };

export const ServiceMode = { UNKNOWN_SVC_MODE: 0, PD_SVC_MODE: 1, API_SVC_MODE: 2 } as const;

export interface GetClusterInfoResponse {
  readonly header: ResponseHeader | undefined;
  readonly serviceModes: readonly number[];
  readonly tsoUrls: readonly string[];
}
export interface GetClusterInfoResponseInit {
  readonly header?: ResponseHeaderInit | undefined;
  readonly serviceModes?: readonly number[] | undefined;
  readonly tsoUrls?: readonly string[] | undefined;
}
export function writeGetClusterInfoResponse(w: Writer, m: GetClusterInfoResponseInit): void {
  if (m.tsoUrls !== undefined && m.tsoUrls.length > 0) {
    for (let i = m.tsoUrls.length - 1; i >= 0; i -= 1) {
      w.text(m.tsoUrls[i]!);
      w.varint(26);
    }
  }
  if (m.serviceModes !== undefined && m.serviceModes.length > 0) {
    const end = w.length;
    for (let i = m.serviceModes.length - 1; i >= 0; i -= 1) w.int32(m.serviceModes[i]!);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (m.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, m.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readGetClusterInfoResponse(r: Reader, end: number): GetClusterInfoResponse {
  let header: ResponseHeader | undefined;
  let serviceModes: number[] | undefined;
  let tsoUrls: string[] | undefined;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        header = readResponseHeader(r, r.limit());
        break;
      case 16:
        (serviceModes ??= []).push(r.int32());
        break;
      case 18: {
        serviceModes ??= [];
        for (const limit = r.limit(); r.at < limit; ) serviceModes.push(r.int32());
        break;
      }
      case 26:
        (tsoUrls ??= []).push(r.text());
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { header, serviceModes: serviceModes ?? NONE, tsoUrls: tsoUrls ?? NONE };
}
export const GetClusterInfoResponseCodec: Codec<GetClusterInfoResponse, GetClusterInfoResponseInit> = { write: writeGetClusterInfoResponse, read: readGetClusterInfoResponse };

export interface PeerStats {
  readonly peer: metapb.Peer | undefined;
  readonly downSeconds: number;
}
export interface PeerStatsInit {
  readonly peer?: metapb.PeerInit | undefined;
  readonly downSeconds?: number | undefined;
}
export function writePeerStats(w: Writer, m: PeerStatsInit): void {
  if (m.downSeconds !== undefined && !(m.downSeconds === 0)) {
    w.varint(m.downSeconds);
    w.varint(16);
  }
  if (m.peer !== undefined) {
    const end = w.length;
    metapb.writePeer(w, m.peer);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readPeerStats(r: Reader, end: number): PeerStats {
  let peer: metapb.Peer | undefined;
  let downSeconds = 0;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        peer = metapb.readPeer(r, r.limit());
        break;
      case 16:
        downSeconds = r.count();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { peer, downSeconds };
}
export const PeerStatsCodec: Codec<PeerStats, PeerStatsInit> = { write: writePeerStats, read: readPeerStats };

export interface ScatterRegionRequest {
  readonly header: RequestHeader | undefined;
  readonly regionId: number;
  readonly region: metapb.Region | undefined;
  readonly leader: metapb.Peer | undefined;
  readonly group: string;
  readonly regionsId: readonly number[];
  readonly retryLimit: number;
  readonly skipStoreLimit: boolean;
}
export interface ScatterRegionRequestInit {
  readonly header?: RequestHeaderInit | undefined;
  readonly regionId?: number | undefined;
  readonly region?: metapb.RegionInit | undefined;
  readonly leader?: metapb.PeerInit | undefined;
  readonly group?: string | undefined;
  readonly regionsId?: readonly number[] | undefined;
  readonly retryLimit?: number | undefined;
  readonly skipStoreLimit?: boolean | undefined;
}
export function writeScatterRegionRequest(w: Writer, m: ScatterRegionRequestInit): void {
  if (m.skipStoreLimit !== undefined && !(!m.skipStoreLimit)) {
    w.varint(1);
    w.varint(64);
  }
  if (m.retryLimit !== undefined && !(m.retryLimit === 0)) {
    w.varint(m.retryLimit);
    w.varint(56);
  }
  if (m.regionsId !== undefined && m.regionsId.length > 0) {
    const end = w.length;
    for (let i = m.regionsId.length - 1; i >= 0; i -= 1) w.varint(m.regionsId[i]!);
    w.varint(w.length - end);
    w.varint(50);
  }
  if (m.group !== undefined && !(m.group === '')) {
    w.text(m.group);
    w.varint(42);
  }
  if (m.leader !== undefined) {
    const end = w.length;
    metapb.writePeer(w, m.leader);
    w.varint(w.length - end);
    w.varint(34);
  }
  if (m.region !== undefined) {
    const end = w.length;
    metapb.writeRegion(w, m.region);
    w.varint(w.length - end);
    w.varint(26);
  }
  if (m.regionId !== undefined && !(m.regionId === 0)) {
    w.varint(m.regionId);
    w.varint(16);
  }
  if (m.header !== undefined) {
    const end = w.length;
    writeRequestHeader(w, m.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readScatterRegionRequest(r: Reader, end: number): ScatterRegionRequest {
  let header: RequestHeader | undefined;
  let regionId = 0;
  let region: metapb.Region | undefined;
  let leader: metapb.Peer | undefined;
  let group = '';
  let regionsId: number[] | undefined;
  let retryLimit = 0;
  let skipStoreLimit = false;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        header = readRequestHeader(r, r.limit());
        break;
      case 16:
        regionId = r.count();
        break;
      case 26:
        region = metapb.readRegion(r, r.limit());
        break;
      case 34:
        leader = metapb.readPeer(r, r.limit());
        break;
      case 42:
        group = r.text();
        break;
      case 48:
        (regionsId ??= []).push(r.count());
        break;
      case 50: {
        regionsId ??= [];
        for (const limit = r.limit(); r.at < limit; ) regionsId.push(r.count());
        break;
      }
      case 56:
        retryLimit = r.count();
        break;
      case 64:
        skipStoreLimit = r.uint32() !== 0;
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { header, regionId, region, leader, group, regionsId: regionsId ?? NONE, retryLimit, skipStoreLimit };
}
export const ScatterRegionRequestCodec: Codec<ScatterRegionRequest, ScatterRegionRequestInit> = { write: writeScatterRegionRequest, read: readScatterRegionRequest };

export interface ScatterRegionResponse {
  readonly header: ResponseHeader | undefined;
  readonly finishedPercentage: number;
  readonly failedRegionsId: readonly number[];
}
export interface ScatterRegionResponseInit {
  readonly header?: ResponseHeaderInit | undefined;
  readonly finishedPercentage?: number | undefined;
  readonly failedRegionsId?: readonly number[] | undefined;
}
export function writeScatterRegionResponse(w: Writer, m: ScatterRegionResponseInit): void {
  if (m.failedRegionsId !== undefined && m.failedRegionsId.length > 0) {
    const end = w.length;
    for (let i = m.failedRegionsId.length - 1; i >= 0; i -= 1) w.varint(m.failedRegionsId[i]!);
    w.varint(w.length - end);
    w.varint(26);
  }
  if (m.finishedPercentage !== undefined && !(m.finishedPercentage === 0)) {
    w.varint(m.finishedPercentage);
    w.varint(16);
  }
  if (m.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, m.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readScatterRegionResponse(r: Reader, end: number): ScatterRegionResponse {
  let header: ResponseHeader | undefined;
  let finishedPercentage = 0;
  let failedRegionsId: number[] | undefined;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        header = readResponseHeader(r, r.limit());
        break;
      case 16:
        finishedPercentage = r.count();
        break;
      case 24:
        (failedRegionsId ??= []).push(r.count());
        break;
      case 26: {
        failedRegionsId ??= [];
        for (const limit = r.limit(); r.at < limit; ) failedRegionsId.push(r.count());
        break;
      }
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { header, finishedPercentage, failedRegionsId: failedRegionsId ?? NONE };
}
export const ScatterRegionResponseCodec: Codec<ScatterRegionResponse, ScatterRegionResponseInit> = { write: writeScatterRegionResponse, read: readScatterRegionResponse };

export interface GetGCSafePointRequest {
  readonly header: RequestHeader | undefined;
}
export interface GetGCSafePointRequestInit {
  readonly header?: RequestHeaderInit | undefined;
}
export function writeGetGCSafePointRequest(w: Writer, m: GetGCSafePointRequestInit): void {
  if (m.header !== undefined) {
    const end = w.length;
    writeRequestHeader(w, m.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readGetGCSafePointRequest(r: Reader, end: number): GetGCSafePointRequest {
  let header: RequestHeader | undefined;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        header = readRequestHeader(r, r.limit());
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { header };
}
export const GetGCSafePointRequestCodec: Codec<GetGCSafePointRequest, GetGCSafePointRequestInit> = { write: writeGetGCSafePointRequest, read: readGetGCSafePointRequest };

export interface GetGCSafePointResponse {
  readonly header: ResponseHeader | undefined;
  readonly safePoint: bigint;
}
export interface GetGCSafePointResponseInit {
  readonly header?: ResponseHeaderInit | undefined;
  readonly safePoint?: bigint | undefined;
}
export function writeGetGCSafePointResponse(w: Writer, m: GetGCSafePointResponseInit): void {
  if (m.safePoint !== undefined && !(m.safePoint === 0n)) {
    w.varint64(m.safePoint);
    w.varint(16);
  }
  if (m.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, m.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readGetGCSafePointResponse(r: Reader, end: number): GetGCSafePointResponse {
  let header: ResponseHeader | undefined;
  let safePoint = 0n;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        header = readResponseHeader(r, r.limit());
        break;
      case 16:
        safePoint = r.uint64();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { header, safePoint };
}
export const GetGCSafePointResponseCodec: Codec<GetGCSafePointResponse, GetGCSafePointResponseInit> = { write: writeGetGCSafePointResponse, read: readGetGCSafePointResponse };

export interface UpdateGCSafePointRequest {
  readonly header: RequestHeader | undefined;
  readonly safePoint: bigint;
}
export interface UpdateGCSafePointRequestInit {
  readonly header?: RequestHeaderInit | undefined;
  readonly safePoint?: bigint | undefined;
}
export function writeUpdateGCSafePointRequest(w: Writer, m: UpdateGCSafePointRequestInit): void {
  if (m.safePoint !== undefined && !(m.safePoint === 0n)) {
    w.varint64(m.safePoint);
    w.varint(16);
  }
  if (m.header !== undefined) {
    const end = w.length;
    writeRequestHeader(w, m.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readUpdateGCSafePointRequest(r: Reader, end: number): UpdateGCSafePointRequest {
  let header: RequestHeader | undefined;
  let safePoint = 0n;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        header = readRequestHeader(r, r.limit());
        break;
      case 16:
        safePoint = r.uint64();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { header, safePoint };
}
export const UpdateGCSafePointRequestCodec: Codec<UpdateGCSafePointRequest, UpdateGCSafePointRequestInit> = { write: writeUpdateGCSafePointRequest, read: readUpdateGCSafePointRequest };

export interface UpdateGCSafePointResponse {
  readonly header: ResponseHeader | undefined;
  readonly newSafePoint: bigint;
}
export interface UpdateGCSafePointResponseInit {
  readonly header?: ResponseHeaderInit | undefined;
  readonly newSafePoint?: bigint | undefined;
}
export function writeUpdateGCSafePointResponse(w: Writer, m: UpdateGCSafePointResponseInit): void {
  if (m.newSafePoint !== undefined && !(m.newSafePoint === 0n)) {
    w.varint64(m.newSafePoint);
    w.varint(16);
  }
  if (m.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, m.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readUpdateGCSafePointResponse(r: Reader, end: number): UpdateGCSafePointResponse {
  let header: ResponseHeader | undefined;
  let newSafePoint = 0n;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        header = readResponseHeader(r, r.limit());
        break;
      case 16:
        newSafePoint = r.uint64();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { header, newSafePoint };
}
export const UpdateGCSafePointResponseCodec: Codec<UpdateGCSafePointResponse, UpdateGCSafePointResponseInit> = { write: writeUpdateGCSafePointResponse, read: readUpdateGCSafePointResponse };

export interface UpdateServiceGCSafePointRequest {
  readonly header: RequestHeader | undefined;
  readonly serviceId: Uint8Array;
  readonly ttl: bigint;
  readonly safePoint: bigint;
}
export interface UpdateServiceGCSafePointRequestInit {
  readonly header?: RequestHeaderInit | undefined;
  readonly serviceId?: Uint8Array | undefined;
  readonly ttl?: bigint | undefined;
  readonly safePoint?: bigint | undefined;
}
export function writeUpdateServiceGCSafePointRequest(w: Writer, m: UpdateServiceGCSafePointRequestInit): void {
  if (m.safePoint !== undefined && !(m.safePoint === 0n)) {
    w.varint64(m.safePoint);
    w.varint(32);
  }
  if (m.ttl !== undefined && !(m.ttl === 0n)) {
    w.varint64(m.ttl);
    w.varint(24);
  }
  if (m.serviceId !== undefined && !(m.serviceId.length === 0)) {
    w.bytes(m.serviceId);
    w.varint(18);
  }
  if (m.header !== undefined) {
    const end = w.length;
    writeRequestHeader(w, m.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readUpdateServiceGCSafePointRequest(r: Reader, end: number): UpdateServiceGCSafePointRequest {
  let header: RequestHeader | undefined;
  let serviceId: Uint8Array = EMPTY_BYTES;
  let ttl = 0n;
  let safePoint = 0n;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        header = readRequestHeader(r, r.limit());
        break;
      case 18:
        serviceId = r.bytes();
        break;
      case 24:
        ttl = r.int64();
        break;
      case 32:
        safePoint = r.uint64();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { header, serviceId, ttl, safePoint };
}
export const UpdateServiceGCSafePointRequestCodec: Codec<UpdateServiceGCSafePointRequest, UpdateServiceGCSafePointRequestInit> = { write: writeUpdateServiceGCSafePointRequest, read: readUpdateServiceGCSafePointRequest };

export interface UpdateServiceGCSafePointResponse {
  readonly header: ResponseHeader | undefined;
  readonly serviceId: Uint8Array;
  readonly ttl: bigint;
  readonly minSafePoint: bigint;
}
export interface UpdateServiceGCSafePointResponseInit {
  readonly header?: ResponseHeaderInit | undefined;
  readonly serviceId?: Uint8Array | undefined;
  readonly ttl?: bigint | undefined;
  readonly minSafePoint?: bigint | undefined;
}
export function writeUpdateServiceGCSafePointResponse(w: Writer, m: UpdateServiceGCSafePointResponseInit): void {
  if (m.minSafePoint !== undefined && !(m.minSafePoint === 0n)) {
    w.varint64(m.minSafePoint);
    w.varint(32);
  }
  if (m.ttl !== undefined && !(m.ttl === 0n)) {
    w.varint64(m.ttl);
    w.varint(24);
  }
  if (m.serviceId !== undefined && !(m.serviceId.length === 0)) {
    w.bytes(m.serviceId);
    w.varint(18);
  }
  if (m.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, m.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readUpdateServiceGCSafePointResponse(r: Reader, end: number): UpdateServiceGCSafePointResponse {
  let header: ResponseHeader | undefined;
  let serviceId: Uint8Array = EMPTY_BYTES;
  let ttl = 0n;
  let minSafePoint = 0n;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        header = readResponseHeader(r, r.limit());
        break;
      case 18:
        serviceId = r.bytes();
        break;
      case 24:
        ttl = r.int64();
        break;
      case 32:
        minSafePoint = r.uint64();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { header, serviceId, ttl, minSafePoint };
}
export const UpdateServiceGCSafePointResponseCodec: Codec<UpdateServiceGCSafePointResponse, UpdateServiceGCSafePointResponseInit> = { write: writeUpdateServiceGCSafePointResponse, read: readUpdateServiceGCSafePointResponse };

export interface KeyspaceScope {
  readonly keyspaceId: number | undefined;
}
export interface KeyspaceScopeInit {
  readonly keyspaceId?: number | undefined;
}
export function writeKeyspaceScope(w: Writer, m: KeyspaceScopeInit): void {
  if (m.keyspaceId !== undefined) {
    w.varint(m.keyspaceId);
    w.varint(8);
  }
}
export function readKeyspaceScope(r: Reader, end: number): KeyspaceScope {
  let keyspaceId: number | undefined;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 8:
        keyspaceId = r.uint32();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { keyspaceId };
}
export const KeyspaceScopeCodec: Codec<KeyspaceScope, KeyspaceScopeInit> = { write: writeKeyspaceScope, read: readKeyspaceScope };

export interface AdvanceGCSafePointRequest {
  readonly header: RequestHeader | undefined;
  readonly keyspaceScope: KeyspaceScope | undefined;
  readonly target: bigint;
}
export interface AdvanceGCSafePointRequestInit {
  readonly header?: RequestHeaderInit | undefined;
  readonly keyspaceScope?: KeyspaceScopeInit | undefined;
  readonly target?: bigint | undefined;
}
export function writeAdvanceGCSafePointRequest(w: Writer, m: AdvanceGCSafePointRequestInit): void {
  if (m.target !== undefined && !(m.target === 0n)) {
    w.varint64(m.target);
    w.varint(24);
  }
  if (m.keyspaceScope !== undefined) {
    const end = w.length;
    writeKeyspaceScope(w, m.keyspaceScope);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (m.header !== undefined) {
    const end = w.length;
    writeRequestHeader(w, m.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readAdvanceGCSafePointRequest(r: Reader, end: number): AdvanceGCSafePointRequest {
  let header: RequestHeader | undefined;
  let keyspaceScope: KeyspaceScope | undefined;
  let target = 0n;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        header = readRequestHeader(r, r.limit());
        break;
      case 18:
        keyspaceScope = readKeyspaceScope(r, r.limit());
        break;
      case 24:
        target = r.uint64();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { header, keyspaceScope, target };
}
export const AdvanceGCSafePointRequestCodec: Codec<AdvanceGCSafePointRequest, AdvanceGCSafePointRequestInit> = { write: writeAdvanceGCSafePointRequest, read: readAdvanceGCSafePointRequest };

export interface AdvanceGCSafePointResponse {
  readonly header: ResponseHeader | undefined;
  readonly oldGcSafePoint: bigint;
  readonly newGcSafePoint: bigint;
}
export interface AdvanceGCSafePointResponseInit {
  readonly header?: ResponseHeaderInit | undefined;
  readonly oldGcSafePoint?: bigint | undefined;
  readonly newGcSafePoint?: bigint | undefined;
}
export function writeAdvanceGCSafePointResponse(w: Writer, m: AdvanceGCSafePointResponseInit): void {
  if (m.newGcSafePoint !== undefined && !(m.newGcSafePoint === 0n)) {
    w.varint64(m.newGcSafePoint);
    w.varint(24);
  }
  if (m.oldGcSafePoint !== undefined && !(m.oldGcSafePoint === 0n)) {
    w.varint64(m.oldGcSafePoint);
    w.varint(16);
  }
  if (m.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, m.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readAdvanceGCSafePointResponse(r: Reader, end: number): AdvanceGCSafePointResponse {
  let header: ResponseHeader | undefined;
  let oldGcSafePoint = 0n;
  let newGcSafePoint = 0n;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        header = readResponseHeader(r, r.limit());
        break;
      case 16:
        oldGcSafePoint = r.uint64();
        break;
      case 24:
        newGcSafePoint = r.uint64();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { header, oldGcSafePoint, newGcSafePoint };
}
export const AdvanceGCSafePointResponseCodec: Codec<AdvanceGCSafePointResponse, AdvanceGCSafePointResponseInit> = { write: writeAdvanceGCSafePointResponse, read: readAdvanceGCSafePointResponse };

export interface AdvanceTxnSafePointRequest {
  readonly header: RequestHeader | undefined;
  readonly keyspaceScope: KeyspaceScope | undefined;
  readonly target: bigint;
}
export interface AdvanceTxnSafePointRequestInit {
  readonly header?: RequestHeaderInit | undefined;
  readonly keyspaceScope?: KeyspaceScopeInit | undefined;
  readonly target?: bigint | undefined;
}
export function writeAdvanceTxnSafePointRequest(w: Writer, m: AdvanceTxnSafePointRequestInit): void {
  if (m.target !== undefined && !(m.target === 0n)) {
    w.varint64(m.target);
    w.varint(24);
  }
  if (m.keyspaceScope !== undefined) {
    const end = w.length;
    writeKeyspaceScope(w, m.keyspaceScope);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (m.header !== undefined) {
    const end = w.length;
    writeRequestHeader(w, m.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readAdvanceTxnSafePointRequest(r: Reader, end: number): AdvanceTxnSafePointRequest {
  let header: RequestHeader | undefined;
  let keyspaceScope: KeyspaceScope | undefined;
  let target = 0n;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        header = readRequestHeader(r, r.limit());
        break;
      case 18:
        keyspaceScope = readKeyspaceScope(r, r.limit());
        break;
      case 24:
        target = r.uint64();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { header, keyspaceScope, target };
}
export const AdvanceTxnSafePointRequestCodec: Codec<AdvanceTxnSafePointRequest, AdvanceTxnSafePointRequestInit> = { write: writeAdvanceTxnSafePointRequest, read: readAdvanceTxnSafePointRequest };

export interface AdvanceTxnSafePointResponse {
  readonly header: ResponseHeader | undefined;
  readonly oldTxnSafePoint: bigint;
  readonly newTxnSafePoint: bigint;
  readonly blockerDescription: string;
}
export interface AdvanceTxnSafePointResponseInit {
  readonly header?: ResponseHeaderInit | undefined;
  readonly oldTxnSafePoint?: bigint | undefined;
  readonly newTxnSafePoint?: bigint | undefined;
  readonly blockerDescription?: string | undefined;
}
export function writeAdvanceTxnSafePointResponse(w: Writer, m: AdvanceTxnSafePointResponseInit): void {
  if (m.blockerDescription !== undefined && !(m.blockerDescription === '')) {
    w.text(m.blockerDescription);
    w.varint(34);
  }
  if (m.newTxnSafePoint !== undefined && !(m.newTxnSafePoint === 0n)) {
    w.varint64(m.newTxnSafePoint);
    w.varint(24);
  }
  if (m.oldTxnSafePoint !== undefined && !(m.oldTxnSafePoint === 0n)) {
    w.varint64(m.oldTxnSafePoint);
    w.varint(16);
  }
  if (m.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, m.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readAdvanceTxnSafePointResponse(r: Reader, end: number): AdvanceTxnSafePointResponse {
  let header: ResponseHeader | undefined;
  let oldTxnSafePoint = 0n;
  let newTxnSafePoint = 0n;
  let blockerDescription = '';
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        header = readResponseHeader(r, r.limit());
        break;
      case 16:
        oldTxnSafePoint = r.uint64();
        break;
      case 24:
        newTxnSafePoint = r.uint64();
        break;
      case 34:
        blockerDescription = r.text();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { header, oldTxnSafePoint, newTxnSafePoint, blockerDescription };
}
export const AdvanceTxnSafePointResponseCodec: Codec<AdvanceTxnSafePointResponse, AdvanceTxnSafePointResponseInit> = { write: writeAdvanceTxnSafePointResponse, read: readAdvanceTxnSafePointResponse };

export interface SetGCBarrierRequest {
  readonly header: RequestHeader | undefined;
  readonly keyspaceScope: KeyspaceScope | undefined;
  readonly barrierId: string;
  readonly barrierTs: bigint;
  readonly ttlSeconds: bigint;
}
export interface SetGCBarrierRequestInit {
  readonly header?: RequestHeaderInit | undefined;
  readonly keyspaceScope?: KeyspaceScopeInit | undefined;
  readonly barrierId?: string | undefined;
  readonly barrierTs?: bigint | undefined;
  readonly ttlSeconds?: bigint | undefined;
}
export function writeSetGCBarrierRequest(w: Writer, m: SetGCBarrierRequestInit): void {
  if (m.ttlSeconds !== undefined && !(m.ttlSeconds === 0n)) {
    w.varint64(m.ttlSeconds);
    w.varint(40);
  }
  if (m.barrierTs !== undefined && !(m.barrierTs === 0n)) {
    w.varint64(m.barrierTs);
    w.varint(32);
  }
  if (m.barrierId !== undefined && !(m.barrierId === '')) {
    w.text(m.barrierId);
    w.varint(26);
  }
  if (m.keyspaceScope !== undefined) {
    const end = w.length;
    writeKeyspaceScope(w, m.keyspaceScope);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (m.header !== undefined) {
    const end = w.length;
    writeRequestHeader(w, m.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readSetGCBarrierRequest(r: Reader, end: number): SetGCBarrierRequest {
  let header: RequestHeader | undefined;
  let keyspaceScope: KeyspaceScope | undefined;
  let barrierId = '';
  let barrierTs = 0n;
  let ttlSeconds = 0n;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        header = readRequestHeader(r, r.limit());
        break;
      case 18:
        keyspaceScope = readKeyspaceScope(r, r.limit());
        break;
      case 26:
        barrierId = r.text();
        break;
      case 32:
        barrierTs = r.uint64();
        break;
      case 40:
        ttlSeconds = r.int64();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { header, keyspaceScope, barrierId, barrierTs, ttlSeconds };
}
export const SetGCBarrierRequestCodec: Codec<SetGCBarrierRequest, SetGCBarrierRequestInit> = { write: writeSetGCBarrierRequest, read: readSetGCBarrierRequest };

export interface GCBarrierInfo {
  readonly barrierId: string;
  readonly barrierTs: bigint;
  readonly ttlSeconds: bigint;
}
export interface GCBarrierInfoInit {
  readonly barrierId?: string | undefined;
  readonly barrierTs?: bigint | undefined;
  readonly ttlSeconds?: bigint | undefined;
}
export function writeGCBarrierInfo(w: Writer, m: GCBarrierInfoInit): void {
  if (m.ttlSeconds !== undefined && !(m.ttlSeconds === 0n)) {
    w.varint64(m.ttlSeconds);
    w.varint(24);
  }
  if (m.barrierTs !== undefined && !(m.barrierTs === 0n)) {
    w.varint64(m.barrierTs);
    w.varint(16);
  }
  if (m.barrierId !== undefined && !(m.barrierId === '')) {
    w.text(m.barrierId);
    w.varint(10);
  }
}
export function readGCBarrierInfo(r: Reader, end: number): GCBarrierInfo {
  let barrierId = '';
  let barrierTs = 0n;
  let ttlSeconds = 0n;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        barrierId = r.text();
        break;
      case 16:
        barrierTs = r.uint64();
        break;
      case 24:
        ttlSeconds = r.int64();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { barrierId, barrierTs, ttlSeconds };
}
export const GCBarrierInfoCodec: Codec<GCBarrierInfo, GCBarrierInfoInit> = { write: writeGCBarrierInfo, read: readGCBarrierInfo };

export interface SetGCBarrierResponse {
  readonly header: ResponseHeader | undefined;
  readonly newBarrierInfo: GCBarrierInfo | undefined;
}
export interface SetGCBarrierResponseInit {
  readonly header?: ResponseHeaderInit | undefined;
  readonly newBarrierInfo?: GCBarrierInfoInit | undefined;
}
export function writeSetGCBarrierResponse(w: Writer, m: SetGCBarrierResponseInit): void {
  if (m.newBarrierInfo !== undefined) {
    const end = w.length;
    writeGCBarrierInfo(w, m.newBarrierInfo);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (m.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, m.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readSetGCBarrierResponse(r: Reader, end: number): SetGCBarrierResponse {
  let header: ResponseHeader | undefined;
  let newBarrierInfo: GCBarrierInfo | undefined;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        header = readResponseHeader(r, r.limit());
        break;
      case 18:
        newBarrierInfo = readGCBarrierInfo(r, r.limit());
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { header, newBarrierInfo };
}
export const SetGCBarrierResponseCodec: Codec<SetGCBarrierResponse, SetGCBarrierResponseInit> = { write: writeSetGCBarrierResponse, read: readSetGCBarrierResponse };

export interface DeleteGCBarrierRequest {
  readonly header: RequestHeader | undefined;
  readonly keyspaceScope: KeyspaceScope | undefined;
  readonly barrierId: string;
}
export interface DeleteGCBarrierRequestInit {
  readonly header?: RequestHeaderInit | undefined;
  readonly keyspaceScope?: KeyspaceScopeInit | undefined;
  readonly barrierId?: string | undefined;
}
export function writeDeleteGCBarrierRequest(w: Writer, m: DeleteGCBarrierRequestInit): void {
  if (m.barrierId !== undefined && !(m.barrierId === '')) {
    w.text(m.barrierId);
    w.varint(26);
  }
  if (m.keyspaceScope !== undefined) {
    const end = w.length;
    writeKeyspaceScope(w, m.keyspaceScope);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (m.header !== undefined) {
    const end = w.length;
    writeRequestHeader(w, m.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readDeleteGCBarrierRequest(r: Reader, end: number): DeleteGCBarrierRequest {
  let header: RequestHeader | undefined;
  let keyspaceScope: KeyspaceScope | undefined;
  let barrierId = '';
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        header = readRequestHeader(r, r.limit());
        break;
      case 18:
        keyspaceScope = readKeyspaceScope(r, r.limit());
        break;
      case 26:
        barrierId = r.text();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { header, keyspaceScope, barrierId };
}
export const DeleteGCBarrierRequestCodec: Codec<DeleteGCBarrierRequest, DeleteGCBarrierRequestInit> = { write: writeDeleteGCBarrierRequest, read: readDeleteGCBarrierRequest };

export interface DeleteGCBarrierResponse {
  readonly header: ResponseHeader | undefined;
  readonly deletedBarrierInfo: GCBarrierInfo | undefined;
}
export interface DeleteGCBarrierResponseInit {
  readonly header?: ResponseHeaderInit | undefined;
  readonly deletedBarrierInfo?: GCBarrierInfoInit | undefined;
}
export function writeDeleteGCBarrierResponse(w: Writer, m: DeleteGCBarrierResponseInit): void {
  if (m.deletedBarrierInfo !== undefined) {
    const end = w.length;
    writeGCBarrierInfo(w, m.deletedBarrierInfo);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (m.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, m.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readDeleteGCBarrierResponse(r: Reader, end: number): DeleteGCBarrierResponse {
  let header: ResponseHeader | undefined;
  let deletedBarrierInfo: GCBarrierInfo | undefined;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        header = readResponseHeader(r, r.limit());
        break;
      case 18:
        deletedBarrierInfo = readGCBarrierInfo(r, r.limit());
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { header, deletedBarrierInfo };
}
export const DeleteGCBarrierResponseCodec: Codec<DeleteGCBarrierResponse, DeleteGCBarrierResponseInit> = { write: writeDeleteGCBarrierResponse, read: readDeleteGCBarrierResponse };

export interface GetGCStateRequest {
  readonly header: RequestHeader | undefined;
  readonly keyspaceScope: KeyspaceScope | undefined;
  readonly excludeGcBarriers: boolean;
}
export interface GetGCStateRequestInit {
  readonly header?: RequestHeaderInit | undefined;
  readonly keyspaceScope?: KeyspaceScopeInit | undefined;
  readonly excludeGcBarriers?: boolean | undefined;
}
export function writeGetGCStateRequest(w: Writer, m: GetGCStateRequestInit): void {
  if (m.excludeGcBarriers !== undefined && !(!m.excludeGcBarriers)) {
    w.varint(1);
    w.varint(24);
  }
  if (m.keyspaceScope !== undefined) {
    const end = w.length;
    writeKeyspaceScope(w, m.keyspaceScope);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (m.header !== undefined) {
    const end = w.length;
    writeRequestHeader(w, m.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readGetGCStateRequest(r: Reader, end: number): GetGCStateRequest {
  let header: RequestHeader | undefined;
  let keyspaceScope: KeyspaceScope | undefined;
  let excludeGcBarriers = false;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        header = readRequestHeader(r, r.limit());
        break;
      case 18:
        keyspaceScope = readKeyspaceScope(r, r.limit());
        break;
      case 24:
        excludeGcBarriers = r.uint32() !== 0;
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { header, keyspaceScope, excludeGcBarriers };
}
export const GetGCStateRequestCodec: Codec<GetGCStateRequest, GetGCStateRequestInit> = { write: writeGetGCStateRequest, read: readGetGCStateRequest };

export interface GCState {
  readonly keyspaceScope: KeyspaceScope | undefined;
  readonly isKeyspaceLevelGc: boolean;
  readonly txnSafePoint: bigint;
  readonly gcSafePoint: bigint;
  readonly gcBarriers: readonly GCBarrierInfo[];
}
export interface GCStateInit {
  readonly keyspaceScope?: KeyspaceScopeInit | undefined;
  readonly isKeyspaceLevelGc?: boolean | undefined;
  readonly txnSafePoint?: bigint | undefined;
  readonly gcSafePoint?: bigint | undefined;
  readonly gcBarriers?: readonly GCBarrierInfoInit[] | undefined;
}
export function writeGCState(w: Writer, m: GCStateInit): void {
  if (m.gcBarriers !== undefined && m.gcBarriers.length > 0) {
    for (let i = m.gcBarriers.length - 1; i >= 0; i -= 1) {
      const end = w.length;
      writeGCBarrierInfo(w, m.gcBarriers[i]!);
      w.varint(w.length - end);
      w.varint(42);
    }
  }
  if (m.gcSafePoint !== undefined && !(m.gcSafePoint === 0n)) {
    w.varint64(m.gcSafePoint);
    w.varint(32);
  }
  if (m.txnSafePoint !== undefined && !(m.txnSafePoint === 0n)) {
    w.varint64(m.txnSafePoint);
    w.varint(24);
  }
  if (m.isKeyspaceLevelGc !== undefined && !(!m.isKeyspaceLevelGc)) {
    w.varint(1);
    w.varint(16);
  }
  if (m.keyspaceScope !== undefined) {
    const end = w.length;
    writeKeyspaceScope(w, m.keyspaceScope);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readGCState(r: Reader, end: number): GCState {
  let keyspaceScope: KeyspaceScope | undefined;
  let isKeyspaceLevelGc = false;
  let txnSafePoint = 0n;
  let gcSafePoint = 0n;
  let gcBarriers: GCBarrierInfo[] | undefined;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        keyspaceScope = readKeyspaceScope(r, r.limit());
        break;
      case 16:
        isKeyspaceLevelGc = r.uint32() !== 0;
        break;
      case 24:
        txnSafePoint = r.uint64();
        break;
      case 32:
        gcSafePoint = r.uint64();
        break;
      case 42:
        (gcBarriers ??= []).push(readGCBarrierInfo(r, r.limit()));
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { keyspaceScope, isKeyspaceLevelGc, txnSafePoint, gcSafePoint, gcBarriers: gcBarriers ?? NONE };
}
export const GCStateCodec: Codec<GCState, GCStateInit> = { write: writeGCState, read: readGCState };

export interface GetGCStateResponse {
  readonly header: ResponseHeader | undefined;
  readonly gcState: GCState | undefined;
}
export interface GetGCStateResponseInit {
  readonly header?: ResponseHeaderInit | undefined;
  readonly gcState?: GCStateInit | undefined;
}
export function writeGetGCStateResponse(w: Writer, m: GetGCStateResponseInit): void {
  if (m.gcState !== undefined) {
    const end = w.length;
    writeGCState(w, m.gcState);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (m.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, m.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readGetGCStateResponse(r: Reader, end: number): GetGCStateResponse {
  let header: ResponseHeader | undefined;
  let gcState: GCState | undefined;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        header = readResponseHeader(r, r.limit());
        break;
      case 18:
        gcState = readGCState(r, r.limit());
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { header, gcState };
}
export const GetGCStateResponseCodec: Codec<GetGCStateResponse, GetGCStateResponseInit> = { write: writeGetGCStateResponse, read: readGetGCStateResponse };

export interface GetOperatorRequest {
  readonly header: RequestHeader | undefined;
  readonly regionId: number;
}
export interface GetOperatorRequestInit {
  readonly header?: RequestHeaderInit | undefined;
  readonly regionId?: number | undefined;
}
export function writeGetOperatorRequest(w: Writer, m: GetOperatorRequestInit): void {
  if (m.regionId !== undefined && !(m.regionId === 0)) {
    w.varint(m.regionId);
    w.varint(16);
  }
  if (m.header !== undefined) {
    const end = w.length;
    writeRequestHeader(w, m.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readGetOperatorRequest(r: Reader, end: number): GetOperatorRequest {
  let header: RequestHeader | undefined;
  let regionId = 0;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        header = readRequestHeader(r, r.limit());
        break;
      case 16:
        regionId = r.count();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { header, regionId };
}
export const GetOperatorRequestCodec: Codec<GetOperatorRequest, GetOperatorRequestInit> = { write: writeGetOperatorRequest, read: readGetOperatorRequest };

export const OperatorStatus = { SUCCESS: 0, TIMEOUT: 1, CANCEL: 2, REPLACE: 3, RUNNING: 4 } as const;

export interface GetOperatorResponse {
  readonly header: ResponseHeader | undefined;
  readonly regionId: number;
  readonly desc: Uint8Array;
  readonly status: number;
  readonly kind: Uint8Array;
}
export interface GetOperatorResponseInit {
  readonly header?: ResponseHeaderInit | undefined;
  readonly regionId?: number | undefined;
  readonly desc?: Uint8Array | undefined;
  readonly status?: number | undefined;
  readonly kind?: Uint8Array | undefined;
}
export function writeGetOperatorResponse(w: Writer, m: GetOperatorResponseInit): void {
  if (m.kind !== undefined && !(m.kind.length === 0)) {
    w.bytes(m.kind);
    w.varint(42);
  }
  if (m.status !== undefined && !(m.status === 0)) {
    w.int32(m.status);
    w.varint(32);
  }
  if (m.desc !== undefined && !(m.desc.length === 0)) {
    w.bytes(m.desc);
    w.varint(26);
  }
  if (m.regionId !== undefined && !(m.regionId === 0)) {
    w.varint(m.regionId);
    w.varint(16);
  }
  if (m.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, m.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readGetOperatorResponse(r: Reader, end: number): GetOperatorResponse {
  let header: ResponseHeader | undefined;
  let regionId = 0;
  let desc: Uint8Array = EMPTY_BYTES;
  let status = 0;
  let kind: Uint8Array = EMPTY_BYTES;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        header = readResponseHeader(r, r.limit());
        break;
      case 16:
        regionId = r.count();
        break;
      case 26:
        desc = r.bytes();
        break;
      case 32:
        status = r.int32();
        break;
      case 42:
        kind = r.bytes();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { header, regionId, desc, status, kind };
}
export const GetOperatorResponseCodec: Codec<GetOperatorResponse, GetOperatorResponseInit> = { write: writeGetOperatorResponse, read: readGetOperatorResponse };

export interface SplitRegionsRequest {
  readonly header: RequestHeader | undefined;
  readonly splitKeys: readonly Uint8Array[];
  readonly retryLimit: number;
}
export interface SplitRegionsRequestInit {
  readonly header?: RequestHeaderInit | undefined;
  readonly splitKeys?: readonly Uint8Array[] | undefined;
  readonly retryLimit?: number | undefined;
}
export function writeSplitRegionsRequest(w: Writer, m: SplitRegionsRequestInit): void {
  if (m.retryLimit !== undefined && !(m.retryLimit === 0)) {
    w.varint(m.retryLimit);
    w.varint(24);
  }
  if (m.splitKeys !== undefined && m.splitKeys.length > 0) {
    for (let i = m.splitKeys.length - 1; i >= 0; i -= 1) {
      w.bytes(m.splitKeys[i]!);
      w.varint(18);
    }
  }
  if (m.header !== undefined) {
    const end = w.length;
    writeRequestHeader(w, m.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readSplitRegionsRequest(r: Reader, end: number): SplitRegionsRequest {
  let header: RequestHeader | undefined;
  let splitKeys: Uint8Array[] | undefined;
  let retryLimit = 0;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        header = readRequestHeader(r, r.limit());
        break;
      case 18:
        (splitKeys ??= []).push(r.bytes());
        break;
      case 24:
        retryLimit = r.count();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { header, splitKeys: splitKeys ?? NONE, retryLimit };
}
export const SplitRegionsRequestCodec: Codec<SplitRegionsRequest, SplitRegionsRequestInit> = { write: writeSplitRegionsRequest, read: readSplitRegionsRequest };

export interface SplitRegionsResponse {
  readonly header: ResponseHeader | undefined;
  readonly finishedPercentage: number;
  readonly regionsId: readonly number[];
}
export interface SplitRegionsResponseInit {
  readonly header?: ResponseHeaderInit | undefined;
  readonly finishedPercentage?: number | undefined;
  readonly regionsId?: readonly number[] | undefined;
}
export function writeSplitRegionsResponse(w: Writer, m: SplitRegionsResponseInit): void {
  if (m.regionsId !== undefined && m.regionsId.length > 0) {
    const end = w.length;
    for (let i = m.regionsId.length - 1; i >= 0; i -= 1) w.varint(m.regionsId[i]!);
    w.varint(w.length - end);
    w.varint(26);
  }
  if (m.finishedPercentage !== undefined && !(m.finishedPercentage === 0)) {
    w.varint(m.finishedPercentage);
    w.varint(16);
  }
  if (m.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, m.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readSplitRegionsResponse(r: Reader, end: number): SplitRegionsResponse {
  let header: ResponseHeader | undefined;
  let finishedPercentage = 0;
  let regionsId: number[] | undefined;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        header = readResponseHeader(r, r.limit());
        break;
      case 16:
        finishedPercentage = r.count();
        break;
      case 24:
        (regionsId ??= []).push(r.count());
        break;
      case 26: {
        regionsId ??= [];
        for (const limit = r.limit(); r.at < limit; ) regionsId.push(r.count());
        break;
      }
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { header, finishedPercentage, regionsId: regionsId ?? NONE };
}
export const SplitRegionsResponseCodec: Codec<SplitRegionsResponse, SplitRegionsResponseInit> = { write: writeSplitRegionsResponse, read: readSplitRegionsResponse };

export interface SplitAndScatterRegionsRequest {
  readonly header: RequestHeader | undefined;
  readonly splitKeys: readonly Uint8Array[];
  readonly group: string;
  readonly retryLimit: number;
}
export interface SplitAndScatterRegionsRequestInit {
  readonly header?: RequestHeaderInit | undefined;
  readonly splitKeys?: readonly Uint8Array[] | undefined;
  readonly group?: string | undefined;
  readonly retryLimit?: number | undefined;
}
export function writeSplitAndScatterRegionsRequest(w: Writer, m: SplitAndScatterRegionsRequestInit): void {
  if (m.retryLimit !== undefined && !(m.retryLimit === 0)) {
    w.varint(m.retryLimit);
    w.varint(32);
  }
  if (m.group !== undefined && !(m.group === '')) {
    w.text(m.group);
    w.varint(26);
  }
  if (m.splitKeys !== undefined && m.splitKeys.length > 0) {
    for (let i = m.splitKeys.length - 1; i >= 0; i -= 1) {
      w.bytes(m.splitKeys[i]!);
      w.varint(18);
    }
  }
  if (m.header !== undefined) {
    const end = w.length;
    writeRequestHeader(w, m.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readSplitAndScatterRegionsRequest(r: Reader, end: number): SplitAndScatterRegionsRequest {
  let header: RequestHeader | undefined;
  let splitKeys: Uint8Array[] | undefined;
  let group = '';
  let retryLimit = 0;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        header = readRequestHeader(r, r.limit());
        break;
      case 18:
        (splitKeys ??= []).push(r.bytes());
        break;
      case 26:
        group = r.text();
        break;
      case 32:
        retryLimit = r.count();
        break;
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { header, splitKeys: splitKeys ?? NONE, group, retryLimit };
}
export const SplitAndScatterRegionsRequestCodec: Codec<SplitAndScatterRegionsRequest, SplitAndScatterRegionsRequestInit> = { write: writeSplitAndScatterRegionsRequest, read: readSplitAndScatterRegionsRequest };

export interface SplitAndScatterRegionsResponse {
  readonly header: ResponseHeader | undefined;
  readonly splitFinishedPercentage: number;
  readonly scatterFinishedPercentage: number;
  readonly regionsId: readonly number[];
}
export interface SplitAndScatterRegionsResponseInit {
  readonly header?: ResponseHeaderInit | undefined;
  readonly splitFinishedPercentage?: number | undefined;
  readonly scatterFinishedPercentage?: number | undefined;
  readonly regionsId?: readonly number[] | undefined;
}
export function writeSplitAndScatterRegionsResponse(w: Writer, m: SplitAndScatterRegionsResponseInit): void {
  if (m.regionsId !== undefined && m.regionsId.length > 0) {
    const end = w.length;
    for (let i = m.regionsId.length - 1; i >= 0; i -= 1) w.varint(m.regionsId[i]!);
    w.varint(w.length - end);
    w.varint(34);
  }
  if (m.scatterFinishedPercentage !== undefined && !(m.scatterFinishedPercentage === 0)) {
    w.varint(m.scatterFinishedPercentage);
    w.varint(24);
  }
  if (m.splitFinishedPercentage !== undefined && !(m.splitFinishedPercentage === 0)) {
    w.varint(m.splitFinishedPercentage);
    w.varint(16);
  }
  if (m.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, m.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}
export function readSplitAndScatterRegionsResponse(r: Reader, end: number): SplitAndScatterRegionsResponse {
  let header: ResponseHeader | undefined;
  let splitFinishedPercentage = 0;
  let scatterFinishedPercentage = 0;
  let regionsId: number[] | undefined;
  while (r.at < end) {
    const tag = r.uint32();
    switch (tag) {
      case 10:
        header = readResponseHeader(r, r.limit());
        break;
      case 16:
        splitFinishedPercentage = r.count();
        break;
      case 24:
        scatterFinishedPercentage = r.count();
        break;
      case 32:
        (regionsId ??= []).push(r.count());
        break;
      case 34: {
        regionsId ??= [];
        for (const limit = r.limit(); r.at < limit; ) regionsId.push(r.count());
        break;
      }
      default:
        r.skip(tag);
    }
  }
  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');
  return { header, splitFinishedPercentage, scatterFinishedPercentage, regionsId: regionsId ?? NONE };
}
export const SplitAndScatterRegionsResponseCodec: Codec<SplitAndScatterRegionsResponse, SplitAndScatterRegionsResponseInit> = { write: writeSplitAndScatterRegionsResponse, read: readSplitAndScatterRegionsResponse };
