import type { Clock, Timer } from '@engram/core';

/** Moves only when told. */
export class TestClock implements Clock {
  #nowMs = 0;
  #timers: { readonly atMs: number; readonly fire: () => void }[] = [];

  nowMs(): number {
    return this.#nowMs;
  }

  wallMs(): number {
    return this.#nowMs;
  }

  after(delayMs: number, fire: () => void): Timer {
    const timer = { atMs: this.#nowMs + delayMs, fire };
    this.#timers.push(timer);
    const cancel = (): void => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
    return { cancel };
  }

  soon(fire: () => void): void {
    setImmediate(fire);
  }

  get waiting(): number {
    return this.#timers.length;
  }

  /** Fires what is due on the way, in order, and lets each follow up on it. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#nowMs + ms;
    for (;;) {
      const due = this.#timers.filter(({ atMs }) => atMs <= untilMs).sort((a, b) => a.atMs - b.atMs)[0];
      if (due === undefined) break;
      this.#timers = this.#timers.filter((timer) => timer !== due);
      this.#nowMs = due.atMs;
      due.fire();
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#nowMs = untilMs;
  }
}
