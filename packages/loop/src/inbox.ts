import { Fifo } from '@engram/core';
import type { Loop } from './loop.ts';
import { eachSettling, type Job } from './turn.ts';
import type { Task } from './work-class.ts';

/**
 * Short work on items that come from outside, in their order. It begins in the call that brings them. What takes more than a
 * slice waits for its turn as work of the task, and what comes later follows it.
 */
export class Inbox<Item> {
  readonly #loop: Loop;
  readonly #task: Task;
  readonly #handle: (item: Item) => void;
  readonly #together: number | undefined;
  readonly #items = new Fifo<Item>();
  #working = false;

  /** `together`: see `eachSettling`. */
  constructor(loop: Loop, task: Task, handle: (item: Item) => void, together?: number) {
    this.#loop = loop;
    this.#task = task;
    this.#handle = handle;
    this.#together = together;
  }

  take(items: Iterable<Item>): void {
    for (const item of items) this.#items.push(item);
    if (this.#working || this.#items.length === 0) return;
    this.#working = true;
    void this.#loop.run(this.#task, this.#work());
  }

  /** What was not worked on: it is the caller's now. */
  clear(): readonly Item[] {
    return [...this.#left()];
  }

  *#work(): Job<undefined> {
    try {
      yield* eachSettling(this.#loop, this.#left(), this.#handle, this.#together);
    } finally {
      this.#working = false;
    }
  }

  /** Takes them out, also those that come meanwhile. */
  *#left(): Generator<Item> {
    while (this.#items.length > 0) yield this.#items.shift()!;
  }
}
