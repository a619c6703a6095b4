import { Fifo } from '@engram/core';

/** The most keys that are planned with at a time. They stand in several orders meanwhile, 64 bytes or so each: 16 MiB. */
const KEYS_MAX = 256 * 1024;

/** A place in the queue of PlanGate, and then a part of its room. Its owner disposes of it, also if it still waits. */
export class PlanPlace implements Disposable {
  readonly keys: number;
  readonly #leave: (place: PlanPlace) => void;
  readonly #entered = Promise.withResolvers<void>();
  isIn = false;
  hasLeft = false;

  constructor(keys: number, leave: (place: PlanPlace) => void) {
    this.keys = keys;
    this.#leave = leave;
  }

  /** Resolves when it is let in. Undefined if it is in. Never settles if the place is disposed of before. */
  get waits(): Promise<void> | undefined {
    return this.isIn ? undefined : this.#entered.promise;
  }

  /** For PlanGate only. */
  enter(): void {
    this.isIn = true;
    this.#entered.resolve();
  }

  [Symbol.dispose](): void {
    if (this.hasLeft) return;
    this.hasLeft = true;
    this.#leave(this);
  }
}

/**
 * A queue of plans with many keys, in the order in which they come. Plans of at most KEYS_MAX keys together are in at a time, or
 * a single one of more. One thread makes all of them, so more at a time would take more memory and end no sooner.
 */
export class PlanGate {
  #keys = 0;
  readonly #waiting = new Fifo<PlanPlace>();

  place(keys: number): PlanPlace {
    const place = new PlanPlace(Math.min(keys, KEYS_MAX), this.#left);
    this.#waiting.push(place);
    this.#letIn();
    return place;
  }

  #letIn(): void {
    for (let next = this.#waiting.first; next !== undefined; next = this.#waiting.first) {
      if (!next.hasLeft && this.#keys + next.keys > KEYS_MAX) return;
      this.#waiting.shift();
      if (next.hasLeft) continue;
      this.#keys += next.keys;
      next.enter();
    }
  }

  readonly #left = (place: PlanPlace): void => {
    if (place.isIn) this.#keys -= place.keys;
    this.#letIn();
  };
}
