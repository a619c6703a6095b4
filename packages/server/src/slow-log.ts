import type { Clock, Logger } from '@engram/core';

const INTERVAL_MS = 1000;

/** Logs warnings that a slow disk causes by the thousand: one line a second, with the number of omitted ones before it. */
export class SlowLog {
  readonly #clock: Clock;
  readonly #logger: Logger;
  #nextMs = Number.NEGATIVE_INFINITY;
  #omitted = 0;

  constructor(clock: Clock, logger: Logger) {
    this.#clock = clock;
    this.#logger = logger;
  }

  warn(fields: object, message: string): void {
    const nowMs = this.#clock.nowMs();
    if (nowMs < this.#nextMs) {
      this.#omitted += 1;
      return;
    }
    this.#logger.warn(this.#omitted === 0 ? fields : { ...fields, omitted: this.#omitted }, message);
    this.#omitted = 0;
    this.#nextMs = nowMs + INTERVAL_MS;
  }
}
