// Made by packages/wire/tools/generate.ts from proto/. Not edited by hand.
import type { Init } from '../protobuf/init.ts';
import { Reader } from '../protobuf/reader.ts';
import { sizeBig, sizeInt64, sizeVarint, writeBig, writeInt64, writeVarint } from '../protobuf/writer.ts';
import { newLeaseTimeToLiveRequest, newLeaseTimeToLiveResponse, readLeaseTimeToLiveRequest, readLeaseTimeToLiveResponse, sizeLeaseTimeToLiveRequest, sizeLeaseTimeToLiveResponse, type LeaseTimeToLiveRequest, type LeaseTimeToLiveResponse, writeLeaseTimeToLiveRequest, writeLeaseTimeToLiveResponse } from './etcdserverpb.ts';

export interface Lease {
  ID: bigint;
  TTL: number;
  RemainingTTL: number;
}

export const newLease = (): Lease => ({ ID: 0n, TTL: 0, RemainingTTL: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readLease(reader: Reader, message: Lease): Lease {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 8:
        message.ID = reader.bigInt64();
        break;
      case 16:
        message.TTL = reader.int64();
        break;
      case 24:
        message.RemainingTTL = reader.int64();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeLease(bytes: Uint8Array): Lease {
  return readLease(new Reader(bytes), newLease());
}

export function sizeLease(message: Init<Lease>): number {
  let size = 0;
  if (message.ID !== undefined && message.ID !== 0n) size += 1 + sizeBig(message.ID);
  if (message.TTL !== undefined && message.TTL !== 0) size += 1 + sizeInt64(message.TTL);
  if (message.RemainingTTL !== undefined && message.RemainingTTL !== 0) size += 1 + sizeInt64(message.RemainingTTL);
  return size;
}

/** Writes `sizeLease(message)` bytes from `at` on, and returns where the next one goes. */
export function writeLease(message: Init<Lease>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.ID !== undefined && message.ID !== 0n) {
    into[next] = 8;
    next += 1;
    next = writeBig(message.ID, into, next);
  }
  if (message.TTL !== undefined && message.TTL !== 0) {
    into[next] = 16;
    next += 1;
    next = writeInt64(message.TTL, into, next);
  }
  if (message.RemainingTTL !== undefined && message.RemainingTTL !== 0) {
    into[next] = 24;
    next += 1;
    next = writeInt64(message.RemainingTTL, into, next);
  }
  return next;
}

export function encodeLease(message: Init<Lease>): Uint8Array {
  const into = new Uint8Array(sizeLease(message));
  writeLease(message, into, 0);
  return into;
}

export interface LeaseInternalRequest {
  LeaseTimeToLiveRequest: LeaseTimeToLiveRequest | undefined;
}

export const newLeaseInternalRequest = (): LeaseInternalRequest => ({ LeaseTimeToLiveRequest: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readLeaseInternalRequest(reader: Reader, message: LeaseInternalRequest): LeaseInternalRequest {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10: {
        const outer = reader.enter();
        message.LeaseTimeToLiveRequest = readLeaseTimeToLiveRequest(reader, message.LeaseTimeToLiveRequest ?? newLeaseTimeToLiveRequest());
        reader.leave(outer);
        break;
      }
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeLeaseInternalRequest(bytes: Uint8Array): LeaseInternalRequest {
  return readLeaseInternalRequest(new Reader(bytes), newLeaseInternalRequest());
}

export function sizeLeaseInternalRequest(message: Init<LeaseInternalRequest>): number {
  let size = 0;
  if (message.LeaseTimeToLiveRequest !== undefined) {
    const inner = sizeLeaseTimeToLiveRequest(message.LeaseTimeToLiveRequest);
    size += 1 + sizeVarint(inner) + inner;
  }
  return size;
}

/** Writes `sizeLeaseInternalRequest(message)` bytes from `at` on, and returns where the next one goes. */
export function writeLeaseInternalRequest(message: Init<LeaseInternalRequest>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.LeaseTimeToLiveRequest !== undefined) {
    into[next] = 10;
    next += 1;
    next = writeVarint(sizeLeaseTimeToLiveRequest(message.LeaseTimeToLiveRequest), into, next);
    next = writeLeaseTimeToLiveRequest(message.LeaseTimeToLiveRequest, into, next);
  }
  return next;
}

export function encodeLeaseInternalRequest(message: Init<LeaseInternalRequest>): Uint8Array {
  const into = new Uint8Array(sizeLeaseInternalRequest(message));
  writeLeaseInternalRequest(message, into, 0);
  return into;
}

export interface LeaseInternalResponse {
  LeaseTimeToLiveResponse: LeaseTimeToLiveResponse | undefined;
}

export const newLeaseInternalResponse = (): LeaseInternalResponse => ({ LeaseTimeToLiveResponse: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readLeaseInternalResponse(reader: Reader, message: LeaseInternalResponse): LeaseInternalResponse {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10: {
        const outer = reader.enter();
        message.LeaseTimeToLiveResponse = readLeaseTimeToLiveResponse(reader, message.LeaseTimeToLiveResponse ?? newLeaseTimeToLiveResponse());
        reader.leave(outer);
        break;
      }
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeLeaseInternalResponse(bytes: Uint8Array): LeaseInternalResponse {
  return readLeaseInternalResponse(new Reader(bytes), newLeaseInternalResponse());
}

export function sizeLeaseInternalResponse(message: Init<LeaseInternalResponse>): number {
  let size = 0;
  if (message.LeaseTimeToLiveResponse !== undefined) {
    const inner = sizeLeaseTimeToLiveResponse(message.LeaseTimeToLiveResponse);
    size += 1 + sizeVarint(inner) + inner;
  }
  return size;
}

/** Writes `sizeLeaseInternalResponse(message)` bytes from `at` on, and returns where the next one goes. */
export function writeLeaseInternalResponse(message: Init<LeaseInternalResponse>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.LeaseTimeToLiveResponse !== undefined) {
    into[next] = 10;
    next += 1;
    next = writeVarint(sizeLeaseTimeToLiveResponse(message.LeaseTimeToLiveResponse), into, next);
    next = writeLeaseTimeToLiveResponse(message.LeaseTimeToLiveResponse, into, next);
  }
  return next;
}

export function encodeLeaseInternalResponse(message: Init<LeaseInternalResponse>): Uint8Array {
  const into = new Uint8Array(sizeLeaseInternalResponse(message));
  writeLeaseInternalResponse(message, into, 0);
  return into;
}
