import type { ByteList, PagedBytes } from '@engram/core';

export interface RangeAnswer {
  readonly kind: 'range';
  readonly revision: number;
  /** Encoded mvccpb.KeyValue. Shared, because the message may refer to them; must not be changed. */
  readonly kvs: ByteList;
  readonly more: boolean;
  readonly count: number;
}

/** A range whose versions are read in pages. It is a complete answer, never an operation of a transaction. */
export interface PagedRangeAnswer {
  readonly kind: 'paged-range';
  readonly revision: number;
  /** Owned by the message, which disposes it. */
  readonly kvs: PagedBytes;
  readonly more: boolean;
  readonly count: number;
}

export interface PutAnswer {
  readonly kind: 'put';
  readonly revision: number;
  readonly prevKv: Uint8Array | undefined;
}

export interface DeleteRangeAnswer {
  readonly kind: 'delete-range';
  readonly revision: number;
  readonly deleted: number;
  readonly prevKvs: ByteList;
}

export interface TxnAnswer {
  readonly kind: 'txn';
  readonly revision: number;
  readonly succeeded: boolean;
  readonly responses: readonly Answer[];
}

export type Answer = RangeAnswer | PutAnswer | DeleteRangeAnswer | TxnAnswer;
