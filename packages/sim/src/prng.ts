import type { Random } from '@engram/core';

/** A small, fast, seeded generator (mulberry32): the same seed is the same run. */
export class Prng implements Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  uint32(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  }

  below(bound: number): number {
    return this.uint32() % bound;
  }

  chance(probability: number): boolean {
    return this.uint32() / 2 ** 32 < probability;
  }

  pick<Item>(items: readonly Item[]): Item {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new Error('nothing to pick from');
    return item;
  }
}
