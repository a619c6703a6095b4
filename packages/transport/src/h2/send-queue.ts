import { assert } from '@engram/core';
import type { LongMessage } from '@engram/wire';
import type { Output } from './output.ts';

/** Bytes of one stream that wait for a window or for the socket, in the pieces in which they came. */
export class SendQueue {
  #pieces: (Uint8Array | LongMessage)[] = [];
  /** The first piece that is not wholly sent, and how much of it is. */
  #first = 0;
  #sentOfFirst = 0;
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  /** Bytes must not change any more; a message that is made while it leaves takes its place between them. */
  push(piece: Uint8Array | LongMessage): void {
    const bytes = piece instanceof Uint8Array ? piece.length : piece.bytes;
    if (bytes === 0) return;
    this.#pieces.push(piece);
    this.#bytes += bytes;
  }

  /** Moves exactly so many bytes to the output. */
  move(bytes: number, output: Output): void {
    assert(bytes <= this.#bytes, 'more than there is');
    this.#bytes -= bytes;
    let left = bytes;
    while (left > 0) {
      const piece = this.#pieces[this.#first];
      assert(piece !== undefined, 'the queue is shorter than it says');
      const start = this.#sentOfFirst;
      const rest = (piece instanceof Uint8Array ? piece.length : piece.bytes) - start;
      const moved = Math.min(rest, left);
      if (!(piece instanceof Uint8Array)) output.pull(piece, moved);
      else output.put(moved === piece.length ? piece : piece.subarray(start, start + moved));
      if (moved < rest) {
        this.#sentOfFirst += moved;
        return;
      }
      left -= moved;
      this.#sentOfFirst = 0;
      this.#first += 1;
    }
    this.#forgetSent();
  }

  clear(): void {
    this.#pieces = [];
    this.#first = 0;
    this.#sentOfFirst = 0;
    this.#bytes = 0;
  }

  /** Keeps the array from growing with all that ever went through it. */
  #forgetSent(): void {
    if (this.#bytes === 0) {
      this.#pieces.length = 0;
    } else if (this.#first > 64 && this.#first * 2 > this.#pieces.length) {
      this.#pieces.splice(0, this.#first);
    } else {
      return;
    }
    this.#first = 0;
  }
}
