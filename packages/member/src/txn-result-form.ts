import type { OpResult, TxnResult } from '@engram/backend';
import { type Op, revision, type Txn } from '@engram/core';
import { WireError } from '@engram/protobuf';
import type * as peerpb from './gen/peerpb.ts';

/** A transaction's result as a message, and back. Encoded KeyValues pass as they are: views of the message's bytes. */
export const txnResultForm = ({ revision: at, succeeded, responses }: TxnResult): peerpb.TxnResultInit => ({
  revision: at,
  succeeded,
  responses: responses.map(opResultForm),
});

function opResultForm(result: OpResult): peerpb.OpResultInit {
  switch (result.kind) {
    case 'range':
      return { range: { revision: result.revision, kvs: [...result.kvs], more: result.more, count: result.count } };
    case 'put':
      return { put: { revision: result.revision, ...(result.prevKv === undefined ? {} : { prevKv: result.prevKv }) } };
    case 'delete-range':
      return { deleteRange: { revision: result.revision, deleted: result.deleted, prevKvs: [...result.prevKvs] } };
    case 'txn':
      return { txn: txnResultForm(result) };
  }
}

/** WireError if it is no result of this transaction. */
export function txnResultOf(form: peerpb.TxnResult, { success, failure }: Txn): TxnResult {
  const ops = form.succeeded ? success : failure;
  if (form.responses.length !== ops.length) throw new WireError('a transaction has other results than operations');
  return {
    kind: 'txn',
    revision: revision(form.revision),
    succeeded: form.succeeded,
    responses: form.responses.map((response, at) => opResultOf(response, ops[at]!)),
  };
}

function opResultOf({ range, put, deleteRange, txn }: peerpb.OpResult, op: Op): OpResult {
  if (range !== undefined && op.kind === 'range') {
    return { kind: 'range', revision: revision(range.revision), kvs: range.kvs, more: range.more, count: range.count };
  }
  if (put !== undefined && op.kind === 'put') {
    const prevKv = put.prevKv.length === 0 ? undefined : put.prevKv;
    return { kind: 'put', revision: revision(put.revision), prevKv };
  }
  if (deleteRange !== undefined && op.kind === 'delete-range') {
    const { deleted, prevKvs } = deleteRange;
    return { kind: 'delete-range', revision: revision(deleteRange.revision), deleted, prevKvs };
  }
  if (txn !== undefined && op.kind === 'txn') return txnResultOf(txn, op.txn);
  throw new WireError('the result of an operation is missing, or is that of another one');
}
