/** What is added in one turn of the event loop is flushed once, at the turn's end. */
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
