import {
  type Clock,
  EngramError,
  type Epoch,
  type KeyRange,
  type LeaseId,
  type Logger,
  type Random,
  type RangeOp,
  type Revision,
  revision,
  SortTarget,
  type Timer,
  type Txn,
} from '@engram/core';
import { Pins, RecordCache, Scanner, type ScanResult, VersionBytes } from '@engram/scanner';
import type { Storage } from '@engram/storage';
import { WatchHub } from '@engram/watch-hub';
import { checkpointPays } from './checkpoint-policy.ts';
import { Checkpointer } from './checkpointer.ts';
import { Compactor } from './compactor.ts';
import { hashKv } from './hash-kv.ts';
import { LeaseKeeper } from './lease-keeper.ts';
import { LeaseService } from './lease-service.ts';
import type { StoreObserver } from './observer.ts';
import { isReadOnly, LEASE_COST_BYTES, txnCost } from './quota.ts';
import { recover, type Recovered } from './recovery.ts';
import { ALARM_CORRUPT, ALARM_NOSPACE, alarmName, hasAlarm, type ReplicatedState } from './replicated-state.ts';
import type {
  Alarm,
  HashKvResult,
  LeaseView,
  RangeResult,
  Store,
  StoreImage,
  StoreStatus,
  TxnResult,
} from './store.ts';
import { takeImage } from './store-image.ts';
import { WatchHistory } from './watch-history.ts';
import { WritePath } from './write-path.ts';

export interface BackendOptions {
  /** The backend owns it from here on, and disposes it with itself. */
  readonly storage: Storage;
  readonly epoch: Epoch;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Holds the log's seal; whose alarm it is when the quota is reached. */
  readonly memberId: bigint;
  readonly observer?: StoreObserver;
  /** etcd: ceil(1.5 election timeouts). */
  readonly minLeaseTtlSeconds?: number;
  /** 0 or less: no quota. */
  readonly quotaBytes?: number;
  /** Encoded versions kept in memory for readers and watchers. */
  readonly cacheBytesMax?: number;
  readonly batchBytesMax?: number;
  readonly waitingBytesMax?: number;
  /** etcd: 5 s and two election timeouts. */
  readonly requestTimeoutMs?: number;
  readonly watchProgressIntervalMs?: number;
  /** At least this much log between two index checkpoints; more when the checkpoint itself is larger. */
  readonly checkpointEveryBytes?: number;
  /** Storage failed for good: the node must end. */
  readonly onFatal: (error: Error) => void;
}

const MIB = 1024 * 1024;
const CHECKPOINT_RETRY_MS = 10_000;
/** Below the five seconds that etcdctl waits for an answer. */
const DEFRAGMENT_WAIT_MS = 3000;

/** Seals the log for `epoch`, rebuilds the state from it, and serves. Rejects where the log is damaged. */
export async function openBackend(options: BackendOptions): Promise<Backend> {
  const next = await options.storage.log.seal({ epoch: options.epoch, holder: options.memberId });
  const recovered = await recover(options.storage, next, {
    minLeaseTtlSeconds: options.minLeaseTtlSeconds ?? 2,
    clock: options.clock,
    logger: options.logger,
    signal: new AbortController().signal,
  });
  return new Backend(options, recovered);
}

/** The store over one log: see `Store` for what its methods promise. */
export class Backend implements Store, AsyncDisposable {
  readonly watchHub: WatchHub;
  readonly #options: BackendOptions;
  readonly #state: ReplicatedState;
  readonly #scanner: Scanner;
  readonly #pins = new Pins();
  readonly #writes: WritePath;
  readonly #compactor: Compactor;
  readonly #checkpointer: Checkpointer;
  readonly #leases: LeaseService;
  readonly #leaseKeeper: LeaseKeeper;
  readonly #observer: StoreObserver;
  readonly #neverAborted = new AbortController().signal;
  /** The highest revision that a compaction was decided for, durable or not. */
  #compactDecided: Revision;
  /** Of `bytesAppended`, before the newest checkpoint; negative while there is log from before this start. */
  #checkpointedBytes: number;
  #checkpointNotBeforeMs = 0;
  #closed = false;

  /** See `openBackend`. */
  constructor(options: BackendOptions, recovered: Recovered) {
    const { clock, logger, random, storage } = options;
    const { state } = recovered;
    this.#options = options;
    this.#state = state;
    this.#observer = options.observer ?? {};
    this.#compactDecided = state.compactRevision;
    this.#checkpointedBytes = -recovered.replayedBytes;
    const cache = new RecordCache(options.cacheBytesMax ?? 64 * MIB);
    const bytes = new VersionBytes(cache, storage.values);
    this.#scanner = new Scanner({ index: state.index, bytes, pins: this.#pins, clock });
    this.watchHub = new WatchHub({
      history: new WatchHistory(state, this.#scanner),
      revision: state.revision,
      clock,
      random,
      progressIntervalMs: options.watchProgressIntervalMs ?? 600_000,
      logger,
    });
    this.#writes = new WritePath({
      state,
      log: storage.log,
      seal: { epoch: options.epoch, holder: options.memberId },
      next: recovered.next,
      hub: this.watchHub,
      cache,
      bytes,
      scanner: this.#scanner,
      pins: this.#pins,
      clock,
      logger,
      observer: this.#observer,
      onAppended: (durationMs, records, appendedBytes) => this.#appended(durationMs, records, appendedBytes),
      batchBytesMax: options.batchBytesMax ?? 4 * MIB,
      waitingBytesMax: options.waitingBytesMax ?? 256 * MIB,
      timeoutMs: options.requestTimeoutMs ?? 7000,
      onFatal: options.onFatal,
    });
    this.#checkpointer = new Checkpointer({
      state,
      values: storage.values,
      clock,
      logger,
      from: recovered.checkpointFrom,
      sequenced: () => this.#writes.sequenced,
      durable: (next) => this.#writes.durable(next),
      garbage: () => this.#compactor.deferred,
    });
    this.#compactor = new Compactor(
      {
        state,
        values: storage.values,
        pins: this.#pins,
        clock,
        logger,
        checkpointed: () => this.#checkpointer.from,
        onFinished: (at, dropped, durationMs) => this.#observer.compacted?.(at, dropped, durationMs),
      },
      recovered.garbage,
    );
    this.#leases = new LeaseService({ state, writes: this.#writes, clock, random, observer: this.#observer });
    this.#leaseKeeper = new LeaseKeeper({
      lessor: state.lessor,
      clock,
      logger,
      revoke: (id) => this.#leases.revoke(id),
      onExpired: () => this.#observer.leaseExpired?.(),
    });
    this.#leaseKeeper.start();
    this.#background(
      this.#compactor.dropCovered().then(() => this.#compactor.start()),
      'compaction',
    );
  }

  get revision(): Revision {
    return this.#writes.revision;
  }

  get compactRevision(): Revision {
    return this.#state.compactRevision;
  }

  range(op: RangeOp, signal: AbortSignal | undefined): RangeResult | Promise<RangeResult> {
    this.#observer.range?.();
    const current = this.revision;
    const at = this.#readable(op.revision);
    const scanned = this.#scanner.scan(op, at, signal ?? this.#neverAborted);
    return scanned instanceof Promise
      ? scanned.then((result) => rangeResult(current, result))
      : rangeResult(current, scanned);
  }

  async *rangeStream(op: RangeOp, chunkBytes: number, signal: AbortSignal): AsyncGenerator<RangeResult> {
    if (op.sortTarget !== SortTarget.KEY) {
      // What is not sorted by key has no chunks that come in order: the answer is one.
      yield await this.range(op, signal);
      return;
    }
    this.#observer.range?.();
    const current = this.revision;
    const at = this.#readable(op.revision);
    const compacted = (): boolean => at < this.#state.compactRevision;
    for await (const { last: _last, ...chunk } of this.#scanner.stream(op, at, chunkBytes, compacted, signal)) {
      yield rangeResult(current, chunk);
    }
  }

  txn(txn: Txn, _signal: AbortSignal | undefined): Promise<TxnResult> {
    // Decided in this call, not in a later turn: who sends two writes on one connection finds them in that order.
    try {
      if (!isReadOnly(txn)) {
        if (hasAlarm(this.#state, ALARM_CORRUPT)) throw new EngramError('Corrupt');
        const cost = txnCost(txn);
        const refusal = cost > 0 ? this.#refusalForSpace(cost) : undefined;
        if (refusal !== undefined) return refusal;
      }
      if (txn.success.length > 1 || txn.failure.length > 1) this.#observer.txn?.();
      return this.#writes.txn(txn);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  async compact(wanted: number, physical: boolean): Promise<void> {
    if (hasAlarm(this.#state, ALARM_CORRUPT)) throw new EngramError('Corrupt');
    if (wanted <= this.#compactDecided) throw new EngramError('Compacted');
    if (wanted > this.revision) throw new EngramError('FutureRev');
    const target = revision(wanted);
    this.#compactDecided = target;
    await this.#writes.append({ kind: 'compact', revision: target }, () => {
      this.#state.compactRevision = target;
      this.watchHub.compacted(target);
    });
    const worked = this.#compactor.start();
    if (!physical) {
      this.#background(worked, 'compaction');
      return;
    }
    await worked;
    await this.#checkpointer.take();
    await this.#compactor.dropCovered();
  }

  async leaseGrant(id: LeaseId, ttlSeconds: number): Promise<LeaseView> {
    if (hasAlarm(this.#state, ALARM_CORRUPT)) throw new EngramError('Corrupt');
    await this.#refusalForSpace(LEASE_COST_BYTES);
    return this.#leases.grant(id, ttlSeconds);
  }

  async leaseRevoke(id: LeaseId): Promise<Revision> {
    if (hasAlarm(this.#state, ALARM_CORRUPT)) throw new EngramError('Corrupt');
    return this.#leases.revoke(id);
  }

  leaseKeepAlive(id: LeaseId): number | Promise<number> {
    return this.#leases.keepAlive(id);
  }

  leaseTimeToLive(id: LeaseId): LeaseView | undefined {
    return this.#leases.timeToLive(id);
  }

  leaseKeys(id: LeaseId): readonly Uint8Array[] {
    return this.#state.lessor.keys(id);
  }

  leases(): readonly LeaseId[] {
    return this.#state.lessor.list();
  }

  alarms(): readonly Alarm[] {
    return [...this.#state.alarms.values()];
  }

  async activateAlarm(alarm: Alarm): Promise<void> {
    if (this.#state.alarms.has(alarmName(alarm))) return;
    await this.#writes.append({ kind: 'alarm', ...alarm, active: true }, () => this.#state.applyAlarm(alarm, true));
  }

  async deactivateAlarm(alarm: Alarm): Promise<boolean> {
    if (!this.#state.alarms.has(alarmName(alarm))) return false;
    await this.#writes.append({ kind: 'alarm', ...alarm, active: false }, () => this.#state.applyAlarm(alarm, false));
    return true;
  }

  async hashKv(wanted: number, signal: AbortSignal): Promise<HashKvResult> {
    const { compactRevision } = this.#state;
    // As in etcd (server/storage/mvcc/kvstore.go: hashByRev), for which it is no word for the current revision here.
    if (wanted < 0) return { hash: 0, hashRevision: revision(wanted), compactRevision };
    const upTo = this.#readable(wanted);
    const hash = await hashKv(this.#state, this.#scanner, this.#pins, this.#options.clock, upTo, signal);
    return { hash, hashRevision: upTo, compactRevision };
  }

  image(signal: AbortSignal): Promise<StoreImage> {
    return takeImage(this.#state, this.#scanner, this.#pins, this.#options.clock, this.revision, signal);
  }

  async defragment(): Promise<void> {
    const { storage, clock } = this.#options;
    const work = this.#reclaim(storage);
    this.#background(work, 'defragmentation');
    let timer: Timer | undefined;
    const patience = new Promise<void>((resolve) => {
      timer = clock.after(DEFRAGMENT_WAIT_MS, resolve);
    });
    await Promise.race([work, patience]).finally(() => timer?.cancel());
  }

  async #reclaim(storage: Storage): Promise<void> {
    await this.#compactor.start();
    await this.#checkpointer.take();
    await this.#compactor.dropCovered();
    await storage.values.reclaim?.();
  }

  status(): StoreStatus {
    const { totalBytes, inUseBytes } = this.#options.storage.values.size();
    return {
      totalBytes,
      inUseBytes: Math.min(inUseBytes, totalBytes),
      quotaBytes: this.#options.quotaBytes ?? 0,
      logPosition: this.#writes.sequenced.next,
      keys: this.#state.index.liveKeys,
    };
  }

  count(range: KeyRange): number {
    return this.#state.index.count(range, this.revision);
  }

  /** Ends the background work, waits for writes that are under way, and lets go of the storage. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#leaseKeeper.close();
    this.watchHub.close();
    await this.#writes.drained();
    await Promise.all([this.#checkpointer.close(), this.#compactor.close()]);
    await this.#options.storage[Symbol.asyncDispose]();
  }

  /** The revision that a read asks for, when it can be read. */
  #readable(wanted: number): Revision {
    if (wanted <= 0) return this.revision;
    if (wanted > this.revision) throw new EngramError('FutureRev');
    if (wanted < this.#state.compactRevision) throw new EngramError('Compacted');
    return revision(wanted);
  }

  /**
   * The write that reaches the quota is refused, and so is every later one until the alarm is taken back. The first one
   * is answered when the alarm is there: who asks for alarms after a refusal finds it.
   */
  #refusalForSpace(costBytes: number): Promise<never> | undefined {
    if (hasAlarm(this.#state, ALARM_NOSPACE)) throw new EngramError('NoSpace');
    const quotaBytes = this.#options.quotaBytes ?? 0;
    if (quotaBytes <= 0 || this.#options.storage.values.size().totalBytes + costBytes < quotaBytes) return undefined;
    return this.activateAlarm({ memberId: this.#options.memberId, alarm: ALARM_NOSPACE }).then(() => {
      throw new EngramError('NoSpace');
    });
  }

  #appended(durationMs: number, records: number, bytes: number): void {
    this.#observer.appended?.(durationMs, records, bytes);
    const { clock, checkpointEveryBytes = 128 * MIB } = this.#options;
    if (this.#checkpointer.running || this.#closed || clock.nowMs() < this.#checkpointNotBeforeMs) return;
    const behind = {
      bytes: this.#writes.bytesAppended - this.#checkpointedBytes,
      records: this.#writes.sequenced.next - this.#checkpointer.from,
    };
    if (!checkpointPays(behind, this.#state.index.versions, checkpointEveryBytes)) return;
    this.#checkpointedBytes = this.#writes.bytesAppended;
    const taken = this.#checkpointer.take().then(() => this.#compactor.dropCovered());
    this.#background(taken, 'index checkpoint');
  }

  /** Background work that fails is tried again with the next occasion; the log is whole without it. */
  #background(work: Promise<unknown>, what: string): void {
    work.catch((error: unknown) => {
      if (this.#closed) return;
      this.#checkpointNotBeforeMs = this.#options.clock.nowMs() + CHECKPOINT_RETRY_MS;
      this.#options.logger.error({ error: String(error) }, `${what} failed`);
    });
  }
}

const rangeResult = (at: Revision, { kvs, more, count }: ScanResult): RangeResult => ({
  kind: 'range',
  revision: at,
  kvs,
  more,
  count,
});
