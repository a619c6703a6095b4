import type { AuthChange } from '@engram/auth';
import type { Clock, Epoch, LeaseId, Logger, LogPosition, Random, Revision, Txn } from '@engram/core';
import type { AppendOutcome, Storage } from '@engram/storage';
import { DecidedAuth } from '../auth/decided-auth.ts';
import type { Caller } from '../caller.ts';
import { AuthDecisions } from './auth-decisions.ts';
import { CorruptGuard, isCorrupt } from './corrupt-guard.ts';
import { FollowGuard } from './follow-guard.ts';
import type { Following } from './following.ts';
import { LeaderDecisions } from './leader-decisions.ts';
import { LeaseDecisions } from './lease-decisions.ts';
import { LeaseKeeper } from './lease-keeper.ts';
import type { StoreObserver } from '../observer.ts';
import { PendingLeases } from '../answer/pending-leases.ts';
import { QuotaGuard } from './quota-guard.ts';
import type { Replica } from '../replica/replica.ts';
import { SpaceKeeper } from './space-keeper.ts';
import type { Alarm, LeaseDetails, LeaseView, Login, Proposals, TxnResult } from '../store.ts';
import { WritePath } from '../write/write-path.ts';

export interface LeadershipOptions {
  readonly replica: Replica;
  readonly storage: Storage;
  /** The log is sealed for this epoch, and the replica has applied every record before the seal. */
  readonly epoch: Epoch;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** This member. It holds the log's seal, and it raises the alarm when the quota is reached. */
  readonly memberId: bigint;
  readonly observer?: StoreObserver;
  /** etcd uses ceil(1.5 election timeouts). */
  readonly minLeaseTtlSeconds: number;
  /** No quota if 0 or less. */
  readonly quotaBytes?: number;
  readonly batchBytesMax?: number;
  readonly waitingBytesMax?: number;
  /** The most puts and deletes of one transaction. */
  readonly txnChangesMax?: number;
  /** See `BackendSettings`. */
  readonly leasesMax?: number;
  /** See `BackendSettings`. */
  readonly sharingChangesMax?: number;
  /** etcd uses 5 s plus two election timeouts. */
  readonly requestTimeoutMs?: number;
  /** See `BackendSettings`. */
  readonly following?: Following;
  /** See `WritePathOptions.confirm`. */
  readonly confirm?: () => Promise<void>;
  /** See `BackendSettings`. */
  readonly confirmedWithinMs?: number;
  /** See `BackendCluster`. */
  readonly everyMemberKnowsAuth?: (() => Promise<boolean>) | undefined;
  /**
   * The leadership has ended, because the log takes no more from it. After `uncertain` it is unknown what the log
   * holds, and the node must restart.
   */
  readonly onEnded: (outcome: Exclude<AppendOutcome, { kind: 'committed' }>) => void;
  /** An invariant is broken: the node must end. */
  readonly onFatal: (error: Error) => void;
}

const MIB = 1024 * 1024;
const TXN_CHANGES_MAX = 1_000_000;
const SHARING_CHANGES_MAX = 2048;
const WAITING_BYTES_MAX = 256 * MIB;
const REQUEST_TIMEOUT_MS = 7000;
const LEASES_MAX = 1_000_000;
/**
 * The right to write in one epoch. It decides on writes, compactions, alarms and leases, and appends them. It holds
 * nothing that outlives it. It ends by `stepDown` or because the log refuses it. Then writes that were not durable
 * are undone, and the replica matches the log.
 */
export class Leadership implements Proposals {
  readonly epoch: Epoch;
  readonly #leases: LeaseDecisions;
  readonly #writes: WritePath;
  readonly #space: SpaceKeeper;
  readonly #leaseKeeper: LeaseKeeper;
  readonly #quota: QuotaGuard;
  /** The decisions, behind everything that may refuse a call before. */
  readonly #guarded: Proposals;
  /** Takes renewals. They pass the guards of corruption and quota unasked, which would be a fiftieth of their CPU. */
  readonly #renewals: Pick<Proposals, 'leaseKeepAlive'>;
  #ended: Promise<void> | undefined;

  constructor(options: LeadershipOptions) {
    const { replica, clock, logger, random, observer = {} } = options;
    const { state } = replica;
    const timeoutMs = options.requestTimeoutMs ?? 7000;
    this.epoch = options.epoch;
    // No client could renew its lease while there was no leader.
    state.lessor.extendAll(clock.nowMs());
    this.#space = new SpaceKeeper({
      quotaBytes: options.quotaBytes ?? 0,
      size: () => options.storage.values.size(),
      compactRevision: () => state.compactRevision,
      reclaim: () => replica.reclaim(),
      endHolds: () => replica.endHolds(),
      timeoutMs: options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS,
      clock,
      logger,
    });
    const pending = new PendingLeases(state.lessor);
    const auth = new DecidedAuth(state.auth.state);
    this.#writes = new WritePath({
      replica,
      leases: pending,
      auth,
      log: options.storage.log,
      seal: { epoch: options.epoch, holder: options.memberId },
      clock,
      observer,
      batchBytesMax: options.batchBytesMax ?? 4 * MIB,
      waitingBytesMax: options.waitingBytesMax ?? WAITING_BYTES_MAX,
      txnChangesMax: options.txnChangesMax ?? TXN_CHANGES_MAX,
      txnAnswerBytesMax: replica.txnAnswerBytesMax,
      sharingChangesMax: options.sharingChangesMax ?? SHARING_CHANGES_MAX,
      timeoutMs,
      confirm: options.confirm,
      onStopped: (outcome) => {
        this.#leaseKeeper.close();
        this.#space.close();
        this.#ended ??= Promise.resolve();
        options.onEnded(outcome);
      },
      onFatal: options.onFatal,
    });
    this.#leases = new LeaseDecisions({
      lessor: state.lessor,
      pending,
      auth,
      writes: this.#writes,
      minTtlSeconds: options.minLeaseTtlSeconds,
      leasesMax: options.leasesMax ?? LEASES_MAX,
      clock,
      random,
      observer,
      isCorrupt: () => isCorrupt(state),
      timeoutMs,
    });
    this.#leaseKeeper = new LeaseKeeper({
      lessor: state.lessor,
      clock,
      loop: replica.loop,
      logger,
      paused: () => options.following?.active === true,
      expire: (id) => this.#leases.expire(id),
      onExpired: () => observer.leaseExpired?.(),
    });
    const { memberId, confirm, following } = options;
    const decisions = new LeaderDecisions({
      replica,
      writes: this.#writes,
      leases: this.#leases,
      auth,
      authDecisions: new AuthDecisions({
        auth,
        writes: this.#writes,
        everyMemberKnowsAuth: options.everyMemberKnowsAuth,
      }),
      memberId,
      observer,
      confirm,
      confirmedWithinMs: options.confirmedWithinMs,
    });
    this.#quota = new QuotaGuard({
      next: decisions,
      again: () => this.#guarded,
      state,
      space: this.#space,
      memberId,
      confirm,
      queuedBytes: () => this.#writes.waitingBytes,
      waitingBytesMax: options.waitingBytesMax ?? WAITING_BYTES_MAX,
    });
    const guarded = new CorruptGuard(this.#quota, state, confirm);
    this.#guarded = following === undefined ? guarded : new FollowGuard(guarded, following);
    this.#renewals = following === undefined ? decisions : this.#guarded;
    if (following !== undefined) following.onEnd = () => state.lessor.extendAll(clock.nowMs());
  }

  /** The newest revision that was assigned and the next log position, durable or not. */
  get assigned(): { readonly revision: Revision; readonly next: LogPosition } {
    return this.#writes.assigned;
  }

  /** Bytes of writes that wait for the log, or for room below the quota. */
  get waitingBytes(): number {
    return this.#writes.waitingBytes + this.#quota.waitingBytes;
  }

  /** Decided in this call, not in a later turn, so that two writes of one connection keep their order. */
  txn(txn: Txn, caller: Caller): Promise<TxnResult> {
    return this.#guarded.txn(txn, caller);
  }

  /** Resolves when reads below `wanted` are refused. */
  compact(wanted: number, physical: boolean, caller: Caller): Promise<void> {
    return this.#guarded.compact(wanted, physical, caller);
  }

  leaseGrant(id: LeaseId, ttlSeconds: number, caller: Caller): Promise<LeaseView> {
    return this.#guarded.leaseGrant(id, ttlSeconds, caller);
  }

  leaseRevoke(id: LeaseId, caller: Caller): Promise<Revision> {
    return this.#guarded.leaseRevoke(id, caller);
  }

  leaseKeepAlive(id: LeaseId, caller: Caller): number | Promise<number> {
    return this.#renewals.leaseKeepAlive(id, caller);
  }

  leaseTimeToLive(id: LeaseId, withKeys: boolean, caller: Caller): Promise<LeaseDetails | undefined> {
    return this.#guarded.leaseTimeToLive(id, withKeys, caller);
  }

  activateAlarm(alarm: Alarm, caller: Caller): Promise<void> {
    return this.#guarded.activateAlarm(alarm, caller);
  }

  deactivateAlarm(alarm: Alarm, caller: Caller): Promise<boolean> {
    return this.#guarded.deactivateAlarm(alarm, caller);
  }

  changeAuth(change: AuthChange, caller: Caller): Promise<void> {
    return this.#guarded.changeAuth(change, caller);
  }

  logIn(login: Login, caller: Caller): Promise<void> {
    return this.#guarded.logIn(login, caller);
  }

  /**
   * Ends the leadership. No more writes are accepted. Writes that have not left for the log fail with LeaderChanged
   * and are undone. Resolves when the append that was under way has settled: its writes are with the replica, or
   * undone.
   */
  stepDown(): Promise<void> {
    this.#leaseKeeper.close();
    this.#ended ??= this.#writes.halt();
    this.#space.close();
    return this.#ended;
  }

  /** For a node that stops: expires no more leases, and resolves when nothing is under way. */
  async drain(): Promise<void> {
    this.#leaseKeeper.close();
    this.#space.close();
    await this.#writes.drained();
  }
}
