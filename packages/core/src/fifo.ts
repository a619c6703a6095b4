/** Items that are left before an array is cut at its front. */
const CUT_MIN = 1024;

/**
 * A queue. Items are not moved as others leave. It keeps nothing of an item that has left: what waited may have become large, as a job
 * with its result does.
 */
export class Fifo<Item> {
  #items: (Item | undefined)[] = [];
  #first = 0;

  get length(): number {
    return this.#items.length - this.#first;
  }

  /** The item that leaves next. Undefined if there is none. */
  get first(): Item | undefined {
    return this.#items[this.#first];
  }

  push(item: Item): void {
    this.#items.push(item);
  }

  /** Undefined if there is none. */
  shift(): Item | undefined {
    if (this.#first === this.#items.length) return undefined;
    const item = this.#items[this.#first];
    this.#items[this.#first] = undefined;
    this.#first += 1;
    if (this.#first === this.#items.length) {
      this.#items = [];
      this.#first = 0;
    } else if (this.#first >= CUT_MIN && 2 * this.#first >= this.#items.length) {
      this.#items.splice(0, this.#first);
      this.#first = 0;
    }
    return item;
  }

  /** All items leave, in their order. */
  takeAll(): readonly Item[] {
    const all: Item[] = [];
    while (this.length > 0) all.push(this.shift()!);
    return all;
  }
}
