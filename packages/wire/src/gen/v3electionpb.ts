// Made by packages/wire/tools/generate.ts from proto/. Not edited by hand.
import { EMPTY_BYTES } from '@engram/core';
import type { Init } from '../protobuf/init.ts';
import { Reader } from '../protobuf/reader.ts';
import { sizeBig, sizeDelimited, sizeInt64, sizeVarint, writeBig, writeBytes, writeInt64, writeVarint } from '../protobuf/writer.ts';
import { newResponseHeader, readResponseHeader, sizeResponseHeader, type ResponseHeader, writeResponseHeader } from './etcdserverpb.ts';
import { newKeyValue, readKeyValue, sizeKeyValue, type KeyValue, writeKeyValue } from './mvccpb.ts';

export interface CampaignRequest {
  name: Uint8Array;
  lease: bigint;
  value: Uint8Array;
}

export const newCampaignRequest = (): CampaignRequest => ({ name: EMPTY_BYTES, lease: 0n, value: EMPTY_BYTES, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readCampaignRequest(reader: Reader, message: CampaignRequest): CampaignRequest {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10:
        message.name = reader.bytes();
        break;
      case 16:
        message.lease = reader.bigInt64();
        break;
      case 26:
        message.value = reader.bytes();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeCampaignRequest(bytes: Uint8Array): CampaignRequest {
  return readCampaignRequest(new Reader(bytes), newCampaignRequest());
}

export function sizeCampaignRequest(message: Init<CampaignRequest>): number {
  let size = 0;
  if (message.name !== undefined && message.name.length > 0) size += 1 + sizeDelimited(message.name.length);
  if (message.lease !== undefined && message.lease !== 0n) size += 1 + sizeBig(message.lease);
  if (message.value !== undefined && message.value.length > 0) size += 1 + sizeDelimited(message.value.length);
  return size;
}

/** Writes `sizeCampaignRequest(message)` bytes from `at` on, and returns where the next one goes. */
export function writeCampaignRequest(message: Init<CampaignRequest>, into: Uint8Array, at: number): number {
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
  if (message.value !== undefined && message.value.length > 0) {
    into[next] = 26;
    next += 1;
    next = writeBytes(message.value, into, next);
  }
  return next;
}

export function encodeCampaignRequest(message: Init<CampaignRequest>): Uint8Array {
  const into = new Uint8Array(sizeCampaignRequest(message));
  writeCampaignRequest(message, into, 0);
  return into;
}

export interface CampaignResponse {
  header: ResponseHeader | undefined;
  leader: LeaderKey | undefined;
}

export const newCampaignResponse = (): CampaignResponse => ({ header: undefined, leader: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readCampaignResponse(reader: Reader, message: CampaignResponse): CampaignResponse {
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
        message.leader = readLeaderKey(reader, message.leader ?? newLeaderKey());
        reader.leave(outer);
        break;
      }
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeCampaignResponse(bytes: Uint8Array): CampaignResponse {
  return readCampaignResponse(new Reader(bytes), newCampaignResponse());
}

export function sizeCampaignResponse(message: Init<CampaignResponse>): number {
  let size = 0;
  if (message.header !== undefined) {
    const inner = sizeResponseHeader(message.header);
    size += 1 + sizeVarint(inner) + inner;
  }
  if (message.leader !== undefined) {
    const inner = sizeLeaderKey(message.leader);
    size += 1 + sizeVarint(inner) + inner;
  }
  return size;
}

/** Writes `sizeCampaignResponse(message)` bytes from `at` on, and returns where the next one goes. */
export function writeCampaignResponse(message: Init<CampaignResponse>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.header !== undefined) {
    into[next] = 10;
    next += 1;
    next = writeVarint(sizeResponseHeader(message.header), into, next);
    next = writeResponseHeader(message.header, into, next);
  }
  if (message.leader !== undefined) {
    into[next] = 18;
    next += 1;
    next = writeVarint(sizeLeaderKey(message.leader), into, next);
    next = writeLeaderKey(message.leader, into, next);
  }
  return next;
}

export function encodeCampaignResponse(message: Init<CampaignResponse>): Uint8Array {
  const into = new Uint8Array(sizeCampaignResponse(message));
  writeCampaignResponse(message, into, 0);
  return into;
}

export interface LeaderKey {
  name: Uint8Array;
  key: Uint8Array;
  rev: number;
  lease: bigint;
}

export const newLeaderKey = (): LeaderKey => ({ name: EMPTY_BYTES, key: EMPTY_BYTES, rev: 0, lease: 0n, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readLeaderKey(reader: Reader, message: LeaderKey): LeaderKey {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10:
        message.name = reader.bytes();
        break;
      case 18:
        message.key = reader.bytes();
        break;
      case 24:
        message.rev = reader.int64();
        break;
      case 32:
        message.lease = reader.bigInt64();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeLeaderKey(bytes: Uint8Array): LeaderKey {
  return readLeaderKey(new Reader(bytes), newLeaderKey());
}

export function sizeLeaderKey(message: Init<LeaderKey>): number {
  let size = 0;
  if (message.name !== undefined && message.name.length > 0) size += 1 + sizeDelimited(message.name.length);
  if (message.key !== undefined && message.key.length > 0) size += 1 + sizeDelimited(message.key.length);
  if (message.rev !== undefined && message.rev !== 0) size += 1 + sizeInt64(message.rev);
  if (message.lease !== undefined && message.lease !== 0n) size += 1 + sizeBig(message.lease);
  return size;
}

/** Writes `sizeLeaderKey(message)` bytes from `at` on, and returns where the next one goes. */
export function writeLeaderKey(message: Init<LeaderKey>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.name !== undefined && message.name.length > 0) {
    into[next] = 10;
    next += 1;
    next = writeBytes(message.name, into, next);
  }
  if (message.key !== undefined && message.key.length > 0) {
    into[next] = 18;
    next += 1;
    next = writeBytes(message.key, into, next);
  }
  if (message.rev !== undefined && message.rev !== 0) {
    into[next] = 24;
    next += 1;
    next = writeInt64(message.rev, into, next);
  }
  if (message.lease !== undefined && message.lease !== 0n) {
    into[next] = 32;
    next += 1;
    next = writeBig(message.lease, into, next);
  }
  return next;
}

export function encodeLeaderKey(message: Init<LeaderKey>): Uint8Array {
  const into = new Uint8Array(sizeLeaderKey(message));
  writeLeaderKey(message, into, 0);
  return into;
}

export interface LeaderRequest {
  name: Uint8Array;
}

export const newLeaderRequest = (): LeaderRequest => ({ name: EMPTY_BYTES, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readLeaderRequest(reader: Reader, message: LeaderRequest): LeaderRequest {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10:
        message.name = reader.bytes();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeLeaderRequest(bytes: Uint8Array): LeaderRequest {
  return readLeaderRequest(new Reader(bytes), newLeaderRequest());
}

export function sizeLeaderRequest(message: Init<LeaderRequest>): number {
  let size = 0;
  if (message.name !== undefined && message.name.length > 0) size += 1 + sizeDelimited(message.name.length);
  return size;
}

/** Writes `sizeLeaderRequest(message)` bytes from `at` on, and returns where the next one goes. */
export function writeLeaderRequest(message: Init<LeaderRequest>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.name !== undefined && message.name.length > 0) {
    into[next] = 10;
    next += 1;
    next = writeBytes(message.name, into, next);
  }
  return next;
}

export function encodeLeaderRequest(message: Init<LeaderRequest>): Uint8Array {
  const into = new Uint8Array(sizeLeaderRequest(message));
  writeLeaderRequest(message, into, 0);
  return into;
}

export interface LeaderResponse {
  header: ResponseHeader | undefined;
  kv: KeyValue | undefined;
}

export const newLeaderResponse = (): LeaderResponse => ({ header: undefined, kv: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readLeaderResponse(reader: Reader, message: LeaderResponse): LeaderResponse {
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
        message.kv = readKeyValue(reader, message.kv ?? newKeyValue());
        reader.leave(outer);
        break;
      }
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeLeaderResponse(bytes: Uint8Array): LeaderResponse {
  return readLeaderResponse(new Reader(bytes), newLeaderResponse());
}

export function sizeLeaderResponse(message: Init<LeaderResponse>): number {
  let size = 0;
  if (message.header !== undefined) {
    const inner = sizeResponseHeader(message.header);
    size += 1 + sizeVarint(inner) + inner;
  }
  if (message.kv !== undefined) {
    const inner = sizeKeyValue(message.kv);
    size += 1 + sizeVarint(inner) + inner;
  }
  return size;
}

/** Writes `sizeLeaderResponse(message)` bytes from `at` on, and returns where the next one goes. */
export function writeLeaderResponse(message: Init<LeaderResponse>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.header !== undefined) {
    into[next] = 10;
    next += 1;
    next = writeVarint(sizeResponseHeader(message.header), into, next);
    next = writeResponseHeader(message.header, into, next);
  }
  if (message.kv !== undefined) {
    into[next] = 18;
    next += 1;
    next = writeVarint(sizeKeyValue(message.kv), into, next);
    next = writeKeyValue(message.kv, into, next);
  }
  return next;
}

export function encodeLeaderResponse(message: Init<LeaderResponse>): Uint8Array {
  const into = new Uint8Array(sizeLeaderResponse(message));
  writeLeaderResponse(message, into, 0);
  return into;
}

export interface ResignRequest {
  leader: LeaderKey | undefined;
}

export const newResignRequest = (): ResignRequest => ({ leader: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readResignRequest(reader: Reader, message: ResignRequest): ResignRequest {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10: {
        const outer = reader.enter();
        message.leader = readLeaderKey(reader, message.leader ?? newLeaderKey());
        reader.leave(outer);
        break;
      }
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeResignRequest(bytes: Uint8Array): ResignRequest {
  return readResignRequest(new Reader(bytes), newResignRequest());
}

export function sizeResignRequest(message: Init<ResignRequest>): number {
  let size = 0;
  if (message.leader !== undefined) {
    const inner = sizeLeaderKey(message.leader);
    size += 1 + sizeVarint(inner) + inner;
  }
  return size;
}

/** Writes `sizeResignRequest(message)` bytes from `at` on, and returns where the next one goes. */
export function writeResignRequest(message: Init<ResignRequest>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.leader !== undefined) {
    into[next] = 10;
    next += 1;
    next = writeVarint(sizeLeaderKey(message.leader), into, next);
    next = writeLeaderKey(message.leader, into, next);
  }
  return next;
}

export function encodeResignRequest(message: Init<ResignRequest>): Uint8Array {
  const into = new Uint8Array(sizeResignRequest(message));
  writeResignRequest(message, into, 0);
  return into;
}

export interface ResignResponse {
  header: ResponseHeader | undefined;
}

export const newResignResponse = (): ResignResponse => ({ header: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readResignResponse(reader: Reader, message: ResignResponse): ResignResponse {
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

export function decodeResignResponse(bytes: Uint8Array): ResignResponse {
  return readResignResponse(new Reader(bytes), newResignResponse());
}

export function sizeResignResponse(message: Init<ResignResponse>): number {
  let size = 0;
  if (message.header !== undefined) {
    const inner = sizeResponseHeader(message.header);
    size += 1 + sizeVarint(inner) + inner;
  }
  return size;
}

/** Writes `sizeResignResponse(message)` bytes from `at` on, and returns where the next one goes. */
export function writeResignResponse(message: Init<ResignResponse>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.header !== undefined) {
    into[next] = 10;
    next += 1;
    next = writeVarint(sizeResponseHeader(message.header), into, next);
    next = writeResponseHeader(message.header, into, next);
  }
  return next;
}

export function encodeResignResponse(message: Init<ResignResponse>): Uint8Array {
  const into = new Uint8Array(sizeResignResponse(message));
  writeResignResponse(message, into, 0);
  return into;
}

export interface ProclaimRequest {
  leader: LeaderKey | undefined;
  value: Uint8Array;
}

export const newProclaimRequest = (): ProclaimRequest => ({ leader: undefined, value: EMPTY_BYTES, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readProclaimRequest(reader: Reader, message: ProclaimRequest): ProclaimRequest {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 10: {
        const outer = reader.enter();
        message.leader = readLeaderKey(reader, message.leader ?? newLeaderKey());
        reader.leave(outer);
        break;
      }
      case 18:
        message.value = reader.bytes();
        break;
      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decodeProclaimRequest(bytes: Uint8Array): ProclaimRequest {
  return readProclaimRequest(new Reader(bytes), newProclaimRequest());
}

export function sizeProclaimRequest(message: Init<ProclaimRequest>): number {
  let size = 0;
  if (message.leader !== undefined) {
    const inner = sizeLeaderKey(message.leader);
    size += 1 + sizeVarint(inner) + inner;
  }
  if (message.value !== undefined && message.value.length > 0) size += 1 + sizeDelimited(message.value.length);
  return size;
}

/** Writes `sizeProclaimRequest(message)` bytes from `at` on, and returns where the next one goes. */
export function writeProclaimRequest(message: Init<ProclaimRequest>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.leader !== undefined) {
    into[next] = 10;
    next += 1;
    next = writeVarint(sizeLeaderKey(message.leader), into, next);
    next = writeLeaderKey(message.leader, into, next);
  }
  if (message.value !== undefined && message.value.length > 0) {
    into[next] = 18;
    next += 1;
    next = writeBytes(message.value, into, next);
  }
  return next;
}

export function encodeProclaimRequest(message: Init<ProclaimRequest>): Uint8Array {
  const into = new Uint8Array(sizeProclaimRequest(message));
  writeProclaimRequest(message, into, 0);
  return into;
}

export interface ProclaimResponse {
  header: ResponseHeader | undefined;
}

export const newProclaimResponse = (): ProclaimResponse => ({ header: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readProclaimResponse(reader: Reader, message: ProclaimResponse): ProclaimResponse {
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

export function decodeProclaimResponse(bytes: Uint8Array): ProclaimResponse {
  return readProclaimResponse(new Reader(bytes), newProclaimResponse());
}

export function sizeProclaimResponse(message: Init<ProclaimResponse>): number {
  let size = 0;
  if (message.header !== undefined) {
    const inner = sizeResponseHeader(message.header);
    size += 1 + sizeVarint(inner) + inner;
  }
  return size;
}

/** Writes `sizeProclaimResponse(message)` bytes from `at` on, and returns where the next one goes. */
export function writeProclaimResponse(message: Init<ProclaimResponse>, into: Uint8Array, at: number): number {
  let next = at;
  if (message.header !== undefined) {
    into[next] = 10;
    next += 1;
    next = writeVarint(sizeResponseHeader(message.header), into, next);
    next = writeResponseHeader(message.header, into, next);
  }
  return next;
}

export function encodeProclaimResponse(message: Init<ProclaimResponse>): Uint8Array {
  const into = new Uint8Array(sizeProclaimResponse(message));
  writeProclaimResponse(message, into, 0);
  return into;
}
