import { Loop } from '@engram/loop';
import { SimClock } from '@engram/sim';
import { expect, test } from 'vitest';
import {
  HealthMetrics,
  MetricRegistry,
  type NodeGauges,
  PeerMetrics,
  RpcMetrics,
  registerLogHolderMetrics,
  registerLoopMetrics,
  registerNodeMetrics,
  registerProcessMetrics,
  registerScrubMetrics,
  registerServiceMetrics,
  type ScrubReading,
  StoreMetrics,
} from '@engram/telemetry';
import { etcdMetricsAtStart } from './etcd-metrics.ts';

const RANGE = '/etcdserverpb.KV/Range';
const WATCH = '/etcdserverpb.Watch/Watch';
/** Counters need to know nothing of the call. */
const call = {};
const gauges: NodeGauges = {
  memberId: 0xabcn,
  serverVersion: '3.7.3',
  clusterVersion: '3.7',
  featureGates: new Map([['InitialCorruptCheck', { enabled: true, stage: 'ALPHA' }]]),
  leader: true,
  hasLeader: true,
  learner: false,
  stalledSeconds: 0,
  revision: 42,
  compactRevision: -1,
  authRevision: 12,
  keys: 7,
  committed: 9,
  applied: 8,
  term: 3,
  leaderChanges: 2,
  lateHeartbeats: 4,
  slowReadIndexes: 5,
  failedReadIndexes: 6,
  promotions: 1,
  refusedTakeovers: 4,
  refusedPromotions: new Map([['etcdserver: not ready', 2]]),
  totalBytes: 4096,
  inUseBytes: 1024,
  quotaBytes: 2 ** 31,
  watchers: 3,
  watchStreams: 2,
  slowWatchers: 1,
  pendingEvents: 5,
  pendingEventBytes: 2_500,
  pins: 4,
  alarms: [{ memberId: 0xabcn, alarm: 1 }],
};

function all(extensive = false) {
  const registry = new MetricRegistry();
  const rpc = new RpcMetrics(registry, { extensive, clock: new SimClock() });
  const range = rpc.hooks(RANGE, 'unary');
  const watch = rpc.hooks(WATCH, 'bidi');
  const counts = { events: 0, requests: [] as { type: string; version: string; count: number }[] };
  registerServiceMetrics(registry, counts, () => 6);
  const store = new StoreMetrics(registry, new SimClock(), 100);
  const health = new HealthMetrics(registry);
  registerNodeMetrics(registry, () => gauges);
  registerProcessMetrics(registry);
  const peers = new PeerMetrics(registry, () => 0xabcn);
  return { registry, range, watch, counts, store, health, peers };
}

/** The value of the line that begins with `line`; labels must be in the order of the exposition. */
async function lineValue(registry: MetricRegistry, line: string): Promise<number | undefined> {
  const found = (await registry.render()).text.split('\n').find((text) => text.startsWith(`${line} `));
  return found === undefined ? undefined : Number(found.slice(line.length + 1));
}

test('every metric of etcd is there from the start, of the same type', async () => {
  const { text } = await all().registry.render();
  const types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name, type]));
  for (const [name, type, values] of etcdMetricsAtStart) {
    expect(types.get(name), name).toBe(type);
    expect(new RegExp(`^${name}(?:_count)?(?:\\{.*\\})? `, 'm').test(text), `${name} has a value`).toBe(values);
  }
});

test('the leader, the term, the lag and the other members are told as they are', async () => {
  const { registry, peers } = all();
  peers.watch([
    [
      0xdefn,
      {
        connected: false,
        disconnections: 3,
        sentBytes: 1000,
        receivedBytes: 200,
        sendFailures: 7,
        receiveFailures: 1,
        refused: 2,
        refusedBatches: 8,
      },
    ],
  ]);
  peers.roundTrip(0xdefn, 1.5);
  const both = 'Local="abc",Remote="def"';
  for (const [line, value] of [
    ['etcd_server_leader_changes_seen_total', 2],
    ['engram_takeovers_refused_total', 4],
    ['etcd_server_heartbeat_send_failures_total', 4],
    ['etcd_server_slow_read_indexes_total', 5],
    ['etcd_server_read_indexes_failed_total', 6],
    ['etcd_server_learner_promote_successes', 1],
    ['etcd_server_learner_promote_failures{Reason="etcdserver: not ready"}', 2],
    ['etcd_server_proposals_committed_total', 9],
    ['etcd_server_proposals_applied_total', 8],
    ['engram_term', 3],
    [`etcd_network_known_peers{${both}}`, 1],
    [`etcd_network_active_peers{${both}}`, 0],
    [`etcd_network_disconnected_peers_total{${both}}`, 3],
    ['etcd_network_peer_sent_bytes_total{To="def"}', 1000],
    ['etcd_network_peer_received_bytes_total{From="def"}', 200],
    ['etcd_network_peer_sent_failures_total{To="def"}', 7],
    ['etcd_network_peer_received_failures_total{From="def"}', 1],
    ['engram_peer_refused_messages_total{From="def"}', 2],
    ['engram_follower_refused_batches_total{From="def"}', 8],
    ['etcd_network_peer_round_trip_time_seconds_bucket{To="def",le="0.0008"}', 0],
    ['etcd_network_peer_round_trip_time_seconds_bucket{To="def",le="0.0016"}', 1],
  ] as const) {
    expect(await lineValue(registry, line), line).toBe(value);
  }
});

test('a call is counted by its method and its code, and no other', async () => {
  const { registry, range, watch: watching } = all();
  range.begin();
  range.received(call, 10);
  range.sent(call, 300);
  range.end(call, { code: 0 }, 1.5);
  // etcd counts an answer of this one too.
  range.begin();
  range.received(call, 5);
  range.end(call, { code: 11 }, 1.5);
  watching.begin();
  watching.sent(call, 7);
  watching.sent(call, 7);
  watching.end(call, { code: 14 }, 5);
  const labels = 'grpc_type="unary",grpc_service="etcdserverpb.KV",grpc_method="Range"';
  const watch = 'grpc_type="bidi_stream",grpc_service="etcdserverpb.Watch",grpc_method="Watch"';
  for (const [line, value] of [
    [`grpc_server_started_total{${labels}}`, 2],
    [`grpc_server_handled_total{${labels},grpc_code="OK"}`, 1],
    [`grpc_server_handled_total{${labels},grpc_code="Unavailable"}`, 0],
    [`grpc_server_handled_total{${watch},grpc_code="Unavailable"}`, 1],
    [`grpc_server_handled_total{${watch},grpc_code="OK"}`, 0],
    [`grpc_server_msg_received_total{${labels}}`, 2],
    [`grpc_server_msg_sent_total{${labels}}`, 2],
    [`grpc_server_msg_sent_total{${watch}}`, 2],
    ['etcd_network_client_grpc_received_bytes_total', 15],
    ['etcd_network_client_grpc_sent_bytes_total', 314],
    ['etcd_server_request_duration_seconds_bucket{type="Range",success="true",le="0.001"}', 0],
    ['etcd_server_request_duration_seconds_bucket{type="Range",success="true",le="0.002"}', 1],
    ['etcd_server_range_duration_seconds_count{success="true"}', 1],
    ['etcd_server_range_duration_seconds_count{success="false"}', 1],
  ] as const) {
    expect(await lineValue(registry, line), line).toBe(value);
  }
});

test.each([
  { path: '/etcdserverpb.KV/Compact', type: 'Compaction' },
  { path: '/etcdserverpb.Auth/UserAdd', type: 'AuthUserAdd' },
  { path: '/etcdserverpb.Auth/AuthEnable', type: 'AuthEnable' },
  { path: '/etcdserverpb.Auth/Authenticate', type: 'Authenticate' },
  { path: '/etcdserverpb.Lease/LeaseGrant', type: 'LeaseGrant' },
])('the time of $path is that of $type', async ({ path, type }) => {
  const registry = new MetricRegistry();
  new RpcMetrics(registry, { extensive: false, clock: new SimClock() }).hooks(path, 'unary').end(call, { code: 9 }, 1);
  const line = `etcd_server_request_duration_seconds_count{type="${type}",success="false"}`;
  expect(await lineValue(registry, line)).toBe(1);
});

test.each([
  { code: 17, name: 'Unknown', why: 'gRPC names codes up to 16' },
  { code: -1, name: 'Unknown', why: 'and none below 0' },
  { code: 16, name: 'Unauthenticated', why: 'the last one' },
])('code $code counts as $name: $why', async ({ code, name }) => {
  const { registry, range } = all();
  range.end(call, { code }, 1);
  const labels = 'grpc_type="unary",grpc_service="etcdserverpb.KV",grpc_method="Range"';
  expect(await lineValue(registry, `grpc_server_handled_total{${labels},grpc_code="${name}"}`)).toBe(1);
});

test('what the services count by themselves is read at the scrape', async () => {
  const { registry, counts } = all();
  counts.requests.push({ type: 'unary', version: '3.6', count: 2 }, { type: 'stream', version: 'other', count: 936 });
  counts.events = 7;
  const { text } = await registry.render();
  expect(text.match(/^etcd_server_client_requests_total\{/gm)).toHaveLength(2);
  expect(text).toContain('etcd_server_client_requests_total{type="unary",client_api_version="3.6"} 2');
  expect(text).toContain('etcd_server_client_requests_total{type="stream",client_api_version="other"} 936');
  expect(text).toContain('etcd_debugging_mvcc_events_total 7');
  expect(text).toContain('engram_client_connections 6');
});

test('writes that are pending, that failed, and how long they took, under the names of etcd', async () => {
  const PUT = '/etcdserverpb.KV/Put';
  const SNAPSHOT = '/etcdserverpb.Maintenance/Snapshot';
  const registry = new MetricRegistry();
  const rpc = new RpcMetrics(registry, { extensive: false, clock: new SimClock() });
  const put = rpc.hooks(PUT, 'unary');
  const range = rpc.hooks(RANGE, 'unary');
  const snapshot = rpc.hooks(SNAPSHOT, 'server-stream');
  for (const method of [put, put, put, put, put, put, range, snapshot]) method.begin();
  put.end(call, { code: 0 }, 2);
  put.end(call, { code: 14 }, 7000); // etcdserver: request timed out
  put.end(call, { code: 1 }, 3); // its client gave up
  put.end(call, { code: 3 }, 1); // refused at once: not a failed proposal
  put.end(call, { code: 8 }, 1); // a store without space refuses, too
  range.end(call, { code: 14 }, 5);
  snapshot.end(call, { code: 0 }, 500);
  const { text } = await registry.render();
  for (const line of [
    'etcd_server_proposals_pending 1',
    'etcd_server_proposals_failed_total 2',
    'etcd_server_apply_duration_seconds_count{version="v3",op="Put",success="true"} 1',
    'etcd_server_apply_duration_seconds_count{version="v3",op="Put",success="false"} 4',
    'etcd_disk_backend_snapshot_duration_seconds_sum 0.5',
  ]) {
    expect(text).toContain(line);
  }
});

test('slow appends and slow writes are told', () => {
  const told: string[] = [];
  const registry = new MetricRegistry();
  const store = new StoreMetrics(
    registry,
    new SimClock(),
    100,
    (ms) => told.push(`append ${ms}`),
    ({ queue, append, publish }) => told.push(`write ${queue} ${append} ${publish}`),
  );
  store.appended(100, 1, 1);
  store.appended(101, 1, 1);
  const times = {
    askedMs: 0,
    decidedUs: 0,
    appendingUs: 70_000,
    durableUs: 100_000,
    appliedUs: 100_000,
    publishedUs: 100_000,
    endedUs: 100_000,
  };
  const counts = { stage: 'answered', ranges: 0, puts: 1, putBytes: 1, deletes: 0, txns: 0 };
  store.write({ ...times, ...counts });
  const slow = { durableUs: 101_000, appliedUs: 101_000, publishedUs: 103_000, endedUs: 103_000 };
  store.write({ ...times, ...counts, ...slow });
  expect(told).toEqual(['append 101', 'write 70 31 2']);
});

test('how long calls took, by method, is there with --metrics=extensive only', async () => {
  expect((await all(false).registry.render()).text).not.toContain('grpc_server_handling_seconds');
  expect((await all(true).registry.render()).text).toContain('grpc_server_handling_seconds_bucket');
});

test('the store is counted under the names of etcd', async () => {
  const { registry, store } = all();
  store.appended(150, 3, 1000);
  store.appended(2, 1, 24);
  const times = {
    askedMs: 10,
    decidedUs: 1000,
    appendingUs: 3000,
    durableUs: 10_000,
    appliedUs: 14_000,
    publishedUs: 16_000,
    endedUs: 19_000,
  };
  store.write({ ...times, stage: 'answered', ranges: 5, puts: 2, putBytes: 123, deletes: 1, txns: 2 });
  // Refused before it was decided, and refused after its effect: its caller did not wait for it.
  const nowhere = { decidedUs: -1, appendingUs: -1, durableUs: -1, appliedUs: -1, publishedUs: -1 };
  const none = { ranges: 0, puts: 0, putBytes: 0, deletes: 0, txns: 0 };
  // Not counted: nothing of it is in effect.
  const some = { ranges: 9, puts: 9, putBytes: 9, deletes: 9, txns: 2 };
  store.write({ ...times, ...nowhere, ...some, stage: 'refused' });
  // One that has changed nothing: answered when what it rests on was there.
  store.write({ ...times, ...nowhere, ...none, decidedUs: 0, appliedUs: 18_000, stage: 'answered' });
  // A range, and a transaction of three.
  store.ranges(1);
  store.ranges(3);
  store.compacted(7, 12, 250);
  store.leaseGranted(60);
  for (const [line, value] of [
    ['etcd_disk_wal_fsync_duration_seconds_count', 2],
    ['etcd_disk_backend_commit_duration_seconds_bucket{le="0.002"}', 1],
    ['etcd_disk_wal_write_bytes_total', 1024],
    ['etcd_server_slow_apply_total', 1],
    ['etcd_mvcc_put_total', 2],
    ['etcd_debugging_mvcc_total_put_size_in_bytes', 123],
    ['etcd_mvcc_delete_total', 1],
    ['etcd_mvcc_range_total', 9],
    ['etcd_mvcc_txn_total', 3],
    ['engram_writes_total{outcome="answered"}', 2],
    ['engram_writes_total{outcome="refused"}', 1],
    ['engram_write_stage_seconds_total{stage="append"}', 0.007],
    ['engram_write_stage_seconds_total{stage="apply"}', 0.004],
    ['engram_write_stage_seconds_total{stage="publish"}', 0.002],
    ['engram_write_stage_seconds_total{stage="answer"}', 0.004],
    ['engram_write_stage_seconds_total{stage="decide"}', 0.001],
    ['etcd_debugging_mvcc_db_compaction_keys_total', 12],
    ['etcd_debugging_lease_ttl_total_bucket{le="32"}', 0],
    ['etcd_debugging_lease_ttl_total_bucket{le="64"}', 1],
    ['etcd_server_id{server_id="abc"}', 1],
    ['etcd_debugging_server_alarms{server_id="abc",alarm_type="NOSPACE"}', 1],
    ['etcd_debugging_mvcc_compact_revision', -1],
    ['etcd_debugging_auth_revision', 12],
    ['etcd_server_feature_enabled{name="InitialCorruptCheck",stage="ALPHA"}', 1],
  ] as const) {
    expect(await lineValue(registry, line), line).toBe(value);
  }
});

test('health checks are counted by name and outcome', async () => {
  const { registry, health } = all();
  health.health(false);
  health.check('readyz', 'linearizable_read', true);
  health.check('readyz', 'linearizable_read', false);
  const labels = 'type="readyz",name="linearizable_read"';
  expect(await lineValue(registry, 'etcd_server_health_failures')).toBe(1);
  expect(await lineValue(registry, `etcd_server_healthcheck{${labels}}`)).toBe(0);
  expect(await lineValue(registry, `etcd_server_healthchecks_total{${labels},status="success"}`)).toBe(1);
  expect(await lineValue(registry, `etcd_server_healthchecks_total{${labels},status="error"}`)).toBe(1);
});

test('what waits for slow watchers is shown in events and in bytes', async () => {
  const { registry } = all();
  expect(await lineValue(registry, 'etcd_debugging_mvcc_pending_events_total')).toBe(5);
  expect(await lineValue(registry, 'engram_watch_backlog_bytes')).toBe(2_500);
});

test('what holds old versions back from compaction is shown', async () => {
  expect(await lineValue(all().registry, 'engram_read_pins')).toBe(4);
});

test('a member that holds the log back is shown with its time, and whether it is left behind', async () => {
  const registry = new MetricRegistry();
  let holders: { member: bigint; heldMs: number; leftBehind: boolean }[] = [];
  registerLogHolderMetrics(registry, () => holders);
  const lines = async () => (await registry.render()).text.split('\n').filter((line) => line.startsWith('engram_log_'));
  expect(await lines()).toEqual([]);
  holders = [{ member: 0xan, heldMs: 1500, leftBehind: true }];
  expect(await lines()).toEqual([
    'engram_log_held_seconds{member="a"} 1.5',
    'engram_log_member_left_behind{member="a"} 1',
  ]);
});

test('what was read back of the disk is there from the start, and not on a node that reads nothing back', async () => {
  const registry = new MetricRegistry();
  let reading: ScrubReading | undefined;
  registerScrubMetrics(registry, () => reading);
  const lines = async () =>
    (await registry.render()).text.split('\n').filter((line) => line.startsWith('engram_scrub_'));
  expect(await lines()).toEqual([]);
  reading = { records: 7, bytes: 700, damaged: 1, passes: 2 };
  expect(await lines()).toEqual([
    'engram_scrub_records_total 7',
    'engram_scrub_bytes_total 700',
    'engram_scrub_damaged_total 1',
    'engram_scrub_passes_total 2',
  ]);
});

test('what each class of work has used of the event loop, and for how long reads of files blocked it', async () => {
  const registry = new MetricRegistry();
  const loop = new Loop({ clock: new SimClock() });
  registerLoopMetrics(registry, loop);
  const before = (await registry.render()).text;
  expect(before).toContain('engram_loop_slices_total{class="client"} 0\n');
  expect(before).toContain('engram_loop_inline_read_seconds_total 0\n');
  expect(before).toContain('engram_loop_inline_reads_refused_total 0\n');
  expect(loop.inline.mayBegin(0)).toBe(true);
  loop.inline.spend(250);
  expect(loop.inline.mayBegin(1)).toBe(false);
  const { text } = await registry.render();
  expect(text).toContain('engram_loop_inline_read_seconds_total 0.25\n');
  expect(text).toContain('engram_loop_inline_reads_refused_total 1\n');
});
