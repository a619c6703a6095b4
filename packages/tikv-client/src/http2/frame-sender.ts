import type { Socket } from 'node:net';
import { assert } from '@engram/core';
import {
  DEFAULT_MAX_FRAME_BYTES,
  DEFAULT_WINDOW_BYTES,
  ErrorCode,
  Flag,
  FRAME_HEADER_BYTES,
  FrameType,
  Http2Error,
  LARGEST_WINDOW_BYTES,
  putFrameHeader,
} from '@engram/http2';
import type { ClientStream } from './client-stream.ts';

/** No frame is longer, even if the server takes longer ones: streams take turns. */
const FRAME_BYTES_MAX = 64 << 10;

/**
 * The sending half of a connection. A message that the windows and the socket take leaves at once, in one write. Others wait:
 * one frame of each stream in turn, as far as the windows allow and while the socket takes bytes.
 */
export class FrameSender {
  readonly #socket: Socket;
  /** Streams with waiting bytes and an open window. */
  readonly #ready = new Set<ClientStream>();
  #window = DEFAULT_WINDOW_BYTES;
  #streamWindow = DEFAULT_WINDOW_BYTES;
  #maxFrameBytes = DEFAULT_MAX_FRAME_BYTES;
  #waitingBytes = 0;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** Bytes of all streams that wait for a window or for the socket. */
  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  /** The head of the stream has been sent, so its bytes may follow. */
  opened(stream: ClientStream): void {
    stream.window = this.#streamWindow;
    this.#wake(stream);
    this.pump();
  }

  /** `bytes` begins with room for a frame's header. */
  send(stream: ClientStream, bytes: Buffer, last: boolean): void {
    assert(!stream.last, 'a message after the last one');
    stream.last = last;
    const length = bytes.length - FRAME_HEADER_BYTES;
    assert(length > 0, 'an empty message');
    if (
      stream.id !== 0 &&
      stream.waitingBytes === 0 &&
      length <= stream.window &&
      length <= this.#window &&
      length <= this.#maxFrameBytes &&
      !this.#socket.writableNeedDrain
    ) {
      stream.window -= length;
      this.#window -= length;
      putFrameHeader(bytes, 0, length, FrameType.DATA, last ? Flag.END_STREAM : 0, stream.id);
      this.#socket.write(bytes);
      return;
    }
    stream.pieces.push(bytes.subarray(FRAME_HEADER_BYTES));
    stream.waitingBytes += length;
    this.#waitingBytes += length;
    if (stream.id === 0) return;
    this.#wake(stream);
    this.pump();
  }

  /** Forgets what the stream has not sent. */
  drop(stream: ClientStream): void {
    this.#ready.delete(stream);
    this.#waitingBytes -= stream.waitingBytes;
    stream.waitingBytes = 0;
    stream.pieces.length = 0;
  }

  /** Sends what may be sent. To be called when the socket takes bytes again. */
  pump(): void {
    const socket = this.#socket;
    if (this.#ready.size === 0 || this.#window <= 0 || socket.writableNeedDrain) return;
    socket.cork();
    // A stream with more to send comes again: it is added behind the others, and the loop goes on to it.
    for (const stream of this.#ready) {
      if (this.#window <= 0 || socket.writableNeedDrain) break;
      this.#ready.delete(stream);
      this.#sendFrame(stream);
      this.#wake(stream);
    }
    socket.uncork();
  }

  /** The server's SETTINGS_MAX_FRAME_SIZE. */
  setMaxFrameBytes(bytes: number): void {
    this.#maxFrameBytes = Math.min(bytes, FRAME_BYTES_MAX);
  }

  /** The server's SETTINGS_INITIAL_WINDOW_SIZE, which also changes the windows of open streams (RFC 9113 §6.9.2). */
  setStreamWindow(bytes: number, streams: Iterable<ClientStream>): void {
    const change = bytes - this.#streamWindow;
    this.#streamWindow = bytes;
    for (const stream of streams) this.#widen(stream, change, 0);
    this.pump();
  }

  /** The server's WINDOW_UPDATE. `stream` is undefined for the connection itself. */
  widen(stream: ClientStream | undefined, bytes: number): void {
    if (stream === undefined) {
      this.#window += bytes;
      if (this.#window > LARGEST_WINDOW_BYTES) throw overflow(0);
    } else this.#widen(stream, bytes, stream.id);
    this.pump();
  }

  #widen(stream: ClientStream, bytes: number, faulty: number): void {
    stream.window += bytes;
    if (stream.window > LARGEST_WINDOW_BYTES) throw overflow(faulty);
    if (stream.window <= 0) this.#ready.delete(stream);
    else this.#wake(stream);
  }

  #wake(stream: ClientStream): void {
    if (stream.waitingBytes > 0 && stream.window > 0) this.#ready.add(stream);
  }

  #sendFrame(stream: ClientStream): void {
    const length = Math.min(stream.waitingBytes, stream.window, this.#window, this.#maxFrameBytes);
    stream.window -= length;
    this.#window -= length;
    stream.waitingBytes -= length;
    this.#waitingBytes -= length;
    const flags = stream.last && stream.waitingBytes === 0 ? Flag.END_STREAM : 0;
    const header = Buffer.allocUnsafe(FRAME_HEADER_BYTES);
    putFrameHeader(header, 0, length, FrameType.DATA, flags, stream.id);
    this.#socket.write(header);
    for (let left = length; left > 0; ) {
      const piece = stream.pieces[0]!;
      const end = Math.min(piece.length, stream.at + left);
      this.#socket.write(piece.subarray(stream.at, end));
      left -= end - stream.at;
      stream.at = end;
      if (end < piece.length) continue;
      stream.pieces.shift();
      stream.at = 0;
    }
  }
}

const overflow = (streamId: number): Http2Error =>
  new Http2Error(ErrorCode.FLOW_CONTROL_ERROR, 'a window above its bound', streamId);
