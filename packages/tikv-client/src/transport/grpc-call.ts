import { GrpcCode } from '@engram/core';
import { ErrorCode, FRAME_HEADER_BYTES, type FieldToEncode } from '@engram/http2';
import type { ClientConnection } from '../http2/client-connection.ts';
import type { ClientStream, ClientStreamEvents, Fields, StreamEnd } from '../http2/client-stream.ts';
import { statusOf } from './grpc-status.ts';
import { MESSAGE_PREFIX_BYTES, MessageReader } from './message-reader.ts';
import { isTransportError, TransportError } from './transport.ts';

const HEAD_BYTES = FRAME_HEADER_BYTES + MESSAGE_PREFIX_BYTES;

export interface CallEvents {
  /** The receiver owns the bytes. */
  message(bytes: Uint8Array): void;
  /** Called once, as the last event, with the error of a status that is not OK. Not called after `cancel`. */
  end(error: TransportError | undefined): void;
}

/** One gRPC call on a connection (gRPC over HTTP/2). */
export class GrpcCall implements ClientStreamEvents {
  readonly #stream: ClientStream;
  readonly #events: CallEvents;
  readonly #reader: MessageReader;
  readonly #continues = (): boolean => !this.#stream.closed;
  #head: Fields | undefined;
  #isGrpc = false;

  constructor(connection: ClientConnection, fields: readonly FieldToEncode[], events: CallEvents) {
    this.#events = events;
    this.#reader = new MessageReader((bytes) => events.message(bytes));
    this.#stream = connection.open(fields, this);
  }

  get waitingBytes(): number {
    return this.#stream.waitingBytes;
  }

  /** `last`: no message follows. Ignored after the end. */
  send(message: Uint8Array, last: boolean): void {
    const bytes = Buffer.allocUnsafe(HEAD_BYTES + message.length);
    bytes[FRAME_HEADER_BYTES] = 0;
    bytes.writeUInt32BE(message.length, FRAME_HEADER_BYTES + 1);
    bytes.set(message, HEAD_BYTES);
    this.#stream.send(bytes, last);
  }

  cancel(): void {
    this.#stream.cancel(ErrorCode.CANCEL);
  }

  head(fields: Fields): void {
    this.#head = fields;
    this.#isGrpc = fields.get(':status') === '200';
    this.#reader.setEncoding(fields.get('grpc-encoding') ?? 'identity');
  }

  data(bytes: Buffer, start: number, end: number): void {
    if (!this.#isGrpc) return; // the page of a proxy: the status says enough
    try {
      this.#reader.read(bytes, start, end, this.#continues);
    } catch (error) {
      if (!isTransportError(error)) throw error;
      this.cancel();
      this.#events.end(error);
    }
  }

  end(end: StreamEnd): void {
    const error = statusOf(end, this.#head);
    const cut = error === undefined && this.#reader.isInside;
    this.#events.end(cut ? new TransportError(GrpcCode.INTERNAL, 'the server ended the call inside a message') : error);
  }
}
