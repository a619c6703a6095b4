import { assert } from '@engram/core';
import { writeVarint } from '@engram/protobuf';

/**
 * From this size on, existing bytes are sent as a piece of their own. Smaller ones are copied, because one more piece
 * costs the transport more than the copy. On a bare socket the costs are equal at 2 KiB, and at 4 KiB the copy costs a
 * fifth more (bench/pieces.bench.ts). In a transport that frames the pieces, each piece costs more.
 */
export const PIECE_MIN = 4_096;

/**
 * Writes one message of known size. Small parts go into one buffer. Large shared bytes are not copied: they become
 * pieces between views of that buffer.
 */
export class PieceWriter {
  readonly #small: Uint8Array;
  #pieces: Uint8Array[] | undefined;
  /** The number of bytes of the buffer that are in pieces already. */
  #flushed = 0;
  #at = 0;

  /** `smallBytes` is the size of the message without the `shared` bytes of at least PIECE_MIN. */
  constructor(smallBytes: number) {
    // Above 64 bytes, `new Uint8Array` costs ten times as much. A message is short-lived, so it may keep its neighbours
    // in the pool alive. `finish` asserts that every byte was written.
    this.#small = Buffer.allocUnsafe(smallBytes);
  }

  byte(value: number): void {
    this.#small[this.#at] = value;
    this.#at += 1;
  }

  varint(value: number): void {
    this.#at = writeVarint(value, this.#small, this.#at);
  }

  copy(bytes: Uint8Array): void {
    this.#small.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  /** A delimited field with a tag of one byte. */
  shared(tag: number, bytes: Uint8Array): void {
    this.byte(tag);
    this.varint(bytes.length);
    if (bytes.length < PIECE_MIN) {
      this.copy(bytes);
      return;
    }
    this.#flush().push(bytes);
  }

  /** The bytes written so far. Only for a message without large pieces. */
  written(): Uint8Array {
    return this.#small.subarray(0, this.#at);
  }

  finish(): Uint8Array | readonly Uint8Array[] {
    assert(this.#at === this.#small.length, 'a message has not the size that was computed for it');
    return this.#pieces === undefined ? this.#small : this.#flush();
  }

  #flush(): Uint8Array[] {
    this.#pieces ??= [];
    if (this.#at > this.#flushed) this.#pieces.push(this.#small.subarray(this.#flushed, this.#at));
    this.#flushed = this.#at;
    return this.#pieces;
  }
}
