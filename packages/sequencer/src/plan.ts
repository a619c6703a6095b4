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

/** What sequencing one write made: nothing to append when `events` is empty. */
export interface Sequenced<Plan> {
  readonly planned: PlannedTxn<Plan>;
  readonly events: readonly KvEvent[];
  /** One log record for each event, in the same order. */
  readonly records: readonly Uint8Array[];
}
