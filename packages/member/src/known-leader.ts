import { type Clock, EngramError, type Epoch } from '@engram/core';

/** Who leads, in which epoch. */
export interface Leader {
  readonly memberId: bigint;
  readonly epoch: Epoch;
}

/** The leader as this member knows it, and a place to wait for one. */
export class KnownLeader {
  readonly #clock: Clock;
  #current: Leader | undefined;
  #waiting = new Set<() => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get current(): Leader | undefined {
    return this.#current;
  }

  set(leader: Leader | undefined): void {
    this.#current = leader;
    for (const wake of this.#waiting) wake();
  }

  /** Wakes all that wait, to look again: something else that they wait for may have changed. */
  poke(): void {
    for (const wake of this.#waiting) wake();
  }

  /**
   * Resolves with a leader that is `wanted`. NoLeader when there is none by `deadlineMs`, of the clock; rejects with the
   * signal's reason when it aborts.
   */
  async when(wanted: (leader: Leader) => boolean, deadlineMs: number, signal: AbortSignal): Promise<Leader> {
    for (;;) {
      signal.throwIfAborted();
      if (this.#current !== undefined && wanted(this.#current)) return this.#current;
      const leftMs = deadlineMs - this.#clock.nowMs();
      if (leftMs <= 0) throw new EngramError(this.#current === undefined ? 'NoLeader' : 'Timeout');
      await this.#changed(leftMs, signal);
    }
  }

  async #changed(waitMs: number, signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        this.#waiting.delete(wake);
        timer.cancel();
        signal.removeEventListener('abort', wake);
        resolve();
      };
      const timer = this.#clock.after(waitMs, wake);
      this.#waiting.add(wake);
      signal.addEventListener('abort', wake);
    });
  }
}
