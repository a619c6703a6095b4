import type { LogPosition } from '@engram/core';
import type { CommittedWrite } from './committed-write.ts';

/**
 * What follows the effect of a batch: the leader's own writes wait for it. It is called with the writes that came with it, and with
 * the time of the clock.
 */
export interface ApplyNext<Entry extends CommittedWrite> {
  /** The writes are in effect: readers see them. */
  applied(writes: readonly Entry[], nowMs: number): void;
  /**
   * Watchers have the events of everything before `next`; `writes` are the last of it. The next batch takes effect when the promise
   * has resolved.
   */
  published(writes: readonly Entry[], next: LogPosition, nowMs: number): void | Promise<void>;
}
