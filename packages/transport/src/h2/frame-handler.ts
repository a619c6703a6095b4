import { assert } from '@engram/core';
import {
  ErrorCode,
  Flag,
  type FrameReader,
  FrameType,
  Http2Error,
  LARGEST_WINDOW_BYTES,
  pingFrame,
  readSettings,
  readUint32,
  SettingId,
  settingsAckFrame,
} from '@engram/http2';
import { checkFrame, paddingBytes } from './frame-rules.ts';
import { HeaderBlocks } from './header-blocks.ts';
import { SEND_FRAME_MAX_BYTES } from './limits.ts';
import type { ReceiveFlow } from './receive-flow.ts';
import type { RequestHead } from './request-head.ts';
import type { Sender } from './sender.ts';
import type { Stream } from './stream.ts';
import type { StreamTable } from './stream-table.ts';

/** The state that the frames of a client act on. */
export interface FrameHost {
  readonly streams: StreamTable;
  readonly sender: Sender;
  readonly receive: ReceiveFlow;
  /** Charges the client for frames that carry no work. Throws when the client has spent its tokens. */
  spend(tokens: number, what: string): void;
  /** A new request. `streamId` is higher than all earlier ones. */
  open(streamId: number, head: RequestHead, endStream: boolean): void;
  /** The client has ended its side. */
  remoteEnd(stream: Stream): void;
  reset(stream: Stream, errorCode: number): void;
  /** Sends RST_STREAM for a stream that is not open. */
  resetClosed(streamId: number, errorCode: number): void;
  /** The client has reset the stream. */
  cancelled(stream: Stream): void;
  onPing(): void;
  onPingAck(data: Buffer): void;
}

interface OpenBlock {
  readonly streamId: number;
  readonly endStream: boolean;
  readonly dependsOnItself: boolean;
}

/** The part of a DATA frame that its stream has not taken yet. */
interface RestOfData {
  readonly stream: Stream;
  readonly bytes: Buffer;
  readonly at: number;
  readonly end: number;
  readonly endStream: boolean;
}

/** Bytes of the priority fields in HEADERS and PRIORITY. They are checked and otherwise ignored (RFC 9113 §5.3.2). */
const priorityBytes = 5;

/** Processes the frames of a client. Throws Http2Error for an error of the connection; an error of one stream resets it. */
export class FrameHandler {
  readonly #host: FrameHost;
  readonly #headers = new HeaderBlocks();
  /** A header block without its end. No other frame may come before the end. */
  #block: OpenBlock | undefined;
  #settingsSeen = false;
  #rest: RestOfData | undefined;

  constructor(host: FrameHost) {
    this.#host = host;
  }

  /** The client's first frame, SETTINGS, has arrived. */
  get settingsSeen(): boolean {
    return this.#settingsSeen;
  }

  get insideHeaderBlock(): boolean {
    return this.#block !== undefined;
  }

  handle({ type, flags, streamId, bytes, start, end }: FrameReader): void {
    if (this.#block !== undefined && (type !== FrameType.CONTINUATION || streamId !== this.#block.streamId)) {
      throw new Http2Error(ErrorCode.PROTOCOL_ERROR, 'another frame inside a header block');
    }
    if (!this.#settingsSeen && (type !== FrameType.SETTINGS || (flags & Flag.ACK) !== 0)) {
      throw new Http2Error(ErrorCode.PROTOCOL_ERROR, 'the first frame is not SETTINGS');
    }
    checkFrame(type, flags, streamId, end - start);
    switch (type) {
      case FrameType.DATA:
        this.#data(flags, streamId, bytes, start, end);
        return;
      case FrameType.HEADERS:
        this.#headersFrame(flags, streamId, bytes, start, end);
        return;
      case FrameType.CONTINUATION:
        this.#continuation(flags, bytes, start, end);
        return;
      case FrameType.RST_STREAM:
        this.#rstStream(streamId);
        return;
      case FrameType.SETTINGS:
        this.#settings(flags, bytes, start, end);
        return;
      case FrameType.PING:
        this.#ping(flags, bytes, start, end);
        return;
      case FrameType.WINDOW_UPDATE:
        this.#windowUpdate(streamId, readUint32(bytes, start) & 0x7fff_ffff);
        return;
      case FrameType.PRIORITY:
        this.#priority(streamId, bytes, start, end);
        return;
      default: // GOAWAY needs no action of a server; unknown types must be ignored
        this.#host.spend(1, 'unknown frames');
    }
  }

  #data(flags: number, streamId: number, bytes: Buffer, payloadStart: number, payloadEnd: number): void {
    const { receive } = this.#host;
    const padding = paddingBytes(flags, bytes, payloadStart, payloadEnd);
    if (!receive.received(payloadEnd - payloadStart)) {
      throw new Http2Error(ErrorCode.FLOW_CONTROL_ERROR, "more DATA than the connection's window");
    }
    const stream = this.#host.streams.find(streamId);
    if (stream === undefined || stream.remoteClosed) {
      this.#strayData(streamId);
      return;
    }
    if (!receive.streamReceived(stream, payloadEnd - payloadStart)) {
      this.#host.reset(stream, ErrorCode.FLOW_CONTROL_ERROR);
      return;
    }
    if (padding > 0) {
      this.#host.spend(1, 'padded DATA');
      receive.creditPadding(stream, padding);
    }
    const start = padding > 0 ? payloadStart + 1 : payloadStart;
    const end = padding > 0 ? payloadEnd - padding + 1 : payloadEnd;
    const endStream = (flags & Flag.END_STREAM) !== 0;
    stream.receivedBytes += end - start;
    if (end > start) {
      this.#take({ stream, bytes, at: start, end, endStream });
      return;
    }
    if (!endStream) this.#host.spend(1, 'empty DATA');
    this.#taken(stream, endStream);
  }

  /**
   * A DATA frame is not finished, because its messages took more than a slice. The rest of it must be handled before
   * any other frame.
   */
  get unfinished(): boolean {
    return this.#rest !== undefined;
  }

  resume(): void {
    const rest = this.#rest;
    assert(rest !== undefined, 'no frame is unfinished');
    this.#rest = undefined;
    if (!rest.stream.remoteClosed) this.#take(rest);
  }

  #take({ stream, bytes, at, end, endStream }: RestOfData): void {
    const reached = stream.data(bytes, at, end);
    if (reached < end) this.#rest = { stream, bytes, at: reached, end, endStream };
    else this.#taken(stream, endStream);
  }

  #taken(stream: Stream, endStream: boolean): void {
    if (stream.remoteClosed) return;
    if (endStream) {
      this.#host.remoteEnd(stream);
      return;
    }
    stream.stays();
    this.#host.receive.creditStream(stream);
  }

  /** DATA for a stream that accepts none. DATA that was in flight when the server ended the stream is dropped. */
  #strayData(streamId: number): void {
    if (streamId > this.#host.streams.lastId || streamId % 2 === 0) {
      throw new Http2Error(ErrorCode.PROTOCOL_ERROR, 'DATA on an idle stream');
    }
    const open = this.#host.streams.find(streamId);
    if (open !== undefined) this.#host.reset(open, ErrorCode.STREAM_CLOSED);
    else if (this.#host.streams.closedBy(streamId) === 'server') this.#host.spend(1, 'DATA for ended streams');
    else this.#host.resetClosed(streamId, ErrorCode.STREAM_CLOSED);
  }

  #headersFrame(flags: number, streamId: number, bytes: Buffer, payloadStart: number, payloadEnd: number): void {
    const padding = paddingBytes(flags, bytes, payloadStart, payloadEnd);
    let start = padding > 0 ? payloadStart + 1 : payloadStart;
    const end = padding > 0 ? payloadEnd - padding + 1 : payloadEnd;
    let dependsOnItself = false;
    if ((flags & Flag.PRIORITY) !== 0) {
      if (end - start < priorityBytes) throw new Http2Error(ErrorCode.FRAME_SIZE_ERROR, 'HEADERS without its priority');
      dependsOnItself = (readUint32(bytes, start) & 0x7fff_ffff) === streamId;
      start += priorityBytes;
    }
    const block = { streamId, endStream: (flags & Flag.END_STREAM) !== 0, dependsOnItself };
    if ((flags & Flag.END_HEADERS) !== 0) {
      this.#headerBlock(block, bytes, start, end);
      return;
    }
    this.#block = block;
    this.#headers.gather(bytes, start, end);
  }

  #continuation(flags: number, bytes: Buffer, start: number, end: number): void {
    const block = this.#block;
    if (block === undefined) throw new Http2Error(ErrorCode.PROTOCOL_ERROR, 'CONTINUATION of nothing');
    this.#host.spend(1, 'CONTINUATION frames');
    this.#headers.gather(bytes, start, end);
    if ((flags & Flag.END_HEADERS) === 0) return;
    this.#block = undefined;
    const whole = this.#headers.gathered();
    this.#headerBlock(block, whole, 0, whole.length);
  }

  #headerBlock({ streamId, endStream, dependsOnItself }: OpenBlock, bytes: Buffer, start: number, end: number): void {
    const { streams } = this.#host;
    const stream = streams.find(streamId);
    if (stream !== undefined) {
      this.#trailers(stream, endStream, bytes, start, end);
      return;
    }
    if (streamId % 2 === 0) throw new Http2Error(ErrorCode.PROTOCOL_ERROR, 'HEADERS on a stream of the server');
    if (streamId <= streams.lastId) {
      this.#strayHeaders(streamId, bytes, start, end);
      return;
    }
    const head = this.#headers.request(bytes, start, end);
    streams.lastId = streamId;
    if (dependsOnItself) this.#host.resetClosed(streamId, ErrorCode.PROTOCOL_ERROR);
    else this.#host.open(streamId, head, endStream);
  }

  #trailers(stream: Stream, endStream: boolean, bytes: Buffer, start: number, end: number): void {
    const fault = this.#headers.trailers(bytes, start, end);
    if (stream.remoteClosed) this.#host.reset(stream, ErrorCode.STREAM_CLOSED);
    else if (!endStream || fault !== undefined) this.#host.reset(stream, ErrorCode.PROTOCOL_ERROR);
    else this.#host.remoteEnd(stream);
  }

  #strayHeaders(streamId: number, bytes: Buffer, start: number, end: number): void {
    const by = this.#host.streams.closedBy(streamId);
    if (by === undefined) throw new Http2Error(ErrorCode.PROTOCOL_ERROR, 'HEADERS on a stream below the last');
    if (by === 'client') throw new Http2Error(ErrorCode.STREAM_CLOSED, 'HEADERS on a closed stream');
    this.#host.spend(1, 'trailers for ended streams');
    this.#headers.trailers(bytes, start, end); // they may change the dynamic table
  }

  #rstStream(streamId: number): void {
    this.#checkNotIdle(streamId, 'RST_STREAM');
    const stream = this.#host.streams.find(streamId);
    this.#host.spend(1, 'RST_STREAM');
    if (stream !== undefined) this.#host.cancelled(stream);
  }

  #settings(flags: number, bytes: Buffer, start: number, end: number): void {
    this.#settingsSeen = true;
    this.#host.spend(1 + (end - start) / 6, 'SETTINGS');
    if ((flags & Flag.ACK) !== 0) return;
    readSettings(bytes, start, end, (id, value) => this.#setting(id, value));
    this.#host.sender.control(settingsAckFrame);
  }

  #setting(id: number, value: number): void {
    const { sender } = this.#host;
    if (id === SettingId.HEADER_TABLE_SIZE) sender.headers.setTableMax(value);
    else if (id === SettingId.MAX_FRAME_SIZE) sender.frameMax = Math.min(value, SEND_FRAME_MAX_BYTES);
    else if (id === SettingId.INITIAL_WINDOW_SIZE) this.#initialWindow(value);
  }

  #initialWindow(value: number): void {
    const { sender, streams } = this.#host;
    this.#host.spend(streams.size / 16, 'SETTINGS'); // the work grows with the number of streams
    const change = value - sender.initialWindow;
    sender.initialWindow = value;
    for (const stream of streams) {
      stream.sendWindow += change;
      if (stream.sendWindow > LARGEST_WINDOW_BYTES) {
        throw new Http2Error(ErrorCode.FLOW_CONTROL_ERROR, "a stream's window beyond 31 bits");
      }
      if (change > 0) sender.resume(stream);
    }
  }

  #ping(flags: number, bytes: Buffer, start: number, end: number): void {
    this.#host.spend(1, 'PING');
    const data = bytes.subarray(start, end);
    if ((flags & Flag.ACK) !== 0) {
      this.#host.onPingAck(data);
      return;
    }
    this.#host.sender.control(pingFrame(data, true));
    this.#host.onPing();
  }

  #windowUpdate(streamId: number, increment: number): void {
    const { sender, streams } = this.#host;
    this.#host.spend(1, 'WINDOW_UPDATE');
    if (streamId === 0) {
      if (increment === 0) throw new Http2Error(ErrorCode.PROTOCOL_ERROR, 'WINDOW_UPDATE by 0');
      sender.window += increment;
      if (sender.window > LARGEST_WINDOW_BYTES) {
        throw new Http2Error(ErrorCode.FLOW_CONTROL_ERROR, "the connection's window beyond 31 bits");
      }
      return;
    }
    this.#checkNotIdle(streamId, 'WINDOW_UPDATE');
    const stream = streams.find(streamId);
    if (stream === undefined) return;
    if (increment === 0) {
      this.#host.reset(stream, ErrorCode.PROTOCOL_ERROR);
      return;
    }
    stream.sendWindow += increment;
    if (stream.sendWindow > LARGEST_WINDOW_BYTES) this.#host.reset(stream, ErrorCode.FLOW_CONTROL_ERROR);
    else sender.resume(stream);
  }

  #priority(streamId: number, bytes: Buffer, start: number, end: number): void {
    this.#host.spend(1, 'PRIORITY');
    const onItself = end - start === priorityBytes && (readUint32(bytes, start) & 0x7fff_ffff) === streamId;
    if (end - start === priorityBytes && !onItself) return;
    const errorCode = onItself ? ErrorCode.PROTOCOL_ERROR : ErrorCode.FRAME_SIZE_ERROR;
    const stream = this.#host.streams.find(streamId);
    if (stream === undefined) this.#host.resetClosed(streamId, errorCode);
    else this.#host.reset(stream, errorCode);
  }

  #checkNotIdle(streamId: number, what: string): void {
    if (streamId > this.#host.streams.lastId || streamId % 2 === 0) {
      throw new Http2Error(ErrorCode.PROTOCOL_ERROR, `${what} on an idle stream`);
    }
  }
}
