import { ClientBudgets, type Clock, type Logger, type LoopWatch } from '@engram/core';
import type { Method, MethodTable } from '@engram/wire';

export type ListenAddress =
  /** `port` 0 takes a free one. `host` empty listens on every interface. */
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number }
  | { readonly kind: 'unix'; readonly path: string };

export type TlsVersion = 'TLS1.0' | 'TLS1.1' | 'TLS1.2' | 'TLS1.3';

/** Paths of PEM files and etcd's rules for them (etcd client/pkg/transport/listener.go). Files are read anew after they change. */
export interface TlsOptions {
  readonly certFile: string;
  readonly keyFile: string;
  /** Given: clients must show a certificate signed by it, as in etcd, even without `clientCertAuth`. */
  readonly trustedCaFile?: string;
  readonly clientCertAuth: boolean;
  /** Clients whose certificate this list revokes are refused. */
  readonly crlFile?: string;
  /** Not empty: the client's CommonName must be one of them. */
  readonly allowedCommonNames?: readonly string[];
  /** Not empty: the client's certificate must be valid for one of them. */
  readonly allowedHostnames?: readonly string[];
  readonly minVersion: TlsVersion;
  readonly maxVersion?: TlsVersion;
  /** Go's names, e.g. `TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256`. Empty: the platform's choice. */
  readonly cipherSuites: readonly string[];
}

/** grpc-go's server keepalive (etcd `--grpc-keepalive-*`). Milliseconds. */
export interface KeepaliveOptions {
  /** Clients that ping more often than this are told to go away; 0 lets them. */
  readonly minTimeMs: number;
  /** An idle connection is pinged this often; 0 never. */
  readonly intervalMs: number;
  /** A ping without an answer for this long ends the connection. */
  readonly timeoutMs: number;
}

export interface HttpRequest {
  readonly method: string;
  /** Decoded from nothing: as it came, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Names in lower case; repeated headers joined with `, `. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Whole, at most twice `maxRequestBytes` (JSON carries bytes as base64); longer bodies are answered 413. */
  readonly body: Uint8Array;
  readonly peer: string;
  readonly secure: boolean;
  /** Subject CommonName of the client's verified certificate. */
  readonly commonName: string | undefined;
  /** Aborted when the client is gone. */
  readonly signal: AbortSignal;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Chunks of an iterable are sent as they come, each waiting until the client has taken the one before. */
  readonly body: string | Uint8Array | AsyncIterable<string | Uint8Array>;
}

/** Answers what is not gRPC. A throw is answered 500 and logged. */
export type HttpHandler = (request: HttpRequest) => HttpResponse | Promise<HttpResponse>;

/** What is told of the calls of one method; called synchronously on hot paths, must not throw. */
export interface MethodObserver {
  started(): void;
  /** `code` is a gRPC code; `ms` since the request was whole, or a stream of requests began. Once for each `started`. */
  handled(code: number, ms: number): void;
  /** Bytes of the message, before framing. */
  received(bytes: number): void;
  sent(bytes: number): void;
}

/** Hooks for metrics. */
export interface TransportObserver {
  /** Asked once for each method of the table when the server starts. */
  method(path: string, kind: Method['kind']): MethodObserver;
  connectionOpened(): void;
  connectionClosed(): void;
}

export interface ServeOptions {
  readonly methods: MethodTable;
  readonly http: HttpHandler;
  readonly listen: ListenAddress;
  readonly tls?: TlsOptions;
  /** What the port speaks: etcd's client URLs serve both unless `--listen-client-http-urls` splits them. */
  readonly protocols: 'both' | 'grpc' | 'http';
  /** A gRPC message above it is refused with RESOURCE_EXHAUSTED. */
  readonly maxRequestBytes: number;
  /** On one connection. Up to 2^32 - 1. */
  readonly maxConcurrentStreams: number;
  readonly keepalive: KeepaliveOptions;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly observer?: TransportObserver;
  /** What clients may hold of the process, together with those of other listeners. Without them, large ones of its own. */
  readonly budgets?: ClientBudgets;
  /** Told of what keeps the event loop for too long. */
  readonly watch?: LoopWatch;
  /** Only those that are to differ from the usual ones. */
  readonly timeouts?: Partial<TransportTimeouts>;
}

export type BoundAddress =
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number }
  | { readonly kind: 'unix'; readonly path: string };

export interface Server {
  readonly address: BoundAddress;
  /**
   * Takes no new connections and no new calls, tells clients to go elsewhere, ends streams with UNAVAILABLE and lets
   * unary calls finish. Resolves when no connection is left, at the latest when `signal` aborts or after
   * `DRAIN_MAX_MS`: what is left then is cut.
   */
  drain(signal: AbortSignal): Promise<void>;
  /** Cuts every connection at once. */
  close(): Promise<void>;
}

/** etcd's request timeout: no unary call is waited for longer (etcd server/embed/etcd.go). */
export const DRAIN_MAX_MS = 7_000;

/** How long a client may take for what nobody waits for gladly. Milliseconds. */
export interface TransportTimeouts {
  /** For its TLS handshake, for its first bytes, and for its HTTP/2 preface and settings: 10 s each. */
  readonly handshakeMs: number;
  /** For the headers of an HTTP/1.1 request: 10 s; and for all of it: 60 s. */
  readonly headersMs: number;
  readonly requestMs: number;
}

/** For who serves alone, and for tests: what a machine of some GiB bears. */
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
  return { handshakeMs: 10_000, headersMs: 10_000, requestMs: 60_000, ...timeouts };
}

/** `drained` is called when the bytes queued on a stream fall to this, after they had been above it. */
export const STREAM_LOW_MARK_BYTES = 64 * 1024;
