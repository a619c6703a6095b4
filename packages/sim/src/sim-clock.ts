import type { Clock, Timer } from '@engram/core';

interface Due {
  readonly atMs: number;
  readonly fire: () => void;
}

/**
 * A clock that moves only when told. `soon` is the event loop's own next turn: it orders work, it measures no time, so
 * a run stays the same for the same inputs.
 */
export class SimClock implements Clock {
  #nowMs = 0;
  readonly #timers = new Set<Due>();

  nowMs(): number {
    return this.#nowMs;
  }

  wallMs(): number {
    return this.#nowMs;
  }

  after(delayMs: number, fire: () => void): Timer {
    const due: Due = { atMs: this.#nowMs + delayMs, fire };
    this.#timers.add(due);
    return { cancel: () => void this.#timers.delete(due) };
  }

  soon(fire: () => void): void {
    setImmediate(fire);
  }

  /** Moves on, and fires what comes due on the way, each at its own time. */
  advance(ms: number): void {
    const endMs = this.#nowMs + ms;
    for (;;) {
      let next: Due | undefined;
      for (const due of this.#timers) if (due.atMs <= endMs && (next === undefined || due.atMs < next.atMs)) next = due;
      if (next === undefined) break;
      this.#timers.delete(next);
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      next.fire();
    }
    this.#nowMs = endMs;
  }

  /** Timers that wait: none may be left when everything has ended. */
  get waiting(): number {
    return this.#timers.size;
  }

  /** Lets everything that waits for nothing but its turn come to its end. */
  async settle(turns = 20): Promise<void> {
    for (let turn = 0; turn < turns; turn += 1) await new Promise<void>((resolve) => setImmediate(resolve));
  }
}
