import { GrpcCode } from '@engram/core';
import type { FieldToEncode } from '@engram/http2';
import { ClientConnection } from '../http2/client-connection.ts';
import type { ClientTls } from '../http2/dial.ts';
import { TIMER_MS_MAX } from '../runtime/system.ts';
import { type CallEvents, GrpcCall } from './grpc-call.ts';
import { statusOf } from './grpc-status.ts';
import { clientTlsOf, type TlsOptions } from './tls.ts';
import {
  type Channel,
  type MessageStream,
  type StreamEvents,
  type Transport,
  TransportError,
  type UnaryOptions,
} from './transport.ts';

type Metadata = Readonly<Record<string, string>>;

/** The head of a request. What is the same in all requests of a connection is sent in full once. */
function headOf(path: string, authority: string, secure: boolean, metadata: Metadata = {}): FieldToEncode[] {
  const fields: [string, string][] = [
    [':method', 'POST'],
    [':scheme', secure ? 'https' : 'http'],
    [':path', path],
    [':authority', authority],
    ['te', 'trailers'],
    ['content-type', 'application/grpc'],
    ['user-agent', 'engram-tikv-client'],
    ['grpc-accept-encoding', 'identity,deflate,gzip'],
  ];
  return [
    ...fields.map(([name, value]): FieldToEncode => ({ name, value, indexing: 'remember' })),
    ...Object.entries(metadata).map(([name, value]): FieldToEncode => ({ name, value, indexing: 'once' })),
  ];
}

/**
 * Each channel has a connection of its own. One that is lost, or that the server leaves, has a successor at the next call; one that
 * the server leaves ends with its last call.
 */
class GrpcChannel implements Channel {
  readonly #address: string;
  readonly #tls: ClientTls | undefined;
  readonly #ending = new Set<(error: TransportError) => void>();
  #connection: ClientConnection | undefined;
  #closed = false;

  constructor(address: string, tls: ClientTls | undefined) {
    this.#address = address;
    this.#tls = tls;
  }

  unary(method: string, request: Uint8Array, options: UnaryOptions): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      const { signal } = options;
      const cancelled = (): TransportError => new TransportError(GrpcCode.CANCELLED, 'cancelled by this client');
      if (signal?.aborted) {
        reject(cancelled());
        return;
      }
      let answer: Uint8Array | undefined;
      const call = this.#call(method, options.metadata, {
        message: (bytes) => {
          if (answer === undefined) answer = bytes;
          else fail(new TransportError(GrpcCode.INTERNAL, 'the server sent a second answer'));
        },
        end: (error) => {
          done();
          if (error !== undefined) reject(error);
          else if (answer !== undefined) resolve(answer);
          else reject(new TransportError(GrpcCode.INTERNAL, 'the server sent no answer'));
        },
      });
      const done = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', cancel);
        this.#ending.delete(fail);
      };
      const fail = (error: TransportError): void => {
        done();
        call.cancel();
        reject(error);
      };
      const cancel = (): void => fail(cancelled());
      const timer = setTimeout(
        () => fail(new TransportError(GrpcCode.DEADLINE_EXCEEDED, 'deadline exceeded')),
        Math.min(options.timeoutMs, TIMER_MS_MAX),
      );
      this.#ending.add(fail);
      signal?.addEventListener('abort', cancel, { once: true });
      call.send(request, true);
    });
  }

  stream(method: string, events: StreamEvents, metadata?: Metadata): MessageStream {
    let ended = false;
    const end = (error: TransportError): void => {
      if (ended) return;
      ended = true;
      this.#ending.delete(fail);
      events.end(error);
    };
    const fail = (error: TransportError): void => {
      call.cancel();
      end(error);
    };
    const call = this.#call(method, metadata, {
      message: (bytes) => events.message(bytes),
      end: (error) => end(error ?? new TransportError(GrpcCode.UNAVAILABLE, 'the server closed the stream')),
    });
    this.#ending.add(fail);
    return {
      get waitingBytes() {
        return call.waitingBytes;
      },
      write: (bytes) => call.send(bytes, false),
      cancel: () => fail(new TransportError(GrpcCode.CANCELLED, 'cancelled by this client')),
    };
  }

  close(): void {
    this.#closed = true;
    for (const fail of [...this.#ending])
      fail(new TransportError(GrpcCode.UNAVAILABLE, 'the channel is closed', { lost: true }));
    this.#connection?.close();
  }

  /** The events of a call never come before this returns. */
  #call(
    path: string,
    metadata: Metadata | undefined,
    events: CallEvents,
  ): Pick<GrpcCall, 'send' | 'cancel' | 'waitingBytes'> {
    if (this.#closed)
      return failedCall(new TransportError(GrpcCode.UNAVAILABLE, 'the channel is closed', { unsent: true }), events);
    let connection: ClientConnection;
    try {
      connection = this.#usable();
    } catch (cause) {
      const error = cause instanceof Error ? cause : new Error(String(cause));
      return failedCall(statusOf({ kind: 'lost', established: false, tls: false, cause: error }, undefined)!, events);
    }
    return new GrpcCall(connection, headOf(path, this.#address, this.#tls !== undefined, metadata), events);
  }

  /** Throws if the address is none. */
  #usable(): ClientConnection {
    if (this.#connection?.usable) return this.#connection;
    const connection = new ClientConnection({
      address: this.#address,
      tls: this.#tls,
      unusable: () => {
        if (this.#connection === connection) this.#connection = undefined;
      },
    });
    this.#connection = connection;
    return connection;
  }
}

function failedCall(error: TransportError, events: CallEvents): Pick<GrpcCall, 'send' | 'cancel' | 'waitingBytes'> {
  let cancelled = false;
  queueMicrotask(() => {
    if (!cancelled) events.end(error);
  });
  return {
    waitingBytes: 0,
    send: () => {},
    cancel: () => {
      cancelled = true;
    },
  };
}

/** The transport over sockets. */
export class GrpcTransport implements Transport {
  readonly #tls: TlsOptions | undefined;

  constructor(tls: TlsOptions | undefined) {
    this.#tls = tls;
  }

  connect(address: string, secure: boolean): Channel {
    const plain = this.#tls === undefined && !secure;
    return new GrpcChannel(address, plain ? undefined : clientTlsOf(this.#tls ?? {}));
  }
}
