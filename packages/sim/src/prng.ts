import { assert, type Random } from '@engram/core';

/** The only random generator of tests: small, fast and seeded (mulberry32). The same seed gives the same numbers. */
export class Prng implements Random {
  readonly seed: number;
  #state: number;

  constructor(seed: number) {
    this.seed = seed >>> 0;
    this.#state = this.seed;
  }

  uint32(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  }

  /** A whole number from 0 to less than `bound`. */
  below(bound: number): number {
    assert(bound >= 1, 'no number is below the bound');
    return this.uint32() % bound;
  }

  /** A whole number from `min` to `max`, both included. */
  between(min: number, max: number): number {
    return min + this.below(max - min + 1);
  }

  /** A fraction from 0 to less than 1. */
  fraction(): number {
    return this.uint32() / 2 ** 32;
  }

  chance(probability: number): boolean {
    return this.fraction() < probability;
  }

  pick<Item>(items: readonly Item[]): Item {
    assert(items.length > 0, 'nothing to pick from');
    return items[this.below(items.length)]!;
  }

  /** A copy in random order. */
  shuffled<Item>(items: readonly Item[]): Item[] {
    const shuffled = items.slice();
    for (let at = shuffled.length - 1; at > 0; at -= 1) {
      const other = this.below(at + 1);
      [shuffled[at], shuffled[other]] = [shuffled[other]!, shuffled[at]!];
    }
    return shuffled;
  }

  /**
   * A separate generator, which depends on this one's seed and on `name` alone. The numbers that one part of a
   * simulation draws do not change the numbers of another part.
   */
  fork(name: string): Prng {
    let hash = this.seed ^ 0x811c9dc5;
    for (let at = 0; at < name.length; at += 1) hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193);
    return new Prng(new Prng(hash).uint32());
  }
}
