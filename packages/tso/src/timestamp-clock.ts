import type { Clock } from '@engram/core';
import { physicalMs, type Timestamp } from './timestamp.ts';

/**
 * The time as PD last told it, advanced by the monotonic clock since then. For display only: it is behind by what the answer took
 * on its way, and differs from PD's by what the two clocks drift apart until the next timestamp. May go back when one comes.
 */
export class TimestampClock {
  readonly #clock: Pick<Clock, 'nowMs'>;
  #newest: { readonly timestamp: Timestamp; readonly atMs: number } | undefined;

  constructor(clock: Pick<Clock, 'nowMs'>) {
    this.#clock = clock;
  }

  /** PD has just allocated this timestamp. One that is older than the newest tells nothing. */
  heard(timestamp: Timestamp): void {
    if (this.#newest !== undefined && timestamp <= this.#newest.timestamp) return;
    this.#newest = { timestamp, atMs: this.#clock.nowMs() };
  }

  /** Milliseconds since 1970, with fractions; 0 before the first timestamp. */
  wallMs(): number {
    if (this.#newest === undefined) return 0;
    return physicalMs(this.#newest.timestamp) + this.#clock.nowMs() - this.#newest.atMs;
  }
}
