import type { Logger } from '@engram/core';
import { descriptorLimit, type HealthMetrics, type Profiler } from '@engram/telemetry';
import type { Gateway } from '@engram/gateway';
import type { HttpHandler, HttpRequest, HttpResponse, WebSockets } from '@engram/transport';
import { type HealthCheck, type HealthChecks, livezChecks, type CheckOutcome, readyzChecks } from '@engram/member';
import { type Endpoint, HttpRoutes } from './http-routes.ts';
import type { MetricsPage } from './metrics-page.ts';
import { PROFILES_PATH, profilesEndpoint } from './profile-endpoints.ts';
import { shownArguments } from '../shown-arguments.ts';
import { CLUSTER_VERSION, ETCD_VERSION } from '../version.ts';

export interface HttpEndpointsOptions {
  readonly checks: Pick<HealthChecks, 'health' | 'check' | 'leads'>;
  /** During the start, returns how far it is. Afterwards undefined, and `checks` decide. */
  readonly starting?: () => string | undefined;
  /** Of a store that follows another one: how far behind it is, until it takes writes. */
  readonly migration?: () => CheckOutcome;
  readonly metrics: MetricsPage;
  readonly health: HealthMetrics;
  readonly logger: Logger;
  /** "*" or an empty set means any. */
  readonly corsOrigins: ReadonlySet<string>;
  readonly hostWhitelist: ReadonlySet<string>;
  /** Whether the name in a client's certificate is a user. If undefined, it never is. */
  readonly namesAreUsers?: () => boolean;
  /** If undefined, the paths of profiles are unknown. */
  readonly profiler?: Profiler | undefined;
}

/** etcd's paths, and those before 3.4. */
const GATEWAY_PREFIXES = ['/v3/', '/v3beta/'] as const;

/** The endpoints of --listen-metrics-urls: metrics and health, for probes. Hosts and origins are not checked. */
export function metricsEndpoints(options: HttpEndpointsOptions): HttpHandler {
  const routes = monitoringRoutes(options);
  return (request) => (routes.endpointOf(request.path) ?? notFound)(request);
}

/** The endpoints of client URLs besides gRPC. Without a gateway its paths are unknown. */
export function clientEndpoints(options: HttpEndpointsOptions, gateway?: Pick<Gateway, 'answer'>): HttpHandler {
  const routes = monitoringRoutes(options)
    .add('/version', getOnly(versionEndpoint))
    .add('/debug/vars', getOnly(debugVarsEndpoint));
  if (options.profiler !== undefined) {
    routes
      .add(PROFILES_PATH, getOnly(profilesEndpoint(options.profiler)))
      .add(PROFILES_PATH.slice(0, -1), () => ({ status: 301, headers: { location: PROFILES_PATH }, body: '' }));
  }
  if (gateway !== undefined) {
    for (const prefix of GATEWAY_PREFIXES)
      routes.add(prefix, (request) => gatewayRefusal(options, request) ?? gateway.answer(request));
  }
  return async (request) => {
    const refusal = hostRefusal(options, request);
    if (refusal !== undefined) return refusal;
    const cors = corsHeaders(options.corsOrigins, request.headers['origin']);
    if (request.method === 'OPTIONS') return { status: 200, headers: cors, body: '' };
    const response = await (routes.endpointOf(request.path) ?? notFound)(request);
    return { ...response, headers: { ...response.headers, ...cors } };
  };
}

/** The WebSockets of client URLs: those of the gateway. */
export function clientWebSockets(options: HttpEndpointsOptions, gateway: Pick<Gateway, 'socket'>): WebSockets {
  return {
    at: (path) => GATEWAY_PREFIXES.some((prefix) => path.startsWith(prefix)),
    open: (request) => hostRefusal(options, request) ?? gatewayRefusal(options, request) ?? gateway.socket(request),
  };
}

/** A web page may resolve its own name to this address. A known host name excludes that (CVE-2018-5702). */
function hostRefusal(
  { hostWhitelist, logger }: HttpEndpointsOptions,
  { secure, headers }: HttpRequest,
): HttpResponse | undefined {
  const host = hostNameOf(headers['host'] ?? '');
  if (secure || allows(hostWhitelist, host)) return undefined;
  logger.warn({ host }, 'rejecting HTTP request to prevent DNS rebinding attacks');
  return plain(421, `The host name ${JSON.stringify(host)} is not in --host-whitelist.\n`);
}

const gatewayRefusal = (options: HttpEndpointsOptions, request: HttpRequest): HttpResponse | undefined =>
  certificateRefusal(options, request) ?? pageRefusal(options, request);

/** etcd's (embed/serve.go): who shows a certificate with a name would be taken for nobody. */
function certificateRefusal(
  { namesAreUsers }: HttpEndpointsOptions,
  { secure, commonName = '' }: HttpRequest,
): HttpResponse | undefined {
  if (!secure || commonName === '' || namesAreUsers?.() !== true) return undefined;
  return plain(
    400,
    'CommonName of client sending a request against gateway will be ignored and not used as expected\n',
  );
}

/**
 * Stricter than etcd. A browser sends a page's POST in any case, and opens its WebSockets: what `--cors` forbids would only be that the
 * page reads the answer. A page of this host may always ask.
 */
function pageRefusal({ corsOrigins }: HttpEndpointsOptions, { headers }: HttpRequest): HttpResponse | undefined {
  const { origin, host } = headers;
  if (origin === undefined || allows(corsOrigins, '*') || allows(corsOrigins, origin)) return undefined;
  if (URL.canParse(origin) && new URL(origin).host === host) return undefined;
  return plain(403, `The origin ${JSON.stringify(origin)} is not in --cors.\n`);
}

function monitoringRoutes(options: HttpEndpointsOptions): HttpRoutes {
  const routes = new HttpRoutes()
    .add('/metrics', ({ headers }) => options.metrics.answer(headers['accept'], headers['accept-encoding']))
    .add(
      '/health',
      getOnly((request) => healthEndpoint(options, request)),
    )
    .add(
      '/health/leader',
      getOnly(() => leaderEndpoint(options)),
    );
  const ready: readonly CheckName[] = options.migration === undefined ? readyzChecks : [...readyzChecks, 'migration'];
  for (const [type, checks] of [['livez', livezChecks] as const, ['readyz', ready] as const]) {
    const endpoint = (namesOf: (request: HttpRequest) => readonly CheckName[]): Endpoint =>
      getOnly((request) => checksEndpoint(options, type, namesOf(request), request));
    routes.add(
      `/${type}`,
      endpoint(({ query }) => checks.filter((name) => !query.getAll('exclude').includes(name))),
    );
    for (const name of checks)
      routes.add(
        `/${type}/${name}`,
        endpoint(() => [name]),
      );
  }
  return routes;
}

async function healthEndpoint(options: HttpEndpointsOptions, request: HttpRequest): Promise<HttpResponse> {
  const { health, logger } = options;
  const excluded = new Set(request.query.getAll('exclude'));
  const serializable = request.query.get('serializable') === 'true';
  const starting = options.starting?.();
  const reason = starting ?? (await options.checks.health(excluded, serializable, request.signal));
  health.health(reason === undefined);
  const body = JSON.stringify({ health: String(reason === undefined), reason: reason ?? '' });
  if (reason === undefined) return { status: 200, headers: textHeaders, body };
  logger.warn({ output: body, 'status-code': 503 }, '/health error');
  return plain(503, `${body}\n`);
}

/** Not etcd's. A proxy that asks it sends writes to the leader, whoever that is, without a request between members. */
function leaderEndpoint({ starting, checks }: HttpEndpointsOptions): HttpResponse {
  const reason = starting?.() ?? (checks.leads() ? undefined : 'NOT LEADER');
  const body = JSON.stringify({ health: String(reason === undefined), reason: reason ?? '' });
  return reason === undefined ? { status: 200, headers: textHeaders, body } : plain(503, `${body}\n`);
}

/** During the start a member is alive but not ready. A supervisor that killed it would only make the start begin again. */
async function checksEndpoint(
  options: HttpEndpointsOptions,
  type: 'livez' | 'readyz',
  names: readonly CheckName[],
  request: HttpRequest,
): Promise<HttpResponse> {
  const { health, logger } = options;
  const starting = options.starting?.();
  let lines = '';
  let failed = false;
  for (const name of names) {
    const outcome = starting === undefined ? await outcomeOf(options, name, request.signal) : notReady(type, starting);
    health.check(type, name, outcome === undefined);
    lines += outcome === undefined ? `[+]${name} ok\n` : `[-]${name} failed: ${outcome}\n`;
    failed ||= outcome !== undefined;
  }
  if (failed) {
    logger.error({ path: request.path, reason: lines, 'status-code': 503 }, 'Health check error');
    return plain(503, `${lines}\n`);
  }
  return plain(200, request.query.has('verbose') ? `${lines}ok\n` : 'ok\n');
}

/** `migration` is not etcd's. */
type CheckName = HealthCheck | 'migration';

const outcomeOf = (
  { checks, migration }: HttpEndpointsOptions,
  name: CheckName,
  signal: AbortSignal,
): CheckOutcome | Promise<CheckOutcome> => (name === 'migration' ? migration?.() : checks.check(name, signal));

const notReady = (type: 'livez' | 'readyz', starting: string): CheckOutcome =>
  type === 'readyz' ? starting : undefined;

function versionEndpoint(): HttpResponse {
  const body = JSON.stringify({ etcdserver: ETCD_VERSION, etcdcluster: CLUSTER_VERSION, storage: CLUSTER_VERSION });
  return { status: 200, headers: { 'content-type': 'application/json' }, body };
}

/** In the form of Go's expvar, with figures of Node. etcd's `raft.status` is what Status and the metrics tell. */
function debugVarsEndpoint(): HttpResponse {
  const { rss, heapTotal, heapUsed, external, arrayBuffers } = process.memoryUsage();
  const body = {
    cmdline: shownArguments(process.argv),
    file_descriptor_limit: descriptorLimit() ?? 0,
    memstats: { Sys: rss, HeapSys: heapTotal, HeapAlloc: heapUsed, External: external, ArrayBuffers: arrayBuffers },
  };
  return {
    status: 200,
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: `${JSON.stringify(body, undefined, 1)}\n`,
  };
}

const getOnly =
  (endpoint: Endpoint): Endpoint =>
  (request) => {
    if (request.method === 'GET') return endpoint(request);
    const { headers, ...refusal } = plain(405, 'Method Not Allowed\n');
    return { ...refusal, headers: { ...headers, allow: 'GET' } };
  };

const notFound: Endpoint = () => plain(404, '404 page not found\n');

const textHeaders = { 'content-type': 'text/plain; charset=utf-8' };

/** Responds as Go's http.Error does: plain text, which browsers must not interpret as another type. */
const plain = (status: number, body: string): HttpResponse => ({
  status,
  headers: { ...textHeaders, 'x-content-type-options': 'nosniff' },
  body,
});

const allows = (set: ReadonlySet<string>, name: string): boolean => set.size === 0 || set.has('*') || set.has(name);

function corsHeaders(origins: ReadonlySet<string>, origin: string | undefined): Record<string, string> {
  const allowed = allows(origins, '*') ? '*' : origin;
  if (allowed === undefined || !allows(origins, allowed)) return {};
  return {
    'access-control-allow-methods': 'POST, GET, OPTIONS, PUT, DELETE',
    'access-control-allow-origin': allowed,
    'access-control-allow-headers': 'accept, content-type, authorization',
  };
}

/** The name without port and brackets: "[::1]:2379" gives "::1". */
function hostNameOf(host: string): string {
  return host.replace(/:\d*$/, '').replace(/^\[|\]$/g, '');
}
