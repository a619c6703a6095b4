import type { Clock } from '@engram/core';
import { INFLATED_TURN_BYTES } from '../h2/limits.ts';

/**
 * Decompression makes much work of few bytes, so a turn of the event loop does only so much of it, for all connections
 * together. Who comes later waits for the next turn, the connections one after another; calls that are not compressed
 * do not wait.
 */
export class Inflation {
  readonly #clock: Clock;
  #bytes = 0;
  #renewing = false;
  #waiting = new Set<() => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** This turn has had enough. */
  get spent(): boolean {
    return this.#bytes >= INFLATED_TURN_BYTES;
  }

  take(bytes: number): void {
    this.#bytes += bytes;
    if (this.#renewing) return;
    this.#renewing = true;
    this.#clock.soon(this.#renew);
  }

  /** Calls `go` in the next turn: once, however often it is asked for. Only to be asked while it is spent. */
  nextTurn(go: () => void): void {
    this.#waiting.add(go);
  }

  readonly #renew = (): void => {
    this.#renewing = false;
    this.#bytes = 0;
    const waiting = this.#waiting;
    this.#waiting = new Set();
    for (const go of waiting) go();
  };
}
