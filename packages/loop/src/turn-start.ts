import type { Clock } from '@engram/core';
import type { TurnInput } from './turn-input.ts';

/**
 * What runs first in a turn of the event loop, once the input that is there has been read. The event loop has one line for the
 * rest of a turn: slices and long output ask for their place in it in the turn before, and so stand ahead of what the input asks for. An
 * append of a write would leave behind all of them. Here a place at the head of the line is taken before they take theirs: from
 * the first urgent call on, because most parts of a program have none, or always if the input of turns is measured.
 */
export class TurnStart {
  readonly #clock: Pick<Clock, 'soon'>;
  readonly #input: TurnInput;
  #urgent: (() => void)[] = [];
  #used = false;
  #planned = false;

  constructor(clock: Pick<Clock, 'soon'>, input: TurnInput) {
    this.#clock = clock;
    this.#input = input;
  }

  /** Calls `fire` ahead of all that `behind` calls. For short work. */
  soon(fire: () => void): void {
    this.#urgent.push(fire);
    this.#used = true;
    this.#plan();
  }

  /** As `Clock.soon`, for long work. */
  behind(fire: () => void): void {
    if (this.#used || this.#input.measured) this.#plan();
    this.#clock.soon(fire);
  }

  #plan(): void {
    if (this.#planned) return;
    this.#planned = true;
    this.#clock.soon(this.#begin);
  }

  readonly #begin = (): void => {
    this.#planned = false;
    this.#input.ends();
    if (this.#urgent.length === 0) return;
    const urgent = this.#urgent;
    this.#urgent = [];
    for (const fire of urgent) fire();
  };
}
