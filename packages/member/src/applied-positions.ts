import type { Replica } from '@engram/backend';
import { type Clock, EngramError, type LogPosition, type Timer } from '@engram/core';

interface Waiting {
  readonly next: LogPosition;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
  readonly timer: Timer;
}

/** Lets callers wait until this node has applied the log up to a position. */
export class AppliedPositions {
  readonly #replica: Replica;
  readonly #clock: Clock;
  readonly #waiting = new Set<Waiting>();

  constructor(replica: Replica, clock: Clock) {
    this.#replica = replica;
    this.#clock = clock;
  }

  /** Undefined if the node has already applied everything before `next`. TimeoutWaitAppliedIndex after `waitMs`. */
  reach(next: LogPosition, waitMs: number): Promise<void> | undefined {
    if (this.#replica.applied >= next) return undefined;
    return new Promise((resolve, reject) => {
      const timer = this.#clock.after(waitMs, () => {
        this.#waiting.delete(waiting);
        reject(new EngramError('TimeoutWaitAppliedIndex'));
      });
      const waiting: Waiting = { next, resolve, reject, timer };
      this.#waiting.add(waiting);
    });
  }

  /** To be called when the replica has applied more. */
  advanced(): void {
    if (this.#waiting.size === 0) return;
    const { applied } = this.#replica;
    for (const waiting of this.#waiting) {
      if (waiting.next > applied) continue;
      this.#waiting.delete(waiting);
      waiting.timer.cancel();
      waiting.resolve();
    }
  }

  close(): void {
    for (const { timer, reject } of this.#waiting) {
      timer.cancel();
      reject(new EngramError('Stopped'));
    }
    this.#waiting.clear();
  }
}
