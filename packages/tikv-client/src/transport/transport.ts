import { GrpcCode } from '@engram/core';

export interface TransportErrorOptions extends ErrorOptions {
  readonly unsent?: boolean;
  readonly tls?: boolean;
  readonly lost?: boolean;
}

/**
 * A gRPC status that is not OK, or the loss of the connection. Its message is for people: a server may have written it, so nothing
 * may be decided by its words.
 */
export class TransportError extends Error {
  override readonly name = 'TransportError';
  readonly grpc: number;
  /** Nothing of the request has left this process. Otherwise it may have been executed. */
  readonly unsent: boolean;
  /** There is no connection because client and server have not agreed on TLS: on a certificate, a name or a version. */
  readonly tls: boolean;
  /** The connection has ended or could not be made. Otherwise the server has answered over it, or says nothing. */
  readonly lost: boolean;

  constructor(grpc: number, details: string, options: TransportErrorOptions = {}) {
    super(details, options);
    this.grpc = grpc;
    this.unsent = options.unsent ?? false;
    this.tls = options.tls ?? false;
    this.lost = options.lost ?? false;
  }
}

export const isTransportError = (error: unknown): error is TransportError => error instanceof TransportError;

export const unavailable = (details: string, options?: TransportErrorOptions): TransportError =>
  new TransportError(GrpcCode.UNAVAILABLE, details, options);

export interface UnaryOptions {
  /** After this time the request fails with DEADLINE_EXCEEDED. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

export interface StreamEvents {
  /** Called for each message. The receiver owns the bytes. */
  message(bytes: Uint8Array): void;
  /** Called once, as the last event, also after `cancel`. */
  end(error: TransportError): void;
}

export interface MessageStream {
  /** Bytes of messages that the server's windows, or the socket, have not taken yet. */
  readonly waitingBytes: number;
  /** The stream owns the bytes from this call on. Ignored after the end. */
  write(bytes: Uint8Array): void;
  cancel(): void;
}

/** One connection to one server, made at the first use. */
export interface Channel {
  /** `method` includes the service, as in `/pdpb.PD/GetMembers`. Rejects with TransportError only. */
  unary(method: string, request: Uint8Array, options: UnaryOptions): Promise<Uint8Array>;
  stream(method: string, events: StreamEvents, metadata?: Readonly<Record<string, string>>): MessageStream;
  /** Requests and streams under way fail. May be called again. */
  close(): void;
}

/** Connects the client to servers. `connect` does no I/O and always makes a new channel, with fresh credentials. */
export interface Transport {
  /** @param address host:port @param secure whether a URL said https, or TLS is configured */
  connect(address: string, secure: boolean): Channel;
}
