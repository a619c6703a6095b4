import type { KeyRange } from './key-range.ts';
import { type LeaseId, NO_LEASE } from './lease-id.ts';

// The numbers of etcdserverpb.Compare.CompareResult and CompareTarget. Requests may contain other numbers, which have a
// meaning too.
export const CompareResult = { EQUAL: 0, GREATER: 1, LESS: 2, NOT_EQUAL: 3 } as const;
export const CompareTarget = { VERSION: 0, CREATE: 1, MOD: 2, VALUE: 3, LEASE: 4 } as const;
export const SortOrder = { NONE: 0, ASCEND: 1, DESCEND: 2 } as const;
export const SortTarget = { KEY: 0, VERSION: 1, CREATE: 2, MOD: 3, VALUE: 4 } as const;

/** Numbers are those of etcd's RangeRequest; 0 means "not set". Ranges inside a transaction are always linearizable. */
export interface RangeOp {
  readonly kind: 'range';
  readonly range: KeyRange;
  readonly limit: number;
  /** <= 0 reads the latest. */
  readonly revision: number;
  readonly sortOrder: number;
  readonly sortTarget: number;
  readonly serializable: boolean;
  readonly keysOnly: boolean;
  readonly countOnly: boolean;
  readonly minModRevision: number;
  readonly maxModRevision: number;
  readonly minCreateRevision: number;
  readonly maxCreateRevision: number;
}

/** A range of all keys at the latest revision, in key order, except for what `over` sets. */
export const rangeOp = (range: KeyRange, over: Partial<RangeOp> = {}): RangeOp => ({
  kind: 'range',
  range,
  limit: 0,
  revision: 0,
  sortOrder: SortOrder.NONE,
  sortTarget: SortTarget.KEY,
  serializable: false,
  keysOnly: false,
  countOnly: false,
  minModRevision: 0,
  maxModRevision: 0,
  minCreateRevision: 0,
  maxCreateRevision: 0,
  ...over,
});

export interface PutOp {
  readonly kind: 'put';
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  readonly lease: LeaseId;
  readonly prevKv: boolean;
  readonly ignoreValue: boolean;
  readonly ignoreLease: boolean;
}

/** A put without a lease and without options, except for what `over` sets. */
export const putOp = (key: Uint8Array, value: Uint8Array, over: Partial<PutOp> = {}): PutOp => ({
  kind: 'put',
  key,
  value,
  lease: NO_LEASE,
  prevKv: false,
  ignoreValue: false,
  ignoreLease: false,
  ...over,
});

export interface DeleteRangeOp {
  readonly kind: 'delete-range';
  readonly range: KeyRange;
  readonly prevKv: boolean;
}

export interface TxnOp {
  readonly kind: 'txn';
  readonly txn: Txn;
}

export type Op = RangeOp | PutOp | DeleteRangeOp | TxnOp;

/** A condition on every key of a range, against the state before the transaction. */
export interface Compare {
  readonly range: KeyRange;
  /** A CompareResult. An unknown number always holds (etcd server/etcdserver/txn: applyCompare). */
  readonly result: number;
  /** A CompareTarget. An unknown number compares as equal. */
  readonly target: number;
  /** What VERSION, CREATE and MOD compare with. 0 if the request set another field than that of `target`. */
  readonly number: number;
  /** What LEASE compares with. */
  readonly lease: LeaseId;
  /** What VALUE compares with. */
  readonly value: Uint8Array;
}

export interface Txn {
  readonly compares: readonly Compare[];
  readonly success: readonly Op[];
  readonly failure: readonly Op[];
}
