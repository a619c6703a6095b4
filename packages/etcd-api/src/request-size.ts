import { EngramError } from '@engram/core';

/**
 * etcd's limit applies to the InternalRaftRequest around a request (server/etcdserver/v3_server.go:
 * processInternalRaftRequestOnce). It adds a header with a 64-bit id, which takes 14 bytes, and the tag and length of
 * the request.
 */
const WRAPPER_BYTES = 14 + 1;

export function checkRequestSize(request: Uint8Array, maxRequestBytes: number): void {
  if (request.length <= maxRequestBytes - WRAPPER_BYTES - 8) return;
  let lengthBytes = 1;
  for (let rest = request.length; rest >= 0x80; rest = Math.floor(rest / 0x80)) lengthBytes += 1;
  if (request.length + WRAPPER_BYTES + lengthBytes > maxRequestBytes) throw new EngramError('RequestTooLarge');
}
