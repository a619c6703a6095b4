import { type Clock, Slice } from '@engram/core';
import { EVENT_US } from './slice-limits.ts';

/** Work in slices that may have several parts at the same time: all of them share one slice, and one turn for others. */
export class Sliced {
  readonly #slice: Slice;
  readonly #clock: Clock;
  /** As many events are looked at before the slice is asked again. */
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

  /** True: the slice is used up, and the next thing to do is `await turn()`. */
  spend(us: number): boolean {
    return this.#slice.spend(us);
  }

  /** Resolves once others have had their turn. Other parts may be first to use the new slice: ask `spent` again. */
  turn(): Promise<void> {
    this.#turn ??= this.#next();
    return this.#turn;
  }

  async #next(): Promise<void> {
    await this.#slice.turn(this.#clock);
    this.#turn = undefined;
  }
}
