import type { Clock } from '@engram/core';

/** Slices that are requested ahead: a turn gives as many of them as its time allows. */
const AHEAD = 8;

/**
 * Ends connections in turn: each end is a slice of long work (`Clock.giveWay`). The system takes up to a tenth of a millisecond to
 * close a socket. Clients may leave, or be given up, by the thousand in one turn of the event loop.
 */
export class EndingLine {
  readonly #clock: Pick<Clock, 'giveWay'>;
  #waiting: (() => void)[] = [];
  /** Ends before this index have had their slice. */
  #first = 0;
  #asked = 0;

  constructor(clock: Pick<Clock, 'giveWay'>) {
    this.#clock = clock;
  }

  get waiting(): number {
    return this.#waiting.length - this.#first;
  }

  push(end: () => void): void {
    this.#waiting.push(end);
    this.#ask();
  }

  #ask(): void {
    for (; this.#asked < Math.min(this.waiting, AHEAD); this.#asked += 1) this.#clock.giveWay(this.#slice);
  }

  readonly #slice = (): void => {
    this.#asked -= 1;
    const end = this.#waiting[this.#first];
    if (end === undefined) return;
    this.#first += 1;
    if (this.#first === this.#waiting.length) {
      this.#waiting = [];
      this.#first = 0;
    }
    this.#ask();
    end();
  };
}
