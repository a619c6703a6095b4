import type { Epoch, LogPosition } from '@engram/core';

/** Where in the log of the data a leadership began. */
export interface StorePlace {
  readonly segment: number;
  readonly position: LogPosition;
}

/**
 * One leadership of this member's store, from `lead` to `resigned`.
 * `taking-over`: the store seals, reads and applies the tail; it ends with `announce`.
 * `leading`: the members have agreed on where it began. Only now linearizable reads are confirmed.
 * `stepping-down`: the leadership has ended in Raft, and the store is not done with it yet.
 */
export interface Tenure {
  readonly epoch: Epoch;
  phase: 'taking-over' | 'leading' | 'stepping-down';
  /** As announced; proposed as soon as Raft takes it. */
  place: StorePlace | undefined;
  proposed: boolean;
}
