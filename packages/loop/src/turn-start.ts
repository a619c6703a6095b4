import type { Clock } from '@engram/core';

/**
 * What runs first in a turn of the event loop, once the input that is there has been read. The event loop has one line for the
 * rest of a turn: slices and long output ask for their place in it in the turn before, and so stand ahead of what the input asks for. An
 * append of a write would leave behind all of them. Here a place at the head of the line is taken before they take theirs: from
 * the first urgent call on, because most parts of a program have none.
 */
export class TurnStart {
  readonly #clock: Pick<Clock, 'soon'>;
  #urgent: (() => void)[] = [];
  #used = false;
  #planned = false;

  constructor(clock: Pick<Clock, 'soon'>) {
    this.#clock = clock;
  }

  /** Calls `fire` ahead of all that `behind` calls. For short work. */
  soon(fire: () => void): void {
    this.#urgent.push(fire);
    this.#used = true;
    this.#plan();
  }

  /** As `Clock.soon`, for long work. */
  behind(fire: () => void): void {
    if (this.#used) this.#plan();
    this.#clock.soon(fire);
  }

  #plan(): void {
    if (this.#planned) return;
    this.#planned = true;
    this.#clock.soon(this.#begin);
  }

  readonly #begin = (): void => {
    this.#planned = false;
    if (this.#urgent.length === 0) return;
    const urgent = this.#urgent;
    this.#urgent = [];
    for (const fire of urgent) fire();
  };
}
