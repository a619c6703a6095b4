import { ClientBudgets, type Clock, type Logger, type Random } from '@engram/core';
import type { Member } from '@engram/member';
import {
  type BoundedResource,
  ClientLog,
  descriptorLimit,
  HealthMetrics,
  LoopMonitor,
  MetricRegistry,
  type NodeGauges,
  openDescriptors,
  RpcMetrics,
  registerBudgetMetrics,
  registerNodeMetrics,
  registerProcessMetrics,
  StoreMetrics,
} from '@engram/telemetry';
import { type BoundAddress, type Server, serve, serveGrpcJs, type TlsOptions } from '@engram/transport';
import { ownFolder } from './data-directory.ts';
import { connectionsMax, descriptorsMax } from './descriptor-plan.ts';
import { featureGates } from './feature-gates.ts';
import { clientEndpoints, metricsEndpoints } from './http-endpoints.ts';
import { type PlannedListener, planListeners } from './listeners.ts';
import type { MemoryBounds } from './memory-plan.ts';
import { MetricsPage } from './metrics-page.ts';
import type { NodeConfig } from './node-config.ts';
import { selfSignedCertificate } from './self-signed-certificate.ts';
import { SlowLog } from './slow-log.ts';
import { type NodeIdentity, startMember } from './start-member.ts';
import { SystemClock } from './system-clock.ts';
import { SystemRandom } from './system-random.ts';
import { ETCD_VERSION } from './version.ts';
import { join } from 'node:path';

/** How long running calls may take at a stop. The rest of the five seconds is for the storage. */
const DRAIN_MS = 3000;

/** How often the event loop is looked at: often where the CPU time of a stretch has to be told from that before it. */
const LOOK_MS = 100;
const CPU_LOOK_MS = 5;
/** Stretches of so many budgets are logged, the others counted. */
const LOGGED_TIMES = 5;

export interface NodeOptions {
  readonly config: NodeConfig;
  readonly logger: Logger;
  /** The storage has failed permanently: the node must end. */
  readonly onFatal: (error: Error) => void;
  /** The cluster has removed this member: the process has nothing left to do. */
  readonly onRemoved: () => void;
  /** Ends a start that waits for other members. */
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
  readonly random?: Random;
}

export interface BoundListener {
  readonly purpose: 'client' | 'metrics';
  readonly address: BoundAddress;
}

/** A serving node. Disposal drains its clients and closes its storage. */
export interface RunningNode extends AsyncDisposable {
  readonly identity: NodeIdentity;
  readonly listeners: readonly BoundListener[];
}

/** Opens the data, recovers the store to the end of its log, and serves on every URL. A failure leaves nothing open. */
export async function startNode(options: NodeOptions): Promise<RunningNode> {
  const { config, logger } = options;
  const clock = options.clock ?? new SystemClock();
  const random = options.random ?? new SystemRandom();
  await using opened = new AsyncDisposableStack();

  const { memory } = config;
  const descriptors = descriptorsMax(descriptorLimit(), config.maxDescriptors);
  const budgets = new ClientBudgets({
    ...memory,
    connections: connectionsMax({
      limit: descriptors,
      quotaBytes: config.quotaBytes,
      maxConnections: config.maxConnections,
    }),
  });
  const metrics = new MetricRegistry();
  const slow = new SlowLog(clock, logger);
  const clientLog = new ClientLog(logger, clock);
  const storeMetrics = new StoreMetrics(metrics, clock, config.slowCommitMs, (ms) =>
    slow.warn({ 'took-ms': Math.round(ms) }, 'slow append to the log'),
  );
  // The table of methods comes first: only methods that are served get counters.
  let rpcMetrics: RpcMetrics | undefined;
  const { member, identity, ready } = await startMember(
    config,
    {
      clock,
      random,
      logger: clientLog,
      observers: {
        storeObserver: storeMetrics,
        servicesObserver: {
          clientRequest: (type, version) => rpcMetrics?.clientRequest(type, version),
          eventsSent: (count) => rpcMetrics?.eventsSent(count),
        },
      },
      version: ETCD_VERSION,
      onFatal: options.onFatal,
      onRemoved: options.onRemoved,
    },
    opened,
  );
  const { methods } = member;
  rpcMetrics = new RpcMetrics(metrics, {
    methods: [...methods].map(([path, { kind }]) => [path, kind] as const),
    extensive: config.extensiveMetrics,
    slowUnaryMs: config.slowUnaryMs,
    onSlowUnary: (path, ms) => slow.warn({ path, 'took-ms': Math.round(ms) }, 'request took too long'),
  });
  registerNodeMetrics(metrics, () => nodeGauges(member, config));
  registerProcessMetrics(metrics);
  registerBudgetMetrics(metrics, budgets, nodeResources(member, memory, descriptors), memory.limitBytes);
  await metrics.load();
  const watch = opened.use(watchLoop(options, metrics, slow));

  const endpoints = {
    checks: member.health,
    metrics: new MetricsPage(metrics, clock),
    health: new HealthMetrics(metrics),
    logger: clientLog,
    corsOrigins: config.corsOrigins,
    hostWhitelist: config.hostWhitelist,
  };
  const planned = planListeners({
    config,
    tls: tlsOptions(config),
    methods,
    clientHttp: clientEndpoints(endpoints),
    metricsHttp: metricsEndpoints(endpoints),
    observer: rpcMetrics,
    budgets,
    watch,
    logger: clientLog,
    clock,
  });
  const servers: Server[] = [];
  opened.defer(() => {
    // Watchers of the health learn of it before their connection closes.
    member.serving.set(false);
    return drainAll(servers, clock);
  });
  const listeners: BoundListener[] = [];
  for (const each of planned) {
    const server = await listen(each, config.transport === 'native' ? serve : serveGrpcJs);
    servers.push(server);
    listeners.push({ purpose: each.purpose, address: server.address });
  }
  await ready(options.signal ?? new AbortController().signal);
  // Only once all listen: whoever waits for this line assumes every port.
  for (const [at, each] of planned.entries()) announce(each, servers[at]!.address, logger);

  const stack = opened.move();
  return { identity, listeners, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

/** A stretch that takes CPU time is ours; one that only takes time may be the machine's, and ends nothing. */
function watchLoop({ config, onFatal }: NodeOptions, metrics: MetricRegistry, slow: SlowLog): LoopMonitor {
  const { loopBudgetMs: budgetMs, loopBudgetCpu: onlyCpu, loopBudgetFatal: fatal } = config;
  const cpuSeconds = (): number => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1e6;
  };
  return new LoopMonitor(metrics, {
    clock: new SystemClock(),
    budgetMs,
    intervalMs: onlyCpu ? CPU_LOOK_MS : LOOK_MS,
    ...(onlyCpu ? { cpuSeconds } : {}),
    onStretch: ({ phase, method, ms }) => {
      if (fatal) onFatal(new Error(`the event loop was kept for ${Math.round(ms)} ms by ${phase} ${method}`));
      else if (ms > LOGGED_TIMES * budgetMs) {
        slow.warn({ phase, method, 'took-ms': Math.round(ms) }, 'the event loop was kept for too long');
      }
    },
  });
}

async function listen({ url, options }: PlannedListener, start: typeof serve): Promise<Server> {
  try {
    return await start(options);
  } catch (cause) {
    throw new Error(`cannot listen on ${url.text}`, { cause });
  }
}

function announce({ url, purpose, options }: PlannedListener, bound: BoundAddress, logger: Logger): void {
  const address = addressText(bound);
  if (purpose === 'metrics') {
    logger.info({ address }, 'serving metrics');
    return;
  }
  logger.info({ address }, 'ready to serve client requests');
  const traffic = { both: 'grpc+http', grpc: 'grpc', http: 'http' }[options.protocols];
  logger.info({ traffic, address }, `serving client traffic ${url.secure ? 'securely' : 'insecurely'}`);
}

function addressText(address: BoundAddress): string {
  if (address.kind === 'unix') return address.path;
  return address.host.includes(':') ? `[${address.host}]:${address.port}` : `${address.host}:${address.port}`;
}

async function drainAll(servers: readonly Server[], clock: Clock): Promise<void> {
  const late = new AbortController();
  const timer = clock.after(DRAIN_MS, () => late.abort());
  try {
    await Promise.all(servers.map((server) => server.drain(late.signal)));
  } finally {
    timer.cancel();
  }
}

function tlsOptions({ tls, dataDir, listenClientUrls }: NodeConfig): TlsOptions | undefined {
  if (tls === undefined || !('kind' in tls)) return tls;
  const hosts = new Set(['localhost', '127.0.0.1', '::1', ...listenClientUrls.map(({ host }) => host)]);
  hosts.delete('');
  return {
    ...selfSignedCertificate(join(ownFolder(dataDir), 'client-tls'), [...hosts], tls.years),
    clientCertAuth: false,
    minVersion: tls.minVersion,
    cipherSuites: [],
  };
}

/** What the node holds by itself, or for all clients together. */
function nodeResources(
  { store }: Member,
  memory: MemoryBounds,
  descriptors: number | undefined,
): readonly BoundedResource[] {
  return [
    {
      resource: 'log_queue_bytes',
      used: () => store.leadership?.waitingBytes ?? 0,
      max: memory.logQueueBytes,
    },
    {
      resource: 'watch_backlog_bytes',
      used: () => store.watchHub.stats.pendingBytes,
      max: memory.watchBacklogBytes,
    },
    { resource: 'value_cache_bytes', used: () => store.replica.cache.bytes, max: memory.valueCacheBytes },
    ...(descriptors === undefined ? [] : [{ resource: 'descriptors', used: openDescriptors, max: descriptors }]),
  ];
}

function nodeGauges({ store, cluster }: Member, config: NodeConfig): NodeGauges {
  const { totalBytes, inUseBytes, quotaBytes, logPosition, keys } = store.status();
  const { watchers, streams, slowWatchers, pendingEvents, pendingBytes } = store.watchHub.stats;
  return {
    memberId: cluster.memberId,
    serverVersion: ETCD_VERSION,
    clusterVersion: ETCD_VERSION.replace(/\.\d+$/, ''),
    featureGates: new Map(
      [...featureGates].map(([name, { stage }]) => [name, { stage, enabled: config.featureGates.get(name) === true }]),
    ),
    leader: cluster.leaderId === cluster.memberId,
    hasLeader: cluster.leaderId !== 0n,
    learner: cluster.isLearner,
    revision: store.revision,
    compactRevision: store.compactRevision,
    keys,
    logPosition,
    totalBytes,
    inUseBytes,
    quotaBytes,
    watchers,
    watchStreams: streams,
    slowWatchers,
    pendingEvents,
    pendingEventBytes: pendingBytes,
    alarms: store.alarms(),
  };
}
