import {
  assert,
  AssertionError,
  type Clock,
  type KeyRange,
  type Logger,
  type LogPosition,
  logPosition,
  type Random,
  type RangeOp,
  type Revision,
  revision,
  EngramError,
  Slice,
  SortTarget,
} from '@engram/core';
import { type PagedScanResult, Pins, RecordCache, Scanner, type ScanResult, VersionBytes } from '@engram/scanner';
import type { LogBatch, Storage } from '@engram/storage';
import { WatchHub } from '@engram/watch-hub';
import { Applier } from './applier.ts';
import { decodeBatch } from './batch-decoder.ts';
import { checkpointPays } from './checkpoint-policy.ts';
import { Checkpointer } from './checkpointer.ts';
import type { CommittedWrite } from './committed-write.ts';
import { Compactor } from './compactor.ts';
import { hashKv } from './hash-kv.ts';
import type { StoreObserver } from './observer.ts';
import type { Recovered } from './recovery.ts';
import type { ReplicatedState } from './replicated-state.ts';
import { type PartsFrom, sharedImage, type SharedImageOptions } from './shared-image.ts';
import type { HashKvResult, PagedRangeResult, RangeResult, StoreImage } from './store.ts';
import { takeImage } from './store-image.ts';
import type { WalkParts } from './walk-parts.ts';
import { WatchHistory } from './watch-history.ts';

export interface ReplicaOptions {
  /** The replica owns it from here on, and disposes it with itself. */
  readonly storage: Storage;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly observer?: StoreObserver;
  /** Encoded versions kept in memory for readers and watchers. */
  readonly cacheBytesMax?: number;
  readonly watchProgressIntervalMs?: number;
  /** Events kept for watchers that read history, of all together. */
  readonly watchBacklogBytesMax?: number;
  /** At least this much log between two index checkpoints; more when the checkpoint itself is larger. */
  readonly checkpointEveryBytes?: number;
  /** How long a snapshot may hold a compaction up before it is ended. */
  readonly imageHoldMaxMs?: number;
  /** What the answer to one transaction may hold. */
  readonly txnAnswerBytesMax?: number;
  /** Keys, versions or records that long work takes on at once at most. Without it each kind of work has its own measure. */
  readonly sliceMax?: number;
  /** An invariant is broken: the node must end. */
  readonly onFatal: (error: Error) => void;
}

const MIB = 1024 * 1024;
const TXN_ANSWER_BYTES_MAX = 512 * MIB;
const CHECKPOINT_RETRY_MS = 10_000;
const IMAGE_HOLD_MAX_MS = 600_000;

/**
 * One copy of the store: what every node has, leader or not. It owns what is visible (`revision`) and what has been
 * handed over as durable (`next`). Writes reach it by `apply` (on the leader, from its own log appends) or by `follow`
 * (raw batches that another node has committed); both end in the one place where a write takes effect.
 */
export class Replica implements AsyncDisposable {
  readonly state: ReplicatedState;
  readonly hub: WatchHub;
  readonly cache: RecordCache;
  readonly bytes: VersionBytes;
  readonly scanner: Scanner;
  readonly pins = new Pins();
  readonly clock: Clock;
  /** What the answer to one transaction may hold. */
  readonly txnAnswerBytesMax: number;
  /** Told of each write that carries an origin, when it takes effect. */
  onForwarded: ((write: CommittedWrite) => void) | undefined;
  /** Told when `applied` has moved. */
  onApplied: (() => void) | undefined;
  readonly #options: ReplicaOptions;
  readonly #walkParts: WalkParts;
  readonly #applier: Applier;
  readonly #compactor: Compactor;
  readonly #checkpointer: Checkpointer;
  #next: LogPosition;
  #needed: LogPosition;
  /** Bytes of the log behind the newest checkpoint. */
  #bytesBehind: number;
  #checkpointNotBeforeMs = 0;
  #closed = false;

  constructor(options: ReplicaOptions, recovered: Recovered) {
    const { clock, logger, random, storage } = options;
    const { state } = recovered;
    this.#options = options;
    this.clock = clock;
    this.txnAnswerBytesMax = options.txnAnswerBytesMax ?? TXN_ANSWER_BYTES_MAX;
    this.state = state;
    this.#next = recovered.next;
    this.#needed = recovered.next;
    this.#bytesBehind = recovered.replayedBytes;
    this.cache = new RecordCache(options.cacheBytesMax ?? 64 * MIB);
    this.bytes = new VersionBytes(this.cache, storage.values);
    const { sliceMax } = options;
    this.scanner = new Scanner({
      index: state.index,
      bytes: this.bytes,
      pins: this.pins,
      clock,
      ...(sliceMax === undefined ? {} : { sliceUs: sliceMax }),
    });
    const walkMax = sliceMax ?? Number.POSITIVE_INFINITY;
    this.#walkParts = { state, scanner: this.scanner, pins: this.pins, clock, sliceMax: walkMax };
    this.hub = new WatchHub({
      history: new WatchHistory({ state, scanner: this.scanner, clock, sliceUs: sliceMax }),
      revision: state.revision,
      clock,
      random,
      progressIntervalMs: options.watchProgressIntervalMs ?? 600_000,
      ...(options.watchBacklogBytesMax === undefined ? {} : { backlogTotalBytesMax: options.watchBacklogBytesMax }),
      logger,
    });
    this.#applier = new Applier({
      state,
      hub: this.hub,
      cache: this.cache,
      bytes: this.bytes,
      scanner: this.scanner,
      next: recovered.next,
      logger,
      clock,
      sliceUs: sliceMax,
      onForwarded: (write) => this.onForwarded?.(write),
      onApplied: () => this.onApplied?.(),
      onCompacted: () => this.#background(this.#compactor.start(), 'compaction'),
      onFatal: options.onFatal,
    });
    this.#checkpointer = new Checkpointer({
      state,
      values: storage.values,
      clock,
      logger,
      from: recovered.checkpointFrom,
      applied: () => this.#applier.next,
      garbage: () => this.#compactor.untold,
      sliceMax: walkMax,
    });
    this.#compactor = new Compactor(
      {
        state,
        values: storage.values,
        pins: this.pins,
        clock,
        logger,
        holdMaxMs: options.imageHoldMaxMs ?? IMAGE_HOLD_MAX_MS,
        checkpointed: () => this.#checkpointer.from,
        sliceMax: walkMax,
        onFinished: (at, dropped, durationMs) => options.observer?.compacted?.(at, dropped, durationMs),
      },
      recovered.garbage,
    );
    this.#background(
      this.#compactor.dropCovered().then(() => this.#compactor.start()),
      'compaction',
    );
  }

  /** What readers see: durable, taken effect, and told to watchers. */
  get revision(): Revision {
    return this.state.revision;
  }

  /** Every record before it is durable and has been handed over; `applied` may still lag a little. */
  get next(): LogPosition {
    return this.#next;
  }

  /** Every record before it has taken effect. */
  get applied(): LogPosition {
    return this.#applier.next;
  }

  /**
   * What this node needs of the log that it shares begins here: every record before it has taken effect, and nobody here reads
   * what a compaction before it has made invisible. An image that rests on no more than that lacks nothing that is read here.
   */
  get needed(): LogPosition {
    if (!this.pins.holdsBelow(this.state.compactRevision)) this.#needed = this.applied;
    return this.#needed;
  }

  /** A checkpoint is being taken. */
  get checkpointing(): boolean {
    return this.#checkpointer.running;
  }

  /** For work of this node that may be long. */
  newSlice(): Slice {
    return new Slice(this.#options.sliceMax);
  }

  /** See `Applier.wholeLeases`. */
  wholeLeases(): Promise<void> {
    return this.#applier.wholeLeases();
  }

  /** See `Applier.prefetch`. */
  prefetch(writes: readonly CommittedWrite[]): void {
    this.#applier.prefetch(writes);
  }

  /**
   * The leader's own writes, durable now, their versions in the index already. `bytes` of log hold them up to `next`.
   * `applied` is called when they have taken effect; the next ones do when its promise has resolved.
   */
  apply(
    writes: readonly CommittedWrite[],
    next: LogPosition,
    bytes: number,
    applied: () => void | Promise<void>,
  ): void {
    assert(next > this.#next, 'applied twice');
    this.#next = next;
    this.#applier.apply(writes, next, applied);
    this.#maybeCheckpoint(bytes);
  }

  /** A batch that is in the log, of whichever leader. It must go on where this replica ends. */
  follow(batch: LogBatch): void {
    assert(batch.first === this.#next, `the log goes on at ${batch.first}, not at ${this.#next}`);
    this.cache.forgetPending(batch.first); // of a leadership of this node that has ended
    const writes = decodeBatch(batch, this.state.index, false);
    let bytes = 0;
    for (const record of batch.records) bytes += record.length;
    for (const { group } of writes) {
      if (group === undefined) continue;
      for (const event of group.events) this.cache.addPending(event.position, event.kv);
    }
    this.apply(writes, logPosition(batch.first + batch.records.length), bytes, nothing);
  }

  /** Resolves when all that was handed over has taken effect. */
  settled(): Promise<void> {
    return this.#applier.idle();
  }

  /** The caller has made sure that the revision is as fresh as the reader wants it. Compacted, FutureRev. */
  range(op: RangeOp, signal: AbortSignal): RangeResult | Promise<RangeResult> {
    this.#options.observer?.range?.();
    const current = this.revision;
    const scanned = this.scanner.scan(op, this.readable(op.revision), signal);
    return scanned instanceof Promise
      ? scanned.then((result) => rangeResult(current, result))
      : rangeResult(current, scanned);
  }

  /** As `range`, where a long list comes in pages. */
  rangePaged(
    op: RangeOp,
    signal: AbortSignal,
  ): RangeResult | PagedRangeResult | Promise<RangeResult | PagedRangeResult> {
    if (op.range.end.length === 0) return this.range(op, signal);
    this.#options.observer?.range?.();
    const current = this.revision;
    const made = (result: ScanResult | PagedScanResult): RangeResult | PagedRangeResult =>
      'bring' in result.kvs
        ? { kind: 'paged-range', revision: current, kvs: result.kvs, more: result.more, count: result.count }
        : rangeResult(current, { kvs: result.kvs, more: result.more, count: result.count });
    const scanned = this.scanner.scanPaged(op, this.readable(op.revision), signal);
    return scanned instanceof Promise ? scanned.then(made) : made(scanned);
  }

  async *rangeStream(op: RangeOp, chunkBytes: number, signal: AbortSignal): AsyncGenerator<RangeResult> {
    if (op.sortTarget !== SortTarget.KEY) {
      // What is not sorted by key has no chunks that come in order: the answer is one.
      yield await this.range(op, signal);
      return;
    }
    this.#options.observer?.range?.();
    const current = this.revision;
    const at = this.readable(op.revision);
    const compacted = (): boolean => at < this.state.compactRevision;
    for await (const { last: _last, ...chunk } of this.scanner.stream(op, at, chunkBytes, compacted, signal)) {
      yield rangeResult(current, chunk);
    }
  }

  /** The revision that a read asks for, when it can be read; 0 and below: the newest. */
  readable(wanted: number): Revision {
    if (wanted <= 0) return this.revision;
    if (wanted > this.revision) throw new EngramError('FutureRev');
    if (wanted < this.state.compactRevision) throw new EngramError('Compacted');
    return revision(wanted);
  }

  async hashKv(wanted: number, signal: AbortSignal): Promise<HashKvResult> {
    const { compactRevision } = this.state;
    // A negative revision is hashed as it is, and has no keys (etcd server/storage/mvcc/kvstore.go: hashByRev).
    if (wanted < 0) return { hash: 0, hashRevision: revision(wanted), compactRevision };
    const upTo = this.readable(wanted);
    const hash = await hashKv(this.#walkParts, upTo, signal);
    return { hash, hashRevision: upTo, compactRevision };
  }

  image(signal: AbortSignal): Promise<StoreImage> {
    return takeImage(this.#walkParts, this.revision, signal);
  }

  /** What the nodes that share the log share beside it: see `SharedImage`. */
  sharedImage(options: SharedImageOptions): PartsFrom {
    const { state, pins } = this;
    const { clock, sliceMax } = this.#walkParts;
    const { values } = this.#options.storage;
    return sharedImage({ state, pins, values, clock, applied: this.applied, sliceMax }, options);
  }

  count(range: KeyRange): number {
    return this.state.index.count(range, this.revision);
  }

  /** Frees what the compactions so far have made invisible, on disk too: compaction, checkpoint, drop. */
  async freeCompacted(): Promise<void> {
    await this.#compactor.start();
    await this.#checkpointThenDrop();
  }

  /** As `freeCompacted`, and gives the space back to the file system. Goes on when nobody waits for it any more. */
  reclaim(): Promise<void> {
    const work = this.freeCompacted().then(() => this.#options.storage.values.reclaim?.());
    this.#background(work, 'defragmentation');
    return work;
  }

  async #checkpointThenDrop(): Promise<void> {
    await this.#checkpointer.take();
    await this.#compactor.dropCovered();
  }

  #maybeCheckpoint(bytes: number): void {
    this.#bytesBehind += bytes;
    const { clock, checkpointEveryBytes = 128 * MIB } = this.#options;
    if (this.#checkpointer.running || this.#closed || clock.nowMs() < this.#checkpointNotBeforeMs) return;
    const behind = { bytes: this.#bytesBehind, records: this.#next - this.#checkpointer.from };
    if (!checkpointPays(behind, this.state.index.versions, checkpointEveryBytes)) return;
    this.#bytesBehind = 0;
    this.#background(this.#checkpointThenDrop(), 'index checkpoint');
  }

  /**
   * Background work that storage fails is tried again at the next occasion: the log is whole without it. A broken
   * invariant ends the node.
   */
  #background(work: Promise<unknown>, what: string): void {
    work.catch((error: unknown) => {
      if (error instanceof AssertionError) {
        this.#options.onFatal(error);
        return;
      }
      if (this.#closed) return;
      this.#checkpointNotBeforeMs = this.#options.clock.nowMs() + CHECKPOINT_RETRY_MS;
      this.#options.logger.error({ error: String(error) }, `${what} failed`);
    });
  }

  /** Ends the background work, whatever it waits for, and lets go of the storage. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.hub.close();
    this.pins.close();
    await Promise.all([this.#checkpointer.close(), this.#compactor.close()]);
    await this.#options.storage[Symbol.asyncDispose]();
  }
}

const nothing = (): void => undefined;

const rangeResult = (at: Revision, { kvs, more, count }: ScanResult): RangeResult => ({
  kind: 'range',
  revision: at,
  kvs,
  more,
  count,
});
