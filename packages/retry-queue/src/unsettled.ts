import type { LogBatch } from '@engram/storage';

/** An append of which it is not known yet whether its batch is in the log. */
export interface Unsettled {
  readonly batch: LogBatch;
  /** When the first attempt ended `uncertain`, by the clock's `nowMs`. */
  readonly sinceMs: number;
  /** Number of attempts, including the one under way. */
  readonly attempts: number;
  /** Why the last completed attempt was uncertain. */
  readonly cause: unknown;
}
