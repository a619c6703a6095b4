import { GrpcCode } from '@engram/core';

/** A gRPC status that is not OK, or the loss of the connection. A request that met it may have been executed. */
export class TransportError extends Error {
  override readonly name = 'TransportError';
  readonly grpc: number;

  constructor(grpc: number, details: string, options?: ErrorOptions) {
    super(details, options);
    this.grpc = grpc;
  }
}

export const isTransportError = (error: unknown): error is TransportError => error instanceof TransportError;

export const unavailable = (details: string): TransportError => new TransportError(GrpcCode.UNAVAILABLE, details);

export interface UnaryOptions {
  /** After it the request fails with DEADLINE_EXCEEDED. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

export interface StreamEvents {
  /** One message. The bytes are the receiver's. */
  message(bytes: Uint8Array): void;
  /** Called once, last, also after `cancel`. */
  end(error: TransportError): void;
}

export interface MessageStream {
  /** The bytes are the stream's from here on. Ignored after the end. */
  write(bytes: Uint8Array): void;
  cancel(): void;
}

/** One connection to one server, made when it is first used. */
export interface Channel {
  /** `method` with its service: `/pdpb.PD/GetMembers`. Rejects with TransportError only. */
  unary(method: string, request: Uint8Array, options: UnaryOptions): Promise<Uint8Array>;
  stream(method: string, events: StreamEvents, metadata?: Readonly<Record<string, string>>): MessageStream;
  /** Everything under way on it fails. May be called again. */
  close(): void;
}

/** How the client reaches servers. `connect` does no I/O and always makes a new channel, with fresh credentials. */
export interface Transport {
  /** @param address host:port @param secure whether an URL said https, or TLS is configured */
  connect(address: string, secure: boolean): Channel;
}
