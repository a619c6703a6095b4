import { assert } from '@engram/core';
import type { LongMessage } from '@engram/wire';
import type { Output } from './output.ts';

/** In the place of a piece that is sent: its memory is not the queue's any more. */
const sent = new Uint8Array(0);

/** Bytes of one stream that wait for a window or for the socket, in their original pieces. */
export class SendQueue {
  #pieces: (Uint8Array | LongMessage)[] = [];
  /** Index of the first piece that is not wholly sent. */
  #first = 0;
  /** Bytes of that piece that are sent. */
  #sentOfFirst = 0;
  #bytes = 0;
  /** Sum over the pieces of their length minus the memory they take. */
  #unheldBytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  /** Memory that the queue takes, approximately. A long message counts by what it took when it was queued. */
  get heldBytes(): number {
    return Math.max(0, this.#bytes - this.#unheldBytes);
  }

  /**
   * The caller must not change the bytes after this call. A message that is encoded while it is sent keeps its place in
   * the order. The queue drops it when its last byte has moved, or with `clear`.
   */
  push(piece: Uint8Array | LongMessage): void {
    const bytes = piece instanceof Uint8Array ? piece.length : piece.bytes;
    if (bytes === 0) {
      if (!(piece instanceof Uint8Array)) piece.drop();
      return;
    }
    this.#pieces.push(piece);
    this.#bytes += bytes;
    this.#unheldBytes += unheldBytesOf(piece);
  }

  /** Makes the bytes that `move` would take available. Undefined if they already are. Rejects if they never will be. */
  prepare(bytes: number): Promise<void> | undefined {
    let start = this.#sentOfFirst;
    for (let at = this.#first, left = bytes; left > 0; at += 1) {
      const piece = this.#pieces[at];
      assert(piece !== undefined, 'the queue is shorter than it says');
      const long = !(piece instanceof Uint8Array);
      const wanted = Math.min(left, (long ? piece.bytes : piece.length) - start);
      const waits = long ? piece.prepare(wanted) : undefined;
      if (waits !== undefined) return waits;
      left -= wanted;
      start = 0;
    }
    return undefined;
  }

  /** Moves exactly this many bytes to the output. */
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
      this.#unheldBytes -= unheldBytesOf(piece);
      if (!(piece instanceof Uint8Array)) piece.drop();
      this.#sentOfFirst = 0;
      this.#pieces[this.#first] = sent;
      this.#first += 1;
    }
    this.#forgetSent();
  }

  clear(): void {
    for (let at = this.#first; at < this.#pieces.length; at += 1) {
      const piece = this.#pieces[at]!;
      if (!(piece instanceof Uint8Array)) piece.drop();
    }
    this.#pieces = [];
    this.#unheldBytes = 0;
    this.#first = 0;
    this.#sentOfFirst = 0;
    this.#bytes = 0;
  }

  /** Keeps the array from growing with the pieces already sent. */
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

const unheldBytesOf = (piece: Uint8Array | LongMessage): number =>
  piece instanceof Uint8Array ? 0 : Math.max(0, piece.bytes - piece.heldBytes);
