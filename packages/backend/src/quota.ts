import type { Op, Txn } from '@engram/core';

/** etcd server/storage/quota.go: the cost in bytes of a put beside its key and value, and of a lease. */
const PUT_OVERHEAD_BYTES = 256;
export const LEASE_COST_BYTES = 64;
/** Memory that a mark takes while it waits to be decided. */
export const MARK_COST_BYTES = 256;

/** The cost in bytes of the more expensive branch, nested transactions included; 0 if neither branch has a put. */
export function txnCost(txn: Txn): number {
  return Math.max(branchCost(txn.success), branchCost(txn.failure));
}

function branchCost(ops: readonly Op[]): number {
  let bytes = 0;
  for (const op of ops) {
    if (op.kind === 'put') bytes += PUT_OVERHEAD_BYTES + op.key.length + op.value.length;
    else if (op.kind === 'txn') bytes += txnCost(op.txn);
  }
  return bytes;
}

/** Memory that a compare or an operation takes beside the bytes of keys and values. */
const OP_BYTES = 256;

/** Memory in bytes that a transaction takes while it waits, nested transactions included. */
export function txnBytes({ compares, success, failure }: Txn): number {
  let bytes = OP_BYTES * (1 + compares.length + success.length + failure.length);
  for (const { range, value } of compares) bytes += range.key.length + range.end.length + value.length;
  for (const branch of [success, failure]) {
    for (const op of branch) {
      if (op.kind === 'put') bytes += op.key.length + op.value.length;
      else if (op.kind === 'txn') bytes += txnBytes(op.txn);
      else bytes += op.range.key.length + op.range.end.length;
    }
  }
  return bytes;
}

/**
 * Only ranges, none of them nested. etcd answers such a transaction without proposing it (server/etcdserver/txn:
 * IsTxnReadonly), so it passes where writes are refused.
 */
export function isReadOnly(txn: Txn): boolean {
  const reads = (op: Op): boolean => op.kind === 'range';
  return txn.success.every(reads) && txn.failure.every(reads);
}

/** Of a transaction that only reads: no range of it is linearizable. */
export function readsSerializable(txn: Txn): boolean {
  const isSerializable = (op: Op): boolean => op.kind === 'range' && op.serializable;
  return txn.success.every(isSerializable) && txn.failure.every(isSerializable);
}
