// Made by packages/wire/tools/generate.ts from proto/. Not edited by hand.
import { EMPTY_BYTES } from '@engram/core';
import type { Init } from '../protobuf/init.ts';
import { Reader } from '../protobuf/reader.ts';
import { sizeBig, sizeDelimited, sizeVarint, writeBig, writeBytes, writeVarint } from '../protobuf/writer.ts';
import { newResponseHeader, readResponseHeader, sizeResponseHeader, type ResponseHeader, writeResponseHeader } from './etcdserverpb.ts';

export interface LockRequest {
  name: Uint8Array;
  lease: bigint;
}

export const newLockRequest = (): LockRequest => ({ name: EMPTY_BYTES, lease: 0n, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readLockRequest(reader: Reader, message: LockRequest): LockRequest {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10:
        message.name = reader.bytes();
        break;
      case 16:
        message.lease = reader.bigInt64();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeLockRequest(bytes: Uint8Array): LockRequest {
  return readLockRequest(new Reader(bytes), newLockRequest());
}

export function sizeLockRequest(message: Init<LockRequest>): number {
  let size = 0;
  if (message.name !== undefined && message.name.length > 0) size += 1 + sizeDelimited(message.name.length);
  if (message.lease !== undefined && message.lease !== 0n) size += 1 + sizeBig(message.lease);
  return size;
}

/** Writes `sizeLockRequest(message)` bytes from `at` on, and returns where the next one goes. */
export function writeLockRequest(message: Init<LockRequest>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.name !== undefined && message.name.length > 0) {
    into[next] = 10;
    next += 1;
    next = writeBytes(message.name, into, next);
  }
  if (message.lease !== undefined && message.lease !== 0n) {
    into[next] = 16;
    next += 1;
    next = writeBig(message.lease, into, next);
  }
  return next;
}

export function encodeLockRequest(message: Init<LockRequest>): Uint8Array {
  const into = new Uint8Array(sizeLockRequest(message));
  writeLockRequest(message, into, 0);
  return into;
}

export interface LockResponse {
  header: ResponseHeader | undefined;
  key: Uint8Array;
}

export const newLockResponse = (): LockResponse => ({ header: undefined, key: EMPTY_BYTES, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readLockResponse(reader: Reader, message: LockResponse): LockResponse {
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
        message.key = reader.bytes();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeLockResponse(bytes: Uint8Array): LockResponse {
  return readLockResponse(new Reader(bytes), newLockResponse());
}

export function sizeLockResponse(message: Init<LockResponse>): number {
  let size = 0;
  if (message.header !== undefined) {
    const inner = sizeResponseHeader(message.header);
    size += 1 + sizeVarint(inner) + inner;
  }
  if (message.key !== undefined && message.key.length > 0) size += 1 + sizeDelimited(message.key.length);
  return size;
}

/** Writes `sizeLockResponse(message)` bytes from `at` on, and returns where the next one goes. */
export function writeLockResponse(message: Init<LockResponse>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.header !== undefined) {
    into[next] = 10;
    next += 1;
    next = writeVarint(sizeResponseHeader(message.header), into, next);
    next = writeResponseHeader(message.header, into, next);
  }
  if (message.key !== undefined && message.key.length > 0) {
    into[next] = 18;
    next += 1;
    next = writeBytes(message.key, into, next);
  }
  return next;
}

export function encodeLockResponse(message: Init<LockResponse>): Uint8Array {
  const into = new Uint8Array(sizeLockResponse(message));
  writeLockResponse(message, into, 0);
  return into;
}

export interface UnlockRequest {
  key: Uint8Array;
}

export const newUnlockRequest = (): UnlockRequest => ({ key: EMPTY_BYTES, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readUnlockRequest(reader: Reader, message: UnlockRequest): UnlockRequest {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10:
        message.key = reader.bytes();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeUnlockRequest(bytes: Uint8Array): UnlockRequest {
  return readUnlockRequest(new Reader(bytes), newUnlockRequest());
}

export function sizeUnlockRequest(message: Init<UnlockRequest>): number {
  let size = 0;
  if (message.key !== undefined && message.key.length > 0) size += 1 + sizeDelimited(message.key.length);
  return size;
}

/** Writes `sizeUnlockRequest(message)` bytes from `at` on, and returns where the next one goes. */
export function writeUnlockRequest(message: Init<UnlockRequest>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.key !== undefined && message.key.length > 0) {
    into[next] = 10;
    next += 1;
    next = writeBytes(message.key, into, next);
  }
  return next;
}

export function encodeUnlockRequest(message: Init<UnlockRequest>): Uint8Array {
  const into = new Uint8Array(sizeUnlockRequest(message));
  writeUnlockRequest(message, into, 0);
  return into;
}

export interface UnlockResponse {
  header: ResponseHeader | undefined;
}

export const newUnlockResponse = (): UnlockResponse => ({ header: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readUnlockResponse(reader: Reader, message: UnlockResponse): UnlockResponse {
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

export function decodeUnlockResponse(bytes: Uint8Array): UnlockResponse {
  return readUnlockResponse(new Reader(bytes), newUnlockResponse());
}

export function sizeUnlockResponse(message: Init<UnlockResponse>): number {
  let size = 0;
  if (message.header !== undefined) {
    const inner = sizeResponseHeader(message.header);
    size += 1 + sizeVarint(inner) + inner;
  }
  return size;
}

/** Writes `sizeUnlockResponse(message)` bytes from `at` on, and returns where the next one goes. */
export function writeUnlockResponse(message: Init<UnlockResponse>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.header !== undefined) {
    into[next] = 10;
    next += 1;
    next = writeVarint(sizeResponseHeader(message.header), into, next);
    next = writeResponseHeader(message.header, into, next);
  }
  return next;
}

export function encodeUnlockResponse(message: Init<UnlockResponse>): Uint8Array {
  const into = new Uint8Array(sizeUnlockResponse(message));
  writeUnlockResponse(message, into, 0);
  return into;
}
