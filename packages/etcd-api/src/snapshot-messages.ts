import { createHash } from 'node:crypto';
import { assert } from '@engram/core';
import { etcdserverpb, type Message } from '@engram/wire';
import type { SnapshotSource } from './snapshot-source.ts';

/** etcd server/etcdserver/api/v3rpc/maintenance.go: snapshotSendBufferSize. */
const BLOB_BYTES = 32 * 1024;
/** A client takes the file for whole when its size is a multiple of this, and 32 bytes of hash. */
const ALIGN_BYTES = 512;

/** The image in blobs, counting down what remains; the last one is the SHA-256 over all before it. */
export async function* snapshotMessages(
  source: SnapshotSource,
  version: string,
  signal: AbortSignal,
): AsyncGenerator<Message> {
  const image = await source.open(signal);
  assert(image.bytes % ALIGN_BYTES === 0, 'a snapshot that clients would refuse');
  const hash = createHash('sha256');
  let remaining = image.bytes;
  for await (const chunk of image.chunks) {
    for (let at = 0; at < chunk.length; at += BLOB_BYTES) {
      const blob = chunk.subarray(at, at + BLOB_BYTES);
      remaining -= blob.length;
      assert(remaining >= 0, 'a snapshot longer than announced');
      hash.update(blob);
      yield etcdserverpb.encodeSnapshotResponse({ remainingBytes: remaining, blob, version });
    }
  }
  assert(remaining === 0 || signal.aborted, 'a snapshot shorter than announced');
  yield etcdserverpb.encodeSnapshotResponse({ blob: hash.digest(), version });
}
