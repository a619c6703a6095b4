import type { Clock } from '@engram/core';

/** Calls `step` while it says that there is more: at once, and then in one turn of the event loop after another. */
export function inTurns(clock: Clock, step: () => boolean): void {
  if (step()) clock.soon(() => inTurns(clock, step));
}

/**
 * Over what a Set or Map holds at the start, some at a time, while it changes: what leaves it before it was met is not
 * met; what leaves and comes back may be met again. It ends however fast others come: they stand behind.
 */
export class Walk<Item> {
  readonly #items: Iterator<Item>;
  readonly #visitsMax: number;
  #left: number;

  constructor(items: { readonly size: number; values(): Iterator<Item> }, visitsMax: number) {
    this.#visitsMax = visitsMax;
    this.#items = items.values();
    this.#left = items.size;
  }

  /** At most `visitsMax` of them; false: these were the last. */
  step(visit: (item: Item) => void): boolean {
    for (let visits = 0; visits < this.#visitsMax; visits += 1) {
      if (this.#left === 0) return false;
      const next = this.#items.next();
      if (next.done === true) return false;
      this.#left -= 1;
      visit(next.value);
    }
    return this.#left > 0;
  }
}
