import { assert } from '@engram/core';

/** An item of a heap. Its owner may move `dueMs` later without telling the heap. The other fields belong to the heap. */
export interface Timed {
  dueMs: number;
  /** Its place in the heap; -1 if it is not in a heap. */
  slot: number;
  /** The time by which the heap has placed it; never later than `dueMs`. */
  placedMs: number;
}

/**
 * A binary heap by time in which a renewal costs nothing. An item stays where it is while its time moves later, and
 * is placed again when it reaches the top. So there is one entry for each item however often it is renewed, and at
 * most one sift for each time that passes. An item's time must not move earlier while it is in the heap.
 */
export class DueHeap<Item extends Timed> {
  readonly #items: Item[] = [];

  get size(): number {
    return this.#items.length;
  }

  push(item: Item): void {
    assert(item.slot === -1, 'pushed twice');
    item.placedMs = item.dueMs;
    this.#items.push(item);
    this.#up(item, this.#items.length - 1);
  }

  /** The item that is due first; it stays in the heap. */
  first(): Item | undefined {
    for (;;) {
      const top = this.#items[0];
      if (top === undefined || top.placedMs === top.dueMs) return top;
      assert(top.placedMs < top.dueMs, 'a time moved earlier');
      top.placedMs = top.dueMs;
      this.#down(top, 0);
    }
  }

  remove(item: Item): void {
    const at = item.slot;
    assert(this.#items[at] === item, 'removed, but not in the heap');
    item.slot = -1;
    const last = this.#items.pop();
    assert(last !== undefined, 'an empty heap held an item');
    if (last === item) return;
    if (last.placedMs < item.placedMs) this.#up(last, at);
    else this.#down(last, at);
  }

  #up(item: Item, from: number): void {
    let at = from;
    while (at > 0) {
      const parentAt = (at - 1) >> 1;
      const parent = this.#items[parentAt]!;
      if (parent.placedMs <= item.placedMs) break;
      this.#place(parent, at);
      at = parentAt;
    }
    this.#place(item, at);
  }

  #down(item: Item, from: number): void {
    const count = this.#items.length;
    let at = from;
    for (;;) {
      let childAt = 2 * at + 1;
      if (childAt >= count) break;
      let child = this.#items[childAt]!;
      const other = this.#items[childAt + 1];
      if (other !== undefined && other.placedMs < child.placedMs) {
        child = other;
        childAt += 1;
      }
      if (child.placedMs >= item.placedMs) break;
      this.#place(child, at);
      at = childAt;
    }
    this.#place(item, at);
  }

  #place(item: Item, at: number): void {
    this.#items[at] = item;
    item.slot = at;
  }
}
