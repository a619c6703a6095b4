import { assert, type LogPosition } from '@engram/core';

const CAPACITY_MIN = 1024;

/**
 * Versions that are not durable yet, by log position. They come in the order of the log and go in that order, so a ring
 * that is indexed by position holds them; positions of records that are no versions stay empty.
 */
export class PendingBytes {
  #ring = new Array<Uint8Array | undefined>(CAPACITY_MIN).fill(undefined);
  /** Everything pending is in [first, next). */
  #first = 0;
  #next = 0;

  add(position: LogPosition, bytes: Uint8Array): void {
    assert(position >= this.#next, 'versions come in the order of the log');
    if (this.#first === this.#next) this.#first = position;
    while (position - this.#first >= this.#ring.length) this.#grow();
    this.#ring[position & (this.#ring.length - 1)] = bytes;
    this.#next = position + 1;
  }

  get(position: LogPosition): Uint8Array | undefined {
    if (position < this.#first || position >= this.#next) return undefined;
    return this.#ring[position & (this.#ring.length - 1)];
  }

  /** Takes the version out, and everything before it; undefined if it is not here. */
  take(position: LogPosition): Uint8Array | undefined {
    const bytes = this.get(position);
    if (bytes === undefined) return undefined;
    const mask = this.#ring.length - 1;
    for (let at = this.#first; at <= position; at += 1) this.#ring[at & mask] = undefined;
    this.#first = position + 1;
    return bytes;
  }

  #grow(): void {
    const old = this.#ring;
    const grown = new Array<Uint8Array | undefined>(old.length * 2).fill(undefined);
    for (let at = this.#first; at < this.#next; at += 1) {
      grown[at & (grown.length - 1)] = old[at & (old.length - 1)];
    }
    this.#ring = grown;
  }
}
