// Made by packages/protobuf/tools/generate.ts from proto/. Not edited by hand.
import { EMPTY_BYTES } from '@engram/core';
import { type Codec, decode, encode, type Init, type Reader, type Writer } from '@engram/protobuf';
import * as metapb from './metapb.ts';

export const ErrorType = { OK: 0, UNKNOWN: 1, NOT_BOOTSTRAPPED: 2, STORE_TOMBSTONE: 3, ALREADY_BOOTSTRAPPED: 4, INCOMPATIBLE_VERSION: 5, REGION_NOT_FOUND: 6, GLOBAL_CONFIG_NOT_FOUND: 7, DUPLICATED_ENTRY: 8, ENTRY_NOT_FOUND: 9, INVALID_VALUE: 10, DATA_COMPACTED: 11, REGIONS_NOT_CONTAIN_ALL_KEY_RANGE: 12 } as const;

export const ServiceMode = { UNKNOWN_SVC_MODE: 0, PD_SVC_MODE: 1, API_SVC_MODE: 2 } as const;

export const OperatorStatus = { SUCCESS: 0, TIMEOUT: 1, CANCEL: 2, REPLACE: 3, RUNNING: 4 } as const;

export interface RequestHeader {
  clusterId: bigint;
  senderId: bigint;
  callerId: string;
  callerComponent: string;
}
export type RequestHeaderInit = Init<RequestHeader>;

export const newRequestHeader = (): RequestHeader => ({ clusterId: 0n, senderId: 0n, callerId: '', callerComponent: '', });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readRequestHeader(r: Reader, message: RequestHeader): RequestHeader {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.clusterId = r.bigUint64();
        break;
      case 16:
        message.senderId = r.bigUint64();
        break;
      case 26:
        message.callerId = r.lenientString();
        break;
      case 34:
        message.callerComponent = r.lenientString();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeRequestHeader(w: Writer, message: RequestHeaderInit): void {
  if (message.callerComponent !== undefined && message.callerComponent !== '') {
    w.string(message.callerComponent);
    w.varint(34);
  }
  if (message.callerId !== undefined && message.callerId !== '') {
    w.string(message.callerId);
    w.varint(26);
  }
  if (message.senderId !== undefined && message.senderId !== 0n) {
    w.bigint(message.senderId);
    w.varint(16);
  }
  if (message.clusterId !== undefined && message.clusterId !== 0n) {
    w.bigint(message.clusterId);
    w.varint(8);
  }
}

export const RequestHeaderCodec: Codec<RequestHeader, RequestHeaderInit> = {
  write: writeRequestHeader,
  read: (r) => readRequestHeader(r, newRequestHeader()),
};
export const encodeRequestHeader = (message: RequestHeaderInit): Uint8Array => encode(RequestHeaderCodec, message);
export const decodeRequestHeader = (bytes: Uint8Array): RequestHeader => decode(RequestHeaderCodec, bytes);

export interface ResponseHeader {
  clusterId: bigint;
  error: Error | undefined;
}
export type ResponseHeaderInit = Init<ResponseHeader>;

export const newResponseHeader = (): ResponseHeader => ({ clusterId: 0n, error: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readResponseHeader(r: Reader, message: ResponseHeader): ResponseHeader {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.clusterId = r.bigUint64();
        break;
      case 18: {
        const outer = r.enter();
        message.error = readError(r, message.error ?? newError());
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
export function writeResponseHeader(w: Writer, message: ResponseHeaderInit): void {
  if (message.error !== undefined) {
    const end = w.length;
    writeError(w, message.error);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (message.clusterId !== undefined && message.clusterId !== 0n) {
    w.bigint(message.clusterId);
    w.varint(8);
  }
}

export const ResponseHeaderCodec: Codec<ResponseHeader, ResponseHeaderInit> = {
  write: writeResponseHeader,
  read: (r) => readResponseHeader(r, newResponseHeader()),
};
export const encodeResponseHeader = (message: ResponseHeaderInit): Uint8Array => encode(ResponseHeaderCodec, message);
export const decodeResponseHeader = (bytes: Uint8Array): ResponseHeader => decode(ResponseHeaderCodec, bytes);

export interface Error {
  type: number;
  message: string;
}
export type ErrorInit = Init<Error>;

export const newError = (): Error => ({ type: 0, message: '', });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readError(r: Reader, message: Error): Error {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.type = r.int32();
        break;
      case 18:
        message.message = r.lenientString();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeError(w: Writer, message: ErrorInit): void {
  if (message.message !== undefined && message.message !== '') {
    w.string(message.message);
    w.varint(18);
  }
  if (message.type !== undefined && message.type !== 0) {
    w.int64(message.type);
    w.varint(8);
  }
}

export const ErrorCodec: Codec<Error, ErrorInit> = {
  write: writeError,
  read: (r) => readError(r, newError()),
};
export const encodeError = (message: ErrorInit): Uint8Array => encode(ErrorCodec, message);
export const decodeError = (bytes: Uint8Array): Error => decode(ErrorCodec, bytes);

export interface TsoRequest {
  header: RequestHeader | undefined;
  count: number;
  dcLocation: string;
}
export type TsoRequestInit = Init<TsoRequest>;

export const newTsoRequest = (): TsoRequest => ({ header: undefined, count: 0, dcLocation: '', });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readTsoRequest(r: Reader, message: TsoRequest): TsoRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.header = readRequestHeader(r, message.header ?? newRequestHeader());
        r.leave(outer);
        break;
      }
      case 16:
        message.count = r.uint32();
        break;
      case 26:
        message.dcLocation = r.lenientString();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeTsoRequest(w: Writer, message: TsoRequestInit): void {
  if (message.dcLocation !== undefined && message.dcLocation !== '') {
    w.string(message.dcLocation);
    w.varint(26);
  }
  if (message.count !== undefined && message.count !== 0) {
    w.varint(message.count);
    w.varint(16);
  }
  if (message.header !== undefined) {
    const end = w.length;
    writeRequestHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const TsoRequestCodec: Codec<TsoRequest, TsoRequestInit> = {
  write: writeTsoRequest,
  read: (r) => readTsoRequest(r, newTsoRequest()),
};
export const encodeTsoRequest = (message: TsoRequestInit): Uint8Array => encode(TsoRequestCodec, message);
export const decodeTsoRequest = (bytes: Uint8Array): TsoRequest => decode(TsoRequestCodec, bytes);

export interface Timestamp {
  physical: number;
  logical: number;
  suffixBits: number;
}
export type TimestampInit = Init<Timestamp>;

export const newTimestamp = (): Timestamp => ({ physical: 0, logical: 0, suffixBits: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readTimestamp(r: Reader, message: Timestamp): Timestamp {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.physical = r.count();
        break;
      case 16:
        message.logical = r.count();
        break;
      case 24:
        message.suffixBits = r.uint32();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeTimestamp(w: Writer, message: TimestampInit): void {
  if (message.suffixBits !== undefined && message.suffixBits !== 0) {
    w.varint(message.suffixBits);
    w.varint(24);
  }
  if (message.logical !== undefined && message.logical !== 0) {
    w.int64(message.logical);
    w.varint(16);
  }
  if (message.physical !== undefined && message.physical !== 0) {
    w.int64(message.physical);
    w.varint(8);
  }
}

export const TimestampCodec: Codec<Timestamp, TimestampInit> = {
  write: writeTimestamp,
  read: (r) => readTimestamp(r, newTimestamp()),
};
export const encodeTimestamp = (message: TimestampInit): Uint8Array => encode(TimestampCodec, message);
export const decodeTimestamp = (bytes: Uint8Array): Timestamp => decode(TimestampCodec, bytes);

export interface TsoResponse {
  header: ResponseHeader | undefined;
  count: number;
  timestamp: Timestamp | undefined;
}
export type TsoResponseInit = Init<TsoResponse>;

export const newTsoResponse = (): TsoResponse => ({ header: undefined, count: 0, timestamp: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readTsoResponse(r: Reader, message: TsoResponse): TsoResponse {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.header = readResponseHeader(r, message.header ?? newResponseHeader());
        r.leave(outer);
        break;
      }
      case 16:
        message.count = r.uint32();
        break;
      case 26: {
        const outer = r.enter();
        message.timestamp = readTimestamp(r, message.timestamp ?? newTimestamp());
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
export function writeTsoResponse(w: Writer, message: TsoResponseInit): void {
  if (message.timestamp !== undefined) {
    const end = w.length;
    writeTimestamp(w, message.timestamp);
    w.varint(w.length - end);
    w.varint(26);
  }
  if (message.count !== undefined && message.count !== 0) {
    w.varint(message.count);
    w.varint(16);
  }
  if (message.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const TsoResponseCodec: Codec<TsoResponse, TsoResponseInit> = {
  write: writeTsoResponse,
  read: (r) => readTsoResponse(r, newTsoResponse()),
};
export const encodeTsoResponse = (message: TsoResponseInit): Uint8Array => encode(TsoResponseCodec, message);
export const decodeTsoResponse = (bytes: Uint8Array): TsoResponse => decode(TsoResponseCodec, bytes);

export interface GetStoreRequest {
  header: RequestHeader | undefined;
  storeId: number;
}
export type GetStoreRequestInit = Init<GetStoreRequest>;

export const newGetStoreRequest = (): GetStoreRequest => ({ header: undefined, storeId: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readGetStoreRequest(r: Reader, message: GetStoreRequest): GetStoreRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.header = readRequestHeader(r, message.header ?? newRequestHeader());
        r.leave(outer);
        break;
      }
      case 16:
        message.storeId = r.count();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeGetStoreRequest(w: Writer, message: GetStoreRequestInit): void {
  if (message.storeId !== undefined && message.storeId !== 0) {
    w.int64(message.storeId);
    w.varint(16);
  }
  if (message.header !== undefined) {
    const end = w.length;
    writeRequestHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const GetStoreRequestCodec: Codec<GetStoreRequest, GetStoreRequestInit> = {
  write: writeGetStoreRequest,
  read: (r) => readGetStoreRequest(r, newGetStoreRequest()),
};
export const encodeGetStoreRequest = (message: GetStoreRequestInit): Uint8Array => encode(GetStoreRequestCodec, message);
export const decodeGetStoreRequest = (bytes: Uint8Array): GetStoreRequest => decode(GetStoreRequestCodec, bytes);

export interface GetStoreResponse {
  header: ResponseHeader | undefined;
  store: metapb.Store | undefined;
}
export type GetStoreResponseInit = Init<GetStoreResponse>;

export const newGetStoreResponse = (): GetStoreResponse => ({ header: undefined, store: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readGetStoreResponse(r: Reader, message: GetStoreResponse): GetStoreResponse {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.header = readResponseHeader(r, message.header ?? newResponseHeader());
        r.leave(outer);
        break;
      }
      case 18: {
        const outer = r.enter();
        message.store = metapb.readStore(r, message.store ?? metapb.newStore());
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
export function writeGetStoreResponse(w: Writer, message: GetStoreResponseInit): void {
  if (message.store !== undefined) {
    const end = w.length;
    metapb.writeStore(w, message.store);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (message.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const GetStoreResponseCodec: Codec<GetStoreResponse, GetStoreResponseInit> = {
  write: writeGetStoreResponse,
  read: (r) => readGetStoreResponse(r, newGetStoreResponse()),
};
export const encodeGetStoreResponse = (message: GetStoreResponseInit): Uint8Array => encode(GetStoreResponseCodec, message);
export const decodeGetStoreResponse = (bytes: Uint8Array): GetStoreResponse => decode(GetStoreResponseCodec, bytes);

export interface GetAllStoresRequest {
  header: RequestHeader | undefined;
  excludeTombstoneStores: boolean;
}
export type GetAllStoresRequestInit = Init<GetAllStoresRequest>;

export const newGetAllStoresRequest = (): GetAllStoresRequest => ({ header: undefined, excludeTombstoneStores: false, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readGetAllStoresRequest(r: Reader, message: GetAllStoresRequest): GetAllStoresRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.header = readRequestHeader(r, message.header ?? newRequestHeader());
        r.leave(outer);
        break;
      }
      case 16:
        message.excludeTombstoneStores = r.bool();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeGetAllStoresRequest(w: Writer, message: GetAllStoresRequestInit): void {
  if (message.excludeTombstoneStores === true) {
    w.varint(message.excludeTombstoneStores ? 1 : 0);
    w.varint(16);
  }
  if (message.header !== undefined) {
    const end = w.length;
    writeRequestHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const GetAllStoresRequestCodec: Codec<GetAllStoresRequest, GetAllStoresRequestInit> = {
  write: writeGetAllStoresRequest,
  read: (r) => readGetAllStoresRequest(r, newGetAllStoresRequest()),
};
export const encodeGetAllStoresRequest = (message: GetAllStoresRequestInit): Uint8Array => encode(GetAllStoresRequestCodec, message);
export const decodeGetAllStoresRequest = (bytes: Uint8Array): GetAllStoresRequest => decode(GetAllStoresRequestCodec, bytes);

export interface GetAllStoresResponse {
  header: ResponseHeader | undefined;
  stores: metapb.Store[];
}
export type GetAllStoresResponseInit = Init<GetAllStoresResponse>;

export const newGetAllStoresResponse = (): GetAllStoresResponse => ({ header: undefined, stores: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readGetAllStoresResponse(r: Reader, message: GetAllStoresResponse): GetAllStoresResponse {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.header = readResponseHeader(r, message.header ?? newResponseHeader());
        r.leave(outer);
        break;
      }
      case 18: {
        const outer = r.enter();
        message.stores.push(metapb.readStore(r, metapb.newStore()));
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
export function writeGetAllStoresResponse(w: Writer, message: GetAllStoresResponseInit): void {
  if (message.stores !== undefined && message.stores.length > 0) {
    for (let at = message.stores.length - 1; at >= 0; at -= 1) {
      const end = w.length;
      metapb.writeStore(w, message.stores[at]!);
      w.varint(w.length - end);
      w.varint(18);
    }
  }
  if (message.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const GetAllStoresResponseCodec: Codec<GetAllStoresResponse, GetAllStoresResponseInit> = {
  write: writeGetAllStoresResponse,
  read: (r) => readGetAllStoresResponse(r, newGetAllStoresResponse()),
};
export const encodeGetAllStoresResponse = (message: GetAllStoresResponseInit): Uint8Array => encode(GetAllStoresResponseCodec, message);
export const decodeGetAllStoresResponse = (bytes: Uint8Array): GetAllStoresResponse => decode(GetAllStoresResponseCodec, bytes);

export interface GetRegionRequest {
  header: RequestHeader | undefined;
  regionKey: Uint8Array;
  needBuckets: boolean;
}
export type GetRegionRequestInit = Init<GetRegionRequest>;

export const newGetRegionRequest = (): GetRegionRequest => ({ header: undefined, regionKey: EMPTY_BYTES, needBuckets: false, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readGetRegionRequest(r: Reader, message: GetRegionRequest): GetRegionRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.header = readRequestHeader(r, message.header ?? newRequestHeader());
        r.leave(outer);
        break;
      }
      case 18:
        message.regionKey = r.bytes();
        break;
      case 24:
        message.needBuckets = r.bool();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeGetRegionRequest(w: Writer, message: GetRegionRequestInit): void {
  if (message.needBuckets === true) {
    w.varint(message.needBuckets ? 1 : 0);
    w.varint(24);
  }
  if (message.regionKey !== undefined && message.regionKey.length > 0) {
    w.bytes(message.regionKey);
    w.varint(18);
  }
  if (message.header !== undefined) {
    const end = w.length;
    writeRequestHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const GetRegionRequestCodec: Codec<GetRegionRequest, GetRegionRequestInit> = {
  write: writeGetRegionRequest,
  read: (r) => readGetRegionRequest(r, newGetRegionRequest()),
};
export const encodeGetRegionRequest = (message: GetRegionRequestInit): Uint8Array => encode(GetRegionRequestCodec, message);
export const decodeGetRegionRequest = (bytes: Uint8Array): GetRegionRequest => decode(GetRegionRequestCodec, bytes);

export interface GetRegionResponse {
  header: ResponseHeader | undefined;
  region: metapb.Region | undefined;
  leader: metapb.Peer | undefined;
  downPeers: PeerStats[];
  pendingPeers: metapb.Peer[];
}
export type GetRegionResponseInit = Init<GetRegionResponse>;

export const newGetRegionResponse = (): GetRegionResponse => ({ header: undefined, region: undefined, leader: undefined, downPeers: [], pendingPeers: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readGetRegionResponse(r: Reader, message: GetRegionResponse): GetRegionResponse {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.header = readResponseHeader(r, message.header ?? newResponseHeader());
        r.leave(outer);
        break;
      }
      case 18: {
        const outer = r.enter();
        message.region = metapb.readRegion(r, message.region ?? metapb.newRegion());
        r.leave(outer);
        break;
      }
      case 26: {
        const outer = r.enter();
        message.leader = metapb.readPeer(r, message.leader ?? metapb.newPeer());
        r.leave(outer);
        break;
      }
      case 42: {
        const outer = r.enter();
        message.downPeers.push(readPeerStats(r, newPeerStats()));
        r.leave(outer);
        break;
      }
      case 50: {
        const outer = r.enter();
        message.pendingPeers.push(metapb.readPeer(r, metapb.newPeer()));
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
export function writeGetRegionResponse(w: Writer, message: GetRegionResponseInit): void {
  if (message.pendingPeers !== undefined && message.pendingPeers.length > 0) {
    for (let at = message.pendingPeers.length - 1; at >= 0; at -= 1) {
      const end = w.length;
      metapb.writePeer(w, message.pendingPeers[at]!);
      w.varint(w.length - end);
      w.varint(50);
    }
  }
  if (message.downPeers !== undefined && message.downPeers.length > 0) {
    for (let at = message.downPeers.length - 1; at >= 0; at -= 1) {
      const end = w.length;
      writePeerStats(w, message.downPeers[at]!);
      w.varint(w.length - end);
      w.varint(42);
    }
  }
  if (message.leader !== undefined) {
    const end = w.length;
    metapb.writePeer(w, message.leader);
    w.varint(w.length - end);
    w.varint(26);
  }
  if (message.region !== undefined) {
    const end = w.length;
    metapb.writeRegion(w, message.region);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (message.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const GetRegionResponseCodec: Codec<GetRegionResponse, GetRegionResponseInit> = {
  write: writeGetRegionResponse,
  read: (r) => readGetRegionResponse(r, newGetRegionResponse()),
};
export const encodeGetRegionResponse = (message: GetRegionResponseInit): Uint8Array => encode(GetRegionResponseCodec, message);
export const decodeGetRegionResponse = (bytes: Uint8Array): GetRegionResponse => decode(GetRegionResponseCodec, bytes);

export interface GetRegionByIDRequest {
  header: RequestHeader | undefined;
  regionId: number;
  needBuckets: boolean;
}
export type GetRegionByIDRequestInit = Init<GetRegionByIDRequest>;

export const newGetRegionByIDRequest = (): GetRegionByIDRequest => ({ header: undefined, regionId: 0, needBuckets: false, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readGetRegionByIDRequest(r: Reader, message: GetRegionByIDRequest): GetRegionByIDRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.header = readRequestHeader(r, message.header ?? newRequestHeader());
        r.leave(outer);
        break;
      }
      case 16:
        message.regionId = r.count();
        break;
      case 24:
        message.needBuckets = r.bool();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeGetRegionByIDRequest(w: Writer, message: GetRegionByIDRequestInit): void {
  if (message.needBuckets === true) {
    w.varint(message.needBuckets ? 1 : 0);
    w.varint(24);
  }
  if (message.regionId !== undefined && message.regionId !== 0) {
    w.int64(message.regionId);
    w.varint(16);
  }
  if (message.header !== undefined) {
    const end = w.length;
    writeRequestHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const GetRegionByIDRequestCodec: Codec<GetRegionByIDRequest, GetRegionByIDRequestInit> = {
  write: writeGetRegionByIDRequest,
  read: (r) => readGetRegionByIDRequest(r, newGetRegionByIDRequest()),
};
export const encodeGetRegionByIDRequest = (message: GetRegionByIDRequestInit): Uint8Array => encode(GetRegionByIDRequestCodec, message);
export const decodeGetRegionByIDRequest = (bytes: Uint8Array): GetRegionByIDRequest => decode(GetRegionByIDRequestCodec, bytes);

export interface ScanRegionsRequest {
  header: RequestHeader | undefined;
  startKey: Uint8Array;
  limit: number;
  endKey: Uint8Array;
}
export type ScanRegionsRequestInit = Init<ScanRegionsRequest>;

export const newScanRegionsRequest = (): ScanRegionsRequest => ({ header: undefined, startKey: EMPTY_BYTES, limit: 0, endKey: EMPTY_BYTES, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readScanRegionsRequest(r: Reader, message: ScanRegionsRequest): ScanRegionsRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.header = readRequestHeader(r, message.header ?? newRequestHeader());
        r.leave(outer);
        break;
      }
      case 18:
        message.startKey = r.bytes();
        break;
      case 24:
        message.limit = r.int32();
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
export function writeScanRegionsRequest(w: Writer, message: ScanRegionsRequestInit): void {
  if (message.endKey !== undefined && message.endKey.length > 0) {
    w.bytes(message.endKey);
    w.varint(34);
  }
  if (message.limit !== undefined && message.limit !== 0) {
    w.int64(message.limit);
    w.varint(24);
  }
  if (message.startKey !== undefined && message.startKey.length > 0) {
    w.bytes(message.startKey);
    w.varint(18);
  }
  if (message.header !== undefined) {
    const end = w.length;
    writeRequestHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const ScanRegionsRequestCodec: Codec<ScanRegionsRequest, ScanRegionsRequestInit> = {
  write: writeScanRegionsRequest,
  read: (r) => readScanRegionsRequest(r, newScanRegionsRequest()),
};
export const encodeScanRegionsRequest = (message: ScanRegionsRequestInit): Uint8Array => encode(ScanRegionsRequestCodec, message);
export const decodeScanRegionsRequest = (bytes: Uint8Array): ScanRegionsRequest => decode(ScanRegionsRequestCodec, bytes);

export interface Region {
  region: metapb.Region | undefined;
  leader: metapb.Peer | undefined;
  downPeers: PeerStats[];
  pendingPeers: metapb.Peer[];
}
export type RegionInit = Init<Region>;

export const newRegion = (): Region => ({ region: undefined, leader: undefined, downPeers: [], pendingPeers: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readRegion(r: Reader, message: Region): Region {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.region = metapb.readRegion(r, message.region ?? metapb.newRegion());
        r.leave(outer);
        break;
      }
      case 18: {
        const outer = r.enter();
        message.leader = metapb.readPeer(r, message.leader ?? metapb.newPeer());
        r.leave(outer);
        break;
      }
      case 26: {
        const outer = r.enter();
        message.downPeers.push(readPeerStats(r, newPeerStats()));
        r.leave(outer);
        break;
      }
      case 34: {
        const outer = r.enter();
        message.pendingPeers.push(metapb.readPeer(r, metapb.newPeer()));
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
export function writeRegion(w: Writer, message: RegionInit): void {
  if (message.pendingPeers !== undefined && message.pendingPeers.length > 0) {
    for (let at = message.pendingPeers.length - 1; at >= 0; at -= 1) {
      const end = w.length;
      metapb.writePeer(w, message.pendingPeers[at]!);
      w.varint(w.length - end);
      w.varint(34);
    }
  }
  if (message.downPeers !== undefined && message.downPeers.length > 0) {
    for (let at = message.downPeers.length - 1; at >= 0; at -= 1) {
      const end = w.length;
      writePeerStats(w, message.downPeers[at]!);
      w.varint(w.length - end);
      w.varint(26);
    }
  }
  if (message.leader !== undefined) {
    const end = w.length;
    metapb.writePeer(w, message.leader);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (message.region !== undefined) {
    const end = w.length;
    metapb.writeRegion(w, message.region);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const RegionCodec: Codec<Region, RegionInit> = {
  write: writeRegion,
  read: (r) => readRegion(r, newRegion()),
};
export const encodeRegion = (message: RegionInit): Uint8Array => encode(RegionCodec, message);
export const decodeRegion = (bytes: Uint8Array): Region => decode(RegionCodec, bytes);

export interface ScanRegionsResponse {
  header: ResponseHeader | undefined;
  regionMetas: metapb.Region[];
  leaders: metapb.Peer[];
  regions: Region[];
}
export type ScanRegionsResponseInit = Init<ScanRegionsResponse>;

export const newScanRegionsResponse = (): ScanRegionsResponse => ({ header: undefined, regionMetas: [], leaders: [], regions: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readScanRegionsResponse(r: Reader, message: ScanRegionsResponse): ScanRegionsResponse {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.header = readResponseHeader(r, message.header ?? newResponseHeader());
        r.leave(outer);
        break;
      }
      case 18: {
        const outer = r.enter();
        message.regionMetas.push(metapb.readRegion(r, metapb.newRegion()));
        r.leave(outer);
        break;
      }
      case 26: {
        const outer = r.enter();
        message.leaders.push(metapb.readPeer(r, metapb.newPeer()));
        r.leave(outer);
        break;
      }
      case 34: {
        const outer = r.enter();
        message.regions.push(readRegion(r, newRegion()));
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
export function writeScanRegionsResponse(w: Writer, message: ScanRegionsResponseInit): void {
  if (message.regions !== undefined && message.regions.length > 0) {
    for (let at = message.regions.length - 1; at >= 0; at -= 1) {
      const end = w.length;
      writeRegion(w, message.regions[at]!);
      w.varint(w.length - end);
      w.varint(34);
    }
  }
  if (message.leaders !== undefined && message.leaders.length > 0) {
    for (let at = message.leaders.length - 1; at >= 0; at -= 1) {
      const end = w.length;
      metapb.writePeer(w, message.leaders[at]!);
      w.varint(w.length - end);
      w.varint(26);
    }
  }
  if (message.regionMetas !== undefined && message.regionMetas.length > 0) {
    for (let at = message.regionMetas.length - 1; at >= 0; at -= 1) {
      const end = w.length;
      metapb.writeRegion(w, message.regionMetas[at]!);
      w.varint(w.length - end);
      w.varint(18);
    }
  }
  if (message.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const ScanRegionsResponseCodec: Codec<ScanRegionsResponse, ScanRegionsResponseInit> = {
  write: writeScanRegionsResponse,
  read: (r) => readScanRegionsResponse(r, newScanRegionsResponse()),
};
export const encodeScanRegionsResponse = (message: ScanRegionsResponseInit): Uint8Array => encode(ScanRegionsResponseCodec, message);
export const decodeScanRegionsResponse = (bytes: Uint8Array): ScanRegionsResponse => decode(ScanRegionsResponseCodec, bytes);

export interface KeyRange {
  startKey: Uint8Array;
  endKey: Uint8Array;
}
export type KeyRangeInit = Init<KeyRange>;

export const newKeyRange = (): KeyRange => ({ startKey: EMPTY_BYTES, endKey: EMPTY_BYTES, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readKeyRange(r: Reader, message: KeyRange): KeyRange {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10:
        message.startKey = r.bytes();
        break;
      case 18:
        message.endKey = r.bytes();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeKeyRange(w: Writer, message: KeyRangeInit): void {
  if (message.endKey !== undefined && message.endKey.length > 0) {
    w.bytes(message.endKey);
    w.varint(18);
  }
  if (message.startKey !== undefined && message.startKey.length > 0) {
    w.bytes(message.startKey);
    w.varint(10);
  }
}

export const KeyRangeCodec: Codec<KeyRange, KeyRangeInit> = {
  write: writeKeyRange,
  read: (r) => readKeyRange(r, newKeyRange()),
};
export const encodeKeyRange = (message: KeyRangeInit): Uint8Array => encode(KeyRangeCodec, message);
export const decodeKeyRange = (bytes: Uint8Array): KeyRange => decode(KeyRangeCodec, bytes);

export interface BatchScanRegionsRequest {
  header: RequestHeader | undefined;
  needBuckets: boolean;
  ranges: KeyRange[];
  limit: number;
  containAllKeyRange: boolean;
}
export type BatchScanRegionsRequestInit = Init<BatchScanRegionsRequest>;

export const newBatchScanRegionsRequest = (): BatchScanRegionsRequest => ({ header: undefined, needBuckets: false, ranges: [], limit: 0, containAllKeyRange: false, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readBatchScanRegionsRequest(r: Reader, message: BatchScanRegionsRequest): BatchScanRegionsRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.header = readRequestHeader(r, message.header ?? newRequestHeader());
        r.leave(outer);
        break;
      }
      case 16:
        message.needBuckets = r.bool();
        break;
      case 26: {
        const outer = r.enter();
        message.ranges.push(readKeyRange(r, newKeyRange()));
        r.leave(outer);
        break;
      }
      case 32:
        message.limit = r.int32();
        break;
      case 40:
        message.containAllKeyRange = r.bool();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeBatchScanRegionsRequest(w: Writer, message: BatchScanRegionsRequestInit): void {
  if (message.containAllKeyRange === true) {
    w.varint(message.containAllKeyRange ? 1 : 0);
    w.varint(40);
  }
  if (message.limit !== undefined && message.limit !== 0) {
    w.int64(message.limit);
    w.varint(32);
  }
  if (message.ranges !== undefined && message.ranges.length > 0) {
    for (let at = message.ranges.length - 1; at >= 0; at -= 1) {
      const end = w.length;
      writeKeyRange(w, message.ranges[at]!);
      w.varint(w.length - end);
      w.varint(26);
    }
  }
  if (message.needBuckets === true) {
    w.varint(message.needBuckets ? 1 : 0);
    w.varint(16);
  }
  if (message.header !== undefined) {
    const end = w.length;
    writeRequestHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const BatchScanRegionsRequestCodec: Codec<BatchScanRegionsRequest, BatchScanRegionsRequestInit> = {
  write: writeBatchScanRegionsRequest,
  read: (r) => readBatchScanRegionsRequest(r, newBatchScanRegionsRequest()),
};
export const encodeBatchScanRegionsRequest = (message: BatchScanRegionsRequestInit): Uint8Array => encode(BatchScanRegionsRequestCodec, message);
export const decodeBatchScanRegionsRequest = (bytes: Uint8Array): BatchScanRegionsRequest => decode(BatchScanRegionsRequestCodec, bytes);

export interface BatchScanRegionsResponse {
  header: ResponseHeader | undefined;
  regions: Region[];
}
export type BatchScanRegionsResponseInit = Init<BatchScanRegionsResponse>;

export const newBatchScanRegionsResponse = (): BatchScanRegionsResponse => ({ header: undefined, regions: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readBatchScanRegionsResponse(r: Reader, message: BatchScanRegionsResponse): BatchScanRegionsResponse {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.header = readResponseHeader(r, message.header ?? newResponseHeader());
        r.leave(outer);
        break;
      }
      case 18: {
        const outer = r.enter();
        message.regions.push(readRegion(r, newRegion()));
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
export function writeBatchScanRegionsResponse(w: Writer, message: BatchScanRegionsResponseInit): void {
  if (message.regions !== undefined && message.regions.length > 0) {
    for (let at = message.regions.length - 1; at >= 0; at -= 1) {
      const end = w.length;
      writeRegion(w, message.regions[at]!);
      w.varint(w.length - end);
      w.varint(18);
    }
  }
  if (message.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const BatchScanRegionsResponseCodec: Codec<BatchScanRegionsResponse, BatchScanRegionsResponseInit> = {
  write: writeBatchScanRegionsResponse,
  read: (r) => readBatchScanRegionsResponse(r, newBatchScanRegionsResponse()),
};
export const encodeBatchScanRegionsResponse = (message: BatchScanRegionsResponseInit): Uint8Array => encode(BatchScanRegionsResponseCodec, message);
export const decodeBatchScanRegionsResponse = (bytes: Uint8Array): BatchScanRegionsResponse => decode(BatchScanRegionsResponseCodec, bytes);

export interface Member {
  name: string;
  memberId: bigint;
  peerUrls: string[];
  clientUrls: string[];
  leaderPriority: number;
  deployPath: string;
  binaryVersion: string;
  gitHash: string;
  dcLocation: string;
}
export type MemberInit = Init<Member>;

export const newMember = (): Member => ({ name: '', memberId: 0n, peerUrls: [], clientUrls: [], leaderPriority: 0, deployPath: '', binaryVersion: '', gitHash: '', dcLocation: '', });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readMember(r: Reader, message: Member): Member {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10:
        message.name = r.lenientString();
        break;
      case 16:
        message.memberId = r.bigUint64();
        break;
      case 26:
        message.peerUrls.push(r.lenientString());
        break;
      case 34:
        message.clientUrls.push(r.lenientString());
        break;
      case 40:
        message.leaderPriority = r.int32();
        break;
      case 50:
        message.deployPath = r.lenientString();
        break;
      case 58:
        message.binaryVersion = r.lenientString();
        break;
      case 66:
        message.gitHash = r.lenientString();
        break;
      case 74:
        message.dcLocation = r.lenientString();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeMember(w: Writer, message: MemberInit): void {
  if (message.dcLocation !== undefined && message.dcLocation !== '') {
    w.string(message.dcLocation);
    w.varint(74);
  }
  if (message.gitHash !== undefined && message.gitHash !== '') {
    w.string(message.gitHash);
    w.varint(66);
  }
  if (message.binaryVersion !== undefined && message.binaryVersion !== '') {
    w.string(message.binaryVersion);
    w.varint(58);
  }
  if (message.deployPath !== undefined && message.deployPath !== '') {
    w.string(message.deployPath);
    w.varint(50);
  }
  if (message.leaderPriority !== undefined && message.leaderPriority !== 0) {
    w.int64(message.leaderPriority);
    w.varint(40);
  }
  if (message.clientUrls !== undefined && message.clientUrls.length > 0) {
    for (let at = message.clientUrls.length - 1; at >= 0; at -= 1) {
      w.string(message.clientUrls[at]!);
      w.varint(34);
    }
  }
  if (message.peerUrls !== undefined && message.peerUrls.length > 0) {
    for (let at = message.peerUrls.length - 1; at >= 0; at -= 1) {
      w.string(message.peerUrls[at]!);
      w.varint(26);
    }
  }
  if (message.memberId !== undefined && message.memberId !== 0n) {
    w.bigint(message.memberId);
    w.varint(16);
  }
  if (message.name !== undefined && message.name !== '') {
    w.string(message.name);
    w.varint(10);
  }
}

export const MemberCodec: Codec<Member, MemberInit> = {
  write: writeMember,
  read: (r) => readMember(r, newMember()),
};
export const encodeMember = (message: MemberInit): Uint8Array => encode(MemberCodec, message);
export const decodeMember = (bytes: Uint8Array): Member => decode(MemberCodec, bytes);

export interface GetMembersRequest {
  header: RequestHeader | undefined;
}
export type GetMembersRequestInit = Init<GetMembersRequest>;

export const newGetMembersRequest = (): GetMembersRequest => ({ header: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readGetMembersRequest(r: Reader, message: GetMembersRequest): GetMembersRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.header = readRequestHeader(r, message.header ?? newRequestHeader());
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
export function writeGetMembersRequest(w: Writer, message: GetMembersRequestInit): void {
  if (message.header !== undefined) {
    const end = w.length;
    writeRequestHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const GetMembersRequestCodec: Codec<GetMembersRequest, GetMembersRequestInit> = {
  write: writeGetMembersRequest,
  read: (r) => readGetMembersRequest(r, newGetMembersRequest()),
};
export const encodeGetMembersRequest = (message: GetMembersRequestInit): Uint8Array => encode(GetMembersRequestCodec, message);
export const decodeGetMembersRequest = (bytes: Uint8Array): GetMembersRequest => decode(GetMembersRequestCodec, bytes);

export interface GetMembersResponse {
  header: ResponseHeader | undefined;
  members: Member[];
  leader: Member | undefined;
  etcdLeader: Member | undefined;
}
export type GetMembersResponseInit = Init<GetMembersResponse>;

export const newGetMembersResponse = (): GetMembersResponse => ({ header: undefined, members: [], leader: undefined, etcdLeader: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readGetMembersResponse(r: Reader, message: GetMembersResponse): GetMembersResponse {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.header = readResponseHeader(r, message.header ?? newResponseHeader());
        r.leave(outer);
        break;
      }
      case 18: {
        const outer = r.enter();
        message.members.push(readMember(r, newMember()));
        r.leave(outer);
        break;
      }
      case 26: {
        const outer = r.enter();
        message.leader = readMember(r, message.leader ?? newMember());
        r.leave(outer);
        break;
      }
      case 34: {
        const outer = r.enter();
        message.etcdLeader = readMember(r, message.etcdLeader ?? newMember());
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
export function writeGetMembersResponse(w: Writer, message: GetMembersResponseInit): void {
  if (message.etcdLeader !== undefined) {
    const end = w.length;
    writeMember(w, message.etcdLeader);
    w.varint(w.length - end);
    w.varint(34);
  }
  if (message.leader !== undefined) {
    const end = w.length;
    writeMember(w, message.leader);
    w.varint(w.length - end);
    w.varint(26);
  }
  if (message.members !== undefined && message.members.length > 0) {
    for (let at = message.members.length - 1; at >= 0; at -= 1) {
      const end = w.length;
      writeMember(w, message.members[at]!);
      w.varint(w.length - end);
      w.varint(18);
    }
  }
  if (message.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const GetMembersResponseCodec: Codec<GetMembersResponse, GetMembersResponseInit> = {
  write: writeGetMembersResponse,
  read: (r) => readGetMembersResponse(r, newGetMembersResponse()),
};
export const encodeGetMembersResponse = (message: GetMembersResponseInit): Uint8Array => encode(GetMembersResponseCodec, message);
export const decodeGetMembersResponse = (bytes: Uint8Array): GetMembersResponse => decode(GetMembersResponseCodec, bytes);

export interface GetClusterInfoRequest {
  header: ResponseHeader | undefined;
}
export type GetClusterInfoRequestInit = Init<GetClusterInfoRequest>;

export const newGetClusterInfoRequest = (): GetClusterInfoRequest => ({ header: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readGetClusterInfoRequest(r: Reader, message: GetClusterInfoRequest): GetClusterInfoRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.header = readResponseHeader(r, message.header ?? newResponseHeader());
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
export function writeGetClusterInfoRequest(w: Writer, message: GetClusterInfoRequestInit): void {
  if (message.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const GetClusterInfoRequestCodec: Codec<GetClusterInfoRequest, GetClusterInfoRequestInit> = {
  write: writeGetClusterInfoRequest,
  read: (r) => readGetClusterInfoRequest(r, newGetClusterInfoRequest()),
};
export const encodeGetClusterInfoRequest = (message: GetClusterInfoRequestInit): Uint8Array => encode(GetClusterInfoRequestCodec, message);
export const decodeGetClusterInfoRequest = (bytes: Uint8Array): GetClusterInfoRequest => decode(GetClusterInfoRequestCodec, bytes);

export interface GetClusterInfoResponse {
  header: ResponseHeader | undefined;
  serviceModes: number[];
  tsoUrls: string[];
}
export type GetClusterInfoResponseInit = Init<GetClusterInfoResponse>;

export const newGetClusterInfoResponse = (): GetClusterInfoResponse => ({ header: undefined, serviceModes: [], tsoUrls: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readGetClusterInfoResponse(r: Reader, message: GetClusterInfoResponse): GetClusterInfoResponse {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.header = readResponseHeader(r, message.header ?? newResponseHeader());
        r.leave(outer);
        break;
      }
      case 16:
        message.serviceModes.push(r.int32());
        break;
      case 18: {
        const outer = r.enterList();
        while (r.more()) message.serviceModes.push(r.int32());
        r.leave(outer);
        break;
      }
      case 26:
        message.tsoUrls.push(r.lenientString());
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeGetClusterInfoResponse(w: Writer, message: GetClusterInfoResponseInit): void {
  if (message.tsoUrls !== undefined && message.tsoUrls.length > 0) {
    for (let at = message.tsoUrls.length - 1; at >= 0; at -= 1) {
      w.string(message.tsoUrls[at]!);
      w.varint(26);
    }
  }
  if (message.serviceModes !== undefined && message.serviceModes.length > 0) {
    const end = w.length;
    for (let at = message.serviceModes.length - 1; at >= 0; at -= 1) w.int64(message.serviceModes[at]!);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (message.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const GetClusterInfoResponseCodec: Codec<GetClusterInfoResponse, GetClusterInfoResponseInit> = {
  write: writeGetClusterInfoResponse,
  read: (r) => readGetClusterInfoResponse(r, newGetClusterInfoResponse()),
};
export const encodeGetClusterInfoResponse = (message: GetClusterInfoResponseInit): Uint8Array => encode(GetClusterInfoResponseCodec, message);
export const decodeGetClusterInfoResponse = (bytes: Uint8Array): GetClusterInfoResponse => decode(GetClusterInfoResponseCodec, bytes);

export interface PeerStats {
  peer: metapb.Peer | undefined;
  downSeconds: number;
}
export type PeerStatsInit = Init<PeerStats>;

export const newPeerStats = (): PeerStats => ({ peer: undefined, downSeconds: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readPeerStats(r: Reader, message: PeerStats): PeerStats {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.peer = metapb.readPeer(r, message.peer ?? metapb.newPeer());
        r.leave(outer);
        break;
      }
      case 16:
        message.downSeconds = r.count();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writePeerStats(w: Writer, message: PeerStatsInit): void {
  if (message.downSeconds !== undefined && message.downSeconds !== 0) {
    w.int64(message.downSeconds);
    w.varint(16);
  }
  if (message.peer !== undefined) {
    const end = w.length;
    metapb.writePeer(w, message.peer);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const PeerStatsCodec: Codec<PeerStats, PeerStatsInit> = {
  write: writePeerStats,
  read: (r) => readPeerStats(r, newPeerStats()),
};
export const encodePeerStats = (message: PeerStatsInit): Uint8Array => encode(PeerStatsCodec, message);
export const decodePeerStats = (bytes: Uint8Array): PeerStats => decode(PeerStatsCodec, bytes);

export interface ScatterRegionRequest {
  header: RequestHeader | undefined;
  regionId: number;
  region: metapb.Region | undefined;
  leader: metapb.Peer | undefined;
  group: string;
  regionsId: number[];
  retryLimit: number;
  skipStoreLimit: boolean;
}
export type ScatterRegionRequestInit = Init<ScatterRegionRequest>;

export const newScatterRegionRequest = (): ScatterRegionRequest => ({ header: undefined, regionId: 0, region: undefined, leader: undefined, group: '', regionsId: [], retryLimit: 0, skipStoreLimit: false, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readScatterRegionRequest(r: Reader, message: ScatterRegionRequest): ScatterRegionRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.header = readRequestHeader(r, message.header ?? newRequestHeader());
        r.leave(outer);
        break;
      }
      case 16:
        message.regionId = r.count();
        break;
      case 26: {
        const outer = r.enter();
        message.region = metapb.readRegion(r, message.region ?? metapb.newRegion());
        r.leave(outer);
        break;
      }
      case 34: {
        const outer = r.enter();
        message.leader = metapb.readPeer(r, message.leader ?? metapb.newPeer());
        r.leave(outer);
        break;
      }
      case 42:
        message.group = r.lenientString();
        break;
      case 48:
        message.regionsId.push(r.count());
        break;
      case 50: {
        const outer = r.enterList();
        while (r.more()) message.regionsId.push(r.count());
        r.leave(outer);
        break;
      }
      case 56:
        message.retryLimit = r.count();
        break;
      case 64:
        message.skipStoreLimit = r.bool();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeScatterRegionRequest(w: Writer, message: ScatterRegionRequestInit): void {
  if (message.skipStoreLimit === true) {
    w.varint(message.skipStoreLimit ? 1 : 0);
    w.varint(64);
  }
  if (message.retryLimit !== undefined && message.retryLimit !== 0) {
    w.int64(message.retryLimit);
    w.varint(56);
  }
  if (message.regionsId !== undefined && message.regionsId.length > 0) {
    const end = w.length;
    for (let at = message.regionsId.length - 1; at >= 0; at -= 1) w.int64(message.regionsId[at]!);
    w.varint(w.length - end);
    w.varint(50);
  }
  if (message.group !== undefined && message.group !== '') {
    w.string(message.group);
    w.varint(42);
  }
  if (message.leader !== undefined) {
    const end = w.length;
    metapb.writePeer(w, message.leader);
    w.varint(w.length - end);
    w.varint(34);
  }
  if (message.region !== undefined) {
    const end = w.length;
    metapb.writeRegion(w, message.region);
    w.varint(w.length - end);
    w.varint(26);
  }
  if (message.regionId !== undefined && message.regionId !== 0) {
    w.int64(message.regionId);
    w.varint(16);
  }
  if (message.header !== undefined) {
    const end = w.length;
    writeRequestHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const ScatterRegionRequestCodec: Codec<ScatterRegionRequest, ScatterRegionRequestInit> = {
  write: writeScatterRegionRequest,
  read: (r) => readScatterRegionRequest(r, newScatterRegionRequest()),
};
export const encodeScatterRegionRequest = (message: ScatterRegionRequestInit): Uint8Array => encode(ScatterRegionRequestCodec, message);
export const decodeScatterRegionRequest = (bytes: Uint8Array): ScatterRegionRequest => decode(ScatterRegionRequestCodec, bytes);

export interface ScatterRegionResponse {
  header: ResponseHeader | undefined;
  finishedPercentage: number;
  failedRegionsId: number[];
}
export type ScatterRegionResponseInit = Init<ScatterRegionResponse>;

export const newScatterRegionResponse = (): ScatterRegionResponse => ({ header: undefined, finishedPercentage: 0, failedRegionsId: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readScatterRegionResponse(r: Reader, message: ScatterRegionResponse): ScatterRegionResponse {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.header = readResponseHeader(r, message.header ?? newResponseHeader());
        r.leave(outer);
        break;
      }
      case 16:
        message.finishedPercentage = r.count();
        break;
      case 24:
        message.failedRegionsId.push(r.count());
        break;
      case 26: {
        const outer = r.enterList();
        while (r.more()) message.failedRegionsId.push(r.count());
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
export function writeScatterRegionResponse(w: Writer, message: ScatterRegionResponseInit): void {
  if (message.failedRegionsId !== undefined && message.failedRegionsId.length > 0) {
    const end = w.length;
    for (let at = message.failedRegionsId.length - 1; at >= 0; at -= 1) w.int64(message.failedRegionsId[at]!);
    w.varint(w.length - end);
    w.varint(26);
  }
  if (message.finishedPercentage !== undefined && message.finishedPercentage !== 0) {
    w.int64(message.finishedPercentage);
    w.varint(16);
  }
  if (message.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const ScatterRegionResponseCodec: Codec<ScatterRegionResponse, ScatterRegionResponseInit> = {
  write: writeScatterRegionResponse,
  read: (r) => readScatterRegionResponse(r, newScatterRegionResponse()),
};
export const encodeScatterRegionResponse = (message: ScatterRegionResponseInit): Uint8Array => encode(ScatterRegionResponseCodec, message);
export const decodeScatterRegionResponse = (bytes: Uint8Array): ScatterRegionResponse => decode(ScatterRegionResponseCodec, bytes);

export interface GetGCSafePointRequest {
  header: RequestHeader | undefined;
}
export type GetGCSafePointRequestInit = Init<GetGCSafePointRequest>;

export const newGetGCSafePointRequest = (): GetGCSafePointRequest => ({ header: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readGetGCSafePointRequest(r: Reader, message: GetGCSafePointRequest): GetGCSafePointRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.header = readRequestHeader(r, message.header ?? newRequestHeader());
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
export function writeGetGCSafePointRequest(w: Writer, message: GetGCSafePointRequestInit): void {
  if (message.header !== undefined) {
    const end = w.length;
    writeRequestHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const GetGCSafePointRequestCodec: Codec<GetGCSafePointRequest, GetGCSafePointRequestInit> = {
  write: writeGetGCSafePointRequest,
  read: (r) => readGetGCSafePointRequest(r, newGetGCSafePointRequest()),
};
export const encodeGetGCSafePointRequest = (message: GetGCSafePointRequestInit): Uint8Array => encode(GetGCSafePointRequestCodec, message);
export const decodeGetGCSafePointRequest = (bytes: Uint8Array): GetGCSafePointRequest => decode(GetGCSafePointRequestCodec, bytes);

export interface GetGCSafePointResponse {
  header: ResponseHeader | undefined;
  safePoint: bigint;
}
export type GetGCSafePointResponseInit = Init<GetGCSafePointResponse>;

export const newGetGCSafePointResponse = (): GetGCSafePointResponse => ({ header: undefined, safePoint: 0n, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readGetGCSafePointResponse(r: Reader, message: GetGCSafePointResponse): GetGCSafePointResponse {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.header = readResponseHeader(r, message.header ?? newResponseHeader());
        r.leave(outer);
        break;
      }
      case 16:
        message.safePoint = r.bigUint64();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeGetGCSafePointResponse(w: Writer, message: GetGCSafePointResponseInit): void {
  if (message.safePoint !== undefined && message.safePoint !== 0n) {
    w.bigint(message.safePoint);
    w.varint(16);
  }
  if (message.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const GetGCSafePointResponseCodec: Codec<GetGCSafePointResponse, GetGCSafePointResponseInit> = {
  write: writeGetGCSafePointResponse,
  read: (r) => readGetGCSafePointResponse(r, newGetGCSafePointResponse()),
};
export const encodeGetGCSafePointResponse = (message: GetGCSafePointResponseInit): Uint8Array => encode(GetGCSafePointResponseCodec, message);
export const decodeGetGCSafePointResponse = (bytes: Uint8Array): GetGCSafePointResponse => decode(GetGCSafePointResponseCodec, bytes);

export interface UpdateGCSafePointRequest {
  header: RequestHeader | undefined;
  safePoint: bigint;
}
export type UpdateGCSafePointRequestInit = Init<UpdateGCSafePointRequest>;

export const newUpdateGCSafePointRequest = (): UpdateGCSafePointRequest => ({ header: undefined, safePoint: 0n, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readUpdateGCSafePointRequest(r: Reader, message: UpdateGCSafePointRequest): UpdateGCSafePointRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.header = readRequestHeader(r, message.header ?? newRequestHeader());
        r.leave(outer);
        break;
      }
      case 16:
        message.safePoint = r.bigUint64();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeUpdateGCSafePointRequest(w: Writer, message: UpdateGCSafePointRequestInit): void {
  if (message.safePoint !== undefined && message.safePoint !== 0n) {
    w.bigint(message.safePoint);
    w.varint(16);
  }
  if (message.header !== undefined) {
    const end = w.length;
    writeRequestHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const UpdateGCSafePointRequestCodec: Codec<UpdateGCSafePointRequest, UpdateGCSafePointRequestInit> = {
  write: writeUpdateGCSafePointRequest,
  read: (r) => readUpdateGCSafePointRequest(r, newUpdateGCSafePointRequest()),
};
export const encodeUpdateGCSafePointRequest = (message: UpdateGCSafePointRequestInit): Uint8Array => encode(UpdateGCSafePointRequestCodec, message);
export const decodeUpdateGCSafePointRequest = (bytes: Uint8Array): UpdateGCSafePointRequest => decode(UpdateGCSafePointRequestCodec, bytes);

export interface UpdateGCSafePointResponse {
  header: ResponseHeader | undefined;
  newSafePoint: bigint;
}
export type UpdateGCSafePointResponseInit = Init<UpdateGCSafePointResponse>;

export const newUpdateGCSafePointResponse = (): UpdateGCSafePointResponse => ({ header: undefined, newSafePoint: 0n, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readUpdateGCSafePointResponse(r: Reader, message: UpdateGCSafePointResponse): UpdateGCSafePointResponse {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.header = readResponseHeader(r, message.header ?? newResponseHeader());
        r.leave(outer);
        break;
      }
      case 16:
        message.newSafePoint = r.bigUint64();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeUpdateGCSafePointResponse(w: Writer, message: UpdateGCSafePointResponseInit): void {
  if (message.newSafePoint !== undefined && message.newSafePoint !== 0n) {
    w.bigint(message.newSafePoint);
    w.varint(16);
  }
  if (message.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const UpdateGCSafePointResponseCodec: Codec<UpdateGCSafePointResponse, UpdateGCSafePointResponseInit> = {
  write: writeUpdateGCSafePointResponse,
  read: (r) => readUpdateGCSafePointResponse(r, newUpdateGCSafePointResponse()),
};
export const encodeUpdateGCSafePointResponse = (message: UpdateGCSafePointResponseInit): Uint8Array => encode(UpdateGCSafePointResponseCodec, message);
export const decodeUpdateGCSafePointResponse = (bytes: Uint8Array): UpdateGCSafePointResponse => decode(UpdateGCSafePointResponseCodec, bytes);

export interface UpdateServiceGCSafePointRequest {
  header: RequestHeader | undefined;
  serviceId: Uint8Array;
  ttl: bigint;
  safePoint: bigint;
}
export type UpdateServiceGCSafePointRequestInit = Init<UpdateServiceGCSafePointRequest>;

export const newUpdateServiceGCSafePointRequest = (): UpdateServiceGCSafePointRequest => ({ header: undefined, serviceId: EMPTY_BYTES, ttl: 0n, safePoint: 0n, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readUpdateServiceGCSafePointRequest(r: Reader, message: UpdateServiceGCSafePointRequest): UpdateServiceGCSafePointRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.header = readRequestHeader(r, message.header ?? newRequestHeader());
        r.leave(outer);
        break;
      }
      case 18:
        message.serviceId = r.bytes();
        break;
      case 24:
        message.ttl = r.bigInt64();
        break;
      case 32:
        message.safePoint = r.bigUint64();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeUpdateServiceGCSafePointRequest(w: Writer, message: UpdateServiceGCSafePointRequestInit): void {
  if (message.safePoint !== undefined && message.safePoint !== 0n) {
    w.bigint(message.safePoint);
    w.varint(32);
  }
  if (message.ttl !== undefined && message.ttl !== 0n) {
    w.bigint(message.ttl);
    w.varint(24);
  }
  if (message.serviceId !== undefined && message.serviceId.length > 0) {
    w.bytes(message.serviceId);
    w.varint(18);
  }
  if (message.header !== undefined) {
    const end = w.length;
    writeRequestHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const UpdateServiceGCSafePointRequestCodec: Codec<UpdateServiceGCSafePointRequest, UpdateServiceGCSafePointRequestInit> = {
  write: writeUpdateServiceGCSafePointRequest,
  read: (r) => readUpdateServiceGCSafePointRequest(r, newUpdateServiceGCSafePointRequest()),
};
export const encodeUpdateServiceGCSafePointRequest = (message: UpdateServiceGCSafePointRequestInit): Uint8Array => encode(UpdateServiceGCSafePointRequestCodec, message);
export const decodeUpdateServiceGCSafePointRequest = (bytes: Uint8Array): UpdateServiceGCSafePointRequest => decode(UpdateServiceGCSafePointRequestCodec, bytes);

export interface UpdateServiceGCSafePointResponse {
  header: ResponseHeader | undefined;
  serviceId: Uint8Array;
  ttl: bigint;
  minSafePoint: bigint;
}
export type UpdateServiceGCSafePointResponseInit = Init<UpdateServiceGCSafePointResponse>;

export const newUpdateServiceGCSafePointResponse = (): UpdateServiceGCSafePointResponse => ({ header: undefined, serviceId: EMPTY_BYTES, ttl: 0n, minSafePoint: 0n, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readUpdateServiceGCSafePointResponse(r: Reader, message: UpdateServiceGCSafePointResponse): UpdateServiceGCSafePointResponse {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.header = readResponseHeader(r, message.header ?? newResponseHeader());
        r.leave(outer);
        break;
      }
      case 18:
        message.serviceId = r.bytes();
        break;
      case 24:
        message.ttl = r.bigInt64();
        break;
      case 32:
        message.minSafePoint = r.bigUint64();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeUpdateServiceGCSafePointResponse(w: Writer, message: UpdateServiceGCSafePointResponseInit): void {
  if (message.minSafePoint !== undefined && message.minSafePoint !== 0n) {
    w.bigint(message.minSafePoint);
    w.varint(32);
  }
  if (message.ttl !== undefined && message.ttl !== 0n) {
    w.bigint(message.ttl);
    w.varint(24);
  }
  if (message.serviceId !== undefined && message.serviceId.length > 0) {
    w.bytes(message.serviceId);
    w.varint(18);
  }
  if (message.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const UpdateServiceGCSafePointResponseCodec: Codec<UpdateServiceGCSafePointResponse, UpdateServiceGCSafePointResponseInit> = {
  write: writeUpdateServiceGCSafePointResponse,
  read: (r) => readUpdateServiceGCSafePointResponse(r, newUpdateServiceGCSafePointResponse()),
};
export const encodeUpdateServiceGCSafePointResponse = (message: UpdateServiceGCSafePointResponseInit): Uint8Array => encode(UpdateServiceGCSafePointResponseCodec, message);
export const decodeUpdateServiceGCSafePointResponse = (bytes: Uint8Array): UpdateServiceGCSafePointResponse => decode(UpdateServiceGCSafePointResponseCodec, bytes);

export interface KeyspaceScope {
  keyspaceId: number | undefined;
}
export type KeyspaceScopeInit = Init<KeyspaceScope>;

export const newKeyspaceScope = (): KeyspaceScope => ({ keyspaceId: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readKeyspaceScope(r: Reader, message: KeyspaceScope): KeyspaceScope {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.keyspaceId = r.uint32();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeKeyspaceScope(w: Writer, message: KeyspaceScopeInit): void {
  if (message.keyspaceId !== undefined) {
    w.varint(message.keyspaceId);
    w.varint(8);
  }
}

export const KeyspaceScopeCodec: Codec<KeyspaceScope, KeyspaceScopeInit> = {
  write: writeKeyspaceScope,
  read: (r) => readKeyspaceScope(r, newKeyspaceScope()),
};
export const encodeKeyspaceScope = (message: KeyspaceScopeInit): Uint8Array => encode(KeyspaceScopeCodec, message);
export const decodeKeyspaceScope = (bytes: Uint8Array): KeyspaceScope => decode(KeyspaceScopeCodec, bytes);

export interface AdvanceGCSafePointRequest {
  header: RequestHeader | undefined;
  keyspaceScope: KeyspaceScope | undefined;
  target: bigint;
}
export type AdvanceGCSafePointRequestInit = Init<AdvanceGCSafePointRequest>;

export const newAdvanceGCSafePointRequest = (): AdvanceGCSafePointRequest => ({ header: undefined, keyspaceScope: undefined, target: 0n, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAdvanceGCSafePointRequest(r: Reader, message: AdvanceGCSafePointRequest): AdvanceGCSafePointRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.header = readRequestHeader(r, message.header ?? newRequestHeader());
        r.leave(outer);
        break;
      }
      case 18: {
        const outer = r.enter();
        message.keyspaceScope = readKeyspaceScope(r, message.keyspaceScope ?? newKeyspaceScope());
        r.leave(outer);
        break;
      }
      case 24:
        message.target = r.bigUint64();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeAdvanceGCSafePointRequest(w: Writer, message: AdvanceGCSafePointRequestInit): void {
  if (message.target !== undefined && message.target !== 0n) {
    w.bigint(message.target);
    w.varint(24);
  }
  if (message.keyspaceScope !== undefined) {
    const end = w.length;
    writeKeyspaceScope(w, message.keyspaceScope);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (message.header !== undefined) {
    const end = w.length;
    writeRequestHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const AdvanceGCSafePointRequestCodec: Codec<AdvanceGCSafePointRequest, AdvanceGCSafePointRequestInit> = {
  write: writeAdvanceGCSafePointRequest,
  read: (r) => readAdvanceGCSafePointRequest(r, newAdvanceGCSafePointRequest()),
};
export const encodeAdvanceGCSafePointRequest = (message: AdvanceGCSafePointRequestInit): Uint8Array => encode(AdvanceGCSafePointRequestCodec, message);
export const decodeAdvanceGCSafePointRequest = (bytes: Uint8Array): AdvanceGCSafePointRequest => decode(AdvanceGCSafePointRequestCodec, bytes);

export interface AdvanceGCSafePointResponse {
  header: ResponseHeader | undefined;
  oldGcSafePoint: bigint;
  newGcSafePoint: bigint;
}
export type AdvanceGCSafePointResponseInit = Init<AdvanceGCSafePointResponse>;

export const newAdvanceGCSafePointResponse = (): AdvanceGCSafePointResponse => ({ header: undefined, oldGcSafePoint: 0n, newGcSafePoint: 0n, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAdvanceGCSafePointResponse(r: Reader, message: AdvanceGCSafePointResponse): AdvanceGCSafePointResponse {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.header = readResponseHeader(r, message.header ?? newResponseHeader());
        r.leave(outer);
        break;
      }
      case 16:
        message.oldGcSafePoint = r.bigUint64();
        break;
      case 24:
        message.newGcSafePoint = r.bigUint64();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeAdvanceGCSafePointResponse(w: Writer, message: AdvanceGCSafePointResponseInit): void {
  if (message.newGcSafePoint !== undefined && message.newGcSafePoint !== 0n) {
    w.bigint(message.newGcSafePoint);
    w.varint(24);
  }
  if (message.oldGcSafePoint !== undefined && message.oldGcSafePoint !== 0n) {
    w.bigint(message.oldGcSafePoint);
    w.varint(16);
  }
  if (message.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const AdvanceGCSafePointResponseCodec: Codec<AdvanceGCSafePointResponse, AdvanceGCSafePointResponseInit> = {
  write: writeAdvanceGCSafePointResponse,
  read: (r) => readAdvanceGCSafePointResponse(r, newAdvanceGCSafePointResponse()),
};
export const encodeAdvanceGCSafePointResponse = (message: AdvanceGCSafePointResponseInit): Uint8Array => encode(AdvanceGCSafePointResponseCodec, message);
export const decodeAdvanceGCSafePointResponse = (bytes: Uint8Array): AdvanceGCSafePointResponse => decode(AdvanceGCSafePointResponseCodec, bytes);

export interface AdvanceTxnSafePointRequest {
  header: RequestHeader | undefined;
  keyspaceScope: KeyspaceScope | undefined;
  target: bigint;
}
export type AdvanceTxnSafePointRequestInit = Init<AdvanceTxnSafePointRequest>;

export const newAdvanceTxnSafePointRequest = (): AdvanceTxnSafePointRequest => ({ header: undefined, keyspaceScope: undefined, target: 0n, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAdvanceTxnSafePointRequest(r: Reader, message: AdvanceTxnSafePointRequest): AdvanceTxnSafePointRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.header = readRequestHeader(r, message.header ?? newRequestHeader());
        r.leave(outer);
        break;
      }
      case 18: {
        const outer = r.enter();
        message.keyspaceScope = readKeyspaceScope(r, message.keyspaceScope ?? newKeyspaceScope());
        r.leave(outer);
        break;
      }
      case 24:
        message.target = r.bigUint64();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeAdvanceTxnSafePointRequest(w: Writer, message: AdvanceTxnSafePointRequestInit): void {
  if (message.target !== undefined && message.target !== 0n) {
    w.bigint(message.target);
    w.varint(24);
  }
  if (message.keyspaceScope !== undefined) {
    const end = w.length;
    writeKeyspaceScope(w, message.keyspaceScope);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (message.header !== undefined) {
    const end = w.length;
    writeRequestHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const AdvanceTxnSafePointRequestCodec: Codec<AdvanceTxnSafePointRequest, AdvanceTxnSafePointRequestInit> = {
  write: writeAdvanceTxnSafePointRequest,
  read: (r) => readAdvanceTxnSafePointRequest(r, newAdvanceTxnSafePointRequest()),
};
export const encodeAdvanceTxnSafePointRequest = (message: AdvanceTxnSafePointRequestInit): Uint8Array => encode(AdvanceTxnSafePointRequestCodec, message);
export const decodeAdvanceTxnSafePointRequest = (bytes: Uint8Array): AdvanceTxnSafePointRequest => decode(AdvanceTxnSafePointRequestCodec, bytes);

export interface AdvanceTxnSafePointResponse {
  header: ResponseHeader | undefined;
  oldTxnSafePoint: bigint;
  newTxnSafePoint: bigint;
  blockerDescription: string;
}
export type AdvanceTxnSafePointResponseInit = Init<AdvanceTxnSafePointResponse>;

export const newAdvanceTxnSafePointResponse = (): AdvanceTxnSafePointResponse => ({ header: undefined, oldTxnSafePoint: 0n, newTxnSafePoint: 0n, blockerDescription: '', });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAdvanceTxnSafePointResponse(r: Reader, message: AdvanceTxnSafePointResponse): AdvanceTxnSafePointResponse {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.header = readResponseHeader(r, message.header ?? newResponseHeader());
        r.leave(outer);
        break;
      }
      case 16:
        message.oldTxnSafePoint = r.bigUint64();
        break;
      case 24:
        message.newTxnSafePoint = r.bigUint64();
        break;
      case 34:
        message.blockerDescription = r.lenientString();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeAdvanceTxnSafePointResponse(w: Writer, message: AdvanceTxnSafePointResponseInit): void {
  if (message.blockerDescription !== undefined && message.blockerDescription !== '') {
    w.string(message.blockerDescription);
    w.varint(34);
  }
  if (message.newTxnSafePoint !== undefined && message.newTxnSafePoint !== 0n) {
    w.bigint(message.newTxnSafePoint);
    w.varint(24);
  }
  if (message.oldTxnSafePoint !== undefined && message.oldTxnSafePoint !== 0n) {
    w.bigint(message.oldTxnSafePoint);
    w.varint(16);
  }
  if (message.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const AdvanceTxnSafePointResponseCodec: Codec<AdvanceTxnSafePointResponse, AdvanceTxnSafePointResponseInit> = {
  write: writeAdvanceTxnSafePointResponse,
  read: (r) => readAdvanceTxnSafePointResponse(r, newAdvanceTxnSafePointResponse()),
};
export const encodeAdvanceTxnSafePointResponse = (message: AdvanceTxnSafePointResponseInit): Uint8Array => encode(AdvanceTxnSafePointResponseCodec, message);
export const decodeAdvanceTxnSafePointResponse = (bytes: Uint8Array): AdvanceTxnSafePointResponse => decode(AdvanceTxnSafePointResponseCodec, bytes);

export interface SetGCBarrierRequest {
  header: RequestHeader | undefined;
  keyspaceScope: KeyspaceScope | undefined;
  barrierId: string;
  barrierTs: bigint;
  ttlSeconds: bigint;
}
export type SetGCBarrierRequestInit = Init<SetGCBarrierRequest>;

export const newSetGCBarrierRequest = (): SetGCBarrierRequest => ({ header: undefined, keyspaceScope: undefined, barrierId: '', barrierTs: 0n, ttlSeconds: 0n, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readSetGCBarrierRequest(r: Reader, message: SetGCBarrierRequest): SetGCBarrierRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.header = readRequestHeader(r, message.header ?? newRequestHeader());
        r.leave(outer);
        break;
      }
      case 18: {
        const outer = r.enter();
        message.keyspaceScope = readKeyspaceScope(r, message.keyspaceScope ?? newKeyspaceScope());
        r.leave(outer);
        break;
      }
      case 26:
        message.barrierId = r.lenientString();
        break;
      case 32:
        message.barrierTs = r.bigUint64();
        break;
      case 40:
        message.ttlSeconds = r.bigInt64();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeSetGCBarrierRequest(w: Writer, message: SetGCBarrierRequestInit): void {
  if (message.ttlSeconds !== undefined && message.ttlSeconds !== 0n) {
    w.bigint(message.ttlSeconds);
    w.varint(40);
  }
  if (message.barrierTs !== undefined && message.barrierTs !== 0n) {
    w.bigint(message.barrierTs);
    w.varint(32);
  }
  if (message.barrierId !== undefined && message.barrierId !== '') {
    w.string(message.barrierId);
    w.varint(26);
  }
  if (message.keyspaceScope !== undefined) {
    const end = w.length;
    writeKeyspaceScope(w, message.keyspaceScope);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (message.header !== undefined) {
    const end = w.length;
    writeRequestHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const SetGCBarrierRequestCodec: Codec<SetGCBarrierRequest, SetGCBarrierRequestInit> = {
  write: writeSetGCBarrierRequest,
  read: (r) => readSetGCBarrierRequest(r, newSetGCBarrierRequest()),
};
export const encodeSetGCBarrierRequest = (message: SetGCBarrierRequestInit): Uint8Array => encode(SetGCBarrierRequestCodec, message);
export const decodeSetGCBarrierRequest = (bytes: Uint8Array): SetGCBarrierRequest => decode(SetGCBarrierRequestCodec, bytes);

export interface GCBarrierInfo {
  barrierId: string;
  barrierTs: bigint;
  ttlSeconds: bigint;
}
export type GCBarrierInfoInit = Init<GCBarrierInfo>;

export const newGCBarrierInfo = (): GCBarrierInfo => ({ barrierId: '', barrierTs: 0n, ttlSeconds: 0n, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readGCBarrierInfo(r: Reader, message: GCBarrierInfo): GCBarrierInfo {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10:
        message.barrierId = r.lenientString();
        break;
      case 16:
        message.barrierTs = r.bigUint64();
        break;
      case 24:
        message.ttlSeconds = r.bigInt64();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeGCBarrierInfo(w: Writer, message: GCBarrierInfoInit): void {
  if (message.ttlSeconds !== undefined && message.ttlSeconds !== 0n) {
    w.bigint(message.ttlSeconds);
    w.varint(24);
  }
  if (message.barrierTs !== undefined && message.barrierTs !== 0n) {
    w.bigint(message.barrierTs);
    w.varint(16);
  }
  if (message.barrierId !== undefined && message.barrierId !== '') {
    w.string(message.barrierId);
    w.varint(10);
  }
}

export const GCBarrierInfoCodec: Codec<GCBarrierInfo, GCBarrierInfoInit> = {
  write: writeGCBarrierInfo,
  read: (r) => readGCBarrierInfo(r, newGCBarrierInfo()),
};
export const encodeGCBarrierInfo = (message: GCBarrierInfoInit): Uint8Array => encode(GCBarrierInfoCodec, message);
export const decodeGCBarrierInfo = (bytes: Uint8Array): GCBarrierInfo => decode(GCBarrierInfoCodec, bytes);

export interface SetGCBarrierResponse {
  header: ResponseHeader | undefined;
  newBarrierInfo: GCBarrierInfo | undefined;
}
export type SetGCBarrierResponseInit = Init<SetGCBarrierResponse>;

export const newSetGCBarrierResponse = (): SetGCBarrierResponse => ({ header: undefined, newBarrierInfo: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readSetGCBarrierResponse(r: Reader, message: SetGCBarrierResponse): SetGCBarrierResponse {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.header = readResponseHeader(r, message.header ?? newResponseHeader());
        r.leave(outer);
        break;
      }
      case 18: {
        const outer = r.enter();
        message.newBarrierInfo = readGCBarrierInfo(r, message.newBarrierInfo ?? newGCBarrierInfo());
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
export function writeSetGCBarrierResponse(w: Writer, message: SetGCBarrierResponseInit): void {
  if (message.newBarrierInfo !== undefined) {
    const end = w.length;
    writeGCBarrierInfo(w, message.newBarrierInfo);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (message.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const SetGCBarrierResponseCodec: Codec<SetGCBarrierResponse, SetGCBarrierResponseInit> = {
  write: writeSetGCBarrierResponse,
  read: (r) => readSetGCBarrierResponse(r, newSetGCBarrierResponse()),
};
export const encodeSetGCBarrierResponse = (message: SetGCBarrierResponseInit): Uint8Array => encode(SetGCBarrierResponseCodec, message);
export const decodeSetGCBarrierResponse = (bytes: Uint8Array): SetGCBarrierResponse => decode(SetGCBarrierResponseCodec, bytes);

export interface DeleteGCBarrierRequest {
  header: RequestHeader | undefined;
  keyspaceScope: KeyspaceScope | undefined;
  barrierId: string;
}
export type DeleteGCBarrierRequestInit = Init<DeleteGCBarrierRequest>;

export const newDeleteGCBarrierRequest = (): DeleteGCBarrierRequest => ({ header: undefined, keyspaceScope: undefined, barrierId: '', });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readDeleteGCBarrierRequest(r: Reader, message: DeleteGCBarrierRequest): DeleteGCBarrierRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.header = readRequestHeader(r, message.header ?? newRequestHeader());
        r.leave(outer);
        break;
      }
      case 18: {
        const outer = r.enter();
        message.keyspaceScope = readKeyspaceScope(r, message.keyspaceScope ?? newKeyspaceScope());
        r.leave(outer);
        break;
      }
      case 26:
        message.barrierId = r.lenientString();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeDeleteGCBarrierRequest(w: Writer, message: DeleteGCBarrierRequestInit): void {
  if (message.barrierId !== undefined && message.barrierId !== '') {
    w.string(message.barrierId);
    w.varint(26);
  }
  if (message.keyspaceScope !== undefined) {
    const end = w.length;
    writeKeyspaceScope(w, message.keyspaceScope);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (message.header !== undefined) {
    const end = w.length;
    writeRequestHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const DeleteGCBarrierRequestCodec: Codec<DeleteGCBarrierRequest, DeleteGCBarrierRequestInit> = {
  write: writeDeleteGCBarrierRequest,
  read: (r) => readDeleteGCBarrierRequest(r, newDeleteGCBarrierRequest()),
};
export const encodeDeleteGCBarrierRequest = (message: DeleteGCBarrierRequestInit): Uint8Array => encode(DeleteGCBarrierRequestCodec, message);
export const decodeDeleteGCBarrierRequest = (bytes: Uint8Array): DeleteGCBarrierRequest => decode(DeleteGCBarrierRequestCodec, bytes);

export interface DeleteGCBarrierResponse {
  header: ResponseHeader | undefined;
  deletedBarrierInfo: GCBarrierInfo | undefined;
}
export type DeleteGCBarrierResponseInit = Init<DeleteGCBarrierResponse>;

export const newDeleteGCBarrierResponse = (): DeleteGCBarrierResponse => ({ header: undefined, deletedBarrierInfo: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readDeleteGCBarrierResponse(r: Reader, message: DeleteGCBarrierResponse): DeleteGCBarrierResponse {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.header = readResponseHeader(r, message.header ?? newResponseHeader());
        r.leave(outer);
        break;
      }
      case 18: {
        const outer = r.enter();
        message.deletedBarrierInfo = readGCBarrierInfo(r, message.deletedBarrierInfo ?? newGCBarrierInfo());
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
export function writeDeleteGCBarrierResponse(w: Writer, message: DeleteGCBarrierResponseInit): void {
  if (message.deletedBarrierInfo !== undefined) {
    const end = w.length;
    writeGCBarrierInfo(w, message.deletedBarrierInfo);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (message.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const DeleteGCBarrierResponseCodec: Codec<DeleteGCBarrierResponse, DeleteGCBarrierResponseInit> = {
  write: writeDeleteGCBarrierResponse,
  read: (r) => readDeleteGCBarrierResponse(r, newDeleteGCBarrierResponse()),
};
export const encodeDeleteGCBarrierResponse = (message: DeleteGCBarrierResponseInit): Uint8Array => encode(DeleteGCBarrierResponseCodec, message);
export const decodeDeleteGCBarrierResponse = (bytes: Uint8Array): DeleteGCBarrierResponse => decode(DeleteGCBarrierResponseCodec, bytes);

export interface GetGCStateRequest {
  header: RequestHeader | undefined;
  keyspaceScope: KeyspaceScope | undefined;
  excludeGcBarriers: boolean;
}
export type GetGCStateRequestInit = Init<GetGCStateRequest>;

export const newGetGCStateRequest = (): GetGCStateRequest => ({ header: undefined, keyspaceScope: undefined, excludeGcBarriers: false, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readGetGCStateRequest(r: Reader, message: GetGCStateRequest): GetGCStateRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.header = readRequestHeader(r, message.header ?? newRequestHeader());
        r.leave(outer);
        break;
      }
      case 18: {
        const outer = r.enter();
        message.keyspaceScope = readKeyspaceScope(r, message.keyspaceScope ?? newKeyspaceScope());
        r.leave(outer);
        break;
      }
      case 24:
        message.excludeGcBarriers = r.bool();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeGetGCStateRequest(w: Writer, message: GetGCStateRequestInit): void {
  if (message.excludeGcBarriers === true) {
    w.varint(message.excludeGcBarriers ? 1 : 0);
    w.varint(24);
  }
  if (message.keyspaceScope !== undefined) {
    const end = w.length;
    writeKeyspaceScope(w, message.keyspaceScope);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (message.header !== undefined) {
    const end = w.length;
    writeRequestHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const GetGCStateRequestCodec: Codec<GetGCStateRequest, GetGCStateRequestInit> = {
  write: writeGetGCStateRequest,
  read: (r) => readGetGCStateRequest(r, newGetGCStateRequest()),
};
export const encodeGetGCStateRequest = (message: GetGCStateRequestInit): Uint8Array => encode(GetGCStateRequestCodec, message);
export const decodeGetGCStateRequest = (bytes: Uint8Array): GetGCStateRequest => decode(GetGCStateRequestCodec, bytes);

export interface GCState {
  keyspaceScope: KeyspaceScope | undefined;
  isKeyspaceLevelGc: boolean;
  txnSafePoint: bigint;
  gcSafePoint: bigint;
  gcBarriers: GCBarrierInfo[];
}
export type GCStateInit = Init<GCState>;

export const newGCState = (): GCState => ({ keyspaceScope: undefined, isKeyspaceLevelGc: false, txnSafePoint: 0n, gcSafePoint: 0n, gcBarriers: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readGCState(r: Reader, message: GCState): GCState {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.keyspaceScope = readKeyspaceScope(r, message.keyspaceScope ?? newKeyspaceScope());
        r.leave(outer);
        break;
      }
      case 16:
        message.isKeyspaceLevelGc = r.bool();
        break;
      case 24:
        message.txnSafePoint = r.bigUint64();
        break;
      case 32:
        message.gcSafePoint = r.bigUint64();
        break;
      case 42: {
        const outer = r.enter();
        message.gcBarriers.push(readGCBarrierInfo(r, newGCBarrierInfo()));
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
export function writeGCState(w: Writer, message: GCStateInit): void {
  if (message.gcBarriers !== undefined && message.gcBarriers.length > 0) {
    for (let at = message.gcBarriers.length - 1; at >= 0; at -= 1) {
      const end = w.length;
      writeGCBarrierInfo(w, message.gcBarriers[at]!);
      w.varint(w.length - end);
      w.varint(42);
    }
  }
  if (message.gcSafePoint !== undefined && message.gcSafePoint !== 0n) {
    w.bigint(message.gcSafePoint);
    w.varint(32);
  }
  if (message.txnSafePoint !== undefined && message.txnSafePoint !== 0n) {
    w.bigint(message.txnSafePoint);
    w.varint(24);
  }
  if (message.isKeyspaceLevelGc === true) {
    w.varint(message.isKeyspaceLevelGc ? 1 : 0);
    w.varint(16);
  }
  if (message.keyspaceScope !== undefined) {
    const end = w.length;
    writeKeyspaceScope(w, message.keyspaceScope);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const GCStateCodec: Codec<GCState, GCStateInit> = {
  write: writeGCState,
  read: (r) => readGCState(r, newGCState()),
};
export const encodeGCState = (message: GCStateInit): Uint8Array => encode(GCStateCodec, message);
export const decodeGCState = (bytes: Uint8Array): GCState => decode(GCStateCodec, bytes);

export interface GetGCStateResponse {
  header: ResponseHeader | undefined;
  gcState: GCState | undefined;
}
export type GetGCStateResponseInit = Init<GetGCStateResponse>;

export const newGetGCStateResponse = (): GetGCStateResponse => ({ header: undefined, gcState: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readGetGCStateResponse(r: Reader, message: GetGCStateResponse): GetGCStateResponse {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.header = readResponseHeader(r, message.header ?? newResponseHeader());
        r.leave(outer);
        break;
      }
      case 18: {
        const outer = r.enter();
        message.gcState = readGCState(r, message.gcState ?? newGCState());
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
export function writeGetGCStateResponse(w: Writer, message: GetGCStateResponseInit): void {
  if (message.gcState !== undefined) {
    const end = w.length;
    writeGCState(w, message.gcState);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (message.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const GetGCStateResponseCodec: Codec<GetGCStateResponse, GetGCStateResponseInit> = {
  write: writeGetGCStateResponse,
  read: (r) => readGetGCStateResponse(r, newGetGCStateResponse()),
};
export const encodeGetGCStateResponse = (message: GetGCStateResponseInit): Uint8Array => encode(GetGCStateResponseCodec, message);
export const decodeGetGCStateResponse = (bytes: Uint8Array): GetGCStateResponse => decode(GetGCStateResponseCodec, bytes);

export interface GetOperatorRequest {
  header: RequestHeader | undefined;
  regionId: number;
}
export type GetOperatorRequestInit = Init<GetOperatorRequest>;

export const newGetOperatorRequest = (): GetOperatorRequest => ({ header: undefined, regionId: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readGetOperatorRequest(r: Reader, message: GetOperatorRequest): GetOperatorRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.header = readRequestHeader(r, message.header ?? newRequestHeader());
        r.leave(outer);
        break;
      }
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
export function writeGetOperatorRequest(w: Writer, message: GetOperatorRequestInit): void {
  if (message.regionId !== undefined && message.regionId !== 0) {
    w.int64(message.regionId);
    w.varint(16);
  }
  if (message.header !== undefined) {
    const end = w.length;
    writeRequestHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const GetOperatorRequestCodec: Codec<GetOperatorRequest, GetOperatorRequestInit> = {
  write: writeGetOperatorRequest,
  read: (r) => readGetOperatorRequest(r, newGetOperatorRequest()),
};
export const encodeGetOperatorRequest = (message: GetOperatorRequestInit): Uint8Array => encode(GetOperatorRequestCodec, message);
export const decodeGetOperatorRequest = (bytes: Uint8Array): GetOperatorRequest => decode(GetOperatorRequestCodec, bytes);

export interface GetOperatorResponse {
  header: ResponseHeader | undefined;
  regionId: number;
  desc: Uint8Array;
  status: number;
  kind: Uint8Array;
}
export type GetOperatorResponseInit = Init<GetOperatorResponse>;

export const newGetOperatorResponse = (): GetOperatorResponse => ({ header: undefined, regionId: 0, desc: EMPTY_BYTES, status: 0, kind: EMPTY_BYTES, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readGetOperatorResponse(r: Reader, message: GetOperatorResponse): GetOperatorResponse {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.header = readResponseHeader(r, message.header ?? newResponseHeader());
        r.leave(outer);
        break;
      }
      case 16:
        message.regionId = r.count();
        break;
      case 26:
        message.desc = r.bytes();
        break;
      case 32:
        message.status = r.int32();
        break;
      case 42:
        message.kind = r.bytes();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeGetOperatorResponse(w: Writer, message: GetOperatorResponseInit): void {
  if (message.kind !== undefined && message.kind.length > 0) {
    w.bytes(message.kind);
    w.varint(42);
  }
  if (message.status !== undefined && message.status !== 0) {
    w.int64(message.status);
    w.varint(32);
  }
  if (message.desc !== undefined && message.desc.length > 0) {
    w.bytes(message.desc);
    w.varint(26);
  }
  if (message.regionId !== undefined && message.regionId !== 0) {
    w.int64(message.regionId);
    w.varint(16);
  }
  if (message.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const GetOperatorResponseCodec: Codec<GetOperatorResponse, GetOperatorResponseInit> = {
  write: writeGetOperatorResponse,
  read: (r) => readGetOperatorResponse(r, newGetOperatorResponse()),
};
export const encodeGetOperatorResponse = (message: GetOperatorResponseInit): Uint8Array => encode(GetOperatorResponseCodec, message);
export const decodeGetOperatorResponse = (bytes: Uint8Array): GetOperatorResponse => decode(GetOperatorResponseCodec, bytes);

export interface SplitRegionsRequest {
  header: RequestHeader | undefined;
  splitKeys: Uint8Array[];
  retryLimit: number;
}
export type SplitRegionsRequestInit = Init<SplitRegionsRequest>;

export const newSplitRegionsRequest = (): SplitRegionsRequest => ({ header: undefined, splitKeys: [], retryLimit: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readSplitRegionsRequest(r: Reader, message: SplitRegionsRequest): SplitRegionsRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.header = readRequestHeader(r, message.header ?? newRequestHeader());
        r.leave(outer);
        break;
      }
      case 18:
        message.splitKeys.push(r.bytes());
        break;
      case 24:
        message.retryLimit = r.count();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeSplitRegionsRequest(w: Writer, message: SplitRegionsRequestInit): void {
  if (message.retryLimit !== undefined && message.retryLimit !== 0) {
    w.int64(message.retryLimit);
    w.varint(24);
  }
  if (message.splitKeys !== undefined && message.splitKeys.length > 0) {
    for (let at = message.splitKeys.length - 1; at >= 0; at -= 1) {
      w.bytes(message.splitKeys[at]!);
      w.varint(18);
    }
  }
  if (message.header !== undefined) {
    const end = w.length;
    writeRequestHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const SplitRegionsRequestCodec: Codec<SplitRegionsRequest, SplitRegionsRequestInit> = {
  write: writeSplitRegionsRequest,
  read: (r) => readSplitRegionsRequest(r, newSplitRegionsRequest()),
};
export const encodeSplitRegionsRequest = (message: SplitRegionsRequestInit): Uint8Array => encode(SplitRegionsRequestCodec, message);
export const decodeSplitRegionsRequest = (bytes: Uint8Array): SplitRegionsRequest => decode(SplitRegionsRequestCodec, bytes);

export interface SplitRegionsResponse {
  header: ResponseHeader | undefined;
  finishedPercentage: number;
  regionsId: number[];
}
export type SplitRegionsResponseInit = Init<SplitRegionsResponse>;

export const newSplitRegionsResponse = (): SplitRegionsResponse => ({ header: undefined, finishedPercentage: 0, regionsId: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readSplitRegionsResponse(r: Reader, message: SplitRegionsResponse): SplitRegionsResponse {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.header = readResponseHeader(r, message.header ?? newResponseHeader());
        r.leave(outer);
        break;
      }
      case 16:
        message.finishedPercentage = r.count();
        break;
      case 24:
        message.regionsId.push(r.count());
        break;
      case 26: {
        const outer = r.enterList();
        while (r.more()) message.regionsId.push(r.count());
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
export function writeSplitRegionsResponse(w: Writer, message: SplitRegionsResponseInit): void {
  if (message.regionsId !== undefined && message.regionsId.length > 0) {
    const end = w.length;
    for (let at = message.regionsId.length - 1; at >= 0; at -= 1) w.int64(message.regionsId[at]!);
    w.varint(w.length - end);
    w.varint(26);
  }
  if (message.finishedPercentage !== undefined && message.finishedPercentage !== 0) {
    w.int64(message.finishedPercentage);
    w.varint(16);
  }
  if (message.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const SplitRegionsResponseCodec: Codec<SplitRegionsResponse, SplitRegionsResponseInit> = {
  write: writeSplitRegionsResponse,
  read: (r) => readSplitRegionsResponse(r, newSplitRegionsResponse()),
};
export const encodeSplitRegionsResponse = (message: SplitRegionsResponseInit): Uint8Array => encode(SplitRegionsResponseCodec, message);
export const decodeSplitRegionsResponse = (bytes: Uint8Array): SplitRegionsResponse => decode(SplitRegionsResponseCodec, bytes);

export interface SplitAndScatterRegionsRequest {
  header: RequestHeader | undefined;
  splitKeys: Uint8Array[];
  group: string;
  retryLimit: number;
}
export type SplitAndScatterRegionsRequestInit = Init<SplitAndScatterRegionsRequest>;

export const newSplitAndScatterRegionsRequest = (): SplitAndScatterRegionsRequest => ({ header: undefined, splitKeys: [], group: '', retryLimit: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readSplitAndScatterRegionsRequest(r: Reader, message: SplitAndScatterRegionsRequest): SplitAndScatterRegionsRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.header = readRequestHeader(r, message.header ?? newRequestHeader());
        r.leave(outer);
        break;
      }
      case 18:
        message.splitKeys.push(r.bytes());
        break;
      case 26:
        message.group = r.lenientString();
        break;
      case 32:
        message.retryLimit = r.count();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeSplitAndScatterRegionsRequest(w: Writer, message: SplitAndScatterRegionsRequestInit): void {
  if (message.retryLimit !== undefined && message.retryLimit !== 0) {
    w.int64(message.retryLimit);
    w.varint(32);
  }
  if (message.group !== undefined && message.group !== '') {
    w.string(message.group);
    w.varint(26);
  }
  if (message.splitKeys !== undefined && message.splitKeys.length > 0) {
    for (let at = message.splitKeys.length - 1; at >= 0; at -= 1) {
      w.bytes(message.splitKeys[at]!);
      w.varint(18);
    }
  }
  if (message.header !== undefined) {
    const end = w.length;
    writeRequestHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const SplitAndScatterRegionsRequestCodec: Codec<SplitAndScatterRegionsRequest, SplitAndScatterRegionsRequestInit> = {
  write: writeSplitAndScatterRegionsRequest,
  read: (r) => readSplitAndScatterRegionsRequest(r, newSplitAndScatterRegionsRequest()),
};
export const encodeSplitAndScatterRegionsRequest = (message: SplitAndScatterRegionsRequestInit): Uint8Array => encode(SplitAndScatterRegionsRequestCodec, message);
export const decodeSplitAndScatterRegionsRequest = (bytes: Uint8Array): SplitAndScatterRegionsRequest => decode(SplitAndScatterRegionsRequestCodec, bytes);

export interface SplitAndScatterRegionsResponse {
  header: ResponseHeader | undefined;
  splitFinishedPercentage: number;
  scatterFinishedPercentage: number;
  regionsId: number[];
}
export type SplitAndScatterRegionsResponseInit = Init<SplitAndScatterRegionsResponse>;

export const newSplitAndScatterRegionsResponse = (): SplitAndScatterRegionsResponse => ({ header: undefined, splitFinishedPercentage: 0, scatterFinishedPercentage: 0, regionsId: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readSplitAndScatterRegionsResponse(r: Reader, message: SplitAndScatterRegionsResponse): SplitAndScatterRegionsResponse {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.header = readResponseHeader(r, message.header ?? newResponseHeader());
        r.leave(outer);
        break;
      }
      case 16:
        message.splitFinishedPercentage = r.count();
        break;
      case 24:
        message.scatterFinishedPercentage = r.count();
        break;
      case 32:
        message.regionsId.push(r.count());
        break;
      case 34: {
        const outer = r.enterList();
        while (r.more()) message.regionsId.push(r.count());
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
export function writeSplitAndScatterRegionsResponse(w: Writer, message: SplitAndScatterRegionsResponseInit): void {
  if (message.regionsId !== undefined && message.regionsId.length > 0) {
    const end = w.length;
    for (let at = message.regionsId.length - 1; at >= 0; at -= 1) w.int64(message.regionsId[at]!);
    w.varint(w.length - end);
    w.varint(34);
  }
  if (message.scatterFinishedPercentage !== undefined && message.scatterFinishedPercentage !== 0) {
    w.int64(message.scatterFinishedPercentage);
    w.varint(24);
  }
  if (message.splitFinishedPercentage !== undefined && message.splitFinishedPercentage !== 0) {
    w.int64(message.splitFinishedPercentage);
    w.varint(16);
  }
  if (message.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const SplitAndScatterRegionsResponseCodec: Codec<SplitAndScatterRegionsResponse, SplitAndScatterRegionsResponseInit> = {
  write: writeSplitAndScatterRegionsResponse,
  read: (r) => readSplitAndScatterRegionsResponse(r, newSplitAndScatterRegionsResponse()),
};
export const encodeSplitAndScatterRegionsResponse = (message: SplitAndScatterRegionsResponseInit): Uint8Array => encode(SplitAndScatterRegionsResponseCodec, message);
export const decodeSplitAndScatterRegionsResponse = (bytes: Uint8Array): SplitAndScatterRegionsResponse => decode(SplitAndScatterRegionsResponseCodec, bytes);
