import { type EventGroup, SequenceRing } from '@engram/core';
import type { PendingWrite } from './publisher.ts';

const CAPACITY_MIN = 256;

/**
 * The writes that somebody waits for, in the order in which they came. They end in nearly that order; one that ended is
 * forgotten when all before it have. (As a Set they cost the collector the copying of a third of what a write allocates.)
 */
export class PendingWrites {
  readonly #ring = new SequenceRing<Pending>(CAPACITY_MIN);

  /** Of those that did not end, the oldest. */
  oldest(): Pending | undefined {
    this.#forgetEnded();
    return this.#ring.get(this.#ring.first);
  }

  add(group: EventGroup | undefined, startMs: number, answer: () => void, reject: (error: Error) => void): Pending {
    this.#forgetEnded();
    const pending = new Pending(group, startMs, answer, reject);
    this.#ring.put(this.#ring.next, pending);
    return pending;
  }

  #forgetEnded(): void {
    const ring = this.#ring;
    let from = ring.first;
    while (ring.get(from)?.ended === true) from += 1;
    ring.forgetBefore(from);
  }
}

/** A write that somebody waits for. The first call of `settle` or `fail` counts. */
export class Pending implements PendingWrite {
  readonly group: EventGroup | undefined;
  readonly startMs: number;
  readonly #answer: () => void;
  readonly #reject: (error: Error) => void;
  #ended = false;

  constructor(group: EventGroup | undefined, startMs: number, answer: () => void, reject: (error: Error) => void) {
    this.group = group;
    this.startMs = startMs;
    this.#answer = answer;
    this.#reject = reject;
  }

  get ended(): boolean {
    return this.#ended;
  }

  settle(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#answer();
  }

  fail(error: Error): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#reject(error);
  }
}
