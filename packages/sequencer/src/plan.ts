import type { KvEvent, LogPosition, Revision } from '@engram/core';

/** A decided transaction. What its answer needs in bytes is noted by position, to be fetched once it is durable. */
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

/** The changes of one write, all in one revision. */
export interface Changes {
  readonly events: readonly KvEvent[];
  /** One log record for each event, in the same order. The caller's own. */
  readonly records: Uint8Array[];
  /** Of all records. */
  readonly recordBytes: number;
}

/** What sequencing one transaction made: nothing to append when `events` is empty. */
export interface Sequenced<Plan> extends Changes {
  readonly planned: PlannedTxn<Plan>;
  /** Superseded versions are to be read for the answer: those of the revision before. */
  readonly answersPrevious: boolean;
}
