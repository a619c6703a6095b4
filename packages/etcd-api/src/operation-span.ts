import type { Op, RangeOp, SpanAttributes, Txn } from '@engram/core';
import { isReadOnly } from '@engram/backend';

/*
 * The attributes of etcd's spans (server/etcdserver/v3_server.go). Those that are bytes are keys: what is recorded of them is the
 * tracer's.
 */

export const rangeAttributes = ({ range, revision, limit, countOnly, keysOnly }: RangeOp): SpanAttributes => ({
  range_begin: range.key,
  range_end: range.end,
  rev: revision,
  limit,
  count_only: countOnly,
  keys_only: keysOnly,
});

/** As a range, without `keys_only`. */
export function rangeStreamAttributes(op: RangeOp): SpanAttributes {
  const { keys_only: _, ...attributes } = rangeAttributes(op);
  return attributes;
}

export function txnAttributes(txn: Txn): SpanAttributes {
  const { compares, success, failure } = txn;
  const [compare] = compares;
  const [first] = success;
  return {
    ...(compare === undefined ? undefined : { compare_first_key: compare.range.key }),
    ...(first === undefined ? undefined : firstAttributes(first)),
    compare_len: compares.length,
    success_len: success.length,
    failure_len: failure.length,
    read_only: isReadOnly(txn),
  };
}

function firstAttributes(op: Op): SpanAttributes {
  switch (op.kind) {
    case 'put':
      return { success_first_type: 'put', success_first_key: op.key, success_first_lease: Number(op.lease) };
    case 'range':
      return { success_first_type: 'range', success_first_key: op.range.key };
    case 'delete-range':
      return { success_first_type: 'delete_range', success_first_key: op.range.key };
    case 'txn':
      return { success_first_type: 'txn' };
  }
}
