import { Slice } from '@engram/core';
import { VISIT_US } from './slice-limits.ts';

/** Calls `step` until it returns false: now, and then each time that `soon` calls back. */
export function inTurns(soon: (goOn: () => void) => void, step: () => boolean): void {
  if (step()) soon(() => inTurns(soon, step));
}

/**
 * Walks over what a Set or Map holds at the start, in slices, while it changes. An item that leaves before the walk
 * reaches it is not visited. An item that leaves and comes back may be visited again. The walk ends however many items
 * are added, because they are added behind it.
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

  /** Visits as many items as a slice has time for. Returns false if none is left. */
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
