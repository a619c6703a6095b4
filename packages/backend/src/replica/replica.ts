import {
  type AnswerAccount,
  assert,
  AssertionError,
  type ByteList,
  type Clock,
  type LeaseId,
  type Logger,
  type LogPosition,
  type Random,
  type RangeOp,
  type Revision,
  revision,
  EngramError,
  whenThere,
} from '@engram/core';
import type { Loop, PureJob, Task } from '@engram/loop';
import { type PagedScanResult, Pins, RecordCache, Scanner, type ScanResult, VersionBytes } from '@engram/scanner';
import { type LogBatch, type Storage, endOf, recordBytes } from '@engram/storage';
import { WatchHub } from '@engram/watch-hub';
import { AheadOfState } from '../apply/ahead-of-state.ts';
import type { Applier } from '../apply/applier.ts';
import type { ApplyNext } from '../apply/apply-next.ts';
import { decodeBatch } from '../apply/batch-decoder.ts';
import { type ReadBatch, readBatch } from '../apply/batch-reader.ts';
import { checkpointPays } from '../checkpoint/checkpoint-policy.ts';
import { Checkpointer } from '../checkpoint/checkpointer.ts';
import type { CommittedWrite } from '../apply/committed-write.ts';
import type { Caller } from '../caller.ts';
import { Compactor } from '../checkpoint/compactor.ts';
import { DurablePath } from './durable-path.ts';
import { Garbage } from '../checkpoint/garbage.ts';
import { hashKv } from './hash-kv.ts';
import { ImageAccount } from '../image/image-account.ts';
import { LeaseLists } from './lease-lists.ts';
import { Publisher } from '../publish/publisher.ts';
import type { StoreObserver } from '../observer.ts';
import type { Recovered } from './recovery.ts';
import type { ReplicatedState } from '../apply/replicated-state.ts';
import { type PartsFrom, sharedImage, type SharedImageOptions } from '../image/shared-image.ts';
import type { HashKvResult, ListForm, PagedRangeResult, RangeResult, StoreImage } from '../store.ts';
import { takeImage } from '../image/store-image.ts';
import type { WalkParts } from '../apply/walk-parts.ts';
import { WatchHistory } from './watch-history.ts';

export interface ReplicaOptions {
  /** The replica owns the storage from here on, and disposes it with itself. */
  readonly storage: Storage;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly observer?: StoreObserver;
  /** Encoded versions kept in memory for readers and watchers. */
  readonly cacheBytesMax?: number;
  readonly watchProgressIntervalMs?: number;
  /** Bytes of events kept for watchers that read history, for all watchers together. */
  readonly watchBacklogBytesMax?: number;
  /**
   * Minimum bytes of log between two index checkpoints; more if the checkpoint itself is larger. By default 128 MiB, or an
   * eighth of the quota if that is less: what is compacted away stays on disk until a checkpoint covers it.
   */
  readonly checkpointEveryBytes?: number;
  /** No quota if 0 or less. */
  readonly quotaBytes?: number;
  /** How long a snapshot may delay a compaction before the snapshot is ended, while no write waits for the room. */
  readonly imageHoldMaxMs?: number;
  /** The most bytes of the answer to one transaction. */
  readonly txnAnswerBytesMax?: number;
  /** The most bytes that the images of several snapshots may take. One alone may take more. */
  readonly imagesBytesMax?: number;
  readonly loop: Loop;
  /** An invariant is broken: the node must end. */
  readonly onFatal: (error: Error) => void;
}

const MIB = 1024 * 1024;
const TXN_ANSWER_BYTES_MAX = 512 * MIB;
/** Memory of a snapshot for each version and each lease. */
const IMAGE_VERSION_BYTES = 8;
const IMAGE_LEASE_BYTES = 24;
const IMAGES_BYTES_MAX = 256 * MIB;
const CHECKPOINT_RETRY_MS = 10_000;
const CHECKPOINT_BYTES_MAX = 128 * MIB;
const CHECKPOINT_BYTES_MIN = 4 * MIB;
const IMAGE_HOLD_MAX_MS = 600_000;
/** Batches that another member has brought. */
const FOLLOW: Task = { work: 'durable', caller: 'log', stage: 'follow' };

/**
 * The store as one node has it. Every node has one, leader or not. It owns the visible revision (`revision`) and the end of
 * the durable records that it was given (`next`). Writes reach it through `apply` (on the leader, from its own log
 * appends) or through `follow` (raw batches that another node has committed). Both end in the one place where a write
 * takes effect.
 */
export class Replica implements AsyncDisposable {
  readonly state: ReplicatedState;
  readonly hub: WatchHub;
  readonly cache: RecordCache;
  readonly bytes: VersionBytes;
  readonly scanner: Scanner;
  readonly pins = new Pins();
  readonly clock: Clock;
  readonly loop: Loop;
  /** The most bytes of the answer to one transaction. */
  readonly txnAnswerBytesMax: number;
  readonly leaseLists: LeaseLists;
  /** Called with each write that carries an origin, when it takes effect. */
  onForwarded: ((write: CommittedWrite) => void) | undefined;
  /** Called when `applied` has moved. */
  onApplied: (() => void) | undefined;
  readonly #options: ReplicaOptions;
  readonly #walkParts: WalkParts;
  readonly #applier: Applier;
  readonly #publisher: Publisher;
  readonly #durable: DurablePath;
  readonly #compactor: Compactor;
  readonly #checkpointer: Checkpointer;
  readonly #images: ImageAccount;
  readonly #ahead: AheadOfState;
  #next: LogPosition;
  #needed: LogPosition;
  /** Bytes of the log after the newest checkpoint. */
  #bytesBehind: number;
  #checkpointNotBeforeMs = 0;
  #closed = false;
  /** A batch of a log is being decoded. */
  #decoding = false;

  constructor(options: ReplicaOptions, recovered: Recovered) {
    const { clock, logger, random, storage } = options;
    const { applier } = recovered;
    const { state, next } = applier;
    this.#options = options;
    this.#applier = applier;
    this.clock = clock;
    this.txnAnswerBytesMax = options.txnAnswerBytesMax ?? TXN_ANSWER_BYTES_MAX;
    this.state = state;
    this.#ahead = new AheadOfState(state);
    this.#next = next;
    this.#needed = next;
    this.#bytesBehind = recovered.replayedBytes;
    this.cache = new RecordCache(options.cacheBytesMax ?? 64 * MIB);
    this.bytes = new VersionBytes(this.cache, storage.values);
    this.loop = options.loop;
    this.scanner = new Scanner({
      index: state.index,
      bytes: this.bytes,
      pins: this.pins,
      loop: this.loop,
    });
    this.#images = new ImageAccount(options.imagesBytesMax ?? IMAGES_BYTES_MAX);
    const { loop } = this;
    this.leaseLists = new LeaseLists({ lessor: state.lessor, loop, answerBytesMax: this.txnAnswerBytesMax });
    this.#walkParts = { state, scanner: this.scanner, pins: this.pins, loop };
    this.hub = new WatchHub({
      history: new WatchHistory({ state, scanner: this.scanner, loop }),
      revision: state.revision,
      clock,
      loop,
      random,
      progressIntervalMs: options.watchProgressIntervalMs ?? 600_000,
      ...(options.watchBacklogBytesMax === undefined ? {} : { backlogTotalBytesMax: options.watchBacklogBytesMax }),
      logger,
    });
    const { hub, cache, bytes, scanner } = this;
    this.#publisher = new Publisher({ state, hub, cache, bytes, scanner, logger, loop });
    this.#durable = new DurablePath({
      applier,
      publisher: this.#publisher,
      clock,
      loop,
      onForwarded: (write) => this.onForwarded?.(write),
      onApplied: () => this.onApplied?.(),
      onCompacted: () => this.#background(this.#compactor.start(), 'compaction'),
      onFatal: options.onFatal,
    });
    const garbage = new Garbage(recovered.checkpointFrom, recovered.garbage);
    this.#checkpointer = new Checkpointer({
      state,
      values: storage.values,
      clock,
      loop,
      logger,
      applied: () => this.#durable.next,
      garbage,
    });
    this.#compactor = new Compactor({
      state,
      values: storage.values,
      pins: this.pins,
      clock,
      loop,
      logger,
      holdMaxMs: options.imageHoldMaxMs ?? IMAGE_HOLD_MAX_MS,
      garbage,
      onFinished: (at, dropped, durationMs) => options.observer?.compacted?.(at, dropped, durationMs),
    });
    this.#background(
      this.#compactor.dropCovered().then(() => this.#compactor.start()),
      'compaction',
    );
  }

  /** The revision that readers see: durable, in effect, and published to watchers. */
  get revision(): Revision {
    return this.state.revision;
  }

  /** Every record before this position is durable and was given to this replica. `applied` may lag a little behind it. */
  get next(): LogPosition {
    return this.#next;
  }

  /** Every record before this position has taken effect, and watchers have its events. */
  get applied(): LogPosition {
    return this.#durable.next;
  }

  /**
   * Where the part of a shared log begins that this node needs. Every record before this position has taken effect.
   * No reader of this node needs a version that a compaction before this position has made invisible. So an image
   * taken at or before this position lacks nothing that this node reads.
   */
  get needed(): LogPosition {
    if (!this.pins.holdsBelow(this.state.compactRevision)) this.#needed = this.applied;
    return this.#needed;
  }

  /** A checkpoint is being taken. */
  get checkpointing(): boolean {
    return this.#checkpointer.running;
  }

  /** See `LeaseLists.keys`. The keys of all leases are those of one revision. */
  async leaseKeys(id: LeaseId, caller: Caller): Promise<ByteList | undefined> {
    await this.#applier.wholeLeases();
    return this.leaseLists.keys(id, caller);
  }

  /** See `Publisher.prefetch`. */
  prefetch(writes: readonly CommittedWrite[]): void {
    this.#publisher.prefetch(writes);
  }

  /**
   * Takes the leader's own writes, which are durable and whose versions are in the index already. Their records end
   * before `next` and take `bytes` of the log. `after` is what follows their effect.
   */
  apply<Entry extends CommittedWrite>(
    writes: readonly Entry[],
    next: LogPosition,
    bytes: number,
    after?: ApplyNext<Entry>,
  ): void {
    assert(next > this.#next, 'applied twice');
    assert(!this.#decoding, 'writes are given while a batch is decoded');
    this.#next = next;
    this.#durable.add(writes, next, after);
    this.#maybeCheckpoint(bytes);
  }

  /**
   * Takes a batch that is in the log, from any leader. It must begin where this replica ends. A batch of very many records
   * gives way meanwhile: the promise resolves when it is taken, and nothing else may be given to this replica before.
   *
   * @param read what `read` has made of it. Without it the batch comes from the log itself: if it is damaged, this throws.
   */
  follow(batch: LogBatch, read?: ReadBatch): Promise<void> | undefined {
    assert(!this.#decoding, 'a batch is given while another is decoded');
    assert(read === undefined || read.batch === batch, 'another batch was read');
    assert(batch.first === this.#next, `the log goes on at ${batch.first}, not at ${this.#next}`);
    this.cache.forgetPending(batch.first); // left by an ended leadership of this node
    return this.loop.run(FOLLOW, this.#following(batch, read));
  }

  *#following(batch: LogBatch, read: ReadBatch | undefined): PureJob<undefined> {
    this.#decoding = true;
    let writes: readonly CommittedWrite[];
    try {
      writes = yield* this.#decode(batch, read);
    } finally {
      this.#decoding = false;
    }
    if (read !== undefined) this.#ahead.add(read);
    this.apply(writes, endOf(batch), recordBytes(batch.records));
  }

  *#decode(batch: LogBatch, read: ReadBatch | undefined): PureJob<readonly CommittedWrite[]> {
    const writes = yield* decodeBatch(batch, this.state.index, false, this.loop, read?.records);
    for (const { group } of writes) {
      if (group === undefined) continue;
      for (const event of group.events) {
        this.cache.addPending(event.position, event.kv);
        if (this.loop.shouldYield()) yield;
      }
    }
    return writes;
  }

  /**
   * Decodes a batch that another member says is in the log, and checks that it continues what this replica has: then `follow`
   * can take it, if nothing else is taken before. A text: why it cannot be in the log. Nothing has changed in either case.
   */
  read(batch: LogBatch): ReadBatch | string | Promise<ReadBatch | string> {
    assert(batch.first === this.#next, `the log goes on at ${batch.first}, not at ${this.#next}`);
    const before = this.#ahead.before(this.#next, this.#durable.next);
    if (before === undefined) return this.whenApplied().then(() => this.read(batch));
    return this.loop.run(FOLLOW, readBatch(batch, before, this.loop));
  }

  /** Resolves when every write given to this replica has taken effect. */
  whenApplied(): Promise<void> {
    return this.#durable.idle();
  }

  /** The caller must have made sure that the revision is as fresh as the reader wants. Errors: Compacted, FutureRev. */
  range(
    op: RangeOp,
    signal: AbortSignal,
    task: Task | undefined,
    form: ListForm,
    account?: AnswerAccount,
  ): RangeResult | PagedRangeResult | Promise<RangeResult | PagedRangeResult>;
  range(op: RangeOp, signal: AbortSignal, task?: Task): RangeResult | Promise<RangeResult>;
  range(
    op: RangeOp,
    signal: AbortSignal,
    task?: Task,
    form: ListForm = 'list',
    account?: AnswerAccount,
  ): RangeResult | PagedRangeResult | Promise<RangeResult | PagedRangeResult> {
    this.#options.observer?.ranges?.(1);
    const current = this.revision;
    const at = this.readable(op.revision);
    if (form === 'pages') return whenThere(this.scanner.scanPaged(op, at, signal, task, account), pagedResult, current);
    return whenThere(this.scanner.scan(op, at, signal, undefined, task), rangeResult, current);
  }

  async *rangeStream(op: RangeOp, chunkBytes: number, signal: AbortSignal, task?: Task): AsyncGenerator<RangeResult> {
    this.#options.observer?.ranges?.(1);
    const current = this.revision;
    const at = this.readable(op.revision);
    const compacted = (): boolean => at < this.state.compactRevision;
    for await (const { last: _last, ...chunk } of this.scanner.stream(op, at, chunkBytes, compacted, signal, task)) {
      yield rangeResult(chunk, current);
    }
  }

  /** The revision that a read of `wanted` uses; 0 and below mean the newest. Errors: FutureRev, Compacted. */
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

  /** What the images of snapshots take. */
  get imagesBytes(): number {
    return this.#images.bytes;
  }

  image(signal: AbortSignal): Promise<StoreImage> {
    const { index, lessor } = this.state;
    const bytes = IMAGE_VERSION_BYTES * index.versions + IMAGE_LEASE_BYTES * lessor.size;
    return this.#images.take(bytes, () => takeImage(this.#walkParts, this.revision, signal));
  }

  /** An image for the nodes that share the log. See `SharedImage` of storage. */
  sharedImage(options: SharedImageOptions): PartsFrom {
    const { state, pins, clock, loop } = this;
    const { values } = this.#options.storage;
    return sharedImage({ state, pins, values, clock, loop, applied: this.applied }, options);
  }

  /**
   * Frees everything that compactions so far have made invisible, on disk too: finishes the compaction, takes a
   * checkpoint, and drops the records.
   */
  async freeCompacted(): Promise<void> {
    await this.#compactor.start();
    await this.#checkpointThenDrop();
  }

  /** As `freeCompacted`, and returns the space to the file system. Continues even if the caller no longer waits. */
  reclaim(): Promise<void> {
    const work = this.freeCompacted().then(() => this.#options.storage.values.reclaim?.());
    this.#background(work, 'defragmentation');
    return work;
  }

  /** See `Compactor.endHolds`. */
  endHolds(): void {
    this.#compactor.endHolds();
  }

  async #checkpointThenDrop(): Promise<void> {
    await this.#checkpointer.take();
    await this.#compactor.dropCovered();
  }

  #maybeCheckpoint(bytes: number): void {
    this.#bytesBehind += bytes;
    const { clock, quotaBytes = 0, checkpointEveryBytes = checkpointBytes(quotaBytes) } = this.#options;
    if (this.#checkpointer.running || this.#closed || clock.nowMs() < this.#checkpointNotBeforeMs) return;
    const behind = { bytes: this.#bytesBehind, records: this.#next - this.#checkpointer.from };
    if (!checkpointPays(behind, this.state.index.versions, checkpointEveryBytes)) return;
    this.#bytesBehind = 0;
    const work = this.#checkpointThenDrop().catch((error: unknown) => {
      // The log is as long as before.
      this.#bytesBehind += behind.bytes;
      throw error;
    });
    this.#background(work, 'index checkpoint');
  }

  /**
   * Runs background work. If storage fails it, it is tried again at the next occasion, because the log is whole
   * without it. A broken invariant ends the node.
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

  /** Ends the background work, also where it waits, and disposes the storage. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.hub.close();
    this.pins.close();
    await Promise.all([this.#checkpointer.close(), this.#compactor.close()]);
    await this.#options.storage[Symbol.asyncDispose]();
  }
}

function checkpointBytes(quotaBytes: number): number {
  if (quotaBytes <= 0) return CHECKPOINT_BYTES_MAX;
  return Math.min(CHECKPOINT_BYTES_MAX, Math.max(CHECKPOINT_BYTES_MIN, quotaBytes / 8));
}

const rangeResult = ({ kvs, more, count }: ScanResult, at: Revision): RangeResult => ({
  kind: 'range',
  revision: at,
  kvs,
  more,
  count,
});

const pagedResult = (
  { kvs, more, count }: ScanResult | PagedScanResult,
  at: Revision,
): RangeResult | PagedRangeResult =>
  'bring' in kvs
    ? { kind: 'paged-range', revision: at, kvs, more, count }
    : { kind: 'range', revision: at, kvs, more, count };
