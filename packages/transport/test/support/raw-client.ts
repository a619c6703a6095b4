import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import {
  CLIENT_PREFACE,
  Flag,
  HpackEncoder,
  headersFrames,
  readUint32,
  settingsAckFrame,
  settingsFrame,
} from '@engram/http2';
import { codeName, frame, grpcMessage, type RawFrame as ReceivedFrame, RawFrameReader } from '@engram/http2/testing';

export { frame, grpcMessage, uint32 } from '@engram/http2/testing';

/** The longest frame that every server takes. */
const FRAME_MAX_BYTES = 16_384;

export interface RawFrame extends Omit<ReceivedFrame, 'fields'> {
  /** The fields of HEADERS as `name: value`. */
  readonly fields: readonly string[];
}

/** The header list of a gRPC request, without the fields that `changes` sets to undefined. */
export function grpcHeaders(
  path: string,
  changes: Record<string, string | undefined> = {},
): Record<string, string | undefined> {
  return {
    ':method': 'POST',
    ':scheme': 'http',
    ':path': path,
    ':authority': 'localhost',
    'content-type': 'application/grpc',
    te: 'trailers',
    ...changes,
  };
}

/** A client that sends exactly the frames that a test passes to it. */
export class RawClient implements Disposable {
  readonly socket: Socket;
  readonly encoder = new HpackEncoder(4096);
  readonly received: RawFrame[] = [];
  closed = false;
  readonly #reader = new RawFrameReader();
  #wake: () => void = () => {};

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (chunk: Buffer) => {
      for (const received of this.#reader.receive(chunk))
        this.received.push({ ...received, fields: received.fields.map(([name, value]) => `${name}: ${value}`) });
      this.#wake();
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      this.closed = true;
      this.#wake();
    });
  }

  /** Connects, sends preface and settings, and waits until the server has acknowledged the settings. */
  static async open(port: number, settings: readonly (readonly [number, number])[] = []): Promise<RawClient> {
    const client = await RawClient.silent(port);
    client.write(Buffer.from(CLIENT_PREFACE), settingsFrame(settings), settingsAckFrame);
    await client.frame((next) => next.type === 'SETTINGS' && next.ack);
    return client;
  }

  /** Connects and sends nothing. */
  static async silent(port: number): Promise<RawClient> {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    return new RawClient(socket);
  }

  write(...bytes: readonly Uint8Array[]): void {
    if (!this.socket.destroyed) this.socket.write(Buffer.concat(bytes));
  }

  headers(streamId: number, headers: Record<string, string | undefined>, endStream = false): Buffer {
    const fields = Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [{ name, value, indexing: 'once' as const }],
    );
    return headersFrames(streamId, this.encoder.encode(fields), endStream, FRAME_MAX_BYTES);
  }

  /** HEADERS with a block that was encoded before. */
  headersOf(streamId: number, block: Uint8Array, endStream: boolean): Buffer {
    return headersFrames(streamId, block, endStream, FRAME_MAX_BYTES);
  }

  data(streamId: number, bytes: Uint8Array, endStream = false): Buffer {
    return frame('DATA', endStream ? Flag.END_STREAM : 0, streamId, bytes);
  }

  /** A whole unary request. */
  request(
    streamId: number,
    path: string,
    message: string | Uint8Array,
    changes: Record<string, string | undefined> = {},
  ): Buffer {
    const bytes = grpcMessage(message);
    const frames = [this.headers(streamId, grpcHeaders(path, changes))];
    for (let from = 0; from < bytes.length; from += FRAME_MAX_BYTES) {
      const end = from + FRAME_MAX_BYTES;
      frames.push(this.data(streamId, bytes.subarray(from, end), end >= bytes.length));
    }
    return Buffer.concat(frames);
  }

  /** The first received frame that matches, or the next that arrives. Rejects when the connection ends without one. */
  async frame(matches: (frame: RawFrame) => boolean): Promise<RawFrame> {
    for (;;) {
      const found = this.received.find(matches);
      if (found !== undefined) return found;
      if (this.closed) throw new Error('the connection is closed');
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  async untilClosed(): Promise<void> {
    if (!this.closed) await once(this.socket, 'close');
  }

  /** `grpc-status` and `grpc-message` of a stream, or the code of its reset. */
  async outcome(streamId: number): Promise<string> {
    const last = await this.frame(
      (next) => next.streamId === streamId && (next.endStream || next.type === 'RST_STREAM'),
    );
    if (last.type === 'RST_STREAM') return `RST_STREAM ${codeName(readUint32(last.payload, 0))}`;
    // Drops the empty message of a successful call.
    const said = last.fields.filter((field) => !field.startsWith('content-type') && field !== 'grpc-message: ');
    return said.join(', ');
  }

  /** The code and the reason in the GOAWAY with which the server ended the connection. */
  async goAway(): Promise<string> {
    const { payload } = await this.frame(({ type }) => type === 'GOAWAY');
    return `${codeName(readUint32(payload, 4))} ${payload.toString('latin1', 8)}`;
  }

  /** All DATA of a stream received so far. */
  body(streamId: number): Buffer {
    return Buffer.concat(
      this.received.filter((next) => next.type === 'DATA' && next.streamId === streamId).map(({ payload }) => payload),
    );
  }

  [Symbol.dispose](): void {
    this.socket.destroy();
  }
}
