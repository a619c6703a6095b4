import { type Clock, Slice } from '@engram/core';
import { EVENT_US } from './slice-limits.ts';

/** Divides work into slices. Several tasks may run at the same time: they share one slice and yield together. */
export class Sliced {
  readonly #slice: Slice;
  readonly #clock: Clock;
  /** Events that may be visited between two checks of the slice. */
  readonly eventsMax: number;
  #turn: Promise<void> | undefined;

  constructor(clock: Clock, sliceUs: number) {
    this.#slice = new Slice(sliceUs);
    this.#clock = clock;
    this.eventsMax = Math.max(1, Math.round(sliceUs / EVENT_US));
  }

  get spent(): boolean {
    return this.#slice.spent;
  }

  /** Returns true if the slice is used up. The caller must `await turn()` next. */
  spend(us: number): boolean {
    return this.#slice.spend(us);
  }

  /**
   * Resolves in the next turn of the event loop. Another task may use up the new slice first, so check `spent` again.
   */
  turn(): Promise<void> {
    this.#turn ??= this.#next();
    return this.#turn;
  }

  async #next(): Promise<void> {
    await this.#slice.turn(this.#clock);
    this.#turn = undefined;
  }
}
