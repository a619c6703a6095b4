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
  #closed = false;
  readonly #waiting = new Set<() => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get current(): Leader | undefined {
    return this.#current;
  }

  set(leader: Leader | undefined): void {
    this.#current = leader;
    for (const wake of [...this.#waiting]) wake();
  }

  /** Calls `listener` at every change, until what it returns is called. */
  onChange(listener: () => void): () => void {
    this.#waiting.add(listener);
    return () => this.#waiting.delete(listener);
  }

  /** Nobody waits any more: Stopped. */
  close(): void {
    this.#closed = true;
    this.set(undefined);
  }

  /**
   * Resolves with a leader that is `wanted`. NoLeader when there is none by `deadlineMs`, of the clock; rejects with the
   * signal's reason when it aborts.
   */
  async when(wanted: (leader: Leader) => boolean, deadlineMs: number, signal: AbortSignal): Promise<Leader> {
    for (;;) {
      signal.throwIfAborted();
      if (this.#closed) throw new EngramError('Stopped');
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
