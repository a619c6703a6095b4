import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

/** A usual request fits, or comes in two pieces. */
const PIECE_BYTES = 2 * 1024;

/**
 * A socket whose bytes come in short pieces, for node's parser of HTTP/1.1: it works off all requests of a piece at once,
 * also those behind the one that ends the connection. The kernel gives 64 KiB at a time, two thousand short requests.
 * Whoever pauses or destroys it gets nothing more than the piece that is being worked on.
 */
export class PacedSocket extends Duplex {
  readonly #socket: Socket;
  #chunk: Buffer | undefined;
  #at = 0;
  #ended = false;

  /** `socket` is paused, and belongs to this from now on. */
  constructor(socket: Socket) {
    super({ readableHighWaterMark: PIECE_BYTES });
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => {
      socket.pause();
      this.#chunk = chunk;
      this.#at = 0;
      this.#next();
    });
    socket.on('end', () => {
      this.#ended = true;
      if (this.#chunk === undefined) this.push(null);
    });
    socket.on('timeout', () => this.emit('timeout'));
    socket.on('close', () => this.destroy());
  }

  /** As a socket's: node's server calls it for connections that are idle. */
  setTimeout(ms: number): this {
    this.#socket.setTimeout(ms);
    return this;
  }

  /** As a socket's, which node's server calls behind the last answer: what the client still sends is not waited for. */
  destroySoon(): void {
    if (this.writable) this.end();
    if (this.writableFinished) this.destroy();
    else this.once('finish', () => this.destroy());
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
    this.#socket.destroy();
    done(error);
  }

  #next(): void {
    const chunk = this.#chunk!;
    const end = Math.min(chunk.length, this.#at + PIECE_BYTES);
    const piece = chunk.subarray(this.#at, end);
    this.#at = end;
    if (end === chunk.length) this.#chunk = undefined;
    this.push(piece);
    if (this.#chunk === undefined && this.#ended) this.push(null);
  }
}
