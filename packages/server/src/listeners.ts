import type { ClientBudgets, Clock, Logger, LoopWatch } from '@engram/core';
import type { HttpHandler, ListenAddress, ServeOptions, TlsOptions, TransportObserver } from '@engram/transport';
import type { NodeConfig } from './node-config.ts';
import type { ServeUrl } from './urls.ts';

/** etcd allows a gRPC message this much more than a request, for what surrounds it. */
const GRPC_OVERHEAD_BYTES = 512 * 1024;

export interface ListenerParts {
  readonly config: NodeConfig;
  readonly tls: TlsOptions | undefined;
  readonly methods: ServeOptions['methods'];
  readonly clientHttp: HttpHandler;
  readonly metricsHttp: HttpHandler;
  readonly observer: TransportObserver;
  readonly budgets: ClientBudgets;
  readonly watch: LoopWatch;
  readonly logger: Logger;
  readonly clock: Clock;
}

export interface PlannedListener {
  readonly url: ServeUrl;
  readonly purpose: 'client' | 'metrics';
  readonly options: ServeOptions;
}

/** All listeners of a node. Without HTTP URLs of their own, client URLs serve both protocols on one port. */
export function planListeners(parts: ListenerParts): readonly PlannedListener[] {
  const { config, clientHttp, metricsHttp } = parts;
  const split = config.listenClientHttpUrls.length > 0;
  const plan = (
    urls: readonly ServeUrl[],
    purpose: PlannedListener['purpose'],
    protocols: ServeOptions['protocols'],
    http: HttpHandler,
  ): readonly PlannedListener[] =>
    urls.map((url) => ({ url, purpose, options: serveOptions(parts, url, protocols, http) }));
  return [
    ...plan(config.listenClientUrls, 'client', split ? 'grpc' : 'both', clientHttp),
    ...plan(config.listenClientHttpUrls, 'client', 'http', clientHttp),
    ...plan(config.listenMetricsUrls, 'metrics', 'http', metricsHttp),
  ];
}

function serveOptions(
  { config, tls, methods, observer, budgets, watch, logger, clock }: ListenerParts,
  url: ServeUrl,
  protocols: ServeOptions['protocols'],
  http: HttpHandler,
): ServeOptions {
  return {
    methods,
    http,
    listen: listenAddress(url),
    ...(url.secure && tls !== undefined ? { tls } : {}),
    protocols,
    maxRequestBytes: config.maxRequestBytes + GRPC_OVERHEAD_BYTES,
    maxConcurrentStreams: config.maxConcurrentStreams,
    keepalive: config.keepalive,
    logger,
    clock,
    observer,
    budgets,
    watch,
  };
}

function listenAddress({ path, host, port }: ServeUrl): ListenAddress {
  if (path !== undefined) return { kind: 'unix', path };
  // Go listens on the IPv4 loopback for this name. Node would take the first address of the resolver.
  return { kind: 'tcp', host: host === 'localhost' ? '127.0.0.1' : host, port };
}
