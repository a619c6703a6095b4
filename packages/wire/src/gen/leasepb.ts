// Made by packages/protobuf/tools/generate.ts from proto/. Not edited by hand.
import { type Codec, decode, encode, type Init, type Reader, REQUEST_FIELDS_MAX, type Writer } from '@engram/protobuf';
import * as etcdserverpb from './etcdserverpb.ts';

export interface Lease {
  ID: bigint;
  TTL: number;
  RemainingTTL: number;
}
export type LeaseInit = Init<Lease>;

export const newLease = (): Lease => ({ ID: 0n, TTL: 0, RemainingTTL: 0, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readLease(r: Reader, message: Lease): Lease {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 8:
        message.ID = r.bigInt64();
        break;
      case 16:
        message.TTL = r.int64();
        break;
      case 24:
        message.RemainingTTL = r.int64();
        break;
      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function writeLease(w: Writer, message: LeaseInit): void {
  if (message.RemainingTTL !== undefined && message.RemainingTTL !== 0) {
    w.int64(message.RemainingTTL);
    w.varint(24);
  }
  if (message.TTL !== undefined && message.TTL !== 0) {
    w.int64(message.TTL);
    w.varint(16);
  }
  if (message.ID !== undefined && message.ID !== 0n) {
    w.bigint(message.ID);
    w.varint(8);
  }
}

export const LeaseCodec: Codec<Lease, LeaseInit> = {
  write: writeLease,
  read: (r) => readLease(r, newLease()),
};
export const encodeLease = (message: LeaseInit): Uint8Array => encode(LeaseCodec, message);
export const decodeLease = (bytes: Uint8Array): Lease => decode(LeaseCodec, bytes);

export interface LeaseInternalRequest {
  LeaseTimeToLiveRequest: etcdserverpb.LeaseTimeToLiveRequest | undefined;
}
export type LeaseInternalRequestInit = Init<LeaseInternalRequest>;

export const newLeaseInternalRequest = (): LeaseInternalRequest => ({ LeaseTimeToLiveRequest: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readLeaseInternalRequest(r: Reader, message: LeaseInternalRequest): LeaseInternalRequest {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.LeaseTimeToLiveRequest = etcdserverpb.readLeaseTimeToLiveRequest(r, message.LeaseTimeToLiveRequest ?? etcdserverpb.newLeaseTimeToLiveRequest());
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
export function writeLeaseInternalRequest(w: Writer, message: LeaseInternalRequestInit): void {
  if (message.LeaseTimeToLiveRequest !== undefined) {
    const end = w.length;
    etcdserverpb.writeLeaseTimeToLiveRequest(w, message.LeaseTimeToLiveRequest);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const LeaseInternalRequestCodec: Codec<LeaseInternalRequest, LeaseInternalRequestInit> = {
  write: writeLeaseInternalRequest,
  read: (r) => readLeaseInternalRequest(r, newLeaseInternalRequest()),
};
export const encodeLeaseInternalRequest = (message: LeaseInternalRequestInit): Uint8Array => encode(LeaseInternalRequestCodec, message);
export const decodeLeaseInternalRequest = (bytes: Uint8Array): LeaseInternalRequest => decode(LeaseInternalRequestCodec, bytes, REQUEST_FIELDS_MAX);

export interface LeaseInternalResponse {
  LeaseTimeToLiveResponse: etcdserverpb.LeaseTimeToLiveResponse | undefined;
}
export type LeaseInternalResponseInit = Init<LeaseInternalResponse>;

export const newLeaseInternalResponse = (): LeaseInternalResponse => ({ LeaseTimeToLiveResponse: undefined, });

/** Reads fields until the reader's message ends, over what `message` has already. */
export function readLeaseInternalResponse(r: Reader, message: LeaseInternalResponse): LeaseInternalResponse {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
      case 10: {
        const outer = r.enter();
        message.LeaseTimeToLiveResponse = etcdserverpb.readLeaseTimeToLiveResponse(r, message.LeaseTimeToLiveResponse ?? etcdserverpb.newLeaseTimeToLiveResponse());
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
export function writeLeaseInternalResponse(w: Writer, message: LeaseInternalResponseInit): void {
  if (message.LeaseTimeToLiveResponse !== undefined) {
    const end = w.length;
    etcdserverpb.writeLeaseTimeToLiveResponse(w, message.LeaseTimeToLiveResponse);
    w.varint(w.length - end);
    w.varint(10);
  }
}

export const LeaseInternalResponseCodec: Codec<LeaseInternalResponse, LeaseInternalResponseInit> = {
  write: writeLeaseInternalResponse,
  read: (r) => readLeaseInternalResponse(r, newLeaseInternalResponse()),
};
export const encodeLeaseInternalResponse = (message: LeaseInternalResponseInit): Uint8Array => encode(LeaseInternalResponseCodec, message);
export const decodeLeaseInternalResponse = (bytes: Uint8Array): LeaseInternalResponse => decode(LeaseInternalResponseCodec, bytes);
