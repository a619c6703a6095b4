// Made by packages/protobuf/tools/generate.ts from proto/. Not edited by hand.
import { EMPTY_BYTES, type Int64 } from '@engram/core';
import { type Codec, decode, encode, type Init, type Reader, REQUEST_FIELDS_MAX, type Writer } from '@engram/protobuf';
import * as authpb from './authpb.ts';
import * as mvccpb from './mvccpb.ts';

export const RangeRequestSortOrder = { NONE: 0, ASCEND: 1, DESCEND: 2 } as const;

export const RangeRequestSortTarget = { KEY: 0, VERSION: 1, CREATE: 2, MOD: 3, VALUE: 4 } as const;

export const CompareCompareResult = { EQUAL: 0, GREATER: 1, LESS: 2, NOT_EQUAL: 3 } as const;

export const CompareCompareTarget = { VERSION: 0, CREATE: 1, MOD: 2, VALUE: 3, LEASE: 4 } as const;

export const WatchCreateRequestFilterType = { NOPUT: 0, NODELETE: 1 } as const;

export const AlarmType = { NONE: 0, NOSPACE: 1, CORRUPT: 2 } as const;

export const AlarmRequestAlarmAction = { GET: 0, ACTIVATE: 1, DEACTIVATE: 2 } as const;

export const DowngradeRequestDowngradeAction = { VALIDATE: 0, ENABLE: 1, CANCEL: 2 } as const;

export interface ResponseHeader {
  clusterId: bigint;
  memberId: bigint;
  revision: number;
  raftTerm: number;
}
export type ResponseHeaderInit = Init<ResponseHeader>;

export const newResponseHeader = (): ResponseHeader => ({ clusterId: 0n, memberId: 0n, revision: 0, raftTerm: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readResponseHeader(r: Reader, message: ResponseHeader): ResponseHeader {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.clusterId = r.bigUint64();
        break;
      case 16:
        message.memberId = r.bigUint64();
        break;
      case 24:
        message.revision = r.int64();
        break;
      case 32:
        message.raftTerm = r.uint64();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeResponseHeader(w: Writer, message: ResponseHeaderInit): void {
  if (message.raftTerm !== undefined && message.raftTerm !== 0) {
    w.uint64(message.raftTerm);
    w.varint(32);
  }
  if (message.revision !== undefined && message.revision !== 0) {
    w.int64(message.revision);
    w.varint(24);
  }
  if (message.memberId !== undefined && message.memberId !== 0n) {
    w.bigint(message.memberId);
    w.varint(16);
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

export interface RangeRequest {
  key: Uint8Array;
  rangeEnd: Uint8Array;
  limit: number;
  revision: number;
  sortOrder: number;
  sortTarget: number;
  serializable: boolean;
  keysOnly: boolean;
  countOnly: boolean;
  minModRevision: number;
  maxModRevision: number;
  minCreateRevision: number;
  maxCreateRevision: number;
}
export type RangeRequestInit = Init<RangeRequest>;

export const newRangeRequest = (): RangeRequest => ({ key: EMPTY_BYTES, rangeEnd: EMPTY_BYTES, limit: 0, revision: 0, sortOrder: 0, sortTarget: 0, serializable: false, keysOnly: false, countOnly: false, minModRevision: 0, maxModRevision: 0, minCreateRevision: 0, maxCreateRevision: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readRangeRequest(r: Reader, message: RangeRequest): RangeRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10:
        message.key = r.bytes();
        break;
      case 18:
        message.rangeEnd = r.bytes();
        break;
      case 24:
        message.limit = r.int64();
        break;
      case 32:
        message.revision = r.int64();
        break;
      case 40:
        message.sortOrder = r.int32();
        break;
      case 48:
        message.sortTarget = r.int32();
        break;
      case 56:
        message.serializable = r.bool();
        break;
      case 64:
        message.keysOnly = r.bool();
        break;
      case 72:
        message.countOnly = r.bool();
        break;
      case 80:
        message.minModRevision = r.int64();
        break;
      case 88:
        message.maxModRevision = r.int64();
        break;
      case 96:
        message.minCreateRevision = r.int64();
        break;
      case 104:
        message.maxCreateRevision = r.int64();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeRangeRequest(w: Writer, message: RangeRequestInit): void {
  if (message.maxCreateRevision !== undefined && message.maxCreateRevision !== 0) {
    w.int64(message.maxCreateRevision);
    w.varint(104);
  }
  if (message.minCreateRevision !== undefined && message.minCreateRevision !== 0) {
    w.int64(message.minCreateRevision);
    w.varint(96);
  }
  if (message.maxModRevision !== undefined && message.maxModRevision !== 0) {
    w.int64(message.maxModRevision);
    w.varint(88);
  }
  if (message.minModRevision !== undefined && message.minModRevision !== 0) {
    w.int64(message.minModRevision);
    w.varint(80);
  }
  if (message.countOnly === true) {
    w.varint(message.countOnly ? 1 : 0);
    w.varint(72);
  }
  if (message.keysOnly === true) {
    w.varint(message.keysOnly ? 1 : 0);
    w.varint(64);
  }
  if (message.serializable === true) {
    w.varint(message.serializable ? 1 : 0);
    w.varint(56);
  }
  if (message.sortTarget !== undefined && message.sortTarget !== 0) {
    w.int64(message.sortTarget);
    w.varint(48);
  }
  if (message.sortOrder !== undefined && message.sortOrder !== 0) {
    w.int64(message.sortOrder);
    w.varint(40);
  }
  if (message.revision !== undefined && message.revision !== 0) {
    w.int64(message.revision);
    w.varint(32);
  }
  if (message.limit !== undefined && message.limit !== 0) {
    w.int64(message.limit);
    w.varint(24);
  }
  if (message.rangeEnd !== undefined && message.rangeEnd.length > 0) {
    w.bytes(message.rangeEnd);
    w.varint(18);
  }
  if (message.key !== undefined && message.key.length > 0) {
    w.bytes(message.key);
    w.varint(10);
  }
}

export const RangeRequestCodec: Codec<RangeRequest, RangeRequestInit> = {
  write: writeRangeRequest,
  read: (r) => readRangeRequest(r, newRangeRequest()),
};
export const encodeRangeRequest = (message: RangeRequestInit): Uint8Array => encode(RangeRequestCodec, message);
export const decodeRangeRequest = (bytes: Uint8Array): RangeRequest => decode(RangeRequestCodec, bytes, REQUEST_FIELDS_MAX);

export interface RangeResponse {
  header: ResponseHeader | undefined;
  kvs: mvccpb.KeyValue[];
  more: boolean;
  count: number;
}
export type RangeResponseInit = Init<RangeResponse>;

export const newRangeResponse = (): RangeResponse => ({ header: undefined, kvs: [], more: false, count: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readRangeResponse(r: Reader, message: RangeResponse): RangeResponse {
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
        message.kvs.push(mvccpb.readKeyValue(r, mvccpb.newKeyValue()));
        r.leave(outer);
        break;
      }
      case 24:
        message.more = r.bool();
        break;
      case 32:
        message.count = r.int64();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeRangeResponse(w: Writer, message: RangeResponseInit): void {
  if (message.count !== undefined && message.count !== 0) {
    w.int64(message.count);
    w.varint(32);
  }
  if (message.more === true) {
    w.varint(message.more ? 1 : 0);
    w.varint(24);
  }
  if (message.kvs !== undefined && message.kvs.length > 0) {
    for (let at = message.kvs.length - 1; at >= 0; at -= 1) {
      const end = w.length;
      mvccpb.writeKeyValue(w, message.kvs[at]!);
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

export const RangeResponseCodec: Codec<RangeResponse, RangeResponseInit> = {
  write: writeRangeResponse,
  read: (r) => readRangeResponse(r, newRangeResponse()),
};
export const encodeRangeResponse = (message: RangeResponseInit): Uint8Array => encode(RangeResponseCodec, message);
export const decodeRangeResponse = (bytes: Uint8Array): RangeResponse => decode(RangeResponseCodec, bytes);

export interface PutRequest {
  key: Uint8Array;
  value: Uint8Array;
  lease: bigint;
  prevKv: boolean;
  ignoreValue: boolean;
  ignoreLease: boolean;
}
export type PutRequestInit = Init<PutRequest>;

export const newPutRequest = (): PutRequest => ({ key: EMPTY_BYTES, value: EMPTY_BYTES, lease: 0n, prevKv: false, ignoreValue: false, ignoreLease: false, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readPutRequest(r: Reader, message: PutRequest): PutRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10:
        message.key = r.bytes();
        break;
      case 18:
        message.value = r.bytes();
        break;
      case 24:
        message.lease = r.bigInt64();
        break;
      case 32:
        message.prevKv = r.bool();
        break;
      case 40:
        message.ignoreValue = r.bool();
        break;
      case 48:
        message.ignoreLease = r.bool();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writePutRequest(w: Writer, message: PutRequestInit): void {
  if (message.ignoreLease === true) {
    w.varint(message.ignoreLease ? 1 : 0);
    w.varint(48);
  }
  if (message.ignoreValue === true) {
    w.varint(message.ignoreValue ? 1 : 0);
    w.varint(40);
  }
  if (message.prevKv === true) {
    w.varint(message.prevKv ? 1 : 0);
    w.varint(32);
  }
  if (message.lease !== undefined && message.lease !== 0n) {
    w.bigint(message.lease);
    w.varint(24);
  }
  if (message.value !== undefined && message.value.length > 0) {
    w.bytes(message.value);
    w.varint(18);
  }
  if (message.key !== undefined && message.key.length > 0) {
    w.bytes(message.key);
    w.varint(10);
  }
}

export const PutRequestCodec: Codec<PutRequest, PutRequestInit> = {
  write: writePutRequest,
  read: (r) => readPutRequest(r, newPutRequest()),
};
export const encodePutRequest = (message: PutRequestInit): Uint8Array => encode(PutRequestCodec, message);
export const decodePutRequest = (bytes: Uint8Array): PutRequest => decode(PutRequestCodec, bytes, REQUEST_FIELDS_MAX);

export interface PutResponse {
  header: ResponseHeader | undefined;
  prevKv: mvccpb.KeyValue | undefined;
}
export type PutResponseInit = Init<PutResponse>;

export const newPutResponse = (): PutResponse => ({ header: undefined, prevKv: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readPutResponse(r: Reader, message: PutResponse): PutResponse {
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
        message.prevKv = mvccpb.readKeyValue(r, message.prevKv ?? mvccpb.newKeyValue());
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
export function writePutResponse(w: Writer, message: PutResponseInit): void {
  if (message.prevKv !== undefined) {
    const end = w.length;
    mvccpb.writeKeyValue(w, message.prevKv);
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

export const PutResponseCodec: Codec<PutResponse, PutResponseInit> = {
  write: writePutResponse,
  read: (r) => readPutResponse(r, newPutResponse()),
};
export const encodePutResponse = (message: PutResponseInit): Uint8Array => encode(PutResponseCodec, message);
export const decodePutResponse = (bytes: Uint8Array): PutResponse => decode(PutResponseCodec, bytes);

export interface DeleteRangeRequest {
  key: Uint8Array;
  rangeEnd: Uint8Array;
  prevKv: boolean;
}
export type DeleteRangeRequestInit = Init<DeleteRangeRequest>;

export const newDeleteRangeRequest = (): DeleteRangeRequest => ({ key: EMPTY_BYTES, rangeEnd: EMPTY_BYTES, prevKv: false, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readDeleteRangeRequest(r: Reader, message: DeleteRangeRequest): DeleteRangeRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10:
        message.key = r.bytes();
        break;
      case 18:
        message.rangeEnd = r.bytes();
        break;
      case 24:
        message.prevKv = r.bool();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeDeleteRangeRequest(w: Writer, message: DeleteRangeRequestInit): void {
  if (message.prevKv === true) {
    w.varint(message.prevKv ? 1 : 0);
    w.varint(24);
  }
  if (message.rangeEnd !== undefined && message.rangeEnd.length > 0) {
    w.bytes(message.rangeEnd);
    w.varint(18);
  }
  if (message.key !== undefined && message.key.length > 0) {
    w.bytes(message.key);
    w.varint(10);
  }
}

export const DeleteRangeRequestCodec: Codec<DeleteRangeRequest, DeleteRangeRequestInit> = {
  write: writeDeleteRangeRequest,
  read: (r) => readDeleteRangeRequest(r, newDeleteRangeRequest()),
};
export const encodeDeleteRangeRequest = (message: DeleteRangeRequestInit): Uint8Array => encode(DeleteRangeRequestCodec, message);
export const decodeDeleteRangeRequest = (bytes: Uint8Array): DeleteRangeRequest => decode(DeleteRangeRequestCodec, bytes, REQUEST_FIELDS_MAX);

export interface DeleteRangeResponse {
  header: ResponseHeader | undefined;
  deleted: number;
  prevKvs: mvccpb.KeyValue[];
}
export type DeleteRangeResponseInit = Init<DeleteRangeResponse>;

export const newDeleteRangeResponse = (): DeleteRangeResponse => ({ header: undefined, deleted: 0, prevKvs: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readDeleteRangeResponse(r: Reader, message: DeleteRangeResponse): DeleteRangeResponse {
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
        message.deleted = r.int64();
        break;
      case 26: {
        const outer = r.enter();
        message.prevKvs.push(mvccpb.readKeyValue(r, mvccpb.newKeyValue()));
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
export function writeDeleteRangeResponse(w: Writer, message: DeleteRangeResponseInit): void {
  if (message.prevKvs !== undefined && message.prevKvs.length > 0) {
    for (let at = message.prevKvs.length - 1; at >= 0; at -= 1) {
      const end = w.length;
      mvccpb.writeKeyValue(w, message.prevKvs[at]!);
      w.varint(w.length - end);
      w.varint(26);
    }
  }
  if (message.deleted !== undefined && message.deleted !== 0) {
    w.int64(message.deleted);
    w.varint(16);
  }
  if (message.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const DeleteRangeResponseCodec: Codec<DeleteRangeResponse, DeleteRangeResponseInit> = {
  write: writeDeleteRangeResponse,
  read: (r) => readDeleteRangeResponse(r, newDeleteRangeResponse()),
};
export const encodeDeleteRangeResponse = (message: DeleteRangeResponseInit): Uint8Array => encode(DeleteRangeResponseCodec, message);
export const decodeDeleteRangeResponse = (bytes: Uint8Array): DeleteRangeResponse => decode(DeleteRangeResponseCodec, bytes);

export interface RequestOp {
  requestRange: RangeRequest | undefined;
  requestPut: PutRequest | undefined;
  requestDeleteRange: DeleteRangeRequest | undefined;
  requestTxn: TxnRequest | undefined;
}
export type RequestOpInit = Init<RequestOp>;

export const newRequestOp = (): RequestOp => ({ requestRange: undefined, requestPut: undefined, requestDeleteRange: undefined, requestTxn: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readRequestOp(r: Reader, message: RequestOp): RequestOp {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.requestRange = readRangeRequest(r, message.requestRange ?? newRangeRequest());
        r.leave(outer);
        message.requestPut = undefined;
        message.requestDeleteRange = undefined;
        message.requestTxn = undefined;
        break;
      }
      case 18: {
        const outer = r.enter();
        message.requestPut = readPutRequest(r, message.requestPut ?? newPutRequest());
        r.leave(outer);
        message.requestRange = undefined;
        message.requestDeleteRange = undefined;
        message.requestTxn = undefined;
        break;
      }
      case 26: {
        const outer = r.enter();
        message.requestDeleteRange = readDeleteRangeRequest(r, message.requestDeleteRange ?? newDeleteRangeRequest());
        r.leave(outer);
        message.requestRange = undefined;
        message.requestPut = undefined;
        message.requestTxn = undefined;
        break;
      }
      case 34: {
        const outer = r.enter();
        message.requestTxn = readTxnRequest(r, message.requestTxn ?? newTxnRequest());
        r.leave(outer);
        message.requestRange = undefined;
        message.requestPut = undefined;
        message.requestDeleteRange = undefined;
        break;
      }
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeRequestOp(w: Writer, message: RequestOpInit): void {
  if (message.requestTxn !== undefined) {
    const end = w.length;
    writeTxnRequest(w, message.requestTxn);
    w.varint(w.length - end);
    w.varint(34);
  }
  if (message.requestDeleteRange !== undefined) {
    const end = w.length;
    writeDeleteRangeRequest(w, message.requestDeleteRange);
    w.varint(w.length - end);
    w.varint(26);
  }
  if (message.requestPut !== undefined) {
    const end = w.length;
    writePutRequest(w, message.requestPut);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (message.requestRange !== undefined) {
    const end = w.length;
    writeRangeRequest(w, message.requestRange);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const RequestOpCodec: Codec<RequestOp, RequestOpInit> = {
  write: writeRequestOp,
  read: (r) => readRequestOp(r, newRequestOp()),
};
export const encodeRequestOp = (message: RequestOpInit): Uint8Array => encode(RequestOpCodec, message);
export const decodeRequestOp = (bytes: Uint8Array): RequestOp => decode(RequestOpCodec, bytes);

export interface ResponseOp {
  responseRange: RangeResponse | undefined;
  responsePut: PutResponse | undefined;
  responseDeleteRange: DeleteRangeResponse | undefined;
  responseTxn: TxnResponse | undefined;
}
export type ResponseOpInit = Init<ResponseOp>;

export const newResponseOp = (): ResponseOp => ({ responseRange: undefined, responsePut: undefined, responseDeleteRange: undefined, responseTxn: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readResponseOp(r: Reader, message: ResponseOp): ResponseOp {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.responseRange = readRangeResponse(r, message.responseRange ?? newRangeResponse());
        r.leave(outer);
        message.responsePut = undefined;
        message.responseDeleteRange = undefined;
        message.responseTxn = undefined;
        break;
      }
      case 18: {
        const outer = r.enter();
        message.responsePut = readPutResponse(r, message.responsePut ?? newPutResponse());
        r.leave(outer);
        message.responseRange = undefined;
        message.responseDeleteRange = undefined;
        message.responseTxn = undefined;
        break;
      }
      case 26: {
        const outer = r.enter();
        message.responseDeleteRange = readDeleteRangeResponse(r, message.responseDeleteRange ?? newDeleteRangeResponse());
        r.leave(outer);
        message.responseRange = undefined;
        message.responsePut = undefined;
        message.responseTxn = undefined;
        break;
      }
      case 34: {
        const outer = r.enter();
        message.responseTxn = readTxnResponse(r, message.responseTxn ?? newTxnResponse());
        r.leave(outer);
        message.responseRange = undefined;
        message.responsePut = undefined;
        message.responseDeleteRange = undefined;
        break;
      }
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeResponseOp(w: Writer, message: ResponseOpInit): void {
  if (message.responseTxn !== undefined) {
    const end = w.length;
    writeTxnResponse(w, message.responseTxn);
    w.varint(w.length - end);
    w.varint(34);
  }
  if (message.responseDeleteRange !== undefined) {
    const end = w.length;
    writeDeleteRangeResponse(w, message.responseDeleteRange);
    w.varint(w.length - end);
    w.varint(26);
  }
  if (message.responsePut !== undefined) {
    const end = w.length;
    writePutResponse(w, message.responsePut);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (message.responseRange !== undefined) {
    const end = w.length;
    writeRangeResponse(w, message.responseRange);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const ResponseOpCodec: Codec<ResponseOp, ResponseOpInit> = {
  write: writeResponseOp,
  read: (r) => readResponseOp(r, newResponseOp()),
};
export const encodeResponseOp = (message: ResponseOpInit): Uint8Array => encode(ResponseOpCodec, message);
export const decodeResponseOp = (bytes: Uint8Array): ResponseOp => decode(ResponseOpCodec, bytes);

export interface Compare {
  result: number;
  target: number;
  key: Uint8Array;
  version: number | undefined;
  createRevision: number | undefined;
  modRevision: number | undefined;
  value: Uint8Array | undefined;
  lease: bigint | undefined;
  rangeEnd: Uint8Array;
}
export type CompareInit = Init<Compare>;

export const newCompare = (): Compare => ({ result: 0, target: 0, key: EMPTY_BYTES, version: undefined, createRevision: undefined, modRevision: undefined, value: undefined, lease: undefined, rangeEnd: EMPTY_BYTES, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readCompare(r: Reader, message: Compare): Compare {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.result = r.int32();
        break;
      case 16:
        message.target = r.int32();
        break;
      case 26:
        message.key = r.bytes();
        break;
      case 32:
        message.version = r.int64();
        message.createRevision = undefined;
        message.modRevision = undefined;
        message.value = undefined;
        message.lease = undefined;
        break;
      case 40:
        message.createRevision = r.int64();
        message.version = undefined;
        message.modRevision = undefined;
        message.value = undefined;
        message.lease = undefined;
        break;
      case 48:
        message.modRevision = r.int64();
        message.version = undefined;
        message.createRevision = undefined;
        message.value = undefined;
        message.lease = undefined;
        break;
      case 58:
        message.value = r.bytes();
        message.version = undefined;
        message.createRevision = undefined;
        message.modRevision = undefined;
        message.lease = undefined;
        break;
      case 64:
        message.lease = r.bigInt64();
        message.version = undefined;
        message.createRevision = undefined;
        message.modRevision = undefined;
        message.value = undefined;
        break;
      case 514:
        message.rangeEnd = r.bytes();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeCompare(w: Writer, message: CompareInit): void {
  if (message.rangeEnd !== undefined && message.rangeEnd.length > 0) {
    w.bytes(message.rangeEnd);
    w.varint(514);
  }
  if (message.lease !== undefined) {
    w.bigint(message.lease);
    w.varint(64);
  }
  if (message.value !== undefined) {
    w.bytes(message.value);
    w.varint(58);
  }
  if (message.modRevision !== undefined) {
    w.int64(message.modRevision);
    w.varint(48);
  }
  if (message.createRevision !== undefined) {
    w.int64(message.createRevision);
    w.varint(40);
  }
  if (message.version !== undefined) {
    w.int64(message.version);
    w.varint(32);
  }
  if (message.key !== undefined && message.key.length > 0) {
    w.bytes(message.key);
    w.varint(26);
  }
  if (message.target !== undefined && message.target !== 0) {
    w.int64(message.target);
    w.varint(16);
  }
  if (message.result !== undefined && message.result !== 0) {
    w.int64(message.result);
    w.varint(8);
  }
}

export const CompareCodec: Codec<Compare, CompareInit> = {
  write: writeCompare,
  read: (r) => readCompare(r, newCompare()),
};
export const encodeCompare = (message: CompareInit): Uint8Array => encode(CompareCodec, message);
export const decodeCompare = (bytes: Uint8Array): Compare => decode(CompareCodec, bytes);

export interface TxnRequest {
  compare: Compare[];
  success: RequestOp[];
  failure: RequestOp[];
}
export type TxnRequestInit = Init<TxnRequest>;

export const newTxnRequest = (): TxnRequest => ({ compare: [], success: [], failure: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readTxnRequest(r: Reader, message: TxnRequest): TxnRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.compare.push(readCompare(r, newCompare()));
        r.leave(outer);
        break;
      }
      case 18: {
        const outer = r.enter();
        message.success.push(readRequestOp(r, newRequestOp()));
        r.leave(outer);
        break;
      }
      case 26: {
        const outer = r.enter();
        message.failure.push(readRequestOp(r, newRequestOp()));
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
export function writeTxnRequest(w: Writer, message: TxnRequestInit): void {
  if (message.failure !== undefined && message.failure.length > 0) {
    for (let at = message.failure.length - 1; at >= 0; at -= 1) {
      const end = w.length;
      writeRequestOp(w, message.failure[at]!);
      w.varint(w.length - end);
      w.varint(26);
    }
  }
  if (message.success !== undefined && message.success.length > 0) {
    for (let at = message.success.length - 1; at >= 0; at -= 1) {
      const end = w.length;
      writeRequestOp(w, message.success[at]!);
      w.varint(w.length - end);
      w.varint(18);
    }
  }
  if (message.compare !== undefined && message.compare.length > 0) {
    for (let at = message.compare.length - 1; at >= 0; at -= 1) {
      const end = w.length;
      writeCompare(w, message.compare[at]!);
      w.varint(w.length - end);
      w.varint(10);
    }
  }
}

export const TxnRequestCodec: Codec<TxnRequest, TxnRequestInit> = {
  write: writeTxnRequest,
  read: (r) => readTxnRequest(r, newTxnRequest()),
};
export const encodeTxnRequest = (message: TxnRequestInit): Uint8Array => encode(TxnRequestCodec, message);
export const decodeTxnRequest = (bytes: Uint8Array): TxnRequest => decode(TxnRequestCodec, bytes, REQUEST_FIELDS_MAX);

export interface TxnResponse {
  header: ResponseHeader | undefined;
  succeeded: boolean;
  responses: ResponseOp[];
}
export type TxnResponseInit = Init<TxnResponse>;

export const newTxnResponse = (): TxnResponse => ({ header: undefined, succeeded: false, responses: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readTxnResponse(r: Reader, message: TxnResponse): TxnResponse {
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
        message.succeeded = r.bool();
        break;
      case 26: {
        const outer = r.enter();
        message.responses.push(readResponseOp(r, newResponseOp()));
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
export function writeTxnResponse(w: Writer, message: TxnResponseInit): void {
  if (message.responses !== undefined && message.responses.length > 0) {
    for (let at = message.responses.length - 1; at >= 0; at -= 1) {
      const end = w.length;
      writeResponseOp(w, message.responses[at]!);
      w.varint(w.length - end);
      w.varint(26);
    }
  }
  if (message.succeeded === true) {
    w.varint(message.succeeded ? 1 : 0);
    w.varint(16);
  }
  if (message.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const TxnResponseCodec: Codec<TxnResponse, TxnResponseInit> = {
  write: writeTxnResponse,
  read: (r) => readTxnResponse(r, newTxnResponse()),
};
export const encodeTxnResponse = (message: TxnResponseInit): Uint8Array => encode(TxnResponseCodec, message);
export const decodeTxnResponse = (bytes: Uint8Array): TxnResponse => decode(TxnResponseCodec, bytes);

export interface CompactionRequest {
  revision: number;
  physical: boolean;
}
export type CompactionRequestInit = Init<CompactionRequest>;

export const newCompactionRequest = (): CompactionRequest => ({ revision: 0, physical: false, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readCompactionRequest(r: Reader, message: CompactionRequest): CompactionRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.revision = r.int64();
        break;
      case 16:
        message.physical = r.bool();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeCompactionRequest(w: Writer, message: CompactionRequestInit): void {
  if (message.physical === true) {
    w.varint(message.physical ? 1 : 0);
    w.varint(16);
  }
  if (message.revision !== undefined && message.revision !== 0) {
    w.int64(message.revision);
    w.varint(8);
  }
}

export const CompactionRequestCodec: Codec<CompactionRequest, CompactionRequestInit> = {
  write: writeCompactionRequest,
  read: (r) => readCompactionRequest(r, newCompactionRequest()),
};
export const encodeCompactionRequest = (message: CompactionRequestInit): Uint8Array => encode(CompactionRequestCodec, message);
export const decodeCompactionRequest = (bytes: Uint8Array): CompactionRequest => decode(CompactionRequestCodec, bytes, REQUEST_FIELDS_MAX);

export interface CompactionResponse {
  header: ResponseHeader | undefined;
}
export type CompactionResponseInit = Init<CompactionResponse>;

export const newCompactionResponse = (): CompactionResponse => ({ header: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readCompactionResponse(r: Reader, message: CompactionResponse): CompactionResponse {
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
export function writeCompactionResponse(w: Writer, message: CompactionResponseInit): void {
  if (message.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const CompactionResponseCodec: Codec<CompactionResponse, CompactionResponseInit> = {
  write: writeCompactionResponse,
  read: (r) => readCompactionResponse(r, newCompactionResponse()),
};
export const encodeCompactionResponse = (message: CompactionResponseInit): Uint8Array => encode(CompactionResponseCodec, message);
export const decodeCompactionResponse = (bytes: Uint8Array): CompactionResponse => decode(CompactionResponseCodec, bytes);

export interface HashRequest {
}
export type HashRequestInit = Init<HashRequest>;

export const newHashRequest = (): HashRequest => ({ });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readHashRequest(r: Reader, message: HashRequest): HashRequest {
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
export function writeHashRequest(_w: Writer, _message: HashRequestInit): void {
}

export const HashRequestCodec: Codec<HashRequest, HashRequestInit> = {
  write: writeHashRequest,
  read: (r) => readHashRequest(r, newHashRequest()),
};
export const encodeHashRequest = (message: HashRequestInit): Uint8Array => encode(HashRequestCodec, message);
export const decodeHashRequest = (bytes: Uint8Array): HashRequest => decode(HashRequestCodec, bytes, REQUEST_FIELDS_MAX);

export interface HashKVRequest {
  revision: number;
}
export type HashKVRequestInit = Init<HashKVRequest>;

export const newHashKVRequest = (): HashKVRequest => ({ revision: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readHashKVRequest(r: Reader, message: HashKVRequest): HashKVRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.revision = r.int64();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeHashKVRequest(w: Writer, message: HashKVRequestInit): void {
  if (message.revision !== undefined && message.revision !== 0) {
    w.int64(message.revision);
    w.varint(8);
  }
}

export const HashKVRequestCodec: Codec<HashKVRequest, HashKVRequestInit> = {
  write: writeHashKVRequest,
  read: (r) => readHashKVRequest(r, newHashKVRequest()),
};
export const encodeHashKVRequest = (message: HashKVRequestInit): Uint8Array => encode(HashKVRequestCodec, message);
export const decodeHashKVRequest = (bytes: Uint8Array): HashKVRequest => decode(HashKVRequestCodec, bytes, REQUEST_FIELDS_MAX);

export interface HashKVResponse {
  header: ResponseHeader | undefined;
  hash: number;
  compactRevision: number;
  hashRevision: number;
}
export type HashKVResponseInit = Init<HashKVResponse>;

export const newHashKVResponse = (): HashKVResponse => ({ header: undefined, hash: 0, compactRevision: 0, hashRevision: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readHashKVResponse(r: Reader, message: HashKVResponse): HashKVResponse {
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
        message.hash = r.uint32();
        break;
      case 24:
        message.compactRevision = r.int64();
        break;
      case 32:
        message.hashRevision = r.int64();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeHashKVResponse(w: Writer, message: HashKVResponseInit): void {
  if (message.hashRevision !== undefined && message.hashRevision !== 0) {
    w.int64(message.hashRevision);
    w.varint(32);
  }
  if (message.compactRevision !== undefined && message.compactRevision !== 0) {
    w.int64(message.compactRevision);
    w.varint(24);
  }
  if (message.hash !== undefined && message.hash !== 0) {
    w.varint(message.hash);
    w.varint(16);
  }
  if (message.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const HashKVResponseCodec: Codec<HashKVResponse, HashKVResponseInit> = {
  write: writeHashKVResponse,
  read: (r) => readHashKVResponse(r, newHashKVResponse()),
};
export const encodeHashKVResponse = (message: HashKVResponseInit): Uint8Array => encode(HashKVResponseCodec, message);
export const decodeHashKVResponse = (bytes: Uint8Array): HashKVResponse => decode(HashKVResponseCodec, bytes);

export interface HashResponse {
  header: ResponseHeader | undefined;
  hash: number;
}
export type HashResponseInit = Init<HashResponse>;

export const newHashResponse = (): HashResponse => ({ header: undefined, hash: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readHashResponse(r: Reader, message: HashResponse): HashResponse {
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
        message.hash = r.uint32();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeHashResponse(w: Writer, message: HashResponseInit): void {
  if (message.hash !== undefined && message.hash !== 0) {
    w.varint(message.hash);
    w.varint(16);
  }
  if (message.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const HashResponseCodec: Codec<HashResponse, HashResponseInit> = {
  write: writeHashResponse,
  read: (r) => readHashResponse(r, newHashResponse()),
};
export const encodeHashResponse = (message: HashResponseInit): Uint8Array => encode(HashResponseCodec, message);
export const decodeHashResponse = (bytes: Uint8Array): HashResponse => decode(HashResponseCodec, bytes);

export interface SnapshotRequest {
}
export type SnapshotRequestInit = Init<SnapshotRequest>;

export const newSnapshotRequest = (): SnapshotRequest => ({ });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readSnapshotRequest(r: Reader, message: SnapshotRequest): SnapshotRequest {
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
export function writeSnapshotRequest(_w: Writer, _message: SnapshotRequestInit): void {
}

export const SnapshotRequestCodec: Codec<SnapshotRequest, SnapshotRequestInit> = {
  write: writeSnapshotRequest,
  read: (r) => readSnapshotRequest(r, newSnapshotRequest()),
};
export const encodeSnapshotRequest = (message: SnapshotRequestInit): Uint8Array => encode(SnapshotRequestCodec, message);
export const decodeSnapshotRequest = (bytes: Uint8Array): SnapshotRequest => decode(SnapshotRequestCodec, bytes, REQUEST_FIELDS_MAX);

export interface SnapshotResponse {
  header: ResponseHeader | undefined;
  remainingBytes: number;
  blob: Uint8Array;
  version: string;
}
export type SnapshotResponseInit = Init<SnapshotResponse>;

export const newSnapshotResponse = (): SnapshotResponse => ({ header: undefined, remainingBytes: 0, blob: EMPTY_BYTES, version: '', });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readSnapshotResponse(r: Reader, message: SnapshotResponse): SnapshotResponse {
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
        message.remainingBytes = r.uint64();
        break;
      case 26:
        message.blob = r.bytes();
        break;
      case 34:
        message.version = r.string();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeSnapshotResponse(w: Writer, message: SnapshotResponseInit): void {
  if (message.version !== undefined && message.version !== '') {
    w.string(message.version);
    w.varint(34);
  }
  if (message.blob !== undefined && message.blob.length > 0) {
    w.bytes(message.blob);
    w.varint(26);
  }
  if (message.remainingBytes !== undefined && message.remainingBytes !== 0) {
    w.uint64(message.remainingBytes);
    w.varint(16);
  }
  if (message.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const SnapshotResponseCodec: Codec<SnapshotResponse, SnapshotResponseInit> = {
  write: writeSnapshotResponse,
  read: (r) => readSnapshotResponse(r, newSnapshotResponse()),
};
export const encodeSnapshotResponse = (message: SnapshotResponseInit): Uint8Array => encode(SnapshotResponseCodec, message);
export const decodeSnapshotResponse = (bytes: Uint8Array): SnapshotResponse => decode(SnapshotResponseCodec, bytes);

export interface WatchRequest {
  createRequest: WatchCreateRequest | undefined;
  cancelRequest: WatchCancelRequest | undefined;
  progressRequest: WatchProgressRequest | undefined;
}
export type WatchRequestInit = Init<WatchRequest>;

export const newWatchRequest = (): WatchRequest => ({ createRequest: undefined, cancelRequest: undefined, progressRequest: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readWatchRequest(r: Reader, message: WatchRequest): WatchRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.createRequest = readWatchCreateRequest(r, message.createRequest ?? newWatchCreateRequest());
        r.leave(outer);
        message.cancelRequest = undefined;
        message.progressRequest = undefined;
        break;
      }
      case 18: {
        const outer = r.enter();
        message.cancelRequest = readWatchCancelRequest(r, message.cancelRequest ?? newWatchCancelRequest());
        r.leave(outer);
        message.createRequest = undefined;
        message.progressRequest = undefined;
        break;
      }
      case 26: {
        const outer = r.enter();
        message.progressRequest = readWatchProgressRequest(r, message.progressRequest ?? newWatchProgressRequest());
        r.leave(outer);
        message.createRequest = undefined;
        message.cancelRequest = undefined;
        break;
      }
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeWatchRequest(w: Writer, message: WatchRequestInit): void {
  if (message.progressRequest !== undefined) {
    const end = w.length;
    writeWatchProgressRequest(w, message.progressRequest);
    w.varint(w.length - end);
    w.varint(26);
  }
  if (message.cancelRequest !== undefined) {
    const end = w.length;
    writeWatchCancelRequest(w, message.cancelRequest);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (message.createRequest !== undefined) {
    const end = w.length;
    writeWatchCreateRequest(w, message.createRequest);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const WatchRequestCodec: Codec<WatchRequest, WatchRequestInit> = {
  write: writeWatchRequest,
  read: (r) => readWatchRequest(r, newWatchRequest()),
};
export const encodeWatchRequest = (message: WatchRequestInit): Uint8Array => encode(WatchRequestCodec, message);
export const decodeWatchRequest = (bytes: Uint8Array): WatchRequest => decode(WatchRequestCodec, bytes, REQUEST_FIELDS_MAX);

export interface WatchCreateRequest {
  key: Uint8Array;
  rangeEnd: Uint8Array;
  startRevision: number;
  progressNotify: boolean;
  filters: number[];
  prevKv: boolean;
  watchId: Int64;
  fragment: boolean;
}
export type WatchCreateRequestInit = Init<WatchCreateRequest>;

export const newWatchCreateRequest = (): WatchCreateRequest => ({ key: EMPTY_BYTES, rangeEnd: EMPTY_BYTES, startRevision: 0, progressNotify: false, filters: [], prevKv: false, watchId: 0, fragment: false, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readWatchCreateRequest(r: Reader, message: WatchCreateRequest): WatchCreateRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10:
        message.key = r.bytes();
        break;
      case 18:
        message.rangeEnd = r.bytes();
        break;
      case 24:
        message.startRevision = r.int64();
        break;
      case 32:
        message.progressNotify = r.bool();
        break;
      case 40:
        message.filters.push(r.int32());
        break;
      case 42: {
        const outer = r.enterList();
        while (r.more()) message.filters.push(r.int32());
        r.leave(outer);
        break;
      }
      case 48:
        message.prevKv = r.bool();
        break;
      case 56:
        message.watchId = r.exactInt64();
        break;
      case 64:
        message.fragment = r.bool();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeWatchCreateRequest(w: Writer, message: WatchCreateRequestInit): void {
  if (message.fragment === true) {
    w.varint(message.fragment ? 1 : 0);
    w.varint(64);
  }
  if (message.watchId !== undefined && message.watchId !== 0) {
    w.exactInt64(message.watchId);
    w.varint(56);
  }
  if (message.prevKv === true) {
    w.varint(message.prevKv ? 1 : 0);
    w.varint(48);
  }
  if (message.filters !== undefined && message.filters.length > 0) {
    const end = w.length;
    for (let at = message.filters.length - 1; at >= 0; at -= 1) w.int64(message.filters[at]!);
    w.varint(w.length - end);
    w.varint(42);
  }
  if (message.progressNotify === true) {
    w.varint(message.progressNotify ? 1 : 0);
    w.varint(32);
  }
  if (message.startRevision !== undefined && message.startRevision !== 0) {
    w.int64(message.startRevision);
    w.varint(24);
  }
  if (message.rangeEnd !== undefined && message.rangeEnd.length > 0) {
    w.bytes(message.rangeEnd);
    w.varint(18);
  }
  if (message.key !== undefined && message.key.length > 0) {
    w.bytes(message.key);
    w.varint(10);
  }
}

export const WatchCreateRequestCodec: Codec<WatchCreateRequest, WatchCreateRequestInit> = {
  write: writeWatchCreateRequest,
  read: (r) => readWatchCreateRequest(r, newWatchCreateRequest()),
};
export const encodeWatchCreateRequest = (message: WatchCreateRequestInit): Uint8Array => encode(WatchCreateRequestCodec, message);
export const decodeWatchCreateRequest = (bytes: Uint8Array): WatchCreateRequest => decode(WatchCreateRequestCodec, bytes, REQUEST_FIELDS_MAX);

export interface WatchCancelRequest {
  watchId: Int64;
}
export type WatchCancelRequestInit = Init<WatchCancelRequest>;

export const newWatchCancelRequest = (): WatchCancelRequest => ({ watchId: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readWatchCancelRequest(r: Reader, message: WatchCancelRequest): WatchCancelRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.watchId = r.exactInt64();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeWatchCancelRequest(w: Writer, message: WatchCancelRequestInit): void {
  if (message.watchId !== undefined && message.watchId !== 0) {
    w.exactInt64(message.watchId);
    w.varint(8);
  }
}

export const WatchCancelRequestCodec: Codec<WatchCancelRequest, WatchCancelRequestInit> = {
  write: writeWatchCancelRequest,
  read: (r) => readWatchCancelRequest(r, newWatchCancelRequest()),
};
export const encodeWatchCancelRequest = (message: WatchCancelRequestInit): Uint8Array => encode(WatchCancelRequestCodec, message);
export const decodeWatchCancelRequest = (bytes: Uint8Array): WatchCancelRequest => decode(WatchCancelRequestCodec, bytes, REQUEST_FIELDS_MAX);

export interface WatchProgressRequest {
}
export type WatchProgressRequestInit = Init<WatchProgressRequest>;

export const newWatchProgressRequest = (): WatchProgressRequest => ({ });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readWatchProgressRequest(r: Reader, message: WatchProgressRequest): WatchProgressRequest {
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
export function writeWatchProgressRequest(_w: Writer, _message: WatchProgressRequestInit): void {
}

export const WatchProgressRequestCodec: Codec<WatchProgressRequest, WatchProgressRequestInit> = {
  write: writeWatchProgressRequest,
  read: (r) => readWatchProgressRequest(r, newWatchProgressRequest()),
};
export const encodeWatchProgressRequest = (message: WatchProgressRequestInit): Uint8Array => encode(WatchProgressRequestCodec, message);
export const decodeWatchProgressRequest = (bytes: Uint8Array): WatchProgressRequest => decode(WatchProgressRequestCodec, bytes, REQUEST_FIELDS_MAX);

export interface WatchResponse {
  header: ResponseHeader | undefined;
  watchId: Int64;
  created: boolean;
  canceled: boolean;
  compactRevision: number;
  cancelReason: string;
  fragment: boolean;
  events: mvccpb.Event[];
}
export type WatchResponseInit = Init<WatchResponse>;

export const newWatchResponse = (): WatchResponse => ({ header: undefined, watchId: 0, created: false, canceled: false, compactRevision: 0, cancelReason: '', fragment: false, events: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readWatchResponse(r: Reader, message: WatchResponse): WatchResponse {
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
        message.watchId = r.exactInt64();
        break;
      case 24:
        message.created = r.bool();
        break;
      case 32:
        message.canceled = r.bool();
        break;
      case 40:
        message.compactRevision = r.int64();
        break;
      case 50:
        message.cancelReason = r.string();
        break;
      case 56:
        message.fragment = r.bool();
        break;
      case 90: {
        const outer = r.enter();
        message.events.push(mvccpb.readEvent(r, mvccpb.newEvent()));
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
export function writeWatchResponse(w: Writer, message: WatchResponseInit): void {
  if (message.events !== undefined && message.events.length > 0) {
    for (let at = message.events.length - 1; at >= 0; at -= 1) {
      const end = w.length;
      mvccpb.writeEvent(w, message.events[at]!);
      w.varint(w.length - end);
      w.varint(90);
    }
  }
  if (message.fragment === true) {
    w.varint(message.fragment ? 1 : 0);
    w.varint(56);
  }
  if (message.cancelReason !== undefined && message.cancelReason !== '') {
    w.string(message.cancelReason);
    w.varint(50);
  }
  if (message.compactRevision !== undefined && message.compactRevision !== 0) {
    w.int64(message.compactRevision);
    w.varint(40);
  }
  if (message.canceled === true) {
    w.varint(message.canceled ? 1 : 0);
    w.varint(32);
  }
  if (message.created === true) {
    w.varint(message.created ? 1 : 0);
    w.varint(24);
  }
  if (message.watchId !== undefined && message.watchId !== 0) {
    w.exactInt64(message.watchId);
    w.varint(16);
  }
  if (message.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const WatchResponseCodec: Codec<WatchResponse, WatchResponseInit> = {
  write: writeWatchResponse,
  read: (r) => readWatchResponse(r, newWatchResponse()),
};
export const encodeWatchResponse = (message: WatchResponseInit): Uint8Array => encode(WatchResponseCodec, message);
export const decodeWatchResponse = (bytes: Uint8Array): WatchResponse => decode(WatchResponseCodec, bytes);

export interface LeaseGrantRequest {
  TTL: number;
  ID: bigint;
}
export type LeaseGrantRequestInit = Init<LeaseGrantRequest>;

export const newLeaseGrantRequest = (): LeaseGrantRequest => ({ TTL: 0, ID: 0n, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readLeaseGrantRequest(r: Reader, message: LeaseGrantRequest): LeaseGrantRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.TTL = r.int64();
        break;
      case 16:
        message.ID = r.bigInt64();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeLeaseGrantRequest(w: Writer, message: LeaseGrantRequestInit): void {
  if (message.ID !== undefined && message.ID !== 0n) {
    w.bigint(message.ID);
    w.varint(16);
  }
  if (message.TTL !== undefined && message.TTL !== 0) {
    w.int64(message.TTL);
    w.varint(8);
  }
}

export const LeaseGrantRequestCodec: Codec<LeaseGrantRequest, LeaseGrantRequestInit> = {
  write: writeLeaseGrantRequest,
  read: (r) => readLeaseGrantRequest(r, newLeaseGrantRequest()),
};
export const encodeLeaseGrantRequest = (message: LeaseGrantRequestInit): Uint8Array => encode(LeaseGrantRequestCodec, message);
export const decodeLeaseGrantRequest = (bytes: Uint8Array): LeaseGrantRequest => decode(LeaseGrantRequestCodec, bytes, REQUEST_FIELDS_MAX);

export interface LeaseGrantResponse {
  header: ResponseHeader | undefined;
  ID: bigint;
  TTL: number;
  error: string;
}
export type LeaseGrantResponseInit = Init<LeaseGrantResponse>;

export const newLeaseGrantResponse = (): LeaseGrantResponse => ({ header: undefined, ID: 0n, TTL: 0, error: '', });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readLeaseGrantResponse(r: Reader, message: LeaseGrantResponse): LeaseGrantResponse {
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
        message.ID = r.bigInt64();
        break;
      case 24:
        message.TTL = r.int64();
        break;
      case 34:
        message.error = r.string();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeLeaseGrantResponse(w: Writer, message: LeaseGrantResponseInit): void {
  if (message.error !== undefined && message.error !== '') {
    w.string(message.error);
    w.varint(34);
  }
  if (message.TTL !== undefined && message.TTL !== 0) {
    w.int64(message.TTL);
    w.varint(24);
  }
  if (message.ID !== undefined && message.ID !== 0n) {
    w.bigint(message.ID);
    w.varint(16);
  }
  if (message.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const LeaseGrantResponseCodec: Codec<LeaseGrantResponse, LeaseGrantResponseInit> = {
  write: writeLeaseGrantResponse,
  read: (r) => readLeaseGrantResponse(r, newLeaseGrantResponse()),
};
export const encodeLeaseGrantResponse = (message: LeaseGrantResponseInit): Uint8Array => encode(LeaseGrantResponseCodec, message);
export const decodeLeaseGrantResponse = (bytes: Uint8Array): LeaseGrantResponse => decode(LeaseGrantResponseCodec, bytes);

export interface LeaseRevokeRequest {
  ID: bigint;
}
export type LeaseRevokeRequestInit = Init<LeaseRevokeRequest>;

export const newLeaseRevokeRequest = (): LeaseRevokeRequest => ({ ID: 0n, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readLeaseRevokeRequest(r: Reader, message: LeaseRevokeRequest): LeaseRevokeRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.ID = r.bigInt64();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeLeaseRevokeRequest(w: Writer, message: LeaseRevokeRequestInit): void {
  if (message.ID !== undefined && message.ID !== 0n) {
    w.bigint(message.ID);
    w.varint(8);
  }
}

export const LeaseRevokeRequestCodec: Codec<LeaseRevokeRequest, LeaseRevokeRequestInit> = {
  write: writeLeaseRevokeRequest,
  read: (r) => readLeaseRevokeRequest(r, newLeaseRevokeRequest()),
};
export const encodeLeaseRevokeRequest = (message: LeaseRevokeRequestInit): Uint8Array => encode(LeaseRevokeRequestCodec, message);
export const decodeLeaseRevokeRequest = (bytes: Uint8Array): LeaseRevokeRequest => decode(LeaseRevokeRequestCodec, bytes, REQUEST_FIELDS_MAX);

export interface LeaseRevokeResponse {
  header: ResponseHeader | undefined;
}
export type LeaseRevokeResponseInit = Init<LeaseRevokeResponse>;

export const newLeaseRevokeResponse = (): LeaseRevokeResponse => ({ header: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readLeaseRevokeResponse(r: Reader, message: LeaseRevokeResponse): LeaseRevokeResponse {
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
export function writeLeaseRevokeResponse(w: Writer, message: LeaseRevokeResponseInit): void {
  if (message.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const LeaseRevokeResponseCodec: Codec<LeaseRevokeResponse, LeaseRevokeResponseInit> = {
  write: writeLeaseRevokeResponse,
  read: (r) => readLeaseRevokeResponse(r, newLeaseRevokeResponse()),
};
export const encodeLeaseRevokeResponse = (message: LeaseRevokeResponseInit): Uint8Array => encode(LeaseRevokeResponseCodec, message);
export const decodeLeaseRevokeResponse = (bytes: Uint8Array): LeaseRevokeResponse => decode(LeaseRevokeResponseCodec, bytes);

export interface LeaseCheckpoint {
  ID: bigint;
  remainingTTL: number;
}
export type LeaseCheckpointInit = Init<LeaseCheckpoint>;

export const newLeaseCheckpoint = (): LeaseCheckpoint => ({ ID: 0n, remainingTTL: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readLeaseCheckpoint(r: Reader, message: LeaseCheckpoint): LeaseCheckpoint {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.ID = r.bigInt64();
        break;
      case 16:
        message.remainingTTL = r.int64();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeLeaseCheckpoint(w: Writer, message: LeaseCheckpointInit): void {
  if (message.remainingTTL !== undefined && message.remainingTTL !== 0) {
    w.int64(message.remainingTTL);
    w.varint(16);
  }
  if (message.ID !== undefined && message.ID !== 0n) {
    w.bigint(message.ID);
    w.varint(8);
  }
}

export const LeaseCheckpointCodec: Codec<LeaseCheckpoint, LeaseCheckpointInit> = {
  write: writeLeaseCheckpoint,
  read: (r) => readLeaseCheckpoint(r, newLeaseCheckpoint()),
};
export const encodeLeaseCheckpoint = (message: LeaseCheckpointInit): Uint8Array => encode(LeaseCheckpointCodec, message);
export const decodeLeaseCheckpoint = (bytes: Uint8Array): LeaseCheckpoint => decode(LeaseCheckpointCodec, bytes);

export interface LeaseCheckpointRequest {
  checkpoints: LeaseCheckpoint[];
}
export type LeaseCheckpointRequestInit = Init<LeaseCheckpointRequest>;

export const newLeaseCheckpointRequest = (): LeaseCheckpointRequest => ({ checkpoints: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readLeaseCheckpointRequest(r: Reader, message: LeaseCheckpointRequest): LeaseCheckpointRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.checkpoints.push(readLeaseCheckpoint(r, newLeaseCheckpoint()));
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
export function writeLeaseCheckpointRequest(w: Writer, message: LeaseCheckpointRequestInit): void {
  if (message.checkpoints !== undefined && message.checkpoints.length > 0) {
    for (let at = message.checkpoints.length - 1; at >= 0; at -= 1) {
      const end = w.length;
      writeLeaseCheckpoint(w, message.checkpoints[at]!);
      w.varint(w.length - end);
      w.varint(10);
    }
  }
}

export const LeaseCheckpointRequestCodec: Codec<LeaseCheckpointRequest, LeaseCheckpointRequestInit> = {
  write: writeLeaseCheckpointRequest,
  read: (r) => readLeaseCheckpointRequest(r, newLeaseCheckpointRequest()),
};
export const encodeLeaseCheckpointRequest = (message: LeaseCheckpointRequestInit): Uint8Array => encode(LeaseCheckpointRequestCodec, message);
export const decodeLeaseCheckpointRequest = (bytes: Uint8Array): LeaseCheckpointRequest => decode(LeaseCheckpointRequestCodec, bytes, REQUEST_FIELDS_MAX);

export interface LeaseCheckpointResponse {
  header: ResponseHeader | undefined;
}
export type LeaseCheckpointResponseInit = Init<LeaseCheckpointResponse>;

export const newLeaseCheckpointResponse = (): LeaseCheckpointResponse => ({ header: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readLeaseCheckpointResponse(r: Reader, message: LeaseCheckpointResponse): LeaseCheckpointResponse {
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
export function writeLeaseCheckpointResponse(w: Writer, message: LeaseCheckpointResponseInit): void {
  if (message.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const LeaseCheckpointResponseCodec: Codec<LeaseCheckpointResponse, LeaseCheckpointResponseInit> = {
  write: writeLeaseCheckpointResponse,
  read: (r) => readLeaseCheckpointResponse(r, newLeaseCheckpointResponse()),
};
export const encodeLeaseCheckpointResponse = (message: LeaseCheckpointResponseInit): Uint8Array => encode(LeaseCheckpointResponseCodec, message);
export const decodeLeaseCheckpointResponse = (bytes: Uint8Array): LeaseCheckpointResponse => decode(LeaseCheckpointResponseCodec, bytes);

export interface LeaseKeepAliveRequest {
  ID: bigint;
}
export type LeaseKeepAliveRequestInit = Init<LeaseKeepAliveRequest>;

export const newLeaseKeepAliveRequest = (): LeaseKeepAliveRequest => ({ ID: 0n, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readLeaseKeepAliveRequest(r: Reader, message: LeaseKeepAliveRequest): LeaseKeepAliveRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.ID = r.bigInt64();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeLeaseKeepAliveRequest(w: Writer, message: LeaseKeepAliveRequestInit): void {
  if (message.ID !== undefined && message.ID !== 0n) {
    w.bigint(message.ID);
    w.varint(8);
  }
}

export const LeaseKeepAliveRequestCodec: Codec<LeaseKeepAliveRequest, LeaseKeepAliveRequestInit> = {
  write: writeLeaseKeepAliveRequest,
  read: (r) => readLeaseKeepAliveRequest(r, newLeaseKeepAliveRequest()),
};
export const encodeLeaseKeepAliveRequest = (message: LeaseKeepAliveRequestInit): Uint8Array => encode(LeaseKeepAliveRequestCodec, message);
export const decodeLeaseKeepAliveRequest = (bytes: Uint8Array): LeaseKeepAliveRequest => decode(LeaseKeepAliveRequestCodec, bytes, REQUEST_FIELDS_MAX);

export interface LeaseKeepAliveResponse {
  header: ResponseHeader | undefined;
  ID: bigint;
  TTL: number;
}
export type LeaseKeepAliveResponseInit = Init<LeaseKeepAliveResponse>;

export const newLeaseKeepAliveResponse = (): LeaseKeepAliveResponse => ({ header: undefined, ID: 0n, TTL: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readLeaseKeepAliveResponse(r: Reader, message: LeaseKeepAliveResponse): LeaseKeepAliveResponse {
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
        message.ID = r.bigInt64();
        break;
      case 24:
        message.TTL = r.int64();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeLeaseKeepAliveResponse(w: Writer, message: LeaseKeepAliveResponseInit): void {
  if (message.TTL !== undefined && message.TTL !== 0) {
    w.int64(message.TTL);
    w.varint(24);
  }
  if (message.ID !== undefined && message.ID !== 0n) {
    w.bigint(message.ID);
    w.varint(16);
  }
  if (message.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const LeaseKeepAliveResponseCodec: Codec<LeaseKeepAliveResponse, LeaseKeepAliveResponseInit> = {
  write: writeLeaseKeepAliveResponse,
  read: (r) => readLeaseKeepAliveResponse(r, newLeaseKeepAliveResponse()),
};
export const encodeLeaseKeepAliveResponse = (message: LeaseKeepAliveResponseInit): Uint8Array => encode(LeaseKeepAliveResponseCodec, message);
export const decodeLeaseKeepAliveResponse = (bytes: Uint8Array): LeaseKeepAliveResponse => decode(LeaseKeepAliveResponseCodec, bytes);

export interface LeaseTimeToLiveRequest {
  ID: bigint;
  keys: boolean;
}
export type LeaseTimeToLiveRequestInit = Init<LeaseTimeToLiveRequest>;

export const newLeaseTimeToLiveRequest = (): LeaseTimeToLiveRequest => ({ ID: 0n, keys: false, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readLeaseTimeToLiveRequest(r: Reader, message: LeaseTimeToLiveRequest): LeaseTimeToLiveRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.ID = r.bigInt64();
        break;
      case 16:
        message.keys = r.bool();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeLeaseTimeToLiveRequest(w: Writer, message: LeaseTimeToLiveRequestInit): void {
  if (message.keys === true) {
    w.varint(message.keys ? 1 : 0);
    w.varint(16);
  }
  if (message.ID !== undefined && message.ID !== 0n) {
    w.bigint(message.ID);
    w.varint(8);
  }
}

export const LeaseTimeToLiveRequestCodec: Codec<LeaseTimeToLiveRequest, LeaseTimeToLiveRequestInit> = {
  write: writeLeaseTimeToLiveRequest,
  read: (r) => readLeaseTimeToLiveRequest(r, newLeaseTimeToLiveRequest()),
};
export const encodeLeaseTimeToLiveRequest = (message: LeaseTimeToLiveRequestInit): Uint8Array => encode(LeaseTimeToLiveRequestCodec, message);
export const decodeLeaseTimeToLiveRequest = (bytes: Uint8Array): LeaseTimeToLiveRequest => decode(LeaseTimeToLiveRequestCodec, bytes, REQUEST_FIELDS_MAX);

export interface LeaseTimeToLiveResponse {
  header: ResponseHeader | undefined;
  ID: bigint;
  TTL: number;
  grantedTTL: number;
  keys: Uint8Array[];
}
export type LeaseTimeToLiveResponseInit = Init<LeaseTimeToLiveResponse>;

export const newLeaseTimeToLiveResponse = (): LeaseTimeToLiveResponse => ({ header: undefined, ID: 0n, TTL: 0, grantedTTL: 0, keys: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readLeaseTimeToLiveResponse(r: Reader, message: LeaseTimeToLiveResponse): LeaseTimeToLiveResponse {
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
        message.ID = r.bigInt64();
        break;
      case 24:
        message.TTL = r.int64();
        break;
      case 32:
        message.grantedTTL = r.int64();
        break;
      case 42:
        message.keys.push(r.bytes());
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeLeaseTimeToLiveResponse(w: Writer, message: LeaseTimeToLiveResponseInit): void {
  if (message.keys !== undefined && message.keys.length > 0) {
    for (let at = message.keys.length - 1; at >= 0; at -= 1) {
      w.bytes(message.keys[at]!);
      w.varint(42);
    }
  }
  if (message.grantedTTL !== undefined && message.grantedTTL !== 0) {
    w.int64(message.grantedTTL);
    w.varint(32);
  }
  if (message.TTL !== undefined && message.TTL !== 0) {
    w.int64(message.TTL);
    w.varint(24);
  }
  if (message.ID !== undefined && message.ID !== 0n) {
    w.bigint(message.ID);
    w.varint(16);
  }
  if (message.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const LeaseTimeToLiveResponseCodec: Codec<LeaseTimeToLiveResponse, LeaseTimeToLiveResponseInit> = {
  write: writeLeaseTimeToLiveResponse,
  read: (r) => readLeaseTimeToLiveResponse(r, newLeaseTimeToLiveResponse()),
};
export const encodeLeaseTimeToLiveResponse = (message: LeaseTimeToLiveResponseInit): Uint8Array => encode(LeaseTimeToLiveResponseCodec, message);
export const decodeLeaseTimeToLiveResponse = (bytes: Uint8Array): LeaseTimeToLiveResponse => decode(LeaseTimeToLiveResponseCodec, bytes);

export interface LeaseLeasesRequest {
}
export type LeaseLeasesRequestInit = Init<LeaseLeasesRequest>;

export const newLeaseLeasesRequest = (): LeaseLeasesRequest => ({ });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readLeaseLeasesRequest(r: Reader, message: LeaseLeasesRequest): LeaseLeasesRequest {
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
export function writeLeaseLeasesRequest(_w: Writer, _message: LeaseLeasesRequestInit): void {
}

export const LeaseLeasesRequestCodec: Codec<LeaseLeasesRequest, LeaseLeasesRequestInit> = {
  write: writeLeaseLeasesRequest,
  read: (r) => readLeaseLeasesRequest(r, newLeaseLeasesRequest()),
};
export const encodeLeaseLeasesRequest = (message: LeaseLeasesRequestInit): Uint8Array => encode(LeaseLeasesRequestCodec, message);
export const decodeLeaseLeasesRequest = (bytes: Uint8Array): LeaseLeasesRequest => decode(LeaseLeasesRequestCodec, bytes, REQUEST_FIELDS_MAX);

export interface LeaseStatus {
  ID: bigint;
}
export type LeaseStatusInit = Init<LeaseStatus>;

export const newLeaseStatus = (): LeaseStatus => ({ ID: 0n, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readLeaseStatus(r: Reader, message: LeaseStatus): LeaseStatus {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.ID = r.bigInt64();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeLeaseStatus(w: Writer, message: LeaseStatusInit): void {
  if (message.ID !== undefined && message.ID !== 0n) {
    w.bigint(message.ID);
    w.varint(8);
  }
}

export const LeaseStatusCodec: Codec<LeaseStatus, LeaseStatusInit> = {
  write: writeLeaseStatus,
  read: (r) => readLeaseStatus(r, newLeaseStatus()),
};
export const encodeLeaseStatus = (message: LeaseStatusInit): Uint8Array => encode(LeaseStatusCodec, message);
export const decodeLeaseStatus = (bytes: Uint8Array): LeaseStatus => decode(LeaseStatusCodec, bytes);

export interface LeaseLeasesResponse {
  header: ResponseHeader | undefined;
  leases: LeaseStatus[];
}
export type LeaseLeasesResponseInit = Init<LeaseLeasesResponse>;

export const newLeaseLeasesResponse = (): LeaseLeasesResponse => ({ header: undefined, leases: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readLeaseLeasesResponse(r: Reader, message: LeaseLeasesResponse): LeaseLeasesResponse {
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
        message.leases.push(readLeaseStatus(r, newLeaseStatus()));
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
export function writeLeaseLeasesResponse(w: Writer, message: LeaseLeasesResponseInit): void {
  if (message.leases !== undefined && message.leases.length > 0) {
    for (let at = message.leases.length - 1; at >= 0; at -= 1) {
      const end = w.length;
      writeLeaseStatus(w, message.leases[at]!);
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

export const LeaseLeasesResponseCodec: Codec<LeaseLeasesResponse, LeaseLeasesResponseInit> = {
  write: writeLeaseLeasesResponse,
  read: (r) => readLeaseLeasesResponse(r, newLeaseLeasesResponse()),
};
export const encodeLeaseLeasesResponse = (message: LeaseLeasesResponseInit): Uint8Array => encode(LeaseLeasesResponseCodec, message);
export const decodeLeaseLeasesResponse = (bytes: Uint8Array): LeaseLeasesResponse => decode(LeaseLeasesResponseCodec, bytes);

export interface Member {
  ID: bigint;
  name: string;
  peerURLs: string[];
  clientURLs: string[];
  isLearner: boolean;
}
export type MemberInit = Init<Member>;

export const newMember = (): Member => ({ ID: 0n, name: '', peerURLs: [], clientURLs: [], isLearner: false, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readMember(r: Reader, message: Member): Member {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.ID = r.bigUint64();
        break;
      case 18:
        message.name = r.string();
        break;
      case 26:
        message.peerURLs.push(r.string());
        break;
      case 34:
        message.clientURLs.push(r.string());
        break;
      case 40:
        message.isLearner = r.bool();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeMember(w: Writer, message: MemberInit): void {
  if (message.isLearner === true) {
    w.varint(message.isLearner ? 1 : 0);
    w.varint(40);
  }
  if (message.clientURLs !== undefined && message.clientURLs.length > 0) {
    for (let at = message.clientURLs.length - 1; at >= 0; at -= 1) {
      w.string(message.clientURLs[at]!);
      w.varint(34);
    }
  }
  if (message.peerURLs !== undefined && message.peerURLs.length > 0) {
    for (let at = message.peerURLs.length - 1; at >= 0; at -= 1) {
      w.string(message.peerURLs[at]!);
      w.varint(26);
    }
  }
  if (message.name !== undefined && message.name !== '') {
    w.string(message.name);
    w.varint(18);
  }
  if (message.ID !== undefined && message.ID !== 0n) {
    w.bigint(message.ID);
    w.varint(8);
  }
}

export const MemberCodec: Codec<Member, MemberInit> = {
  write: writeMember,
  read: (r) => readMember(r, newMember()),
};
export const encodeMember = (message: MemberInit): Uint8Array => encode(MemberCodec, message);
export const decodeMember = (bytes: Uint8Array): Member => decode(MemberCodec, bytes);

export interface MemberAddRequest {
  peerURLs: string[];
  isLearner: boolean;
}
export type MemberAddRequestInit = Init<MemberAddRequest>;

export const newMemberAddRequest = (): MemberAddRequest => ({ peerURLs: [], isLearner: false, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readMemberAddRequest(r: Reader, message: MemberAddRequest): MemberAddRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10:
        message.peerURLs.push(r.string());
        break;
      case 16:
        message.isLearner = r.bool();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeMemberAddRequest(w: Writer, message: MemberAddRequestInit): void {
  if (message.isLearner === true) {
    w.varint(message.isLearner ? 1 : 0);
    w.varint(16);
  }
  if (message.peerURLs !== undefined && message.peerURLs.length > 0) {
    for (let at = message.peerURLs.length - 1; at >= 0; at -= 1) {
      w.string(message.peerURLs[at]!);
      w.varint(10);
    }
  }
}

export const MemberAddRequestCodec: Codec<MemberAddRequest, MemberAddRequestInit> = {
  write: writeMemberAddRequest,
  read: (r) => readMemberAddRequest(r, newMemberAddRequest()),
};
export const encodeMemberAddRequest = (message: MemberAddRequestInit): Uint8Array => encode(MemberAddRequestCodec, message);
export const decodeMemberAddRequest = (bytes: Uint8Array): MemberAddRequest => decode(MemberAddRequestCodec, bytes, REQUEST_FIELDS_MAX);

export interface MemberAddResponse {
  header: ResponseHeader | undefined;
  member: Member | undefined;
  members: Member[];
}
export type MemberAddResponseInit = Init<MemberAddResponse>;

export const newMemberAddResponse = (): MemberAddResponse => ({ header: undefined, member: undefined, members: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readMemberAddResponse(r: Reader, message: MemberAddResponse): MemberAddResponse {
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
        message.member = readMember(r, message.member ?? newMember());
        r.leave(outer);
        break;
      }
      case 26: {
        const outer = r.enter();
        message.members.push(readMember(r, newMember()));
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
export function writeMemberAddResponse(w: Writer, message: MemberAddResponseInit): void {
  if (message.members !== undefined && message.members.length > 0) {
    for (let at = message.members.length - 1; at >= 0; at -= 1) {
      const end = w.length;
      writeMember(w, message.members[at]!);
      w.varint(w.length - end);
      w.varint(26);
    }
  }
  if (message.member !== undefined) {
    const end = w.length;
    writeMember(w, message.member);
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

export const MemberAddResponseCodec: Codec<MemberAddResponse, MemberAddResponseInit> = {
  write: writeMemberAddResponse,
  read: (r) => readMemberAddResponse(r, newMemberAddResponse()),
};
export const encodeMemberAddResponse = (message: MemberAddResponseInit): Uint8Array => encode(MemberAddResponseCodec, message);
export const decodeMemberAddResponse = (bytes: Uint8Array): MemberAddResponse => decode(MemberAddResponseCodec, bytes);

export interface MemberRemoveRequest {
  ID: bigint;
}
export type MemberRemoveRequestInit = Init<MemberRemoveRequest>;

export const newMemberRemoveRequest = (): MemberRemoveRequest => ({ ID: 0n, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readMemberRemoveRequest(r: Reader, message: MemberRemoveRequest): MemberRemoveRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.ID = r.bigUint64();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeMemberRemoveRequest(w: Writer, message: MemberRemoveRequestInit): void {
  if (message.ID !== undefined && message.ID !== 0n) {
    w.bigint(message.ID);
    w.varint(8);
  }
}

export const MemberRemoveRequestCodec: Codec<MemberRemoveRequest, MemberRemoveRequestInit> = {
  write: writeMemberRemoveRequest,
  read: (r) => readMemberRemoveRequest(r, newMemberRemoveRequest()),
};
export const encodeMemberRemoveRequest = (message: MemberRemoveRequestInit): Uint8Array => encode(MemberRemoveRequestCodec, message);
export const decodeMemberRemoveRequest = (bytes: Uint8Array): MemberRemoveRequest => decode(MemberRemoveRequestCodec, bytes, REQUEST_FIELDS_MAX);

export interface MemberRemoveResponse {
  header: ResponseHeader | undefined;
  members: Member[];
}
export type MemberRemoveResponseInit = Init<MemberRemoveResponse>;

export const newMemberRemoveResponse = (): MemberRemoveResponse => ({ header: undefined, members: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readMemberRemoveResponse(r: Reader, message: MemberRemoveResponse): MemberRemoveResponse {
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
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeMemberRemoveResponse(w: Writer, message: MemberRemoveResponseInit): void {
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

export const MemberRemoveResponseCodec: Codec<MemberRemoveResponse, MemberRemoveResponseInit> = {
  write: writeMemberRemoveResponse,
  read: (r) => readMemberRemoveResponse(r, newMemberRemoveResponse()),
};
export const encodeMemberRemoveResponse = (message: MemberRemoveResponseInit): Uint8Array => encode(MemberRemoveResponseCodec, message);
export const decodeMemberRemoveResponse = (bytes: Uint8Array): MemberRemoveResponse => decode(MemberRemoveResponseCodec, bytes);

export interface MemberUpdateRequest {
  ID: bigint;
  peerURLs: string[];
}
export type MemberUpdateRequestInit = Init<MemberUpdateRequest>;

export const newMemberUpdateRequest = (): MemberUpdateRequest => ({ ID: 0n, peerURLs: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readMemberUpdateRequest(r: Reader, message: MemberUpdateRequest): MemberUpdateRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.ID = r.bigUint64();
        break;
      case 18:
        message.peerURLs.push(r.string());
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeMemberUpdateRequest(w: Writer, message: MemberUpdateRequestInit): void {
  if (message.peerURLs !== undefined && message.peerURLs.length > 0) {
    for (let at = message.peerURLs.length - 1; at >= 0; at -= 1) {
      w.string(message.peerURLs[at]!);
      w.varint(18);
    }
  }
  if (message.ID !== undefined && message.ID !== 0n) {
    w.bigint(message.ID);
    w.varint(8);
  }
}

export const MemberUpdateRequestCodec: Codec<MemberUpdateRequest, MemberUpdateRequestInit> = {
  write: writeMemberUpdateRequest,
  read: (r) => readMemberUpdateRequest(r, newMemberUpdateRequest()),
};
export const encodeMemberUpdateRequest = (message: MemberUpdateRequestInit): Uint8Array => encode(MemberUpdateRequestCodec, message);
export const decodeMemberUpdateRequest = (bytes: Uint8Array): MemberUpdateRequest => decode(MemberUpdateRequestCodec, bytes, REQUEST_FIELDS_MAX);

export interface MemberUpdateResponse {
  header: ResponseHeader | undefined;
  members: Member[];
}
export type MemberUpdateResponseInit = Init<MemberUpdateResponse>;

export const newMemberUpdateResponse = (): MemberUpdateResponse => ({ header: undefined, members: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readMemberUpdateResponse(r: Reader, message: MemberUpdateResponse): MemberUpdateResponse {
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
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeMemberUpdateResponse(w: Writer, message: MemberUpdateResponseInit): void {
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

export const MemberUpdateResponseCodec: Codec<MemberUpdateResponse, MemberUpdateResponseInit> = {
  write: writeMemberUpdateResponse,
  read: (r) => readMemberUpdateResponse(r, newMemberUpdateResponse()),
};
export const encodeMemberUpdateResponse = (message: MemberUpdateResponseInit): Uint8Array => encode(MemberUpdateResponseCodec, message);
export const decodeMemberUpdateResponse = (bytes: Uint8Array): MemberUpdateResponse => decode(MemberUpdateResponseCodec, bytes);

export interface MemberListRequest {
  linearizable: boolean;
}
export type MemberListRequestInit = Init<MemberListRequest>;

export const newMemberListRequest = (): MemberListRequest => ({ linearizable: false, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readMemberListRequest(r: Reader, message: MemberListRequest): MemberListRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.linearizable = r.bool();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeMemberListRequest(w: Writer, message: MemberListRequestInit): void {
  if (message.linearizable === true) {
    w.varint(message.linearizable ? 1 : 0);
    w.varint(8);
  }
}

export const MemberListRequestCodec: Codec<MemberListRequest, MemberListRequestInit> = {
  write: writeMemberListRequest,
  read: (r) => readMemberListRequest(r, newMemberListRequest()),
};
export const encodeMemberListRequest = (message: MemberListRequestInit): Uint8Array => encode(MemberListRequestCodec, message);
export const decodeMemberListRequest = (bytes: Uint8Array): MemberListRequest => decode(MemberListRequestCodec, bytes, REQUEST_FIELDS_MAX);

export interface MemberListResponse {
  header: ResponseHeader | undefined;
  members: Member[];
}
export type MemberListResponseInit = Init<MemberListResponse>;

export const newMemberListResponse = (): MemberListResponse => ({ header: undefined, members: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readMemberListResponse(r: Reader, message: MemberListResponse): MemberListResponse {
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
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeMemberListResponse(w: Writer, message: MemberListResponseInit): void {
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

export const MemberListResponseCodec: Codec<MemberListResponse, MemberListResponseInit> = {
  write: writeMemberListResponse,
  read: (r) => readMemberListResponse(r, newMemberListResponse()),
};
export const encodeMemberListResponse = (message: MemberListResponseInit): Uint8Array => encode(MemberListResponseCodec, message);
export const decodeMemberListResponse = (bytes: Uint8Array): MemberListResponse => decode(MemberListResponseCodec, bytes);

export interface MemberPromoteRequest {
  ID: bigint;
}
export type MemberPromoteRequestInit = Init<MemberPromoteRequest>;

export const newMemberPromoteRequest = (): MemberPromoteRequest => ({ ID: 0n, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readMemberPromoteRequest(r: Reader, message: MemberPromoteRequest): MemberPromoteRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.ID = r.bigUint64();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeMemberPromoteRequest(w: Writer, message: MemberPromoteRequestInit): void {
  if (message.ID !== undefined && message.ID !== 0n) {
    w.bigint(message.ID);
    w.varint(8);
  }
}

export const MemberPromoteRequestCodec: Codec<MemberPromoteRequest, MemberPromoteRequestInit> = {
  write: writeMemberPromoteRequest,
  read: (r) => readMemberPromoteRequest(r, newMemberPromoteRequest()),
};
export const encodeMemberPromoteRequest = (message: MemberPromoteRequestInit): Uint8Array => encode(MemberPromoteRequestCodec, message);
export const decodeMemberPromoteRequest = (bytes: Uint8Array): MemberPromoteRequest => decode(MemberPromoteRequestCodec, bytes, REQUEST_FIELDS_MAX);

export interface MemberPromoteResponse {
  header: ResponseHeader | undefined;
  members: Member[];
}
export type MemberPromoteResponseInit = Init<MemberPromoteResponse>;

export const newMemberPromoteResponse = (): MemberPromoteResponse => ({ header: undefined, members: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readMemberPromoteResponse(r: Reader, message: MemberPromoteResponse): MemberPromoteResponse {
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
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeMemberPromoteResponse(w: Writer, message: MemberPromoteResponseInit): void {
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

export const MemberPromoteResponseCodec: Codec<MemberPromoteResponse, MemberPromoteResponseInit> = {
  write: writeMemberPromoteResponse,
  read: (r) => readMemberPromoteResponse(r, newMemberPromoteResponse()),
};
export const encodeMemberPromoteResponse = (message: MemberPromoteResponseInit): Uint8Array => encode(MemberPromoteResponseCodec, message);
export const decodeMemberPromoteResponse = (bytes: Uint8Array): MemberPromoteResponse => decode(MemberPromoteResponseCodec, bytes);

export interface DefragmentRequest {
}
export type DefragmentRequestInit = Init<DefragmentRequest>;

export const newDefragmentRequest = (): DefragmentRequest => ({ });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readDefragmentRequest(r: Reader, message: DefragmentRequest): DefragmentRequest {
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
export function writeDefragmentRequest(_w: Writer, _message: DefragmentRequestInit): void {
}

export const DefragmentRequestCodec: Codec<DefragmentRequest, DefragmentRequestInit> = {
  write: writeDefragmentRequest,
  read: (r) => readDefragmentRequest(r, newDefragmentRequest()),
};
export const encodeDefragmentRequest = (message: DefragmentRequestInit): Uint8Array => encode(DefragmentRequestCodec, message);
export const decodeDefragmentRequest = (bytes: Uint8Array): DefragmentRequest => decode(DefragmentRequestCodec, bytes, REQUEST_FIELDS_MAX);

export interface DefragmentResponse {
  header: ResponseHeader | undefined;
}
export type DefragmentResponseInit = Init<DefragmentResponse>;

export const newDefragmentResponse = (): DefragmentResponse => ({ header: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readDefragmentResponse(r: Reader, message: DefragmentResponse): DefragmentResponse {
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
export function writeDefragmentResponse(w: Writer, message: DefragmentResponseInit): void {
  if (message.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const DefragmentResponseCodec: Codec<DefragmentResponse, DefragmentResponseInit> = {
  write: writeDefragmentResponse,
  read: (r) => readDefragmentResponse(r, newDefragmentResponse()),
};
export const encodeDefragmentResponse = (message: DefragmentResponseInit): Uint8Array => encode(DefragmentResponseCodec, message);
export const decodeDefragmentResponse = (bytes: Uint8Array): DefragmentResponse => decode(DefragmentResponseCodec, bytes);

export interface MoveLeaderRequest {
  targetID: bigint;
}
export type MoveLeaderRequestInit = Init<MoveLeaderRequest>;

export const newMoveLeaderRequest = (): MoveLeaderRequest => ({ targetID: 0n, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readMoveLeaderRequest(r: Reader, message: MoveLeaderRequest): MoveLeaderRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.targetID = r.bigUint64();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeMoveLeaderRequest(w: Writer, message: MoveLeaderRequestInit): void {
  if (message.targetID !== undefined && message.targetID !== 0n) {
    w.bigint(message.targetID);
    w.varint(8);
  }
}

export const MoveLeaderRequestCodec: Codec<MoveLeaderRequest, MoveLeaderRequestInit> = {
  write: writeMoveLeaderRequest,
  read: (r) => readMoveLeaderRequest(r, newMoveLeaderRequest()),
};
export const encodeMoveLeaderRequest = (message: MoveLeaderRequestInit): Uint8Array => encode(MoveLeaderRequestCodec, message);
export const decodeMoveLeaderRequest = (bytes: Uint8Array): MoveLeaderRequest => decode(MoveLeaderRequestCodec, bytes, REQUEST_FIELDS_MAX);

export interface MoveLeaderResponse {
  header: ResponseHeader | undefined;
}
export type MoveLeaderResponseInit = Init<MoveLeaderResponse>;

export const newMoveLeaderResponse = (): MoveLeaderResponse => ({ header: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readMoveLeaderResponse(r: Reader, message: MoveLeaderResponse): MoveLeaderResponse {
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
export function writeMoveLeaderResponse(w: Writer, message: MoveLeaderResponseInit): void {
  if (message.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const MoveLeaderResponseCodec: Codec<MoveLeaderResponse, MoveLeaderResponseInit> = {
  write: writeMoveLeaderResponse,
  read: (r) => readMoveLeaderResponse(r, newMoveLeaderResponse()),
};
export const encodeMoveLeaderResponse = (message: MoveLeaderResponseInit): Uint8Array => encode(MoveLeaderResponseCodec, message);
export const decodeMoveLeaderResponse = (bytes: Uint8Array): MoveLeaderResponse => decode(MoveLeaderResponseCodec, bytes);

export interface AlarmRequest {
  action: number;
  memberID: bigint;
  alarm: number;
}
export type AlarmRequestInit = Init<AlarmRequest>;

export const newAlarmRequest = (): AlarmRequest => ({ action: 0, memberID: 0n, alarm: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAlarmRequest(r: Reader, message: AlarmRequest): AlarmRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.action = r.int32();
        break;
      case 16:
        message.memberID = r.bigUint64();
        break;
      case 24:
        message.alarm = r.int32();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeAlarmRequest(w: Writer, message: AlarmRequestInit): void {
  if (message.alarm !== undefined && message.alarm !== 0) {
    w.int64(message.alarm);
    w.varint(24);
  }
  if (message.memberID !== undefined && message.memberID !== 0n) {
    w.bigint(message.memberID);
    w.varint(16);
  }
  if (message.action !== undefined && message.action !== 0) {
    w.int64(message.action);
    w.varint(8);
  }
}

export const AlarmRequestCodec: Codec<AlarmRequest, AlarmRequestInit> = {
  write: writeAlarmRequest,
  read: (r) => readAlarmRequest(r, newAlarmRequest()),
};
export const encodeAlarmRequest = (message: AlarmRequestInit): Uint8Array => encode(AlarmRequestCodec, message);
export const decodeAlarmRequest = (bytes: Uint8Array): AlarmRequest => decode(AlarmRequestCodec, bytes, REQUEST_FIELDS_MAX);

export interface AlarmMember {
  memberID: bigint;
  alarm: number;
}
export type AlarmMemberInit = Init<AlarmMember>;

export const newAlarmMember = (): AlarmMember => ({ memberID: 0n, alarm: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAlarmMember(r: Reader, message: AlarmMember): AlarmMember {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.memberID = r.bigUint64();
        break;
      case 16:
        message.alarm = r.int32();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeAlarmMember(w: Writer, message: AlarmMemberInit): void {
  if (message.alarm !== undefined && message.alarm !== 0) {
    w.int64(message.alarm);
    w.varint(16);
  }
  if (message.memberID !== undefined && message.memberID !== 0n) {
    w.bigint(message.memberID);
    w.varint(8);
  }
}

export const AlarmMemberCodec: Codec<AlarmMember, AlarmMemberInit> = {
  write: writeAlarmMember,
  read: (r) => readAlarmMember(r, newAlarmMember()),
};
export const encodeAlarmMember = (message: AlarmMemberInit): Uint8Array => encode(AlarmMemberCodec, message);
export const decodeAlarmMember = (bytes: Uint8Array): AlarmMember => decode(AlarmMemberCodec, bytes);

export interface AlarmResponse {
  header: ResponseHeader | undefined;
  alarms: AlarmMember[];
}
export type AlarmResponseInit = Init<AlarmResponse>;

export const newAlarmResponse = (): AlarmResponse => ({ header: undefined, alarms: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAlarmResponse(r: Reader, message: AlarmResponse): AlarmResponse {
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
        message.alarms.push(readAlarmMember(r, newAlarmMember()));
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
export function writeAlarmResponse(w: Writer, message: AlarmResponseInit): void {
  if (message.alarms !== undefined && message.alarms.length > 0) {
    for (let at = message.alarms.length - 1; at >= 0; at -= 1) {
      const end = w.length;
      writeAlarmMember(w, message.alarms[at]!);
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

export const AlarmResponseCodec: Codec<AlarmResponse, AlarmResponseInit> = {
  write: writeAlarmResponse,
  read: (r) => readAlarmResponse(r, newAlarmResponse()),
};
export const encodeAlarmResponse = (message: AlarmResponseInit): Uint8Array => encode(AlarmResponseCodec, message);
export const decodeAlarmResponse = (bytes: Uint8Array): AlarmResponse => decode(AlarmResponseCodec, bytes);

export interface DowngradeRequest {
  action: number;
  version: string;
}
export type DowngradeRequestInit = Init<DowngradeRequest>;

export const newDowngradeRequest = (): DowngradeRequest => ({ action: 0, version: '', });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readDowngradeRequest(r: Reader, message: DowngradeRequest): DowngradeRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.action = r.int32();
        break;
      case 18:
        message.version = r.string();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeDowngradeRequest(w: Writer, message: DowngradeRequestInit): void {
  if (message.version !== undefined && message.version !== '') {
    w.string(message.version);
    w.varint(18);
  }
  if (message.action !== undefined && message.action !== 0) {
    w.int64(message.action);
    w.varint(8);
  }
}

export const DowngradeRequestCodec: Codec<DowngradeRequest, DowngradeRequestInit> = {
  write: writeDowngradeRequest,
  read: (r) => readDowngradeRequest(r, newDowngradeRequest()),
};
export const encodeDowngradeRequest = (message: DowngradeRequestInit): Uint8Array => encode(DowngradeRequestCodec, message);
export const decodeDowngradeRequest = (bytes: Uint8Array): DowngradeRequest => decode(DowngradeRequestCodec, bytes, REQUEST_FIELDS_MAX);

export interface DowngradeResponse {
  header: ResponseHeader | undefined;
  version: string;
}
export type DowngradeResponseInit = Init<DowngradeResponse>;

export const newDowngradeResponse = (): DowngradeResponse => ({ header: undefined, version: '', });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readDowngradeResponse(r: Reader, message: DowngradeResponse): DowngradeResponse {
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
        message.version = r.string();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeDowngradeResponse(w: Writer, message: DowngradeResponseInit): void {
  if (message.version !== undefined && message.version !== '') {
    w.string(message.version);
    w.varint(18);
  }
  if (message.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const DowngradeResponseCodec: Codec<DowngradeResponse, DowngradeResponseInit> = {
  write: writeDowngradeResponse,
  read: (r) => readDowngradeResponse(r, newDowngradeResponse()),
};
export const encodeDowngradeResponse = (message: DowngradeResponseInit): Uint8Array => encode(DowngradeResponseCodec, message);
export const decodeDowngradeResponse = (bytes: Uint8Array): DowngradeResponse => decode(DowngradeResponseCodec, bytes);

export interface DowngradeVersionTestRequest {
  ver: string;
}
export type DowngradeVersionTestRequestInit = Init<DowngradeVersionTestRequest>;

export const newDowngradeVersionTestRequest = (): DowngradeVersionTestRequest => ({ ver: '', });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readDowngradeVersionTestRequest(r: Reader, message: DowngradeVersionTestRequest): DowngradeVersionTestRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10:
        message.ver = r.string();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeDowngradeVersionTestRequest(w: Writer, message: DowngradeVersionTestRequestInit): void {
  if (message.ver !== undefined && message.ver !== '') {
    w.string(message.ver);
    w.varint(10);
  }
}

export const DowngradeVersionTestRequestCodec: Codec<DowngradeVersionTestRequest, DowngradeVersionTestRequestInit> = {
  write: writeDowngradeVersionTestRequest,
  read: (r) => readDowngradeVersionTestRequest(r, newDowngradeVersionTestRequest()),
};
export const encodeDowngradeVersionTestRequest = (message: DowngradeVersionTestRequestInit): Uint8Array => encode(DowngradeVersionTestRequestCodec, message);
export const decodeDowngradeVersionTestRequest = (bytes: Uint8Array): DowngradeVersionTestRequest => decode(DowngradeVersionTestRequestCodec, bytes, REQUEST_FIELDS_MAX);

export interface StatusRequest {
}
export type StatusRequestInit = Init<StatusRequest>;

export const newStatusRequest = (): StatusRequest => ({ });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readStatusRequest(r: Reader, message: StatusRequest): StatusRequest {
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
export function writeStatusRequest(_w: Writer, _message: StatusRequestInit): void {
}

export const StatusRequestCodec: Codec<StatusRequest, StatusRequestInit> = {
  write: writeStatusRequest,
  read: (r) => readStatusRequest(r, newStatusRequest()),
};
export const encodeStatusRequest = (message: StatusRequestInit): Uint8Array => encode(StatusRequestCodec, message);
export const decodeStatusRequest = (bytes: Uint8Array): StatusRequest => decode(StatusRequestCodec, bytes, REQUEST_FIELDS_MAX);

export interface StatusResponse {
  header: ResponseHeader | undefined;
  version: string;
  dbSize: number;
  leader: bigint;
  raftIndex: number;
  raftTerm: number;
  raftAppliedIndex: number;
  errors: string[];
  dbSizeInUse: number;
  isLearner: boolean;
  storageVersion: string;
  dbSizeQuota: number;
  downgradeInfo: DowngradeInfo | undefined;
}
export type StatusResponseInit = Init<StatusResponse>;

export const newStatusResponse = (): StatusResponse => ({ header: undefined, version: '', dbSize: 0, leader: 0n, raftIndex: 0, raftTerm: 0, raftAppliedIndex: 0, errors: [], dbSizeInUse: 0, isLearner: false, storageVersion: '', dbSizeQuota: 0, downgradeInfo: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readStatusResponse(r: Reader, message: StatusResponse): StatusResponse {
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
        message.version = r.string();
        break;
      case 24:
        message.dbSize = r.int64();
        break;
      case 32:
        message.leader = r.bigUint64();
        break;
      case 40:
        message.raftIndex = r.uint64();
        break;
      case 48:
        message.raftTerm = r.uint64();
        break;
      case 56:
        message.raftAppliedIndex = r.uint64();
        break;
      case 66:
        message.errors.push(r.string());
        break;
      case 72:
        message.dbSizeInUse = r.int64();
        break;
      case 80:
        message.isLearner = r.bool();
        break;
      case 90:
        message.storageVersion = r.string();
        break;
      case 96:
        message.dbSizeQuota = r.int64();
        break;
      case 106: {
        const outer = r.enter();
        message.downgradeInfo = readDowngradeInfo(r, message.downgradeInfo ?? newDowngradeInfo());
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
export function writeStatusResponse(w: Writer, message: StatusResponseInit): void {
  if (message.downgradeInfo !== undefined) {
    const end = w.length;
    writeDowngradeInfo(w, message.downgradeInfo);
    w.varint(w.length - end);
    w.varint(106);
  }
  if (message.dbSizeQuota !== undefined && message.dbSizeQuota !== 0) {
    w.int64(message.dbSizeQuota);
    w.varint(96);
  }
  if (message.storageVersion !== undefined && message.storageVersion !== '') {
    w.string(message.storageVersion);
    w.varint(90);
  }
  if (message.isLearner === true) {
    w.varint(message.isLearner ? 1 : 0);
    w.varint(80);
  }
  if (message.dbSizeInUse !== undefined && message.dbSizeInUse !== 0) {
    w.int64(message.dbSizeInUse);
    w.varint(72);
  }
  if (message.errors !== undefined && message.errors.length > 0) {
    for (let at = message.errors.length - 1; at >= 0; at -= 1) {
      w.string(message.errors[at]!);
      w.varint(66);
    }
  }
  if (message.raftAppliedIndex !== undefined && message.raftAppliedIndex !== 0) {
    w.uint64(message.raftAppliedIndex);
    w.varint(56);
  }
  if (message.raftTerm !== undefined && message.raftTerm !== 0) {
    w.uint64(message.raftTerm);
    w.varint(48);
  }
  if (message.raftIndex !== undefined && message.raftIndex !== 0) {
    w.uint64(message.raftIndex);
    w.varint(40);
  }
  if (message.leader !== undefined && message.leader !== 0n) {
    w.bigint(message.leader);
    w.varint(32);
  }
  if (message.dbSize !== undefined && message.dbSize !== 0) {
    w.int64(message.dbSize);
    w.varint(24);
  }
  if (message.version !== undefined && message.version !== '') {
    w.string(message.version);
    w.varint(18);
  }
  if (message.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const StatusResponseCodec: Codec<StatusResponse, StatusResponseInit> = {
  write: writeStatusResponse,
  read: (r) => readStatusResponse(r, newStatusResponse()),
};
export const encodeStatusResponse = (message: StatusResponseInit): Uint8Array => encode(StatusResponseCodec, message);
export const decodeStatusResponse = (bytes: Uint8Array): StatusResponse => decode(StatusResponseCodec, bytes);

export interface DowngradeInfo {
  enabled: boolean;
  targetVersion: string;
}
export type DowngradeInfoInit = Init<DowngradeInfo>;

export const newDowngradeInfo = (): DowngradeInfo => ({ enabled: false, targetVersion: '', });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readDowngradeInfo(r: Reader, message: DowngradeInfo): DowngradeInfo {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.enabled = r.bool();
        break;
      case 18:
        message.targetVersion = r.string();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeDowngradeInfo(w: Writer, message: DowngradeInfoInit): void {
  if (message.targetVersion !== undefined && message.targetVersion !== '') {
    w.string(message.targetVersion);
    w.varint(18);
  }
  if (message.enabled === true) {
    w.varint(message.enabled ? 1 : 0);
    w.varint(8);
  }
}

export const DowngradeInfoCodec: Codec<DowngradeInfo, DowngradeInfoInit> = {
  write: writeDowngradeInfo,
  read: (r) => readDowngradeInfo(r, newDowngradeInfo()),
};
export const encodeDowngradeInfo = (message: DowngradeInfoInit): Uint8Array => encode(DowngradeInfoCodec, message);
export const decodeDowngradeInfo = (bytes: Uint8Array): DowngradeInfo => decode(DowngradeInfoCodec, bytes);

export interface AuthEnableRequest {
}
export type AuthEnableRequestInit = Init<AuthEnableRequest>;

export const newAuthEnableRequest = (): AuthEnableRequest => ({ });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthEnableRequest(r: Reader, message: AuthEnableRequest): AuthEnableRequest {
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
export function writeAuthEnableRequest(_w: Writer, _message: AuthEnableRequestInit): void {
}

export const AuthEnableRequestCodec: Codec<AuthEnableRequest, AuthEnableRequestInit> = {
  write: writeAuthEnableRequest,
  read: (r) => readAuthEnableRequest(r, newAuthEnableRequest()),
};
export const encodeAuthEnableRequest = (message: AuthEnableRequestInit): Uint8Array => encode(AuthEnableRequestCodec, message);
export const decodeAuthEnableRequest = (bytes: Uint8Array): AuthEnableRequest => decode(AuthEnableRequestCodec, bytes, REQUEST_FIELDS_MAX);

export interface AuthDisableRequest {
}
export type AuthDisableRequestInit = Init<AuthDisableRequest>;

export const newAuthDisableRequest = (): AuthDisableRequest => ({ });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthDisableRequest(r: Reader, message: AuthDisableRequest): AuthDisableRequest {
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
export function writeAuthDisableRequest(_w: Writer, _message: AuthDisableRequestInit): void {
}

export const AuthDisableRequestCodec: Codec<AuthDisableRequest, AuthDisableRequestInit> = {
  write: writeAuthDisableRequest,
  read: (r) => readAuthDisableRequest(r, newAuthDisableRequest()),
};
export const encodeAuthDisableRequest = (message: AuthDisableRequestInit): Uint8Array => encode(AuthDisableRequestCodec, message);
export const decodeAuthDisableRequest = (bytes: Uint8Array): AuthDisableRequest => decode(AuthDisableRequestCodec, bytes, REQUEST_FIELDS_MAX);

export interface AuthStatusRequest {
}
export type AuthStatusRequestInit = Init<AuthStatusRequest>;

export const newAuthStatusRequest = (): AuthStatusRequest => ({ });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthStatusRequest(r: Reader, message: AuthStatusRequest): AuthStatusRequest {
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
export function writeAuthStatusRequest(_w: Writer, _message: AuthStatusRequestInit): void {
}

export const AuthStatusRequestCodec: Codec<AuthStatusRequest, AuthStatusRequestInit> = {
  write: writeAuthStatusRequest,
  read: (r) => readAuthStatusRequest(r, newAuthStatusRequest()),
};
export const encodeAuthStatusRequest = (message: AuthStatusRequestInit): Uint8Array => encode(AuthStatusRequestCodec, message);
export const decodeAuthStatusRequest = (bytes: Uint8Array): AuthStatusRequest => decode(AuthStatusRequestCodec, bytes, REQUEST_FIELDS_MAX);

export interface AuthenticateRequest {
  name: string;
  password: string;
}
export type AuthenticateRequestInit = Init<AuthenticateRequest>;

export const newAuthenticateRequest = (): AuthenticateRequest => ({ name: '', password: '', });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthenticateRequest(r: Reader, message: AuthenticateRequest): AuthenticateRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10:
        message.name = r.string();
        break;
      case 18:
        message.password = r.string();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeAuthenticateRequest(w: Writer, message: AuthenticateRequestInit): void {
  if (message.password !== undefined && message.password !== '') {
    w.string(message.password);
    w.varint(18);
  }
  if (message.name !== undefined && message.name !== '') {
    w.string(message.name);
    w.varint(10);
  }
}

export const AuthenticateRequestCodec: Codec<AuthenticateRequest, AuthenticateRequestInit> = {
  write: writeAuthenticateRequest,
  read: (r) => readAuthenticateRequest(r, newAuthenticateRequest()),
};
export const encodeAuthenticateRequest = (message: AuthenticateRequestInit): Uint8Array => encode(AuthenticateRequestCodec, message);
export const decodeAuthenticateRequest = (bytes: Uint8Array): AuthenticateRequest => decode(AuthenticateRequestCodec, bytes, REQUEST_FIELDS_MAX);

export interface AuthUserAddRequest {
  name: string;
  password: string;
  options: authpb.UserAddOptions | undefined;
  hashedPassword: string;
}
export type AuthUserAddRequestInit = Init<AuthUserAddRequest>;

export const newAuthUserAddRequest = (): AuthUserAddRequest => ({ name: '', password: '', options: undefined, hashedPassword: '', });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthUserAddRequest(r: Reader, message: AuthUserAddRequest): AuthUserAddRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10:
        message.name = r.string();
        break;
      case 18:
        message.password = r.string();
        break;
      case 26: {
        const outer = r.enter();
        message.options = authpb.readUserAddOptions(r, message.options ?? authpb.newUserAddOptions());
        r.leave(outer);
        break;
      }
      case 34:
        message.hashedPassword = r.string();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeAuthUserAddRequest(w: Writer, message: AuthUserAddRequestInit): void {
  if (message.hashedPassword !== undefined && message.hashedPassword !== '') {
    w.string(message.hashedPassword);
    w.varint(34);
  }
  if (message.options !== undefined) {
    const end = w.length;
    authpb.writeUserAddOptions(w, message.options);
    w.varint(w.length - end);
    w.varint(26);
  }
  if (message.password !== undefined && message.password !== '') {
    w.string(message.password);
    w.varint(18);
  }
  if (message.name !== undefined && message.name !== '') {
    w.string(message.name);
    w.varint(10);
  }
}

export const AuthUserAddRequestCodec: Codec<AuthUserAddRequest, AuthUserAddRequestInit> = {
  write: writeAuthUserAddRequest,
  read: (r) => readAuthUserAddRequest(r, newAuthUserAddRequest()),
};
export const encodeAuthUserAddRequest = (message: AuthUserAddRequestInit): Uint8Array => encode(AuthUserAddRequestCodec, message);
export const decodeAuthUserAddRequest = (bytes: Uint8Array): AuthUserAddRequest => decode(AuthUserAddRequestCodec, bytes, REQUEST_FIELDS_MAX);

export interface AuthUserGetRequest {
  name: string;
}
export type AuthUserGetRequestInit = Init<AuthUserGetRequest>;

export const newAuthUserGetRequest = (): AuthUserGetRequest => ({ name: '', });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthUserGetRequest(r: Reader, message: AuthUserGetRequest): AuthUserGetRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10:
        message.name = r.string();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeAuthUserGetRequest(w: Writer, message: AuthUserGetRequestInit): void {
  if (message.name !== undefined && message.name !== '') {
    w.string(message.name);
    w.varint(10);
  }
}

export const AuthUserGetRequestCodec: Codec<AuthUserGetRequest, AuthUserGetRequestInit> = {
  write: writeAuthUserGetRequest,
  read: (r) => readAuthUserGetRequest(r, newAuthUserGetRequest()),
};
export const encodeAuthUserGetRequest = (message: AuthUserGetRequestInit): Uint8Array => encode(AuthUserGetRequestCodec, message);
export const decodeAuthUserGetRequest = (bytes: Uint8Array): AuthUserGetRequest => decode(AuthUserGetRequestCodec, bytes, REQUEST_FIELDS_MAX);

export interface AuthUserDeleteRequest {
  name: string;
}
export type AuthUserDeleteRequestInit = Init<AuthUserDeleteRequest>;

export const newAuthUserDeleteRequest = (): AuthUserDeleteRequest => ({ name: '', });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthUserDeleteRequest(r: Reader, message: AuthUserDeleteRequest): AuthUserDeleteRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10:
        message.name = r.string();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeAuthUserDeleteRequest(w: Writer, message: AuthUserDeleteRequestInit): void {
  if (message.name !== undefined && message.name !== '') {
    w.string(message.name);
    w.varint(10);
  }
}

export const AuthUserDeleteRequestCodec: Codec<AuthUserDeleteRequest, AuthUserDeleteRequestInit> = {
  write: writeAuthUserDeleteRequest,
  read: (r) => readAuthUserDeleteRequest(r, newAuthUserDeleteRequest()),
};
export const encodeAuthUserDeleteRequest = (message: AuthUserDeleteRequestInit): Uint8Array => encode(AuthUserDeleteRequestCodec, message);
export const decodeAuthUserDeleteRequest = (bytes: Uint8Array): AuthUserDeleteRequest => decode(AuthUserDeleteRequestCodec, bytes, REQUEST_FIELDS_MAX);

export interface AuthUserChangePasswordRequest {
  name: string;
  password: string;
  hashedPassword: string;
}
export type AuthUserChangePasswordRequestInit = Init<AuthUserChangePasswordRequest>;

export const newAuthUserChangePasswordRequest = (): AuthUserChangePasswordRequest => ({ name: '', password: '', hashedPassword: '', });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthUserChangePasswordRequest(r: Reader, message: AuthUserChangePasswordRequest): AuthUserChangePasswordRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10:
        message.name = r.string();
        break;
      case 18:
        message.password = r.string();
        break;
      case 26:
        message.hashedPassword = r.string();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeAuthUserChangePasswordRequest(w: Writer, message: AuthUserChangePasswordRequestInit): void {
  if (message.hashedPassword !== undefined && message.hashedPassword !== '') {
    w.string(message.hashedPassword);
    w.varint(26);
  }
  if (message.password !== undefined && message.password !== '') {
    w.string(message.password);
    w.varint(18);
  }
  if (message.name !== undefined && message.name !== '') {
    w.string(message.name);
    w.varint(10);
  }
}

export const AuthUserChangePasswordRequestCodec: Codec<AuthUserChangePasswordRequest, AuthUserChangePasswordRequestInit> = {
  write: writeAuthUserChangePasswordRequest,
  read: (r) => readAuthUserChangePasswordRequest(r, newAuthUserChangePasswordRequest()),
};
export const encodeAuthUserChangePasswordRequest = (message: AuthUserChangePasswordRequestInit): Uint8Array => encode(AuthUserChangePasswordRequestCodec, message);
export const decodeAuthUserChangePasswordRequest = (bytes: Uint8Array): AuthUserChangePasswordRequest => decode(AuthUserChangePasswordRequestCodec, bytes, REQUEST_FIELDS_MAX);

export interface AuthUserGrantRoleRequest {
  user: string;
  role: string;
}
export type AuthUserGrantRoleRequestInit = Init<AuthUserGrantRoleRequest>;

export const newAuthUserGrantRoleRequest = (): AuthUserGrantRoleRequest => ({ user: '', role: '', });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthUserGrantRoleRequest(r: Reader, message: AuthUserGrantRoleRequest): AuthUserGrantRoleRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10:
        message.user = r.string();
        break;
      case 18:
        message.role = r.string();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeAuthUserGrantRoleRequest(w: Writer, message: AuthUserGrantRoleRequestInit): void {
  if (message.role !== undefined && message.role !== '') {
    w.string(message.role);
    w.varint(18);
  }
  if (message.user !== undefined && message.user !== '') {
    w.string(message.user);
    w.varint(10);
  }
}

export const AuthUserGrantRoleRequestCodec: Codec<AuthUserGrantRoleRequest, AuthUserGrantRoleRequestInit> = {
  write: writeAuthUserGrantRoleRequest,
  read: (r) => readAuthUserGrantRoleRequest(r, newAuthUserGrantRoleRequest()),
};
export const encodeAuthUserGrantRoleRequest = (message: AuthUserGrantRoleRequestInit): Uint8Array => encode(AuthUserGrantRoleRequestCodec, message);
export const decodeAuthUserGrantRoleRequest = (bytes: Uint8Array): AuthUserGrantRoleRequest => decode(AuthUserGrantRoleRequestCodec, bytes, REQUEST_FIELDS_MAX);

export interface AuthUserRevokeRoleRequest {
  name: string;
  role: string;
}
export type AuthUserRevokeRoleRequestInit = Init<AuthUserRevokeRoleRequest>;

export const newAuthUserRevokeRoleRequest = (): AuthUserRevokeRoleRequest => ({ name: '', role: '', });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthUserRevokeRoleRequest(r: Reader, message: AuthUserRevokeRoleRequest): AuthUserRevokeRoleRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10:
        message.name = r.string();
        break;
      case 18:
        message.role = r.string();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeAuthUserRevokeRoleRequest(w: Writer, message: AuthUserRevokeRoleRequestInit): void {
  if (message.role !== undefined && message.role !== '') {
    w.string(message.role);
    w.varint(18);
  }
  if (message.name !== undefined && message.name !== '') {
    w.string(message.name);
    w.varint(10);
  }
}

export const AuthUserRevokeRoleRequestCodec: Codec<AuthUserRevokeRoleRequest, AuthUserRevokeRoleRequestInit> = {
  write: writeAuthUserRevokeRoleRequest,
  read: (r) => readAuthUserRevokeRoleRequest(r, newAuthUserRevokeRoleRequest()),
};
export const encodeAuthUserRevokeRoleRequest = (message: AuthUserRevokeRoleRequestInit): Uint8Array => encode(AuthUserRevokeRoleRequestCodec, message);
export const decodeAuthUserRevokeRoleRequest = (bytes: Uint8Array): AuthUserRevokeRoleRequest => decode(AuthUserRevokeRoleRequestCodec, bytes, REQUEST_FIELDS_MAX);

export interface AuthRoleAddRequest {
  name: string;
}
export type AuthRoleAddRequestInit = Init<AuthRoleAddRequest>;

export const newAuthRoleAddRequest = (): AuthRoleAddRequest => ({ name: '', });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthRoleAddRequest(r: Reader, message: AuthRoleAddRequest): AuthRoleAddRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10:
        message.name = r.string();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeAuthRoleAddRequest(w: Writer, message: AuthRoleAddRequestInit): void {
  if (message.name !== undefined && message.name !== '') {
    w.string(message.name);
    w.varint(10);
  }
}

export const AuthRoleAddRequestCodec: Codec<AuthRoleAddRequest, AuthRoleAddRequestInit> = {
  write: writeAuthRoleAddRequest,
  read: (r) => readAuthRoleAddRequest(r, newAuthRoleAddRequest()),
};
export const encodeAuthRoleAddRequest = (message: AuthRoleAddRequestInit): Uint8Array => encode(AuthRoleAddRequestCodec, message);
export const decodeAuthRoleAddRequest = (bytes: Uint8Array): AuthRoleAddRequest => decode(AuthRoleAddRequestCodec, bytes, REQUEST_FIELDS_MAX);

export interface AuthRoleGetRequest {
  role: string;
}
export type AuthRoleGetRequestInit = Init<AuthRoleGetRequest>;

export const newAuthRoleGetRequest = (): AuthRoleGetRequest => ({ role: '', });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthRoleGetRequest(r: Reader, message: AuthRoleGetRequest): AuthRoleGetRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10:
        message.role = r.string();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeAuthRoleGetRequest(w: Writer, message: AuthRoleGetRequestInit): void {
  if (message.role !== undefined && message.role !== '') {
    w.string(message.role);
    w.varint(10);
  }
}

export const AuthRoleGetRequestCodec: Codec<AuthRoleGetRequest, AuthRoleGetRequestInit> = {
  write: writeAuthRoleGetRequest,
  read: (r) => readAuthRoleGetRequest(r, newAuthRoleGetRequest()),
};
export const encodeAuthRoleGetRequest = (message: AuthRoleGetRequestInit): Uint8Array => encode(AuthRoleGetRequestCodec, message);
export const decodeAuthRoleGetRequest = (bytes: Uint8Array): AuthRoleGetRequest => decode(AuthRoleGetRequestCodec, bytes, REQUEST_FIELDS_MAX);

export interface AuthUserListRequest {
}
export type AuthUserListRequestInit = Init<AuthUserListRequest>;

export const newAuthUserListRequest = (): AuthUserListRequest => ({ });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthUserListRequest(r: Reader, message: AuthUserListRequest): AuthUserListRequest {
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
export function writeAuthUserListRequest(_w: Writer, _message: AuthUserListRequestInit): void {
}

export const AuthUserListRequestCodec: Codec<AuthUserListRequest, AuthUserListRequestInit> = {
  write: writeAuthUserListRequest,
  read: (r) => readAuthUserListRequest(r, newAuthUserListRequest()),
};
export const encodeAuthUserListRequest = (message: AuthUserListRequestInit): Uint8Array => encode(AuthUserListRequestCodec, message);
export const decodeAuthUserListRequest = (bytes: Uint8Array): AuthUserListRequest => decode(AuthUserListRequestCodec, bytes, REQUEST_FIELDS_MAX);

export interface AuthRoleListRequest {
}
export type AuthRoleListRequestInit = Init<AuthRoleListRequest>;

export const newAuthRoleListRequest = (): AuthRoleListRequest => ({ });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthRoleListRequest(r: Reader, message: AuthRoleListRequest): AuthRoleListRequest {
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
export function writeAuthRoleListRequest(_w: Writer, _message: AuthRoleListRequestInit): void {
}

export const AuthRoleListRequestCodec: Codec<AuthRoleListRequest, AuthRoleListRequestInit> = {
  write: writeAuthRoleListRequest,
  read: (r) => readAuthRoleListRequest(r, newAuthRoleListRequest()),
};
export const encodeAuthRoleListRequest = (message: AuthRoleListRequestInit): Uint8Array => encode(AuthRoleListRequestCodec, message);
export const decodeAuthRoleListRequest = (bytes: Uint8Array): AuthRoleListRequest => decode(AuthRoleListRequestCodec, bytes, REQUEST_FIELDS_MAX);

export interface AuthRoleDeleteRequest {
  role: string;
}
export type AuthRoleDeleteRequestInit = Init<AuthRoleDeleteRequest>;

export const newAuthRoleDeleteRequest = (): AuthRoleDeleteRequest => ({ role: '', });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthRoleDeleteRequest(r: Reader, message: AuthRoleDeleteRequest): AuthRoleDeleteRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10:
        message.role = r.string();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeAuthRoleDeleteRequest(w: Writer, message: AuthRoleDeleteRequestInit): void {
  if (message.role !== undefined && message.role !== '') {
    w.string(message.role);
    w.varint(10);
  }
}

export const AuthRoleDeleteRequestCodec: Codec<AuthRoleDeleteRequest, AuthRoleDeleteRequestInit> = {
  write: writeAuthRoleDeleteRequest,
  read: (r) => readAuthRoleDeleteRequest(r, newAuthRoleDeleteRequest()),
};
export const encodeAuthRoleDeleteRequest = (message: AuthRoleDeleteRequestInit): Uint8Array => encode(AuthRoleDeleteRequestCodec, message);
export const decodeAuthRoleDeleteRequest = (bytes: Uint8Array): AuthRoleDeleteRequest => decode(AuthRoleDeleteRequestCodec, bytes, REQUEST_FIELDS_MAX);

export interface AuthRoleGrantPermissionRequest {
  name: string;
  perm: authpb.Permission | undefined;
}
export type AuthRoleGrantPermissionRequestInit = Init<AuthRoleGrantPermissionRequest>;

export const newAuthRoleGrantPermissionRequest = (): AuthRoleGrantPermissionRequest => ({ name: '', perm: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthRoleGrantPermissionRequest(r: Reader, message: AuthRoleGrantPermissionRequest): AuthRoleGrantPermissionRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10:
        message.name = r.string();
        break;
      case 18: {
        const outer = r.enter();
        message.perm = authpb.readPermission(r, message.perm ?? authpb.newPermission());
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
export function writeAuthRoleGrantPermissionRequest(w: Writer, message: AuthRoleGrantPermissionRequestInit): void {
  if (message.perm !== undefined) {
    const end = w.length;
    authpb.writePermission(w, message.perm);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (message.name !== undefined && message.name !== '') {
    w.string(message.name);
    w.varint(10);
  }
}

export const AuthRoleGrantPermissionRequestCodec: Codec<AuthRoleGrantPermissionRequest, AuthRoleGrantPermissionRequestInit> = {
  write: writeAuthRoleGrantPermissionRequest,
  read: (r) => readAuthRoleGrantPermissionRequest(r, newAuthRoleGrantPermissionRequest()),
};
export const encodeAuthRoleGrantPermissionRequest = (message: AuthRoleGrantPermissionRequestInit): Uint8Array => encode(AuthRoleGrantPermissionRequestCodec, message);
export const decodeAuthRoleGrantPermissionRequest = (bytes: Uint8Array): AuthRoleGrantPermissionRequest => decode(AuthRoleGrantPermissionRequestCodec, bytes, REQUEST_FIELDS_MAX);

export interface AuthRoleRevokePermissionRequest {
  role: string;
  key: Uint8Array;
  rangeEnd: Uint8Array;
}
export type AuthRoleRevokePermissionRequestInit = Init<AuthRoleRevokePermissionRequest>;

export const newAuthRoleRevokePermissionRequest = (): AuthRoleRevokePermissionRequest => ({ role: '', key: EMPTY_BYTES, rangeEnd: EMPTY_BYTES, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthRoleRevokePermissionRequest(r: Reader, message: AuthRoleRevokePermissionRequest): AuthRoleRevokePermissionRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10:
        message.role = r.string();
        break;
      case 18:
        message.key = r.bytes();
        break;
      case 26:
        message.rangeEnd = r.bytes();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeAuthRoleRevokePermissionRequest(w: Writer, message: AuthRoleRevokePermissionRequestInit): void {
  if (message.rangeEnd !== undefined && message.rangeEnd.length > 0) {
    w.bytes(message.rangeEnd);
    w.varint(26);
  }
  if (message.key !== undefined && message.key.length > 0) {
    w.bytes(message.key);
    w.varint(18);
  }
  if (message.role !== undefined && message.role !== '') {
    w.string(message.role);
    w.varint(10);
  }
}

export const AuthRoleRevokePermissionRequestCodec: Codec<AuthRoleRevokePermissionRequest, AuthRoleRevokePermissionRequestInit> = {
  write: writeAuthRoleRevokePermissionRequest,
  read: (r) => readAuthRoleRevokePermissionRequest(r, newAuthRoleRevokePermissionRequest()),
};
export const encodeAuthRoleRevokePermissionRequest = (message: AuthRoleRevokePermissionRequestInit): Uint8Array => encode(AuthRoleRevokePermissionRequestCodec, message);
export const decodeAuthRoleRevokePermissionRequest = (bytes: Uint8Array): AuthRoleRevokePermissionRequest => decode(AuthRoleRevokePermissionRequestCodec, bytes, REQUEST_FIELDS_MAX);

export interface AuthEnableResponse {
  header: ResponseHeader | undefined;
}
export type AuthEnableResponseInit = Init<AuthEnableResponse>;

export const newAuthEnableResponse = (): AuthEnableResponse => ({ header: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthEnableResponse(r: Reader, message: AuthEnableResponse): AuthEnableResponse {
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
export function writeAuthEnableResponse(w: Writer, message: AuthEnableResponseInit): void {
  if (message.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const AuthEnableResponseCodec: Codec<AuthEnableResponse, AuthEnableResponseInit> = {
  write: writeAuthEnableResponse,
  read: (r) => readAuthEnableResponse(r, newAuthEnableResponse()),
};
export const encodeAuthEnableResponse = (message: AuthEnableResponseInit): Uint8Array => encode(AuthEnableResponseCodec, message);
export const decodeAuthEnableResponse = (bytes: Uint8Array): AuthEnableResponse => decode(AuthEnableResponseCodec, bytes);

export interface AuthDisableResponse {
  header: ResponseHeader | undefined;
}
export type AuthDisableResponseInit = Init<AuthDisableResponse>;

export const newAuthDisableResponse = (): AuthDisableResponse => ({ header: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthDisableResponse(r: Reader, message: AuthDisableResponse): AuthDisableResponse {
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
export function writeAuthDisableResponse(w: Writer, message: AuthDisableResponseInit): void {
  if (message.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const AuthDisableResponseCodec: Codec<AuthDisableResponse, AuthDisableResponseInit> = {
  write: writeAuthDisableResponse,
  read: (r) => readAuthDisableResponse(r, newAuthDisableResponse()),
};
export const encodeAuthDisableResponse = (message: AuthDisableResponseInit): Uint8Array => encode(AuthDisableResponseCodec, message);
export const decodeAuthDisableResponse = (bytes: Uint8Array): AuthDisableResponse => decode(AuthDisableResponseCodec, bytes);

export interface AuthStatusResponse {
  header: ResponseHeader | undefined;
  enabled: boolean;
  authRevision: number;
}
export type AuthStatusResponseInit = Init<AuthStatusResponse>;

export const newAuthStatusResponse = (): AuthStatusResponse => ({ header: undefined, enabled: false, authRevision: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthStatusResponse(r: Reader, message: AuthStatusResponse): AuthStatusResponse {
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
        message.enabled = r.bool();
        break;
      case 24:
        message.authRevision = r.uint64();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeAuthStatusResponse(w: Writer, message: AuthStatusResponseInit): void {
  if (message.authRevision !== undefined && message.authRevision !== 0) {
    w.uint64(message.authRevision);
    w.varint(24);
  }
  if (message.enabled === true) {
    w.varint(message.enabled ? 1 : 0);
    w.varint(16);
  }
  if (message.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const AuthStatusResponseCodec: Codec<AuthStatusResponse, AuthStatusResponseInit> = {
  write: writeAuthStatusResponse,
  read: (r) => readAuthStatusResponse(r, newAuthStatusResponse()),
};
export const encodeAuthStatusResponse = (message: AuthStatusResponseInit): Uint8Array => encode(AuthStatusResponseCodec, message);
export const decodeAuthStatusResponse = (bytes: Uint8Array): AuthStatusResponse => decode(AuthStatusResponseCodec, bytes);

export interface AuthenticateResponse {
  header: ResponseHeader | undefined;
  token: string;
}
export type AuthenticateResponseInit = Init<AuthenticateResponse>;

export const newAuthenticateResponse = (): AuthenticateResponse => ({ header: undefined, token: '', });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthenticateResponse(r: Reader, message: AuthenticateResponse): AuthenticateResponse {
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
        message.token = r.string();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeAuthenticateResponse(w: Writer, message: AuthenticateResponseInit): void {
  if (message.token !== undefined && message.token !== '') {
    w.string(message.token);
    w.varint(18);
  }
  if (message.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const AuthenticateResponseCodec: Codec<AuthenticateResponse, AuthenticateResponseInit> = {
  write: writeAuthenticateResponse,
  read: (r) => readAuthenticateResponse(r, newAuthenticateResponse()),
};
export const encodeAuthenticateResponse = (message: AuthenticateResponseInit): Uint8Array => encode(AuthenticateResponseCodec, message);
export const decodeAuthenticateResponse = (bytes: Uint8Array): AuthenticateResponse => decode(AuthenticateResponseCodec, bytes);

export interface AuthUserAddResponse {
  header: ResponseHeader | undefined;
}
export type AuthUserAddResponseInit = Init<AuthUserAddResponse>;

export const newAuthUserAddResponse = (): AuthUserAddResponse => ({ header: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthUserAddResponse(r: Reader, message: AuthUserAddResponse): AuthUserAddResponse {
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
export function writeAuthUserAddResponse(w: Writer, message: AuthUserAddResponseInit): void {
  if (message.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const AuthUserAddResponseCodec: Codec<AuthUserAddResponse, AuthUserAddResponseInit> = {
  write: writeAuthUserAddResponse,
  read: (r) => readAuthUserAddResponse(r, newAuthUserAddResponse()),
};
export const encodeAuthUserAddResponse = (message: AuthUserAddResponseInit): Uint8Array => encode(AuthUserAddResponseCodec, message);
export const decodeAuthUserAddResponse = (bytes: Uint8Array): AuthUserAddResponse => decode(AuthUserAddResponseCodec, bytes);

export interface AuthUserGetResponse {
  header: ResponseHeader | undefined;
  roles: string[];
}
export type AuthUserGetResponseInit = Init<AuthUserGetResponse>;

export const newAuthUserGetResponse = (): AuthUserGetResponse => ({ header: undefined, roles: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthUserGetResponse(r: Reader, message: AuthUserGetResponse): AuthUserGetResponse {
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
        message.roles.push(r.string());
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeAuthUserGetResponse(w: Writer, message: AuthUserGetResponseInit): void {
  if (message.roles !== undefined && message.roles.length > 0) {
    for (let at = message.roles.length - 1; at >= 0; at -= 1) {
      w.string(message.roles[at]!);
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

export const AuthUserGetResponseCodec: Codec<AuthUserGetResponse, AuthUserGetResponseInit> = {
  write: writeAuthUserGetResponse,
  read: (r) => readAuthUserGetResponse(r, newAuthUserGetResponse()),
};
export const encodeAuthUserGetResponse = (message: AuthUserGetResponseInit): Uint8Array => encode(AuthUserGetResponseCodec, message);
export const decodeAuthUserGetResponse = (bytes: Uint8Array): AuthUserGetResponse => decode(AuthUserGetResponseCodec, bytes);

export interface AuthUserDeleteResponse {
  header: ResponseHeader | undefined;
}
export type AuthUserDeleteResponseInit = Init<AuthUserDeleteResponse>;

export const newAuthUserDeleteResponse = (): AuthUserDeleteResponse => ({ header: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthUserDeleteResponse(r: Reader, message: AuthUserDeleteResponse): AuthUserDeleteResponse {
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
export function writeAuthUserDeleteResponse(w: Writer, message: AuthUserDeleteResponseInit): void {
  if (message.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const AuthUserDeleteResponseCodec: Codec<AuthUserDeleteResponse, AuthUserDeleteResponseInit> = {
  write: writeAuthUserDeleteResponse,
  read: (r) => readAuthUserDeleteResponse(r, newAuthUserDeleteResponse()),
};
export const encodeAuthUserDeleteResponse = (message: AuthUserDeleteResponseInit): Uint8Array => encode(AuthUserDeleteResponseCodec, message);
export const decodeAuthUserDeleteResponse = (bytes: Uint8Array): AuthUserDeleteResponse => decode(AuthUserDeleteResponseCodec, bytes);

export interface AuthUserChangePasswordResponse {
  header: ResponseHeader | undefined;
}
export type AuthUserChangePasswordResponseInit = Init<AuthUserChangePasswordResponse>;

export const newAuthUserChangePasswordResponse = (): AuthUserChangePasswordResponse => ({ header: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthUserChangePasswordResponse(r: Reader, message: AuthUserChangePasswordResponse): AuthUserChangePasswordResponse {
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
export function writeAuthUserChangePasswordResponse(w: Writer, message: AuthUserChangePasswordResponseInit): void {
  if (message.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const AuthUserChangePasswordResponseCodec: Codec<AuthUserChangePasswordResponse, AuthUserChangePasswordResponseInit> = {
  write: writeAuthUserChangePasswordResponse,
  read: (r) => readAuthUserChangePasswordResponse(r, newAuthUserChangePasswordResponse()),
};
export const encodeAuthUserChangePasswordResponse = (message: AuthUserChangePasswordResponseInit): Uint8Array => encode(AuthUserChangePasswordResponseCodec, message);
export const decodeAuthUserChangePasswordResponse = (bytes: Uint8Array): AuthUserChangePasswordResponse => decode(AuthUserChangePasswordResponseCodec, bytes);

export interface AuthUserGrantRoleResponse {
  header: ResponseHeader | undefined;
}
export type AuthUserGrantRoleResponseInit = Init<AuthUserGrantRoleResponse>;

export const newAuthUserGrantRoleResponse = (): AuthUserGrantRoleResponse => ({ header: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthUserGrantRoleResponse(r: Reader, message: AuthUserGrantRoleResponse): AuthUserGrantRoleResponse {
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
export function writeAuthUserGrantRoleResponse(w: Writer, message: AuthUserGrantRoleResponseInit): void {
  if (message.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const AuthUserGrantRoleResponseCodec: Codec<AuthUserGrantRoleResponse, AuthUserGrantRoleResponseInit> = {
  write: writeAuthUserGrantRoleResponse,
  read: (r) => readAuthUserGrantRoleResponse(r, newAuthUserGrantRoleResponse()),
};
export const encodeAuthUserGrantRoleResponse = (message: AuthUserGrantRoleResponseInit): Uint8Array => encode(AuthUserGrantRoleResponseCodec, message);
export const decodeAuthUserGrantRoleResponse = (bytes: Uint8Array): AuthUserGrantRoleResponse => decode(AuthUserGrantRoleResponseCodec, bytes);

export interface AuthUserRevokeRoleResponse {
  header: ResponseHeader | undefined;
}
export type AuthUserRevokeRoleResponseInit = Init<AuthUserRevokeRoleResponse>;

export const newAuthUserRevokeRoleResponse = (): AuthUserRevokeRoleResponse => ({ header: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthUserRevokeRoleResponse(r: Reader, message: AuthUserRevokeRoleResponse): AuthUserRevokeRoleResponse {
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
export function writeAuthUserRevokeRoleResponse(w: Writer, message: AuthUserRevokeRoleResponseInit): void {
  if (message.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const AuthUserRevokeRoleResponseCodec: Codec<AuthUserRevokeRoleResponse, AuthUserRevokeRoleResponseInit> = {
  write: writeAuthUserRevokeRoleResponse,
  read: (r) => readAuthUserRevokeRoleResponse(r, newAuthUserRevokeRoleResponse()),
};
export const encodeAuthUserRevokeRoleResponse = (message: AuthUserRevokeRoleResponseInit): Uint8Array => encode(AuthUserRevokeRoleResponseCodec, message);
export const decodeAuthUserRevokeRoleResponse = (bytes: Uint8Array): AuthUserRevokeRoleResponse => decode(AuthUserRevokeRoleResponseCodec, bytes);

export interface AuthRoleAddResponse {
  header: ResponseHeader | undefined;
}
export type AuthRoleAddResponseInit = Init<AuthRoleAddResponse>;

export const newAuthRoleAddResponse = (): AuthRoleAddResponse => ({ header: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthRoleAddResponse(r: Reader, message: AuthRoleAddResponse): AuthRoleAddResponse {
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
export function writeAuthRoleAddResponse(w: Writer, message: AuthRoleAddResponseInit): void {
  if (message.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const AuthRoleAddResponseCodec: Codec<AuthRoleAddResponse, AuthRoleAddResponseInit> = {
  write: writeAuthRoleAddResponse,
  read: (r) => readAuthRoleAddResponse(r, newAuthRoleAddResponse()),
};
export const encodeAuthRoleAddResponse = (message: AuthRoleAddResponseInit): Uint8Array => encode(AuthRoleAddResponseCodec, message);
export const decodeAuthRoleAddResponse = (bytes: Uint8Array): AuthRoleAddResponse => decode(AuthRoleAddResponseCodec, bytes);

export interface AuthRoleGetResponse {
  header: ResponseHeader | undefined;
  perm: authpb.Permission[];
}
export type AuthRoleGetResponseInit = Init<AuthRoleGetResponse>;

export const newAuthRoleGetResponse = (): AuthRoleGetResponse => ({ header: undefined, perm: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthRoleGetResponse(r: Reader, message: AuthRoleGetResponse): AuthRoleGetResponse {
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
        message.perm.push(authpb.readPermission(r, authpb.newPermission()));
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
export function writeAuthRoleGetResponse(w: Writer, message: AuthRoleGetResponseInit): void {
  if (message.perm !== undefined && message.perm.length > 0) {
    for (let at = message.perm.length - 1; at >= 0; at -= 1) {
      const end = w.length;
      authpb.writePermission(w, message.perm[at]!);
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

export const AuthRoleGetResponseCodec: Codec<AuthRoleGetResponse, AuthRoleGetResponseInit> = {
  write: writeAuthRoleGetResponse,
  read: (r) => readAuthRoleGetResponse(r, newAuthRoleGetResponse()),
};
export const encodeAuthRoleGetResponse = (message: AuthRoleGetResponseInit): Uint8Array => encode(AuthRoleGetResponseCodec, message);
export const decodeAuthRoleGetResponse = (bytes: Uint8Array): AuthRoleGetResponse => decode(AuthRoleGetResponseCodec, bytes);

export interface AuthRoleListResponse {
  header: ResponseHeader | undefined;
  roles: string[];
}
export type AuthRoleListResponseInit = Init<AuthRoleListResponse>;

export const newAuthRoleListResponse = (): AuthRoleListResponse => ({ header: undefined, roles: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthRoleListResponse(r: Reader, message: AuthRoleListResponse): AuthRoleListResponse {
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
        message.roles.push(r.string());
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeAuthRoleListResponse(w: Writer, message: AuthRoleListResponseInit): void {
  if (message.roles !== undefined && message.roles.length > 0) {
    for (let at = message.roles.length - 1; at >= 0; at -= 1) {
      w.string(message.roles[at]!);
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

export const AuthRoleListResponseCodec: Codec<AuthRoleListResponse, AuthRoleListResponseInit> = {
  write: writeAuthRoleListResponse,
  read: (r) => readAuthRoleListResponse(r, newAuthRoleListResponse()),
};
export const encodeAuthRoleListResponse = (message: AuthRoleListResponseInit): Uint8Array => encode(AuthRoleListResponseCodec, message);
export const decodeAuthRoleListResponse = (bytes: Uint8Array): AuthRoleListResponse => decode(AuthRoleListResponseCodec, bytes);

export interface AuthUserListResponse {
  header: ResponseHeader | undefined;
  users: string[];
}
export type AuthUserListResponseInit = Init<AuthUserListResponse>;

export const newAuthUserListResponse = (): AuthUserListResponse => ({ header: undefined, users: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthUserListResponse(r: Reader, message: AuthUserListResponse): AuthUserListResponse {
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
        message.users.push(r.string());
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeAuthUserListResponse(w: Writer, message: AuthUserListResponseInit): void {
  if (message.users !== undefined && message.users.length > 0) {
    for (let at = message.users.length - 1; at >= 0; at -= 1) {
      w.string(message.users[at]!);
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

export const AuthUserListResponseCodec: Codec<AuthUserListResponse, AuthUserListResponseInit> = {
  write: writeAuthUserListResponse,
  read: (r) => readAuthUserListResponse(r, newAuthUserListResponse()),
};
export const encodeAuthUserListResponse = (message: AuthUserListResponseInit): Uint8Array => encode(AuthUserListResponseCodec, message);
export const decodeAuthUserListResponse = (bytes: Uint8Array): AuthUserListResponse => decode(AuthUserListResponseCodec, bytes);

export interface AuthRoleDeleteResponse {
  header: ResponseHeader | undefined;
}
export type AuthRoleDeleteResponseInit = Init<AuthRoleDeleteResponse>;

export const newAuthRoleDeleteResponse = (): AuthRoleDeleteResponse => ({ header: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthRoleDeleteResponse(r: Reader, message: AuthRoleDeleteResponse): AuthRoleDeleteResponse {
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
export function writeAuthRoleDeleteResponse(w: Writer, message: AuthRoleDeleteResponseInit): void {
  if (message.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const AuthRoleDeleteResponseCodec: Codec<AuthRoleDeleteResponse, AuthRoleDeleteResponseInit> = {
  write: writeAuthRoleDeleteResponse,
  read: (r) => readAuthRoleDeleteResponse(r, newAuthRoleDeleteResponse()),
};
export const encodeAuthRoleDeleteResponse = (message: AuthRoleDeleteResponseInit): Uint8Array => encode(AuthRoleDeleteResponseCodec, message);
export const decodeAuthRoleDeleteResponse = (bytes: Uint8Array): AuthRoleDeleteResponse => decode(AuthRoleDeleteResponseCodec, bytes);

export interface AuthRoleGrantPermissionResponse {
  header: ResponseHeader | undefined;
}
export type AuthRoleGrantPermissionResponseInit = Init<AuthRoleGrantPermissionResponse>;

export const newAuthRoleGrantPermissionResponse = (): AuthRoleGrantPermissionResponse => ({ header: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthRoleGrantPermissionResponse(r: Reader, message: AuthRoleGrantPermissionResponse): AuthRoleGrantPermissionResponse {
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
export function writeAuthRoleGrantPermissionResponse(w: Writer, message: AuthRoleGrantPermissionResponseInit): void {
  if (message.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const AuthRoleGrantPermissionResponseCodec: Codec<AuthRoleGrantPermissionResponse, AuthRoleGrantPermissionResponseInit> = {
  write: writeAuthRoleGrantPermissionResponse,
  read: (r) => readAuthRoleGrantPermissionResponse(r, newAuthRoleGrantPermissionResponse()),
};
export const encodeAuthRoleGrantPermissionResponse = (message: AuthRoleGrantPermissionResponseInit): Uint8Array => encode(AuthRoleGrantPermissionResponseCodec, message);
export const decodeAuthRoleGrantPermissionResponse = (bytes: Uint8Array): AuthRoleGrantPermissionResponse => decode(AuthRoleGrantPermissionResponseCodec, bytes);

export interface AuthRoleRevokePermissionResponse {
  header: ResponseHeader | undefined;
}
export type AuthRoleRevokePermissionResponseInit = Init<AuthRoleRevokePermissionResponse>;

export const newAuthRoleRevokePermissionResponse = (): AuthRoleRevokePermissionResponse => ({ header: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthRoleRevokePermissionResponse(r: Reader, message: AuthRoleRevokePermissionResponse): AuthRoleRevokePermissionResponse {
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
export function writeAuthRoleRevokePermissionResponse(w: Writer, message: AuthRoleRevokePermissionResponseInit): void {
  if (message.header !== undefined) {
    const end = w.length;
    writeResponseHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const AuthRoleRevokePermissionResponseCodec: Codec<AuthRoleRevokePermissionResponse, AuthRoleRevokePermissionResponseInit> = {
  write: writeAuthRoleRevokePermissionResponse,
  read: (r) => readAuthRoleRevokePermissionResponse(r, newAuthRoleRevokePermissionResponse()),
};
export const encodeAuthRoleRevokePermissionResponse = (message: AuthRoleRevokePermissionResponseInit): Uint8Array => encode(AuthRoleRevokePermissionResponseCodec, message);
export const decodeAuthRoleRevokePermissionResponse = (bytes: Uint8Array): AuthRoleRevokePermissionResponse => decode(AuthRoleRevokePermissionResponseCodec, bytes);

export interface RangeStreamResponse {
  rangeResponse: RangeResponse | undefined;
}
export type RangeStreamResponseInit = Init<RangeStreamResponse>;

export const newRangeStreamResponse = (): RangeStreamResponse => ({ rangeResponse: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readRangeStreamResponse(r: Reader, message: RangeStreamResponse): RangeStreamResponse {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.rangeResponse = readRangeResponse(r, message.rangeResponse ?? newRangeResponse());
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
export function writeRangeStreamResponse(w: Writer, message: RangeStreamResponseInit): void {
  if (message.rangeResponse !== undefined) {
    const end = w.length;
    writeRangeResponse(w, message.rangeResponse);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const RangeStreamResponseCodec: Codec<RangeStreamResponse, RangeStreamResponseInit> = {
  write: writeRangeStreamResponse,
  read: (r) => readRangeStreamResponse(r, newRangeStreamResponse()),
};
export const encodeRangeStreamResponse = (message: RangeStreamResponseInit): Uint8Array => encode(RangeStreamResponseCodec, message);
export const decodeRangeStreamResponse = (bytes: Uint8Array): RangeStreamResponse => decode(RangeStreamResponseCodec, bytes);
