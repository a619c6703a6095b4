import { ClientBudgets, type Clock, type Logger, type Share } from '@engram/core';
import type { Loop, LoopWatch } from '@engram/loop';
import type { MethodTable } from '@engram/wire';
import type { BoundPort } from './bound-port.ts';
import { STALL_MAX_MS } from './h2/limits.ts';
import type { BoundAddress, ListenAddress } from './listen-address.ts';

export type TlsVersion = 'TLS1.0' | 'TLS1.1' | 'TLS1.2' | 'TLS1.3';

/**
 * Paths of PEM files, with etcd's rules for them (etcd client/pkg/transport/listener.go). Files are read again after
 * they change.
 */
export interface TlsOptions {
  readonly certFile: string;
  readonly keyFile: string;
  /** If set, clients must show a certificate signed by this CA, as in etcd, even without `clientCertAuth`. */
  readonly trustedCaFile?: string;
  readonly clientCertAuth: boolean;
  /** Clients whose certificate this list revokes are refused. */
  readonly crlFile?: string;
  /** If not empty, the client's CommonName must be in this list. */
  readonly allowedCommonNames?: readonly string[];
  /** If not empty, the client's certificate must be valid for one of these hostnames. */
  readonly allowedHostnames?: readonly string[];
  readonly minVersion: TlsVersion;
  readonly maxVersion?: TlsVersion;
  /** Go's names, e.g. `TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256`. If empty, Go's default suites are used. */
  readonly cipherSuites: readonly string[];
}

/** grpc-go's server keepalive (etcd `--grpc-keepalive-*`). Milliseconds. */
export interface KeepaliveOptions {
  /**
   * A client that pings more often than this is sent a GOAWAY; 0 allows any rate. Without open streams, the minimum is
   * always 2 h.
   */
  readonly minTimeMs: number;
  /** An idle connection is pinged at this interval; 0 disables pings. */
  readonly intervalMs: number;
  /** A ping that is not answered within this time ends the connection. */
  readonly timeoutMs: number;
}

export interface HttpRequest {
  readonly method: string;
  /** As received, not decoded, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Names in lower case; repeated headers joined with `, `. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The whole body, at most twice `maxRequestBytes` (JSON carries bytes as base64). Longer bodies are answered with 413. */
  readonly body: Uint8Array;
  readonly peer: string;
  /** Names the connection to the loop, as a caller. */
  readonly client: object;
  readonly secure: boolean;
  /** Subject CommonName of the client's verified certificate. */
  readonly commonName: string | undefined;
  /** Aborted when the client is gone. */
  readonly signal: AbortSignal;
  /** Where a handler counts what it holds of an answer that it makes piece by piece. Ends with the request. */
  readonly answerBytes: Share;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Chunks of an iterable are sent as they come. Each waits until the client has taken the chunk before it. */
  readonly body: string | Uint8Array | AsyncIterable<string | Uint8Array>;
}

/** A part of a text message. `last`: the message ends with it. */
export interface WebSocketPiece {
  readonly bytes: Uint8Array;
  readonly last: boolean;
}

/** What a WebSocket says, and what becomes of what its client says. */
export interface WebSocketSession {
  /** The subprotocol that is answered. Undefined: none. */
  readonly protocol: string | undefined;
  /** What is sent. The next piece is asked for when the client has taken the one before. The socket closes behind the last. */
  readonly pieces: AsyncIterable<WebSocketPiece>;
  /** Takes a message of the client, whose bytes never change. The next one comes when the promise has resolved. */
  message(bytes: Uint8Array): Promise<void>;
}

/** WebSockets over HTTP/1.1. Where there are none, a request for one is answered as any other. */
export interface WebSockets {
  /** Whether this path has them. */
  at(path: string): boolean;
  /** The session of a request, whose signal aborts when the socket has closed, or the answer that refuses it. */
  open(request: HttpRequest): WebSocketSession | HttpResponse;
}

/** Answers requests that are not gRPC. An error that it throws is answered with 500 and logged. */
export type HttpHandler = (request: HttpRequest) => HttpResponse | Promise<HttpResponse>;

export interface ServeOptions {
  /** Each call of a method calls the method's hooks as well. */
  readonly methods: MethodTable;
  readonly http: HttpHandler;
  readonly webSockets?: WebSockets | undefined;
  readonly listen: ListenAddress;
  /** The address `listen`, if it is bound already. It belongs to the server from then on. */
  readonly port?: BoundPort;
  readonly tls?: TlsOptions;
  /** The protocols of the port: etcd's client URLs serve both unless `--listen-client-http-urls` splits them. */
  readonly protocols: 'both' | 'grpc' | 'http';
  /** A longer gRPC message is refused with RESOURCE_EXHAUSTED. */
  readonly maxRequestBytes: number;
  /** Limit for one connection. Up to 2^32 - 1. */
  readonly maxConcurrentStreams: number;
  readonly keepalive: KeepaliveOptions;
  readonly logger: Logger;
  readonly clock: Clock;
  /** The time of the event loop, shared with other listeners. If undefined, the server assumes all of it for itself. */
  readonly loop?: Loop;
  /**
   * What clients may hold of the process, shared with other listeners. If undefined, the server has large budgets of
   * its own.
   */
  readonly budgets?: ClientBudgets;
  /** Notified of work that blocks the event loop for too long. */
  readonly watch?: LoopWatch;
  /** Only timeouts that differ from the defaults. */
  readonly timeouts?: Partial<TransportTimeouts>;
}

export interface Server {
  readonly address: BoundAddress;
  /** Connections that are open, also those whose protocol is not known yet. */
  readonly connections: number;
  /**
   * Takes no new connections and no new calls, sends GOAWAY, ends streams with UNAVAILABLE and lets unary calls finish.
   * Resolves when no connection is left, at the latest when `signal` aborts or after `DRAIN_MAX_MS`: connections that
   * are left then are destroyed.
   */
  drain(signal: AbortSignal): Promise<void>;
  /** Destroys every connection at once. */
  close(): Promise<void>;
}

/** etcd's request timeout: the server does not wait longer for a unary call (etcd server/embed/etcd.go). */
export const DRAIN_MAX_MS = 7_000;

/** How long a client may take for a handshake or a request. Milliseconds. */
export interface TransportTimeouts {
  /** For the TLS handshake, for the first bytes, and for the HTTP/2 preface and settings; by default 10 s each. */
  readonly handshakeMs: number;
  /** For the headers of an HTTP/1.1 request; by default 10 s. */
  readonly headersMs: number;
  /** For a whole HTTP/1.1 request; by default 60 s. */
  readonly requestMs: number;
  /** To take the next piece of an answer over HTTP/1.1 or a WebSocket; by default as over HTTP/2, 5 minutes. */
  readonly stallMs: number;
}

/** Default for a server that shares no budgets, and for tests. Sized for a machine with some GiB of memory. */
export function budgetsOf({ budgets }: ServeOptions): ClientBudgets {
  const bytes = 512 * 1024 * 1024;
  return (
    budgets ??
    new ClientBudgets({
      requestBytes: bytes,
      answerBytes: bytes,
      streams: 2 ** 18,
      connections: 2 ** 16,
      watcherBytes: bytes,
    })
  );
}

export function timeoutsOf({ timeouts }: { readonly timeouts?: Partial<TransportTimeouts> }): TransportTimeouts {
  return { handshakeMs: 10_000, headersMs: 10_000, requestMs: 60_000, stallMs: STALL_MAX_MS, ...timeouts };
}

/** `drained` is called when the bytes queued on a stream fall to this limit after they were above it. */
export const STREAM_LOW_MARK_BYTES = 64 * 1024;
