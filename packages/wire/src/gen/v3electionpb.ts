// Made by packages/protobuf/tools/generate.ts from proto/. Not edited by hand.
import { EMPTY_BYTES } from '@engram/core';
import { type Codec, decode, encode, type Init, type Reader, REQUEST_FIELDS_MAX, type Writer } from '@engram/protobuf';
import * as etcdserverpb from './etcdserverpb.ts';
import * as mvccpb from './mvccpb.ts';

export interface CampaignRequest {
  name: Uint8Array;
  lease: bigint;
  value: Uint8Array;
}
export type CampaignRequestInit = Init<CampaignRequest>;

export const newCampaignRequest = (): CampaignRequest => ({ name: EMPTY_BYTES, lease: 0n, value: EMPTY_BYTES, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readCampaignRequest(r: Reader, message: CampaignRequest): CampaignRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10:
        message.name = r.bytes();
        break;
      case 16:
        message.lease = r.bigInt64();
        break;
      case 26:
        message.value = r.bytes();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeCampaignRequest(w: Writer, message: CampaignRequestInit): void {
  if (message.value !== undefined && message.value.length > 0) {
    w.bytes(message.value);
    w.varint(26);
  }
  if (message.lease !== undefined && message.lease !== 0n) {
    w.bigint(message.lease);
    w.varint(16);
  }
  if (message.name !== undefined && message.name.length > 0) {
    w.bytes(message.name);
    w.varint(10);
  }
}

export const CampaignRequestCodec: Codec<CampaignRequest, CampaignRequestInit> = {
  write: writeCampaignRequest,
  read: (r) => readCampaignRequest(r, newCampaignRequest()),
};
export const encodeCampaignRequest = (message: CampaignRequestInit): Uint8Array => encode(CampaignRequestCodec, message);
export const decodeCampaignRequest = (bytes: Uint8Array): CampaignRequest => decode(CampaignRequestCodec, bytes, REQUEST_FIELDS_MAX);

export interface CampaignResponse {
  header: etcdserverpb.ResponseHeader | undefined;
  leader: LeaderKey | undefined;
}
export type CampaignResponseInit = Init<CampaignResponse>;

export const newCampaignResponse = (): CampaignResponse => ({ header: undefined, leader: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readCampaignResponse(r: Reader, message: CampaignResponse): CampaignResponse {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.header = etcdserverpb.readResponseHeader(r, message.header ?? etcdserverpb.newResponseHeader());
        r.leave(outer);
        break;
      }
      case 18: {
        const outer = r.enter();
        message.leader = readLeaderKey(r, message.leader ?? newLeaderKey());
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
export function writeCampaignResponse(w: Writer, message: CampaignResponseInit): void {
  if (message.leader !== undefined) {
    const end = w.length;
    writeLeaderKey(w, message.leader);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (message.header !== undefined) {
    const end = w.length;
    etcdserverpb.writeResponseHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const CampaignResponseCodec: Codec<CampaignResponse, CampaignResponseInit> = {
  write: writeCampaignResponse,
  read: (r) => readCampaignResponse(r, newCampaignResponse()),
};
export const encodeCampaignResponse = (message: CampaignResponseInit): Uint8Array => encode(CampaignResponseCodec, message);
export const decodeCampaignResponse = (bytes: Uint8Array): CampaignResponse => decode(CampaignResponseCodec, bytes);

export interface LeaderKey {
  name: Uint8Array;
  key: Uint8Array;
  rev: number;
  lease: bigint;
}
export type LeaderKeyInit = Init<LeaderKey>;

export const newLeaderKey = (): LeaderKey => ({ name: EMPTY_BYTES, key: EMPTY_BYTES, rev: 0, lease: 0n, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readLeaderKey(r: Reader, message: LeaderKey): LeaderKey {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10:
        message.name = r.bytes();
        break;
      case 18:
        message.key = r.bytes();
        break;
      case 24:
        message.rev = r.int64();
        break;
      case 32:
        message.lease = r.bigInt64();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeLeaderKey(w: Writer, message: LeaderKeyInit): void {
  if (message.lease !== undefined && message.lease !== 0n) {
    w.bigint(message.lease);
    w.varint(32);
  }
  if (message.rev !== undefined && message.rev !== 0) {
    w.int64(message.rev);
    w.varint(24);
  }
  if (message.key !== undefined && message.key.length > 0) {
    w.bytes(message.key);
    w.varint(18);
  }
  if (message.name !== undefined && message.name.length > 0) {
    w.bytes(message.name);
    w.varint(10);
  }
}

export const LeaderKeyCodec: Codec<LeaderKey, LeaderKeyInit> = {
  write: writeLeaderKey,
  read: (r) => readLeaderKey(r, newLeaderKey()),
};
export const encodeLeaderKey = (message: LeaderKeyInit): Uint8Array => encode(LeaderKeyCodec, message);
export const decodeLeaderKey = (bytes: Uint8Array): LeaderKey => decode(LeaderKeyCodec, bytes);

export interface LeaderRequest {
  name: Uint8Array;
}
export type LeaderRequestInit = Init<LeaderRequest>;

export const newLeaderRequest = (): LeaderRequest => ({ name: EMPTY_BYTES, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readLeaderRequest(r: Reader, message: LeaderRequest): LeaderRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10:
        message.name = r.bytes();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeLeaderRequest(w: Writer, message: LeaderRequestInit): void {
  if (message.name !== undefined && message.name.length > 0) {
    w.bytes(message.name);
    w.varint(10);
  }
}

export const LeaderRequestCodec: Codec<LeaderRequest, LeaderRequestInit> = {
  write: writeLeaderRequest,
  read: (r) => readLeaderRequest(r, newLeaderRequest()),
};
export const encodeLeaderRequest = (message: LeaderRequestInit): Uint8Array => encode(LeaderRequestCodec, message);
export const decodeLeaderRequest = (bytes: Uint8Array): LeaderRequest => decode(LeaderRequestCodec, bytes, REQUEST_FIELDS_MAX);

export interface LeaderResponse {
  header: etcdserverpb.ResponseHeader | undefined;
  kv: mvccpb.KeyValue | undefined;
}
export type LeaderResponseInit = Init<LeaderResponse>;

export const newLeaderResponse = (): LeaderResponse => ({ header: undefined, kv: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readLeaderResponse(r: Reader, message: LeaderResponse): LeaderResponse {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.header = etcdserverpb.readResponseHeader(r, message.header ?? etcdserverpb.newResponseHeader());
        r.leave(outer);
        break;
      }
      case 18: {
        const outer = r.enter();
        message.kv = mvccpb.readKeyValue(r, message.kv ?? mvccpb.newKeyValue());
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
export function writeLeaderResponse(w: Writer, message: LeaderResponseInit): void {
  if (message.kv !== undefined) {
    const end = w.length;
    mvccpb.writeKeyValue(w, message.kv);
    w.varint(w.length - end);
    w.varint(18);
  }
  if (message.header !== undefined) {
    const end = w.length;
    etcdserverpb.writeResponseHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const LeaderResponseCodec: Codec<LeaderResponse, LeaderResponseInit> = {
  write: writeLeaderResponse,
  read: (r) => readLeaderResponse(r, newLeaderResponse()),
};
export const encodeLeaderResponse = (message: LeaderResponseInit): Uint8Array => encode(LeaderResponseCodec, message);
export const decodeLeaderResponse = (bytes: Uint8Array): LeaderResponse => decode(LeaderResponseCodec, bytes);

export interface ResignRequest {
  leader: LeaderKey | undefined;
}
export type ResignRequestInit = Init<ResignRequest>;

export const newResignRequest = (): ResignRequest => ({ leader: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readResignRequest(r: Reader, message: ResignRequest): ResignRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.leader = readLeaderKey(r, message.leader ?? newLeaderKey());
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
export function writeResignRequest(w: Writer, message: ResignRequestInit): void {
  if (message.leader !== undefined) {
    const end = w.length;
    writeLeaderKey(w, message.leader);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const ResignRequestCodec: Codec<ResignRequest, ResignRequestInit> = {
  write: writeResignRequest,
  read: (r) => readResignRequest(r, newResignRequest()),
};
export const encodeResignRequest = (message: ResignRequestInit): Uint8Array => encode(ResignRequestCodec, message);
export const decodeResignRequest = (bytes: Uint8Array): ResignRequest => decode(ResignRequestCodec, bytes, REQUEST_FIELDS_MAX);

export interface ResignResponse {
  header: etcdserverpb.ResponseHeader | undefined;
}
export type ResignResponseInit = Init<ResignResponse>;

export const newResignResponse = (): ResignResponse => ({ header: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readResignResponse(r: Reader, message: ResignResponse): ResignResponse {
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
export function writeResignResponse(w: Writer, message: ResignResponseInit): void {
  if (message.header !== undefined) {
    const end = w.length;
    etcdserverpb.writeResponseHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const ResignResponseCodec: Codec<ResignResponse, ResignResponseInit> = {
  write: writeResignResponse,
  read: (r) => readResignResponse(r, newResignResponse()),
};
export const encodeResignResponse = (message: ResignResponseInit): Uint8Array => encode(ResignResponseCodec, message);
export const decodeResignResponse = (bytes: Uint8Array): ResignResponse => decode(ResignResponseCodec, bytes);

export interface ProclaimRequest {
  leader: LeaderKey | undefined;
  value: Uint8Array;
}
export type ProclaimRequestInit = Init<ProclaimRequest>;

export const newProclaimRequest = (): ProclaimRequest => ({ leader: undefined, value: EMPTY_BYTES, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readProclaimRequest(r: Reader, message: ProclaimRequest): ProclaimRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.leader = readLeaderKey(r, message.leader ?? newLeaderKey());
        r.leave(outer);
        break;
      }
      case 18:
        message.value = r.bytes();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeProclaimRequest(w: Writer, message: ProclaimRequestInit): void {
  if (message.value !== undefined && message.value.length > 0) {
    w.bytes(message.value);
    w.varint(18);
  }
  if (message.leader !== undefined) {
    const end = w.length;
    writeLeaderKey(w, message.leader);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const ProclaimRequestCodec: Codec<ProclaimRequest, ProclaimRequestInit> = {
  write: writeProclaimRequest,
  read: (r) => readProclaimRequest(r, newProclaimRequest()),
};
export const encodeProclaimRequest = (message: ProclaimRequestInit): Uint8Array => encode(ProclaimRequestCodec, message);
export const decodeProclaimRequest = (bytes: Uint8Array): ProclaimRequest => decode(ProclaimRequestCodec, bytes, REQUEST_FIELDS_MAX);

export interface ProclaimResponse {
  header: etcdserverpb.ResponseHeader | undefined;
}
export type ProclaimResponseInit = Init<ProclaimResponse>;

export const newProclaimResponse = (): ProclaimResponse => ({ header: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readProclaimResponse(r: Reader, message: ProclaimResponse): ProclaimResponse {
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
export function writeProclaimResponse(w: Writer, message: ProclaimResponseInit): void {
  if (message.header !== undefined) {
    const end = w.length;
    etcdserverpb.writeResponseHeader(w, message.header);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const ProclaimResponseCodec: Codec<ProclaimResponse, ProclaimResponseInit> = {
  write: writeProclaimResponse,
  read: (r) => readProclaimResponse(r, newProclaimResponse()),
};
export const encodeProclaimResponse = (message: ProclaimResponseInit): Uint8Array => encode(ProclaimResponseCodec, message);
export const decodeProclaimResponse = (bytes: Uint8Array): ProclaimResponse => decode(ProclaimResponseCodec, bytes);
