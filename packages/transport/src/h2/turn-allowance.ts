import type { Clock } from '@engram/core';
import { INFLATED_TURN_BYTES } from '../h2/limits.ts';

/**
 * Decompression can turn few bytes into much work, so a turn of the event loop does only a limited amount, for all
 * connections together. Later compressed calls wait for the next turn, one connection after another. Uncompressed calls
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

  /** The limit of this turn is reached. */
  get spent(): boolean {
    return this.#bytes >= INFLATED_TURN_BYTES;
  }

  take(bytes: number): void {
    this.#bytes += bytes;
    if (this.#renewing) return;
    this.#renewing = true;
    this.#clock.soon(this.#renew);
  }

  /** Calls `go` in the next turn, once, even if it is added several times. To be called only while `spent` is true. */
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
