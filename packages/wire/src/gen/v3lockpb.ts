// Made by packages/protobuf/tools/generate.ts from proto/. Not edited by hand.
import { EMPTY_BYTES } from '@engram/core';
import { type Codec, decode, encode, type Init, type Reader, REQUEST_FIELDS_MAX, type Writer } from '@engram/protobuf';
import * as etcdserverpb from './etcdserverpb.ts';

export interface LockRequest {
  name: Uint8Array;
  lease: bigint;
}
export type LockRequestInit = Init<LockRequest>;

export const newLockRequest = (): LockRequest => ({ name: EMPTY_BYTES, lease: 0n, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readLockRequest(r: Reader, message: LockRequest): LockRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10:
        message.name = r.bytes();
        break;
      case 16:
        message.lease = r.bigInt64();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeLockRequest(w: Writer, message: LockRequestInit): void {
  if (message.lease !== undefined && message.lease !== 0n) {
    w.bigint(message.lease);
    w.varint(16);
  }
  if (message.name !== undefined && message.name.length > 0) {
    w.bytes(message.name);
    w.varint(10);
  }
}

export const LockRequestCodec: Codec<LockRequest, LockRequestInit> = {
  write: writeLockRequest,
  read: (r) => readLockRequest(r, newLockRequest()),
};
export const encodeLockRequest = (message: LockRequestInit): Uint8Array => encode(LockRequestCodec, message);
export const decodeLockRequest = (bytes: Uint8Array): LockRequest => decode(LockRequestCodec, bytes, REQUEST_FIELDS_MAX);

export interface LockResponse {
  header: etcdserverpb.ResponseHeader | undefined;
  key: Uint8Array;
}
export type LockResponseInit = Init<LockResponse>;

export const newLockResponse = (): LockResponse => ({ header: undefined, key: EMPTY_BYTES, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readLockResponse(r: Reader, message: LockResponse): LockResponse {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.header = etcdserverpb.readResponseHeader(r, message.header ?? etcdserverpb.newResponseHeader());
        r.leave(outer);
        break;
      }
      case 18:
        message.key = r.bytes();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeLockResponse(w: Writer, message: LockResponseInit): void {
  if (message.key !== undefined && message.key.length > 0) {
    w.bytes(message.key);
    w.varint(18);
  }
  if (message.header !== undefined) {
    const end = w.length;
    etcdserverpb.writeResponseHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const LockResponseCodec: Codec<LockResponse, LockResponseInit> = {
  write: writeLockResponse,
  read: (r) => readLockResponse(r, newLockResponse()),
};
export const encodeLockResponse = (message: LockResponseInit): Uint8Array => encode(LockResponseCodec, message);
export const decodeLockResponse = (bytes: Uint8Array): LockResponse => decode(LockResponseCodec, bytes);

export interface UnlockRequest {
  key: Uint8Array;
}
export type UnlockRequestInit = Init<UnlockRequest>;

export const newUnlockRequest = (): UnlockRequest => ({ key: EMPTY_BYTES, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readUnlockRequest(r: Reader, message: UnlockRequest): UnlockRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10:
        message.key = r.bytes();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeUnlockRequest(w: Writer, message: UnlockRequestInit): void {
  if (message.key !== undefined && message.key.length > 0) {
    w.bytes(message.key);
    w.varint(10);
  }
}

export const UnlockRequestCodec: Codec<UnlockRequest, UnlockRequestInit> = {
  write: writeUnlockRequest,
  read: (r) => readUnlockRequest(r, newUnlockRequest()),
};
export const encodeUnlockRequest = (message: UnlockRequestInit): Uint8Array => encode(UnlockRequestCodec, message);
export const decodeUnlockRequest = (bytes: Uint8Array): UnlockRequest => decode(UnlockRequestCodec, bytes, REQUEST_FIELDS_MAX);

export interface UnlockResponse {
  header: etcdserverpb.ResponseHeader | undefined;
}
export type UnlockResponseInit = Init<UnlockResponse>;

export const newUnlockResponse = (): UnlockResponse => ({ header: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readUnlockResponse(r: Reader, message: UnlockResponse): UnlockResponse {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.header = etcdserverpb.readResponseHeader(r, message.header ?? etcdserverpb.newResponseHeader());
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
export function writeUnlockResponse(w: Writer, message: UnlockResponseInit): void {
  if (message.header !== undefined) {
    const end = w.length;
    etcdserverpb.writeResponseHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const UnlockResponseCodec: Codec<UnlockResponse, UnlockResponseInit> = {
  write: writeUnlockResponse,
  read: (r) => readUnlockResponse(r, newUnlockResponse()),
};
export const encodeUnlockResponse = (message: UnlockResponseInit): Uint8Array => encode(UnlockResponseCodec, message);
export const decodeUnlockResponse = (bytes: Uint8Array): UnlockResponse => decode(UnlockResponseCodec, bytes);
