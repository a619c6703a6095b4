import { assert } from './assert.ts';

/** An item that can be in one queue at a time. Only the queue touches these fields. */
export interface Queued<Item> {
  queued: boolean;
  before: Item | undefined;
  after: Item | undefined;
}

/**
 * A first-in, first-out queue that any item may leave at any time. Watches wait in such queues, and clients may cancel
 * them meanwhile.
 */
export class LinkedQueue<Item extends Queued<Item>> {
  #first: Item | undefined;
  #last: Item | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get first(): Item | undefined {
    return this.#first;
  }

  push(item: Item): void {
    assert(!item.queued, 'queued twice');
    item.queued = true;
    this.#size += 1;
    item.before = this.#last;
    if (this.#last === undefined) this.#first = item;
    else this.#last.after = item;
    this.#last = item;
  }

  remove(item: Item): void {
    assert(item.queued, 'removed, but not in the queue');
    if (item.before === undefined) this.#first = item.after;
    else item.before.after = item.after;
    if (item.after === undefined) this.#last = item.before;
    else item.after.before = item.before;
    item.queued = false;
    this.#size -= 1;
    item.before = undefined;
    item.after = undefined;
  }
}
