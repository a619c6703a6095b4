import type { Clock } from '@engram/core';
import type { Job, Loop, PureJob, Task, Turn } from '@engram/loop';

/**
 * Visits the items that a Set or Map holds at the start, while it changes. An item that leaves before the walk reaches it
 * is not visited. An item that leaves and comes back may be visited again. The number of visits is bounded by the number of
 * items at the start. The walk ends early when `visit` returns false.
 */
export function* walking<Item>(
  items: { readonly size: number; values(): Iterator<Item> },
  visit: (item: Item) => boolean,
  turn: Turn,
): PureJob<void> {
  const all = items.values();
  for (let left = items.size; left > 0; left -= 1) {
    const next = all.next();
    if (next.done === true || !visit(next.value)) return;
    if (turn.shouldYield()) yield;
  }
}

/**
 * The jobs of a hub that visit watchers. The first one of a turn begins in the call. The others wait for a slice: a thousand
 * streams may be closed in one turn.
 */
export class Walks {
  readonly #loop: Loop;
  readonly #clock: Pick<Clock, 'soon'>;
  #begun = false;

  constructor(loop: Loop, clock: Pick<Clock, 'soon'>) {
    this.#loop = loop;
    this.#clock = clock;
  }

  /** The job may fail for a broken invariant only. */
  begin(task: Task, job: Job<void>): void {
    void this.#loop.run(task, this.#begun ? behindOthers(job) : job);
    if (this.#begun) return;
    this.#begun = true;
    this.#clock.soon(() => {
      this.#begun = false;
    });
  }
}

function* behindOthers(job: Job<void>): Job<void> {
  yield;
  yield* job;
}
