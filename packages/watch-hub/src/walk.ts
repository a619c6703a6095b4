import { VISIT_US } from './slice-limits.ts';
import type { Sliced } from './sliced.ts';

const atOnce = (goOn: () => void): void => goOn();

/**
 * Walks in slices over the items that a Set or Map holds at the start, while it changes. An item that leaves before the
 * walk reaches it is not visited. An item that leaves and comes back may be visited again. The number of visits is
 * bounded by the number of items at the start. All walks of a hub share their slices, so that many short walks in one
 * turn stay within one slice too.
 */
export class Walk<Item> {
  readonly #items: Iterator<Item>;
  readonly #sliced: Sliced;
  #left: number;

  constructor(items: { readonly size: number; values(): Iterator<Item> }, sliced: Sliced) {
    this.#items = items.values();
    this.#left = items.size;
    this.#sliced = sliced;
  }

  /**
   * Visits the items: in this call as many as the slice has time for, the rest in later turns of the event loop. At
   * each later turn `gate` is called first; it calls back when the walk may continue. `ended` is called after the last
   * visit.
   */
  run(visit: (item: Item) => void, ended: () => void = () => undefined, gate = atOnce): void {
    while (!this.#sliced.spent) {
      const next = this.#left === 0 ? undefined : this.#items.next();
      if (next === undefined || next.done === true) {
        ended();
        return;
      }
      this.#left -= 1;
      visit(next.value);
      this.#sliced.spend(VISIT_US);
    }
    void this.#sliced.turn().then(() => gate(() => this.run(visit, ended, gate)));
  }

  /** Ends the walk. No more items are visited. */
  stop(): void {
    this.#left = 0;
  }
}
