import { assert } from '@engram/core';
import { writeVarint } from '@engram/protobuf';

/**
 * From this size on, bytes that exist already are sent as a piece of their own; below it they are copied, because one
 * more piece costs the transport more than the copy. For a bare socket the two are level at 2 KiB, and at 4 KiB the copy
 * costs a fifth more (bench/pieces.bench.ts); a transport that frames the pieces pays more for each.
 */
export const PIECE_MIN = 4_096;

/**
 * Writes one message of which the size is known. What is small goes into one buffer; large shared bytes are not copied,
 * they become pieces between views of that buffer.
 */
export class PieceWriter {
  readonly #small: Uint8Array;
  #pieces: Uint8Array[] | undefined;
  /** How much of the buffer is in pieces already, and how much is written. */
  #flushed = 0;
  #at = 0;

  /** `smallBytes`: all that is written, but for the `shared` bytes of at least PIECE_MIN. */
  constructor(smallBytes: number) {
    // Not `new Uint8Array`, which costs ten times as much above 64 bytes. A message is gone soon, so it does not matter
    // that it keeps its neighbours in the pool; `finish` sees to it that every byte was written.
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

  /** A delimited field; the tag is one byte. */
  shared(tag: number, bytes: Uint8Array): void {
    this.byte(tag);
    this.varint(bytes.length);
    if (bytes.length < PIECE_MIN) {
      this.copy(bytes);
      return;
    }
    this.#flush().push(bytes);
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
