import { codeNames, MethodMetrics, type RpcKind, successAndFailure, type WallClock } from './method-metrics.ts';
import type { MetricRegistry } from './metric-registry.ts';
import type { HistogramReading } from './plain-histogram.ts';
import { RequestTimings } from './request-timings.ts';

const RANGE = '/etcdserverpb.KV/Range';

/** What etcd calls the requests of a method (v3_server.go: getRequestType). */
function requestType(service: string | undefined, method: string): string {
  if (service === 'etcdserverpb.Auth' && !method.startsWith('Auth')) return `Auth${method}`;
  return method === 'Compact' ? 'Compaction' : method;
}

export interface RpcMetricsOptions {
  /** etcd's --metrics=extensive: grpc_server_handling_seconds. */
  readonly extensive: boolean;
  readonly clock: WallClock;
}

/**
 * An interceptor (wire's form) that counts calls. All methods of the table exist from the start with zeros, because a rate over a
 * counter that appears with its first error misses that error.
 */
export class RpcMetrics {
  readonly #methods = new Map<string, MethodMetrics>();
  readonly #timings: RequestTimings;
  readonly #rangeSeconds = successAndFailure(0.0001, 20);
  readonly #options: RpcMetricsOptions;

  constructor(registry: MetricRegistry, options: RpcMetricsOptions) {
    const { extensive } = options;
    this.#options = options;
    this.#timings = new RequestTimings(registry);
    const each =
      <Point>(read: (method: MethodMetrics) => Point | readonly Point[]) =>
      (): readonly Point[] =>
        [...this.#methods.values()].flatMap(read);

    registry.counter(
      'grpc_server_started_total',
      'Calls that have begun.',
      each(({ labels, startedCount }) => ({ labels, value: startedCount })),
    );
    registry.counter(
      'grpc_server_msg_received_total',
      'Messages from clients.',
      each(({ labels, receivedCount }) => ({ labels, value: receivedCount })),
    );
    registry.counter(
      'grpc_server_msg_sent_total',
      'Messages to clients.',
      each(({ labels, sentCount }) => ({ labels, value: sentCount })),
    );
    registry.counter(
      'grpc_server_handled_total',
      'Calls that have ended, by their code.',
      each(({ labels, handledByCode }) =>
        codeNames.map((code, at) => ({ labels: { ...labels, grpc_code: code }, value: handledByCode[at]! })),
      ),
    );
    if (extensive) {
      registry.histograms(
        'grpc_server_handling_seconds',
        'How long calls took.',
        each(({ labels, seconds }) => seconds.reading(labels)),
      );
    }
    registry.histograms('etcd_server_request_duration_seconds', 'How long unary requests took, by type.', () =>
      this.#requests(),
    );
    registry.histograms('etcd_server_range_duration_seconds', 'How long ranges took.', () => this.#ranges());
    registry.counter('etcd_network_client_grpc_received_bytes_total', 'Bytes of messages from clients.', () =>
      this.#sum(({ receivedBytes }) => receivedBytes),
    );
    registry.counter('etcd_network_client_grpc_sent_bytes_total', 'Bytes of messages to clients.', () =>
      this.#sum(({ sentBytes }) => sentBytes),
    );
  }

  /** The counters of one method, from now on. */
  hooks(path: string, kind: RpcKind): MethodMetrics {
    const { extensive, clock } = this.#options;
    const rangeSeconds = path === RANGE ? this.#rangeSeconds : undefined;
    const method = new MethodMetrics(path, kind, { extensive, clock, timings: this.#timings, rangeSeconds });
    this.#methods.set(path, method);
    return method;
  }

  #sum(read: (method: MethodMetrics) => number): number {
    return [...this.#methods.values()].reduce((sum, method) => sum + read(method), 0);
  }

  #requests(): readonly HistogramReading[] {
    const readings: HistogramReading[] = [];
    for (const { labels, requestSeconds } of this.#methods.values()) {
      const type = requestType(labels['grpc_service'], labels['grpc_method']!);
      for (const [at, histogram] of requestSeconds.entries()) {
        if (histogram.count === 0) continue;
        readings.push(histogram.reading({ type, success: at === 0 ? 'true' : 'false' }));
      }
    }
    return readings;
  }

  #ranges(): readonly HistogramReading[] {
    return this.#rangeSeconds.map((histogram, at) => histogram.reading({ success: at === 0 ? 'true' : 'false' }));
  }
}

/** What the services count for themselves. */
export interface ServiceReading {
  readonly requests: Iterable<{ readonly type: string; readonly version: string; readonly count: number }>;
  readonly events: number;
}

export function registerServiceMetrics(
  registry: MetricRegistry,
  counts: ServiceReading,
  connections: () => number,
): void {
  registry.counter('etcd_debugging_mvcc_events_total', 'Events that were sent to watchers.', () => counts.events);
  registry.counter('etcd_server_client_requests_total', 'Calls by the version that their clients name.', () =>
    [...counts.requests].map(({ type, version, count }) => ({
      labels: { type, client_api_version: version },
      value: count,
    })),
  );
  registry.gauge('engram_client_connections', 'Connections of clients that are open.', connections);
}
