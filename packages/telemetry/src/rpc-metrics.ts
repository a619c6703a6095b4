import type { MetricRegistry } from './metric-registry.ts';
import { exponentialBounds, PlainHistogram, type Sample } from './plain-histogram.ts';
import { type CallTiming, RequestTimings } from './request-timings.ts';

/** Go's names of the codes, as in grpc_server_handled_total (grpc/grpc-go codes/code_string.go). */
const codeNames = [
  'OK',
  'Canceled',
  'Unknown',
  'InvalidArgument',
  'DeadlineExceeded',
  'NotFound',
  'AlreadyExists',
  'PermissionDenied',
  'ResourceExhausted',
  'FailedPrecondition',
  'Aborted',
  'OutOfRange',
  'Unimplemented',
  'Internal',
  'Unavailable',
  'DataLoss',
  'Unauthenticated',
] as const;

export type RpcKind = 'unary' | 'bidi' | 'server-stream';
const kindNames: Readonly<Record<RpcKind, string>> = {
  unary: 'unary',
  bidi: 'bidi_stream',
  'server-stream': 'server_stream',
};

const RANGE = '/etcdserverpb.KV/Range';
/** Requests whose name in etcd differs from their method's. */
const requestTypes: Readonly<Record<string, string>> = { Compact: 'Compaction' };

const CLIENT_VERSIONS_MAX = 64;
const OTHER_VERSIONS = 'other';
/** "3.6", "unknown" and what else a client might call itself. */
const plainVersion = /^[\w.+-]{1,32}$/;

interface MethodCounts {
  readonly labels: Readonly<Record<string, string>>;
  readonly unary: boolean;
  readonly timing: CallTiming | undefined;
  started: number;
  received: number;
  sent: number;
  readonly handled: Float64Array;
  /** With gRPC's default buckets. */
  readonly seconds: PlainHistogram;
  /** Of calls that succeeded, then of those that did not. */
  readonly requestSeconds: readonly [PlainHistogram, PlainHistogram];
}

export interface RpcMetricsOptions {
  /** Every method that is served. */
  readonly methods: Iterable<readonly [path: string, kind: RpcKind]>;
  /** etcd's --metrics=extensive: grpc_server_handling_seconds. */
  readonly extensive: boolean;
  /** Called for unary calls that took longer than `slowUnaryMs`. */
  readonly slowUnaryMs?: number;
  readonly onSlowUnary?: (path: string, ms: number) => void;
}

interface ClientRequests {
  readonly labels: Readonly<Record<string, string>>;
  count: number;
}

/**
 * Counts what the transport's observer reports. Each call costs one look-up and some additions. All methods of the
 * table are there from the start with zeros: a rate over a counter that appears with its first error misses that error.
 */
export class RpcMetrics {
  readonly #methods = new Map<string, MethodCounts>();
  readonly #timings: RequestTimings;
  #events = 0;
  readonly #rangeSeconds = successAndFailure(0.0001, 20);
  /** By version, a string that exists already: every call looks it up. */
  readonly #clientRequests = { unary: new Map<string, ClientRequests>(), stream: new Map<string, ClientRequests>() };
  readonly #extensive: boolean;
  readonly #slowUnaryMs: number;
  readonly #onSlowUnary: ((path: string, ms: number) => void) | undefined;
  #receivedBytes = 0;
  #sentBytes = 0;
  #connections = 0;

  constructor(registry: MetricRegistry, { methods, extensive, slowUnaryMs, onSlowUnary }: RpcMetricsOptions) {
    this.#extensive = extensive;
    this.#slowUnaryMs = slowUnaryMs ?? Number.POSITIVE_INFINITY;
    this.#onSlowUnary = onSlowUnary;
    this.#timings = new RequestTimings(registry);
    for (const [path, kind] of methods) this.#methods.set(path, methodCounts(path, kind, this.#timings.of(path)));
    registry.counter('etcd_debugging_mvcc_events_total', 'Events that were sent to watchers.', () => this.#events);
    const each = (read: (counts: MethodCounts) => Sample | readonly Sample[]) => (): readonly Sample[] =>
      [...this.#methods.values()].flatMap(read);

    registry.counter(
      'grpc_server_started_total',
      'Calls that have begun.',
      each(({ labels, started }) => ({ labels, value: started })),
    );
    registry.counter(
      'grpc_server_msg_received_total',
      'Messages from clients.',
      each(({ labels, received }) => ({ labels, value: received })),
    );
    registry.counter(
      'grpc_server_msg_sent_total',
      'Messages to clients.',
      each(({ labels, sent }) => ({ labels, value: sent })),
    );
    registry.counter(
      'grpc_server_handled_total',
      'Calls that have ended, by their code.',
      each(({ labels, handled }) =>
        codeNames.map((code, at) => ({ labels: { ...labels, grpc_code: code }, value: handled[at]! })),
      ),
    );
    if (extensive) {
      registry.histograms(
        'grpc_server_handling_seconds',
        'How long calls took.',
        each(({ labels, seconds }) => seconds.samples(labels)),
      );
    }
    registry.histograms('etcd_server_request_duration_seconds', 'How long unary requests took, by type.', () =>
      this.#requestSamples(),
    );
    registry.histograms('etcd_server_range_duration_seconds', 'How long ranges took.', () => this.#rangeSamples());
    registry.counter(
      'etcd_network_client_grpc_received_bytes_total',
      'Bytes of messages from clients.',
      () => this.#receivedBytes,
    );
    registry.counter(
      'etcd_network_client_grpc_sent_bytes_total',
      'Bytes of messages to clients.',
      () => this.#sentBytes,
    );
    registry.counter('etcd_server_client_requests_total', 'Calls by the version that their clients name.', () =>
      [...this.#clientRequests.unary.values(), ...this.#clientRequests.stream.values()].map(({ labels, count }) => ({
        labels,
        value: count,
      })),
    );
    registry.gauge('engram_client_connections', 'Connections of clients that are open.', () => this.#connections);
  }

  rpcStarted(path: string): void {
    const counts = this.#methods.get(path);
    if (counts === undefined) return;
    counts.started += 1;
    if (counts.timing !== undefined) this.#timings.started(counts.timing);
  }

  rpcHandled(path: string, code: number, ms: number): void {
    const counts = this.#methods.get(path);
    if (counts === undefined) return;
    // Clients take a code that gRPC does not define as UNKNOWN.
    const known = code >= 0 && code < codeNames.length ? code : 2;
    counts.handled[known]! += 1;
    const seconds = ms / 1000;
    if (counts.timing !== undefined) this.#timings.handled(counts.timing, known, seconds);
    if (this.#extensive) counts.seconds.observe(seconds);
    if (!counts.unary) return;
    if (ms > this.#slowUnaryMs) this.#onSlowUnary?.(path, ms);
    const outcome = known === 0 ? 0 : 1;
    counts.requestSeconds[outcome].observe(seconds);
    if (path === RANGE) this.#rangeSeconds[outcome].observe(seconds);
  }

  messageReceived(path: string, bytes: number): void {
    const counts = this.#methods.get(path);
    if (counts !== undefined) counts.received += 1;
    this.#receivedBytes += bytes;
  }

  messageSent(path: string, bytes: number): void {
    const counts = this.#methods.get(path);
    if (counts !== undefined) counts.sent += 1;
    this.#sentBytes += bytes;
  }

  eventsSent(count: number): void {
    this.#events += count;
  }

  /** Clients choose `version`, so only a bounded number of short ones become labels. */
  clientRequest(type: 'unary' | 'stream', version: string): void {
    const byVersion = this.#clientRequests[type];
    const known = byVersion.get(version);
    if (known !== undefined) {
      known.count += 1;
    } else if (version === OTHER_VERSIONS || (byVersion.size < CLIENT_VERSIONS_MAX && plainVersion.test(version))) {
      byVersion.set(version, { labels: { type, client_api_version: version }, count: 1 });
    } else {
      this.clientRequest(type, OTHER_VERSIONS);
    }
  }

  connectionOpened(): void {
    this.#connections += 1;
  }

  connectionClosed(): void {
    this.#connections -= 1;
  }

  #requestSamples(): readonly Sample[] {
    const samples: Sample[] = [];
    for (const { labels, requestSeconds } of this.#methods.values()) {
      const method = labels['grpc_method']!;
      for (const [at, histogram] of requestSeconds.entries()) {
        if (histogram.count === 0) continue;
        samples.push(
          ...histogram.samples({ type: requestTypes[method] ?? method, success: at === 0 ? 'true' : 'false' }),
        );
      }
    }
    return samples;
  }

  #rangeSamples(): readonly Sample[] {
    return this.#rangeSeconds.flatMap((histogram, at) => histogram.samples({ success: at === 0 ? 'true' : 'false' }));
  }
}

function methodCounts(path: string, kind: RpcKind, timing: CallTiming | undefined): MethodCounts {
  const [, service = '', method = ''] = path.split('/');
  return {
    labels: { grpc_type: kindNames[kind], grpc_service: service, grpc_method: method },
    unary: kind === 'unary',
    timing,
    started: 0,
    received: 0,
    sent: 0,
    handled: new Float64Array(codeNames.length),
    seconds: new PlainHistogram([0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]),
    requestSeconds: successAndFailure(0.001, 14),
  };
}

function successAndFailure(start: number, count: number): readonly [PlainHistogram, PlainHistogram] {
  const bounds = exponentialBounds(start, 2, count);
  return [new PlainHistogram(bounds), new PlainHistogram(bounds)];
}
