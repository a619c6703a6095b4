import { EngramError, type Op, type PutOp, type RangeOp, SortOrder, SortTarget, type Txn } from '@engram/core';
import { CutTxn, emptyOp } from '@engram/wire';
import { checkDuplicateKeys } from './duplicate-keys.ts';

/*
 * What a request shows by itself to be wrong, in etcd's order (etcd server/etcdserver/api/v3rpc/key.go:
 * checkRangeRequest, checkPutRequest, checkDeleteRequest, checkTxnRequest).
 */

export function checkRange(op: RangeOp): void {
  if (op.range.key.length === 0) throw new EngramError('EmptyKey');
  if (op.sortOrder < SortOrder.NONE || op.sortOrder > SortOrder.DESCEND) throw new EngramError('InvalidSortOption');
  if (op.sortTarget < SortTarget.KEY || op.sortTarget > SortTarget.VALUE) throw new EngramError('InvalidSortOption');
}

export function checkPut(op: PutOp): void {
  if (op.key.length === 0) throw new EngramError('EmptyKey');
  if (op.ignoreValue && op.value.length > 0) throw new EngramError('ValueProvided');
  if (op.ignoreLease && op.lease !== 0n) throw new EngramError('LeaseProvided');
}

/** The number of compares, or of operations of one branch, whichever is the largest. */
function txnWidth(txn: Txn): number {
  return Math.max(txn.compares.length, txn.success.length, txn.failure.length);
}

/** What a client has sent, as `decodeTxnWithin` gives it. A transaction that is longer than it may be is refused in any case. */
export function checkDecodedTxn(decoded: Txn | CutTxn, opsMax: number): asserts decoded is Txn {
  if (!(decoded instanceof CutTxn)) {
    checkTxn(decoded, opsMax);
    return;
  }
  checkTxn(decoded.beginning, opsMax);
  throw new EngramError('TooManyOps');
}

/**
 * What a leader asks of a transaction that another member has forwarded, before it decides it. That member has checked it
 * against its own bounds, so the number of operations is not judged again. Throws what the client's request deserves.
 */
export function checkForwardedTxn(txn: Txn): void {
  checkTxn(txn, Infinity);
  checkDuplicateKeys(txn);
}

/** `opsMax` is the number of operations that the enclosing transactions leave. */
export function checkTxn(txn: Txn, opsMax: number): void {
  const width = txnWidth(txn);
  if (width > opsMax) throw new EngramError('TooManyOps');
  for (const compare of txn.compares) if (compare.range.key.length === 0) throw new EngramError('EmptyKey');
  for (const op of txn.success) checkOp(op, opsMax - width);
  for (const op of txn.failure) checkOp(op, opsMax - width);
}

function checkOp(op: Op, opsMax: number): void {
  if (op === emptyOp) throw new EngramError('KeyNotFound');
  switch (op.kind) {
    case 'range':
      checkRange(op);
      return;
    case 'put':
      checkPut(op);
      return;
    case 'delete-range':
      if (op.range.key.length === 0) throw new EngramError('EmptyKey');
      return;
    case 'txn':
      checkTxn(op.txn, opsMax);
  }
}
