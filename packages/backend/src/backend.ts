import {
  assert,
  type Clock,
  EngramError,
  type Epoch,
  isEngramError,
  type KeyRange,
  type LeaseId,
  type Logger,
  type LogPosition,
  type Random,
  type RangeOp,
  type Revision,
  type Timer,
  type Txn,
} from '@engram/core';
import { type Storage, StorageFencedError } from '@engram/storage';
import type { WatchHub } from '@engram/watch-hub';
import type { Caller } from './caller.ts';
import { Leadership } from './leadership.ts';
import type { StoreObserver } from './observer.ts';
import { isReadOnly } from './quota.ts';
import { readTxn } from './read-txn.ts';
import { recover } from './recovery.ts';
import type { OnRecovery } from './recovery-progress.ts';
import { Replica } from './replica.ts';
import type {
  Alarm,
  HashKvResult,
  LeaseDetails,
  LeaseGrant,
  LeaseView,
  PagedRangeResult,
  Proposals,
  RangeResult,
  Store,
  StoreImage,
  StoreStatus,
  TxnResult,
} from './store.ts';

/** How a leadership ended without being asked to. */
export type LeadershipEnd =
  /** A later epoch has sealed the log. What was not durable is undone, and the node may follow, or lead again. */
  | { readonly kind: 'fenced' | 'superseded' }
  /** Nobody knows what the log holds: the node must be started anew. */
  | { readonly kind: 'uncertain'; readonly cause: unknown };

/** Settings of a store; everything has a default. */
export interface BackendSettings {
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
  /** Events kept for watchers that read history, of all together. */
  readonly watchBacklogBytesMax?: number;
  /** At least this much log between two index checkpoints; more when the checkpoint itself is larger. */
  readonly checkpointEveryBytes?: number;
  /** How long a snapshot may hold a compaction up before it is ended. */
  readonly imageHoldMaxMs?: number;
  /** Puts and deletes of one transaction: above it RequestTooLarge. A lease ends with all its keys, however many. */
  readonly txnChangesMax?: number;
  /** What the ranges and superseded versions in the answer to one transaction may take: above it ResponseTooLarge. */
  readonly txnAnswerBytesMax?: number;
  /** Pages that the bytes of keys may take: above it a put of a new key is refused with NoSpace. Tests make it small. */
  readonly keyPagesMax?: number;
  /**
   * Keys, versions or records that long work takes on at once at most, and microseconds where it counts these (`Slice`).
   * Without it each kind of work has its own measure. Simulations make it small.
   */
  readonly sliceMax?: number;
}

export interface BackendOptions extends BackendSettings {
  /** The backend owns it from here on, and disposes it with itself. */
  readonly storage: Storage;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Holds the log's seal; whose alarm it is when the quota is reached. */
  readonly memberId: bigint;
  /** Of the empty store, the same for every node that shares its log; 1 if absent. What lies below another is compacted. */
  readonly firstRevision?: Revision | undefined;
  readonly observer?: StoreObserver;
  /** What other nodes do for this one. Without it the node is alone: nothing is written while it does not lead. */
  readonly cluster?: BackendCluster;
  /** How far the replica is rebuilt. */
  readonly onRecovery?: OnRecovery;
  /** The leadership has ended by itself; `lead` may be called again unless nobody knows what the log holds. */
  readonly onDeposed?: (end: LeadershipEnd) => void;
  /** The node must end: an invariant is broken. */
  readonly onFatal: (error: Error) => void;
}

/** The way to the other nodes. */
export interface BackendCluster {
  /** Where proposals go while this node does not lead. */
  readonly leader: Proposals;
  /** See `Store.readIndex`; asked on the leader too, which must know that it still is one. */
  readIndex(caller: Caller): Promise<void> | undefined;
  /** Confirms by a quorum that this node leads at some moment after the call. NotLeader, LeaderChanged. */
  confirm(signal: AbortSignal): Promise<void>;
}

/** Below the five seconds that etcdctl waits for an answer. */
const DEFRAGMENT_WAIT_MS = 3000;
const MIN_LEASE_TTL_SECONDS = 2;

/** Rebuilds the replica from storage. It follows nobody and leads nothing yet. Rejects where the log is damaged. */
export async function openReplica(options: BackendOptions): Promise<Backend> {
  const recovered = await recover(options.storage, {
    minLeaseTtlSeconds: options.minLeaseTtlSeconds ?? MIN_LEASE_TTL_SECONDS,
    clock: options.clock,
    logger: options.logger,
    signal: new AbortController().signal,
    firstRevision: options.firstRevision,
    ...(options.keyPagesMax === undefined ? {} : { keyPagesMax: options.keyPagesMax }),
    ...(options.onRecovery === undefined ? {} : { onProgress: options.onRecovery }),
  });
  return new Backend(options, new Replica(options, recovered));
}

/** A store that leads from the start: seals the log for `epoch` and rebuilds the state from it. */
export async function openBackend(options: BackendOptions & { readonly epoch: Epoch }): Promise<Backend> {
  const backend = await openReplica({
    ...options,
    onDeposed:
      options.onDeposed ??
      ((end) => {
        const cause = end.kind === 'uncertain' ? end.cause : new Error('a later epoch has sealed the log');
        options.onFatal(new Error(`the log took no more writes: ${end.kind}`, { cause }));
      }),
  });
  await backend.lead(options.epoch);
  return backend;
}

/** A node's store: its replica, and the leadership while it has one. See `Store` for what its methods promise. */
export class Backend implements Store, AsyncDisposable {
  readonly replica: Replica;
  readonly #options: BackendOptions;
  readonly #neverAborted = new AbortController().signal;
  #leadership: Leadership | undefined;
  /** The last leadership has settled: what it appended has taken effect or is undone. */
  #settled: Promise<void> = Promise.resolve();
  #leading = false;
  /** Nobody knows what the log holds. */
  #mustRestart = false;
  #closed = false;

  /** See `openReplica`. */
  constructor(options: BackendOptions, replica: Replica) {
    this.#options = options;
    this.replica = replica;
  }

  get revision(): Revision {
    return this.replica.revision;
  }

  get compactRevision(): Revision {
    return this.replica.state.compactRevision;
  }

  get watchHub(): WatchHub {
    return this.replica.hub;
  }

  /** Undefined: this node does not lead. */
  get leadership(): Leadership | undefined {
    return this.#leadership;
  }

  /**
   * Takes over: seals the log for `epoch`, applies what it holds beyond this replica, and leads. Rejects with
   * StorageFencedError where a later epoch has sealed it, and with Stopped where this node must start anew.
   */
  async lead(epoch: Epoch): Promise<void> {
    assert(this.#leadership === undefined && !this.#leading, 'a leadership begins before the last one has ended');
    this.#leading = true;
    try {
      await this.#settled;
      // The last leadership has ended with an append of which nobody knows.
      if (this.#mustRestart) throw new EngramError('Stopped');
      const { storage, memberId } = this.#options;
      const end = await storage.log.seal({ epoch, holder: memberId });
      await this.#readTo(end);
      if (this.#closed || this.#mustRestart) throw new EngramError('Stopped');
      const { minLeaseTtlSeconds = MIN_LEASE_TTL_SECONDS, onDeposed, cluster } = this.#options;
      const leadership: Leadership = new Leadership({
        ...this.#options,
        replica: this.replica,
        epoch,
        minLeaseTtlSeconds,
        ...(cluster === undefined ? {} : { confirm: () => this.#confirm(cluster) }),
        onEnded: (outcome) => {
          if (this.#leadership === leadership) this.#leadership = undefined;
          if (outcome.kind === 'uncertain') this.#mustRestart = true;
          onDeposed?.(outcome);
        },
      });
      this.#leadership = leadership;
    } finally {
      this.#leading = false;
    }
  }

  /** Gives the leadership up: see `Leadership.stepDown`. Nothing where there is none. */
  stepDown(): Promise<void> {
    const leadership = this.#leadership;
    if (leadership === undefined) return this.#settled;
    this.#leadership = undefined;
    this.#settled = leadership.stepDown().then(() => this.replica.settled());
    return this.#settled;
  }

  /**
   * Applies what the log holds from this replica's end to before `end`, and resolves when it has taken effect. `end` is where
   * this node has sealed it: what stands behind is of a later epoch, and its leader may have no answer for it yet.
   */
  async #readTo(end: LogPosition): Promise<void> {
    if (this.replica.next < end) {
      for await (const batch of this.#options.storage.log.read(this.replica.next, this.#neverAborted)) {
        if (batch.first >= end) throw new StorageFencedError(`the log holds batches of a later epoch from ${end} on`);
        this.replica.follow(batch);
      }
    }
    assert(this.replica.next === end, `the log ends at ${this.replica.next}, but its next position is ${end}`);
    await this.replica.settled();
  }

  readIndex(caller: Caller): Promise<void> | undefined {
    const { cluster } = this.#options;
    if (cluster !== undefined) return cluster.readIndex(caller);
    if (this.#leadership === undefined) throw this.#noLeader();
    return undefined;
  }

  range(op: RangeOp, caller: Caller): RangeResult | Promise<RangeResult> {
    const wait = op.serializable ? undefined : this.readIndex(caller);
    // A read of one key is over before its caller could give up, and making a signal costs more than that.
    const signal = op.range.end.length === 0 ? this.#neverAborted : caller.signal;
    return wait === undefined ? this.replica.range(op, signal) : wait.then(() => this.replica.range(op, signal));
  }

  rangePaged(op: RangeOp, caller: Caller): RangeResult | PagedRangeResult | Promise<RangeResult | PagedRangeResult> {
    const wait = op.serializable ? undefined : this.readIndex(caller);
    const signal = op.range.end.length === 0 ? this.#neverAborted : caller.signal;
    if (wait === undefined) return this.replica.rangePaged(op, signal);
    return wait.then(() => this.replica.rangePaged(op, signal));
  }

  async *rangeStream(op: RangeOp, chunkBytes: number, caller: Caller): AsyncGenerator<RangeResult> {
    if (!op.serializable) await this.readIndex(caller);
    yield* this.replica.rangeStream(op, chunkBytes, caller.signal);
  }

  txn(txn: Txn, caller: Caller): Promise<TxnResult> {
    if (isReadOnly(txn)) return this.#readTxn(txn, caller);
    try {
      return this.#proposed().txn(txn, caller);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  async #readTxn(txn: Txn, caller: Caller): Promise<TxnResult> {
    const serializable = [...txn.success, ...txn.failure].every((op) => op.kind === 'range' && op.serializable);
    if (!serializable) await this.readIndex(caller);
    if (txn.success.length > 1 || txn.failure.length > 1) this.#options.observer?.txn?.();
    return readTxn(txn, this.replica, caller);
  }

  async compact(wanted: number, physical: boolean, caller: Caller): Promise<void> {
    await this.#proposed().compact(wanted, physical, caller);
    if (physical) await this.replica.freeCompacted();
  }

  async leaseGrant(id: LeaseId, ttlSeconds: number, caller: Caller): Promise<LeaseView> {
    return this.#proposed().leaseGrant(id, ttlSeconds, caller);
  }

  async leaseRevoke(id: LeaseId, caller: Caller): Promise<Revision> {
    return this.#proposed().leaseRevoke(id, caller);
  }

  /** A leader that is deposed and does not know it must not say that a lease lives on. */
  leaseKeepAlive(id: LeaseId, caller: Caller): number | Promise<number> {
    const proposals = this.#proposed();
    const confirmed = proposals === this.#leadership ? this.readIndex(caller) : undefined;
    if (confirmed === undefined) return proposals.leaseKeepAlive(id, caller);
    return confirmed.then(() => this.#proposed().leaseKeepAlive(id, caller));
  }

  async leaseTimeToLive(id: LeaseId, withKeys: boolean, caller: Caller): Promise<LeaseDetails | undefined> {
    if (this.#leadership !== undefined) await this.readIndex(caller);
    return this.#proposed().leaseTimeToLive(id, withKeys, caller);
  }

  leases(): readonly LeaseGrant[] {
    const { lessor } = this.replica.state;
    return lessor.list().map((id) => ({ id, grantedTtlSeconds: lessor.get(id)!.ttlSeconds }));
  }

  alarms(): readonly Alarm[] {
    return [...this.replica.state.alarms];
  }

  async activateAlarm(alarm: Alarm, caller: Caller): Promise<void> {
    return this.#proposed().activateAlarm(alarm, caller);
  }

  async deactivateAlarm(alarm: Alarm, caller: Caller): Promise<boolean> {
    return this.#proposed().deactivateAlarm(alarm, caller);
  }

  hashKv(wanted: number, signal: AbortSignal): Promise<HashKvResult> {
    return this.replica.hashKv(wanted, signal);
  }

  image(signal: AbortSignal): Promise<StoreImage> {
    return this.replica.image(signal);
  }

  async defragment(): Promise<void> {
    const work = this.replica.reclaim();
    let timer: Timer | undefined;
    const patience = new Promise<void>((resolve) => {
      timer = this.#options.clock.after(DEFRAGMENT_WAIT_MS, resolve);
    });
    await Promise.race([work, patience]).finally(() => timer?.cancel());
  }

  status(): StoreStatus {
    const { totalBytes, inUseBytes } = this.#options.storage.values.size();
    return {
      totalBytes,
      inUseBytes: Math.min(inUseBytes, totalBytes),
      quotaBytes: this.#options.quotaBytes ?? 0,
      logPosition: this.replica.applied,
      keys: this.replica.state.index.liveKeys,
    };
  }

  count(range: KeyRange): number {
    return this.replica.count(range);
  }

  /** Ends the background work, waits for writes that are under way, and lets go of the storage. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.replica.hub.close();
    await this.#leadership?.drain();
    await this.#settled;
    await this.replica[Symbol.asyncDispose]();
  }

  /** LeaderChanged where this node does not lead any more. */
  async #confirm(cluster: BackendCluster): Promise<void> {
    try {
      await cluster.confirm(this.#neverAborted);
    } catch (cause) {
      throw isEngramError(cause, 'NotLeader') ? new EngramError('LeaderChanged', { cause }) : cause;
    }
  }

  #proposed(): Proposals {
    if (this.#leadership !== undefined) return this.#leadership;
    const { cluster } = this.#options;
    if (cluster === undefined) throw this.#noLeader();
    return cluster.leader;
  }

  #noLeader(): EngramError {
    return new EngramError(this.#closed || this.#mustRestart ? 'Stopped' : 'NoLeader');
  }
}
