import { Fifo } from './fifo.ts';
import type { Loop } from './loop.ts';
import type { Job } from './turn.ts';
import type { Task } from './work-class.ts';

/** Items after which the promises go on that these have settled, if nothing else is said: that is work of the task as well. */
const TOGETHER = 16;

/**
 * Short work on items that come from outside, in their order. It begins in the call that brings them. What takes more than a
 * slice waits for its turn as work of the task, and what comes later follows it.
 */
export class Inbox<Item> {
  readonly #loop: Loop;
  readonly #task: Task;
  readonly #handle: (item: Item) => void;
  readonly #together: number;
  readonly #items = new Fifo<Item>();
  #working = false;

  /** `together`: what is settled by so many items may take a slice for each of them. */
  constructor(loop: Loop, task: Task, handle: (item: Item) => void, together = TOGETHER) {
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
    const left: Item[] = [];
    while (this.#items.length > 0) left.push(this.#items.shift()!);
    return left;
  }

  *#work(): Job<undefined> {
    try {
      for (let done = 1; this.#items.length > 0; done += 1) {
        this.#handle(this.#items.shift()!);
        if (this.#loop.shouldYield()) yield;
        else if (done % this.#together === 0) yield Promise.resolve();
      }
    } finally {
      this.#working = false;
    }
  }
}
