import { assert } from '@engram/core';
import { codeNames, MethodMetrics, type RpcKind, successAndFailure } from './method-metrics.ts';
import type { MetricRegistry } from './metric-registry.ts';
import type { Sample } from './plain-histogram.ts';
import { RequestTimings } from './request-timings.ts';

const RANGE = '/etcdserverpb.KV/Range';

/** Requests whose name in etcd differs from the name of their method. */
const requestTypes: Readonly<Record<string, string>> = { Compact: 'Compaction' };

const CLIENT_VERSIONS_MAX = 64;
const OTHER_VERSIONS = 'other';
/** Versions such as "3.6" or "unknown" that may become labels. */
const plainVersion = /^[\w.+-]{1,32}$/;

export interface RpcMetricsOptions {
  /** All served methods. */
  readonly methods: Iterable<readonly [path: string, kind: RpcKind]>;
  /** etcd's --metrics=extensive: grpc_server_handling_seconds. */
  readonly extensive: boolean;
  /** Called for unary calls that took longer than `slowUnaryMs`. */
  readonly slowUnaryMs?: number;
  readonly onSlowUnary?: (path: string, ms: number) => void;
}

/** Counts calls of clients with one version. */
export class ClientRequests {
  readonly labels: Readonly<Record<string, string>>;
  count = 0;

  constructor(labels: Readonly<Record<string, string>>) {
    this.labels = labels;
  }

  request(): void {
    this.count += 1;
  }
}

/**
 * Counts what the transport's observer reports. All methods of the table exist from the start with zeros, because a
 * rate over a counter that appears with its first error misses that error.
 */
export class RpcMetrics {
  readonly #methods = new Map<string, MethodMetrics>();
  readonly #timings: RequestTimings;
  #events = 0;
  readonly #rangeSeconds = successAndFailure(0.0001, 20);
  /** By client version. */
  readonly #clientRequests = { unary: new Map<string, ClientRequests>(), stream: new Map<string, ClientRequests>() };
  #connections = 0;

  constructor(registry: MetricRegistry, { methods, extensive, slowUnaryMs, onSlowUnary }: RpcMetricsOptions) {
    this.#timings = new RequestTimings(registry);
    const shared = {
      extensive,
      slowUnaryMs: slowUnaryMs ?? Number.POSITIVE_INFINITY,
      onSlowUnary,
      timings: this.#timings,
    };
    for (const [path, kind] of methods) {
      const rangeSeconds = path === RANGE ? this.#rangeSeconds : undefined;
      this.#methods.set(path, new MethodMetrics(path, kind, { ...shared, rangeSeconds }));
    }
    registry.counter('etcd_debugging_mvcc_events_total', 'Events that were sent to watchers.', () => this.#events);
    const each = (read: (method: MethodMetrics) => Sample | readonly Sample[]) => (): readonly Sample[] =>
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
        each(({ labels, seconds }) => seconds.samples(labels)),
      );
    }
    registry.histograms('etcd_server_request_duration_seconds', 'How long unary requests took, by type.', () =>
      this.#requestSamples(),
    );
    registry.histograms('etcd_server_range_duration_seconds', 'How long ranges took.', () => this.#rangeSamples());
    registry.counter('etcd_network_client_grpc_received_bytes_total', 'Bytes of messages from clients.', () =>
      this.#sum(({ receivedBytes }) => receivedBytes),
    );
    registry.counter('etcd_network_client_grpc_sent_bytes_total', 'Bytes of messages to clients.', () =>
      this.#sum(({ sentBytes }) => sentBytes),
    );
    registry.counter('etcd_server_client_requests_total', 'Calls by the version that their clients name.', () =>
      [...this.#clientRequests.unary.values(), ...this.#clientRequests.stream.values()].map(({ labels, count }) => ({
        labels,
        value: count,
      })),
    );
    registry.gauge('engram_client_connections', 'Connections of clients that are open.', () => this.#connections);
  }

  /** The counters of one method, which must be in the table. */
  method(path: string): MethodMetrics {
    const method = this.#methods.get(path);
    assert(method !== undefined, 'a method that is not served has no counters');
    return method;
  }

  eventsSent(count: number): void {
    this.#events += count;
  }

  /** Clients choose `version`, so only a limited number of short versions become labels. */
  client(type: 'unary' | 'stream', version: string): ClientRequests {
    const byVersion = this.#clientRequests[type];
    const known = byVersion.get(version);
    if (known !== undefined) return known;
    const named = version === OTHER_VERSIONS || (byVersion.size < CLIENT_VERSIONS_MAX && plainVersion.test(version));
    if (!named) return this.client(type, OTHER_VERSIONS);
    const requests = new ClientRequests({ type, client_api_version: version });
    byVersion.set(version, requests);
    return requests;
  }

  connectionOpened(): void {
    this.#connections += 1;
  }

  connectionClosed(): void {
    this.#connections -= 1;
  }

  #sum(read: (method: MethodMetrics) => number): number {
    return [...this.#methods.values()].reduce((sum, method) => sum + read(method), 0);
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
