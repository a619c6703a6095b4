import {
  DEFAULT_HEADER_TABLE_BYTES,
  DEFAULT_MAX_FRAME_BYTES,
  ErrorCode,
  Flag,
  FrameReader,
  FrameType,
  HpackDecoder,
  Http2Error,
  readUint32,
} from '@engram/http2';
import type { Fields } from './client-stream.ts';
import { readFields, SplitBlock } from './header-list.ts';

/** What the frames of a server say. Each may throw Http2Error; one that names a stream comes back by `fault`. */
export interface FrameEvents {
  settings(payload: Uint8Array, start: number, end: number): void;
  ping(data: Uint8Array): void;
  windowUpdate(streamId: number, bytes: number): void;
  data(streamId: number, length: number, bytes: Buffer, start: number, end: number, endStream: boolean): void;
  /** `fields` are undefined if the list is malformed. */
  headers(streamId: number, fields: Fields | undefined, endStream: boolean): void;
  reset(streamId: number, code: number): void;
  goAway(lastStreamId: number): void;
  fault(error: Http2Error): void;
}

/** The receiving half of a connection: cuts bytes into frames, and checks what RFC 9113 §6 says of each type from a server. */
export class ServerFrames {
  readonly #events: FrameEvents;
  readonly #reader = new FrameReader(DEFAULT_MAX_FRAME_BYTES);
  readonly #decoder = new HpackDecoder(DEFAULT_HEADER_TABLE_BYTES);
  #block: SplitBlock | undefined;
  #hasSettings = false;

  constructor(events: FrameEvents) {
    this.#events = events;
  }

  /** Stops when `ended` says so after a frame; then nothing may be received any more. Throws Http2Error of the connection. */
  receive(chunk: Buffer, ended: () => boolean): void {
    this.#reader.push(chunk);
    while (this.#reader.next()) {
      try {
        this.#frame();
      } catch (error) {
        if (!(error instanceof Http2Error) || error.streamId === 0) throw error;
        this.#events.fault(error);
      }
      if (ended()) return;
    }
  }

  #frame(): void {
    const { type, flags, streamId, bytes, start, end } = this.#reader;
    const ack = (flags & Flag.ACK) !== 0;
    if (!this.#hasSettings && (type !== FrameType.SETTINGS || ack))
      throw broken('the server does not begin with SETTINGS');
    if (this.#block !== undefined && (type !== FrameType.CONTINUATION || streamId !== this.#block.streamId)) {
      throw broken('a frame inside a header block');
    }
    switch (type) {
      case FrameType.DATA: {
        needStream(streamId);
        const padding = paddingBytes(flags, bytes, start, end);
        const from = padding === 0 ? start : start + 1;
        const to = padding === 0 ? end : end - padding + 1;
        this.#events.data(streamId, end - start, bytes, from, to, (flags & Flag.END_STREAM) !== 0);
        return;
      }
      case FrameType.HEADERS:
        needStream(streamId);
        this.#headers(streamId, flags, bytes, start, end);
        return;
      case FrameType.CONTINUATION: {
        const block = this.#block;
        if (block === undefined) throw broken('CONTINUATION without HEADERS');
        block.add(bytes.subarray(start, end));
        if ((flags & Flag.END_HEADERS) === 0) return;
        this.#block = undefined;
        const whole = block.whole();
        this.#events.headers(streamId, readFields(this.#decoder, whole, 0, whole.length), block.endStream);
        return;
      }
      case FrameType.RST_STREAM:
        needStream(streamId);
        needLength(type, end - start, 4);
        this.#events.reset(streamId, readUint32(bytes, start));
        return;
      case FrameType.SETTINGS:
        needConnection(streamId);
        this.#hasSettings = true;
        if (ack) needLength(type, end - start, 0);
        else this.#events.settings(bytes, start, end);
        return;
      case FrameType.PING:
        needConnection(streamId);
        needLength(type, end - start, 8);
        if (!ack) this.#events.ping(bytes.subarray(start, end));
        return;
      case FrameType.GOAWAY:
        needConnection(streamId);
        if (end - start < 8) throw new Http2Error(ErrorCode.FRAME_SIZE_ERROR, 'a short GOAWAY');
        this.#events.goAway(readUint32(bytes, start) & 0x7fffffff);
        return;
      case FrameType.WINDOW_UPDATE:
        needLength(type, end - start, 4);
        this.#events.windowUpdate(streamId, readUint32(bytes, start) & 0x7fffffff);
        return;
      case FrameType.PUSH_PROMISE:
        throw broken('PUSH_PROMISE, which was not allowed');
      default: // PRIORITY, and types that later protocols define
    }
  }

  #headers(streamId: number, flags: number, bytes: Buffer, start: number, end: number): void {
    const padding = paddingBytes(flags, bytes, start, end);
    const priority = (flags & Flag.PRIORITY) === 0 ? 0 : 5;
    const from = start + (padding === 0 ? 0 : 1) + priority;
    const to = padding === 0 ? end : end - padding + 1;
    if (from > to) throw broken('more padding than frame');
    const endStream = (flags & Flag.END_STREAM) !== 0;
    if ((flags & Flag.END_HEADERS) !== 0) {
      this.#events.headers(streamId, readFields(this.#decoder, bytes, from, to), endStream);
      return;
    }
    this.#block = new SplitBlock(streamId, endStream);
    this.#block.add(bytes.subarray(from, to));
  }
}

const broken = (message: string): Http2Error => new Http2Error(ErrorCode.PROTOCOL_ERROR, message);

function needStream(streamId: number): void {
  if (streamId === 0) throw broken('a frame of a stream on stream 0');
}

function needConnection(streamId: number): void {
  if (streamId !== 0) throw broken('a frame of the connection on a stream');
}

function needLength(type: number, length: number, wanted: number): void {
  if (length !== wanted)
    throw new Http2Error(ErrorCode.FRAME_SIZE_ERROR, `a frame of type ${type} with ${length} bytes`);
}

/** Bytes of padding, including the length byte; 0 if the frame has none. */
function paddingBytes(flags: number, bytes: Uint8Array, start: number, end: number): number {
  if ((flags & Flag.PADDED) === 0) return 0;
  if (start === end) throw new Http2Error(ErrorCode.FRAME_SIZE_ERROR, 'a padded frame without a pad length');
  const padding = 1 + bytes[start]!;
  if (padding > end - start) throw broken('more padding than frame');
  return padding;
}
