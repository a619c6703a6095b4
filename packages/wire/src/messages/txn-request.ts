import { type Compare, CompareTarget, type Op, type Txn } from '@engram/core';
import * as etcdserverpb from '../gen/etcdserverpb.ts';

/** Encodes a transaction as an etcdserverpb.TxnRequest for another node. `decodeTxn` returns the same transaction. */
export const encodeTxn = (txn: Txn): Uint8Array => etcdserverpb.encodeTxnRequest(txnForm(txn));

const txnForm = ({ compares, success, failure }: Txn): etcdserverpb.TxnRequestInit => ({
  compare: compares.map(compareForm),
  success: success.map(opForm),
  failure: failure.map(opForm),
});

function compareForm({ range, result, target, number, lease, value }: Compare): etcdserverpb.CompareInit {
  const form = { result, target, key: range.key, rangeEnd: range.end };
  switch (target) {
    case CompareTarget.VERSION:
      return { ...form, version: number };
    case CompareTarget.CREATE:
      return { ...form, createRevision: number };
    case CompareTarget.MOD:
      return { ...form, modRevision: number };
    case CompareTarget.VALUE:
      return { ...form, value };
    case CompareTarget.LEASE:
      return { ...form, lease };
    default:
      return form;
  }
}

function opForm(op: Op): etcdserverpb.RequestOpInit {
  switch (op.kind) {
    case 'range': {
      const { range, kind: _kind, ...numbers } = op;
      return { requestRange: { ...numbers, key: range.key, rangeEnd: range.end } };
    }
    case 'put': {
      const { kind: _kind, ...put } = op;
      return { requestPut: put };
    }
    case 'delete-range':
      return { requestDeleteRange: { key: op.range.key, rangeEnd: op.range.end, prevKv: op.prevKv } };
    case 'txn':
      return { requestTxn: txnForm(op.txn) };
  }
}
