import type { MetricRegistry } from './metric-registry.ts';
import { exponentialBounds, type HistogramReading, PlainHistogram, type RecordedCall } from './plain-histogram.ts';

/** Paths of calls that etcd would propose to Raft, with etcd's names for them in its metrics. */
const proposing: ReadonlyMap<string, string> = new Map([
  ['/etcdserverpb.KV/Put', 'Put'],
  ['/etcdserverpb.KV/DeleteRange', 'DeleteRange'],
  ['/etcdserverpb.KV/Txn', 'Txn'],
  ['/etcdserverpb.KV/Compact', 'Compaction'],
  ['/etcdserverpb.Lease/LeaseGrant', 'LeaseGrant'],
  ['/etcdserverpb.Lease/LeaseRevoke', 'LeaseRevoke'],
  ['/etcdserverpb.Maintenance/Alarm', 'Alarm'],
]);

/** Calls whose duration has its own histogram in etcd. */
const timed = [
  ['/etcdserverpb.Maintenance/Hash', 'etcd_mvcc_hash_duration_seconds', 'How long Hash took.', 0.01, 15],
  ['/etcdserverpb.Maintenance/HashKV', 'etcd_mvcc_hash_rev_duration_seconds', 'How long HashKV took.', 0.01, 15],
  [
    '/etcdserverpb.Maintenance/Snapshot',
    'etcd_disk_backend_snapshot_duration_seconds',
    'How long snapshots took.',
    0.01,
    17,
  ],
  [
    '/etcdserverpb.Maintenance/Defragment',
    'etcd_disk_backend_defrag_duration_seconds',
    'How long Defragment took.',
    0.1,
    13,
  ],
] as const;

/**
 * gRPC codes of a request that may not have been decided: Canceled, DeadlineExceeded, and Unavailable, which etcd's timeouts have.
 * ResourceExhausted is a decision, as of a store without space. etcd's alert on failed proposals must not fire for it.
 */
const undecided: ReadonlySet<number> = new Set([1, 4, 14]);

/** The histograms that calls of one kind are counted in. */
export interface CallTiming {
  readonly proposal: boolean;
  readonly succeeded: PlainHistogram | undefined;
  readonly failed: PlainHistogram | undefined;
}

/** etcd's metrics of proposals and of long maintenance calls, derived from the duration of the calls. */
export class RequestTimings {
  readonly #timings = new Map<string, CallTiming>();
  #pending = 0;
  #failed = 0;

  constructor(registry: MetricRegistry) {
    registry.gauge('etcd_server_proposals_pending', 'Writes that have begun and have no answer.', () => this.#pending);
    registry.counter(
      'etcd_server_proposals_failed_total',
      'Writes that came to no decision: timed out, or given up.',
      () => this.#failed,
    );
    const applied: (readonly [op: string, CallTiming])[] = [];
    for (const [path, op] of proposing) {
      const bounds = exponentialBounds(0.0001, 2, 20);
      const timing = { proposal: true, succeeded: new PlainHistogram(bounds), failed: new PlainHistogram(bounds) };
      this.#timings.set(path, timing);
      applied.push([op, timing]);
    }
    registry.histograms(
      'etcd_server_apply_duration_seconds',
      'How long writes took until they were applied, the log included.',
      () =>
        applied.flatMap(([op, { succeeded, failed }]) => [...of(op, 'true', succeeded), ...of(op, 'false', failed)]),
    );
    for (const [path, name, help, start, count] of timed) {
      const histogram = registry.histogram(name, help, exponentialBounds(start, 2, count));
      this.#timings.set(path, { proposal: false, succeeded: histogram, failed: undefined });
    }
  }

  of(path: string): CallTiming | undefined {
    return this.#timings.get(path);
  }

  started({ proposal }: CallTiming): void {
    if (proposal) this.#pending += 1;
  }

  handled(timing: CallTiming, code: number, seconds: number, traced?: RecordedCall): void {
    (code === 0 ? timing.succeeded : timing.failed)?.observe(seconds, traced);
    if (!timing.proposal) return;
    this.#pending -= 1;
    if (undecided.has(code)) this.#failed += 1;
  }
}

/** As in etcd, there is nothing before the first call of a kind. */
function of(op: string, success: string, histogram: PlainHistogram | undefined): readonly HistogramReading[] {
  if (histogram === undefined || histogram.count === 0) return [];
  return [histogram.reading({ version: 'v3', op, success })];
}
