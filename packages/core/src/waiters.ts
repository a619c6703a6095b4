/**
 * Callers that wait for a change of something. Each looks again when it is woken, and waits again if need be:
 * `while (!ready()) await waiters.next();`. What bounds and ends the wait is the business of who wakes.
 */
export class Waiters {
  #waiting: (() => void)[] = [];

  /** Resolves at the next `wakeAll`. */
  next(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Wakes all that wait now, in their order. Whoever waits again in the meantime waits for the next time. */
  wakeAll(): void {
    const waiting = this.#waiting;
    if (waiting.length === 0) return;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }
}
