import type { Clock, Logger } from '@engram/core';
import type { CallHooks, Interceptor, Method } from '@engram/wire';

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

/** Logs unary calls that take longer than `slowMs` (etcd's --warning-unary-request-duration). */
export class SlowCalls implements Interceptor {
  readonly #slow: SlowLog;
  readonly #slowMs: number;

  constructor(slow: SlowLog, slowMs: number) {
    this.#slow = slow;
    this.#slowMs = slowMs;
  }

  hooks(path: string, kind: Method['kind']): CallHooks | undefined {
    if (kind !== 'unary') return undefined; // a stream lasts
    return {
      end: ({ span }, _status, ms) => {
        if (ms <= this.#slowMs) return;
        const traced = span === undefined ? undefined : { 'trace-id': span.context.traceId };
        this.#slow.warn({ path, 'took-ms': Math.round(ms), ...traced }, 'request took too long');
      },
    };
  }
}
