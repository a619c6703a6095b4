import { assert } from '@engram/core';

const NONE = new Uint8Array(0);

/** Which records of a segment were dropped: one bit each, by index in the segment's table. */
export class DeadRecords {
  #bits: Uint8Array;
  #count: number;
  #bytes: number;
  /** Whether more was dropped than the manifest knows. */
  changed = false;

  constructor(bits: Uint8Array = NONE, count = 0, bytes = 0) {
    this.#bits = bits;
    this.#count = count;
    this.#bytes = bytes;
  }

  get count(): number {
    return this.#count;
  }

  /** The bytes of the records with their headers. */
  get bytes(): number {
    return this.#bytes;
  }

  get bits(): Uint8Array {
    return this.#bits;
  }

  has(index: number): boolean {
    const byte = index >>> 3;
    return byte < this.#bits.length && (this.#bits[byte]! & (1 << (index & 7))) !== 0;
  }

  /**
   * `bytes` is the length of this record, `of` the current number of records. Returns false if it was dropped before.
   */
  add(index: number, bytes: number, of: number): boolean {
    assert(index < of, 'no such record');
    const byte = index >>> 3;
    if (byte >= this.#bits.length) {
      const bits = new Uint8Array((of + 7) >>> 3);
      bits.set(this.#bits);
      this.#bits = bits;
    }
    const bit = 1 << (index & 7);
    if ((this.#bits[byte]! & bit) !== 0) return false;
    this.#bits[byte] = this.#bits[byte]! | bit;
    this.#count += 1;
    this.#bytes += bytes;
    this.changed = true;
    return true;
  }
}
