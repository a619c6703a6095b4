import type { Clock, EndedWrite } from '@engram/core';
import type { MetricRegistry } from './metric-registry.ts';
import { exponentialBounds } from './plain-histogram.ts';

/** Bucket bounds of etcd's disk metrics, in seconds. */
const diskBounds = exponentialBounds(0.001, 2, 14);

/** The stages by what a write waits for in each: its decision, the log, its append, its effect, its watchers, its answer. */
const STAGES = ['decide', 'queue', 'append', 'apply', 'publish', 'answer'] as const;
export type StageMs = Readonly<Record<(typeof STAGES)[number], number>>;

/** A stage that was not reached, or was passed by, took no time. */
const betweenUs = (fromUs: number, untilUs: number): number => (fromUs < 0 || untilUs < 0 ? 0 : untilUs - fromUs);

/** One without records of its own has nothing to publish: its answer follows its effect. */
const answerUs = ({ appliedUs, publishedUs, endedUs }: EndedWrite): number =>
  betweenUs(Math.max(appliedUs, publishedUs), endedUs);

const stageMs = (write: EndedWrite): StageMs => ({
  decide: betweenUs(0, write.decidedUs) / 1000,
  queue: betweenUs(write.decidedUs, write.appendingUs) / 1000,
  append: betweenUs(write.appendingUs, write.durableUs) / 1000,
  apply: betweenUs(write.durableUs, write.appliedUs) / 1000,
  publish: betweenUs(write.appliedUs, write.publishedUs) / 1000,
  answer: answerUs(write) / 1000,
});

/**
 * Counts what the store reports (backend's StoreObserver) under etcd's names. One append to the log includes write and
 * sync, so it stands for etcd's WAL sync and for its backend commit. Dashboards and alerts use both.
 */
export class StoreMetrics {
  #puts = 0;
  #putBytes = 0;
  #deletes = 0;
  #ranges = 0;
  #txns = 0;
  #appendedBytes = 0;
  #appendedRecords = 0;
  #slowAppends = 0;
  #compactedKeys = 0;
  #compactedAtSeconds = 0;
  #granted = 0;
  #revoked = 0;
  #renewed = 0;
  #expired = 0;
  readonly #clock: Clock;
  readonly #slowAppendMs: number;
  readonly #onSlowAppend: ((durationMs: number) => void) | undefined;
  readonly #onSlowWrite: ((stages: StageMs, traceId: string | undefined) => void) | undefined;
  readonly #writes = { answered: 0, refused: 0 };
  readonly #stagesUs = { decide: 0, queue: 0, append: 0, apply: 0, publish: 0, answer: 0 };
  readonly #append;
  readonly #compaction;
  readonly #leaseTtl;

  /** Appends and writes slower than `slowAppendMs` (etcd's --warning-apply-duration) are reported; appends count as slow. */
  constructor(
    registry: MetricRegistry,
    clock: Clock,
    slowAppendMs: number,
    onSlowAppend?: (durationMs: number) => void,
    onSlowWrite?: (stages: StageMs, traceId: string | undefined) => void,
  ) {
    this.#onSlowWrite = onSlowWrite;
    this.#clock = clock;
    this.#slowAppendMs = slowAppendMs;
    this.#onSlowAppend = onSlowAppend;
    registry.counter('etcd_mvcc_put_total', 'Puts, those inside transactions too.', () => this.#puts);
    registry.counter(
      'etcd_mvcc_delete_total',
      'Deletes, however many keys each; one for each key that ends with its lease.',
      () => this.#deletes,
    );
    registry.counter(
      'etcd_mvcc_range_total',
      'Ranges, compares of transactions, and looks at versions that puts and deletes supersede.',
      () => this.#ranges,
    );
    registry.counter(
      'etcd_mvcc_txn_total',
      "Transactions of the store with more than one of these. A client's has up to two: what it reads first, and its operations.",
      () => this.#txns,
    );
    registry.counter('engram_writes_total', 'Writes that have ended, those too that have changed nothing.', () => [
      { labels: { outcome: 'answered' }, value: this.#writes.answered },
      { labels: { outcome: 'refused' }, value: this.#writes.refused },
    ]);
    registry.counter('engram_write_stage_seconds_total', 'What these writes have spent in each stage.', () =>
      STAGES.map((stage) => ({ labels: { stage }, value: this.#stagesUs[stage] / 1e6 })),
    );
    registry.gauge(
      'etcd_debugging_mvcc_total_put_size_in_bytes',
      'Bytes of keys and values put.',
      () => this.#putBytes,
    );
    registry.gauge('etcd_disk_wal_write_bytes_total', 'Bytes appended to the log.', () => this.#appendedBytes);
    registry.counter('engram_log_records_total', 'Records appended to the log.', () => this.#appendedRecords);
    registry.counter(
      'etcd_server_slow_apply_total',
      'Appends that took longer than --warning-apply-duration.',
      () => this.#slowAppends,
    );
    this.#append = registry.histogram(
      'etcd_disk_wal_fsync_duration_seconds',
      'How long appends to the log took, sync included.',
      diskBounds,
    );
    const append = this.#append;
    for (const name of ['etcd_disk_backend_commit_duration_seconds', 'etcd_disk_wal_write_duration_seconds']) {
      registry.histograms(name, 'As etcd_disk_wal_fsync_duration_seconds: an append is all of these.', () => [
        append.reading({}),
      ]);
    }
    registry.counter(
      'etcd_debugging_mvcc_db_compaction_keys_total',
      'Versions that compaction has dropped.',
      () => this.#compactedKeys,
    );
    registry.gauge(
      'etcd_debugging_mvcc_db_compaction_last',
      'When a compaction last finished, in seconds since 1970.',
      () => this.#compactedAtSeconds,
    );
    this.#compaction = registry.histogram(
      'etcd_debugging_mvcc_db_compaction_total_duration_milliseconds',
      'How long compactions took.',
      exponentialBounds(100, 2, 14),
    );
    registry.counter('etcd_debugging_lease_granted_total', 'Leases granted.', () => this.#granted);
    registry.counter('etcd_debugging_lease_revoked_total', 'Leases revoked.', () => this.#revoked);
    registry.counter('etcd_debugging_lease_renewed_total', 'Leases renewed.', () => this.#renewed);
    registry.counter('etcd_debugging_server_lease_expired_total', 'Leases expired.', () => this.#expired);
    this.#leaseTtl = registry.histogram(
      'etcd_debugging_lease_ttl_total',
      'TTLs of granted leases, in seconds.',
      exponentialBounds(1, 2, 24),
    );
  }

  appended(durationMs: number, records: number, bytes: number): void {
    this.#append.observe(durationMs / 1000);
    this.#appendedRecords += records;
    this.#appendedBytes += bytes;
    if (durationMs <= this.#slowAppendMs) return;
    this.#slowAppends += 1;
    this.#onSlowAppend?.(durationMs);
  }

  write(write: EndedWrite): void {
    const { decidedUs, appendingUs, durableUs, appliedUs, publishedUs, endedUs } = write;
    this.#writes[write.stage === 'answered' ? 'answered' : 'refused'] += 1;
    if (appliedUs >= 0) {
      this.#ranges += write.ranges;
      this.#puts += write.puts;
      this.#putBytes += write.putBytes;
      this.#deletes += write.deletes;
      this.#txns += write.txns;
    }
    // As `stageMs`, which would make an object for each write.
    this.#stagesUs.decide += betweenUs(0, decidedUs);
    this.#stagesUs.queue += betweenUs(decidedUs, appendingUs);
    this.#stagesUs.append += betweenUs(appendingUs, durableUs);
    this.#stagesUs.apply += betweenUs(durableUs, appliedUs);
    this.#stagesUs.publish += betweenUs(appliedUs, publishedUs);
    this.#stagesUs.answer += answerUs(write);
    if (endedUs > this.#slowAppendMs * 1000) this.#onSlowWrite?.(stageMs(write), write.span?.context.traceId);
  }

  ranges(count: number): void {
    this.#ranges += count;
    if (count > 1) this.#txns += 1;
  }

  compacted(_revision: number, dropped: number, durationMs: number): void {
    this.#compactedKeys += dropped;
    this.#compactedAtSeconds = Math.floor(this.#clock.wallMs() / 1000);
    this.#compaction.observe(durationMs);
  }

  leaseGranted(ttlSeconds: number): void {
    this.#granted += 1;
    this.#leaseTtl.observe(ttlSeconds);
  }

  leaseRevoked(): void {
    this.#revoked += 1;
  }

  leaseRenewed(): void {
    this.#renewed += 1;
  }

  leaseExpired(): void {
    this.#expired += 1;
  }
}
