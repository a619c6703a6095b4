import { type Clock, isEngramError, type LeaseId, type Logger, type Timer } from '@engram/core';
import type { Lessor } from '@engram/lease';
import type { Loop, PureJob, Task } from '@engram/loop';

/** etcd server/lease/lessor.go: leases are checked every 500 ms, and at most 500 are revoked each time. */
const INTERVAL_MS = 500;
const REVOKES_MAX = 500;
const RETRY_MS = 1000;
const EXPIRE: Task = { work: 'client', caller: 'leases', stage: 'expire' };

export interface LeaseKeeperOptions {
  readonly lessor: Lessor;
  readonly clock: Clock;
  readonly loop: Loop;
  readonly logger: Logger;
  /** No lease ends while it is true. */
  readonly paused: () => boolean;
  /** Resolves with false if another revoke of the lease was first. */
  readonly expire: (id: LeaseId) => Promise<boolean>;
  readonly onExpired?: () => void;
}

/** Ends leases whose deadline has passed. Each end is a write like any other. */
export class LeaseKeeper {
  readonly #options: LeaseKeeperOptions;
  #timer: Timer | undefined;
  #closed = false;

  constructor(options: LeaseKeeperOptions) {
    this.#options = options;
    this.#arm();
  }

  #arm(): void {
    if (this.#closed) return;
    this.#timer = this.#options.clock.after(INTERVAL_MS, () => {
      if (!this.#options.paused()) void this.#options.loop.run(EXPIRE, this.#expiring());
      this.#arm();
    });
  }

  close(): void {
    this.#closed = true;
    this.#timer?.cancel();
  }

  /** The ends that begin in this job share its slices, also those that are decided at once. */
  *#expiring(): PureJob<void> {
    const { lessor, clock, loop } = this.#options;
    for (const id of lessor.expired(clock.nowMs(), REVOKES_MAX)) {
      this.#expire(id);
      if (loop.shouldYield()) yield;
      if (this.#closed) return;
    }
  }

  #expire(id: LeaseId): void {
    const { lessor, clock, logger, expire, onExpired } = this.#options;
    expire(id).then(
      (ended) => {
        if (ended) onExpired?.();
      },
      (cause: unknown) => {
        if (isEngramError(cause, 'LeaseNotFound')) return; // a keep-alive that found it expired was first
        if (this.#closed) return; // the next leadership gives every lease its full time again
        lessor.handBack(id, clock.nowMs() + RETRY_MS);
        if (isEngramError(cause, 'Corrupt')) return; // no lease ends before that alarm is disarmed
        logger.warn({ 'lease-id': id.toString(16), error: String(cause) }, 'failed to revoke an expired lease');
      },
    );
  }
}
