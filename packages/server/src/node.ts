import type { Following } from '@engram/backend';
import { assert, ClientBudgets, type Clock, endsWithin, type Logger, type Random } from '@engram/core';
import { CallTracing } from '@engram/etcd-api';
import { Gateway } from '@engram/gateway';
import { Loop } from '@engram/loop';
import { type Member, StartProgress, startPhases } from '@engram/member';
import {
  type BoundedResource,
  ClientLog,
  descriptorLimit,
  GC_PHASE,
  HealthMetrics,
  LoopMonitor,
  MetricRegistry,
  type NodeGauges,
  PeerMetrics,
  observeCollections,
  OTHER_PHASE,
  openDescriptors,
  Profiler,
  RpcMetrics,
  registerBudgetMetrics,
  registerLocalBytesMetrics,
  registerLoopMetrics,
  registerLogHolderMetrics,
  registerNodeMetrics,
  registerProcessMetrics,
  registerScrubMetrics,
  registerServiceMetrics,
  registerStartMetrics,
  type StageMs,
  StoreMetrics,
} from '@engram/telemetry';
import type { MetricsExport } from '@engram/metrics-otlp';
import type { RunningTracing } from '@engram/tracing';
import type { TlsOptions } from '@engram/transport';
import { intercepted } from '@engram/wire';
import { authSettings } from './auth/auth-settings.ts';
import { BoundPorts } from './start/bound-ports.ts';
import { makeDataDirectory, ownFolder } from './start/data-directory.ts';
import { connectionsMax, descriptorsMax, PEER_SOCKETS } from './config/descriptor-plan.ts';
import { featureGates } from './flags/feature-gates.ts';
import { clientEndpoints, clientWebSockets, metricsEndpoints } from './http/http-endpoints.ts';
import { messageBytesMax, planClientListeners, planMetricsListeners } from './start/listeners.ts';
import { loopUsage } from './loop-usage.ts';
import { garbageCollector } from './collect-garbage.ts';
import { MemoryGuard } from './memory-guard.ts';
import type { MemoryBounds } from './config/memory-plan.ts';
import { MetricsPage } from './http/metrics-page.ts';
import type { NodeConfig } from './config/node-config.ts';
import { type BoundListener, OpenListeners } from './start/open-listeners.ts';
import { selfSignedCertificate } from './tls/self-signed-certificate.ts';
import { SlowCalls, SlowLog } from './slow-log.ts';
import { startMember } from './start/start-member.ts';
import type { NodeIdentity } from './start/started-member.ts';
import { SystemClock } from './system-clock.ts';
import { SystemRandom } from './system-random.ts';
import { ENGRAM_VERSION, ETCD_VERSION } from './version.ts';
import { join } from 'node:path';

/**
 * How often the monitor checks the event loop. If it must separate the CPU time of a stretch from the time before it, in
 * every turn of a busy loop: what other turns used since the last check would count for the stretch, and a stretch that
 * begins with a check counts for less by the interval.
 */
const LOOK_MS = 100;
const CPU_LOOK_MS = 1;
/** Stretches longer than this many budgets are logged. The others are counted only. */
const LOGGED_TIMES = 5;

export interface NodeOptions {
  readonly config: NodeConfig;
  readonly logger: Logger;
  /** Called when the storage has failed permanently: the process must end. */
  readonly onFatal: (error: Error) => void;
  /** Called when the cluster has removed this member: the process must end. */
  readonly onRemoved: () => void;
  /** Undefined: the store follows no other. */
  readonly following?: Following;
  /** With `following`: how far behind the store is; undefined from the cut-over on. */
  readonly migration?: () => string | undefined;
  /** Aborts a start that waits for other members. */
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
  readonly random?: Random;
}

/** A serving member. Disposal drains its clients and closes its storage. */
export interface RunningNode extends AsyncDisposable {
  readonly identity: NodeIdentity;
  readonly listeners: readonly BoundListener[];
  readonly store: Member['store'];
  readonly stats: Member['stats'];
  readonly cluster: Member['cluster'];
}

/**
 * How long clients wait for a member that is not ready (etcd: --wait-cluster-ready-timeout). A member that was just started may have read
 * a batch from the log that its leader has no answer for, and must not show it before a leader has said that it has taken effect.
 * Without a quorum nobody says so, and clients that can do without are served in the end.
 */
const READY_WAIT_MS = 5000;

/**
 * Opens the data, recovers the store to the end of its log, and serves on every URL. Metrics and health are served from
 * the beginning, so that a long start can be watched. A failure leaves nothing open.
 */
export async function startNode(options: NodeOptions): Promise<RunningNode> {
  const { config, logger } = options;
  const clock = options.clock ?? new SystemClock();
  const loop = clock instanceof SystemClock ? clock.loop : new Loop({ clock });
  const random = options.random ?? new SystemRandom();
  await using opened = new AsyncDisposableStack();

  const { memory, tls } = config;
  if (config.storage !== 'memory' || (tls !== undefined && 'kind' in tls)) makeDataDirectory(config.dataDir);
  const descriptors = descriptorsMax(descriptorLimit(), config.maxDescriptors);
  const budgets = new ClientBudgets({
    ...memory,
    connections: connectionsMax({
      limit: descriptors,
      quotaBytes: config.quotaBytes,
      peerSockets: config.cluster === undefined ? 0 : PEER_SOCKETS,
      maxConnections: config.maxConnections || (memory.connections ?? 0),
    }),
  });
  const metrics = new MetricRegistry(loop);
  const progress = new StartProgress();
  registerStartMetrics(metrics, () => ({ phase: progress.phase, phases: startPhases, read: progress.read }));
  registerProcessMetrics(metrics);
  registerLoopMetrics(metrics, loop);
  const tracing = await startTracing(options, clock, random);
  if (tracing !== undefined) opened.use(tracing);
  const metricsExport = await startMetricsExport(options, { clock, loop, registry: metrics });
  if (metricsExport !== undefined) opened.use(metricsExport);
  const slow = new SlowLog(clock, logger);
  const clientLog = new ClientLog(logger, clock);
  const slowWrites = new SlowLog(clock, logger);
  const storeMetrics = new StoreMetrics(
    metrics,
    clock,
    config.slowCommitMs,
    (ms) => slow.warn({ 'took-ms': Math.round(ms) }, 'slow append to the log'),
    (stages, traceId) => slowWrites.warn(stageFields(stages, traceId), 'write took too long'),
  );
  const peerMetrics = new PeerMetrics(metrics, () => started?.cluster.memberId ?? 0n);
  let started: Member | undefined;
  const profiler = config.profiles ? opened.use(await Profiler.open(clock, loop)) : undefined;
  const endpoints = {
    get checks() {
      assert(started !== undefined, 'a check before there is something to check');
      return started.health;
    },
    starting: () => (started === undefined ? `starting: ${progress}` : undefined),
    metrics: new MetricsPage(metrics, clock),
    health: new HealthMetrics(metrics),
    logger: clientLog,
    corsOrigins: config.corsOrigins,
    hostWhitelist: config.hostWhitelist,
    ...(options.migration === undefined ? {} : { migration: options.migration }),
    profiler,
    namesAreUsers: () => common.tls?.clientCertAuth === true && started?.store.auth.enabled === true,
  };
  const common = { config, tls: tlsOptions(config), budgets, logger: clientLog, clock, loop };
  const listeners = new OpenListeners(config, clock);
  opened.defer(() => listeners.drain());
  await listeners.open(planMetricsListeners({ ...common, http: metricsEndpoints(endpoints) }));
  listeners.announce('metrics', logger);
  const ports = opened.use(await BoundPorts.bind(config));
  const { member, identity, ready, localBytes, logHolders, resources, peers } = await startMember(
    config,
    {
      clock,
      loop,
      random,
      logger: clientLog,
      observers: { storeObserver: storeMetrics, onRecovery: (read) => progress.recovering(read) },
      watcherBytes: budgets.watcherBytes,
      tracer: tracing?.tracer,
      auth: await authSettings(config.auth, random),
      version: ETCD_VERSION,
      ports,
      following: options.following,
      onPeerRoundTrip: (id, ms) => peerMetrics.roundTrip(id, ms),
      onFatal: options.onFatal,
      onRemoved: options.onRemoved,
    },
    opened,
  );
  progress.joining();
  // All that concerns every call of a client, in its order. Each call is admitted after these, by hooks that its method has.
  const methods = intercepted(member.methods, [
    ...(tracing === undefined ? [] : [new CallTracing(tracing.tracer)]),
    new RpcMetrics(metrics, { extensive: config.extensiveMetrics, clock }),
    new SlowCalls(slow, config.slowUnaryMs),
  ]);
  registerServiceMetrics(metrics, member.counts, () => listeners.connections);
  registerNodeMetrics(metrics, () => nodeGauges(member, config));
  registerLocalBytesMetrics(metrics, localBytes);
  registerScrubMetrics(metrics, () => member.scrub?.counts);
  registerLogHolderMetrics(metrics, logHolders);
  const bounded = [...nodeResources(member, memory, descriptors), ...resources];
  const guard = guardMemory(memory.limitBytes, clock, loop);
  if (guard !== undefined) opened.use(guard);
  registerBudgetMetrics(metrics, budgets, bounded, {
    limitBytes: memory.limitBytes,
    collections: () => guard?.collections ?? 0,
  });
  await metrics.load();
  const watch = opened.use(watchLoop(options, metrics, slow));
  loop.watch = watch;
  started = member;
  peerMetrics.watch(peers);
  const gateway = config.gateway
    ? new Gateway({ methods, loop, clock, messageBytesMax: messageBytesMax(config) })
    : undefined;
  // All calls have ended, and what metrics are read from is still open. What is sent then does not hold back its closing.
  opened.defer(() => metricsExport?.last());
  opened.defer(() => {
    // Watchers of the health service get the change before their connection closes.
    member.serving.set(false);
    gateway?.stop();
    profiler?.end();
    return listeners.drain();
  });
  const becoming = ready(options.signal ?? new AbortController().signal);
  if (!(await endsWithin(clock, READY_WAIT_MS, becoming))) {
    logger.warn(
      { 'took-ms': READY_WAIT_MS },
      'timed out waiting for the ready notification; serving what needs no leader',
    );
  }
  await listeners.open(
    planClientListeners({
      ...common,
      ports,
      methods,
      watch,
      http: clientEndpoints(endpoints, gateway),
      webSockets: gateway === undefined ? undefined : clientWebSockets(endpoints, gateway),
    }),
  );
  await becoming;
  progress.serving();
  // Announced only when all listeners are open: a reader of this log line assumes that every port is.
  listeners.announce('client', logger);

  const stack = opened.move();
  return {
    identity,
    listeners: listeners.bound,
    store: member.store,
    stats: member.stats,
    cluster: member.cluster,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** What traces calls; undefined where that is off: then nothing of it is loaded. */
async function startTracing(
  { config, logger }: NodeOptions,
  clock: Clock,
  random: Random,
): Promise<RunningTracing | undefined> {
  if (config.tracing === undefined) return undefined;
  const { startTracing: start } = await import('@engram/tracing');
  return start({ ...config.tracing, version: ENGRAM_VERSION, clock, random, logger: new ClientLog(logger, clock) });
}

/** What sends the metrics; undefined where nobody asks for it: then nothing of it is loaded. */
async function startMetricsExport(
  { config, logger }: NodeOptions,
  { clock, loop, registry }: { readonly clock: Clock; readonly loop: Loop; readonly registry: MetricRegistry },
): Promise<MetricsExport | undefined> {
  if (config.metricsExport === undefined) return undefined;
  const { startMetricsExport: start } = await import('@engram/metrics-otlp');
  return start({
    ...config.metricsExport,
    // Without a name of its own each member would tell the numbers of all.
    instanceId: config.metricsExport.instanceId || config.name,
    registry,
    version: ENGRAM_VERSION,
    startWallMs: clock.wallMs(),
    clock,
    loop,
    logger: new ClientLog(logger, clock),
  });
}

function stageFields(stages: StageMs, traceId: string | undefined): object {
  const fields = Object.entries(stages).map(([stage, ms]) => [`${stage}-ms`, Math.round(ms)]);
  return { ...Object.fromEntries(fields), ...(traceId === undefined ? undefined : { 'trace-id': traceId }) };
}

/**
 * With `loopBudgetCpu`, a stretch counts by its CPU time only, because the rest may be due to other programs. A stretch
 * never ends the process if it is too long only because of garbage collection, or if no request can have caused it: it is
 * part of the start.
 */
function watchLoop({ config, onFatal }: NodeOptions, metrics: MetricRegistry, slow: SlowLog): LoopMonitor {
  const { loopBudgetMs: budgetMs, loopBudgetCpu: onlyCpu, loopBudgetFatal: fatal } = config;
  return new LoopMonitor(metrics, {
    clock: new SystemClock(),
    budgetMs,
    intervalMs: onlyCpu ? CPU_LOOK_MS : LOOK_MS,
    ...(onlyCpu ? { usage: loopUsage } : {}),
    observePauses: observeCollections,
    onStretch: ({ phase, method, ms }) => {
      const ofStart = phase === OTHER_PHASE && method === '';
      if (fatal && phase !== GC_PHASE && !ofStart)
        onFatal(new Error(`the event loop was kept for ${Math.round(ms)} ms by ${phase} ${method}`));
      else if (ms > LOGGED_TIMES * budgetMs) {
        slow.warn({ phase, method, 'took-ms': Math.round(ms) }, 'the event loop was kept for too long');
      }
    },
  });
}

function guardMemory(limitBytes: number | undefined, clock: Clock, loop: Loop): MemoryGuard | undefined {
  const collect = limitBytes === undefined ? undefined : garbageCollector();
  if (limitBytes === undefined || collect === undefined) return undefined;
  return new MemoryGuard({
    clock,
    limitBytes,
    residentBytes: () => process.memoryUsage.rss(),
    collect,
    watch: { stretched: (phase, ms) => loop.watch.stretched(phase, ms) },
  });
}

function tlsOptions({ tls, dataDir, listenClientUrls }: NodeConfig): TlsOptions | undefined {
  if (tls === undefined || !('kind' in tls)) return tls;
  const hosts = new Set(['localhost', '127.0.0.1', '::1', ...listenClientUrls.map(({ host }) => host)]);
  hosts.delete('');
  const { kind: _, years, ...bounds } = tls;
  return {
    ...selfSignedCertificate(join(ownFolder(dataDir), 'client-tls'), [...hosts], years),
    clientCertAuth: false,
    ...bounds,
  };
}

/** The member's own resources and those for all clients together. */
function nodeResources(
  { store, stats }: Member,
  memory: MemoryBounds,
  descriptors: number | undefined,
): readonly BoundedResource[] {
  return [
    {
      resource: 'log_queue_bytes',
      used: () => stats.waitingBytes,
      max: memory.logQueueBytes,
    },
    {
      resource: 'watch_backlog_bytes',
      used: () => store.watchHub.stats.pendingBytes,
      max: memory.watchBacklogBytes,
    },
    { resource: 'leases', used: () => stats.leases, max: memory.leases },
    { resource: 'snapshot_bytes', used: () => stats.imagesBytes, max: memory.imagesBytes },
    { resource: 'value_cache_bytes', used: () => stats.cacheBytes, max: memory.valueCacheBytes },
    ...(descriptors === undefined ? [] : [{ resource: 'descriptors', used: openDescriptors, max: descriptors }]),
  ];
}

function nodeGauges({ store, stats, cluster }: Member, config: NodeConfig): NodeGauges {
  const { totalBytes, inUseBytes, quotaBytes, keys } = store.status();
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
    stalledSeconds: cluster.stalledMs / 1000,
    term: cluster.term,
    ...cluster.counts,
    revision: store.revision,
    compactRevision: store.compactRevision,
    authRevision: store.auth.state.revision,
    keys,
    committed: stats.next - 1,
    applied: stats.applied - 1,
    totalBytes,
    inUseBytes,
    // Alerts divide by it.
    quotaBytes: quotaBytes > 0 ? quotaBytes : Number.POSITIVE_INFINITY,
    watchers,
    watchStreams: streams,
    slowWatchers,
    pendingEvents,
    pendingEventBytes: pendingBytes,
    pins: stats.pins,
    alarms: store.alarms(),
  };
}
