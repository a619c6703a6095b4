import { assert } from './assert.ts';

/** Each stretch takes three words: its buffer, its offset, its length. */
const PLACE_WORDS = 3;
const PLACES_MIN = 64;

/** Many stretches of bytes in order. */
export type ByteList = readonly Uint8Array[] | ByteViews;

/**
 * Many stretches of bytes without an object for each. A list of 100,000 values would have as many views, and the
 * garbage collector would copy them all while the list is sent. A view is made only when a caller asks for it. The list
 * keeps the buffers alive. Their bytes must not change.
 */
export class ByteViews implements Iterable<Uint8Array> {
  readonly #buffers: ArrayBufferLike[] = [];
  #places: Int32Array;
  #length = 0;
  #bytes = 0;

  /** Has room for `places` stretches at first, and grows. */
  constructor(places = PLACES_MIN) {
    this.#places = new Int32Array(places * PLACE_WORDS);
  }

  static of(views: readonly Uint8Array[]): ByteViews {
    const made = new ByteViews();
    made.extend(views.length);
    for (const [index, view] of views.entries()) made.setView(index, view);
    return made;
  }

  get length(): number {
    return this.#length;
  }

  /** The length of all stretches together. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Adds `count` empty stretches. Returns the index of the first. */
  extend(count: number): number {
    const first = this.#length;
    this.#length += count;
    const words = this.#length * PLACE_WORDS;
    if (words > this.#places.length) {
      const grown = new Int32Array(Math.max(words, this.#places.length * 2));
      grown.set(this.#places);
      this.#places = grown;
    }
    return first;
  }

  /** Call it once for each index. `offset` and `length` are below 2 GiB. */
  set(index: number, buffer: ArrayBufferLike, offset: number, length: number): void {
    const at = index * PLACE_WORDS;
    assert(index < this.#length && this.#places[at + 2] === 0, 'a stretch of bytes that is none, or is set already');
    // Neighbours mostly share a buffer.
    let last = this.#buffers.length - 1;
    if (last < 0 || this.#buffers[last] !== buffer) last = this.#buffers.push(buffer) - 1;
    this.#places[at] = last;
    this.#places[at + 1] = offset;
    this.#places[at + 2] = length;
    this.#bytes += length;
  }

  setView(index: number, { buffer, byteOffset, length }: Uint8Array): void {
    this.set(index, buffer, byteOffset, length);
  }

  /** How many stretches of [from, to) begin neither where the one before them ends nor up to `gapMax` bytes later. */
  breaks(from: number, to: number, gapMax: number): number {
    const places = this.#places;
    let breaks = 0;
    for (let at = (from + 1) * PLACE_WORDS; at < to * PLACE_WORDS; at += PLACE_WORDS) {
      const gap = places[at + 1]! - places[at - 2]! - places[at - 1]!;
      if (places[at] !== places[at - PLACE_WORDS] || gap < 0 || gap > gapMax) breaks += 1;
    }
    return breaks;
  }

  lengthOf(index: number): number {
    return this.#places[index * PLACE_WORDS + 2]!;
  }

  view(index: number): Uint8Array {
    assert(index < this.#length, 'a stretch of bytes that is none');
    const at = index * PLACE_WORDS;
    const length = this.#places[at + 2]!;
    if (length === 0) return new Uint8Array(0);
    return new Uint8Array(this.#buffers[this.#places[at]!]!, this.#places[at + 1]!, length);
  }

  /** Removes all stretches. Keeps the memory of the places for new ones. */
  clear(): void {
    this.#places.fill(0, 0, this.#length * PLACE_WORDS);
    this.#buffers.length = 0;
    this.#length = 0;
    this.#bytes = 0;
  }

  /** Removes the stretches from `length` on. */
  truncate(length: number): void {
    for (let index = length; index < this.#length; index += 1) this.#bytes -= this.lengthOf(index);
    this.#places.fill(0, length * PLACE_WORDS, this.#length * PLACE_WORDS);
    this.#length = length;
  }

  *[Symbol.iterator](): Generator<Uint8Array> {
    for (let index = 0; index < this.#length; index += 1) yield this.view(index);
  }
}
