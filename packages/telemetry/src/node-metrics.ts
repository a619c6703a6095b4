import { hex } from './hex-id.ts';
import type { MetricRegistry } from './metric-registry.ts';
import { exponentialBounds, type Sample } from './plain-histogram.ts';

/** A node's state, read at each scrape. */
export interface NodeGauges {
  readonly memberId: bigint;
  /** In etcd's form, "3.7.3". The cluster's version has major and minor only, "3.7". */
  readonly serverVersion: string;
  readonly clusterVersion: string;
  readonly featureGates: ReadonlyMap<string, { readonly enabled: boolean; readonly stage: string }>;
  readonly leader: boolean;
  readonly hasLeader: boolean;
  readonly learner: boolean;
  readonly revision: number;
  readonly compactRevision: number;
  readonly authRevision: number;
  readonly keys: number;
  /** Records of the log that this node knows to be durable, and those that have taken effect; etcd counts proposals here. */
  readonly committed: number;
  readonly applied: number;
  readonly term: number;
  readonly leaderChanges: number;
  readonly lateHeartbeats: number;
  readonly slowReadIndexes: number;
  readonly failedReadIndexes: number;
  readonly promotions: number;
  readonly refusedPromotions: ReadonlyMap<string, number>;
  readonly refusedTakeovers: number;
  /** For how long storage has not answered the append of this leader. */
  readonly stalledSeconds: number;
  readonly totalBytes: number;
  readonly inUseBytes: number;
  readonly quotaBytes: number;
  readonly watchers: number;
  readonly watchStreams: number;
  readonly slowWatchers: number;
  readonly pendingEvents: number;
  /** Memory of the pending events. */
  readonly pendingEventBytes: number;
  /** Answers, snapshots and scans under way that hold old versions back from compaction. */
  readonly pins: number;
  /** Kinds are the numbers of etcdserverpb.AlarmType. */
  readonly alarms: readonly { readonly memberId: bigint; readonly alarm: number }[];
}

const alarmNames = ['NONE', 'NOSPACE', 'CORRUPT'];

/** Counts health checks. The HTTP endpoints add to it. */
export class HealthMetrics {
  readonly #checks = new Map<
    string,
    { readonly type: string; readonly name: string; ok: boolean; readonly counts: [number, number] }
  >();
  #successes = 0;
  #failures = 0;

  constructor(registry: MetricRegistry) {
    registry.counter('etcd_server_health_success', '/health answers that were good.', () => this.#successes);
    registry.counter('etcd_server_health_failures', '/health answers that were bad.', () => this.#failures);
    registry.gauge('etcd_server_healthcheck', 'The last result of each check of /livez and /readyz.', () =>
      [...this.#checks.values()].map(({ type, name, ok }) => ({ labels: { type, name }, value: ok ? 1 : 0 })),
    );
    registry.counter('etcd_server_healthchecks_total', 'Results of each check of /livez and /readyz.', () =>
      [...this.#checks.values()].flatMap(({ type, name, counts }) =>
        counts.map((value, at) => ({ labels: { type, name, status: at === 0 ? 'success' : 'error' }, value })),
      ),
    );
  }

  health(ok: boolean): void {
    if (ok) this.#successes += 1;
    else this.#failures += 1;
  }

  check(type: 'livez' | 'readyz', name: string, ok: boolean): void {
    const id = `${type}/${name}`;
    const check = this.#checks.get(id) ?? { type, name, ok, counts: [0, 0] };
    check.ok = ok;
    check.counts[ok ? 0 : 1] += 1;
    this.#checks.set(id, check);
  }
}

/** etcd's gauges of a node's state. Gauges for parts that this node does not have stay 0. */
export function registerNodeMetrics(registry: MetricRegistry, node: () => NodeGauges): void {
  const gauge = (name: string, help: string, read: (gauges: NodeGauges) => number | readonly Sample[]): void =>
    registry.gauge(name, help, () => read(node()));
  const one = (labels: Record<string, string>): readonly Sample[] => [{ labels, value: 1 }];

  gauge('etcd_server_has_leader', '1 when there is a leader.', ({ hasLeader }) => (hasLeader ? 1 : 0));
  gauge('etcd_server_is_leader', '1 when this member leads.', ({ leader }) => (leader ? 1 : 0));
  gauge('etcd_server_is_learner', '1 when this member is a learner.', ({ learner }) => (learner ? 1 : 0));
  gauge(
    'engram_storage_stalled_seconds',
    "For how long this leader's append has waited for a storage that does not answer; 0: it answers.",
    ({ stalledSeconds }) => stalledSeconds,
  );
  const counter = (name: string, help: string, read: (gauges: NodeGauges) => number | readonly Sample[]): void =>
    registry.counter(name, help, () => read(node()));
  gauge('engram_term', "Raft's term, as answers' headers show it.", ({ term }) => term);
  counter(
    'etcd_server_leader_changes_seen_total',
    'Leaders that this member has seen come, the first included.',
    ({ leaderChanges }) => leaderChanges,
  );
  counter(
    'engram_takeovers_refused_total',
    'Times that this member was elected and did not lead, because the timestamps of storage (PD) went back.',
    ({ refusedTakeovers }) => refusedTakeovers,
  );
  counter(
    'etcd_server_heartbeat_send_failures_total',
    'Times that this member led and was late with its heartbeats.',
    ({ lateHeartbeats }) => lateHeartbeats,
  );
  counter(
    'etcd_server_slow_read_indexes_total',
    'Questions whether the leader still leads that nobody has answered in time.',
    ({ slowReadIndexes }) => slowReadIndexes,
  );
  counter(
    'etcd_server_read_indexes_failed_total',
    'Questions whether the leader still leads that have failed.',
    ({ failedReadIndexes }) => failedReadIndexes,
  );
  counter(
    'etcd_server_learner_promote_successes',
    "Learners that became voters by a call of this member's clients.",
    ({ promotions }) => promotions,
  );
  counter(
    'etcd_server_learner_promote_failures',
    'Such calls that were refused, by the reason.',
    ({ refusedPromotions }) => [...refusedPromotions].map(([Reason, value]) => ({ labels: { Reason }, value })),
  );
  gauge('etcd_server_id', "1 for this member's id, in hexadecimal.", ({ memberId }) =>
    one({ server_id: hex(memberId) }),
  );
  gauge('etcd_server_version', '1 for the version of etcd that this server is compatible with.', ({ serverVersion }) =>
    one({ server_version: serverVersion }),
  );
  gauge('etcd_cluster_version', "1 for the cluster's version.", ({ clusterVersion }) =>
    one({ cluster_version: clusterVersion }),
  );
  gauge('etcd_server_go_version', '1 for the version of the runtime, which is Node.', () =>
    one({ server_go_version: `node ${process.version}` }),
  );
  gauge('etcd_server_feature_enabled', '1 for each feature gate that is on.', ({ featureGates }) =>
    [...featureGates].map(([name, { enabled, stage }]) => ({ labels: { name, stage }, value: enabled ? 1 : 0 })),
  );
  gauge('etcd_server_proposals_committed_total', 'Records known to be in the log.', ({ committed }) => committed);
  gauge('etcd_server_proposals_applied_total', 'Records applied.', ({ applied }) => applied);
  gauge(
    'etcd_server_quota_backend_bytes',
    'Bytes that the data may take; +Inf: no bound.',
    ({ quotaBytes }) => quotaBytes,
  );
  gauge('etcd_mvcc_db_total_size_in_bytes', 'Bytes on disk.', ({ totalBytes }) => totalBytes);
  gauge(
    'etcd_mvcc_db_total_size_in_use_in_bytes',
    'Bytes on disk that live versions need.',
    ({ inUseBytes }) => inUseBytes,
  );
  gauge('etcd_debugging_mvcc_current_revision', 'The revision of the store.', ({ revision }) => revision);
  gauge(
    'etcd_debugging_mvcc_compact_revision',
    'The revision of the last compaction, -1 before the first.',
    ({ compactRevision }) => compactRevision,
  );
  gauge('etcd_debugging_auth_revision', 'The revision of users and roles.', ({ authRevision }) => authRevision);
  gauge('etcd_debugging_mvcc_keys_total', 'Keys that live.', ({ keys }) => keys);
  gauge('etcd_debugging_mvcc_watcher_total', 'Watchers.', ({ watchers }) => watchers);
  gauge('etcd_debugging_mvcc_watch_stream_total', 'Watch streams.', ({ watchStreams }) => watchStreams);
  gauge('etcd_debugging_mvcc_slow_watcher_total', 'Watchers that are behind.', ({ slowWatchers }) => slowWatchers);
  gauge(
    'etcd_debugging_mvcc_pending_events_total',
    'Events that wait to be sent.',
    ({ pendingEvents }) => pendingEvents,
  );
  gauge(
    'engram_watch_backlog_bytes',
    'Memory that events take which wait for a watcher that catches up.',
    ({ pendingEventBytes }) => pendingEventBytes,
  );
  gauge(
    'engram_read_pins',
    'Answers, snapshots and scans under way that hold old versions back from compaction.',
    ({ pins }) => pins,
  );
  gauge('etcd_debugging_server_alarms', '1 for each alarm that is raised.', ({ alarms }) =>
    alarms.map(({ memberId, alarm }) => ({
      labels: { server_id: hex(memberId), alarm_type: alarmNames[alarm] ?? String(alarm) },
      value: 1,
    })),
  );
  registerZeros(registry);
}

/**
 * Metrics of etcd's snapshots and bbolt, which are always 0 here. Dashboards compute rates of them, and a
 * missing metric breaks an expression where a zero does not.
 */
function registerZeros(registry: MetricRegistry): void {
  const nothing = 'Always 0 here: kept for the dashboards and alerts that ask for it.';
  const zero = (): number => 0;
  for (const name of zeroGauges) registry.gauge(name, nothing, zero);
  for (const [name, bounds] of zeroHistograms) registry.histogram(name, nothing, bounds);
  for (const name of unlabelledCounters) registry.counter(name, nothing, () => []);
}

const diskBounds = exponentialBounds(0.001, 2, 14);
const zeroGauges = [
  'etcd_server_snapshot_apply_in_progress_total',
  'etcd_mvcc_db_open_read_transactions',
  'etcd_disk_defrag_inflight',
];
const zeroHistograms: readonly (readonly [string, readonly number[]])[] = [
  ['etcd_snap_db_save_total_duration_seconds', exponentialBounds(0.1, 2, 10)],
  ['etcd_snap_db_fsync_duration_seconds', diskBounds],
  ['etcd_snap_fsync_duration_seconds', diskBounds],
  ['etcd_debugging_mvcc_db_compaction_pause_duration_milliseconds', exponentialBounds(1, 2, 13)],
  ['etcd_debugging_mvcc_index_compaction_pause_duration_milliseconds', exponentialBounds(0.5, 2, 14)],
  ['etcd_debugging_server_watch_send_loop_watch_stream_duration_seconds', diskBounds],
  ['etcd_debugging_server_watch_send_loop_watch_stream_duration_per_event_seconds', diskBounds],
  ['etcd_debugging_server_watch_send_loop_control_stream_duration_seconds', diskBounds],
  ['etcd_debugging_server_watch_send_loop_progress_duration_seconds', diskBounds],
];
// In etcd these appear with their first labels. Until then only their names are exposed.
const unlabelledCounters = ['etcd_network_server_stream_failures_total'];
