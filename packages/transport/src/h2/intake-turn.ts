import type { Clock } from '@engram/core';
import { INTAKE_SHARED_SLICE_MS, INTAKE_TURN_MS } from './limits.ts';

/** Below this time no renewal is scheduled: on a quiet node, a request should not cost an extra turn of the event loop. */
const RENEWED_FROM_MS = INTAKE_TURN_MS / 4;

/**
 * The time that the intakes of all connections may take together in one turn of the event loop. A turn may bring a
 * chunk on each of a thousand connections. An intake that comes when the time is used up waits for a later turn, in
 * order of arrival.
 */
export class IntakeTurn {
  readonly #clock: Clock;
  #spentMs = 0;
  #renewing = false;
  #waiting: (() => void)[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The time of this turn is used up. */
  get spent(): boolean {
    return this.#spentMs >= INTAKE_TURN_MS;
  }

  /** The time that one connection may take from now on: less while others wait. Valid only while `spent` is false. */
  get sliceMs(): number {
    const leftMs = INTAKE_TURN_MS - this.#spentMs;
    return this.#waiting.length === 0 ? leftMs : Math.min(leftMs, INTAKE_SHARED_SLICE_MS);
  }

  spend(ms: number): void {
    this.#spentMs += ms;
    if (this.#spentMs >= RENEWED_FROM_MS) this.#planRenewal();
  }

  /** Calls `go` in a later turn that has time left. */
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
    // An intake that did not finish in its slice waits again, behind all that wait now.
    for (let left = this.#waiting.length; left > 0 && !this.spent; left -= 1) {
      this.#waiting.shift()!();
    }
    if (this.#waiting.length > 0) this.#planRenewal();
  };
}
