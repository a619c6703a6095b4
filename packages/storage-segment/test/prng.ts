/** Xorshift: the same numbers for the same seed. */
export class Prng {
  #state: number;

  constructor(seed: number) {
    this.#state = (Math.imul(seed, 0x9e3779b1) ^ 0x2545f491) >>> 0 || 1;
    for (let round = 0; round < 8; round += 1) this.uint32();
  }

  uint32(): number {
    let state = this.#state;
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    this.#state = state >>> 0;
    return this.#state;
  }

  /** From 0 to less than `bound`. */
  below(bound: number): number {
    return this.uint32() % bound;
  }

  chance(share: number): boolean {
    return this.uint32() < share * 2 ** 32;
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)]!;
  }
}
