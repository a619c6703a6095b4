import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { Clock, Timer } from '@engram/core';
import type { Ends } from '../ends.ts';
import { STALL_MAX_MS } from '../h2/limits.ts';
import { ownBytes } from '../own-bytes.ts';

/** A usual request fits into one or two pieces. Twenty short ones fit into one, some 50 us each. */
export const PIECE_BYTES = 512;

/**
 * A client that has said all may still listen, or be gone: both look the same until something is sent to it. It gets what is answered
 * within so long, then the connection ends.
 */
const SAID_ALL_MS = 1_000;

/**
 * A socket that delivers its bytes in short pieces to node's parser of HTTP/1.1. The parser processes all requests of a
 * piece at once, even those after the request that ends the connection. The kernel gives 64 KiB at a time, which may be
 * two thousand short requests. After `pause` or `destroy`, only the piece that is being processed is still parsed.
 */
export class PacedSocket extends Duplex {
  readonly #socket: Socket;
  readonly #clock: Pick<Clock, 'after'>;
  #chunk: Buffer | undefined;
  #at = 0;
  #ended = false;
  #endTimer: Timer | undefined;
  #stallTimer: Timer | undefined;

  /** `socket` must be paused. This object owns it from now on. */
  constructor(socket: Socket, clock: Pick<Clock, 'after'>, ends: Ends) {
    super({ readableHighWaterMark: PIECE_BYTES });
    this.#socket = socket;
    this.#clock = clock;
    // Otherwise node ends it as soon as its client has said all, with the answer still to come.
    socket.allowHalfOpen = true;
    socket.on('data', (chunk: Buffer) => {
      socket.pause();
      this.#chunk = chunk;
      this.#at = 0;
      this.#next();
    });
    socket.on('end', () => {
      ends.later(() => {
        if (this.destroyed) return;
        this.#ended = true;
        this.#beginPatience();
        if (this.#chunk === undefined) this.push(null);
      });
    });
    socket.on('timeout', () => this.emit('timeout'));
    socket.on('close', () => this.destroy());
  }

  /** Like a socket's method. Node's server calls it for idle connections. */
  setTimeout(ms: number): this {
    this.#socket.setTimeout(ms);
    return this;
  }

  /**
   * Like a socket's method, which node's server calls after the last answer. It does not wait for what the client still
   * sends.
   */
  destroySoon(): void {
    if (this.writable) this.end();
    if (this.writableFinished) this.destroy();
    else this.once('finish', () => this.destroy());
  }

  /**
   * Sends the last bytes, and ends the connection in a second, whatever the client still says. Answers that wait for this socket end
   * with it: node writes none of them any more.
   */
  endWith(last: string): void {
    this.end(last);
    this.#beginPatience();
  }

  #beginPatience(): void {
    this.#endTimer ??= this.#clock.after(SAID_ALL_MS, () => this.destroy());
  }

  /** The next piece is there already if this one was read ahead of the request that pauses. */
  override pause(): this {
    super.pause();
    this.#boundStall();
    return this;
  }

  override resume(): this {
    this.#stallTimer?.cancel();
    this.#stallTimer = undefined;
    return super.resume();
  }

  /** Nothing more is read while as much as this waits: not even that the client is gone. */
  #boundStall(): void {
    if (this.destroyed || !this.isPaused() || this.readableLength < this.readableHighWaterMark) return;
    this.#stallTimer ??= this.#clock.after(STALL_MAX_MS, () => this.destroy());
  }

  override _read(): void {
    if (this.#chunk !== undefined) this.#next();
    else if (!this.#ended) this.#socket.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#socket.write(chunk, done);
  }

  override _writev(chunks: { chunk: Buffer }[], done: (error?: Error | null) => void): void {
    this.#socket.write(Buffer.concat(chunks.map(({ chunk }) => chunk)), done);
  }

  override _final(done: () => void): void {
    this.#socket.end(done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#endTimer?.cancel();
    this.#stallTimer?.cancel();
    this.#socket.destroy();
    done(error);
  }

  #next(): void {
    const chunk = this.#chunk!;
    const end = Math.min(chunk.length, this.#at + PIECE_BYTES);
    // Fragments of a message of a WebSocket are kept as views.
    const piece = ownBytes(chunk.subarray(this.#at, end));
    this.#at = end;
    if (end === chunk.length) this.#chunk = undefined;
    this.push(piece);
    this.#boundStall();
    if (this.#chunk === undefined && this.#ended) this.push(null);
  }
}
