import { assert } from '@engram/core';
import type { LogIndex } from './log-index.ts';

/** The unanswered appends to one follower: a window bounded in messages and in bytes. */
export class Inflights {
  readonly #messagesMax: number;
  readonly #bytesMax: number;
  /** In the order of their last entries. A ring: `#start` is the oldest. */
  readonly #ring: { last: LogIndex; bytes: number }[] = [];
  #start = 0;
  #count = 0;
  #bytes = 0;

  constructor(messagesMax: number, bytesMax: number) {
    this.#messagesMax = messagesMax;
    this.#bytesMax = bytesMax;
  }

  get count(): number {
    return this.#count;
  }

  /** The last message may exceed the bound in bytes, because it has at least one entry of any size. */
  get full(): boolean {
    return this.#count === this.#messagesMax || this.#bytes >= this.#bytesMax;
  }

  add(last: LogIndex, bytes: number): void {
    assert(!this.full, 'an append past the window');
    // Slots are allocated on first use, and reused from then on.
    const slot = this.#ring[this.#slotAt(this.#count)];
    if (slot === undefined) this.#ring.push({ last, bytes });
    else {
      slot.last = last;
      slot.bytes = bytes;
    }
    this.#count += 1;
    this.#bytes += bytes;
  }

  /** The follower has everything up to `index`: removes the appends that end there or before. */
  freeThrough(index: LogIndex): void {
    while (this.#count > 0) {
      const oldest = this.#ring[this.#start]!;
      if (oldest.last > index) return;
      this.#bytes -= oldest.bytes;
      this.#start = this.#slotAt(1);
      this.#count -= 1;
    }
    this.#start = 0;
  }

  clear(): void {
    this.#start = 0;
    this.#count = 0;
    this.#bytes = 0;
  }

  #slotAt(offset: number): number {
    const at = this.#start + offset;
    return at < this.#messagesMax ? at : at - this.#messagesMax;
  }
}
