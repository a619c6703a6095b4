import type { LogBatch } from '@engram/storage';

/** The append of which nobody knows yet whether it is in the log. */
export interface Unsettled {
  readonly batch: LogBatch;
  /** Of the clock's `nowMs`: when the first answer stayed away. */
  readonly sinceMs: number;
  /** How often it was appended, the one under way included. */
  readonly attempts: number;
  /** Why the last attempt that ended was uncertain. */
  readonly cause: unknown;
}
