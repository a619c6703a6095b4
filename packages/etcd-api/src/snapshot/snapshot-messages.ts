import { createHash } from 'node:crypto';
import { assert } from '@engram/core';
import { etcdserverpb, type Message, snapshotResponse } from '@engram/wire';
import type { SnapshotImage } from './snapshot-image.ts';

/** etcd server/etcdserver/api/v3rpc/maintenance.go: snapshotSendBufferSize. */
const BLOB_BYTES = 32 * 1024;
/** Clients accept a file as complete if its size is a multiple of this plus 32 bytes of hash. */
const ALIGN_BYTES = 512;

/**
 * Sends the image in blobs, each with the bytes that remain. The last blob is the SHA-256 of all blobs before it. The image is
 * taken with the first step: a client that has gone by then leaves none behind.
 */
export async function* snapshotMessages(take: () => Promise<SnapshotImage>, version: string): AsyncGenerator<Message> {
  const image = await take();
  assert(image.bytes % ALIGN_BYTES === 0, 'a snapshot that clients would refuse');
  const hash = createHash('sha256');
  let remaining = image.bytes;
  for await (const blob of inBlobs(image.chunks)) {
    remaining -= blob.length;
    assert(remaining >= 0, 'a snapshot longer than announced');
    hash.update(blob);
    yield snapshotResponse(remaining, version, blob);
  }
  assert(remaining === 0, 'a snapshot shorter than announced');
  yield etcdserverpb.encodeSnapshotResponse({ blob: hash.digest(), version });
}

/** Splits chunks of any size into blobs of BLOB_BYTES. The last blob may be shorter. */
async function* inBlobs(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let gathered: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; ) {
      const part = chunk.subarray(at, at + BLOB_BYTES - bytes);
      gathered.push(part);
      bytes += part.length;
      at += part.length;
      if (bytes < BLOB_BYTES) continue;
      yield gathered.length === 1 ? part : Buffer.concat(gathered);
      gathered = [];
      bytes = 0;
    }
  }
  if (bytes > 0) yield Buffer.concat(gathered);
}
