import type { AuthChange } from '@engram/auth';
import {
  assert,
  type Clock,
  EngramError,
  type Epoch,
  isEngramError,
  type LeaseId,
  type Logger,
  type LogPosition,
  type Random,
  type RangeOp,
  type Revision,
  type Timer,
  type Txn,
} from '@engram/core';
import { Loop } from '@engram/loop';
import { type Storage, StorageClosedError, StorageFencedError } from '@engram/storage';
import type { WatchHub } from '@engram/watch-hub';
import type { AuthView } from './apply/auth-store.ts';
import type { BackendSettings } from './backend-settings.ts';
import type { Caller } from './caller.ts';
import { CONFIRMED_WITHIN_MS, confirmedLately } from './confirmed-lately.ts';
import { CurrentLeadership } from './lead/current-leadership.ts';
import { Leadership } from './lead/leadership.ts';
import { type NodeStats, ReplicaStats } from './node-stats.ts';
import type { StoreObserver } from './observer.ts';
import { isReadOnly, readsSerializable } from './quota.ts';
import { ReplicaReads } from './read/applied-reads.ts';
import { recover } from './replica/recovery.ts';
import type { OnRecovery } from './replica/recovery-progress.ts';
import { Replica } from './replica/replica.ts';
import type {
  Alarm,
  AppliedReads,
  HashKvResult,
  LeaseDetails,
  LeaseGrant,
  LeaseView,
  ListForm,
  Login,
  NodeStore,
  PagedRangeResult,
  Proposals,
  RangeResult,
  StoreImage,
  StoreStatus,
  TxnResult,
} from './store.ts';

/** How a leadership ended other than by `stepDown`. */
export type LeadershipEnd =
  /**
   * A later epoch has sealed the log. Writes that were not durable are undone. The node may follow, or lead again. After
   * `trimmed` the log itself no longer has what comes next: only another node or the image does.
   */
  | { readonly kind: 'fenced' | 'superseded' | 'trimmed' }
  /** It is unknown what the log holds: the node must restart. */
  | { readonly kind: 'uncertain'; readonly cause: unknown };

export interface BackendOptions extends BackendSettings {
  /** The backend owns the storage from here on, and disposes it with itself. */
  readonly storage: Storage;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** This member. It holds the log's seal, and it raises the alarm when the quota is reached. */
  readonly memberId: bigint;
  /**
   * The revision of the empty store, the same for every node that shares its log; 1 if absent. Revisions below it
   * count as compacted if it is not 1.
   */
  readonly firstRevision?: Revision | undefined;
  readonly observer?: StoreObserver;
  /** Calls to the other nodes. Without it the node is alone: nothing is written while it does not lead. */
  readonly cluster?: BackendCluster;
  /** Where others see whether this node leads. Default: nobody else looks. */
  readonly current?: CurrentLeadership;
  /** Called with the progress of the recovery. */
  readonly onRecovery?: OnRecovery;
  /**
   * The leadership of `epoch` has ended other than by `stepDown`. `lead` may be called again unless the end is
   * `uncertain`.
   */
  readonly onDeposed?: (end: LeadershipEnd, epoch: Epoch) => void;
  /** The node must end: an invariant is broken. */
  readonly onFatal: (error: Error) => void;
}

/** Calls to the other nodes. */
export interface BackendCluster {
  /** Where proposals go while this node does not lead. */
  readonly leader: Proposals;
  /** See `Store.readIndex`. Also called on the leader, which must confirm that it still leads. */
  readIndex(caller: Caller): Promise<void> | undefined;
  /** Confirms by a quorum that this node leads at some moment after the call. Errors: NotLeader, LeaderChanged. */
  confirm(signal: AbortSignal): Promise<void>;
  /** Whether every other node takes a record of users and roles. Asked before the first of them. Absent: they do. */
  everyMemberKnowsAuth?(): Promise<boolean>;
}

/** Less than the five seconds that etcdctl waits for an answer. */
const DEFRAGMENT_WAIT_MS = 3000;
const MIN_LEASE_TTL_SECONDS = 2;

/** What the recovery of a replica needs: no more than its storage, and nobody else. */
export type RecoveryOptions = Omit<BackendOptions, 'cluster' | 'current' | 'onDeposed' | 'memberId'>;

/** Rebuilds the replica from storage. It is given nothing from the log after that. Rejects if the log is damaged. */
export async function recoverReplica(options: RecoveryOptions): Promise<Replica> {
  const { clock, loop = new Loop({ clock }) } = options;
  const recovered = await recover(options.storage, {
    minLeaseTtlSeconds: options.minLeaseTtlSeconds ?? MIN_LEASE_TTL_SECONDS,
    clock,
    loop,
    logger: options.logger,
    signal: new AbortController().signal,
    firstRevision: options.firstRevision,
    ...(options.keyPagesMax === undefined ? {} : { keyPagesMax: options.keyPagesMax }),
    ...(options.onRecovery === undefined ? {} : { onProgress: options.onRecovery }),
  });
  return new Replica({ ...options, loop }, recovered);
}

/** Rebuilds the replica from storage. The node does not follow or lead yet. Rejects if the log is damaged. */
export async function openReplica(options: BackendOptions): Promise<Backend> {
  return new Backend(options, await recoverReplica(options));
}

/** Opens a store that leads from the start: rebuilds the state from the log, and seals the log for `epoch`. */
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

/** A node's store: its replica, and its leadership while the node leads. `Store` says what the methods promise. */
export class Backend implements NodeStore, AsyncDisposable {
  readonly replica: Replica;
  readonly stats: NodeStats;
  readonly applied: AppliedReads;
  readonly #options: BackendOptions;
  readonly #neverAborted = new AbortController().signal;
  readonly #current: CurrentLeadership;
  /** Resolves when the last leadership has settled: its appended writes have taken effect or are undone. */
  #settled: Promise<void> = Promise.resolve();
  #leading = false;
  /** It is unknown what the log holds. */
  #mustRestart = false;
  #closed = false;

  /** The replica is of the same storage. Its log may be a decorated one: a recovery only reads. */
  constructor(options: BackendOptions, replica: Replica) {
    this.#options = options;
    this.#current = options.current ?? new CurrentLeadership();
    this.replica = replica;
    this.stats = new ReplicaStats(replica, this.#current);
    this.applied = new ReplicaReads(replica, options.observer ?? {});
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

  get auth(): AuthView {
    return this.replica.state.auth;
  }

  /** Undefined if this node does not lead. */
  get leadership(): Leadership | undefined {
    return this.#current.leadership;
  }

  /**
   * Takes over: seals the log for `epoch`, applies the records that this replica lacks, and leads. Rejects with
   * StorageFencedError if a later epoch has sealed the log, and with Stopped if this node must restart. `onSealed` is called
   * once the log is sealed: from then on no earlier leader appends.
   */
  async lead(epoch: Epoch, onSealed?: () => void): Promise<void> {
    assert(
      this.#current.leadership === undefined && !this.#leading,
      'a leadership begins before the last one has ended',
    );
    this.#leading = true;
    try {
      await this.#settled;
      // The last leadership ended with an append whose outcome is unknown.
      if (this.#mustRestart) throw new EngramError('Stopped');
      const { storage, memberId } = this.#options;
      const end = await storage.log.seal({ epoch, holder: memberId });
      onSealed?.();
      await this.#readTo(end);
      if (this.#closed || this.#mustRestart) throw new EngramError('Stopped');
      const { minLeaseTtlSeconds = MIN_LEASE_TTL_SECONDS, onDeposed, cluster } = this.#options;
      const leadership: Leadership = new Leadership({
        ...this.#options,
        replica: this.replica,
        epoch,
        minLeaseTtlSeconds,
        ...(cluster === undefined ? {} : { confirm: () => this.#confirm(cluster, leadership) }),
        everyMemberKnowsAuth: cluster?.everyMemberKnowsAuth,
        onEnded: (outcome) => {
          this.#current.end(leadership);
          if (outcome.kind === 'uncertain') this.#mustRestart = true;
          onDeposed?.(outcome, epoch);
        },
      });
      this.#current.begin(leadership);
    } finally {
      this.#leading = false;
    }
  }

  /** Ends the leadership, if there is one. See `Leadership.stepDown`. */
  stepDown(): Promise<void> {
    const { leadership } = this.#current;
    if (leadership === undefined) return this.#settled;
    this.#current.end(leadership);
    this.#settled = leadership.stepDown().then(() => this.replica.whenApplied());
    return this.#settled;
  }

  /**
   * Applies the log from this replica's end up to `end`, and resolves when it has taken effect. `end` is the position
   * at which this node has sealed the log. Records from there on are of a later epoch, whose leader may not have an
   * answer for them yet.
   */
  async #readTo(end: LogPosition): Promise<void> {
    if (this.replica.next < end) {
      for await (const batch of this.#options.storage.log.read(this.replica.next, this.#neverAborted)) {
        if (batch.first >= end) throw new StorageFencedError(`the log holds batches of a later epoch from ${end} on`);
        await this.replica.follow(batch);
      }
    }
    assert(this.replica.next === end, `the log ends at ${this.replica.next}, but its next position is ${end}`);
    await this.replica.whenApplied();
  }

  readIndex(caller: Caller): Promise<void> | undefined {
    const { cluster } = this.#options;
    if (cluster !== undefined) return cluster.readIndex(caller);
    if (this.#current.leadership === undefined) throw this.#noLeader();
    return undefined;
  }

  range(
    op: RangeOp,
    caller: Caller,
    form: ListForm,
  ): RangeResult | PagedRangeResult | Promise<RangeResult | PagedRangeResult>;
  range(op: RangeOp, caller: Caller): RangeResult | Promise<RangeResult>;
  range(
    op: RangeOp,
    caller: Caller,
    form: ListForm = 'list',
  ): RangeResult | PagedRangeResult | Promise<RangeResult | PagedRangeResult> {
    const wait = op.serializable ? undefined : this.readIndex(caller);
    return wait === undefined ? this.applied.range(op, caller, form) : this.#rangeAfter(wait, op, caller, form);
  }

  /** Its own method, because a read that waits for nothing needs no closure. */
  #rangeAfter(
    wait: Promise<void>,
    op: RangeOp,
    caller: Caller,
    form: ListForm,
  ): Promise<RangeResult | PagedRangeResult> {
    return wait.then(() => this.applied.range(op, caller, form));
  }

  async *rangeStream(op: RangeOp, chunkBytes: number, caller: Caller): AsyncGenerator<RangeResult> {
    if (!op.serializable) await this.readIndex(caller);
    yield* this.applied.rangeStream(op, chunkBytes, caller);
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
    if (!readsSerializable(txn)) await this.readIndex(caller);
    return this.applied.txn(txn, caller);
  }

  async compact(wanted: number, physical: boolean, caller: Caller): Promise<void> {
    await this.#proposed().compact(wanted, physical, caller);
    if (physical) await unlessStopped(this.replica.freeCompacted());
  }

  async leaseGrant(id: LeaseId, ttlSeconds: number, caller: Caller): Promise<LeaseView> {
    return this.#proposed().leaseGrant(id, ttlSeconds, caller);
  }

  async leaseRevoke(id: LeaseId, caller: Caller): Promise<Revision> {
    return this.#proposed().leaseRevoke(id, caller);
  }

  /** Confirms the leadership first. A deposed leader that does not know it must not say that a lease lives on. */
  leaseKeepAlive(id: LeaseId, caller: Caller): number | Promise<number> {
    const proposals = this.#proposed();
    const confirmed = proposals === this.#current.leadership ? this.#leadsNow(caller) : undefined;
    if (confirmed === undefined) return proposals.leaseKeepAlive(id, caller);
    return confirmed.then(() => this.#proposed().leaseKeepAlive(id, caller));
  }

  async leaseTimeToLive(id: LeaseId, withKeys: boolean, caller: Caller): Promise<LeaseDetails | undefined> {
    for (;;) {
      const grant = this.replica.state.lessor.grantOf(id);
      if (this.#current.leadership !== undefined) await this.#leadsNow(caller);
      const lease = await this.#proposed().leaseTimeToLive(id, false, caller);
      if (!withKeys || lease === undefined) return lease;
      // From this node's replica, which has applied what the leader's answer rests on.
      const keys = await this.replica.leaseKeys(id, caller);
      if (keys === undefined) return undefined;
      // Otherwise the id may have been granted again, and the keys are not those of the lease that the leader told of.
      if (grant !== undefined && this.replica.state.lessor.grantOf(id) === grant) return { ...lease, keys };
    }
  }

  /** As `readIndex`, for an answer whose time counts: see `confirmedLately`. */
  #leadsNow(caller: Caller): Promise<void> | undefined {
    const first = this.readIndex(caller);
    const { clock, confirmedWithinMs = CONFIRMED_WITHIN_MS } = this.#options;
    return first && confirmedLately(clock, confirmedWithinMs, () => this.readIndex(caller), first);
  }

  leases(order: 'by-id' | 'by-remaining', caller: Caller): Promise<readonly LeaseGrant[]> {
    return order === 'by-id' ? this.replica.leaseLists.byId() : this.replica.leaseLists.byRemaining(caller);
  }

  keysOfLease(id: LeaseId): Iterable<string> {
    return this.replica.state.lessor.keyTexts(id);
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

  async changeAuth(change: AuthChange, caller: Caller): Promise<void> {
    return this.#proposed().changeAuth(change, caller);
  }

  async logIn(login: Login, caller: Caller): Promise<void> {
    return this.#proposed().logIn(login, caller);
  }

  hashKv(wanted: number, signal: AbortSignal): Promise<HashKvResult> {
    return this.replica.hashKv(wanted, signal);
  }

  image(signal: AbortSignal): Promise<StoreImage> {
    return this.replica.image(signal);
  }

  async defragment(): Promise<void> {
    const work = unlessStopped(this.replica.reclaim());
    let timer: Timer | undefined;
    const over = new Promise<void>((resolve) => {
      timer = this.#options.clock.after(DEFRAGMENT_WAIT_MS, resolve);
    });
    try {
      await Promise.race([work, over]);
    } finally {
      timer?.cancel();
    }
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

  /** Ends the background work, waits for writes that are under way, and disposes the storage. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.replica.hub.close();
    await this.#current.leadership?.drain();
    await this.#settled;
    await this.replica[Symbol.asyncDispose]();
  }

  /**
   * Rejects with LeaderChanged if this leadership has ended. A later one of this node confirms nothing for it: another leader
   * may have written between the two what an answer of this one does not show.
   */
  async #confirm(cluster: BackendCluster, leadership: Leadership): Promise<void> {
    try {
      await cluster.confirm(this.#neverAborted);
    } catch (cause) {
      throw isEngramError(cause, 'NotLeader') ? new EngramError('LeaderChanged', { cause }) : cause;
    }
    if (this.#current.leadership !== leadership) throw new EngramError('LeaderChanged');
  }

  #proposed(): Proposals {
    const { leadership } = this.#current;
    if (leadership !== undefined) return leadership;
    const { cluster } = this.#options;
    if (cluster === undefined) throw this.#noLeader();
    return cluster.leader;
  }

  #noLeader(): EngramError {
    return new EngramError(this.#closed || this.#mustRestart ? 'Stopped' : 'NoLeader');
  }
}

/** A node that stops closes its storage below work that a client waits for. */
async function unlessStopped(work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (error instanceof StorageClosedError) throw new EngramError('Stopped', { cause: error });
    throw error;
  }
}
