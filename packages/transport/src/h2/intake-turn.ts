import type { Clock } from '@engram/core';
import { INTAKE_SHARED_SLICE_MS, INTAKE_TURN_MS } from './limits.ts';

/** Below it nothing is renewed: a quiet node should not turn once more for each request. */
const RENEWED_FROM_MS = INTAKE_TURN_MS / 4;

/**
 * What the intakes of all connections may take of a turn of the event loop, together. A turn may bring a chunk of each of
 * a thousand connections. Whoever comes when the time is up waits for a later turn, in the order in which he came.
 */
export class IntakeTurn {
  readonly #clock: Clock;
  #spentMs = 0;
  #renewing = false;
  #waiting: (() => void)[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** This turn has had enough. */
  get spent(): boolean {
    return this.#spentMs >= INTAKE_TURN_MS;
  }

  /** What one connection may take, from now on: less where others wait. Only while it is not spent. */
  get sliceMs(): number {
    const leftMs = INTAKE_TURN_MS - this.#spentMs;
    return this.#waiting.length === 0 ? leftMs : Math.min(leftMs, INTAKE_SHARED_SLICE_MS);
  }

  spend(ms: number): void {
    this.#spentMs += ms;
    if (this.#spentMs >= RENEWED_FROM_MS) this.#planRenewal();
  }

  /** Calls `go` in a later turn that has time for it. */
  wait(go: () => void): void {
    this.#waiting.push(go);
    this.#planRenewal();
  }

  #planRenewal(): void {
    if (this.#renewing) return;
    this.#renewing = true;
    this.#clock.soon(this.#renew);
  }

  readonly #renew = (): void => {
    this.#renewing = false;
    this.#spentMs = 0;
    // Whoever is not through with his slice joins the line again, behind all that are in it now.
    for (let left = this.#waiting.length; left > 0 && !this.spent; left -= 1) {
      this.#waiting.shift()!();
    }
    if (this.#waiting.length > 0) this.#planRenewal();
  };
}
