import type { Epoch, LogPosition } from '@engram/core';

/** The place in the log of the data where a leadership began. */
export interface StorePlace {
  readonly segment: number;
  readonly position: LogPosition;
}

/**
 * One leadership of this member's store, from `lead` to `resigned`.
 * `taking-over`: the store seals the log, reads and applies its tail, and calls `announce`.
 * `leading`: the members have agreed on where the leadership began. Only now linearizable reads are confirmed.
 * `stepping-down`: the leadership has ended in Raft, and the store is not done with it yet.
 */
export interface Tenure {
  readonly epoch: Epoch;
  phase: 'taking-over' | 'leading' | 'stepping-down';
  /** The announced place. It is proposed as soon as Raft takes it. */
  place: StorePlace | undefined;
  proposed: boolean;
}
