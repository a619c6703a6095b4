import { createHash } from 'node:crypto';
import { assert } from '@engram/core';
import { etcdserverpb, type Message, snapshotResponse } from '@engram/wire';
import type { SnapshotImage } from './snapshot-image.ts';

/** etcd server/etcdserver/api/v3rpc/maintenance.go: snapshotSendBufferSize. */
const BLOB_BYTES = 32 * 1024;
/** A client takes the file for whole when its size is a multiple of this, and 32 bytes of hash. */
const ALIGN_BYTES = 512;

/** The image in blobs, counting down what remains; the last one is the SHA-256 over all before it. */
export async function* snapshotMessages(taking: Promise<SnapshotImage>, version: string): AsyncGenerator<Message> {
  const image = await taking;
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

/** Chunks of any size as blobs of BLOB_BYTES, the last one shorter. */
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
