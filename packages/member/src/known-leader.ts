import { type Clock, EngramError, type Epoch } from '@engram/core';

/** The member that leads, and its epoch. */
export interface Leader {
  readonly memberId: bigint;
  readonly epoch: Epoch;
}

/** The leader as this member knows it. Callers can wait for a leader. */
export class KnownLeader {
  readonly #clock: Clock;
  #current: Leader | undefined;
  #closed = false;
  #changes = 0;
  readonly #waiting = new Set<() => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get current(): Leader | undefined {
    return this.#current;
  }

  /** How often another leader became known than the one before, or one after none (etcd: leader_changes_seen_total). */
  get changes(): number {
    return this.#changes;
  }

  set(leader: Leader | undefined): void {
    if (leader !== undefined && leader.memberId !== this.#current?.memberId) this.#changes += 1;
    this.#current = leader;
    for (const wake of [...this.#waiting]) wake();
  }

  /** Calls `listener` at every change, until the returned function is called. */
  onChange(listener: () => void): () => void {
    this.#waiting.add(listener);
    return () => this.#waiting.delete(listener);
  }

  /** From now on `when` rejects with Stopped, also for the callers that wait. */
  close(): void {
    this.#closed = true;
    this.set(undefined);
  }

  /**
   * Resolves with a leader that is `wanted`. If there is none by `deadlineMs` of the clock, rejects with NoLeader, or with
   * Timeout if another leader is known. Rejects with the signal's reason when the signal aborts.
   */
  async when(wanted: (leader: Leader) => boolean, deadlineMs: number, signal?: AbortSignal): Promise<Leader> {
    for (;;) {
      signal?.throwIfAborted();
      if (this.#closed) throw new EngramError('Stopped');
      if (this.#current !== undefined && wanted(this.#current)) return this.#current;
      const leftMs = deadlineMs - this.#clock.nowMs();
      if (leftMs <= 0) throw new EngramError(this.#current === undefined ? 'NoLeader' : 'Timeout');
      await this.#changed(leftMs, signal);
    }
  }

  async #changed(waitMs: number, signal: AbortSignal | undefined): Promise<void> {
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        this.#waiting.delete(wake);
        timer.cancel();
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      const timer = this.#clock.after(waitMs, wake);
      this.#waiting.add(wake);
      signal?.addEventListener('abort', wake);
    });
  }
}
