import { type LeaseId, leaseId } from '@engram/core';
import {
  onlyBigInt64,
  Reader,
  REQUEST_FIELDS_MAX,
  sizeBig,
  sizeInt64,
  sizeVarint,
  writeBig,
  writeInt64,
  writeVarint,
} from '@engram/protobuf';

/** The first field of a request, a varint. */
const ID_TAG = 8;

/** The lease that an etcdserverpb.LeaseKeepAliveRequest renews. Throws WireError if the bytes are not a message. */
export function decodeKeepAlive(bytes: Uint8Array): LeaseId {
  const only = onlyBigInt64(bytes, ID_TAG);
  if (only !== undefined) return leaseId(only);
  const reader = new Reader(bytes, REQUEST_FIELDS_MAX);
  let id = 0n;
  while (reader.more()) {
    const tag = reader.tag();
    if (tag === ID_TAG) id = reader.bigInt64();
    else reader.skip(tag);
  }
  return leaseId(id);
}

/** An etcdserverpb.LeaseKeepAliveResponse. `header` is an encoded ResponseHeader. A TTL of 0 is not sent. */
export function encodeKeepAlive(header: Uint8Array, id: LeaseId, ttlSeconds: number): Uint8Array {
  let size = 1 + sizeVarint(header.length) + header.length;
  if (id !== 0n) size += 1 + sizeBig(id);
  if (ttlSeconds !== 0) size += 1 + sizeInt64(ttlSeconds);
  const bytes = Buffer.allocUnsafe(size);
  bytes[0] = 10;
  let at = writeVarint(header.length, bytes, 1);
  bytes.set(header, at);
  at += header.length;
  if (id !== 0n) {
    bytes[at] = 16;
    at = writeBig(id, bytes, at + 1);
  }
  if (ttlSeconds !== 0) {
    bytes[at] = 24;
    at = writeInt64(ttlSeconds, bytes, at + 1);
  }
  return bytes;
}
