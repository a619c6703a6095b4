import type { Clock } from '@engram/core';

/**
 * An amount of work that may begin in one turn of the event loop, for all connections together. Whoever comes later waits
 * for the next turn, one connection after another. A connection whose turn brought nothing is the first in the next, so
 * that no connection can keep another one waiting.
 */
export class TurnAllowance {
  readonly #clock: Clock;
  readonly #max: number;
  #taken = 0;
  #renewing = false;
  #waiting = new Set<() => void>();

  constructor(clock: Clock, max: number) {
    this.#clock = clock;
    this.#max = max;
  }

  /** The limit of this turn is reached. */
  get spent(): boolean {
    return this.#taken >= this.#max;
  }

  take(amount: number): void {
    this.#taken += amount;
    if (this.#renewing) return;
    this.#renewing = true;
    this.#clock.soon(this.#renew);
  }

  /** Calls `go` in a later turn, once, even if it is added several times. To be called only while `spent` is true. */
  nextTurn(go: () => void): void {
    this.#waiting.add(go);
  }

  readonly #renew = (): void => {
    this.#renewing = false;
    this.#taken = 0;
    const waiting = [...this.#waiting];
    this.#waiting = new Set();
    let at = 0;
    for (; at < waiting.length && !this.spent; at += 1) waiting[at]!();
    if (at < waiting.length) this.#waiting = new Set([...waiting.slice(at), ...this.#waiting]);
  };
}
