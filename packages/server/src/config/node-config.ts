import { assert, formatGoDuration } from '@engram/core';
import { TURN_MS } from '@engram/loop';
import type { KeepaliveOptions } from '@engram/transport';
import type { CompactionRetention } from '@engram/member';
import type { EtcdAddress } from '@engram/migration';
import { type AuthConfig, authConfig } from '../auth/auth-config.ts';
import { type ClusterConfig, clusterConfig } from '../cluster/cluster-config.ts';
import { parseCompactionRetention } from './compaction-retention.ts';
import { parseFeatureGates } from '../flags/feature-gates.ts';
import { ConfigError, type FlagValues } from '../flags/flag-values.ts';
import { type FirstStart, firstStartOf } from '../cluster/initial-cluster.ts';
import { type LogConfig, logConfig } from './log-config.ts';
import { type MemoryBounds, memoryBounds } from './memory-plan.ts';
import { type MetricsExportConfig, metricsExportConfig } from './metrics-export-config.ts';
import { migrationConfig } from './migration-config.ts';
import { type TlsConfig, tlsConfig } from '../tls/tls-config.ts';
import { type TracingConfig, tracingConfig } from './tracing-config.ts';
import { bindProblem, hostProblem, parseUrls, type ServeUrl } from '../flags/urls.ts';

/** A member's configuration, checked. Times are in milliseconds. */
export interface NodeConfig {
  readonly name: string;
  readonly dataDir: string;
  readonly transport: 'native' | 'grpc-js';
  /** 'auto' selects the engine whose data exists. */
  readonly storage: 'auto' | StorageEngine | 'memory' | 'tikv';
  readonly memory: MemoryBounds;
  readonly newCluster: boolean;
  /** The etcd to follow; only with the command `migrate`. */
  readonly from: EtcdAddress | undefined;
  /** With `from`: a founding replaces what another one has left, which was ended. */
  readonly discardUnfinished: boolean;
  /** Of a node that is alone. */
  readonly firstStart: FirstStart;

  readonly listenClientUrls: readonly ServeUrl[];
  /** If not empty, these URLs serve HTTP only, and the client URLs gRPC only. */
  readonly listenClientHttpUrls: readonly ServeUrl[];
  readonly listenMetricsUrls: readonly ServeUrl[];
  readonly advertiseClientUrls: readonly string[];
  readonly advertisePeerUrls: readonly string[];
  /** Used for secure URLs. */
  readonly tls: TlsConfig | undefined;
  readonly auth: AuthConfig;

  readonly electionTimeoutMs: number;
  /** Undefined if this member is alone. */
  readonly cluster: ClusterConfig | undefined;
  /** Undefined if unbounded. */
  readonly quotaBytes: number | undefined;
  readonly maxTxnOps: number;
  readonly maxRequestBytes: number;
  readonly maxConcurrentStreams: number;
  /** 0 derives the number from the descriptors. */
  readonly maxConnections: number;
  /** 0 means the system's limit. */
  readonly maxDescriptors: number;
  readonly keepalive: KeepaliveOptions;
  readonly watchProgressIntervalMs: number;
  /** Of a node that is alone; 0: what its disk holds is not read back. */
  readonly scrubBytesPerSecond: number;
  readonly compaction: CompactionRetention;

  /** Other processes may listen on the same ports. */
  readonly reusePort: boolean;
  /** The JSON gateway is served on client URLs. */
  readonly gateway: boolean;
  readonly corsOrigins: ReadonlySet<string>;
  readonly hostWhitelist: ReadonlySet<string>;
  readonly extensiveMetrics: boolean;
  /** Client URLs serve profiles of the process. */
  readonly profiles: boolean;
  /** Undefined if calls are not traced. */
  readonly tracing: TracingConfig | undefined;
  /** Undefined if metrics are not sent: they are asked for. */
  readonly metricsExport: MetricsExportConfig | undefined;
  readonly featureGates: ReadonlyMap<string, boolean>;
  readonly slowUnaryMs: number;
  readonly slowCommitMs: number;
  readonly loopBudgetMs: number;
  readonly loopBudgetCpu: boolean;
  readonly loopBudgetFatal: boolean;
  readonly log: LogConfig;
  /** For the operator. Logged once the logger exists. */
  readonly warnings: readonly string[];
}

/** The engines that keep data on disk. */
export const storageEngines = ['segment', 'leveldb'] as const;
export type StorageEngine = (typeof storageEngines)[number];

const QUOTA_DEFAULT_BYTES = 2 * 1024 ** 3;
const QUOTA_ADVISED_BYTES = 8 * 1024 ** 3;
const REQUEST_ADVISED_BYTES = 10 * 1024 ** 2;
const ELECTION_MAX_MS = 50_000;
/** No bound of its own; also for 0, as grpc-go takes it (server.go: MaxConcurrentStreams). */
const STREAMS_DEFAULT = 2 ** 32 - 1;
const PROGRESS_DEFAULT_MS = 600_000;
const PROGRESS_MIN_MS = 100;

/**
 * Throws ConfigError for the first error, in etcd's order. `fromFile` relaxes the checks as etcd does. Of `environment` only
 * OpenTelemetry's variables are read.
 */
export function nodeConfig(
  values: FlagValues,
  fromFile: boolean,
  environment: Readonly<Record<string, string | undefined>>,
): NodeConfig {
  const warnings: string[] = [];
  const log = logConfig(values);
  refuseFlags(values, warnings);

  const listenClientUrls = urlsOf(values, 'listen-client-urls', bindProblem);
  const listenClientHttpUrls = urlsOf(values, 'listen-client-http-urls', bindProblem);
  const listenMetricsUrls = urlsOf(values, 'listen-metrics-urls', bindProblem);
  const advertisePeerUrls = urlsOf(values, 'initial-advertise-peer-urls', hostProblem);
  const advertiseClientUrls = urlsOf(values, 'advertise-client-urls', hostProblem);
  if (listenClientUrls.length === 0) throw new ConfigError('--listen-client-urls must not be empty');
  if (!fromFile && values.isSet('listen-client-urls') && !values.isSet('advertise-client-urls')) {
    throw new ConfigError('--advertise-client-urls is required when --listen-client-urls is set explicitly');
  }
  // Port 0 takes a free port each time, so it never conflicts.
  const both = listenClientUrls.find(
    ({ text, port, path }) =>
      (port !== 0 || path !== undefined) && listenClientHttpUrls.some((http) => http.text === text),
  );
  if (both !== undefined) {
    throw new ConfigError(
      `cannot bind both --listen-client-urls and --listen-client-http-urls on the same url ${both.text}`,
    );
  }

  const name = values.text('name');
  const ownPeerUrls = advertisePeerUrls.map(({ text }) => text);
  const cluster = clusterConfig(values, name, ownPeerUrls, warnings);
  if (values.durationMs('compact-hash-check-time') <= 0)
    throw new ConfigError(
      `--compact-hash-check-time must be >0 (set to ${formatGoDuration(values.durationMs('compact-hash-check-time'))})`,
    );
  if (values.text('discovery-fallback') === 'proxy')
    throw new ConfigError('v2 proxy is deprecated, and --discovery-fallback can\'t be configured as "proxy"');
  const electionTimeoutMs = checkElection(values.number('heartbeat-interval'), values.number('election-timeout'));
  const quota = values.number('quota-backend-bytes');
  if (quota > QUOTA_ADVISED_BYTES)
    warnings.push(`--quota-backend-bytes=${quota} is more than the advised ${QUOTA_ADVISED_BYTES}`);
  const maxRequestBytes = values.number('max-request-bytes');
  if (maxRequestBytes > REQUEST_ADVISED_BYTES) {
    warnings.push(`--max-request-bytes=${maxRequestBytes} is more than the advised ${REQUEST_ADVISED_BYTES}`);
  }
  // 0 means "not set", as in etcd: the default applies.
  const progressMs = values.durationMs('watch-progress-notify-interval') || PROGRESS_DEFAULT_MS;
  if (progressMs < PROGRESS_MIN_MS) warnings.push('adjusting --watch-progress-notify-interval to its minimum, 100ms');
  const storage = values.text('storage');
  if (storage !== 'auto' && storage !== 'memory' && storage !== 'tikv' && !isStorageEngine(storage))
    throw new ConfigError(`--storage=${storage}: expected auto, ${storageEngines.join(', ')}, tikv or memory`);
  const transport = values.text('transport');
  if (transport !== 'native' && transport !== 'grpc-js') {
    throw new ConfigError(`--transport=${transport}: expected native or grpc-js`);
  }

  return {
    name,
    dataDir: values.text('data-dir') || `${name}.etcd`,
    transport,
    storage,
    memory: memoryBounds(
      values,
      warnings,
      [...listenClientUrls, ...listenClientHttpUrls, ...listenMetricsUrls].some(({ secure }) => secure),
    ),
    from: migrationConfig(values),
    discardUnfinished: values.bool('discard-unfinished'),
    newCluster: values.text('initial-cluster-state') === 'new',
    listenClientUrls,
    listenClientHttpUrls,
    listenMetricsUrls,
    advertiseClientUrls: advertiseClientUrls.map(({ text }) => text),
    advertisePeerUrls: ownPeerUrls,
    firstStart: firstStartOf(values, name, ownPeerUrls),
    tls: tlsConfig(values, [...listenClientUrls, ...listenClientHttpUrls], listenMetricsUrls, warnings),
    auth: authConfig(values, warnings),
    electionTimeoutMs,
    cluster,
    quotaBytes: quota < 0 ? undefined : quota === 0 ? QUOTA_DEFAULT_BYTES : quota,
    maxTxnOps: values.number('max-txn-ops'),
    maxRequestBytes,
    maxConcurrentStreams: values.number('max-concurrent-streams') || STREAMS_DEFAULT,
    maxConnections: values.number('max-connections'),
    maxDescriptors: values.number('max-descriptors'),
    keepalive: {
      minTimeMs: values.durationMs('grpc-keepalive-min-time'),
      intervalMs: values.durationMs('grpc-keepalive-timeout') > 0 ? values.durationMs('grpc-keepalive-interval') : 0,
      timeoutMs: values.durationMs('grpc-keepalive-timeout'),
    },
    watchProgressIntervalMs: Math.max(progressMs, PROGRESS_MIN_MS),
    scrubBytesPerSecond: values.text('storage') === 'memory' ? 0 : values.number('scrub-bytes-per-second'),
    compaction: parseCompactionRetention(values.text('auto-compaction-mode'), values.text('auto-compaction-retention')),
    reusePort: values.bool('socket-reuse-port'),
    gateway: values.bool('enable-grpc-gateway'),
    corsOrigins: new Set(values.list('cors')),
    hostWhitelist: new Set(values.list('host-whitelist')),
    profiles: values.bool('enable-pprof'),
    extensiveMetrics: values.text('metrics') === 'extensive',
    tracing: tracingConfig(values, environment),
    metricsExport: metricsExportConfig(values, environment, warnings),
    featureGates: featureGatesOf(values),
    slowUnaryMs: values.durationMs('warning-unary-request-duration') || 300,
    slowCommitMs: values.durationMs('warning-apply-duration') || 100,
    loopBudgetMs: values.durationMs('loop-budget') || TURN_MS,
    loopBudgetCpu: values.bool('loop-budget-cpu') || values.bool('loop-budget-fatal'),
    loopBudgetFatal: values.bool('loop-budget-fatal'),
    log,
    warnings,
  };
}

function isStorageEngine(text: string): text is StorageEngine {
  return storageEngines.some((engine) => engine === text);
}

function refuseFlags(values: FlagValues, warnings: string[]): void {
  const changed = values.changed();
  const refusal = changed.find(({ group }) => group === 'refused');
  if (refusal !== undefined) throw new ConfigError(`--${refusal.name} is not supported: ${refusal.help}`);
  const without = changed.filter(({ group }) => group === 'ignored').map(({ name }) => `--${name}`);
  if (without.length > 0) warnings.push(`flags without effect here: ${without.join(' ')}`);
}

function featureGatesOf(values: FlagValues): ReadonlyMap<string, boolean> {
  const gates = parseFeatureGates(values.text('feature-gates'));
  assert(typeof gates !== 'string', '--feature-gates was taken over although it names no gates');
  if (gates.get('LeaseCheckpointPersist') === true && gates.get('LeaseCheckpoint') !== true) {
    throw new ConfigError(
      'enabling feature gate LeaseCheckpointPersist requires enabling feature gate LeaseCheckpoint',
    );
  }
  return gates;
}

function urlsOf(
  values: FlagValues,
  flag: string,
  problemOf: (urls: readonly ServeUrl[]) => string | undefined,
): readonly ServeUrl[] {
  const list = values.list(flag).join(',');
  if (list === '') return [];
  const urls = parseUrls(list);
  const problem = typeof urls === 'string' ? urls : problemOf(urls);
  if (typeof urls === 'string' || problem !== undefined)
    throw new ConfigError(`--${flag} ${JSON.stringify(list)}: ${problem}`);
  return urls;
}

function checkElection(heartbeatMs: number, electionMs: number): number {
  if (heartbeatMs === 0) throw new ConfigError('--heartbeat-interval must be >0 (set to 0ms)');
  if (electionMs === 0) throw new ConfigError('--election-timeout must be >0 (set to 0ms)');
  if (5 * heartbeatMs > electionMs) {
    throw new ConfigError(
      `--election-timeout[${electionMs}ms] should be at least as 5 times as --heartbeat-interval[${heartbeatMs}ms]`,
    );
  }
  if (electionMs > ELECTION_MAX_MS) {
    throw new ConfigError(
      `--election-timeout[${electionMs}ms] is too long, and should be set less than ${ELECTION_MAX_MS}ms`,
    );
  }
  return electionMs;
}
