import { randomFillSync } from 'node:crypto';
import type { Random } from '@engram/core';

/** The kernel's random numbers, fetched 256 at a time. */
export class SystemRandom implements Random {
  readonly #pool = new Uint32Array(256);
  #at = this.#pool.length;

  uint32(): number {
    if (this.#at === this.#pool.length) {
      randomFillSync(this.#pool);
      this.#at = 0;
    }
    const value = this.#pool[this.#at]!;
    this.#at += 1;
    return value;
  }
}
