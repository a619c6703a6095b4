import { assert } from './assert.ts';

/**
 * Values by a number that only grows, held while the number is in [first, next). Values come and go in that order, so
 * they lie in a ring indexed by the number's low bits. No value is moved, and no garbage is left for the collector. (V8
 * rebuilds a Map or Set every few hundred entries that pass through. An old table in the old generation keeps the next
 * one alive, and with it all its values.)
 */
export class SequenceRing<Value> {
  #slots: (Value | undefined)[];
  #first = 0;
  #next = 0;

  /** `capacityMin` is a power of two. The ring grows with the numbers held at a time, and never shrinks. */
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

  /** Its slots, of 8 bytes each. */
  get capacity(): number {
    return this.#slots.length;
  }

  /** The capacity that it has once `number`, which is at least `first`, has a value. */
  capacityFor(number: number): number {
    let capacity = this.#slots.length;
    while (number - this.#first >= capacity) capacity *= 2;
    return capacity;
  }

  get isEmpty(): boolean {
    return this.#first === this.#next;
  }

  /** `number` is at least `next`. Numbers that are skipped have no value. */
  put(number: number, value: Value): void {
    assert(number >= this.#next, 'the numbers of a ring go up');
    if (this.isEmpty) this.#first = number;
    while (number - this.#first >= this.#slots.length) this.#grow();
    this.#slots[number & (this.#slots.length - 1)] = value;
    this.#next = number + 1;
  }

  /** Forgets all values before `first`, which may be beyond `next`. Numbers from `first` on may be `set`. */
  advance(first: number): void {
    if (first < this.#next) this.forgetBefore(first);
    else {
      this.truncate(this.#first);
      this.#first = first;
      this.#next = first;
    }
  }

  /** As `put`, but in any order. `number` is at least the last number given to `advance`. */
  set(number: number, value: Value): void {
    assert(number >= this.#first, 'a number that the ring has forgotten');
    while (number - this.#first >= this.#slots.length) this.#grow();
    this.#slots[number & (this.#slots.length - 1)] = value;
    if (number >= this.#next) this.#next = number + 1;
  }

  get(number: number): Value | undefined {
    if (number < this.#first || number >= this.#next) return undefined;
    return this.#slots[number & (this.#slots.length - 1)];
  }

  /** Forgets all values before `number`, which is at most `next`. */
  forgetBefore(number: number): void {
    assert(number <= this.#next, 'a ring forgets what has not come');
    const slots = this.#slots;
    const mask = slots.length - 1;
    for (let at = this.#first; at < number; at += 1) slots[at & mask] = undefined;
    if (number > this.#first) this.#first = number;
  }

  /** Forgets one value. `first` becomes the first number from it on that has a value, or `next`. */
  remove(number: number): void {
    if (number < this.#first || number >= this.#next) return;
    const slots = this.#slots;
    const mask = slots.length - 1;
    slots[number & mask] = undefined;
    while (this.#first < this.#next && slots[this.#first & mask] === undefined) this.#first += 1;
  }

  /** Forgets the values that are `wanted`, which is called once for each, oldest first. It may put further values: they stay. */
  removeIf(wanted: (value: Value) => boolean): void {
    const end = this.#next;
    for (let number = this.#first; number < end; number += 1) {
      const value = this.get(number);
      if (value !== undefined && wanted(value)) this.remove(number);
    }
  }

  /** Oldest first. */
  *values(): Generator<Value> {
    for (let at = this.#first; at < this.#next; at += 1) {
      const value = this.get(at);
      if (value !== undefined) yield value;
    }
  }

  /** Forgets all values from `number` on. `number` may then be put again. */
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
