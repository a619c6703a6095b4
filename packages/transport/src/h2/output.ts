import type { Socket } from 'node:net';
import { assert } from '@engram/core';
import type { LongMessage } from '@engram/wire';
import { SHORT_SLAB_BYTES, SLAB_BYTES, type SlabPool } from './slab-pool.ts';

/**
 * Pieces up to this size are copied next to the frames around them. For longer pieces a reference is cheaper than the
 * copy.
 */
export const COPY_MAX_BYTES = 4 * 1024;

const nothing = Buffer.alloc(0);

/**
 * Gathers what one connection sends and hands it to the kernel in one write. Frames and short pieces go into slabs,
 * long pieces are kept by reference, so the caller must not change them. One write is in flight at a time; meanwhile
 * the next batch gathers.
 */
export class Output {
  /** The open slab. Writers of frames call `room` first, then write and advance `at` themselves. */
  slab: Buffer = nothing;
  /** The write position in `slab`. */
  at = 0;

  readonly #socket: Socket;
  readonly #pool: SlabPool;
  readonly #done: () => void;
  /** Start of the part of the slab that is not in `#pieces` yet. */
  #start = 0;
  #pieces: Uint8Array[] = [];
  #piecesBytes = 0;
  #fullSlabs: Buffer[] = [];
  #flyingSlabs: Buffer[] = [];
  /** Whether the last batch would have had room in a short slab. The next batch begins with one then. */
  #wasShort = true;
  #writing = false;
  #flyingBytes = 0;

  /** `done` is called when the kernel has taken a batch, never during `flush`. */
  constructor(socket: Socket, pool: SlabPool, done: () => void) {
    this.#socket = socket;
    this.#pool = pool;
    this.#done = done;
  }

  /** Bytes of the batch that gathers. */
  get pendingBytes(): number {
    return this.#piecesBytes + this.at - this.#start;
  }

  /** Bytes that were written to the socket and that the kernel has not taken. */
  get flyingBytes(): number {
    return this.#flyingBytes;
  }

  get writing(): boolean {
    return this.#writing;
  }

  /** Makes room for this many bytes at `slab[at]`; at most SLAB_BYTES. */
  room(bytes: number): void {
    if (this.slab.length - this.at < bytes) this.#nextSlab(bytes);
  }

  /** Copies short bytes, keeps a reference to long ones. */
  put(bytes: Uint8Array): void {
    if (bytes.length > COPY_MAX_BYTES) {
      this.#closePiece();
      this.#pieces.push(bytes);
      this.#piecesBytes += bytes.length;
      return;
    }
    this.room(bytes.length);
    this.slab.set(bytes, this.at);
    this.at += bytes.length;
  }

  /** Writes the next `bytes` bytes of a message that is encoded while it is sent. */
  pull(message: LongMessage, bytes: number): void {
    for (let left = bytes; left > 0; ) {
      this.room(1);
      const end = message.read(this.slab, this.at, Math.min(this.slab.length, this.at + left));
      assert(end > this.at, 'a message is shorter than it says');
      left -= end - this.at;
      this.at = end;
    }
  }

  /** Does nothing while a write is in flight; `done` is called when it ends. */
  flush(): void {
    if (this.#writing || this.pendingBytes === 0 || this.#socket.destroyed) return;
    this.#writing = true;
    this.#closePiece();
    const pieces = this.#pieces;
    this.#flyingBytes = this.#piecesBytes;
    this.#wasShort = this.#piecesBytes <= SHORT_SLAB_BYTES;
    this.#pieces = [];
    this.#piecesBytes = 0;
    if (this.#fullSlabs.length > 0) {
      this.#flyingSlabs = this.#fullSlabs;
      this.#fullSlabs = [];
    }
    const last = pieces.length - 1;
    if (last === 0) {
      this.#socket.write(pieces[0]!, this.#written);
      return;
    }
    this.#socket.cork();
    for (let at = 0; at < last; at += 1) this.#socket.write(pieces[at]!);
    this.#socket.write(pieces[last]!, this.#written);
    this.#socket.uncork();
  }

  readonly #written = (): void => {
    this.#writing = false;
    this.#flyingBytes = 0;
    for (const slab of this.#flyingSlabs) this.#pool.give(slab);
    this.#flyingSlabs = [];
    // Not while the open batch has bytes: its pieces may refer to the slab.
    if (this.pendingBytes === 0 && this.slab !== nothing) {
      this.#pool.give(this.slab);
      this.slab = nothing;
      this.at = 0;
      this.#start = 0;
    }
    this.#done();
  };

  #closePiece(): void {
    if (this.#start === this.at) return;
    this.#pieces.push(this.slab.subarray(this.#start, this.at));
    this.#piecesBytes += this.at - this.#start;
    this.#start = this.at;
  }

  #nextSlab(bytes: number): void {
    assert(bytes <= SLAB_BYTES, 'no slab has that much room');
    this.#closePiece();
    const short = this.slab === nothing && this.#wasShort && bytes <= SHORT_SLAB_BYTES;
    if (this.slab !== nothing) this.#fullSlabs.push(this.slab);
    this.slab = short ? this.#pool.takeShort() : this.#pool.take();
    this.at = 0;
    this.#start = 0;
  }
}
