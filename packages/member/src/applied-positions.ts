import type { Replica } from '@engram/backend';
import { type Clock, EngramError, type LogPosition, SequenceRing, type Timer } from '@engram/core';

interface Waiting {
  readonly next: LogPosition;
  readonly deadlineMs: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** A caller past its deadline is found at most this much later. */
const LOOK_MS = 100;
const WAITING_MIN = 64;

/** Lets callers wait until this node has applied the log up to a position. */
export class AppliedPositions {
  readonly #replica: Replica;
  readonly #clock: Clock;
  readonly #waiting = new SequenceRing<Waiting>(WAITING_MIN);
  #look: Timer | undefined;

  constructor(replica: Replica, clock: Clock) {
    this.#replica = replica;
    this.#clock = clock;
  }

  /**
   * Undefined if the node has already applied everything before `next`. TimeoutWaitAppliedIndex after `waitMs`, or LOOK_MS
   * later.
   */
  reach(next: LogPosition, waitMs: number): Promise<void> | undefined {
    if (this.#replica.applied >= next) return undefined;
    return new Promise((resolve, reject) => {
      const deadlineMs = this.#clock.nowMs() + waitMs;
      this.#waiting.put(this.#waiting.next, { next, deadlineMs, resolve, reject });
      this.#lookLater(Math.min(waitMs, LOOK_MS));
    });
  }

  /** To be called when the replica has applied more. */
  advanced(): void {
    const { applied } = this.#replica;
    this.#waiting.removeIf((waiting) => {
      if (waiting.next > applied) return false;
      waiting.resolve();
      return true;
    });
  }

  close(): void {
    this.#look?.cancel();
    this.#waiting.removeIf(({ reject }) => {
      reject(new EngramError('Stopped'));
      return true;
    });
  }

  /** One timer for all callers: most are answered long before their deadline. */
  #lookLater(afterMs: number): void {
    if (this.#look !== undefined) return;
    this.#look = this.#clock.after(afterMs, () => {
      this.#look = undefined;
      const nowMs = this.#clock.nowMs();
      this.#waiting.removeIf(({ deadlineMs, reject }) => {
        if (deadlineMs > nowMs) return false;
        reject(new EngramError('TimeoutWaitAppliedIndex'));
        return true;
      });
      if (!this.#waiting.isEmpty) this.#lookLater(LOOK_MS);
    });
  }
}
