import { Slice } from '@engram/core';
import { VISIT_US } from './slice-limits.ts';

/** Calls `step` while it says that there is more: at once, and then again and again as `soon` calls back. */
export function inTurns(soon: (goOn: () => void) => void, step: () => boolean): void {
  if (step()) soon(() => inTurns(soon, step));
}

/**
 * Over what a Set or Map holds at the start, some at a time, while it changes: what leaves it before it was met is not
 * met; what leaves and comes back may be met again. It ends however fast others come: they stand behind.
 */
export class Walk<Item> {
  readonly #items: Iterator<Item>;
  readonly #slice: Slice;
  #left: number;

  constructor(items: { readonly size: number; values(): Iterator<Item> }, sliceUs: number) {
    this.#slice = new Slice(sliceUs);
    this.#items = items.values();
    this.#left = items.size;
  }

  /** As many of them as a slice has time for; false: these were the last. */
  step(visit: (item: Item) => void): boolean {
    this.#slice.renew();
    do {
      if (this.#left === 0) return false;
      const next = this.#items.next();
      if (next.done === true) return false;
      this.#left -= 1;
      visit(next.value);
    } while (!this.#slice.spend(VISIT_US));
    return this.#left > 0;
  }
}
