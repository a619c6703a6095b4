import type { Clock, Timer } from '@engram/core';

interface Pending {
  readonly atMs: number;
  readonly fire: () => void;
}

/** Moves only when told. */
export class SimClock implements Clock {
  #nowMs = 0;
  readonly #pending = new Set<Pending>();

  nowMs(): number {
    return this.#nowMs;
  }

  wallMs(): number {
    return this.#nowMs;
  }

  after(delayMs: number, fire: () => void): Timer {
    const pending = { atMs: this.#nowMs + delayMs, fire };
    this.#pending.add(pending);
    return { cancel: () => void this.#pending.delete(pending) };
  }

  soon(fire: () => void): void {
    this.after(0, fire);
  }

  /** Fires what is due, in its order. Returns how much it was. */
  advance(ms: number): number {
    this.#nowMs += ms;
    const due = [...this.#pending].filter(({ atMs }) => atMs <= this.#nowMs);
    due.sort((left, right) => left.atMs - right.atMs);
    for (const pending of due) if (this.#pending.delete(pending)) pending.fire();
    return due.length;
  }
}
