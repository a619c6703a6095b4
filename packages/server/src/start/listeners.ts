import type { ClientBudgets, Clock, Logger } from '@engram/core';
import type { Loop, LoopWatch } from '@engram/loop';
import type { HttpHandler, ServeOptions, TlsOptions, WebSockets } from '@engram/transport';
import { type BoundPorts, listenAddress } from './bound-ports.ts';
import type { NodeConfig } from '../config/node-config.ts';
import type { ServeUrl } from '../flags/urls.ts';

/** etcd allows a gRPC message to exceed a request by this much, for the message around the request. */
const GRPC_OVERHEAD_BYTES = 512 * 1024;

/** The longest message of a request. */
export const messageBytesMax = ({ maxRequestBytes }: NodeConfig): number => maxRequestBytes + GRPC_OVERHEAD_BYTES;

export interface ListenerParts {
  readonly config: NodeConfig;
  readonly tls: TlsOptions | undefined;
  readonly http: HttpHandler;
  readonly budgets: ClientBudgets;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly loop: Loop;
}

export interface ClientListenerParts extends ListenerParts {
  readonly ports: BoundPorts;
  readonly methods: ServeOptions['methods'];
  readonly webSockets: WebSockets | undefined;
  readonly watch: LoopWatch;
}

export interface PlannedListener {
  readonly url: ServeUrl;
  readonly purpose: 'client' | 'metrics';
  readonly options: ServeOptions;
}

/** The listeners for clients. Without separate HTTP URLs, client URLs serve both protocols on one port. */
export function planClientListeners(parts: ClientListenerParts): readonly PlannedListener[] {
  const { config, ports, methods, webSockets, watch } = parts;
  const split = config.listenClientHttpUrls.length > 0;
  const plan = (urls: readonly ServeUrl[], protocols: ServeOptions['protocols']): readonly PlannedListener[] =>
    urls.map((url) => ({
      url,
      purpose: 'client',
      options: { ...serveOptions(parts, url, protocols), port: ports.of(url), methods, webSockets, watch },
    }));
  return [...plan(config.listenClientUrls, split ? 'grpc' : 'both'), ...plan(config.listenClientHttpUrls, 'http')];
}

/** The listeners for metrics and health. They serve no calls. */
export function planMetricsListeners(parts: ListenerParts): readonly PlannedListener[] {
  return parts.config.listenMetricsUrls.map((url) => ({
    url,
    purpose: 'metrics',
    options: serveOptions(parts, url, 'http'),
  }));
}

function serveOptions(
  { config, tls, http, budgets, logger, clock, loop }: ListenerParts,
  url: ServeUrl,
  protocols: ServeOptions['protocols'],
): ServeOptions {
  return {
    methods: new Map(),
    http,
    listen: listenAddress(url, config),
    ...(url.secure && tls !== undefined ? { tls } : {}),
    protocols,
    maxRequestBytes: messageBytesMax(config),
    maxConcurrentStreams: config.maxConcurrentStreams,
    keepalive: config.keepalive,
    logger,
    clock,
    loop,
    budgets,
  };
}
