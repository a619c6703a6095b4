// Made by packages/wire/tools/generate.ts from proto/. Not edited by hand.
import { EMPTY_BYTES, type Int64 } from '@engram/core';
import type { Init } from '../protobuf/init.ts';
import { Reader } from '../protobuf/reader.ts';
import { sizeBig, sizeDelimited, sizeExact, sizeInt32, sizeInt64, sizeString, sizeUint64, sizeVarint, writeBig, writeBytes, writeExact, writeInt32, writeInt64, writeString, writeUint64, writeVarint } from '../protobuf/writer.ts';
import { newEvent, newKeyValue, readEvent, readKeyValue, sizeEvent, sizeKeyValue, type Event, type KeyValue, writeEvent, writeKeyValue } from './mvccpb.ts';
import { newPermission, newUserAddOptions, readPermission, readUserAddOptions, sizePermission, sizeUserAddOptions, type Permission, type UserAddOptions, writePermission, writeUserAddOptions } from './authpb.ts';

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

export const newResponseHeader = (): ResponseHeader => ({ clusterId: 0n, memberId: 0n, revision: 0, raftTerm: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readResponseHeader(reader: Reader, message: ResponseHeader): ResponseHeader {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 8:
        message.clusterId = reader.bigUint64();
        break;
      case 16:
        message.memberId = reader.bigUint64();
        break;
      case 24:
        message.revision = reader.int64();
        break;
      case 32:
        message.raftTerm = reader.uint64();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeResponseHeader(bytes: Uint8Array): ResponseHeader {
  return readResponseHeader(new Reader(bytes), newResponseHeader());
}

export function sizeResponseHeader(message: Init<ResponseHeader>): number {
  let size = 0;
  if (message.clusterId !== undefined && message.clusterId !== 0n) size += 1 + sizeBig(message.clusterId);
  if (message.memberId !== undefined && message.memberId !== 0n) size += 1 + sizeBig(message.memberId);
  if (message.revision !== undefined && message.revision !== 0) size += 1 + sizeInt64(message.revision);
  if (message.raftTerm !== undefined && message.raftTerm !== 0) size += 1 + sizeUint64(message.raftTerm);
  return size;
}

/** Writes `sizeResponseHeader(message)` bytes from `at` on, and returns where the next one goes. */
export function writeResponseHeader(message: Init<ResponseHeader>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.clusterId !== undefined && message.clusterId !== 0n) {
    into[next] = 8;
    next += 1;
    next = writeBig(message.clusterId, into, next);
  }
  if (message.memberId !== undefined && message.memberId !== 0n) {
    into[next] = 16;
    next += 1;
    next = writeBig(message.memberId, into, next);
  }
  if (message.revision !== undefined && message.revision !== 0) {
    into[next] = 24;
    next += 1;
    next = writeInt64(message.revision, into, next);
  }
  if (message.raftTerm !== undefined && message.raftTerm !== 0) {
    into[next] = 32;
    next += 1;
    next = writeUint64(message.raftTerm, into, next);
  }
  return next;
}

export function encodeResponseHeader(message: Init<ResponseHeader>): Uint8Array {
  const into = new Uint8Array(sizeResponseHeader(message));
  writeResponseHeader(message, into, 0);
  return into;
}

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

export const newRangeRequest = (): RangeRequest => ({ key: EMPTY_BYTES, rangeEnd: EMPTY_BYTES, limit: 0, revision: 0, sortOrder: 0, sortTarget: 0, serializable: false, keysOnly: false, countOnly: false, minModRevision: 0, maxModRevision: 0, minCreateRevision: 0, maxCreateRevision: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readRangeRequest(reader: Reader, message: RangeRequest): RangeRequest {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10:
        message.key = reader.bytes();
        break;
      case 18:
        message.rangeEnd = reader.bytes();
        break;
      case 24:
        message.limit = reader.int64();
        break;
      case 32:
        message.revision = reader.int64();
        break;
      case 40:
        message.sortOrder = reader.int32();
        break;
      case 48:
        message.sortTarget = reader.int32();
        break;
      case 56:
        message.serializable = reader.bool();
        break;
      case 64:
        message.keysOnly = reader.bool();
        break;
      case 72:
        message.countOnly = reader.bool();
        break;
      case 80:
        message.minModRevision = reader.int64();
        break;
      case 88:
        message.maxModRevision = reader.int64();
        break;
      case 96:
        message.minCreateRevision = reader.int64();
        break;
      case 104:
        message.maxCreateRevision = reader.int64();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeRangeRequest(bytes: Uint8Array): RangeRequest {
  return readRangeRequest(new Reader(bytes), newRangeRequest());
}

export function sizeRangeRequest(message: Init<RangeRequest>): number {
  let size = 0;
  if (message.key !== undefined && message.key.length > 0) size += 1 + sizeDelimited(message.key.length);
  if (message.rangeEnd !== undefined && message.rangeEnd.length > 0) size += 1 + sizeDelimited(message.rangeEnd.length);
  if (message.limit !== undefined && message.limit !== 0) size += 1 + sizeInt64(message.limit);
  if (message.revision !== undefined && message.revision !== 0) size += 1 + sizeInt64(message.revision);
  if (message.sortOrder !== undefined && message.sortOrder !== 0) size += 1 + sizeInt32(message.sortOrder);
  if (message.sortTarget !== undefined && message.sortTarget !== 0) size += 1 + sizeInt32(message.sortTarget);
  if (message.serializable === true) size += 1 + 1;
  if (message.keysOnly === true) size += 1 + 1;
  if (message.countOnly === true) size += 1 + 1;
  if (message.minModRevision !== undefined && message.minModRevision !== 0) size += 1 + sizeInt64(message.minModRevision);
  if (message.maxModRevision !== undefined && message.maxModRevision !== 0) size += 1 + sizeInt64(message.maxModRevision);
  if (message.minCreateRevision !== undefined && message.minCreateRevision !== 0) size += 1 + sizeInt64(message.minCreateRevision);
  if (message.maxCreateRevision !== undefined && message.maxCreateRevision !== 0) size += 1 + sizeInt64(message.maxCreateRevision);
  return size;
}

/** Writes `sizeRangeRequest(message)` bytes from `at` on, and returns where the next one goes. */
export function writeRangeRequest(message: Init<RangeRequest>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.key !== undefined && message.key.length > 0) {
    into[next] = 10;
    next += 1;
    next = writeBytes(message.key, into, next);
  }
  if (message.rangeEnd !== undefined && message.rangeEnd.length > 0) {
    into[next] = 18;
    next += 1;
    next = writeBytes(message.rangeEnd, into, next);
  }
  if (message.limit !== undefined && message.limit !== 0) {
    into[next] = 24;
    next += 1;
    next = writeInt64(message.limit, into, next);
  }
  if (message.revision !== undefined && message.revision !== 0) {
    into[next] = 32;
    next += 1;
    next = writeInt64(message.revision, into, next);
  }
  if (message.sortOrder !== undefined && message.sortOrder !== 0) {
    into[next] = 40;
    next += 1;
    next = writeInt32(message.sortOrder, into, next);
  }
  if (message.sortTarget !== undefined && message.sortTarget !== 0) {
    into[next] = 48;
    next += 1;
    next = writeInt32(message.sortTarget, into, next);
  }
  if (message.serializable === true) {
    into[next] = 56;
    next += 1;
    next = writeVarint(message.serializable ? 1 : 0, into, next);
  }
  if (message.keysOnly === true) {
    into[next] = 64;
    next += 1;
    next = writeVarint(message.keysOnly ? 1 : 0, into, next);
  }
  if (message.countOnly === true) {
    into[next] = 72;
    next += 1;
    next = writeVarint(message.countOnly ? 1 : 0, into, next);
  }
  if (message.minModRevision !== undefined && message.minModRevision !== 0) {
    into[next] = 80;
    next += 1;
    next = writeInt64(message.minModRevision, into, next);
  }
  if (message.maxModRevision !== undefined && message.maxModRevision !== 0) {
    into[next] = 88;
    next += 1;
    next = writeInt64(message.maxModRevision, into, next);
  }
  if (message.minCreateRevision !== undefined && message.minCreateRevision !== 0) {
    into[next] = 96;
    next += 1;
    next = writeInt64(message.minCreateRevision, into, next);
  }
  if (message.maxCreateRevision !== undefined && message.maxCreateRevision !== 0) {
    into[next] = 104;
    next += 1;
    next = writeInt64(message.maxCreateRevision, into, next);
  }
  return next;
}

export function encodeRangeRequest(message: Init<RangeRequest>): Uint8Array {
  const into = new Uint8Array(sizeRangeRequest(message));
  writeRangeRequest(message, into, 0);
  return into;
}

export interface RangeResponse {
  header: ResponseHeader | undefined;
  kvs: KeyValue[];
  more: boolean;
  count: number;
}

export const newRangeResponse = (): RangeResponse => ({ header: undefined, kvs: [], more: false, count: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readRangeResponse(reader: Reader, message: RangeResponse): RangeResponse {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10: {
        const outer = reader.enter();
        message.header = readResponseHeader(reader, message.header ?? newResponseHeader());
        reader.leave(outer);
        break;
      }
      case 18: {
        const outer = reader.enter();
        message.kvs.push(readKeyValue(reader, newKeyValue()));
        reader.leave(outer);
        break;
      }
      case 24:
        message.more = reader.bool();
        break;
      case 32:
        message.count = reader.int64();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeRangeResponse(bytes: Uint8Array): RangeResponse {
  return readRangeResponse(new Reader(bytes), newRangeResponse());
}

export function sizeRangeResponse(message: Init<RangeResponse>): number {
  let size = 0;
  if (message.header !== undefined) {
    const inner = sizeResponseHeader(message.header);
    size += 1 + sizeVarint(inner) + inner;
  }
  for (const value of message.kvs ?? []) {
    const inner = sizeKeyValue(value);
    size += 1 + sizeVarint(inner) + inner;
  }
  if (message.more === true) size += 1 + 1;
  if (message.count !== undefined && message.count !== 0) size += 1 + sizeInt64(message.count);
  return size;
}

/** Writes `sizeRangeResponse(message)` bytes from `at` on, and returns where the next one goes. */
export function writeRangeResponse(message: Init<RangeResponse>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.header !== undefined) {
    into[next] = 10;
    next += 1;
    next = writeVarint(sizeResponseHeader(message.header), into, next);
    next = writeResponseHeader(message.header, into, next);
  }
  for (const value of message.kvs ?? []) {
    into[next] = 18;
    next += 1;
    next = writeVarint(sizeKeyValue(value), into, next);
    next = writeKeyValue(value, into, next);
  }
  if (message.more === true) {
    into[next] = 24;
    next += 1;
    next = writeVarint(message.more ? 1 : 0, into, next);
  }
  if (message.count !== undefined && message.count !== 0) {
    into[next] = 32;
    next += 1;
    next = writeInt64(message.count, into, next);
  }
  return next;
}

export function encodeRangeResponse(message: Init<RangeResponse>): Uint8Array {
  const into = new Uint8Array(sizeRangeResponse(message));
  writeRangeResponse(message, into, 0);
  return into;
}

export interface PutRequest {
  key: Uint8Array;
  value: Uint8Array;
  lease: bigint;
  prevKv: boolean;
  ignoreValue: boolean;
  ignoreLease: boolean;
}

export const newPutRequest = (): PutRequest => ({ key: EMPTY_BYTES, value: EMPTY_BYTES, lease: 0n, prevKv: false, ignoreValue: false, ignoreLease: false, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readPutRequest(reader: Reader, message: PutRequest): PutRequest {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10:
        message.key = reader.bytes();
        break;
      case 18:
        message.value = reader.bytes();
        break;
      case 24:
        message.lease = reader.bigInt64();
        break;
      case 32:
        message.prevKv = reader.bool();
        break;
      case 40:
        message.ignoreValue = reader.bool();
        break;
      case 48:
        message.ignoreLease = reader.bool();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodePutRequest(bytes: Uint8Array): PutRequest {
  return readPutRequest(new Reader(bytes), newPutRequest());
}

export function sizePutRequest(message: Init<PutRequest>): number {
  let size = 0;
  if (message.key !== undefined && message.key.length > 0) size += 1 + sizeDelimited(message.key.length);
  if (message.value !== undefined && message.value.length > 0) size += 1 + sizeDelimited(message.value.length);
  if (message.lease !== undefined && message.lease !== 0n) size += 1 + sizeBig(message.lease);
  if (message.prevKv === true) size += 1 + 1;
  if (message.ignoreValue === true) size += 1 + 1;
  if (message.ignoreLease === true) size += 1 + 1;
  return size;
}

/** Writes `sizePutRequest(message)` bytes from `at` on, and returns where the next one goes. */
export function writePutRequest(message: Init<PutRequest>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.key !== undefined && message.key.length > 0) {
    into[next] = 10;
    next += 1;
    next = writeBytes(message.key, into, next);
  }
  if (message.value !== undefined && message.value.length > 0) {
    into[next] = 18;
    next += 1;
    next = writeBytes(message.value, into, next);
  }
  if (message.lease !== undefined && message.lease !== 0n) {
    into[next] = 24;
    next += 1;
    next = writeBig(message.lease, into, next);
  }
  if (message.prevKv === true) {
    into[next] = 32;
    next += 1;
    next = writeVarint(message.prevKv ? 1 : 0, into, next);
  }
  if (message.ignoreValue === true) {
    into[next] = 40;
    next += 1;
    next = writeVarint(message.ignoreValue ? 1 : 0, into, next);
  }
  if (message.ignoreLease === true) {
    into[next] = 48;
    next += 1;
    next = writeVarint(message.ignoreLease ? 1 : 0, into, next);
  }
  return next;
}

export function encodePutRequest(message: Init<PutRequest>): Uint8Array {
  const into = new Uint8Array(sizePutRequest(message));
  writePutRequest(message, into, 0);
  return into;
}

export interface PutResponse {
  header: ResponseHeader | undefined;
  prevKv: KeyValue | undefined;
}

export const newPutResponse = (): PutResponse => ({ header: undefined, prevKv: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readPutResponse(reader: Reader, message: PutResponse): PutResponse {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10: {
        const outer = reader.enter();
        message.header = readResponseHeader(reader, message.header ?? newResponseHeader());
        reader.leave(outer);
        break;
      }
      case 18: {
        const outer = reader.enter();
        message.prevKv = readKeyValue(reader, message.prevKv ?? newKeyValue());
        reader.leave(outer);
        break;
      }
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodePutResponse(bytes: Uint8Array): PutResponse {
  return readPutResponse(new Reader(bytes), newPutResponse());
}

export function sizePutResponse(message: Init<PutResponse>): number {
  let size = 0;
  if (message.header !== undefined) {
    const inner = sizeResponseHeader(message.header);
    size += 1 + sizeVarint(inner) + inner;
  }
  if (message.prevKv !== undefined) {
    const inner = sizeKeyValue(message.prevKv);
    size += 1 + sizeVarint(inner) + inner;
  }
  return size;
}

/** Writes `sizePutResponse(message)` bytes from `at` on, and returns where the next one goes. */
export function writePutResponse(message: Init<PutResponse>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.header !== undefined) {
    into[next] = 10;
    next += 1;
    next = writeVarint(sizeResponseHeader(message.header), into, next);
    next = writeResponseHeader(message.header, into, next);
  }
  if (message.prevKv !== undefined) {
    into[next] = 18;
    next += 1;
    next = writeVarint(sizeKeyValue(message.prevKv), into, next);
    next = writeKeyValue(message.prevKv, into, next);
  }
  return next;
}

export function encodePutResponse(message: Init<PutResponse>): Uint8Array {
  const into = new Uint8Array(sizePutResponse(message));
  writePutResponse(message, into, 0);
  return into;
}

export interface DeleteRangeRequest {
  key: Uint8Array;
  rangeEnd: Uint8Array;
  prevKv: boolean;
}

export const newDeleteRangeRequest = (): DeleteRangeRequest => ({ key: EMPTY_BYTES, rangeEnd: EMPTY_BYTES, prevKv: false, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readDeleteRangeRequest(reader: Reader, message: DeleteRangeRequest): DeleteRangeRequest {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10:
        message.key = reader.bytes();
        break;
      case 18:
        message.rangeEnd = reader.bytes();
        break;
      case 24:
        message.prevKv = reader.bool();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeDeleteRangeRequest(bytes: Uint8Array): DeleteRangeRequest {
  return readDeleteRangeRequest(new Reader(bytes), newDeleteRangeRequest());
}

export function sizeDeleteRangeRequest(message: Init<DeleteRangeRequest>): number {
  let size = 0;
  if (message.key !== undefined && message.key.length > 0) size += 1 + sizeDelimited(message.key.length);
  if (message.rangeEnd !== undefined && message.rangeEnd.length > 0) size += 1 + sizeDelimited(message.rangeEnd.length);
  if (message.prevKv === true) size += 1 + 1;
  return size;
}

/** Writes `sizeDeleteRangeRequest(message)` bytes from `at` on, and returns where the next one goes. */
export function writeDeleteRangeRequest(message: Init<DeleteRangeRequest>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.key !== undefined && message.key.length > 0) {
    into[next] = 10;
    next += 1;
    next = writeBytes(message.key, into, next);
  }
  if (message.rangeEnd !== undefined && message.rangeEnd.length > 0) {
    into[next] = 18;
    next += 1;
    next = writeBytes(message.rangeEnd, into, next);
  }
  if (message.prevKv === true) {
    into[next] = 24;
    next += 1;
    next = writeVarint(message.prevKv ? 1 : 0, into, next);
  }
  return next;
}

export function encodeDeleteRangeRequest(message: Init<DeleteRangeRequest>): Uint8Array {
  const into = new Uint8Array(sizeDeleteRangeRequest(message));
  writeDeleteRangeRequest(message, into, 0);
  return into;
}

export interface DeleteRangeResponse {
  header: ResponseHeader | undefined;
  deleted: number;
  prevKvs: KeyValue[];
}

export const newDeleteRangeResponse = (): DeleteRangeResponse => ({ header: undefined, deleted: 0, prevKvs: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readDeleteRangeResponse(reader: Reader, message: DeleteRangeResponse): DeleteRangeResponse {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10: {
        const outer = reader.enter();
        message.header = readResponseHeader(reader, message.header ?? newResponseHeader());
        reader.leave(outer);
        break;
      }
      case 16:
        message.deleted = reader.int64();
        break;
      case 26: {
        const outer = reader.enter();
        message.prevKvs.push(readKeyValue(reader, newKeyValue()));
        reader.leave(outer);
        break;
      }
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeDeleteRangeResponse(bytes: Uint8Array): DeleteRangeResponse {
  return readDeleteRangeResponse(new Reader(bytes), newDeleteRangeResponse());
}

export function sizeDeleteRangeResponse(message: Init<DeleteRangeResponse>): number {
  let size = 0;
  if (message.header !== undefined) {
    const inner = sizeResponseHeader(message.header);
    size += 1 + sizeVarint(inner) + inner;
  }
  if (message.deleted !== undefined && message.deleted !== 0) size += 1 + sizeInt64(message.deleted);
  for (const value of message.prevKvs ?? []) {
    const inner = sizeKeyValue(value);
    size += 1 + sizeVarint(inner) + inner;
  }
  return size;
}

/** Writes `sizeDeleteRangeResponse(message)` bytes from `at` on, and returns where the next one goes. */
export function writeDeleteRangeResponse(message: Init<DeleteRangeResponse>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.header !== undefined) {
    into[next] = 10;
    next += 1;
    next = writeVarint(sizeResponseHeader(message.header), into, next);
    next = writeResponseHeader(message.header, into, next);
  }
  if (message.deleted !== undefined && message.deleted !== 0) {
    into[next] = 16;
    next += 1;
    next = writeInt64(message.deleted, into, next);
  }
  for (const value of message.prevKvs ?? []) {
    into[next] = 26;
    next += 1;
    next = writeVarint(sizeKeyValue(value), into, next);
    next = writeKeyValue(value, into, next);
  }
  return next;
}

export function encodeDeleteRangeResponse(message: Init<DeleteRangeResponse>): Uint8Array {
  const into = new Uint8Array(sizeDeleteRangeResponse(message));
  writeDeleteRangeResponse(message, into, 0);
  return into;
}

export interface RequestOp {
  requestRange: RangeRequest | undefined;
  requestPut: PutRequest | undefined;
  requestDeleteRange: DeleteRangeRequest | undefined;
  requestTxn: TxnRequest | undefined;
}

export const newRequestOp = (): RequestOp => ({ requestRange: undefined, requestPut: undefined, requestDeleteRange: undefined, requestTxn: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readRequestOp(reader: Reader, message: RequestOp): RequestOp {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10: {
        const outer = reader.enter();
        message.requestRange = readRangeRequest(reader, message.requestRange ?? newRangeRequest());
        reader.leave(outer);
        message.requestPut = undefined;
        message.requestDeleteRange = undefined;
        message.requestTxn = undefined;
        break;
      }
      case 18: {
        const outer = reader.enter();
        message.requestPut = readPutRequest(reader, message.requestPut ?? newPutRequest());
        reader.leave(outer);
        message.requestRange = undefined;
        message.requestDeleteRange = undefined;
        message.requestTxn = undefined;
        break;
      }
      case 26: {
        const outer = reader.enter();
        message.requestDeleteRange = readDeleteRangeRequest(reader, message.requestDeleteRange ?? newDeleteRangeRequest());
        reader.leave(outer);
        message.requestRange = undefined;
        message.requestPut = undefined;
        message.requestTxn = undefined;
        break;
      }
      case 34: {
        const outer = reader.enter();
        message.requestTxn = readTxnRequest(reader, message.requestTxn ?? newTxnRequest());
        reader.leave(outer);
        message.requestRange = undefined;
        message.requestPut = undefined;
        message.requestDeleteRange = undefined;
        break;
      }
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeRequestOp(bytes: Uint8Array): RequestOp {
  return readRequestOp(new Reader(bytes), newRequestOp());
}

export function sizeRequestOp(message: Init<RequestOp>): number {
  let size = 0;
  if (message.requestRange !== undefined) {
    const inner = sizeRangeRequest(message.requestRange);
    size += 1 + sizeVarint(inner) + inner;
  }
  if (message.requestPut !== undefined) {
    const inner = sizePutRequest(message.requestPut);
    size += 1 + sizeVarint(inner) + inner;
  }
  if (message.requestDeleteRange !== undefined) {
    const inner = sizeDeleteRangeRequest(message.requestDeleteRange);
    size += 1 + sizeVarint(inner) + inner;
  }
  if (message.requestTxn !== undefined) {
    const inner = sizeTxnRequest(message.requestTxn);
    size += 1 + sizeVarint(inner) + inner;
  }
  return size;
}

/** Writes `sizeRequestOp(message)` bytes from `at` on, and returns where the next one goes. */
export function writeRequestOp(message: Init<RequestOp>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.requestRange !== undefined) {
    into[next] = 10;
    next += 1;
    next = writeVarint(sizeRangeRequest(message.requestRange), into, next);
    next = writeRangeRequest(message.requestRange, into, next);
  }
  if (message.requestPut !== undefined) {
    into[next] = 18;
    next += 1;
    next = writeVarint(sizePutRequest(message.requestPut), into, next);
    next = writePutRequest(message.requestPut, into, next);
  }
  if (message.requestDeleteRange !== undefined) {
    into[next] = 26;
    next += 1;
    next = writeVarint(sizeDeleteRangeRequest(message.requestDeleteRange), into, next);
    next = writeDeleteRangeRequest(message.requestDeleteRange, into, next);
  }
  if (message.requestTxn !== undefined) {
    into[next] = 34;
    next += 1;
    next = writeVarint(sizeTxnRequest(message.requestTxn), into, next);
    next = writeTxnRequest(message.requestTxn, into, next);
  }
  return next;
}

export function encodeRequestOp(message: Init<RequestOp>): Uint8Array {
  const into = new Uint8Array(sizeRequestOp(message));
  writeRequestOp(message, into, 0);
  return into;
}

export interface ResponseOp {
  responseRange: RangeResponse | undefined;
  responsePut: PutResponse | undefined;
  responseDeleteRange: DeleteRangeResponse | undefined;
  responseTxn: TxnResponse | undefined;
}

export const newResponseOp = (): ResponseOp => ({ responseRange: undefined, responsePut: undefined, responseDeleteRange: undefined, responseTxn: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readResponseOp(reader: Reader, message: ResponseOp): ResponseOp {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10: {
        const outer = reader.enter();
        message.responseRange = readRangeResponse(reader, message.responseRange ?? newRangeResponse());
        reader.leave(outer);
        message.responsePut = undefined;
        message.responseDeleteRange = undefined;
        message.responseTxn = undefined;
        break;
      }
      case 18: {
        const outer = reader.enter();
        message.responsePut = readPutResponse(reader, message.responsePut ?? newPutResponse());
        reader.leave(outer);
        message.responseRange = undefined;
        message.responseDeleteRange = undefined;
        message.responseTxn = undefined;
        break;
      }
      case 26: {
        const outer = reader.enter();
        message.responseDeleteRange = readDeleteRangeResponse(reader, message.responseDeleteRange ?? newDeleteRangeResponse());
        reader.leave(outer);
        message.responseRange = undefined;
        message.responsePut = undefined;
        message.responseTxn = undefined;
        break;
      }
      case 34: {
        const outer = reader.enter();
        message.responseTxn = readTxnResponse(reader, message.responseTxn ?? newTxnResponse());
        reader.leave(outer);
        message.responseRange = undefined;
        message.responsePut = undefined;
        message.responseDeleteRange = undefined;
        break;
      }
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeResponseOp(bytes: Uint8Array): ResponseOp {
  return readResponseOp(new Reader(bytes), newResponseOp());
}

export function sizeResponseOp(message: Init<ResponseOp>): number {
  let size = 0;
  if (message.responseRange !== undefined) {
    const inner = sizeRangeResponse(message.responseRange);
    size += 1 + sizeVarint(inner) + inner;
  }
  if (message.responsePut !== undefined) {
    const inner = sizePutResponse(message.responsePut);
    size += 1 + sizeVarint(inner) + inner;
  }
  if (message.responseDeleteRange !== undefined) {
    const inner = sizeDeleteRangeResponse(message.responseDeleteRange);
    size += 1 + sizeVarint(inner) + inner;
  }
  if (message.responseTxn !== undefined) {
    const inner = sizeTxnResponse(message.responseTxn);
    size += 1 + sizeVarint(inner) + inner;
  }
  return size;
}

/** Writes `sizeResponseOp(message)` bytes from `at` on, and returns where the next one goes. */
export function writeResponseOp(message: Init<ResponseOp>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.responseRange !== undefined) {
    into[next] = 10;
    next += 1;
    next = writeVarint(sizeRangeResponse(message.responseRange), into, next);
    next = writeRangeResponse(message.responseRange, into, next);
  }
  if (message.responsePut !== undefined) {
    into[next] = 18;
    next += 1;
    next = writeVarint(sizePutResponse(message.responsePut), into, next);
    next = writePutResponse(message.responsePut, into, next);
  }
  if (message.responseDeleteRange !== undefined) {
    into[next] = 26;
    next += 1;
    next = writeVarint(sizeDeleteRangeResponse(message.responseDeleteRange), into, next);
    next = writeDeleteRangeResponse(message.responseDeleteRange, into, next);
  }
  if (message.responseTxn !== undefined) {
    into[next] = 34;
    next += 1;
    next = writeVarint(sizeTxnResponse(message.responseTxn), into, next);
    next = writeTxnResponse(message.responseTxn, into, next);
  }
  return next;
}

export function encodeResponseOp(message: Init<ResponseOp>): Uint8Array {
  const into = new Uint8Array(sizeResponseOp(message));
  writeResponseOp(message, into, 0);
  return into;
}

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

export const newCompare = (): Compare => ({ result: 0, target: 0, key: EMPTY_BYTES, version: undefined, createRevision: undefined, modRevision: undefined, value: undefined, lease: undefined, rangeEnd: EMPTY_BYTES, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readCompare(reader: Reader, message: Compare): Compare {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 8:
        message.result = reader.int32();
        break;
      case 16:
        message.target = reader.int32();
        break;
      case 26:
        message.key = reader.bytes();
        break;
      case 32:
        message.version = reader.int64();
        message.createRevision = undefined;
        message.modRevision = undefined;
        message.value = undefined;
        message.lease = undefined;
        break;
      case 40:
        message.createRevision = reader.int64();
        message.version = undefined;
        message.modRevision = undefined;
        message.value = undefined;
        message.lease = undefined;
        break;
      case 48:
        message.modRevision = reader.int64();
        message.version = undefined;
        message.createRevision = undefined;
        message.value = undefined;
        message.lease = undefined;
        break;
      case 58:
        message.value = reader.bytes();
        message.version = undefined;
        message.createRevision = undefined;
        message.modRevision = undefined;
        message.lease = undefined;
        break;
      case 64:
        message.lease = reader.bigInt64();
        message.version = undefined;
        message.createRevision = undefined;
        message.modRevision = undefined;
        message.value = undefined;
        break;
      case 514:
        message.rangeEnd = reader.bytes();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeCompare(bytes: Uint8Array): Compare {
  return readCompare(new Reader(bytes), newCompare());
}

export function sizeCompare(message: Init<Compare>): number {
  let size = 0;
  if (message.result !== undefined && message.result !== 0) size += 1 + sizeInt32(message.result);
  if (message.target !== undefined && message.target !== 0) size += 1 + sizeInt32(message.target);
  if (message.key !== undefined && message.key.length > 0) size += 1 + sizeDelimited(message.key.length);
  if (message.version !== undefined) size += 1 + sizeInt64(message.version);
  if (message.createRevision !== undefined) size += 1 + sizeInt64(message.createRevision);
  if (message.modRevision !== undefined) size += 1 + sizeInt64(message.modRevision);
  if (message.value !== undefined) size += 1 + sizeDelimited(message.value.length);
  if (message.lease !== undefined) size += 1 + sizeBig(message.lease);
  if (message.rangeEnd !== undefined && message.rangeEnd.length > 0) size += 2 + sizeDelimited(message.rangeEnd.length);
  return size;
}

/** Writes `sizeCompare(message)` bytes from `at` on, and returns where the next one goes. */
export function writeCompare(message: Init<Compare>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.result !== undefined && message.result !== 0) {
    into[next] = 8;
    next += 1;
    next = writeInt32(message.result, into, next);
  }
  if (message.target !== undefined && message.target !== 0) {
    into[next] = 16;
    next += 1;
    next = writeInt32(message.target, into, next);
  }
  if (message.key !== undefined && message.key.length > 0) {
    into[next] = 26;
    next += 1;
    next = writeBytes(message.key, into, next);
  }
  if (message.version !== undefined) {
    into[next] = 32;
    next += 1;
    next = writeInt64(message.version, into, next);
  }
  if (message.createRevision !== undefined) {
    into[next] = 40;
    next += 1;
    next = writeInt64(message.createRevision, into, next);
  }
  if (message.modRevision !== undefined) {
    into[next] = 48;
    next += 1;
    next = writeInt64(message.modRevision, into, next);
  }
  if (message.value !== undefined) {
    into[next] = 58;
    next += 1;
    next = writeBytes(message.value, into, next);
  }
  if (message.lease !== undefined) {
    into[next] = 64;
    next += 1;
    next = writeBig(message.lease, into, next);
  }
  if (message.rangeEnd !== undefined && message.rangeEnd.length > 0) {
    next = writeVarint(514, into, next);
    next = writeBytes(message.rangeEnd, into, next);
  }
  return next;
}

export function encodeCompare(message: Init<Compare>): Uint8Array {
  const into = new Uint8Array(sizeCompare(message));
  writeCompare(message, into, 0);
  return into;
}

export interface TxnRequest {
  compare: Compare[];
  success: RequestOp[];
  failure: RequestOp[];
}

export const newTxnRequest = (): TxnRequest => ({ compare: [], success: [], failure: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readTxnRequest(reader: Reader, message: TxnRequest): TxnRequest {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10: {
        const outer = reader.enter();
        message.compare.push(readCompare(reader, newCompare()));
        reader.leave(outer);
        break;
      }
      case 18: {
        const outer = reader.enter();
        message.success.push(readRequestOp(reader, newRequestOp()));
        reader.leave(outer);
        break;
      }
      case 26: {
        const outer = reader.enter();
        message.failure.push(readRequestOp(reader, newRequestOp()));
        reader.leave(outer);
        break;
      }
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeTxnRequest(bytes: Uint8Array): TxnRequest {
  return readTxnRequest(new Reader(bytes), newTxnRequest());
}

export function sizeTxnRequest(message: Init<TxnRequest>): number {
  let size = 0;
  for (const value of message.compare ?? []) {
    const inner = sizeCompare(value);
    size += 1 + sizeVarint(inner) + inner;
  }
  for (const value of message.success ?? []) {
    const inner = sizeRequestOp(value);
    size += 1 + sizeVarint(inner) + inner;
  }
  for (const value of message.failure ?? []) {
    const inner = sizeRequestOp(value);
    size += 1 + sizeVarint(inner) + inner;
  }
  return size;
}

/** Writes `sizeTxnRequest(message)` bytes from `at` on, and returns where the next one goes. */
export function writeTxnRequest(message: Init<TxnRequest>, into: Uint8Array, at: number): number {
  let next = at;
  for (const value of message.compare ?? []) {
    into[next] = 10;
    next += 1;
    next = writeVarint(sizeCompare(value), into, next);
    next = writeCompare(value, into, next);
  }
  for (const value of message.success ?? []) {
    into[next] = 18;
    next += 1;
    next = writeVarint(sizeRequestOp(value), into, next);
    next = writeRequestOp(value, into, next);
  }
  for (const value of message.failure ?? []) {
    into[next] = 26;
    next += 1;
    next = writeVarint(sizeRequestOp(value), into, next);
    next = writeRequestOp(value, into, next);
  }
  return next;
}

export function encodeTxnRequest(message: Init<TxnRequest>): Uint8Array {
  const into = new Uint8Array(sizeTxnRequest(message));
  writeTxnRequest(message, into, 0);
  return into;
}

export interface TxnResponse {
  header: ResponseHeader | undefined;
  succeeded: boolean;
  responses: ResponseOp[];
}

export const newTxnResponse = (): TxnResponse => ({ header: undefined, succeeded: false, responses: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readTxnResponse(reader: Reader, message: TxnResponse): TxnResponse {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10: {
        const outer = reader.enter();
        message.header = readResponseHeader(reader, message.header ?? newResponseHeader());
        reader.leave(outer);
        break;
      }
      case 16:
        message.succeeded = reader.bool();
        break;
      case 26: {
        const outer = reader.enter();
        message.responses.push(readResponseOp(reader, newResponseOp()));
        reader.leave(outer);
        break;
      }
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeTxnResponse(bytes: Uint8Array): TxnResponse {
  return readTxnResponse(new Reader(bytes), newTxnResponse());
}

export function sizeTxnResponse(message: Init<TxnResponse>): number {
  let size = 0;
  if (message.header !== undefined) {
    const inner = sizeResponseHeader(message.header);
    size += 1 + sizeVarint(inner) + inner;
  }
  if (message.succeeded === true) size += 1 + 1;
  for (const value of message.responses ?? []) {
    const inner = sizeResponseOp(value);
    size += 1 + sizeVarint(inner) + inner;
  }
  return size;
}

/** Writes `sizeTxnResponse(message)` bytes from `at` on, and returns where the next one goes. */
export function writeTxnResponse(message: Init<TxnResponse>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.header !== undefined) {
    into[next] = 10;
    next += 1;
    next = writeVarint(sizeResponseHeader(message.header), into, next);
    next = writeResponseHeader(message.header, into, next);
  }
  if (message.succeeded === true) {
    into[next] = 16;
    next += 1;
    next = writeVarint(message.succeeded ? 1 : 0, into, next);
  }
  for (const value of message.responses ?? []) {
    into[next] = 26;
    next += 1;
    next = writeVarint(sizeResponseOp(value), into, next);
    next = writeResponseOp(value, into, next);
  }
  return next;
}

export function encodeTxnResponse(message: Init<TxnResponse>): Uint8Array {
  const into = new Uint8Array(sizeTxnResponse(message));
  writeTxnResponse(message, into, 0);
  return into;
}

export interface CompactionRequest {
  revision: number;
  physical: boolean;
}

export const newCompactionRequest = (): CompactionRequest => ({ revision: 0, physical: false, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readCompactionRequest(reader: Reader, message: CompactionRequest): CompactionRequest {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 8:
        message.revision = reader.int64();
        break;
      case 16:
        message.physical = reader.bool();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeCompactionRequest(bytes: Uint8Array): CompactionRequest {
  return readCompactionRequest(new Reader(bytes), newCompactionRequest());
}

export function sizeCompactionRequest(message: Init<CompactionRequest>): number {
  let size = 0;
  if (message.revision !== undefined && message.revision !== 0) size += 1 + sizeInt64(message.revision);
  if (message.physical === true) size += 1 + 1;
  return size;
}

/** Writes `sizeCompactionRequest(message)` bytes from `at` on, and returns where the next one goes. */
export function writeCompactionRequest(message: Init<CompactionRequest>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.revision !== undefined && message.revision !== 0) {
    into[next] = 8;
    next += 1;
    next = writeInt64(message.revision, into, next);
  }
  if (message.physical === true) {
    into[next] = 16;
    next += 1;
    next = writeVarint(message.physical ? 1 : 0, into, next);
  }
  return next;
}

export function encodeCompactionRequest(message: Init<CompactionRequest>): Uint8Array {
  const into = new Uint8Array(sizeCompactionRequest(message));
  writeCompactionRequest(message, into, 0);
  return into;
}

export interface CompactionResponse {
  header: ResponseHeader | undefined;
}

export const newCompactionResponse = (): CompactionResponse => ({ header: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readCompactionResponse(reader: Reader, message: CompactionResponse): CompactionResponse {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10: {
        const outer = reader.enter();
        message.header = readResponseHeader(reader, message.header ?? newResponseHeader());
        reader.leave(outer);
        break;
      }
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeCompactionResponse(bytes: Uint8Array): CompactionResponse {
  return readCompactionResponse(new Reader(bytes), newCompactionResponse());
}

export function sizeCompactionResponse(message: Init<CompactionResponse>): number {
  let size = 0;
  if (message.header !== undefined) {
    const inner = sizeResponseHeader(message.header);
    size += 1 + sizeVarint(inner) + inner;
  }
  return size;
}

/** Writes `sizeCompactionResponse(message)` bytes from `at` on, and returns where the next one goes. */
export function writeCompactionResponse(message: Init<CompactionResponse>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.header !== undefined) {
    into[next] = 10;
    next += 1;
    next = writeVarint(sizeResponseHeader(message.header), into, next);
    next = writeResponseHeader(message.header, into, next);
  }
  return next;
}

export function encodeCompactionResponse(message: Init<CompactionResponse>): Uint8Array {
  const into = new Uint8Array(sizeCompactionResponse(message));
  writeCompactionResponse(message, into, 0);
  return into;
}

export interface HashRequest {
}

export const newHashRequest = (): HashRequest => ({ });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readHashRequest(reader: Reader, message: HashRequest): HashRequest {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeHashRequest(bytes: Uint8Array): HashRequest {
  return readHashRequest(new Reader(bytes), newHashRequest());
}

export function sizeHashRequest(_message: Init<HashRequest>): number {
  const size = 0;
  return size;
}

/** Writes `sizeHashRequest(message)` bytes from `at` on, and returns where the next one goes. */
export function writeHashRequest(_message: Init<HashRequest>, _into: Uint8Array, at: number): number {
  const next = at;
  return next;
}

export function encodeHashRequest(message: Init<HashRequest>): Uint8Array {
  const into = new Uint8Array(sizeHashRequest(message));
  writeHashRequest(message, into, 0);
  return into;
}

export interface HashKVRequest {
  revision: number;
}

export const newHashKVRequest = (): HashKVRequest => ({ revision: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readHashKVRequest(reader: Reader, message: HashKVRequest): HashKVRequest {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 8:
        message.revision = reader.int64();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeHashKVRequest(bytes: Uint8Array): HashKVRequest {
  return readHashKVRequest(new Reader(bytes), newHashKVRequest());
}

export function sizeHashKVRequest(message: Init<HashKVRequest>): number {
  let size = 0;
  if (message.revision !== undefined && message.revision !== 0) size += 1 + sizeInt64(message.revision);
  return size;
}

/** Writes `sizeHashKVRequest(message)` bytes from `at` on, and returns where the next one goes. */
export function writeHashKVRequest(message: Init<HashKVRequest>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.revision !== undefined && message.revision !== 0) {
    into[next] = 8;
    next += 1;
    next = writeInt64(message.revision, into, next);
  }
  return next;
}

export function encodeHashKVRequest(message: Init<HashKVRequest>): Uint8Array {
  const into = new Uint8Array(sizeHashKVRequest(message));
  writeHashKVRequest(message, into, 0);
  return into;
}

export interface HashKVResponse {
  header: ResponseHeader | undefined;
  hash: number;
  compactRevision: number;
  hashRevision: number;
}

export const newHashKVResponse = (): HashKVResponse => ({ header: undefined, hash: 0, compactRevision: 0, hashRevision: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readHashKVResponse(reader: Reader, message: HashKVResponse): HashKVResponse {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10: {
        const outer = reader.enter();
        message.header = readResponseHeader(reader, message.header ?? newResponseHeader());
        reader.leave(outer);
        break;
      }
      case 16:
        message.hash = reader.uint32();
        break;
      case 24:
        message.compactRevision = reader.int64();
        break;
      case 32:
        message.hashRevision = reader.int64();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeHashKVResponse(bytes: Uint8Array): HashKVResponse {
  return readHashKVResponse(new Reader(bytes), newHashKVResponse());
}

export function sizeHashKVResponse(message: Init<HashKVResponse>): number {
  let size = 0;
  if (message.header !== undefined) {
    const inner = sizeResponseHeader(message.header);
    size += 1 + sizeVarint(inner) + inner;
  }
  if (message.hash !== undefined && message.hash !== 0) size += 1 + sizeVarint(message.hash);
  if (message.compactRevision !== undefined && message.compactRevision !== 0) size += 1 + sizeInt64(message.compactRevision);
  if (message.hashRevision !== undefined && message.hashRevision !== 0) size += 1 + sizeInt64(message.hashRevision);
  return size;
}

/** Writes `sizeHashKVResponse(message)` bytes from `at` on, and returns where the next one goes. */
export function writeHashKVResponse(message: Init<HashKVResponse>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.header !== undefined) {
    into[next] = 10;
    next += 1;
    next = writeVarint(sizeResponseHeader(message.header), into, next);
    next = writeResponseHeader(message.header, into, next);
  }
  if (message.hash !== undefined && message.hash !== 0) {
    into[next] = 16;
    next += 1;
    next = writeVarint(message.hash, into, next);
  }
  if (message.compactRevision !== undefined && message.compactRevision !== 0) {
    into[next] = 24;
    next += 1;
    next = writeInt64(message.compactRevision, into, next);
  }
  if (message.hashRevision !== undefined && message.hashRevision !== 0) {
    into[next] = 32;
    next += 1;
    next = writeInt64(message.hashRevision, into, next);
  }
  return next;
}

export function encodeHashKVResponse(message: Init<HashKVResponse>): Uint8Array {
  const into = new Uint8Array(sizeHashKVResponse(message));
  writeHashKVResponse(message, into, 0);
  return into;
}

export interface HashResponse {
  header: ResponseHeader | undefined;
  hash: number;
}

export const newHashResponse = (): HashResponse => ({ header: undefined, hash: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readHashResponse(reader: Reader, message: HashResponse): HashResponse {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10: {
        const outer = reader.enter();
        message.header = readResponseHeader(reader, message.header ?? newResponseHeader());
        reader.leave(outer);
        break;
      }
      case 16:
        message.hash = reader.uint32();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeHashResponse(bytes: Uint8Array): HashResponse {
  return readHashResponse(new Reader(bytes), newHashResponse());
}

export function sizeHashResponse(message: Init<HashResponse>): number {
  let size = 0;
  if (message.header !== undefined) {
    const inner = sizeResponseHeader(message.header);
    size += 1 + sizeVarint(inner) + inner;
  }
  if (message.hash !== undefined && message.hash !== 0) size += 1 + sizeVarint(message.hash);
  return size;
}

/** Writes `sizeHashResponse(message)` bytes from `at` on, and returns where the next one goes. */
export function writeHashResponse(message: Init<HashResponse>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.header !== undefined) {
    into[next] = 10;
    next += 1;
    next = writeVarint(sizeResponseHeader(message.header), into, next);
    next = writeResponseHeader(message.header, into, next);
  }
  if (message.hash !== undefined && message.hash !== 0) {
    into[next] = 16;
    next += 1;
    next = writeVarint(message.hash, into, next);
  }
  return next;
}

export function encodeHashResponse(message: Init<HashResponse>): Uint8Array {
  const into = new Uint8Array(sizeHashResponse(message));
  writeHashResponse(message, into, 0);
  return into;
}

export interface SnapshotRequest {
}

export const newSnapshotRequest = (): SnapshotRequest => ({ });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readSnapshotRequest(reader: Reader, message: SnapshotRequest): SnapshotRequest {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeSnapshotRequest(bytes: Uint8Array): SnapshotRequest {
  return readSnapshotRequest(new Reader(bytes), newSnapshotRequest());
}

export function sizeSnapshotRequest(_message: Init<SnapshotRequest>): number {
  const size = 0;
  return size;
}

/** Writes `sizeSnapshotRequest(message)` bytes from `at` on, and returns where the next one goes. */
export function writeSnapshotRequest(_message: Init<SnapshotRequest>, _into: Uint8Array, at: number): number {
  const next = at;
  return next;
}

export function encodeSnapshotRequest(message: Init<SnapshotRequest>): Uint8Array {
  const into = new Uint8Array(sizeSnapshotRequest(message));
  writeSnapshotRequest(message, into, 0);
  return into;
}

export interface SnapshotResponse {
  header: ResponseHeader | undefined;
  remainingBytes: number;
  blob: Uint8Array;
  version: string;
}

export const newSnapshotResponse = (): SnapshotResponse => ({ header: undefined, remainingBytes: 0, blob: EMPTY_BYTES, version: '', });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readSnapshotResponse(reader: Reader, message: SnapshotResponse): SnapshotResponse {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10: {
        const outer = reader.enter();
        message.header = readResponseHeader(reader, message.header ?? newResponseHeader());
        reader.leave(outer);
        break;
      }
      case 16:
        message.remainingBytes = reader.uint64();
        break;
      case 26:
        message.blob = reader.bytes();
        break;
      case 34:
        message.version = reader.string();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeSnapshotResponse(bytes: Uint8Array): SnapshotResponse {
  return readSnapshotResponse(new Reader(bytes), newSnapshotResponse());
}

export function sizeSnapshotResponse(message: Init<SnapshotResponse>): number {
  let size = 0;
  if (message.header !== undefined) {
    const inner = sizeResponseHeader(message.header);
    size += 1 + sizeVarint(inner) + inner;
  }
  if (message.remainingBytes !== undefined && message.remainingBytes !== 0) size += 1 + sizeUint64(message.remainingBytes);
  if (message.blob !== undefined && message.blob.length > 0) size += 1 + sizeDelimited(message.blob.length);
  if (message.version !== undefined && message.version !== '') size += 1 + sizeString(message.version);
  return size;
}

/** Writes `sizeSnapshotResponse(message)` bytes from `at` on, and returns where the next one goes. */
export function writeSnapshotResponse(message: Init<SnapshotResponse>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.header !== undefined) {
    into[next] = 10;
    next += 1;
    next = writeVarint(sizeResponseHeader(message.header), into, next);
    next = writeResponseHeader(message.header, into, next);
  }
  if (message.remainingBytes !== undefined && message.remainingBytes !== 0) {
    into[next] = 16;
    next += 1;
    next = writeUint64(message.remainingBytes, into, next);
  }
  if (message.blob !== undefined && message.blob.length > 0) {
    into[next] = 26;
    next += 1;
    next = writeBytes(message.blob, into, next);
  }
  if (message.version !== undefined && message.version !== '') {
    into[next] = 34;
    next += 1;
    next = writeString(message.version, into, next);
  }
  return next;
}

export function encodeSnapshotResponse(message: Init<SnapshotResponse>): Uint8Array {
  const into = new Uint8Array(sizeSnapshotResponse(message));
  writeSnapshotResponse(message, into, 0);
  return into;
}

export interface WatchRequest {
  createRequest: WatchCreateRequest | undefined;
  cancelRequest: WatchCancelRequest | undefined;
  progressRequest: WatchProgressRequest | undefined;
}

export const newWatchRequest = (): WatchRequest => ({ createRequest: undefined, cancelRequest: undefined, progressRequest: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readWatchRequest(reader: Reader, message: WatchRequest): WatchRequest {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10: {
        const outer = reader.enter();
        message.createRequest = readWatchCreateRequest(reader, message.createRequest ?? newWatchCreateRequest());
        reader.leave(outer);
        message.cancelRequest = undefined;
        message.progressRequest = undefined;
        break;
      }
      case 18: {
        const outer = reader.enter();
        message.cancelRequest = readWatchCancelRequest(reader, message.cancelRequest ?? newWatchCancelRequest());
        reader.leave(outer);
        message.createRequest = undefined;
        message.progressRequest = undefined;
        break;
      }
      case 26: {
        const outer = reader.enter();
        message.progressRequest = readWatchProgressRequest(reader, message.progressRequest ?? newWatchProgressRequest());
        reader.leave(outer);
        message.createRequest = undefined;
        message.cancelRequest = undefined;
        break;
      }
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeWatchRequest(bytes: Uint8Array): WatchRequest {
  return readWatchRequest(new Reader(bytes), newWatchRequest());
}

export function sizeWatchRequest(message: Init<WatchRequest>): number {
  let size = 0;
  if (message.createRequest !== undefined) {
    const inner = sizeWatchCreateRequest(message.createRequest);
    size += 1 + sizeVarint(inner) + inner;
  }
  if (message.cancelRequest !== undefined) {
    const inner = sizeWatchCancelRequest(message.cancelRequest);
    size += 1 + sizeVarint(inner) + inner;
  }
  if (message.progressRequest !== undefined) {
    const inner = sizeWatchProgressRequest(message.progressRequest);
    size += 1 + sizeVarint(inner) + inner;
  }
  return size;
}

/** Writes `sizeWatchRequest(message)` bytes from `at` on, and returns where the next one goes. */
export function writeWatchRequest(message: Init<WatchRequest>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.createRequest !== undefined) {
    into[next] = 10;
    next += 1;
    next = writeVarint(sizeWatchCreateRequest(message.createRequest), into, next);
    next = writeWatchCreateRequest(message.createRequest, into, next);
  }
  if (message.cancelRequest !== undefined) {
    into[next] = 18;
    next += 1;
    next = writeVarint(sizeWatchCancelRequest(message.cancelRequest), into, next);
    next = writeWatchCancelRequest(message.cancelRequest, into, next);
  }
  if (message.progressRequest !== undefined) {
    into[next] = 26;
    next += 1;
    next = writeVarint(sizeWatchProgressRequest(message.progressRequest), into, next);
    next = writeWatchProgressRequest(message.progressRequest, into, next);
  }
  return next;
}

export function encodeWatchRequest(message: Init<WatchRequest>): Uint8Array {
  const into = new Uint8Array(sizeWatchRequest(message));
  writeWatchRequest(message, into, 0);
  return into;
}

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

export const newWatchCreateRequest = (): WatchCreateRequest => ({ key: EMPTY_BYTES, rangeEnd: EMPTY_BYTES, startRevision: 0, progressNotify: false, filters: [], prevKv: false, watchId: 0, fragment: false, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readWatchCreateRequest(reader: Reader, message: WatchCreateRequest): WatchCreateRequest {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10:
        message.key = reader.bytes();
        break;
      case 18:
        message.rangeEnd = reader.bytes();
        break;
      case 24:
        message.startRevision = reader.int64();
        break;
      case 32:
        message.progressNotify = reader.bool();
        break;
      case 40:
        message.filters.push(reader.int32());
        break;
      case 42: {
        const outer = reader.enter();
        while (reader.more()) message.filters.push(reader.int32());
        reader.leave(outer);
        break;
      }
      case 48:
        message.prevKv = reader.bool();
        break;
      case 56:
        message.watchId = reader.exactInt64();
        break;
      case 64:
        message.fragment = reader.bool();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeWatchCreateRequest(bytes: Uint8Array): WatchCreateRequest {
  return readWatchCreateRequest(new Reader(bytes), newWatchCreateRequest());
}

export function sizeWatchCreateRequest(message: Init<WatchCreateRequest>): number {
  let size = 0;
  if (message.key !== undefined && message.key.length > 0) size += 1 + sizeDelimited(message.key.length);
  if (message.rangeEnd !== undefined && message.rangeEnd.length > 0) size += 1 + sizeDelimited(message.rangeEnd.length);
  if (message.startRevision !== undefined && message.startRevision !== 0) size += 1 + sizeInt64(message.startRevision);
  if (message.progressNotify === true) size += 1 + 1;
  if (message.filters !== undefined && message.filters.length > 0) {
    let packed = 0;
    for (const value of message.filters) packed += sizeInt32(value);
    size += 1 + sizeVarint(packed) + packed;
  }
  if (message.prevKv === true) size += 1 + 1;
  if (message.watchId !== undefined && message.watchId !== 0) size += 1 + sizeExact(message.watchId);
  if (message.fragment === true) size += 1 + 1;
  return size;
}

/** Writes `sizeWatchCreateRequest(message)` bytes from `at` on, and returns where the next one goes. */
export function writeWatchCreateRequest(message: Init<WatchCreateRequest>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.key !== undefined && message.key.length > 0) {
    into[next] = 10;
    next += 1;
    next = writeBytes(message.key, into, next);
  }
  if (message.rangeEnd !== undefined && message.rangeEnd.length > 0) {
    into[next] = 18;
    next += 1;
    next = writeBytes(message.rangeEnd, into, next);
  }
  if (message.startRevision !== undefined && message.startRevision !== 0) {
    into[next] = 24;
    next += 1;
    next = writeInt64(message.startRevision, into, next);
  }
  if (message.progressNotify === true) {
    into[next] = 32;
    next += 1;
    next = writeVarint(message.progressNotify ? 1 : 0, into, next);
  }
  if (message.filters !== undefined && message.filters.length > 0) {
    let packed = 0;
    for (const value of message.filters) packed += sizeInt32(value);
    into[next] = 42;
    next += 1;
    next = writeVarint(packed, into, next);
    for (const value of message.filters) next = writeInt32(value, into, next);
  }
  if (message.prevKv === true) {
    into[next] = 48;
    next += 1;
    next = writeVarint(message.prevKv ? 1 : 0, into, next);
  }
  if (message.watchId !== undefined && message.watchId !== 0) {
    into[next] = 56;
    next += 1;
    next = writeExact(message.watchId, into, next);
  }
  if (message.fragment === true) {
    into[next] = 64;
    next += 1;
    next = writeVarint(message.fragment ? 1 : 0, into, next);
  }
  return next;
}

export function encodeWatchCreateRequest(message: Init<WatchCreateRequest>): Uint8Array {
  const into = new Uint8Array(sizeWatchCreateRequest(message));
  writeWatchCreateRequest(message, into, 0);
  return into;
}

export interface WatchCancelRequest {
  watchId: Int64;
}

export const newWatchCancelRequest = (): WatchCancelRequest => ({ watchId: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readWatchCancelRequest(reader: Reader, message: WatchCancelRequest): WatchCancelRequest {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 8:
        message.watchId = reader.exactInt64();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeWatchCancelRequest(bytes: Uint8Array): WatchCancelRequest {
  return readWatchCancelRequest(new Reader(bytes), newWatchCancelRequest());
}

export function sizeWatchCancelRequest(message: Init<WatchCancelRequest>): number {
  let size = 0;
  if (message.watchId !== undefined && message.watchId !== 0) size += 1 + sizeExact(message.watchId);
  return size;
}

/** Writes `sizeWatchCancelRequest(message)` bytes from `at` on, and returns where the next one goes. */
export function writeWatchCancelRequest(message: Init<WatchCancelRequest>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.watchId !== undefined && message.watchId !== 0) {
    into[next] = 8;
    next += 1;
    next = writeExact(message.watchId, into, next);
  }
  return next;
}

export function encodeWatchCancelRequest(message: Init<WatchCancelRequest>): Uint8Array {
  const into = new Uint8Array(sizeWatchCancelRequest(message));
  writeWatchCancelRequest(message, into, 0);
  return into;
}

export interface WatchProgressRequest {
}

export const newWatchProgressRequest = (): WatchProgressRequest => ({ });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readWatchProgressRequest(reader: Reader, message: WatchProgressRequest): WatchProgressRequest {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeWatchProgressRequest(bytes: Uint8Array): WatchProgressRequest {
  return readWatchProgressRequest(new Reader(bytes), newWatchProgressRequest());
}

export function sizeWatchProgressRequest(_message: Init<WatchProgressRequest>): number {
  const size = 0;
  return size;
}

/** Writes `sizeWatchProgressRequest(message)` bytes from `at` on, and returns where the next one goes. */
export function writeWatchProgressRequest(_message: Init<WatchProgressRequest>, _into: Uint8Array, at: number): number {
  const next = at;
  return next;
}

export function encodeWatchProgressRequest(message: Init<WatchProgressRequest>): Uint8Array {
  const into = new Uint8Array(sizeWatchProgressRequest(message));
  writeWatchProgressRequest(message, into, 0);
  return into;
}

export interface WatchResponse {
  header: ResponseHeader | undefined;
  watchId: Int64;
  created: boolean;
  canceled: boolean;
  compactRevision: number;
  cancelReason: string;
  fragment: boolean;
  events: Event[];
}

export const newWatchResponse = (): WatchResponse => ({ header: undefined, watchId: 0, created: false, canceled: false, compactRevision: 0, cancelReason: '', fragment: false, events: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readWatchResponse(reader: Reader, message: WatchResponse): WatchResponse {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10: {
        const outer = reader.enter();
        message.header = readResponseHeader(reader, message.header ?? newResponseHeader());
        reader.leave(outer);
        break;
      }
      case 16:
        message.watchId = reader.exactInt64();
        break;
      case 24:
        message.created = reader.bool();
        break;
      case 32:
        message.canceled = reader.bool();
        break;
      case 40:
        message.compactRevision = reader.int64();
        break;
      case 50:
        message.cancelReason = reader.string();
        break;
      case 56:
        message.fragment = reader.bool();
        break;
      case 90: {
        const outer = reader.enter();
        message.events.push(readEvent(reader, newEvent()));
        reader.leave(outer);
        break;
      }
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeWatchResponse(bytes: Uint8Array): WatchResponse {
  return readWatchResponse(new Reader(bytes), newWatchResponse());
}

export function sizeWatchResponse(message: Init<WatchResponse>): number {
  let size = 0;
  if (message.header !== undefined) {
    const inner = sizeResponseHeader(message.header);
    size += 1 + sizeVarint(inner) + inner;
  }
  if (message.watchId !== undefined && message.watchId !== 0) size += 1 + sizeExact(message.watchId);
  if (message.created === true) size += 1 + 1;
  if (message.canceled === true) size += 1 + 1;
  if (message.compactRevision !== undefined && message.compactRevision !== 0) size += 1 + sizeInt64(message.compactRevision);
  if (message.cancelReason !== undefined && message.cancelReason !== '') size += 1 + sizeString(message.cancelReason);
  if (message.fragment === true) size += 1 + 1;
  for (const value of message.events ?? []) {
    const inner = sizeEvent(value);
    size += 1 + sizeVarint(inner) + inner;
  }
  return size;
}

/** Writes `sizeWatchResponse(message)` bytes from `at` on, and returns where the next one goes. */
export function writeWatchResponse(message: Init<WatchResponse>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.header !== undefined) {
    into[next] = 10;
    next += 1;
    next = writeVarint(sizeResponseHeader(message.header), into, next);
    next = writeResponseHeader(message.header, into, next);
  }
  if (message.watchId !== undefined && message.watchId !== 0) {
    into[next] = 16;
    next += 1;
    next = writeExact(message.watchId, into, next);
  }
  if (message.created === true) {
    into[next] = 24;
    next += 1;
    next = writeVarint(message.created ? 1 : 0, into, next);
  }
  if (message.canceled === true) {
    into[next] = 32;
    next += 1;
    next = writeVarint(message.canceled ? 1 : 0, into, next);
  }
  if (message.compactRevision !== undefined && message.compactRevision !== 0) {
    into[next] = 40;
    next += 1;
    next = writeInt64(message.compactRevision, into, next);
  }
  if (message.cancelReason !== undefined && message.cancelReason !== '') {
    into[next] = 50;
    next += 1;
    next = writeString(message.cancelReason, into, next);
  }
  if (message.fragment === true) {
    into[next] = 56;
    next += 1;
    next = writeVarint(message.fragment ? 1 : 0, into, next);
  }
  for (const value of message.events ?? []) {
    into[next] = 90;
    next += 1;
    next = writeVarint(sizeEvent(value), into, next);
    next = writeEvent(value, into, next);
  }
  return next;
}

export function encodeWatchResponse(message: Init<WatchResponse>): Uint8Array {
  const into = new Uint8Array(sizeWatchResponse(message));
  writeWatchResponse(message, into, 0);
  return into;
}

export interface LeaseGrantRequest {
  TTL: number;
  ID: bigint;
}

export const newLeaseGrantRequest = (): LeaseGrantRequest => ({ TTL: 0, ID: 0n, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readLeaseGrantRequest(reader: Reader, message: LeaseGrantRequest): LeaseGrantRequest {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 8:
        message.TTL = reader.int64();
        break;
      case 16:
        message.ID = reader.bigInt64();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeLeaseGrantRequest(bytes: Uint8Array): LeaseGrantRequest {
  return readLeaseGrantRequest(new Reader(bytes), newLeaseGrantRequest());
}

export function sizeLeaseGrantRequest(message: Init<LeaseGrantRequest>): number {
  let size = 0;
  if (message.TTL !== undefined && message.TTL !== 0) size += 1 + sizeInt64(message.TTL);
  if (message.ID !== undefined && message.ID !== 0n) size += 1 + sizeBig(message.ID);
  return size;
}

/** Writes `sizeLeaseGrantRequest(message)` bytes from `at` on, and returns where the next one goes. */
export function writeLeaseGrantRequest(message: Init<LeaseGrantRequest>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.TTL !== undefined && message.TTL !== 0) {
    into[next] = 8;
    next += 1;
    next = writeInt64(message.TTL, into, next);
  }
  if (message.ID !== undefined && message.ID !== 0n) {
    into[next] = 16;
    next += 1;
    next = writeBig(message.ID, into, next);
  }
  return next;
}

export function encodeLeaseGrantRequest(message: Init<LeaseGrantRequest>): Uint8Array {
  const into = new Uint8Array(sizeLeaseGrantRequest(message));
  writeLeaseGrantRequest(message, into, 0);
  return into;
}

export interface LeaseGrantResponse {
  header: ResponseHeader | undefined;
  ID: bigint;
  TTL: number;
  error: string;
}

export const newLeaseGrantResponse = (): LeaseGrantResponse => ({ header: undefined, ID: 0n, TTL: 0, error: '', });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readLeaseGrantResponse(reader: Reader, message: LeaseGrantResponse): LeaseGrantResponse {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10: {
        const outer = reader.enter();
        message.header = readResponseHeader(reader, message.header ?? newResponseHeader());
        reader.leave(outer);
        break;
      }
      case 16:
        message.ID = reader.bigInt64();
        break;
      case 24:
        message.TTL = reader.int64();
        break;
      case 34:
        message.error = reader.string();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeLeaseGrantResponse(bytes: Uint8Array): LeaseGrantResponse {
  return readLeaseGrantResponse(new Reader(bytes), newLeaseGrantResponse());
}

export function sizeLeaseGrantResponse(message: Init<LeaseGrantResponse>): number {
  let size = 0;
  if (message.header !== undefined) {
    const inner = sizeResponseHeader(message.header);
    size += 1 + sizeVarint(inner) + inner;
  }
  if (message.ID !== undefined && message.ID !== 0n) size += 1 + sizeBig(message.ID);
  if (message.TTL !== undefined && message.TTL !== 0) size += 1 + sizeInt64(message.TTL);
  if (message.error !== undefined && message.error !== '') size += 1 + sizeString(message.error);
  return size;
}

/** Writes `sizeLeaseGrantResponse(message)` bytes from `at` on, and returns where the next one goes. */
export function writeLeaseGrantResponse(message: Init<LeaseGrantResponse>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.header !== undefined) {
    into[next] = 10;
    next += 1;
    next = writeVarint(sizeResponseHeader(message.header), into, next);
    next = writeResponseHeader(message.header, into, next);
  }
  if (message.ID !== undefined && message.ID !== 0n) {
    into[next] = 16;
    next += 1;
    next = writeBig(message.ID, into, next);
  }
  if (message.TTL !== undefined && message.TTL !== 0) {
    into[next] = 24;
    next += 1;
    next = writeInt64(message.TTL, into, next);
  }
  if (message.error !== undefined && message.error !== '') {
    into[next] = 34;
    next += 1;
    next = writeString(message.error, into, next);
  }
  return next;
}

export function encodeLeaseGrantResponse(message: Init<LeaseGrantResponse>): Uint8Array {
  const into = new Uint8Array(sizeLeaseGrantResponse(message));
  writeLeaseGrantResponse(message, into, 0);
  return into;
}

export interface LeaseRevokeRequest {
  ID: bigint;
}

export const newLeaseRevokeRequest = (): LeaseRevokeRequest => ({ ID: 0n, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readLeaseRevokeRequest(reader: Reader, message: LeaseRevokeRequest): LeaseRevokeRequest {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 8:
        message.ID = reader.bigInt64();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeLeaseRevokeRequest(bytes: Uint8Array): LeaseRevokeRequest {
  return readLeaseRevokeRequest(new Reader(bytes), newLeaseRevokeRequest());
}

export function sizeLeaseRevokeRequest(message: Init<LeaseRevokeRequest>): number {
  let size = 0;
  if (message.ID !== undefined && message.ID !== 0n) size += 1 + sizeBig(message.ID);
  return size;
}

/** Writes `sizeLeaseRevokeRequest(message)` bytes from `at` on, and returns where the next one goes. */
export function writeLeaseRevokeRequest(message: Init<LeaseRevokeRequest>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.ID !== undefined && message.ID !== 0n) {
    into[next] = 8;
    next += 1;
    next = writeBig(message.ID, into, next);
  }
  return next;
}

export function encodeLeaseRevokeRequest(message: Init<LeaseRevokeRequest>): Uint8Array {
  const into = new Uint8Array(sizeLeaseRevokeRequest(message));
  writeLeaseRevokeRequest(message, into, 0);
  return into;
}

export interface LeaseRevokeResponse {
  header: ResponseHeader | undefined;
}

export const newLeaseRevokeResponse = (): LeaseRevokeResponse => ({ header: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readLeaseRevokeResponse(reader: Reader, message: LeaseRevokeResponse): LeaseRevokeResponse {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10: {
        const outer = reader.enter();
        message.header = readResponseHeader(reader, message.header ?? newResponseHeader());
        reader.leave(outer);
        break;
      }
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeLeaseRevokeResponse(bytes: Uint8Array): LeaseRevokeResponse {
  return readLeaseRevokeResponse(new Reader(bytes), newLeaseRevokeResponse());
}

export function sizeLeaseRevokeResponse(message: Init<LeaseRevokeResponse>): number {
  let size = 0;
  if (message.header !== undefined) {
    const inner = sizeResponseHeader(message.header);
    size += 1 + sizeVarint(inner) + inner;
  }
  return size;
}

/** Writes `sizeLeaseRevokeResponse(message)` bytes from `at` on, and returns where the next one goes. */
export function writeLeaseRevokeResponse(message: Init<LeaseRevokeResponse>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.header !== undefined) {
    into[next] = 10;
    next += 1;
    next = writeVarint(sizeResponseHeader(message.header), into, next);
    next = writeResponseHeader(message.header, into, next);
  }
  return next;
}

export function encodeLeaseRevokeResponse(message: Init<LeaseRevokeResponse>): Uint8Array {
  const into = new Uint8Array(sizeLeaseRevokeResponse(message));
  writeLeaseRevokeResponse(message, into, 0);
  return into;
}

export interface LeaseCheckpoint {
  ID: bigint;
  remainingTTL: number;
}

export const newLeaseCheckpoint = (): LeaseCheckpoint => ({ ID: 0n, remainingTTL: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readLeaseCheckpoint(reader: Reader, message: LeaseCheckpoint): LeaseCheckpoint {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 8:
        message.ID = reader.bigInt64();
        break;
      case 16:
        message.remainingTTL = reader.int64();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeLeaseCheckpoint(bytes: Uint8Array): LeaseCheckpoint {
  return readLeaseCheckpoint(new Reader(bytes), newLeaseCheckpoint());
}

export function sizeLeaseCheckpoint(message: Init<LeaseCheckpoint>): number {
  let size = 0;
  if (message.ID !== undefined && message.ID !== 0n) size += 1 + sizeBig(message.ID);
  if (message.remainingTTL !== undefined && message.remainingTTL !== 0) size += 1 + sizeInt64(message.remainingTTL);
  return size;
}

/** Writes `sizeLeaseCheckpoint(message)` bytes from `at` on, and returns where the next one goes. */
export function writeLeaseCheckpoint(message: Init<LeaseCheckpoint>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.ID !== undefined && message.ID !== 0n) {
    into[next] = 8;
    next += 1;
    next = writeBig(message.ID, into, next);
  }
  if (message.remainingTTL !== undefined && message.remainingTTL !== 0) {
    into[next] = 16;
    next += 1;
    next = writeInt64(message.remainingTTL, into, next);
  }
  return next;
}

export function encodeLeaseCheckpoint(message: Init<LeaseCheckpoint>): Uint8Array {
  const into = new Uint8Array(sizeLeaseCheckpoint(message));
  writeLeaseCheckpoint(message, into, 0);
  return into;
}

export interface LeaseCheckpointRequest {
  checkpoints: LeaseCheckpoint[];
}

export const newLeaseCheckpointRequest = (): LeaseCheckpointRequest => ({ checkpoints: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readLeaseCheckpointRequest(reader: Reader, message: LeaseCheckpointRequest): LeaseCheckpointRequest {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10: {
        const outer = reader.enter();
        message.checkpoints.push(readLeaseCheckpoint(reader, newLeaseCheckpoint()));
        reader.leave(outer);
        break;
      }
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeLeaseCheckpointRequest(bytes: Uint8Array): LeaseCheckpointRequest {
  return readLeaseCheckpointRequest(new Reader(bytes), newLeaseCheckpointRequest());
}

export function sizeLeaseCheckpointRequest(message: Init<LeaseCheckpointRequest>): number {
  let size = 0;
  for (const value of message.checkpoints ?? []) {
    const inner = sizeLeaseCheckpoint(value);
    size += 1 + sizeVarint(inner) + inner;
  }
  return size;
}

/** Writes `sizeLeaseCheckpointRequest(message)` bytes from `at` on, and returns where the next one goes. */
export function writeLeaseCheckpointRequest(message: Init<LeaseCheckpointRequest>, into: Uint8Array, at: number): number {
  let next = at;
  for (const value of message.checkpoints ?? []) {
    into[next] = 10;
    next += 1;
    next = writeVarint(sizeLeaseCheckpoint(value), into, next);
    next = writeLeaseCheckpoint(value, into, next);
  }
  return next;
}

export function encodeLeaseCheckpointRequest(message: Init<LeaseCheckpointRequest>): Uint8Array {
  const into = new Uint8Array(sizeLeaseCheckpointRequest(message));
  writeLeaseCheckpointRequest(message, into, 0);
  return into;
}

export interface LeaseCheckpointResponse {
  header: ResponseHeader | undefined;
}

export const newLeaseCheckpointResponse = (): LeaseCheckpointResponse => ({ header: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readLeaseCheckpointResponse(reader: Reader, message: LeaseCheckpointResponse): LeaseCheckpointResponse {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10: {
        const outer = reader.enter();
        message.header = readResponseHeader(reader, message.header ?? newResponseHeader());
        reader.leave(outer);
        break;
      }
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeLeaseCheckpointResponse(bytes: Uint8Array): LeaseCheckpointResponse {
  return readLeaseCheckpointResponse(new Reader(bytes), newLeaseCheckpointResponse());
}

export function sizeLeaseCheckpointResponse(message: Init<LeaseCheckpointResponse>): number {
  let size = 0;
  if (message.header !== undefined) {
    const inner = sizeResponseHeader(message.header);
    size += 1 + sizeVarint(inner) + inner;
  }
  return size;
}

/** Writes `sizeLeaseCheckpointResponse(message)` bytes from `at` on, and returns where the next one goes. */
export function writeLeaseCheckpointResponse(message: Init<LeaseCheckpointResponse>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.header !== undefined) {
    into[next] = 10;
    next += 1;
    next = writeVarint(sizeResponseHeader(message.header), into, next);
    next = writeResponseHeader(message.header, into, next);
  }
  return next;
}

export function encodeLeaseCheckpointResponse(message: Init<LeaseCheckpointResponse>): Uint8Array {
  const into = new Uint8Array(sizeLeaseCheckpointResponse(message));
  writeLeaseCheckpointResponse(message, into, 0);
  return into;
}

export interface LeaseKeepAliveRequest {
  ID: bigint;
}

export const newLeaseKeepAliveRequest = (): LeaseKeepAliveRequest => ({ ID: 0n, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readLeaseKeepAliveRequest(reader: Reader, message: LeaseKeepAliveRequest): LeaseKeepAliveRequest {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 8:
        message.ID = reader.bigInt64();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeLeaseKeepAliveRequest(bytes: Uint8Array): LeaseKeepAliveRequest {
  return readLeaseKeepAliveRequest(new Reader(bytes), newLeaseKeepAliveRequest());
}

export function sizeLeaseKeepAliveRequest(message: Init<LeaseKeepAliveRequest>): number {
  let size = 0;
  if (message.ID !== undefined && message.ID !== 0n) size += 1 + sizeBig(message.ID);
  return size;
}

/** Writes `sizeLeaseKeepAliveRequest(message)` bytes from `at` on, and returns where the next one goes. */
export function writeLeaseKeepAliveRequest(message: Init<LeaseKeepAliveRequest>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.ID !== undefined && message.ID !== 0n) {
    into[next] = 8;
    next += 1;
    next = writeBig(message.ID, into, next);
  }
  return next;
}

export function encodeLeaseKeepAliveRequest(message: Init<LeaseKeepAliveRequest>): Uint8Array {
  const into = new Uint8Array(sizeLeaseKeepAliveRequest(message));
  writeLeaseKeepAliveRequest(message, into, 0);
  return into;
}

export interface LeaseKeepAliveResponse {
  header: ResponseHeader | undefined;
  ID: bigint;
  TTL: number;
}

export const newLeaseKeepAliveResponse = (): LeaseKeepAliveResponse => ({ header: undefined, ID: 0n, TTL: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readLeaseKeepAliveResponse(reader: Reader, message: LeaseKeepAliveResponse): LeaseKeepAliveResponse {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10: {
        const outer = reader.enter();
        message.header = readResponseHeader(reader, message.header ?? newResponseHeader());
        reader.leave(outer);
        break;
      }
      case 16:
        message.ID = reader.bigInt64();
        break;
      case 24:
        message.TTL = reader.int64();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeLeaseKeepAliveResponse(bytes: Uint8Array): LeaseKeepAliveResponse {
  return readLeaseKeepAliveResponse(new Reader(bytes), newLeaseKeepAliveResponse());
}

export function sizeLeaseKeepAliveResponse(message: Init<LeaseKeepAliveResponse>): number {
  let size = 0;
  if (message.header !== undefined) {
    const inner = sizeResponseHeader(message.header);
    size += 1 + sizeVarint(inner) + inner;
  }
  if (message.ID !== undefined && message.ID !== 0n) size += 1 + sizeBig(message.ID);
  if (message.TTL !== undefined && message.TTL !== 0) size += 1 + sizeInt64(message.TTL);
  return size;
}

/** Writes `sizeLeaseKeepAliveResponse(message)` bytes from `at` on, and returns where the next one goes. */
export function writeLeaseKeepAliveResponse(message: Init<LeaseKeepAliveResponse>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.header !== undefined) {
    into[next] = 10;
    next += 1;
    next = writeVarint(sizeResponseHeader(message.header), into, next);
    next = writeResponseHeader(message.header, into, next);
  }
  if (message.ID !== undefined && message.ID !== 0n) {
    into[next] = 16;
    next += 1;
    next = writeBig(message.ID, into, next);
  }
  if (message.TTL !== undefined && message.TTL !== 0) {
    into[next] = 24;
    next += 1;
    next = writeInt64(message.TTL, into, next);
  }
  return next;
}

export function encodeLeaseKeepAliveResponse(message: Init<LeaseKeepAliveResponse>): Uint8Array {
  const into = new Uint8Array(sizeLeaseKeepAliveResponse(message));
  writeLeaseKeepAliveResponse(message, into, 0);
  return into;
}

export interface LeaseTimeToLiveRequest {
  ID: bigint;
  keys: boolean;
}

export const newLeaseTimeToLiveRequest = (): LeaseTimeToLiveRequest => ({ ID: 0n, keys: false, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readLeaseTimeToLiveRequest(reader: Reader, message: LeaseTimeToLiveRequest): LeaseTimeToLiveRequest {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 8:
        message.ID = reader.bigInt64();
        break;
      case 16:
        message.keys = reader.bool();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeLeaseTimeToLiveRequest(bytes: Uint8Array): LeaseTimeToLiveRequest {
  return readLeaseTimeToLiveRequest(new Reader(bytes), newLeaseTimeToLiveRequest());
}

export function sizeLeaseTimeToLiveRequest(message: Init<LeaseTimeToLiveRequest>): number {
  let size = 0;
  if (message.ID !== undefined && message.ID !== 0n) size += 1 + sizeBig(message.ID);
  if (message.keys === true) size += 1 + 1;
  return size;
}

/** Writes `sizeLeaseTimeToLiveRequest(message)` bytes from `at` on, and returns where the next one goes. */
export function writeLeaseTimeToLiveRequest(message: Init<LeaseTimeToLiveRequest>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.ID !== undefined && message.ID !== 0n) {
    into[next] = 8;
    next += 1;
    next = writeBig(message.ID, into, next);
  }
  if (message.keys === true) {
    into[next] = 16;
    next += 1;
    next = writeVarint(message.keys ? 1 : 0, into, next);
  }
  return next;
}

export function encodeLeaseTimeToLiveRequest(message: Init<LeaseTimeToLiveRequest>): Uint8Array {
  const into = new Uint8Array(sizeLeaseTimeToLiveRequest(message));
  writeLeaseTimeToLiveRequest(message, into, 0);
  return into;
}

export interface LeaseTimeToLiveResponse {
  header: ResponseHeader | undefined;
  ID: bigint;
  TTL: number;
  grantedTTL: number;
  keys: Uint8Array[];
}

export const newLeaseTimeToLiveResponse = (): LeaseTimeToLiveResponse => ({ header: undefined, ID: 0n, TTL: 0, grantedTTL: 0, keys: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readLeaseTimeToLiveResponse(reader: Reader, message: LeaseTimeToLiveResponse): LeaseTimeToLiveResponse {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10: {
        const outer = reader.enter();
        message.header = readResponseHeader(reader, message.header ?? newResponseHeader());
        reader.leave(outer);
        break;
      }
      case 16:
        message.ID = reader.bigInt64();
        break;
      case 24:
        message.TTL = reader.int64();
        break;
      case 32:
        message.grantedTTL = reader.int64();
        break;
      case 42:
        message.keys.push(reader.bytes());
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeLeaseTimeToLiveResponse(bytes: Uint8Array): LeaseTimeToLiveResponse {
  return readLeaseTimeToLiveResponse(new Reader(bytes), newLeaseTimeToLiveResponse());
}

export function sizeLeaseTimeToLiveResponse(message: Init<LeaseTimeToLiveResponse>): number {
  let size = 0;
  if (message.header !== undefined) {
    const inner = sizeResponseHeader(message.header);
    size += 1 + sizeVarint(inner) + inner;
  }
  if (message.ID !== undefined && message.ID !== 0n) size += 1 + sizeBig(message.ID);
  if (message.TTL !== undefined && message.TTL !== 0) size += 1 + sizeInt64(message.TTL);
  if (message.grantedTTL !== undefined && message.grantedTTL !== 0) size += 1 + sizeInt64(message.grantedTTL);
  for (const value of message.keys ?? []) size += 1 + sizeDelimited(value.length);
  return size;
}

/** Writes `sizeLeaseTimeToLiveResponse(message)` bytes from `at` on, and returns where the next one goes. */
export function writeLeaseTimeToLiveResponse(message: Init<LeaseTimeToLiveResponse>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.header !== undefined) {
    into[next] = 10;
    next += 1;
    next = writeVarint(sizeResponseHeader(message.header), into, next);
    next = writeResponseHeader(message.header, into, next);
  }
  if (message.ID !== undefined && message.ID !== 0n) {
    into[next] = 16;
    next += 1;
    next = writeBig(message.ID, into, next);
  }
  if (message.TTL !== undefined && message.TTL !== 0) {
    into[next] = 24;
    next += 1;
    next = writeInt64(message.TTL, into, next);
  }
  if (message.grantedTTL !== undefined && message.grantedTTL !== 0) {
    into[next] = 32;
    next += 1;
    next = writeInt64(message.grantedTTL, into, next);
  }
  for (const value of message.keys ?? []) {
    into[next] = 42;
    next += 1;
    next = writeBytes(value, into, next);
  }
  return next;
}

export function encodeLeaseTimeToLiveResponse(message: Init<LeaseTimeToLiveResponse>): Uint8Array {
  const into = new Uint8Array(sizeLeaseTimeToLiveResponse(message));
  writeLeaseTimeToLiveResponse(message, into, 0);
  return into;
}

export interface LeaseLeasesRequest {
}

export const newLeaseLeasesRequest = (): LeaseLeasesRequest => ({ });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readLeaseLeasesRequest(reader: Reader, message: LeaseLeasesRequest): LeaseLeasesRequest {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeLeaseLeasesRequest(bytes: Uint8Array): LeaseLeasesRequest {
  return readLeaseLeasesRequest(new Reader(bytes), newLeaseLeasesRequest());
}

export function sizeLeaseLeasesRequest(_message: Init<LeaseLeasesRequest>): number {
  const size = 0;
  return size;
}

/** Writes `sizeLeaseLeasesRequest(message)` bytes from `at` on, and returns where the next one goes. */
export function writeLeaseLeasesRequest(_message: Init<LeaseLeasesRequest>, _into: Uint8Array, at: number): number {
  const next = at;
  return next;
}

export function encodeLeaseLeasesRequest(message: Init<LeaseLeasesRequest>): Uint8Array {
  const into = new Uint8Array(sizeLeaseLeasesRequest(message));
  writeLeaseLeasesRequest(message, into, 0);
  return into;
}

export interface LeaseStatus {
  ID: bigint;
}

export const newLeaseStatus = (): LeaseStatus => ({ ID: 0n, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readLeaseStatus(reader: Reader, message: LeaseStatus): LeaseStatus {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 8:
        message.ID = reader.bigInt64();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeLeaseStatus(bytes: Uint8Array): LeaseStatus {
  return readLeaseStatus(new Reader(bytes), newLeaseStatus());
}

export function sizeLeaseStatus(message: Init<LeaseStatus>): number {
  let size = 0;
  if (message.ID !== undefined && message.ID !== 0n) size += 1 + sizeBig(message.ID);
  return size;
}

/** Writes `sizeLeaseStatus(message)` bytes from `at` on, and returns where the next one goes. */
export function writeLeaseStatus(message: Init<LeaseStatus>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.ID !== undefined && message.ID !== 0n) {
    into[next] = 8;
    next += 1;
    next = writeBig(message.ID, into, next);
  }
  return next;
}

export function encodeLeaseStatus(message: Init<LeaseStatus>): Uint8Array {
  const into = new Uint8Array(sizeLeaseStatus(message));
  writeLeaseStatus(message, into, 0);
  return into;
}

export interface LeaseLeasesResponse {
  header: ResponseHeader | undefined;
  leases: LeaseStatus[];
}

export const newLeaseLeasesResponse = (): LeaseLeasesResponse => ({ header: undefined, leases: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readLeaseLeasesResponse(reader: Reader, message: LeaseLeasesResponse): LeaseLeasesResponse {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10: {
        const outer = reader.enter();
        message.header = readResponseHeader(reader, message.header ?? newResponseHeader());
        reader.leave(outer);
        break;
      }
      case 18: {
        const outer = reader.enter();
        message.leases.push(readLeaseStatus(reader, newLeaseStatus()));
        reader.leave(outer);
        break;
      }
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeLeaseLeasesResponse(bytes: Uint8Array): LeaseLeasesResponse {
  return readLeaseLeasesResponse(new Reader(bytes), newLeaseLeasesResponse());
}

export function sizeLeaseLeasesResponse(message: Init<LeaseLeasesResponse>): number {
  let size = 0;
  if (message.header !== undefined) {
    const inner = sizeResponseHeader(message.header);
    size += 1 + sizeVarint(inner) + inner;
  }
  for (const value of message.leases ?? []) {
    const inner = sizeLeaseStatus(value);
    size += 1 + sizeVarint(inner) + inner;
  }
  return size;
}

/** Writes `sizeLeaseLeasesResponse(message)` bytes from `at` on, and returns where the next one goes. */
export function writeLeaseLeasesResponse(message: Init<LeaseLeasesResponse>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.header !== undefined) {
    into[next] = 10;
    next += 1;
    next = writeVarint(sizeResponseHeader(message.header), into, next);
    next = writeResponseHeader(message.header, into, next);
  }
  for (const value of message.leases ?? []) {
    into[next] = 18;
    next += 1;
    next = writeVarint(sizeLeaseStatus(value), into, next);
    next = writeLeaseStatus(value, into, next);
  }
  return next;
}

export function encodeLeaseLeasesResponse(message: Init<LeaseLeasesResponse>): Uint8Array {
  const into = new Uint8Array(sizeLeaseLeasesResponse(message));
  writeLeaseLeasesResponse(message, into, 0);
  return into;
}

export interface Member {
  ID: bigint;
  name: string;
  peerURLs: string[];
  clientURLs: string[];
  isLearner: boolean;
}

export const newMember = (): Member => ({ ID: 0n, name: '', peerURLs: [], clientURLs: [], isLearner: false, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readMember(reader: Reader, message: Member): Member {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 8:
        message.ID = reader.bigUint64();
        break;
      case 18:
        message.name = reader.string();
        break;
      case 26:
        message.peerURLs.push(reader.string());
        break;
      case 34:
        message.clientURLs.push(reader.string());
        break;
      case 40:
        message.isLearner = reader.bool();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeMember(bytes: Uint8Array): Member {
  return readMember(new Reader(bytes), newMember());
}

export function sizeMember(message: Init<Member>): number {
  let size = 0;
  if (message.ID !== undefined && message.ID !== 0n) size += 1 + sizeBig(message.ID);
  if (message.name !== undefined && message.name !== '') size += 1 + sizeString(message.name);
  for (const value of message.peerURLs ?? []) size += 1 + sizeString(value);
  for (const value of message.clientURLs ?? []) size += 1 + sizeString(value);
  if (message.isLearner === true) size += 1 + 1;
  return size;
}

/** Writes `sizeMember(message)` bytes from `at` on, and returns where the next one goes. */
export function writeMember(message: Init<Member>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.ID !== undefined && message.ID !== 0n) {
    into[next] = 8;
    next += 1;
    next = writeBig(message.ID, into, next);
  }
  if (message.name !== undefined && message.name !== '') {
    into[next] = 18;
    next += 1;
    next = writeString(message.name, into, next);
  }
  for (const value of message.peerURLs ?? []) {
    into[next] = 26;
    next += 1;
    next = writeString(value, into, next);
  }
  for (const value of message.clientURLs ?? []) {
    into[next] = 34;
    next += 1;
    next = writeString(value, into, next);
  }
  if (message.isLearner === true) {
    into[next] = 40;
    next += 1;
    next = writeVarint(message.isLearner ? 1 : 0, into, next);
  }
  return next;
}

export function encodeMember(message: Init<Member>): Uint8Array {
  const into = new Uint8Array(sizeMember(message));
  writeMember(message, into, 0);
  return into;
}

export interface MemberAddRequest {
  peerURLs: string[];
  isLearner: boolean;
}

export const newMemberAddRequest = (): MemberAddRequest => ({ peerURLs: [], isLearner: false, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readMemberAddRequest(reader: Reader, message: MemberAddRequest): MemberAddRequest {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10:
        message.peerURLs.push(reader.string());
        break;
      case 16:
        message.isLearner = reader.bool();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeMemberAddRequest(bytes: Uint8Array): MemberAddRequest {
  return readMemberAddRequest(new Reader(bytes), newMemberAddRequest());
}

export function sizeMemberAddRequest(message: Init<MemberAddRequest>): number {
  let size = 0;
  for (const value of message.peerURLs ?? []) size += 1 + sizeString(value);
  if (message.isLearner === true) size += 1 + 1;
  return size;
}

/** Writes `sizeMemberAddRequest(message)` bytes from `at` on, and returns where the next one goes. */
export function writeMemberAddRequest(message: Init<MemberAddRequest>, into: Uint8Array, at: number): number {
  let next = at;
  for (const value of message.peerURLs ?? []) {
    into[next] = 10;
    next += 1;
    next = writeString(value, into, next);
  }
  if (message.isLearner === true) {
    into[next] = 16;
    next += 1;
    next = writeVarint(message.isLearner ? 1 : 0, into, next);
  }
  return next;
}

export function encodeMemberAddRequest(message: Init<MemberAddRequest>): Uint8Array {
  const into = new Uint8Array(sizeMemberAddRequest(message));
  writeMemberAddRequest(message, into, 0);
  return into;
}

export interface MemberAddResponse {
  header: ResponseHeader | undefined;
  member: Member | undefined;
  members: Member[];
}

export const newMemberAddResponse = (): MemberAddResponse => ({ header: undefined, member: undefined, members: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readMemberAddResponse(reader: Reader, message: MemberAddResponse): MemberAddResponse {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10: {
        const outer = reader.enter();
        message.header = readResponseHeader(reader, message.header ?? newResponseHeader());
        reader.leave(outer);
        break;
      }
      case 18: {
        const outer = reader.enter();
        message.member = readMember(reader, message.member ?? newMember());
        reader.leave(outer);
        break;
      }
      case 26: {
        const outer = reader.enter();
        message.members.push(readMember(reader, newMember()));
        reader.leave(outer);
        break;
      }
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeMemberAddResponse(bytes: Uint8Array): MemberAddResponse {
  return readMemberAddResponse(new Reader(bytes), newMemberAddResponse());
}

export function sizeMemberAddResponse(message: Init<MemberAddResponse>): number {
  let size = 0;
  if (message.header !== undefined) {
    const inner = sizeResponseHeader(message.header);
    size += 1 + sizeVarint(inner) + inner;
  }
  if (message.member !== undefined) {
    const inner = sizeMember(message.member);
    size += 1 + sizeVarint(inner) + inner;
  }
  for (const value of message.members ?? []) {
    const inner = sizeMember(value);
    size += 1 + sizeVarint(inner) + inner;
  }
  return size;
}

/** Writes `sizeMemberAddResponse(message)` bytes from `at` on, and returns where the next one goes. */
export function writeMemberAddResponse(message: Init<MemberAddResponse>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.header !== undefined) {
    into[next] = 10;
    next += 1;
    next = writeVarint(sizeResponseHeader(message.header), into, next);
    next = writeResponseHeader(message.header, into, next);
  }
  if (message.member !== undefined) {
    into[next] = 18;
    next += 1;
    next = writeVarint(sizeMember(message.member), into, next);
    next = writeMember(message.member, into, next);
  }
  for (const value of message.members ?? []) {
    into[next] = 26;
    next += 1;
    next = writeVarint(sizeMember(value), into, next);
    next = writeMember(value, into, next);
  }
  return next;
}

export function encodeMemberAddResponse(message: Init<MemberAddResponse>): Uint8Array {
  const into = new Uint8Array(sizeMemberAddResponse(message));
  writeMemberAddResponse(message, into, 0);
  return into;
}

export interface MemberRemoveRequest {
  ID: bigint;
}

export const newMemberRemoveRequest = (): MemberRemoveRequest => ({ ID: 0n, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readMemberRemoveRequest(reader: Reader, message: MemberRemoveRequest): MemberRemoveRequest {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 8:
        message.ID = reader.bigUint64();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeMemberRemoveRequest(bytes: Uint8Array): MemberRemoveRequest {
  return readMemberRemoveRequest(new Reader(bytes), newMemberRemoveRequest());
}

export function sizeMemberRemoveRequest(message: Init<MemberRemoveRequest>): number {
  let size = 0;
  if (message.ID !== undefined && message.ID !== 0n) size += 1 + sizeBig(message.ID);
  return size;
}

/** Writes `sizeMemberRemoveRequest(message)` bytes from `at` on, and returns where the next one goes. */
export function writeMemberRemoveRequest(message: Init<MemberRemoveRequest>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.ID !== undefined && message.ID !== 0n) {
    into[next] = 8;
    next += 1;
    next = writeBig(message.ID, into, next);
  }
  return next;
}

export function encodeMemberRemoveRequest(message: Init<MemberRemoveRequest>): Uint8Array {
  const into = new Uint8Array(sizeMemberRemoveRequest(message));
  writeMemberRemoveRequest(message, into, 0);
  return into;
}

export interface MemberRemoveResponse {
  header: ResponseHeader | undefined;
  members: Member[];
}

export const newMemberRemoveResponse = (): MemberRemoveResponse => ({ header: undefined, members: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readMemberRemoveResponse(reader: Reader, message: MemberRemoveResponse): MemberRemoveResponse {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10: {
        const outer = reader.enter();
        message.header = readResponseHeader(reader, message.header ?? newResponseHeader());
        reader.leave(outer);
        break;
      }
      case 18: {
        const outer = reader.enter();
        message.members.push(readMember(reader, newMember()));
        reader.leave(outer);
        break;
      }
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeMemberRemoveResponse(bytes: Uint8Array): MemberRemoveResponse {
  return readMemberRemoveResponse(new Reader(bytes), newMemberRemoveResponse());
}

export function sizeMemberRemoveResponse(message: Init<MemberRemoveResponse>): number {
  let size = 0;
  if (message.header !== undefined) {
    const inner = sizeResponseHeader(message.header);
    size += 1 + sizeVarint(inner) + inner;
  }
  for (const value of message.members ?? []) {
    const inner = sizeMember(value);
    size += 1 + sizeVarint(inner) + inner;
  }
  return size;
}

/** Writes `sizeMemberRemoveResponse(message)` bytes from `at` on, and returns where the next one goes. */
export function writeMemberRemoveResponse(message: Init<MemberRemoveResponse>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.header !== undefined) {
    into[next] = 10;
    next += 1;
    next = writeVarint(sizeResponseHeader(message.header), into, next);
    next = writeResponseHeader(message.header, into, next);
  }
  for (const value of message.members ?? []) {
    into[next] = 18;
    next += 1;
    next = writeVarint(sizeMember(value), into, next);
    next = writeMember(value, into, next);
  }
  return next;
}

export function encodeMemberRemoveResponse(message: Init<MemberRemoveResponse>): Uint8Array {
  const into = new Uint8Array(sizeMemberRemoveResponse(message));
  writeMemberRemoveResponse(message, into, 0);
  return into;
}

export interface MemberUpdateRequest {
  ID: bigint;
  peerURLs: string[];
}

export const newMemberUpdateRequest = (): MemberUpdateRequest => ({ ID: 0n, peerURLs: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readMemberUpdateRequest(reader: Reader, message: MemberUpdateRequest): MemberUpdateRequest {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 8:
        message.ID = reader.bigUint64();
        break;
      case 18:
        message.peerURLs.push(reader.string());
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeMemberUpdateRequest(bytes: Uint8Array): MemberUpdateRequest {
  return readMemberUpdateRequest(new Reader(bytes), newMemberUpdateRequest());
}

export function sizeMemberUpdateRequest(message: Init<MemberUpdateRequest>): number {
  let size = 0;
  if (message.ID !== undefined && message.ID !== 0n) size += 1 + sizeBig(message.ID);
  for (const value of message.peerURLs ?? []) size += 1 + sizeString(value);
  return size;
}

/** Writes `sizeMemberUpdateRequest(message)` bytes from `at` on, and returns where the next one goes. */
export function writeMemberUpdateRequest(message: Init<MemberUpdateRequest>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.ID !== undefined && message.ID !== 0n) {
    into[next] = 8;
    next += 1;
    next = writeBig(message.ID, into, next);
  }
  for (const value of message.peerURLs ?? []) {
    into[next] = 18;
    next += 1;
    next = writeString(value, into, next);
  }
  return next;
}

export function encodeMemberUpdateRequest(message: Init<MemberUpdateRequest>): Uint8Array {
  const into = new Uint8Array(sizeMemberUpdateRequest(message));
  writeMemberUpdateRequest(message, into, 0);
  return into;
}

export interface MemberUpdateResponse {
  header: ResponseHeader | undefined;
  members: Member[];
}

export const newMemberUpdateResponse = (): MemberUpdateResponse => ({ header: undefined, members: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readMemberUpdateResponse(reader: Reader, message: MemberUpdateResponse): MemberUpdateResponse {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10: {
        const outer = reader.enter();
        message.header = readResponseHeader(reader, message.header ?? newResponseHeader());
        reader.leave(outer);
        break;
      }
      case 18: {
        const outer = reader.enter();
        message.members.push(readMember(reader, newMember()));
        reader.leave(outer);
        break;
      }
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeMemberUpdateResponse(bytes: Uint8Array): MemberUpdateResponse {
  return readMemberUpdateResponse(new Reader(bytes), newMemberUpdateResponse());
}

export function sizeMemberUpdateResponse(message: Init<MemberUpdateResponse>): number {
  let size = 0;
  if (message.header !== undefined) {
    const inner = sizeResponseHeader(message.header);
    size += 1 + sizeVarint(inner) + inner;
  }
  for (const value of message.members ?? []) {
    const inner = sizeMember(value);
    size += 1 + sizeVarint(inner) + inner;
  }
  return size;
}

/** Writes `sizeMemberUpdateResponse(message)` bytes from `at` on, and returns where the next one goes. */
export function writeMemberUpdateResponse(message: Init<MemberUpdateResponse>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.header !== undefined) {
    into[next] = 10;
    next += 1;
    next = writeVarint(sizeResponseHeader(message.header), into, next);
    next = writeResponseHeader(message.header, into, next);
  }
  for (const value of message.members ?? []) {
    into[next] = 18;
    next += 1;
    next = writeVarint(sizeMember(value), into, next);
    next = writeMember(value, into, next);
  }
  return next;
}

export function encodeMemberUpdateResponse(message: Init<MemberUpdateResponse>): Uint8Array {
  const into = new Uint8Array(sizeMemberUpdateResponse(message));
  writeMemberUpdateResponse(message, into, 0);
  return into;
}

export interface MemberListRequest {
  linearizable: boolean;
}

export const newMemberListRequest = (): MemberListRequest => ({ linearizable: false, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readMemberListRequest(reader: Reader, message: MemberListRequest): MemberListRequest {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 8:
        message.linearizable = reader.bool();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeMemberListRequest(bytes: Uint8Array): MemberListRequest {
  return readMemberListRequest(new Reader(bytes), newMemberListRequest());
}

export function sizeMemberListRequest(message: Init<MemberListRequest>): number {
  let size = 0;
  if (message.linearizable === true) size += 1 + 1;
  return size;
}

/** Writes `sizeMemberListRequest(message)` bytes from `at` on, and returns where the next one goes. */
export function writeMemberListRequest(message: Init<MemberListRequest>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.linearizable === true) {
    into[next] = 8;
    next += 1;
    next = writeVarint(message.linearizable ? 1 : 0, into, next);
  }
  return next;
}

export function encodeMemberListRequest(message: Init<MemberListRequest>): Uint8Array {
  const into = new Uint8Array(sizeMemberListRequest(message));
  writeMemberListRequest(message, into, 0);
  return into;
}

export interface MemberListResponse {
  header: ResponseHeader | undefined;
  members: Member[];
}

export const newMemberListResponse = (): MemberListResponse => ({ header: undefined, members: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readMemberListResponse(reader: Reader, message: MemberListResponse): MemberListResponse {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10: {
        const outer = reader.enter();
        message.header = readResponseHeader(reader, message.header ?? newResponseHeader());
        reader.leave(outer);
        break;
      }
      case 18: {
        const outer = reader.enter();
        message.members.push(readMember(reader, newMember()));
        reader.leave(outer);
        break;
      }
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeMemberListResponse(bytes: Uint8Array): MemberListResponse {
  return readMemberListResponse(new Reader(bytes), newMemberListResponse());
}

export function sizeMemberListResponse(message: Init<MemberListResponse>): number {
  let size = 0;
  if (message.header !== undefined) {
    const inner = sizeResponseHeader(message.header);
    size += 1 + sizeVarint(inner) + inner;
  }
  for (const value of message.members ?? []) {
    const inner = sizeMember(value);
    size += 1 + sizeVarint(inner) + inner;
  }
  return size;
}

/** Writes `sizeMemberListResponse(message)` bytes from `at` on, and returns where the next one goes. */
export function writeMemberListResponse(message: Init<MemberListResponse>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.header !== undefined) {
    into[next] = 10;
    next += 1;
    next = writeVarint(sizeResponseHeader(message.header), into, next);
    next = writeResponseHeader(message.header, into, next);
  }
  for (const value of message.members ?? []) {
    into[next] = 18;
    next += 1;
    next = writeVarint(sizeMember(value), into, next);
    next = writeMember(value, into, next);
  }
  return next;
}

export function encodeMemberListResponse(message: Init<MemberListResponse>): Uint8Array {
  const into = new Uint8Array(sizeMemberListResponse(message));
  writeMemberListResponse(message, into, 0);
  return into;
}

export interface MemberPromoteRequest {
  ID: bigint;
}

export const newMemberPromoteRequest = (): MemberPromoteRequest => ({ ID: 0n, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readMemberPromoteRequest(reader: Reader, message: MemberPromoteRequest): MemberPromoteRequest {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 8:
        message.ID = reader.bigUint64();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeMemberPromoteRequest(bytes: Uint8Array): MemberPromoteRequest {
  return readMemberPromoteRequest(new Reader(bytes), newMemberPromoteRequest());
}

export function sizeMemberPromoteRequest(message: Init<MemberPromoteRequest>): number {
  let size = 0;
  if (message.ID !== undefined && message.ID !== 0n) size += 1 + sizeBig(message.ID);
  return size;
}

/** Writes `sizeMemberPromoteRequest(message)` bytes from `at` on, and returns where the next one goes. */
export function writeMemberPromoteRequest(message: Init<MemberPromoteRequest>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.ID !== undefined && message.ID !== 0n) {
    into[next] = 8;
    next += 1;
    next = writeBig(message.ID, into, next);
  }
  return next;
}

export function encodeMemberPromoteRequest(message: Init<MemberPromoteRequest>): Uint8Array {
  const into = new Uint8Array(sizeMemberPromoteRequest(message));
  writeMemberPromoteRequest(message, into, 0);
  return into;
}

export interface MemberPromoteResponse {
  header: ResponseHeader | undefined;
  members: Member[];
}

export const newMemberPromoteResponse = (): MemberPromoteResponse => ({ header: undefined, members: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readMemberPromoteResponse(reader: Reader, message: MemberPromoteResponse): MemberPromoteResponse {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10: {
        const outer = reader.enter();
        message.header = readResponseHeader(reader, message.header ?? newResponseHeader());
        reader.leave(outer);
        break;
      }
      case 18: {
        const outer = reader.enter();
        message.members.push(readMember(reader, newMember()));
        reader.leave(outer);
        break;
      }
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeMemberPromoteResponse(bytes: Uint8Array): MemberPromoteResponse {
  return readMemberPromoteResponse(new Reader(bytes), newMemberPromoteResponse());
}

export function sizeMemberPromoteResponse(message: Init<MemberPromoteResponse>): number {
  let size = 0;
  if (message.header !== undefined) {
    const inner = sizeResponseHeader(message.header);
    size += 1 + sizeVarint(inner) + inner;
  }
  for (const value of message.members ?? []) {
    const inner = sizeMember(value);
    size += 1 + sizeVarint(inner) + inner;
  }
  return size;
}

/** Writes `sizeMemberPromoteResponse(message)` bytes from `at` on, and returns where the next one goes. */
export function writeMemberPromoteResponse(message: Init<MemberPromoteResponse>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.header !== undefined) {
    into[next] = 10;
    next += 1;
    next = writeVarint(sizeResponseHeader(message.header), into, next);
    next = writeResponseHeader(message.header, into, next);
  }
  for (const value of message.members ?? []) {
    into[next] = 18;
    next += 1;
    next = writeVarint(sizeMember(value), into, next);
    next = writeMember(value, into, next);
  }
  return next;
}

export function encodeMemberPromoteResponse(message: Init<MemberPromoteResponse>): Uint8Array {
  const into = new Uint8Array(sizeMemberPromoteResponse(message));
  writeMemberPromoteResponse(message, into, 0);
  return into;
}

export interface DefragmentRequest {
}

export const newDefragmentRequest = (): DefragmentRequest => ({ });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readDefragmentRequest(reader: Reader, message: DefragmentRequest): DefragmentRequest {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeDefragmentRequest(bytes: Uint8Array): DefragmentRequest {
  return readDefragmentRequest(new Reader(bytes), newDefragmentRequest());
}

export function sizeDefragmentRequest(_message: Init<DefragmentRequest>): number {
  const size = 0;
  return size;
}

/** Writes `sizeDefragmentRequest(message)` bytes from `at` on, and returns where the next one goes. */
export function writeDefragmentRequest(_message: Init<DefragmentRequest>, _into: Uint8Array, at: number): number {
  const next = at;
  return next;
}

export function encodeDefragmentRequest(message: Init<DefragmentRequest>): Uint8Array {
  const into = new Uint8Array(sizeDefragmentRequest(message));
  writeDefragmentRequest(message, into, 0);
  return into;
}

export interface DefragmentResponse {
  header: ResponseHeader | undefined;
}

export const newDefragmentResponse = (): DefragmentResponse => ({ header: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readDefragmentResponse(reader: Reader, message: DefragmentResponse): DefragmentResponse {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10: {
        const outer = reader.enter();
        message.header = readResponseHeader(reader, message.header ?? newResponseHeader());
        reader.leave(outer);
        break;
      }
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeDefragmentResponse(bytes: Uint8Array): DefragmentResponse {
  return readDefragmentResponse(new Reader(bytes), newDefragmentResponse());
}

export function sizeDefragmentResponse(message: Init<DefragmentResponse>): number {
  let size = 0;
  if (message.header !== undefined) {
    const inner = sizeResponseHeader(message.header);
    size += 1 + sizeVarint(inner) + inner;
  }
  return size;
}

/** Writes `sizeDefragmentResponse(message)` bytes from `at` on, and returns where the next one goes. */
export function writeDefragmentResponse(message: Init<DefragmentResponse>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.header !== undefined) {
    into[next] = 10;
    next += 1;
    next = writeVarint(sizeResponseHeader(message.header), into, next);
    next = writeResponseHeader(message.header, into, next);
  }
  return next;
}

export function encodeDefragmentResponse(message: Init<DefragmentResponse>): Uint8Array {
  const into = new Uint8Array(sizeDefragmentResponse(message));
  writeDefragmentResponse(message, into, 0);
  return into;
}

export interface MoveLeaderRequest {
  targetID: bigint;
}

export const newMoveLeaderRequest = (): MoveLeaderRequest => ({ targetID: 0n, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readMoveLeaderRequest(reader: Reader, message: MoveLeaderRequest): MoveLeaderRequest {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 8:
        message.targetID = reader.bigUint64();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeMoveLeaderRequest(bytes: Uint8Array): MoveLeaderRequest {
  return readMoveLeaderRequest(new Reader(bytes), newMoveLeaderRequest());
}

export function sizeMoveLeaderRequest(message: Init<MoveLeaderRequest>): number {
  let size = 0;
  if (message.targetID !== undefined && message.targetID !== 0n) size += 1 + sizeBig(message.targetID);
  return size;
}

/** Writes `sizeMoveLeaderRequest(message)` bytes from `at` on, and returns where the next one goes. */
export function writeMoveLeaderRequest(message: Init<MoveLeaderRequest>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.targetID !== undefined && message.targetID !== 0n) {
    into[next] = 8;
    next += 1;
    next = writeBig(message.targetID, into, next);
  }
  return next;
}

export function encodeMoveLeaderRequest(message: Init<MoveLeaderRequest>): Uint8Array {
  const into = new Uint8Array(sizeMoveLeaderRequest(message));
  writeMoveLeaderRequest(message, into, 0);
  return into;
}

export interface MoveLeaderResponse {
  header: ResponseHeader | undefined;
}

export const newMoveLeaderResponse = (): MoveLeaderResponse => ({ header: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readMoveLeaderResponse(reader: Reader, message: MoveLeaderResponse): MoveLeaderResponse {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10: {
        const outer = reader.enter();
        message.header = readResponseHeader(reader, message.header ?? newResponseHeader());
        reader.leave(outer);
        break;
      }
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeMoveLeaderResponse(bytes: Uint8Array): MoveLeaderResponse {
  return readMoveLeaderResponse(new Reader(bytes), newMoveLeaderResponse());
}

export function sizeMoveLeaderResponse(message: Init<MoveLeaderResponse>): number {
  let size = 0;
  if (message.header !== undefined) {
    const inner = sizeResponseHeader(message.header);
    size += 1 + sizeVarint(inner) + inner;
  }
  return size;
}

/** Writes `sizeMoveLeaderResponse(message)` bytes from `at` on, and returns where the next one goes. */
export function writeMoveLeaderResponse(message: Init<MoveLeaderResponse>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.header !== undefined) {
    into[next] = 10;
    next += 1;
    next = writeVarint(sizeResponseHeader(message.header), into, next);
    next = writeResponseHeader(message.header, into, next);
  }
  return next;
}

export function encodeMoveLeaderResponse(message: Init<MoveLeaderResponse>): Uint8Array {
  const into = new Uint8Array(sizeMoveLeaderResponse(message));
  writeMoveLeaderResponse(message, into, 0);
  return into;
}

export interface AlarmRequest {
  action: number;
  memberID: bigint;
  alarm: number;
}

export const newAlarmRequest = (): AlarmRequest => ({ action: 0, memberID: 0n, alarm: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAlarmRequest(reader: Reader, message: AlarmRequest): AlarmRequest {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 8:
        message.action = reader.int32();
        break;
      case 16:
        message.memberID = reader.bigUint64();
        break;
      case 24:
        message.alarm = reader.int32();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeAlarmRequest(bytes: Uint8Array): AlarmRequest {
  return readAlarmRequest(new Reader(bytes), newAlarmRequest());
}

export function sizeAlarmRequest(message: Init<AlarmRequest>): number {
  let size = 0;
  if (message.action !== undefined && message.action !== 0) size += 1 + sizeInt32(message.action);
  if (message.memberID !== undefined && message.memberID !== 0n) size += 1 + sizeBig(message.memberID);
  if (message.alarm !== undefined && message.alarm !== 0) size += 1 + sizeInt32(message.alarm);
  return size;
}

/** Writes `sizeAlarmRequest(message)` bytes from `at` on, and returns where the next one goes. */
export function writeAlarmRequest(message: Init<AlarmRequest>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.action !== undefined && message.action !== 0) {
    into[next] = 8;
    next += 1;
    next = writeInt32(message.action, into, next);
  }
  if (message.memberID !== undefined && message.memberID !== 0n) {
    into[next] = 16;
    next += 1;
    next = writeBig(message.memberID, into, next);
  }
  if (message.alarm !== undefined && message.alarm !== 0) {
    into[next] = 24;
    next += 1;
    next = writeInt32(message.alarm, into, next);
  }
  return next;
}

export function encodeAlarmRequest(message: Init<AlarmRequest>): Uint8Array {
  const into = new Uint8Array(sizeAlarmRequest(message));
  writeAlarmRequest(message, into, 0);
  return into;
}

export interface AlarmMember {
  memberID: bigint;
  alarm: number;
}

export const newAlarmMember = (): AlarmMember => ({ memberID: 0n, alarm: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAlarmMember(reader: Reader, message: AlarmMember): AlarmMember {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 8:
        message.memberID = reader.bigUint64();
        break;
      case 16:
        message.alarm = reader.int32();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeAlarmMember(bytes: Uint8Array): AlarmMember {
  return readAlarmMember(new Reader(bytes), newAlarmMember());
}

export function sizeAlarmMember(message: Init<AlarmMember>): number {
  let size = 0;
  if (message.memberID !== undefined && message.memberID !== 0n) size += 1 + sizeBig(message.memberID);
  if (message.alarm !== undefined && message.alarm !== 0) size += 1 + sizeInt32(message.alarm);
  return size;
}

/** Writes `sizeAlarmMember(message)` bytes from `at` on, and returns where the next one goes. */
export function writeAlarmMember(message: Init<AlarmMember>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.memberID !== undefined && message.memberID !== 0n) {
    into[next] = 8;
    next += 1;
    next = writeBig(message.memberID, into, next);
  }
  if (message.alarm !== undefined && message.alarm !== 0) {
    into[next] = 16;
    next += 1;
    next = writeInt32(message.alarm, into, next);
  }
  return next;
}

export function encodeAlarmMember(message: Init<AlarmMember>): Uint8Array {
  const into = new Uint8Array(sizeAlarmMember(message));
  writeAlarmMember(message, into, 0);
  return into;
}

export interface AlarmResponse {
  header: ResponseHeader | undefined;
  alarms: AlarmMember[];
}

export const newAlarmResponse = (): AlarmResponse => ({ header: undefined, alarms: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAlarmResponse(reader: Reader, message: AlarmResponse): AlarmResponse {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10: {
        const outer = reader.enter();
        message.header = readResponseHeader(reader, message.header ?? newResponseHeader());
        reader.leave(outer);
        break;
      }
      case 18: {
        const outer = reader.enter();
        message.alarms.push(readAlarmMember(reader, newAlarmMember()));
        reader.leave(outer);
        break;
      }
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeAlarmResponse(bytes: Uint8Array): AlarmResponse {
  return readAlarmResponse(new Reader(bytes), newAlarmResponse());
}

export function sizeAlarmResponse(message: Init<AlarmResponse>): number {
  let size = 0;
  if (message.header !== undefined) {
    const inner = sizeResponseHeader(message.header);
    size += 1 + sizeVarint(inner) + inner;
  }
  for (const value of message.alarms ?? []) {
    const inner = sizeAlarmMember(value);
    size += 1 + sizeVarint(inner) + inner;
  }
  return size;
}

/** Writes `sizeAlarmResponse(message)` bytes from `at` on, and returns where the next one goes. */
export function writeAlarmResponse(message: Init<AlarmResponse>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.header !== undefined) {
    into[next] = 10;
    next += 1;
    next = writeVarint(sizeResponseHeader(message.header), into, next);
    next = writeResponseHeader(message.header, into, next);
  }
  for (const value of message.alarms ?? []) {
    into[next] = 18;
    next += 1;
    next = writeVarint(sizeAlarmMember(value), into, next);
    next = writeAlarmMember(value, into, next);
  }
  return next;
}

export function encodeAlarmResponse(message: Init<AlarmResponse>): Uint8Array {
  const into = new Uint8Array(sizeAlarmResponse(message));
  writeAlarmResponse(message, into, 0);
  return into;
}

export interface DowngradeRequest {
  action: number;
  version: string;
}

export const newDowngradeRequest = (): DowngradeRequest => ({ action: 0, version: '', });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readDowngradeRequest(reader: Reader, message: DowngradeRequest): DowngradeRequest {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 8:
        message.action = reader.int32();
        break;
      case 18:
        message.version = reader.string();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeDowngradeRequest(bytes: Uint8Array): DowngradeRequest {
  return readDowngradeRequest(new Reader(bytes), newDowngradeRequest());
}

export function sizeDowngradeRequest(message: Init<DowngradeRequest>): number {
  let size = 0;
  if (message.action !== undefined && message.action !== 0) size += 1 + sizeInt32(message.action);
  if (message.version !== undefined && message.version !== '') size += 1 + sizeString(message.version);
  return size;
}

/** Writes `sizeDowngradeRequest(message)` bytes from `at` on, and returns where the next one goes. */
export function writeDowngradeRequest(message: Init<DowngradeRequest>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.action !== undefined && message.action !== 0) {
    into[next] = 8;
    next += 1;
    next = writeInt32(message.action, into, next);
  }
  if (message.version !== undefined && message.version !== '') {
    into[next] = 18;
    next += 1;
    next = writeString(message.version, into, next);
  }
  return next;
}

export function encodeDowngradeRequest(message: Init<DowngradeRequest>): Uint8Array {
  const into = new Uint8Array(sizeDowngradeRequest(message));
  writeDowngradeRequest(message, into, 0);
  return into;
}

export interface DowngradeResponse {
  header: ResponseHeader | undefined;
  version: string;
}

export const newDowngradeResponse = (): DowngradeResponse => ({ header: undefined, version: '', });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readDowngradeResponse(reader: Reader, message: DowngradeResponse): DowngradeResponse {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10: {
        const outer = reader.enter();
        message.header = readResponseHeader(reader, message.header ?? newResponseHeader());
        reader.leave(outer);
        break;
      }
      case 18:
        message.version = reader.string();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeDowngradeResponse(bytes: Uint8Array): DowngradeResponse {
  return readDowngradeResponse(new Reader(bytes), newDowngradeResponse());
}

export function sizeDowngradeResponse(message: Init<DowngradeResponse>): number {
  let size = 0;
  if (message.header !== undefined) {
    const inner = sizeResponseHeader(message.header);
    size += 1 + sizeVarint(inner) + inner;
  }
  if (message.version !== undefined && message.version !== '') size += 1 + sizeString(message.version);
  return size;
}

/** Writes `sizeDowngradeResponse(message)` bytes from `at` on, and returns where the next one goes. */
export function writeDowngradeResponse(message: Init<DowngradeResponse>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.header !== undefined) {
    into[next] = 10;
    next += 1;
    next = writeVarint(sizeResponseHeader(message.header), into, next);
    next = writeResponseHeader(message.header, into, next);
  }
  if (message.version !== undefined && message.version !== '') {
    into[next] = 18;
    next += 1;
    next = writeString(message.version, into, next);
  }
  return next;
}

export function encodeDowngradeResponse(message: Init<DowngradeResponse>): Uint8Array {
  const into = new Uint8Array(sizeDowngradeResponse(message));
  writeDowngradeResponse(message, into, 0);
  return into;
}

export interface DowngradeVersionTestRequest {
  ver: string;
}

export const newDowngradeVersionTestRequest = (): DowngradeVersionTestRequest => ({ ver: '', });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readDowngradeVersionTestRequest(reader: Reader, message: DowngradeVersionTestRequest): DowngradeVersionTestRequest {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10:
        message.ver = reader.string();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeDowngradeVersionTestRequest(bytes: Uint8Array): DowngradeVersionTestRequest {
  return readDowngradeVersionTestRequest(new Reader(bytes), newDowngradeVersionTestRequest());
}

export function sizeDowngradeVersionTestRequest(message: Init<DowngradeVersionTestRequest>): number {
  let size = 0;
  if (message.ver !== undefined && message.ver !== '') size += 1 + sizeString(message.ver);
  return size;
}

/** Writes `sizeDowngradeVersionTestRequest(message)` bytes from `at` on, and returns where the next one goes. */
export function writeDowngradeVersionTestRequest(message: Init<DowngradeVersionTestRequest>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.ver !== undefined && message.ver !== '') {
    into[next] = 10;
    next += 1;
    next = writeString(message.ver, into, next);
  }
  return next;
}

export function encodeDowngradeVersionTestRequest(message: Init<DowngradeVersionTestRequest>): Uint8Array {
  const into = new Uint8Array(sizeDowngradeVersionTestRequest(message));
  writeDowngradeVersionTestRequest(message, into, 0);
  return into;
}

export interface StatusRequest {
}

export const newStatusRequest = (): StatusRequest => ({ });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readStatusRequest(reader: Reader, message: StatusRequest): StatusRequest {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeStatusRequest(bytes: Uint8Array): StatusRequest {
  return readStatusRequest(new Reader(bytes), newStatusRequest());
}

export function sizeStatusRequest(_message: Init<StatusRequest>): number {
  const size = 0;
  return size;
}

/** Writes `sizeStatusRequest(message)` bytes from `at` on, and returns where the next one goes. */
export function writeStatusRequest(_message: Init<StatusRequest>, _into: Uint8Array, at: number): number {
  const next = at;
  return next;
}

export function encodeStatusRequest(message: Init<StatusRequest>): Uint8Array {
  const into = new Uint8Array(sizeStatusRequest(message));
  writeStatusRequest(message, into, 0);
  return into;
}

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

export const newStatusResponse = (): StatusResponse => ({ header: undefined, version: '', dbSize: 0, leader: 0n, raftIndex: 0, raftTerm: 0, raftAppliedIndex: 0, errors: [], dbSizeInUse: 0, isLearner: false, storageVersion: '', dbSizeQuota: 0, downgradeInfo: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readStatusResponse(reader: Reader, message: StatusResponse): StatusResponse {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10: {
        const outer = reader.enter();
        message.header = readResponseHeader(reader, message.header ?? newResponseHeader());
        reader.leave(outer);
        break;
      }
      case 18:
        message.version = reader.string();
        break;
      case 24:
        message.dbSize = reader.int64();
        break;
      case 32:
        message.leader = reader.bigUint64();
        break;
      case 40:
        message.raftIndex = reader.uint64();
        break;
      case 48:
        message.raftTerm = reader.uint64();
        break;
      case 56:
        message.raftAppliedIndex = reader.uint64();
        break;
      case 66:
        message.errors.push(reader.string());
        break;
      case 72:
        message.dbSizeInUse = reader.int64();
        break;
      case 80:
        message.isLearner = reader.bool();
        break;
      case 90:
        message.storageVersion = reader.string();
        break;
      case 96:
        message.dbSizeQuota = reader.int64();
        break;
      case 106: {
        const outer = reader.enter();
        message.downgradeInfo = readDowngradeInfo(reader, message.downgradeInfo ?? newDowngradeInfo());
        reader.leave(outer);
        break;
      }
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeStatusResponse(bytes: Uint8Array): StatusResponse {
  return readStatusResponse(new Reader(bytes), newStatusResponse());
}

export function sizeStatusResponse(message: Init<StatusResponse>): number {
  let size = 0;
  if (message.header !== undefined) {
    const inner = sizeResponseHeader(message.header);
    size += 1 + sizeVarint(inner) + inner;
  }
  if (message.version !== undefined && message.version !== '') size += 1 + sizeString(message.version);
  if (message.dbSize !== undefined && message.dbSize !== 0) size += 1 + sizeInt64(message.dbSize);
  if (message.leader !== undefined && message.leader !== 0n) size += 1 + sizeBig(message.leader);
  if (message.raftIndex !== undefined && message.raftIndex !== 0) size += 1 + sizeUint64(message.raftIndex);
  if (message.raftTerm !== undefined && message.raftTerm !== 0) size += 1 + sizeUint64(message.raftTerm);
  if (message.raftAppliedIndex !== undefined && message.raftAppliedIndex !== 0) size += 1 + sizeUint64(message.raftAppliedIndex);
  for (const value of message.errors ?? []) size += 1 + sizeString(value);
  if (message.dbSizeInUse !== undefined && message.dbSizeInUse !== 0) size += 1 + sizeInt64(message.dbSizeInUse);
  if (message.isLearner === true) size += 1 + 1;
  if (message.storageVersion !== undefined && message.storageVersion !== '') size += 1 + sizeString(message.storageVersion);
  if (message.dbSizeQuota !== undefined && message.dbSizeQuota !== 0) size += 1 + sizeInt64(message.dbSizeQuota);
  if (message.downgradeInfo !== undefined) {
    const inner = sizeDowngradeInfo(message.downgradeInfo);
    size += 1 + sizeVarint(inner) + inner;
  }
  return size;
}

/** Writes `sizeStatusResponse(message)` bytes from `at` on, and returns where the next one goes. */
export function writeStatusResponse(message: Init<StatusResponse>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.header !== undefined) {
    into[next] = 10;
    next += 1;
    next = writeVarint(sizeResponseHeader(message.header), into, next);
    next = writeResponseHeader(message.header, into, next);
  }
  if (message.version !== undefined && message.version !== '') {
    into[next] = 18;
    next += 1;
    next = writeString(message.version, into, next);
  }
  if (message.dbSize !== undefined && message.dbSize !== 0) {
    into[next] = 24;
    next += 1;
    next = writeInt64(message.dbSize, into, next);
  }
  if (message.leader !== undefined && message.leader !== 0n) {
    into[next] = 32;
    next += 1;
    next = writeBig(message.leader, into, next);
  }
  if (message.raftIndex !== undefined && message.raftIndex !== 0) {
    into[next] = 40;
    next += 1;
    next = writeUint64(message.raftIndex, into, next);
  }
  if (message.raftTerm !== undefined && message.raftTerm !== 0) {
    into[next] = 48;
    next += 1;
    next = writeUint64(message.raftTerm, into, next);
  }
  if (message.raftAppliedIndex !== undefined && message.raftAppliedIndex !== 0) {
    into[next] = 56;
    next += 1;
    next = writeUint64(message.raftAppliedIndex, into, next);
  }
  for (const value of message.errors ?? []) {
    into[next] = 66;
    next += 1;
    next = writeString(value, into, next);
  }
  if (message.dbSizeInUse !== undefined && message.dbSizeInUse !== 0) {
    into[next] = 72;
    next += 1;
    next = writeInt64(message.dbSizeInUse, into, next);
  }
  if (message.isLearner === true) {
    into[next] = 80;
    next += 1;
    next = writeVarint(message.isLearner ? 1 : 0, into, next);
  }
  if (message.storageVersion !== undefined && message.storageVersion !== '') {
    into[next] = 90;
    next += 1;
    next = writeString(message.storageVersion, into, next);
  }
  if (message.dbSizeQuota !== undefined && message.dbSizeQuota !== 0) {
    into[next] = 96;
    next += 1;
    next = writeInt64(message.dbSizeQuota, into, next);
  }
  if (message.downgradeInfo !== undefined) {
    into[next] = 106;
    next += 1;
    next = writeVarint(sizeDowngradeInfo(message.downgradeInfo), into, next);
    next = writeDowngradeInfo(message.downgradeInfo, into, next);
  }
  return next;
}

export function encodeStatusResponse(message: Init<StatusResponse>): Uint8Array {
  const into = new Uint8Array(sizeStatusResponse(message));
  writeStatusResponse(message, into, 0);
  return into;
}

export interface DowngradeInfo {
  enabled: boolean;
  targetVersion: string;
}

export const newDowngradeInfo = (): DowngradeInfo => ({ enabled: false, targetVersion: '', });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readDowngradeInfo(reader: Reader, message: DowngradeInfo): DowngradeInfo {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 8:
        message.enabled = reader.bool();
        break;
      case 18:
        message.targetVersion = reader.string();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeDowngradeInfo(bytes: Uint8Array): DowngradeInfo {
  return readDowngradeInfo(new Reader(bytes), newDowngradeInfo());
}

export function sizeDowngradeInfo(message: Init<DowngradeInfo>): number {
  let size = 0;
  if (message.enabled === true) size += 1 + 1;
  if (message.targetVersion !== undefined && message.targetVersion !== '') size += 1 + sizeString(message.targetVersion);
  return size;
}

/** Writes `sizeDowngradeInfo(message)` bytes from `at` on, and returns where the next one goes. */
export function writeDowngradeInfo(message: Init<DowngradeInfo>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.enabled === true) {
    into[next] = 8;
    next += 1;
    next = writeVarint(message.enabled ? 1 : 0, into, next);
  }
  if (message.targetVersion !== undefined && message.targetVersion !== '') {
    into[next] = 18;
    next += 1;
    next = writeString(message.targetVersion, into, next);
  }
  return next;
}

export function encodeDowngradeInfo(message: Init<DowngradeInfo>): Uint8Array {
  const into = new Uint8Array(sizeDowngradeInfo(message));
  writeDowngradeInfo(message, into, 0);
  return into;
}

export interface AuthEnableRequest {
}

export const newAuthEnableRequest = (): AuthEnableRequest => ({ });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthEnableRequest(reader: Reader, message: AuthEnableRequest): AuthEnableRequest {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeAuthEnableRequest(bytes: Uint8Array): AuthEnableRequest {
  return readAuthEnableRequest(new Reader(bytes), newAuthEnableRequest());
}

export function sizeAuthEnableRequest(_message: Init<AuthEnableRequest>): number {
  const size = 0;
  return size;
}

/** Writes `sizeAuthEnableRequest(message)` bytes from `at` on, and returns where the next one goes. */
export function writeAuthEnableRequest(_message: Init<AuthEnableRequest>, _into: Uint8Array, at: number): number {
  const next = at;
  return next;
}

export function encodeAuthEnableRequest(message: Init<AuthEnableRequest>): Uint8Array {
  const into = new Uint8Array(sizeAuthEnableRequest(message));
  writeAuthEnableRequest(message, into, 0);
  return into;
}

export interface AuthDisableRequest {
}

export const newAuthDisableRequest = (): AuthDisableRequest => ({ });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthDisableRequest(reader: Reader, message: AuthDisableRequest): AuthDisableRequest {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeAuthDisableRequest(bytes: Uint8Array): AuthDisableRequest {
  return readAuthDisableRequest(new Reader(bytes), newAuthDisableRequest());
}

export function sizeAuthDisableRequest(_message: Init<AuthDisableRequest>): number {
  const size = 0;
  return size;
}

/** Writes `sizeAuthDisableRequest(message)` bytes from `at` on, and returns where the next one goes. */
export function writeAuthDisableRequest(_message: Init<AuthDisableRequest>, _into: Uint8Array, at: number): number {
  const next = at;
  return next;
}

export function encodeAuthDisableRequest(message: Init<AuthDisableRequest>): Uint8Array {
  const into = new Uint8Array(sizeAuthDisableRequest(message));
  writeAuthDisableRequest(message, into, 0);
  return into;
}

export interface AuthStatusRequest {
}

export const newAuthStatusRequest = (): AuthStatusRequest => ({ });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthStatusRequest(reader: Reader, message: AuthStatusRequest): AuthStatusRequest {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeAuthStatusRequest(bytes: Uint8Array): AuthStatusRequest {
  return readAuthStatusRequest(new Reader(bytes), newAuthStatusRequest());
}

export function sizeAuthStatusRequest(_message: Init<AuthStatusRequest>): number {
  const size = 0;
  return size;
}

/** Writes `sizeAuthStatusRequest(message)` bytes from `at` on, and returns where the next one goes. */
export function writeAuthStatusRequest(_message: Init<AuthStatusRequest>, _into: Uint8Array, at: number): number {
  const next = at;
  return next;
}

export function encodeAuthStatusRequest(message: Init<AuthStatusRequest>): Uint8Array {
  const into = new Uint8Array(sizeAuthStatusRequest(message));
  writeAuthStatusRequest(message, into, 0);
  return into;
}

export interface AuthenticateRequest {
  name: string;
  password: string;
}

export const newAuthenticateRequest = (): AuthenticateRequest => ({ name: '', password: '', });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthenticateRequest(reader: Reader, message: AuthenticateRequest): AuthenticateRequest {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10:
        message.name = reader.string();
        break;
      case 18:
        message.password = reader.string();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeAuthenticateRequest(bytes: Uint8Array): AuthenticateRequest {
  return readAuthenticateRequest(new Reader(bytes), newAuthenticateRequest());
}

export function sizeAuthenticateRequest(message: Init<AuthenticateRequest>): number {
  let size = 0;
  if (message.name !== undefined && message.name !== '') size += 1 + sizeString(message.name);
  if (message.password !== undefined && message.password !== '') size += 1 + sizeString(message.password);
  return size;
}

/** Writes `sizeAuthenticateRequest(message)` bytes from `at` on, and returns where the next one goes. */
export function writeAuthenticateRequest(message: Init<AuthenticateRequest>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.name !== undefined && message.name !== '') {
    into[next] = 10;
    next += 1;
    next = writeString(message.name, into, next);
  }
  if (message.password !== undefined && message.password !== '') {
    into[next] = 18;
    next += 1;
    next = writeString(message.password, into, next);
  }
  return next;
}

export function encodeAuthenticateRequest(message: Init<AuthenticateRequest>): Uint8Array {
  const into = new Uint8Array(sizeAuthenticateRequest(message));
  writeAuthenticateRequest(message, into, 0);
  return into;
}

export interface AuthUserAddRequest {
  name: string;
  password: string;
  options: UserAddOptions | undefined;
  hashedPassword: string;
}

export const newAuthUserAddRequest = (): AuthUserAddRequest => ({ name: '', password: '', options: undefined, hashedPassword: '', });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthUserAddRequest(reader: Reader, message: AuthUserAddRequest): AuthUserAddRequest {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10:
        message.name = reader.string();
        break;
      case 18:
        message.password = reader.string();
        break;
      case 26: {
        const outer = reader.enter();
        message.options = readUserAddOptions(reader, message.options ?? newUserAddOptions());
        reader.leave(outer);
        break;
      }
      case 34:
        message.hashedPassword = reader.string();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeAuthUserAddRequest(bytes: Uint8Array): AuthUserAddRequest {
  return readAuthUserAddRequest(new Reader(bytes), newAuthUserAddRequest());
}

export function sizeAuthUserAddRequest(message: Init<AuthUserAddRequest>): number {
  let size = 0;
  if (message.name !== undefined && message.name !== '') size += 1 + sizeString(message.name);
  if (message.password !== undefined && message.password !== '') size += 1 + sizeString(message.password);
  if (message.options !== undefined) {
    const inner = sizeUserAddOptions(message.options);
    size += 1 + sizeVarint(inner) + inner;
  }
  if (message.hashedPassword !== undefined && message.hashedPassword !== '') size += 1 + sizeString(message.hashedPassword);
  return size;
}

/** Writes `sizeAuthUserAddRequest(message)` bytes from `at` on, and returns where the next one goes. */
export function writeAuthUserAddRequest(message: Init<AuthUserAddRequest>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.name !== undefined && message.name !== '') {
    into[next] = 10;
    next += 1;
    next = writeString(message.name, into, next);
  }
  if (message.password !== undefined && message.password !== '') {
    into[next] = 18;
    next += 1;
    next = writeString(message.password, into, next);
  }
  if (message.options !== undefined) {
    into[next] = 26;
    next += 1;
    next = writeVarint(sizeUserAddOptions(message.options), into, next);
    next = writeUserAddOptions(message.options, into, next);
  }
  if (message.hashedPassword !== undefined && message.hashedPassword !== '') {
    into[next] = 34;
    next += 1;
    next = writeString(message.hashedPassword, into, next);
  }
  return next;
}

export function encodeAuthUserAddRequest(message: Init<AuthUserAddRequest>): Uint8Array {
  const into = new Uint8Array(sizeAuthUserAddRequest(message));
  writeAuthUserAddRequest(message, into, 0);
  return into;
}

export interface AuthUserGetRequest {
  name: string;
}

export const newAuthUserGetRequest = (): AuthUserGetRequest => ({ name: '', });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthUserGetRequest(reader: Reader, message: AuthUserGetRequest): AuthUserGetRequest {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10:
        message.name = reader.string();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeAuthUserGetRequest(bytes: Uint8Array): AuthUserGetRequest {
  return readAuthUserGetRequest(new Reader(bytes), newAuthUserGetRequest());
}

export function sizeAuthUserGetRequest(message: Init<AuthUserGetRequest>): number {
  let size = 0;
  if (message.name !== undefined && message.name !== '') size += 1 + sizeString(message.name);
  return size;
}

/** Writes `sizeAuthUserGetRequest(message)` bytes from `at` on, and returns where the next one goes. */
export function writeAuthUserGetRequest(message: Init<AuthUserGetRequest>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.name !== undefined && message.name !== '') {
    into[next] = 10;
    next += 1;
    next = writeString(message.name, into, next);
  }
  return next;
}

export function encodeAuthUserGetRequest(message: Init<AuthUserGetRequest>): Uint8Array {
  const into = new Uint8Array(sizeAuthUserGetRequest(message));
  writeAuthUserGetRequest(message, into, 0);
  return into;
}

export interface AuthUserDeleteRequest {
  name: string;
}

export const newAuthUserDeleteRequest = (): AuthUserDeleteRequest => ({ name: '', });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthUserDeleteRequest(reader: Reader, message: AuthUserDeleteRequest): AuthUserDeleteRequest {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10:
        message.name = reader.string();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeAuthUserDeleteRequest(bytes: Uint8Array): AuthUserDeleteRequest {
  return readAuthUserDeleteRequest(new Reader(bytes), newAuthUserDeleteRequest());
}

export function sizeAuthUserDeleteRequest(message: Init<AuthUserDeleteRequest>): number {
  let size = 0;
  if (message.name !== undefined && message.name !== '') size += 1 + sizeString(message.name);
  return size;
}

/** Writes `sizeAuthUserDeleteRequest(message)` bytes from `at` on, and returns where the next one goes. */
export function writeAuthUserDeleteRequest(message: Init<AuthUserDeleteRequest>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.name !== undefined && message.name !== '') {
    into[next] = 10;
    next += 1;
    next = writeString(message.name, into, next);
  }
  return next;
}

export function encodeAuthUserDeleteRequest(message: Init<AuthUserDeleteRequest>): Uint8Array {
  const into = new Uint8Array(sizeAuthUserDeleteRequest(message));
  writeAuthUserDeleteRequest(message, into, 0);
  return into;
}

export interface AuthUserChangePasswordRequest {
  name: string;
  password: string;
  hashedPassword: string;
}

export const newAuthUserChangePasswordRequest = (): AuthUserChangePasswordRequest => ({ name: '', password: '', hashedPassword: '', });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthUserChangePasswordRequest(reader: Reader, message: AuthUserChangePasswordRequest): AuthUserChangePasswordRequest {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10:
        message.name = reader.string();
        break;
      case 18:
        message.password = reader.string();
        break;
      case 26:
        message.hashedPassword = reader.string();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeAuthUserChangePasswordRequest(bytes: Uint8Array): AuthUserChangePasswordRequest {
  return readAuthUserChangePasswordRequest(new Reader(bytes), newAuthUserChangePasswordRequest());
}

export function sizeAuthUserChangePasswordRequest(message: Init<AuthUserChangePasswordRequest>): number {
  let size = 0;
  if (message.name !== undefined && message.name !== '') size += 1 + sizeString(message.name);
  if (message.password !== undefined && message.password !== '') size += 1 + sizeString(message.password);
  if (message.hashedPassword !== undefined && message.hashedPassword !== '') size += 1 + sizeString(message.hashedPassword);
  return size;
}

/** Writes `sizeAuthUserChangePasswordRequest(message)` bytes from `at` on, and returns where the next one goes. */
export function writeAuthUserChangePasswordRequest(message: Init<AuthUserChangePasswordRequest>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.name !== undefined && message.name !== '') {
    into[next] = 10;
    next += 1;
    next = writeString(message.name, into, next);
  }
  if (message.password !== undefined && message.password !== '') {
    into[next] = 18;
    next += 1;
    next = writeString(message.password, into, next);
  }
  if (message.hashedPassword !== undefined && message.hashedPassword !== '') {
    into[next] = 26;
    next += 1;
    next = writeString(message.hashedPassword, into, next);
  }
  return next;
}

export function encodeAuthUserChangePasswordRequest(message: Init<AuthUserChangePasswordRequest>): Uint8Array {
  const into = new Uint8Array(sizeAuthUserChangePasswordRequest(message));
  writeAuthUserChangePasswordRequest(message, into, 0);
  return into;
}

export interface AuthUserGrantRoleRequest {
  user: string;
  role: string;
}

export const newAuthUserGrantRoleRequest = (): AuthUserGrantRoleRequest => ({ user: '', role: '', });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthUserGrantRoleRequest(reader: Reader, message: AuthUserGrantRoleRequest): AuthUserGrantRoleRequest {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10:
        message.user = reader.string();
        break;
      case 18:
        message.role = reader.string();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeAuthUserGrantRoleRequest(bytes: Uint8Array): AuthUserGrantRoleRequest {
  return readAuthUserGrantRoleRequest(new Reader(bytes), newAuthUserGrantRoleRequest());
}

export function sizeAuthUserGrantRoleRequest(message: Init<AuthUserGrantRoleRequest>): number {
  let size = 0;
  if (message.user !== undefined && message.user !== '') size += 1 + sizeString(message.user);
  if (message.role !== undefined && message.role !== '') size += 1 + sizeString(message.role);
  return size;
}

/** Writes `sizeAuthUserGrantRoleRequest(message)` bytes from `at` on, and returns where the next one goes. */
export function writeAuthUserGrantRoleRequest(message: Init<AuthUserGrantRoleRequest>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.user !== undefined && message.user !== '') {
    into[next] = 10;
    next += 1;
    next = writeString(message.user, into, next);
  }
  if (message.role !== undefined && message.role !== '') {
    into[next] = 18;
    next += 1;
    next = writeString(message.role, into, next);
  }
  return next;
}

export function encodeAuthUserGrantRoleRequest(message: Init<AuthUserGrantRoleRequest>): Uint8Array {
  const into = new Uint8Array(sizeAuthUserGrantRoleRequest(message));
  writeAuthUserGrantRoleRequest(message, into, 0);
  return into;
}

export interface AuthUserRevokeRoleRequest {
  name: string;
  role: string;
}

export const newAuthUserRevokeRoleRequest = (): AuthUserRevokeRoleRequest => ({ name: '', role: '', });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthUserRevokeRoleRequest(reader: Reader, message: AuthUserRevokeRoleRequest): AuthUserRevokeRoleRequest {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10:
        message.name = reader.string();
        break;
      case 18:
        message.role = reader.string();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeAuthUserRevokeRoleRequest(bytes: Uint8Array): AuthUserRevokeRoleRequest {
  return readAuthUserRevokeRoleRequest(new Reader(bytes), newAuthUserRevokeRoleRequest());
}

export function sizeAuthUserRevokeRoleRequest(message: Init<AuthUserRevokeRoleRequest>): number {
  let size = 0;
  if (message.name !== undefined && message.name !== '') size += 1 + sizeString(message.name);
  if (message.role !== undefined && message.role !== '') size += 1 + sizeString(message.role);
  return size;
}

/** Writes `sizeAuthUserRevokeRoleRequest(message)` bytes from `at` on, and returns where the next one goes. */
export function writeAuthUserRevokeRoleRequest(message: Init<AuthUserRevokeRoleRequest>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.name !== undefined && message.name !== '') {
    into[next] = 10;
    next += 1;
    next = writeString(message.name, into, next);
  }
  if (message.role !== undefined && message.role !== '') {
    into[next] = 18;
    next += 1;
    next = writeString(message.role, into, next);
  }
  return next;
}

export function encodeAuthUserRevokeRoleRequest(message: Init<AuthUserRevokeRoleRequest>): Uint8Array {
  const into = new Uint8Array(sizeAuthUserRevokeRoleRequest(message));
  writeAuthUserRevokeRoleRequest(message, into, 0);
  return into;
}

export interface AuthRoleAddRequest {
  name: string;
}

export const newAuthRoleAddRequest = (): AuthRoleAddRequest => ({ name: '', });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthRoleAddRequest(reader: Reader, message: AuthRoleAddRequest): AuthRoleAddRequest {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10:
        message.name = reader.string();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeAuthRoleAddRequest(bytes: Uint8Array): AuthRoleAddRequest {
  return readAuthRoleAddRequest(new Reader(bytes), newAuthRoleAddRequest());
}

export function sizeAuthRoleAddRequest(message: Init<AuthRoleAddRequest>): number {
  let size = 0;
  if (message.name !== undefined && message.name !== '') size += 1 + sizeString(message.name);
  return size;
}

/** Writes `sizeAuthRoleAddRequest(message)` bytes from `at` on, and returns where the next one goes. */
export function writeAuthRoleAddRequest(message: Init<AuthRoleAddRequest>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.name !== undefined && message.name !== '') {
    into[next] = 10;
    next += 1;
    next = writeString(message.name, into, next);
  }
  return next;
}

export function encodeAuthRoleAddRequest(message: Init<AuthRoleAddRequest>): Uint8Array {
  const into = new Uint8Array(sizeAuthRoleAddRequest(message));
  writeAuthRoleAddRequest(message, into, 0);
  return into;
}

export interface AuthRoleGetRequest {
  role: string;
}

export const newAuthRoleGetRequest = (): AuthRoleGetRequest => ({ role: '', });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthRoleGetRequest(reader: Reader, message: AuthRoleGetRequest): AuthRoleGetRequest {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10:
        message.role = reader.string();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeAuthRoleGetRequest(bytes: Uint8Array): AuthRoleGetRequest {
  return readAuthRoleGetRequest(new Reader(bytes), newAuthRoleGetRequest());
}

export function sizeAuthRoleGetRequest(message: Init<AuthRoleGetRequest>): number {
  let size = 0;
  if (message.role !== undefined && message.role !== '') size += 1 + sizeString(message.role);
  return size;
}

/** Writes `sizeAuthRoleGetRequest(message)` bytes from `at` on, and returns where the next one goes. */
export function writeAuthRoleGetRequest(message: Init<AuthRoleGetRequest>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.role !== undefined && message.role !== '') {
    into[next] = 10;
    next += 1;
    next = writeString(message.role, into, next);
  }
  return next;
}

export function encodeAuthRoleGetRequest(message: Init<AuthRoleGetRequest>): Uint8Array {
  const into = new Uint8Array(sizeAuthRoleGetRequest(message));
  writeAuthRoleGetRequest(message, into, 0);
  return into;
}

export interface AuthUserListRequest {
}

export const newAuthUserListRequest = (): AuthUserListRequest => ({ });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthUserListRequest(reader: Reader, message: AuthUserListRequest): AuthUserListRequest {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeAuthUserListRequest(bytes: Uint8Array): AuthUserListRequest {
  return readAuthUserListRequest(new Reader(bytes), newAuthUserListRequest());
}

export function sizeAuthUserListRequest(_message: Init<AuthUserListRequest>): number {
  const size = 0;
  return size;
}

/** Writes `sizeAuthUserListRequest(message)` bytes from `at` on, and returns where the next one goes. */
export function writeAuthUserListRequest(_message: Init<AuthUserListRequest>, _into: Uint8Array, at: number): number {
  const next = at;
  return next;
}

export function encodeAuthUserListRequest(message: Init<AuthUserListRequest>): Uint8Array {
  const into = new Uint8Array(sizeAuthUserListRequest(message));
  writeAuthUserListRequest(message, into, 0);
  return into;
}

export interface AuthRoleListRequest {
}

export const newAuthRoleListRequest = (): AuthRoleListRequest => ({ });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthRoleListRequest(reader: Reader, message: AuthRoleListRequest): AuthRoleListRequest {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeAuthRoleListRequest(bytes: Uint8Array): AuthRoleListRequest {
  return readAuthRoleListRequest(new Reader(bytes), newAuthRoleListRequest());
}

export function sizeAuthRoleListRequest(_message: Init<AuthRoleListRequest>): number {
  const size = 0;
  return size;
}

/** Writes `sizeAuthRoleListRequest(message)` bytes from `at` on, and returns where the next one goes. */
export function writeAuthRoleListRequest(_message: Init<AuthRoleListRequest>, _into: Uint8Array, at: number): number {
  const next = at;
  return next;
}

export function encodeAuthRoleListRequest(message: Init<AuthRoleListRequest>): Uint8Array {
  const into = new Uint8Array(sizeAuthRoleListRequest(message));
  writeAuthRoleListRequest(message, into, 0);
  return into;
}

export interface AuthRoleDeleteRequest {
  role: string;
}

export const newAuthRoleDeleteRequest = (): AuthRoleDeleteRequest => ({ role: '', });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthRoleDeleteRequest(reader: Reader, message: AuthRoleDeleteRequest): AuthRoleDeleteRequest {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10:
        message.role = reader.string();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeAuthRoleDeleteRequest(bytes: Uint8Array): AuthRoleDeleteRequest {
  return readAuthRoleDeleteRequest(new Reader(bytes), newAuthRoleDeleteRequest());
}

export function sizeAuthRoleDeleteRequest(message: Init<AuthRoleDeleteRequest>): number {
  let size = 0;
  if (message.role !== undefined && message.role !== '') size += 1 + sizeString(message.role);
  return size;
}

/** Writes `sizeAuthRoleDeleteRequest(message)` bytes from `at` on, and returns where the next one goes. */
export function writeAuthRoleDeleteRequest(message: Init<AuthRoleDeleteRequest>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.role !== undefined && message.role !== '') {
    into[next] = 10;
    next += 1;
    next = writeString(message.role, into, next);
  }
  return next;
}

export function encodeAuthRoleDeleteRequest(message: Init<AuthRoleDeleteRequest>): Uint8Array {
  const into = new Uint8Array(sizeAuthRoleDeleteRequest(message));
  writeAuthRoleDeleteRequest(message, into, 0);
  return into;
}

export interface AuthRoleGrantPermissionRequest {
  name: string;
  perm: Permission | undefined;
}

export const newAuthRoleGrantPermissionRequest = (): AuthRoleGrantPermissionRequest => ({ name: '', perm: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthRoleGrantPermissionRequest(reader: Reader, message: AuthRoleGrantPermissionRequest): AuthRoleGrantPermissionRequest {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10:
        message.name = reader.string();
        break;
      case 18: {
        const outer = reader.enter();
        message.perm = readPermission(reader, message.perm ?? newPermission());
        reader.leave(outer);
        break;
      }
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeAuthRoleGrantPermissionRequest(bytes: Uint8Array): AuthRoleGrantPermissionRequest {
  return readAuthRoleGrantPermissionRequest(new Reader(bytes), newAuthRoleGrantPermissionRequest());
}

export function sizeAuthRoleGrantPermissionRequest(message: Init<AuthRoleGrantPermissionRequest>): number {
  let size = 0;
  if (message.name !== undefined && message.name !== '') size += 1 + sizeString(message.name);
  if (message.perm !== undefined) {
    const inner = sizePermission(message.perm);
    size += 1 + sizeVarint(inner) + inner;
  }
  return size;
}

/** Writes `sizeAuthRoleGrantPermissionRequest(message)` bytes from `at` on, and returns where the next one goes. */
export function writeAuthRoleGrantPermissionRequest(message: Init<AuthRoleGrantPermissionRequest>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.name !== undefined && message.name !== '') {
    into[next] = 10;
    next += 1;
    next = writeString(message.name, into, next);
  }
  if (message.perm !== undefined) {
    into[next] = 18;
    next += 1;
    next = writeVarint(sizePermission(message.perm), into, next);
    next = writePermission(message.perm, into, next);
  }
  return next;
}

export function encodeAuthRoleGrantPermissionRequest(message: Init<AuthRoleGrantPermissionRequest>): Uint8Array {
  const into = new Uint8Array(sizeAuthRoleGrantPermissionRequest(message));
  writeAuthRoleGrantPermissionRequest(message, into, 0);
  return into;
}

export interface AuthRoleRevokePermissionRequest {
  role: string;
  key: Uint8Array;
  rangeEnd: Uint8Array;
}

export const newAuthRoleRevokePermissionRequest = (): AuthRoleRevokePermissionRequest => ({ role: '', key: EMPTY_BYTES, rangeEnd: EMPTY_BYTES, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthRoleRevokePermissionRequest(reader: Reader, message: AuthRoleRevokePermissionRequest): AuthRoleRevokePermissionRequest {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10:
        message.role = reader.string();
        break;
      case 18:
        message.key = reader.bytes();
        break;
      case 26:
        message.rangeEnd = reader.bytes();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeAuthRoleRevokePermissionRequest(bytes: Uint8Array): AuthRoleRevokePermissionRequest {
  return readAuthRoleRevokePermissionRequest(new Reader(bytes), newAuthRoleRevokePermissionRequest());
}

export function sizeAuthRoleRevokePermissionRequest(message: Init<AuthRoleRevokePermissionRequest>): number {
  let size = 0;
  if (message.role !== undefined && message.role !== '') size += 1 + sizeString(message.role);
  if (message.key !== undefined && message.key.length > 0) size += 1 + sizeDelimited(message.key.length);
  if (message.rangeEnd !== undefined && message.rangeEnd.length > 0) size += 1 + sizeDelimited(message.rangeEnd.length);
  return size;
}

/** Writes `sizeAuthRoleRevokePermissionRequest(message)` bytes from `at` on, and returns where the next one goes. */
export function writeAuthRoleRevokePermissionRequest(message: Init<AuthRoleRevokePermissionRequest>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.role !== undefined && message.role !== '') {
    into[next] = 10;
    next += 1;
    next = writeString(message.role, into, next);
  }
  if (message.key !== undefined && message.key.length > 0) {
    into[next] = 18;
    next += 1;
    next = writeBytes(message.key, into, next);
  }
  if (message.rangeEnd !== undefined && message.rangeEnd.length > 0) {
    into[next] = 26;
    next += 1;
    next = writeBytes(message.rangeEnd, into, next);
  }
  return next;
}

export function encodeAuthRoleRevokePermissionRequest(message: Init<AuthRoleRevokePermissionRequest>): Uint8Array {
  const into = new Uint8Array(sizeAuthRoleRevokePermissionRequest(message));
  writeAuthRoleRevokePermissionRequest(message, into, 0);
  return into;
}

export interface AuthEnableResponse {
  header: ResponseHeader | undefined;
}

export const newAuthEnableResponse = (): AuthEnableResponse => ({ header: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthEnableResponse(reader: Reader, message: AuthEnableResponse): AuthEnableResponse {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10: {
        const outer = reader.enter();
        message.header = readResponseHeader(reader, message.header ?? newResponseHeader());
        reader.leave(outer);
        break;
      }
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeAuthEnableResponse(bytes: Uint8Array): AuthEnableResponse {
  return readAuthEnableResponse(new Reader(bytes), newAuthEnableResponse());
}

export function sizeAuthEnableResponse(message: Init<AuthEnableResponse>): number {
  let size = 0;
  if (message.header !== undefined) {
    const inner = sizeResponseHeader(message.header);
    size += 1 + sizeVarint(inner) + inner;
  }
  return size;
}

/** Writes `sizeAuthEnableResponse(message)` bytes from `at` on, and returns where the next one goes. */
export function writeAuthEnableResponse(message: Init<AuthEnableResponse>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.header !== undefined) {
    into[next] = 10;
    next += 1;
    next = writeVarint(sizeResponseHeader(message.header), into, next);
    next = writeResponseHeader(message.header, into, next);
  }
  return next;
}

export function encodeAuthEnableResponse(message: Init<AuthEnableResponse>): Uint8Array {
  const into = new Uint8Array(sizeAuthEnableResponse(message));
  writeAuthEnableResponse(message, into, 0);
  return into;
}

export interface AuthDisableResponse {
  header: ResponseHeader | undefined;
}

export const newAuthDisableResponse = (): AuthDisableResponse => ({ header: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthDisableResponse(reader: Reader, message: AuthDisableResponse): AuthDisableResponse {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10: {
        const outer = reader.enter();
        message.header = readResponseHeader(reader, message.header ?? newResponseHeader());
        reader.leave(outer);
        break;
      }
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeAuthDisableResponse(bytes: Uint8Array): AuthDisableResponse {
  return readAuthDisableResponse(new Reader(bytes), newAuthDisableResponse());
}

export function sizeAuthDisableResponse(message: Init<AuthDisableResponse>): number {
  let size = 0;
  if (message.header !== undefined) {
    const inner = sizeResponseHeader(message.header);
    size += 1 + sizeVarint(inner) + inner;
  }
  return size;
}

/** Writes `sizeAuthDisableResponse(message)` bytes from `at` on, and returns where the next one goes. */
export function writeAuthDisableResponse(message: Init<AuthDisableResponse>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.header !== undefined) {
    into[next] = 10;
    next += 1;
    next = writeVarint(sizeResponseHeader(message.header), into, next);
    next = writeResponseHeader(message.header, into, next);
  }
  return next;
}

export function encodeAuthDisableResponse(message: Init<AuthDisableResponse>): Uint8Array {
  const into = new Uint8Array(sizeAuthDisableResponse(message));
  writeAuthDisableResponse(message, into, 0);
  return into;
}

export interface AuthStatusResponse {
  header: ResponseHeader | undefined;
  enabled: boolean;
  authRevision: number;
}

export const newAuthStatusResponse = (): AuthStatusResponse => ({ header: undefined, enabled: false, authRevision: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthStatusResponse(reader: Reader, message: AuthStatusResponse): AuthStatusResponse {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10: {
        const outer = reader.enter();
        message.header = readResponseHeader(reader, message.header ?? newResponseHeader());
        reader.leave(outer);
        break;
      }
      case 16:
        message.enabled = reader.bool();
        break;
      case 24:
        message.authRevision = reader.uint64();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeAuthStatusResponse(bytes: Uint8Array): AuthStatusResponse {
  return readAuthStatusResponse(new Reader(bytes), newAuthStatusResponse());
}

export function sizeAuthStatusResponse(message: Init<AuthStatusResponse>): number {
  let size = 0;
  if (message.header !== undefined) {
    const inner = sizeResponseHeader(message.header);
    size += 1 + sizeVarint(inner) + inner;
  }
  if (message.enabled === true) size += 1 + 1;
  if (message.authRevision !== undefined && message.authRevision !== 0) size += 1 + sizeUint64(message.authRevision);
  return size;
}

/** Writes `sizeAuthStatusResponse(message)` bytes from `at` on, and returns where the next one goes. */
export function writeAuthStatusResponse(message: Init<AuthStatusResponse>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.header !== undefined) {
    into[next] = 10;
    next += 1;
    next = writeVarint(sizeResponseHeader(message.header), into, next);
    next = writeResponseHeader(message.header, into, next);
  }
  if (message.enabled === true) {
    into[next] = 16;
    next += 1;
    next = writeVarint(message.enabled ? 1 : 0, into, next);
  }
  if (message.authRevision !== undefined && message.authRevision !== 0) {
    into[next] = 24;
    next += 1;
    next = writeUint64(message.authRevision, into, next);
  }
  return next;
}

export function encodeAuthStatusResponse(message: Init<AuthStatusResponse>): Uint8Array {
  const into = new Uint8Array(sizeAuthStatusResponse(message));
  writeAuthStatusResponse(message, into, 0);
  return into;
}

export interface AuthenticateResponse {
  header: ResponseHeader | undefined;
  token: string;
}

export const newAuthenticateResponse = (): AuthenticateResponse => ({ header: undefined, token: '', });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthenticateResponse(reader: Reader, message: AuthenticateResponse): AuthenticateResponse {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10: {
        const outer = reader.enter();
        message.header = readResponseHeader(reader, message.header ?? newResponseHeader());
        reader.leave(outer);
        break;
      }
      case 18:
        message.token = reader.string();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeAuthenticateResponse(bytes: Uint8Array): AuthenticateResponse {
  return readAuthenticateResponse(new Reader(bytes), newAuthenticateResponse());
}

export function sizeAuthenticateResponse(message: Init<AuthenticateResponse>): number {
  let size = 0;
  if (message.header !== undefined) {
    const inner = sizeResponseHeader(message.header);
    size += 1 + sizeVarint(inner) + inner;
  }
  if (message.token !== undefined && message.token !== '') size += 1 + sizeString(message.token);
  return size;
}

/** Writes `sizeAuthenticateResponse(message)` bytes from `at` on, and returns where the next one goes. */
export function writeAuthenticateResponse(message: Init<AuthenticateResponse>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.header !== undefined) {
    into[next] = 10;
    next += 1;
    next = writeVarint(sizeResponseHeader(message.header), into, next);
    next = writeResponseHeader(message.header, into, next);
  }
  if (message.token !== undefined && message.token !== '') {
    into[next] = 18;
    next += 1;
    next = writeString(message.token, into, next);
  }
  return next;
}

export function encodeAuthenticateResponse(message: Init<AuthenticateResponse>): Uint8Array {
  const into = new Uint8Array(sizeAuthenticateResponse(message));
  writeAuthenticateResponse(message, into, 0);
  return into;
}

export interface AuthUserAddResponse {
  header: ResponseHeader | undefined;
}

export const newAuthUserAddResponse = (): AuthUserAddResponse => ({ header: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthUserAddResponse(reader: Reader, message: AuthUserAddResponse): AuthUserAddResponse {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10: {
        const outer = reader.enter();
        message.header = readResponseHeader(reader, message.header ?? newResponseHeader());
        reader.leave(outer);
        break;
      }
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeAuthUserAddResponse(bytes: Uint8Array): AuthUserAddResponse {
  return readAuthUserAddResponse(new Reader(bytes), newAuthUserAddResponse());
}

export function sizeAuthUserAddResponse(message: Init<AuthUserAddResponse>): number {
  let size = 0;
  if (message.header !== undefined) {
    const inner = sizeResponseHeader(message.header);
    size += 1 + sizeVarint(inner) + inner;
  }
  return size;
}

/** Writes `sizeAuthUserAddResponse(message)` bytes from `at` on, and returns where the next one goes. */
export function writeAuthUserAddResponse(message: Init<AuthUserAddResponse>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.header !== undefined) {
    into[next] = 10;
    next += 1;
    next = writeVarint(sizeResponseHeader(message.header), into, next);
    next = writeResponseHeader(message.header, into, next);
  }
  return next;
}

export function encodeAuthUserAddResponse(message: Init<AuthUserAddResponse>): Uint8Array {
  const into = new Uint8Array(sizeAuthUserAddResponse(message));
  writeAuthUserAddResponse(message, into, 0);
  return into;
}

export interface AuthUserGetResponse {
  header: ResponseHeader | undefined;
  roles: string[];
}

export const newAuthUserGetResponse = (): AuthUserGetResponse => ({ header: undefined, roles: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthUserGetResponse(reader: Reader, message: AuthUserGetResponse): AuthUserGetResponse {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10: {
        const outer = reader.enter();
        message.header = readResponseHeader(reader, message.header ?? newResponseHeader());
        reader.leave(outer);
        break;
      }
      case 18:
        message.roles.push(reader.string());
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeAuthUserGetResponse(bytes: Uint8Array): AuthUserGetResponse {
  return readAuthUserGetResponse(new Reader(bytes), newAuthUserGetResponse());
}

export function sizeAuthUserGetResponse(message: Init<AuthUserGetResponse>): number {
  let size = 0;
  if (message.header !== undefined) {
    const inner = sizeResponseHeader(message.header);
    size += 1 + sizeVarint(inner) + inner;
  }
  for (const value of message.roles ?? []) size += 1 + sizeString(value);
  return size;
}

/** Writes `sizeAuthUserGetResponse(message)` bytes from `at` on, and returns where the next one goes. */
export function writeAuthUserGetResponse(message: Init<AuthUserGetResponse>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.header !== undefined) {
    into[next] = 10;
    next += 1;
    next = writeVarint(sizeResponseHeader(message.header), into, next);
    next = writeResponseHeader(message.header, into, next);
  }
  for (const value of message.roles ?? []) {
    into[next] = 18;
    next += 1;
    next = writeString(value, into, next);
  }
  return next;
}

export function encodeAuthUserGetResponse(message: Init<AuthUserGetResponse>): Uint8Array {
  const into = new Uint8Array(sizeAuthUserGetResponse(message));
  writeAuthUserGetResponse(message, into, 0);
  return into;
}

export interface AuthUserDeleteResponse {
  header: ResponseHeader | undefined;
}

export const newAuthUserDeleteResponse = (): AuthUserDeleteResponse => ({ header: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthUserDeleteResponse(reader: Reader, message: AuthUserDeleteResponse): AuthUserDeleteResponse {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10: {
        const outer = reader.enter();
        message.header = readResponseHeader(reader, message.header ?? newResponseHeader());
        reader.leave(outer);
        break;
      }
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeAuthUserDeleteResponse(bytes: Uint8Array): AuthUserDeleteResponse {
  return readAuthUserDeleteResponse(new Reader(bytes), newAuthUserDeleteResponse());
}

export function sizeAuthUserDeleteResponse(message: Init<AuthUserDeleteResponse>): number {
  let size = 0;
  if (message.header !== undefined) {
    const inner = sizeResponseHeader(message.header);
    size += 1 + sizeVarint(inner) + inner;
  }
  return size;
}

/** Writes `sizeAuthUserDeleteResponse(message)` bytes from `at` on, and returns where the next one goes. */
export function writeAuthUserDeleteResponse(message: Init<AuthUserDeleteResponse>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.header !== undefined) {
    into[next] = 10;
    next += 1;
    next = writeVarint(sizeResponseHeader(message.header), into, next);
    next = writeResponseHeader(message.header, into, next);
  }
  return next;
}

export function encodeAuthUserDeleteResponse(message: Init<AuthUserDeleteResponse>): Uint8Array {
  const into = new Uint8Array(sizeAuthUserDeleteResponse(message));
  writeAuthUserDeleteResponse(message, into, 0);
  return into;
}

export interface AuthUserChangePasswordResponse {
  header: ResponseHeader | undefined;
}

export const newAuthUserChangePasswordResponse = (): AuthUserChangePasswordResponse => ({ header: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthUserChangePasswordResponse(reader: Reader, message: AuthUserChangePasswordResponse): AuthUserChangePasswordResponse {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10: {
        const outer = reader.enter();
        message.header = readResponseHeader(reader, message.header ?? newResponseHeader());
        reader.leave(outer);
        break;
      }
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeAuthUserChangePasswordResponse(bytes: Uint8Array): AuthUserChangePasswordResponse {
  return readAuthUserChangePasswordResponse(new Reader(bytes), newAuthUserChangePasswordResponse());
}

export function sizeAuthUserChangePasswordResponse(message: Init<AuthUserChangePasswordResponse>): number {
  let size = 0;
  if (message.header !== undefined) {
    const inner = sizeResponseHeader(message.header);
    size += 1 + sizeVarint(inner) + inner;
  }
  return size;
}

/** Writes `sizeAuthUserChangePasswordResponse(message)` bytes from `at` on, and returns where the next one goes. */
export function writeAuthUserChangePasswordResponse(message: Init<AuthUserChangePasswordResponse>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.header !== undefined) {
    into[next] = 10;
    next += 1;
    next = writeVarint(sizeResponseHeader(message.header), into, next);
    next = writeResponseHeader(message.header, into, next);
  }
  return next;
}

export function encodeAuthUserChangePasswordResponse(message: Init<AuthUserChangePasswordResponse>): Uint8Array {
  const into = new Uint8Array(sizeAuthUserChangePasswordResponse(message));
  writeAuthUserChangePasswordResponse(message, into, 0);
  return into;
}

export interface AuthUserGrantRoleResponse {
  header: ResponseHeader | undefined;
}

export const newAuthUserGrantRoleResponse = (): AuthUserGrantRoleResponse => ({ header: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthUserGrantRoleResponse(reader: Reader, message: AuthUserGrantRoleResponse): AuthUserGrantRoleResponse {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10: {
        const outer = reader.enter();
        message.header = readResponseHeader(reader, message.header ?? newResponseHeader());
        reader.leave(outer);
        break;
      }
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeAuthUserGrantRoleResponse(bytes: Uint8Array): AuthUserGrantRoleResponse {
  return readAuthUserGrantRoleResponse(new Reader(bytes), newAuthUserGrantRoleResponse());
}

export function sizeAuthUserGrantRoleResponse(message: Init<AuthUserGrantRoleResponse>): number {
  let size = 0;
  if (message.header !== undefined) {
    const inner = sizeResponseHeader(message.header);
    size += 1 + sizeVarint(inner) + inner;
  }
  return size;
}

/** Writes `sizeAuthUserGrantRoleResponse(message)` bytes from `at` on, and returns where the next one goes. */
export function writeAuthUserGrantRoleResponse(message: Init<AuthUserGrantRoleResponse>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.header !== undefined) {
    into[next] = 10;
    next += 1;
    next = writeVarint(sizeResponseHeader(message.header), into, next);
    next = writeResponseHeader(message.header, into, next);
  }
  return next;
}

export function encodeAuthUserGrantRoleResponse(message: Init<AuthUserGrantRoleResponse>): Uint8Array {
  const into = new Uint8Array(sizeAuthUserGrantRoleResponse(message));
  writeAuthUserGrantRoleResponse(message, into, 0);
  return into;
}

export interface AuthUserRevokeRoleResponse {
  header: ResponseHeader | undefined;
}

export const newAuthUserRevokeRoleResponse = (): AuthUserRevokeRoleResponse => ({ header: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthUserRevokeRoleResponse(reader: Reader, message: AuthUserRevokeRoleResponse): AuthUserRevokeRoleResponse {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10: {
        const outer = reader.enter();
        message.header = readResponseHeader(reader, message.header ?? newResponseHeader());
        reader.leave(outer);
        break;
      }
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeAuthUserRevokeRoleResponse(bytes: Uint8Array): AuthUserRevokeRoleResponse {
  return readAuthUserRevokeRoleResponse(new Reader(bytes), newAuthUserRevokeRoleResponse());
}

export function sizeAuthUserRevokeRoleResponse(message: Init<AuthUserRevokeRoleResponse>): number {
  let size = 0;
  if (message.header !== undefined) {
    const inner = sizeResponseHeader(message.header);
    size += 1 + sizeVarint(inner) + inner;
  }
  return size;
}

/** Writes `sizeAuthUserRevokeRoleResponse(message)` bytes from `at` on, and returns where the next one goes. */
export function writeAuthUserRevokeRoleResponse(message: Init<AuthUserRevokeRoleResponse>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.header !== undefined) {
    into[next] = 10;
    next += 1;
    next = writeVarint(sizeResponseHeader(message.header), into, next);
    next = writeResponseHeader(message.header, into, next);
  }
  return next;
}

export function encodeAuthUserRevokeRoleResponse(message: Init<AuthUserRevokeRoleResponse>): Uint8Array {
  const into = new Uint8Array(sizeAuthUserRevokeRoleResponse(message));
  writeAuthUserRevokeRoleResponse(message, into, 0);
  return into;
}

export interface AuthRoleAddResponse {
  header: ResponseHeader | undefined;
}

export const newAuthRoleAddResponse = (): AuthRoleAddResponse => ({ header: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthRoleAddResponse(reader: Reader, message: AuthRoleAddResponse): AuthRoleAddResponse {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10: {
        const outer = reader.enter();
        message.header = readResponseHeader(reader, message.header ?? newResponseHeader());
        reader.leave(outer);
        break;
      }
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeAuthRoleAddResponse(bytes: Uint8Array): AuthRoleAddResponse {
  return readAuthRoleAddResponse(new Reader(bytes), newAuthRoleAddResponse());
}

export function sizeAuthRoleAddResponse(message: Init<AuthRoleAddResponse>): number {
  let size = 0;
  if (message.header !== undefined) {
    const inner = sizeResponseHeader(message.header);
    size += 1 + sizeVarint(inner) + inner;
  }
  return size;
}

/** Writes `sizeAuthRoleAddResponse(message)` bytes from `at` on, and returns where the next one goes. */
export function writeAuthRoleAddResponse(message: Init<AuthRoleAddResponse>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.header !== undefined) {
    into[next] = 10;
    next += 1;
    next = writeVarint(sizeResponseHeader(message.header), into, next);
    next = writeResponseHeader(message.header, into, next);
  }
  return next;
}

export function encodeAuthRoleAddResponse(message: Init<AuthRoleAddResponse>): Uint8Array {
  const into = new Uint8Array(sizeAuthRoleAddResponse(message));
  writeAuthRoleAddResponse(message, into, 0);
  return into;
}

export interface AuthRoleGetResponse {
  header: ResponseHeader | undefined;
  perm: Permission[];
}

export const newAuthRoleGetResponse = (): AuthRoleGetResponse => ({ header: undefined, perm: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthRoleGetResponse(reader: Reader, message: AuthRoleGetResponse): AuthRoleGetResponse {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10: {
        const outer = reader.enter();
        message.header = readResponseHeader(reader, message.header ?? newResponseHeader());
        reader.leave(outer);
        break;
      }
      case 18: {
        const outer = reader.enter();
        message.perm.push(readPermission(reader, newPermission()));
        reader.leave(outer);
        break;
      }
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeAuthRoleGetResponse(bytes: Uint8Array): AuthRoleGetResponse {
  return readAuthRoleGetResponse(new Reader(bytes), newAuthRoleGetResponse());
}

export function sizeAuthRoleGetResponse(message: Init<AuthRoleGetResponse>): number {
  let size = 0;
  if (message.header !== undefined) {
    const inner = sizeResponseHeader(message.header);
    size += 1 + sizeVarint(inner) + inner;
  }
  for (const value of message.perm ?? []) {
    const inner = sizePermission(value);
    size += 1 + sizeVarint(inner) + inner;
  }
  return size;
}

/** Writes `sizeAuthRoleGetResponse(message)` bytes from `at` on, and returns where the next one goes. */
export function writeAuthRoleGetResponse(message: Init<AuthRoleGetResponse>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.header !== undefined) {
    into[next] = 10;
    next += 1;
    next = writeVarint(sizeResponseHeader(message.header), into, next);
    next = writeResponseHeader(message.header, into, next);
  }
  for (const value of message.perm ?? []) {
    into[next] = 18;
    next += 1;
    next = writeVarint(sizePermission(value), into, next);
    next = writePermission(value, into, next);
  }
  return next;
}

export function encodeAuthRoleGetResponse(message: Init<AuthRoleGetResponse>): Uint8Array {
  const into = new Uint8Array(sizeAuthRoleGetResponse(message));
  writeAuthRoleGetResponse(message, into, 0);
  return into;
}

export interface AuthRoleListResponse {
  header: ResponseHeader | undefined;
  roles: string[];
}

export const newAuthRoleListResponse = (): AuthRoleListResponse => ({ header: undefined, roles: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthRoleListResponse(reader: Reader, message: AuthRoleListResponse): AuthRoleListResponse {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10: {
        const outer = reader.enter();
        message.header = readResponseHeader(reader, message.header ?? newResponseHeader());
        reader.leave(outer);
        break;
      }
      case 18:
        message.roles.push(reader.string());
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeAuthRoleListResponse(bytes: Uint8Array): AuthRoleListResponse {
  return readAuthRoleListResponse(new Reader(bytes), newAuthRoleListResponse());
}

export function sizeAuthRoleListResponse(message: Init<AuthRoleListResponse>): number {
  let size = 0;
  if (message.header !== undefined) {
    const inner = sizeResponseHeader(message.header);
    size += 1 + sizeVarint(inner) + inner;
  }
  for (const value of message.roles ?? []) size += 1 + sizeString(value);
  return size;
}

/** Writes `sizeAuthRoleListResponse(message)` bytes from `at` on, and returns where the next one goes. */
export function writeAuthRoleListResponse(message: Init<AuthRoleListResponse>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.header !== undefined) {
    into[next] = 10;
    next += 1;
    next = writeVarint(sizeResponseHeader(message.header), into, next);
    next = writeResponseHeader(message.header, into, next);
  }
  for (const value of message.roles ?? []) {
    into[next] = 18;
    next += 1;
    next = writeString(value, into, next);
  }
  return next;
}

export function encodeAuthRoleListResponse(message: Init<AuthRoleListResponse>): Uint8Array {
  const into = new Uint8Array(sizeAuthRoleListResponse(message));
  writeAuthRoleListResponse(message, into, 0);
  return into;
}

export interface AuthUserListResponse {
  header: ResponseHeader | undefined;
  users: string[];
}

export const newAuthUserListResponse = (): AuthUserListResponse => ({ header: undefined, users: [], });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthUserListResponse(reader: Reader, message: AuthUserListResponse): AuthUserListResponse {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10: {
        const outer = reader.enter();
        message.header = readResponseHeader(reader, message.header ?? newResponseHeader());
        reader.leave(outer);
        break;
      }
      case 18:
        message.users.push(reader.string());
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeAuthUserListResponse(bytes: Uint8Array): AuthUserListResponse {
  return readAuthUserListResponse(new Reader(bytes), newAuthUserListResponse());
}

export function sizeAuthUserListResponse(message: Init<AuthUserListResponse>): number {
  let size = 0;
  if (message.header !== undefined) {
    const inner = sizeResponseHeader(message.header);
    size += 1 + sizeVarint(inner) + inner;
  }
  for (const value of message.users ?? []) size += 1 + sizeString(value);
  return size;
}

/** Writes `sizeAuthUserListResponse(message)` bytes from `at` on, and returns where the next one goes. */
export function writeAuthUserListResponse(message: Init<AuthUserListResponse>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.header !== undefined) {
    into[next] = 10;
    next += 1;
    next = writeVarint(sizeResponseHeader(message.header), into, next);
    next = writeResponseHeader(message.header, into, next);
  }
  for (const value of message.users ?? []) {
    into[next] = 18;
    next += 1;
    next = writeString(value, into, next);
  }
  return next;
}

export function encodeAuthUserListResponse(message: Init<AuthUserListResponse>): Uint8Array {
  const into = new Uint8Array(sizeAuthUserListResponse(message));
  writeAuthUserListResponse(message, into, 0);
  return into;
}

export interface AuthRoleDeleteResponse {
  header: ResponseHeader | undefined;
}

export const newAuthRoleDeleteResponse = (): AuthRoleDeleteResponse => ({ header: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthRoleDeleteResponse(reader: Reader, message: AuthRoleDeleteResponse): AuthRoleDeleteResponse {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10: {
        const outer = reader.enter();
        message.header = readResponseHeader(reader, message.header ?? newResponseHeader());
        reader.leave(outer);
        break;
      }
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeAuthRoleDeleteResponse(bytes: Uint8Array): AuthRoleDeleteResponse {
  return readAuthRoleDeleteResponse(new Reader(bytes), newAuthRoleDeleteResponse());
}

export function sizeAuthRoleDeleteResponse(message: Init<AuthRoleDeleteResponse>): number {
  let size = 0;
  if (message.header !== undefined) {
    const inner = sizeResponseHeader(message.header);
    size += 1 + sizeVarint(inner) + inner;
  }
  return size;
}

/** Writes `sizeAuthRoleDeleteResponse(message)` bytes from `at` on, and returns where the next one goes. */
export function writeAuthRoleDeleteResponse(message: Init<AuthRoleDeleteResponse>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.header !== undefined) {
    into[next] = 10;
    next += 1;
    next = writeVarint(sizeResponseHeader(message.header), into, next);
    next = writeResponseHeader(message.header, into, next);
  }
  return next;
}

export function encodeAuthRoleDeleteResponse(message: Init<AuthRoleDeleteResponse>): Uint8Array {
  const into = new Uint8Array(sizeAuthRoleDeleteResponse(message));
  writeAuthRoleDeleteResponse(message, into, 0);
  return into;
}

export interface AuthRoleGrantPermissionResponse {
  header: ResponseHeader | undefined;
}

export const newAuthRoleGrantPermissionResponse = (): AuthRoleGrantPermissionResponse => ({ header: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthRoleGrantPermissionResponse(reader: Reader, message: AuthRoleGrantPermissionResponse): AuthRoleGrantPermissionResponse {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10: {
        const outer = reader.enter();
        message.header = readResponseHeader(reader, message.header ?? newResponseHeader());
        reader.leave(outer);
        break;
      }
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeAuthRoleGrantPermissionResponse(bytes: Uint8Array): AuthRoleGrantPermissionResponse {
  return readAuthRoleGrantPermissionResponse(new Reader(bytes), newAuthRoleGrantPermissionResponse());
}

export function sizeAuthRoleGrantPermissionResponse(message: Init<AuthRoleGrantPermissionResponse>): number {
  let size = 0;
  if (message.header !== undefined) {
    const inner = sizeResponseHeader(message.header);
    size += 1 + sizeVarint(inner) + inner;
  }
  return size;
}

/** Writes `sizeAuthRoleGrantPermissionResponse(message)` bytes from `at` on, and returns where the next one goes. */
export function writeAuthRoleGrantPermissionResponse(message: Init<AuthRoleGrantPermissionResponse>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.header !== undefined) {
    into[next] = 10;
    next += 1;
    next = writeVarint(sizeResponseHeader(message.header), into, next);
    next = writeResponseHeader(message.header, into, next);
  }
  return next;
}

export function encodeAuthRoleGrantPermissionResponse(message: Init<AuthRoleGrantPermissionResponse>): Uint8Array {
  const into = new Uint8Array(sizeAuthRoleGrantPermissionResponse(message));
  writeAuthRoleGrantPermissionResponse(message, into, 0);
  return into;
}

export interface AuthRoleRevokePermissionResponse {
  header: ResponseHeader | undefined;
}

export const newAuthRoleRevokePermissionResponse = (): AuthRoleRevokePermissionResponse => ({ header: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readAuthRoleRevokePermissionResponse(reader: Reader, message: AuthRoleRevokePermissionResponse): AuthRoleRevokePermissionResponse {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10: {
        const outer = reader.enter();
        message.header = readResponseHeader(reader, message.header ?? newResponseHeader());
        reader.leave(outer);
        break;
      }
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeAuthRoleRevokePermissionResponse(bytes: Uint8Array): AuthRoleRevokePermissionResponse {
  return readAuthRoleRevokePermissionResponse(new Reader(bytes), newAuthRoleRevokePermissionResponse());
}

export function sizeAuthRoleRevokePermissionResponse(message: Init<AuthRoleRevokePermissionResponse>): number {
  let size = 0;
  if (message.header !== undefined) {
    const inner = sizeResponseHeader(message.header);
    size += 1 + sizeVarint(inner) + inner;
  }
  return size;
}

/** Writes `sizeAuthRoleRevokePermissionResponse(message)` bytes from `at` on, and returns where the next one goes. */
export function writeAuthRoleRevokePermissionResponse(message: Init<AuthRoleRevokePermissionResponse>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.header !== undefined) {
    into[next] = 10;
    next += 1;
    next = writeVarint(sizeResponseHeader(message.header), into, next);
    next = writeResponseHeader(message.header, into, next);
  }
  return next;
}

export function encodeAuthRoleRevokePermissionResponse(message: Init<AuthRoleRevokePermissionResponse>): Uint8Array {
  const into = new Uint8Array(sizeAuthRoleRevokePermissionResponse(message));
  writeAuthRoleRevokePermissionResponse(message, into, 0);
  return into;
}

export interface RangeStreamResponse {
  rangeResponse: RangeResponse | undefined;
}

export const newRangeStreamResponse = (): RangeStreamResponse => ({ rangeResponse: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readRangeStreamResponse(reader: Reader, message: RangeStreamResponse): RangeStreamResponse {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10: {
        const outer = reader.enter();
        message.rangeResponse = readRangeResponse(reader, message.rangeResponse ?? newRangeResponse());
        reader.leave(outer);
        break;
      }
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeRangeStreamResponse(bytes: Uint8Array): RangeStreamResponse {
  return readRangeStreamResponse(new Reader(bytes), newRangeStreamResponse());
}

export function sizeRangeStreamResponse(message: Init<RangeStreamResponse>): number {
  let size = 0;
  if (message.rangeResponse !== undefined) {
    const inner = sizeRangeResponse(message.rangeResponse);
    size += 1 + sizeVarint(inner) + inner;
  }
  return size;
}

/** Writes `sizeRangeStreamResponse(message)` bytes from `at` on, and returns where the next one goes. */
export function writeRangeStreamResponse(message: Init<RangeStreamResponse>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.rangeResponse !== undefined) {
    into[next] = 10;
    next += 1;
    next = writeVarint(sizeRangeResponse(message.rangeResponse), into, next);
    next = writeRangeResponse(message.rangeResponse, into, next);
  }
  return next;
}

export function encodeRangeStreamResponse(message: Init<RangeStreamResponse>): Uint8Array {
  const into = new Uint8Array(sizeRangeStreamResponse(message));
  writeRangeStreamResponse(message, into, 0);
  return into;
}
