import type { EventGroup } from '@engram/core';
import type { PendingWrite } from './publisher.ts';

const CAPACITY_MIN = 256;

/**
 * The writes that somebody waits for, in the order in which they came. They end in nearly that order, so they are a
 * ring; one that ended is forgotten when all before it have. (Not a Set: one that writes run through is rebuilt every few
 * hundred of them, and each of its old tables, once in the old generation, keeps the next one and all that was pending
 * then. The collector copied a third of what a write allocates for that.)
 */
export class PendingWrites {
  #ring: (Pending | undefined)[] = new Array<Pending | undefined>(CAPACITY_MIN).fill(undefined);
  /** Counted up; a place in the ring is the count modulo its length. */
  #first = 0;
  #next = 0;

  /** Of those that did not end, the oldest. */
  oldest(): Pending | undefined {
    this.#forgetEnded();
    return this.#first === this.#next ? undefined : this.#ring[this.#first & (this.#ring.length - 1)];
  }

  add(group: EventGroup | undefined, startMs: number, answer: () => void, reject: (error: Error) => void): Pending {
    this.#forgetEnded();
    if (this.#next - this.#first === this.#ring.length) this.#grow();
    const pending = new Pending(group, startMs, answer, reject);
    this.#ring[this.#next & (this.#ring.length - 1)] = pending;
    this.#next += 1;
    return pending;
  }

  #forgetEnded(): void {
    const ring = this.#ring;
    const mask = ring.length - 1;
    while (this.#first < this.#next && ring[this.#first & mask]!.ended) {
      ring[this.#first & mask] = undefined;
      this.#first += 1;
    }
  }

  #grow(): void {
    const old = this.#ring;
    const grown = new Array<Pending | undefined>(old.length * 2).fill(undefined);
    for (let at = this.#first; at < this.#next; at += 1) grown[at & (grown.length - 1)] = old[at & (old.length - 1)];
    this.#ring = grown;
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
