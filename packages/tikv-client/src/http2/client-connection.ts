import type { Socket } from 'node:net';
import { assert } from '@engram/core';
import {
  CLIENT_PREFACE,
  DEFAULT_HEADER_TABLE_BYTES,
  DEFAULT_MAX_FRAME_BYTES,
  DEFAULT_WINDOW_BYTES,
  ErrorCode,
  type FieldToEncode,
  goAwayFrame,
  headersFrames,
  HpackEncoder,
  Http2Error,
  LARGEST_STREAM_ID,
  pingFrame,
  readSettings,
  rstStreamFrame,
  SettingId,
  settingsAckFrame,
  settingsFrame,
  windowUpdateFrame,
} from '@engram/http2';
import {
  ClientStream,
  type ClientStreamEvents,
  type Fields,
  type StreamEnd,
  type StreamHost,
} from './client-stream.ts';
import { type ClientTls, dial, isTlsFailure } from './dial.ts';
import { FrameSender } from './frame-sender.ts';
import { BLOCK_BYTES_MAX } from './header-list.ts';
import { type FrameEvents, ServerFrames } from './server-frames.ts';

/**
 * What a server may send ahead of this process: on a stream, and on all streams. All answers of a store come on one stream. With
 * HTTP/2's 64 KiB the store would wait for this process's event loop after each 64 KiB.
 */
const RECEIVE_WINDOW_BYTES = 16 << 20;
/** The window is opened again when this much of it is used. */
const UNACKNOWLEDGED_BYTES_MAX = RECEIVE_WINDOW_BYTES / 2;
/** Answers to PING and SETTINGS that the kernel has not taken. A server that sends on and reads nothing is left. */
const UNREAD_ANSWERS_BYTES_MAX = 1 << 20;
/** Bytes that the server's windows keep back, of all streams. A server that keeps back more is left. That of a store refuses sooner. */
const WAITING_BYTES_MAX = 128 << 20;
/** From the first attempt to the server's settings. */
const CONNECT_MS = 20_000;

/**
 * A server with streams, open or waiting for their turn, that has sent nothing for the first time is sent a PING. If it then sends
 * nothing for the second, the connection is lost. Those of client-go.
 */
const KEEPALIVE_MS = 10_000;
const KEEPALIVE_TIMEOUT_MS = 3_000;

export interface ConnectionOptions {
  /** host:port */
  readonly address: string;
  readonly tls: ClientTls | undefined;
  /** The connection takes no further streams. Called at most once, before any stream learns why. */
  readonly unusable: () => void;
  /** Of the first stream; 1 if absent. */
  readonly firstId?: number;
}

/**
 * One connection to one server, as a client of HTTP/2 (RFC 9113). It is made at once; streams wait until the server has sent its
 * settings, so before that nothing of them has left. It keeps the process alive only while it has streams.
 */
export class ClientConnection implements FrameEvents, StreamHost {
  readonly #options: ConnectionOptions;
  readonly #socket: Socket;
  readonly #sender: FrameSender;
  readonly #frames: ServerFrames;
  readonly #encoder = new HpackEncoder(DEFAULT_HEADER_TABLE_BYTES);
  readonly #streams = new Map<number, ClientStream>();
  /** Streams that wait for the server's settings, or for one of its streams to end. */
  readonly #unopened = new Set<ClientStream>();
  #nextId: number;
  #streamsMax = Number.POSITIVE_INFINITY;
  #established = false;
  /** No further streams: GOAWAY was received, or those that wait need the last ids. */
  #leaving = false;
  #ended = false;
  #unacknowledged = 0;
  #heardMs = performance.now();
  #timer: NodeJS.Timeout;

  /** Throws if the address is none. */
  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#nextId = options.firstId ?? 1;
    this.#frames = new ServerFrames(this);
    this.#socket = dial(options.address, options.tls, {
      established: () => this.#begin(),
      received: (chunk) => this.#receive(chunk),
    });
    this.#sender = new FrameSender(this.#socket);
    this.#socket.unref();
    this.#socket.on('error', (error) => this.#lose(error));
    for (const event of ['end', 'close']) {
      this.#socket.on(event, () => this.#lose(new Error('the server closed the connection')));
    }
    this.#socket.on('drain', () => this.#sender.pump());
    this.#timer = this.#after(CONNECT_MS, () => this.#lose(new Error('the server sent no settings in time')));
  }

  /** Whether further streams may be opened. */
  get usable(): boolean {
    return !this.#ended && !this.#leaving;
  }

  /** The connection must be usable. */
  open(fields: readonly FieldToEncode[], events: ClientStreamEvents): ClientStream {
    assert(this.usable, 'a stream on a connection that has ended');
    const stream = new ClientStream(this, fields, events);
    if (!this.#hasStreams) this.#socket.ref();
    this.#unopened.add(stream);
    this.#openWaiting();
    const idsLeft = (LARGEST_STREAM_ID + 2 - this.#nextId) / 2;
    if (this.#unopened.size >= idsLeft) this.#leave();
    return stream;
  }

  send(stream: ClientStream, bytes: Buffer, last: boolean): void {
    this.#sender.send(stream, bytes, last);
    if (this.#sender.waitingBytes > WAITING_BYTES_MAX) this.#lose(new Error('the server takes no bytes'));
  }

  cancel(stream: ClientStream, code: number): void {
    if (stream.id !== 0) this.#socket.write(rstStreamFrame(stream.id, code));
    this.#remove(stream);
  }

  /** Ends the connection. Streams that are left learn of it as a loss. */
  close(): void {
    this.#end(ErrorCode.NO_ERROR, new Error('the connection was closed'));
  }

  // The frames of the server.

  settings(payload: Uint8Array, start: number, end: number): void {
    readSettings(payload, start, end, (id, value) => {
      if (id === SettingId.HEADER_TABLE_SIZE) this.#encoder.setPeerMaxBytes(value);
      else if (id === SettingId.MAX_FRAME_SIZE) this.#sender.setMaxFrameBytes(value);
      else if (id === SettingId.INITIAL_WINDOW_SIZE) this.#sender.setStreamWindow(value, this.#streams.values());
      else if (id === SettingId.MAX_CONCURRENT_STREAMS) this.#streamsMax = value;
    });
    this.#answer(settingsAckFrame);
    if (this.#ended) return;
    if (!this.#established) {
      this.#established = true;
      clearTimeout(this.#timer);
      this.#timer = this.#after(KEEPALIVE_MS, () => this.#keepAlive());
    }
    this.#openWaiting();
  }

  ping(data: Uint8Array): void {
    this.#answer(pingFrame(data, true));
  }

  windowUpdate(streamId: number, bytes: number): void {
    const stream = streamId === 0 ? undefined : this.#known(streamId);
    if (streamId !== 0 && stream === undefined) return;
    if (bytes === 0) throw new Http2Error(ErrorCode.PROTOCOL_ERROR, 'a window update of 0', streamId);
    this.#sender.widen(stream, bytes);
  }

  /** `length` counts the padding, as windows do. */
  data(streamId: number, length: number, bytes: Buffer, start: number, end: number, endStream: boolean): void {
    this.#unacknowledged = this.#acknowledge(0, this.#unacknowledged + length);
    const stream = this.#known(streamId);
    if (stream === undefined) return;
    if (!stream.hasHead) throw new Http2Error(ErrorCode.PROTOCOL_ERROR, 'DATA before HEADERS', streamId);
    if (endStream) stream.unacknowledged += length;
    else stream.unacknowledged = this.#acknowledge(streamId, stream.unacknowledged + length);
    if (end > start && !stream.closed) stream.events.data(bytes, start, end);
    if (endStream) this.#complete(stream, new Map());
  }

  headers(streamId: number, fields: Fields | undefined, endStream: boolean): void {
    const stream = this.#known(streamId);
    if (stream === undefined) return;
    if (fields === undefined) throw new Http2Error(ErrorCode.PROTOCOL_ERROR, 'a malformed header list', streamId);
    if (!stream.hasHead && !endStream && fields.get(':status')?.startsWith('1')) return;
    if (stream.hasHead && !endStream) throw new Http2Error(ErrorCode.PROTOCOL_ERROR, 'HEADERS in a body', streamId);
    if (!stream.hasHead) {
      stream.hasHead = true;
      stream.events.head(fields);
    }
    if (endStream) this.#complete(stream, fields);
  }

  reset(streamId: number, code: number): void {
    const stream = this.#known(streamId);
    if (stream !== undefined) this.#finish(stream, { kind: 'reset', code });
  }

  goAway(lastStreamId: number): void {
    this.#leave();
    this.#streamsMax = 0;
    for (const stream of this.#all()) {
      if (stream.id === 0 || stream.id > lastStreamId) this.#finish(stream, { kind: 'refused' });
    }
    this.#closeIfLeft();
  }

  #receive(chunk: Buffer): void {
    if (this.#ended) return;
    this.#heardMs = performance.now();
    // What the frames of one chunk ask for leaves in one write.
    this.#socket.cork();
    try {
      this.#frames.receive(chunk, () => this.#ended);
    } catch (error) {
      if (!(error instanceof Http2Error)) throw error;
      this.#socket.uncork();
      this.#end(error.code, error);
      return;
    }
    this.#socket.uncork();
  }

  /** A fault of one stream ends it, and the connection goes on. */
  fault(error: Http2Error): void {
    const stream = this.#streams.get(error.streamId);
    if (stream === undefined) return;
    this.#answer(rstStreamFrame(stream.id, error.code));
    this.#finish(stream, { kind: 'reset', code: error.code });
  }

  /**
   * Returns the bytes that are still to be acknowledged. What has come is used at once, so a server that sends more than the
   * window allows takes no memory.
   */
  #acknowledge(streamId: number, bytes: number): number {
    if (bytes < UNACKNOWLEDGED_BYTES_MAX) return bytes;
    this.#answer(windowUpdateFrame(streamId, bytes));
    return 0;
  }

  /** The stream, or undefined if it has ended: the server may not know yet. */
  #known(streamId: number): ClientStream | undefined {
    const stream = this.#streams.get(streamId);
    if (stream === undefined && (streamId % 2 === 0 || streamId >= this.#nextId)) {
      throw new Http2Error(ErrorCode.PROTOCOL_ERROR, `stream ${streamId} was never opened`);
    }
    return stream;
  }

  #begin(): void {
    if (this.#ended) return;
    const settings = settingsFrame([
      [SettingId.ENABLE_PUSH, 0],
      [SettingId.INITIAL_WINDOW_SIZE, RECEIVE_WINDOW_BYTES],
      [SettingId.MAX_HEADER_LIST_SIZE, BLOCK_BYTES_MAX],
    ]);
    const window = windowUpdateFrame(0, RECEIVE_WINDOW_BYTES - DEFAULT_WINDOW_BYTES);
    this.#socket.write(Buffer.concat([Buffer.from(CLIENT_PREFACE), settings, window]));
  }

  #openWaiting(): void {
    if (!this.#established || this.#ended) return;
    for (const stream of this.#unopened) {
      if (this.#streams.size >= this.#streamsMax) return;
      this.#unopened.delete(stream);
      stream.id = this.#nextId;
      this.#nextId += 2;
      this.#streams.set(stream.id, stream);
      this.#socket.write(headersFrames(stream.id, this.#encoder.encode(stream.fields), false, DEFAULT_MAX_FRAME_BYTES));
      this.#sender.opened(stream);
    }
  }

  #complete(stream: ClientStream, trailers: Fields): void {
    if (stream.closed) return;
    // Also where the request has not ended: the server will not read the rest.
    if (!stream.last || stream.waitingBytes > 0) this.#answer(rstStreamFrame(stream.id, ErrorCode.NO_ERROR));
    this.#finish(stream, { kind: 'complete', trailers });
  }

  #finish(stream: ClientStream, end: StreamEnd): void {
    if (stream.closed) return;
    this.#remove(stream);
    stream.events.end(end);
  }

  #remove(stream: ClientStream): void {
    stream.closed = true;
    this.#sender.drop(stream);
    this.#unopened.delete(stream);
    this.#streams.delete(stream.id);
    if (!this.#hasStreams) this.#socket.unref();
    this.#openWaiting();
    this.#closeIfLeft();
  }

  get #hasStreams(): boolean {
    return this.#streams.size + this.#unopened.size > 0;
  }

  #all(): ClientStream[] {
    return [...this.#streams.values(), ...this.#unopened];
  }

  #leave(): void {
    if (this.#leaving || this.#ended) return;
    this.#leaving = true;
    this.#options.unusable();
  }

  #closeIfLeft(): void {
    if (this.#leaving && !this.#hasStreams) this.close();
  }

  /** Sends a frame that the server's own frames ask for. */
  #answer(frame: Uint8Array): void {
    this.#socket.write(frame);
    if (this.#socket.writableLength > UNREAD_ANSWERS_BYTES_MAX) this.#lose(new Error('the server reads nothing'));
  }

  #after(delayMs: number, fire: () => void): NodeJS.Timeout {
    return setTimeout(fire, delayMs).unref();
  }

  #keepAlive(): void {
    const nowMs = performance.now();
    const idleMs = this.#hasStreams ? nowMs - this.#heardMs : 0;
    if (idleMs < KEEPALIVE_MS) {
      this.#timer = this.#after(Math.ceil(KEEPALIVE_MS - idleMs), () => this.#keepAlive());
      return;
    }
    this.#socket.write(pingFrame(Buffer.alloc(8), false));
    this.#timer = this.#after(KEEPALIVE_TIMEOUT_MS, () => {
      if (this.#heardMs < nowMs) this.#lose(new Error('the server does not answer a ping'));
      else this.#keepAlive();
    });
  }

  #lose(cause: Error): void {
    this.#end(undefined, cause);
  }

  #end(code: number | undefined, cause: Error): void {
    if (this.#ended) return;
    this.#leave();
    this.#ended = true;
    clearTimeout(this.#timer);
    const socket = this.#socket;
    if (code !== undefined && this.#established && !socket.destroyed) socket.write(goAwayFrame(0, code, ''));
    // What the kernel does not take at once may never leave.
    if (code === undefined || socket.connecting || socket.writableLength > 0) socket.destroy();
    else socket.destroySoon();
    const tls = !this.#established && isTlsFailure(socket, cause);
    for (const stream of this.#all())
      this.#finish(stream, { kind: 'lost', established: this.#established, tls, cause });
  }
}
