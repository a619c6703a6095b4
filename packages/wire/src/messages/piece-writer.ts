import { assert } from '@engram/core';
import type { Message } from '../rpc.ts';
import { sizeVarint, writeVarint } from '../protobuf/writer.ts';

/**
 * From this size on, bytes that exist already are sent as a piece of their own; below it they are copied, because one
 * more piece costs the transport more than the copy (bench/pieces.bench.ts: level at 4 to 8 KiB).
 */
export const PIECE_MIN = 8_192;

/**
 * Writes one message of which the size is known. What is small goes into one buffer; large shared bytes are not copied,
 * they become pieces between views of that buffer.
 */
export class PieceWriter {
  readonly #small: Uint8Array;
  readonly #pieces: Uint8Array[] = [];
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
    this.#flush();
    this.#pieces.push(bytes);
  }

  finish(): Message {
    assert(this.#at === this.#small.length, 'a message has not the size that was computed for it');
    if (this.#pieces.length === 0) return this.#small;
    this.#flush();
    return this.#pieces;
  }

  #flush(): void {
    if (this.#at > this.#flushed) this.#pieces.push(this.#small.subarray(this.#flushed, this.#at));
    this.#flushed = this.#at;
  }
}

/** Adds up what a PieceWriter will write: all bytes, and those of them that it will not copy. */
export class Measure {
  #uncopied = 0;

  /** The size of a delimited field with a tag of one byte. */
  shared(bytes: Uint8Array): number {
    if (bytes.length >= PIECE_MIN) this.#uncopied += bytes.length;
    return 1 + sizeVarint(bytes.length) + bytes.length;
  }

  writer(size: number): PieceWriter {
    return new PieceWriter(size - this.#uncopied);
  }
}
