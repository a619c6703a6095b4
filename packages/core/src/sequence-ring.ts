import { assert } from './assert.ts';

/**
 * Values by a number that only goes up, held while it is in [first, next). They come and go in that order, so they lie in
 * a ring that a number's low bits index: nothing is moved, and what has gone leaves no trace for the collector to follow.
 * (A Map or Set that values run through is rebuilt every few hundred of them; each of its old tables, once in the old
 * generation, keeps the next one alive and all that was in it.)
 */
export class SequenceRing<Value> {
  #slots: (Value | undefined)[];
  #first = 0;
  #next = 0;

  /** `capacityMin`: a power of two. It grows with the numbers that are held at a time, and stays as large. */
  constructor(capacityMin: number) {
    assert((capacityMin & (capacityMin - 1)) === 0, 'the capacity of a ring is no power of two');
    this.#slots = new Array<Value | undefined>(capacityMin).fill(undefined);
  }

  get first(): number {
    return this.#first;
  }

  get next(): number {
    return this.#next;
  }

  /** At least `next`; numbers that are left out have no value. */
  put(number: number, value: Value): void {
    assert(number >= this.#next, 'the numbers of a ring go up');
    if (this.#first === this.#next) this.#first = number;
    while (number - this.#first >= this.#slots.length) this.#grow();
    this.#slots[number & (this.#slots.length - 1)] = value;
    this.#next = number + 1;
  }

  get(number: number): Value | undefined {
    if (number < this.#first || number >= this.#next) return undefined;
    return this.#slots[number & (this.#slots.length - 1)];
  }

  /** Forgets all before `number`, at most `next`. */
  forgetBefore(number: number): void {
    assert(number <= this.#next, 'a ring forgets what has not come');
    const slots = this.#slots;
    const mask = slots.length - 1;
    for (let at = this.#first; at < number; at += 1) slots[at & mask] = undefined;
    if (number > this.#first) this.#first = number;
  }

  /** Forgets all from `number` on: the next one that comes may be `number` again. */
  truncate(number: number): void {
    const slots = this.#slots;
    const mask = slots.length - 1;
    for (let at = Math.max(number, this.#first); at < this.#next; at += 1) slots[at & mask] = undefined;
    if (number < this.#next) this.#next = number;
    if (number < this.#first) this.#first = number;
  }

  #grow(): void {
    const old = this.#slots;
    const grown = new Array<Value | undefined>(old.length * 2).fill(undefined);
    for (let at = this.#first; at < this.#next; at += 1) grown[at & (grown.length - 1)] = old[at & (old.length - 1)];
    this.#slots = grown;
  }
}
