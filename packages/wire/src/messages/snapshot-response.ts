import { sizeVarint, writeVarint } from '@engram/protobuf';
import { encodeSnapshotResponse } from '../gen/etcdserverpb.ts';
import type { Message } from '../rpc.ts';

const BLOB_TAG = 26;

/**
 * A SnapshotResponse whose blob is sent without a copy: nobody may change it afterwards. (A copy for each message was a
 * third of what a snapshot allocates beside the heap, and kept the collector running.)
 */
export function snapshotResponse(remainingBytes: number, version: string, blob: Uint8Array): Message {
  const fields = encodeSnapshotResponse({ remainingBytes, version });
  const head = new Uint8Array(fields.length + 1 + sizeVarint(blob.length));
  head.set(fields);
  head[fields.length] = BLOB_TAG;
  writeVarint(blob.length, head, fields.length + 1);
  return [head, blob];
}
