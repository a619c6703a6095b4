import type { KvEvent, LogPosition, Revision } from '@engram/core';

/** A decided transaction. Versions whose bytes the answer needs are noted by position, to be fetched once it is durable. */
export interface PlannedTxn<Plan> {
  readonly kind: 'txn';
  readonly revision: Revision;
  readonly succeeded: boolean;
  readonly responses: readonly PlannedOp<Plan>[];
}

export type PlannedOp<Plan> =
  | { readonly kind: 'range'; readonly revision: Revision; readonly plan: Plan }
  | { readonly kind: 'put'; readonly revision: Revision; readonly prev: LogPosition | undefined }
  | {
      readonly kind: 'delete-range';
      readonly revision: Revision;
      readonly deleted: number;
      readonly prev: readonly LogPosition[];
    }
  | PlannedTxn<Plan>;

/**
 * What etcd counts of one write (server/storage/mvcc/metrics_txn.go). It executes a transaction in two of its store: the first one
 * reads what decides and what may refuse it, the second one has its operations. A put or a delete that is alone has only the second.
 */
export interface OpCounts {
  /**
   * Ranges, compares that were looked at, and looks at the version that a put or a delete supersedes, because it is asked for or kept.
   * Each transaction of etcd's store looks for a put anew.
   */
  readonly ranges: number;
  readonly puts: number;
  /** Operations, however many keys they delete. The end of a lease has one for each key. */
  readonly deletes: number;
  /** Those of the store's transactions that had more than one of these: 0 to 2. */
  readonly txns: number;
}

/** The changes of one write, all in one revision. */
export interface Changes extends OpCounts {
  readonly events: readonly KvEvent[];
  /**
   * One log record for each event, in the same order. The end of a lease has its own record before them. The caller
   * owns the array.
   */
  readonly records: Uint8Array[];
  /** The bytes of all records together. */
  readonly recordBytes: number;
  /** Of the keys that are put, with their values. */
  readonly putBytes: number;
}

/** The changes of a transaction, and what its answer needs of them. */
export interface TxnChanges extends Changes {
  /** Whether the answer needs superseded versions, which are read at the revision before. */
  readonly answersPrevious: boolean;
  /** What the versions in the answer take, as `AnswerRoom` counts them. */
  readonly answerBytes: number;
}

/** The result of sequencing one transaction. If `changes` has no events, nothing is appended. */
export interface DecidedTxn<Plan> {
  readonly planned: PlannedTxn<Plan>;
  readonly changes: TxnChanges;
}
