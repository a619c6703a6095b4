import { assert, GrpcCode, type RangeOp, SortOrder, SortTarget } from '@engram/core';
import type { Caller, RangeResult } from '@engram/backend';
import { encodeRangeChunk, type Message, StatusError } from '@engram/wire';
import type { ServiceParts } from './service-parts.ts';

/** etcd server/etcdserver/api/v3rpc/key.go: checkRangeStreamRequest. */
export function checkStreamable(op: RangeOp): void {
  const byKey = op.sortTarget === SortTarget.KEY && op.sortOrder === SortOrder.ASCEND;
  if (op.sortOrder !== SortOrder.NONE && !byKey) {
    throw new StatusError(GrpcCode.UNIMPLEMENTED, 'RangeStream does not support custom sort orders');
  }
  const filters = [op.minModRevision, op.maxModRevision, op.minCreateRevision, op.maxCreateRevision];
  if (filters.some((filter) => filter !== 0)) {
    throw new StatusError(GrpcCode.UNIMPLEMENTED, 'RangeStream does not support revision filters');
  }
}

/** The chunks of a range as messages. Merged by a client, they are the answer that Range would have given. */
export async function* rangeChunks(parts: ServiceParts, op: RangeOp, caller: Caller): AsyncGenerator<Message> {
  let last: RangeResult | undefined;
  for await (const chunk of parts.store.rangeStream(op, parts.limits.maxRequestBytes, caller)) {
    if (last !== undefined) yield encodeRangeChunk(undefined, { ...last, more: false, count: 0 });
    last = chunk;
  }
  if (caller.signal.aborted) return;
  assert(last !== undefined, 'a streamed range without a chunk');
  yield encodeRangeChunk(parts.headerBytes(last.revision), last);
}
