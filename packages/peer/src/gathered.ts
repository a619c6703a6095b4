/** Collects the items that are added in one turn of the event loop, and flushes them together at its end. */
export class Gathered<Item> {
  readonly #flush: (items: Item[]) => void;
  #items: Item[] = [];

  constructor(flush: (items: Item[]) => void) {
    this.#flush = flush;
  }

  get size(): number {
    return this.#items.length;
  }

  add(item: Item): void {
    this.#items.push(item);
    if (this.#items.length > 1) return;
    process.nextTick(() => {
      const items = this.#items;
      this.#items = [];
      if (items.length > 0) this.#flush(items);
    });
  }
}
