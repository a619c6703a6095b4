import { createServer, type Server, type Socket } from 'node:net';
import {
  CLIENT_PREFACE,
  Flag,
  headersFrames,
  HpackEncoder,
  readUint32,
  settingsAckFrame,
  settingsFrame,
} from '@engram/http2';
import { codeName, frame, grpcMessage, type RawFrame, RawFrameReader } from '@engram/http2/testing';

export { frame, grpcMessage, uint32 } from '@engram/http2/testing';

export interface ClientFrame extends Omit<RawFrame, 'fields'> {
  /** Of HEADERS. */
  readonly fields: Readonly<Record<string, string>>;
}

const head = { ':status': '200', 'content-type': 'application/grpc' };

/** A connection of a client at a server that sends exactly the frames that a test passes to it. */
export class RawConnection {
  readonly socket: Socket;
  readonly encoder = new HpackEncoder(4_096);
  readonly received: ClientFrame[] = [];
  closed = false;
  readonly #reader = new RawFrameReader();
  #preface = CLIENT_PREFACE.length;
  #wake: () => void = () => {};

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (chunk: Buffer) => {
      const skipped = Math.min(this.#preface, chunk.length);
      this.#preface -= skipped;
      for (const received of this.#reader.receive(chunk.subarray(skipped)))
        this.received.push({ ...received, fields: Object.fromEntries(received.fields) });
      this.#wake();
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      this.closed = true;
      this.#wake();
    });
  }

  write(...frames: readonly Uint8Array[]): void {
    if (!this.socket.destroyed) this.socket.write(Buffer.concat(frames));
  }

  /** Sends the settings without which no client may begin. */
  begin(settings: readonly (readonly [number, number])[] = []): void {
    this.write(settingsFrame(settings), settingsAckFrame);
  }

  block(fields: Readonly<Record<string, string>>): Buffer {
    return this.encoder.encode(
      Object.entries(fields).map(([name, value]) => ({ name, value, indexing: 'once' as const })),
    );
  }

  headers(streamId: number, fields: Readonly<Record<string, string>> = head, endStream = false): Buffer {
    return headersFrames(streamId, this.block(fields), endStream, 16_384);
  }

  data(streamId: number, bytes: Uint8Array, endStream = false): Buffer {
    return frame('DATA', endStream ? Flag.END_STREAM : 0, streamId, bytes);
  }

  trailers(streamId: number, status = '0', message = ''): Buffer {
    return this.headers(streamId, { 'grpc-status': status, 'grpc-message': message }, true);
  }

  /** A whole answer to a unary request. */
  answer(streamId: number, body: string | Uint8Array): Buffer {
    return Buffer.concat([this.headers(streamId), this.data(streamId, grpcMessage(body)), this.trailers(streamId)]);
  }

  /** The first received frame that matches, or the next that arrives. Rejects when the connection ends without one. */
  async frame(matches: (frame: ClientFrame) => boolean): Promise<ClientFrame> {
    for (;;) {
      const found = this.received.find(matches);
      if (found !== undefined) return found;
      if (this.closed) throw new Error('the connection is closed');
      await this.#next();
    }
  }

  /** Waits until the client has sent this much of the body of a request. */
  async body(streamId: number, bytes: number): Promise<Buffer> {
    for (;;) {
      const body = Buffer.concat(
        this.received
          .filter((each) => each.type === 'DATA' && each.streamId === streamId)
          .map(({ payload }) => payload),
      );
      if (body.length >= bytes) return body;
      if (this.closed) throw new Error('the connection is closed');
      await this.#next();
    }
  }

  /** The request of a stream: its head, once it is there. */
  request(streamId: number): Promise<ClientFrame> {
    return this.frame((each) => each.type === 'HEADERS' && each.streamId === streamId);
  }

  /** The code with which the client resets the stream. */
  async reset(streamId: number): Promise<string | undefined> {
    const { payload } = await this.frame((each) => each.type === 'RST_STREAM' && each.streamId === streamId);
    return codeName(readUint32(payload, 0));
  }

  /** The code with which the client ends the connection. */
  async goAway(): Promise<string | undefined> {
    const { payload } = await this.frame((each) => each.type === 'GOAWAY');
    return codeName(readUint32(payload, 4));
  }

  /** Resolves when the client has dealt with everything that was written before. */
  async settled(): Promise<void> {
    const asked = Buffer.from(String(this.received.length).padStart(8, '0'));
    this.write(frame('PING', 0, 0, asked));
    await this.frame((each) => each.type === 'PING' && each.ack && each.payload.equals(asked));
  }

  async untilClosed(): Promise<void> {
    while (!this.closed) await this.#next();
  }

  #next(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}

/** Takes connections on 127.0.0.1, in order. */
export class RawServer implements AsyncDisposable {
  readonly connections: RawConnection[] = [];
  readonly #server: Server;
  #wake: () => void = () => {};

  private constructor() {
    this.#server = createServer((socket) => {
      this.connections.push(new RawConnection(socket));
      this.#wake();
    });
  }

  static async start(): Promise<RawServer> {
    const server = new RawServer();
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  get address(): string {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    return `127.0.0.1:${address.port}`;
  }

  /** The connection of this number, from 0, once it is made. */
  async connection(at = 0): Promise<RawConnection> {
    for (;;) {
      const found = this.connections[at];
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { socket } of this.connections) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
