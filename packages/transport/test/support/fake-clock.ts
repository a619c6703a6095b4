import type { Clock } from '@engram/core';

interface Pending {
  readonly atMs: number;
  readonly fire: () => void;
}

/** Time that stands still until told. */
export class FakeClock implements Clock {
  #nowMs = 1_000_000;
  #pending: Pending[] = [];

  nowMs(): number {
    return this.#nowMs;
  }

  wallMs(): number {
    return this.#nowMs;
  }

  after(delayMs: number, fire: () => void): { cancel(): void } {
    const timer: Pending = { atMs: this.#nowMs + delayMs, fire };
    this.#pending.push(timer);
    return {
      cancel: () => {
        this.#pending = this.#pending.filter((pending) => pending !== timer);
      },
    };
  }

  soon(fire: () => void): void {
    setImmediate(fire);
  }

  /** Fires what is due on the way, in order. */
  advance(ms: number): void {
    const untilMs = this.#nowMs + ms;
    for (;;) {
      const next = this.#pending.filter(({ atMs }) => atMs <= untilMs).sort((left, right) => left.atMs - right.atMs)[0];
      if (next === undefined) break;
      this.#pending = this.#pending.filter((pending) => pending !== next);
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      next.fire();
    }
    this.#nowMs = untilMs;
  }
}
