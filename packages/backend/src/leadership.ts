import {
  type Clock,
  EngramError,
  type Epoch,
  type ErrorCode,
  isEngramError,
  type LeaseId,
  type Logger,
  type LogPosition,
  type Random,
  type Revision,
  revision,
  type Txn,
} from '@engram/core';
import type { AppendOutcome, Storage } from '@engram/storage';
import { type Caller, nodeItself } from './caller.ts';
import { LeaseDecisions } from './lease-decisions.ts';
import { LeaseKeeper } from './lease-keeper.ts';
import type { StoreObserver } from './observer.ts';
import { PendingLeases } from './pending-leases.ts';
import { LEASE_COST_BYTES, txnBytes, txnCost } from './quota.ts';
import type { Replica } from './replica.ts';
import { ALARM_CORRUPT, ALARM_NOSPACE, alarmName } from './replicated-state.ts';
import { SpaceKeeper } from './space-keeper.ts';
import type { Alarm, LeaseDetails, LeaseView, Proposals, TxnResult } from './store.ts';
import { WritePath } from './write-path.ts';

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
  readonly sliceMax?: number;
  /** etcd uses 5 s plus two election timeouts. */
  readonly requestTimeoutMs?: number;
  /** See `WritePathOptions.confirm`. */
  readonly confirm?: () => Promise<void>;
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
const WAITING_BYTES_MAX = 256 * MIB;
const REQUEST_TIMEOUT_MS = 7000;
const LEASES_MAX = 1_000_000;
/**
 * etcd raises an alarm for any member id, also one that no member has. A cluster's own members need two each. More than
 * this are not from members.
 */
const ALARMS_MAX = 1024;
/** Memory that a mark takes while it waits to be decided. */
const MARK_COST_BYTES = 256;
const restsOnState: ReadonlySet<ErrorCode> = new Set([
  'Compacted',
  'Corrupt',
  'FutureRev',
  'LeaseExist',
  'LeaseNotFound',
  'NoSpace',
]);

/**
 * The right to write in one epoch. It decides on writes, compactions, alarms and leases, and appends them. It holds
 * nothing that outlives it. It ends by `stepDown` or because the log refuses it. Then writes that were not durable
 * are undone, and the replica matches the log.
 */
export class Leadership implements Proposals {
  readonly epoch: Epoch;
  readonly #leases: LeaseDecisions;
  readonly #options: LeadershipOptions;
  readonly #writes: WritePath;
  readonly #space: SpaceKeeper;
  /** Bytes of writes that wait for room below the quota. */
  #roomBytes = 0;
  readonly #leaseKeeper: LeaseKeeper;
  /** The highest revision for which a compaction is under way or done. */
  #compactDecided: Revision;
  /** Changes of alarms under way, by `alarmName`. */
  readonly #changingAlarms = new Map<string, Promise<unknown>>();
  #ended: Promise<void> | undefined;

  constructor(options: LeadershipOptions) {
    const { replica, clock, logger, random, observer = {} } = options;
    const { state } = replica;
    const timeoutMs = options.requestTimeoutMs ?? 7000;
    this.#options = options;
    this.epoch = options.epoch;
    this.#compactDecided = state.compactRevision;
    // No client could renew its lease while there was no leader.
    state.lessor.extendAll(clock.nowMs());
    this.#space = new SpaceKeeper({
      quotaBytes: options.quotaBytes ?? 0,
      size: () => options.storage.values.size(),
      compactRevision: () => state.compactRevision,
      reclaim: () => replica.reclaim(),
      timeoutMs: options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS,
      clock,
      logger,
    });
    const pending = new PendingLeases(state.lessor);
    this.#writes = new WritePath({
      replica,
      leases: pending,
      log: options.storage.log,
      seal: { epoch: options.epoch, holder: options.memberId },
      clock,
      observer,
      batchBytesMax: options.batchBytesMax ?? 4 * MIB,
      waitingBytesMax: options.waitingBytesMax ?? WAITING_BYTES_MAX,
      txnChangesMax: options.txnChangesMax ?? TXN_CHANGES_MAX,
      txnAnswerBytesMax: replica.txnAnswerBytesMax,
      sliceUs: options.sliceMax,
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
      writes: this.#writes,
      minTtlSeconds: options.minLeaseTtlSeconds,
      leasesMax: options.leasesMax ?? LEASES_MAX,
      clock,
      random,
      observer,
      refuseIfCorrupt: () => this.#refuseIfCorrupt(),
      timeoutMs,
    });
    this.#leaseKeeper = new LeaseKeeper({
      lessor: state.lessor,
      clock,
      logger,
      expire: (id) => this.#leases.expire(id),
      onExpired: () => observer.leaseExpired?.(),
    });
  }

  /** The newest revision that was dealt and the next log position, durable or not. */
  get sequenced(): { readonly revision: Revision; readonly next: LogPosition } {
    return this.#writes.sequenced;
  }

  /** Bytes of writes that wait for the log, or for room below the quota. */
  get waitingBytes(): number {
    return this.#writes.waitingBytes + this.#roomBytes;
  }

  /** Decided in this call, not in a later turn, so that two writes of one connection keep their order. */
  txn(txn: Txn, caller: Caller): Promise<TxnResult> {
    try {
      this.#refuseIfCorrupt();
      const cost = txnCost(txn);
      // A write that needs no room waits for those before it.
      const room = cost > 0 ? this.#roomFor(cost) : this.#space.waiting;
      if (room !== undefined) return this.#refusing(this.#whenRoom(room, txnBytes(txn), () => this.txn(txn, caller)));
      if (txn.success.length > 1 || txn.failure.length > 1) this.#options.observer?.txn?.();
      return this.#writes.txn(txn, caller);
    } catch (error) {
      return this.#refusing(Promise.reject(error));
    }
  }

  /** Resolves when reads below `wanted` are refused. */
  compact(wanted: number, _physical: boolean, caller: Caller): Promise<void> {
    return this.#refusing(this.#compactInTurn(wanted, caller));
  }

  async #compactInTurn(wanted: number, caller: Caller): Promise<void> {
    this.#refuseIfCorrupt();
    // The revision may be durable and visible on a follower, but not in effect here yet.
    if (wanted > this.#options.replica.revision) await this.#writes.settled();
    return this.#writes.inTurn(MARK_COST_BYTES, () => this.#compact(wanted, caller));
  }

  async #compact(wanted: number, caller: Caller): Promise<void> {
    const { replica } = this.#options;
    if (wanted <= this.#compactDecided) {
      // The compaction that makes this one fail may still be under way.
      await this.#writes.settled();
      throw new EngramError('Compacted');
    }
    if (wanted > replica.revision) throw new EngramError('FutureRev');
    const target = revision(wanted);
    const compacted = this.#writes.mark({ kind: 'compact', revision: target }, caller.origin);
    this.#compactDecided = target;
    await compacted;
  }

  leaseGrant(id: LeaseId, ttlSeconds: number, caller: Caller): Promise<LeaseView> {
    return this.#refusing(this.#grant(id, ttlSeconds, caller));
  }

  async #grant(id: LeaseId, ttlSeconds: number, caller: Caller): Promise<LeaseView> {
    this.#refuseIfCorrupt();
    const room = this.#roomFor(LEASE_COST_BYTES);
    if (room !== undefined) return this.#whenRoom(room, MARK_COST_BYTES, () => this.#grant(id, ttlSeconds, caller));
    return this.#leases.grant(id, ttlSeconds, caller.origin);
  }

  leaseRevoke(id: LeaseId, caller: Caller): Promise<Revision> {
    return this.#refusing(this.#leases.revoke(id, caller.origin));
  }

  leaseKeepAlive(id: LeaseId): number | Promise<number> {
    return this.#leases.keepAlive(id);
  }

  /** Another member reads the keys from its own copy. They are here for members of the version before. */
  async leaseTimeToLive(id: LeaseId, withKeys: boolean, caller: Caller): Promise<LeaseDetails | undefined> {
    const keys = withKeys ? await this.#options.replica.leaseKeys(id, caller) : [];
    const lease = this.#leases.timeToLive(id);
    return lease === undefined || keys === undefined ? undefined : { ...lease, keys };
  }

  /** TooManyRequests if too many are raised. This node's own are always raised: they guard its data. */
  async activateAlarm(alarm: Alarm, caller: Caller): Promise<void> {
    await this.#changingAlarms.get(alarmName(alarm));
    const { replica, memberId, confirm } = this.#options;
    const { state } = replica;
    if (state.hasAlarm(alarm)) return confirm?.();
    const raised = state.alarmCount + this.#changingAlarms.size;
    if (raised >= ALARMS_MAX && alarm.memberId !== memberId) throw new EngramError('TooManyRequests');
    await this.#changeAlarm(alarm, true, caller);
  }

  /** Resolves with false if the alarm was not set. */
  async deactivateAlarm(alarm: Alarm, caller: Caller): Promise<boolean> {
    await this.#changingAlarms.get(alarmName(alarm));
    if (!this.#options.replica.state.hasAlarm(alarm)) {
      await this.#options.confirm?.();
      return false;
    }
    await this.#changeAlarm(alarm, false, caller);
    return true;
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

  #changeAlarm(alarm: Alarm, active: boolean, caller: Caller): Promise<unknown> {
    const name = alarmName(alarm);
    const changed = this.#writes
      .inTurn(MARK_COST_BYTES, () => this.#writes.mark({ kind: 'alarm', ...alarm, active }, caller.origin))
      .finally(() => {
        this.#changingAlarms.delete(name);
      });
    this.#changingAlarms.set(
      name,
      changed.catch(() => undefined),
    );
    return changed;
  }

  /** A refusal that rests on the state must be confirmed: see `WritePathOptions.confirm`. */
  async #refusing<Answer>(work: Promise<Answer>): Promise<Answer> {
    try {
      return await work;
    } catch (error) {
      if (isEngramError(error) && restsOnState.has(error.code)) await this.#options.confirm?.();
      throw error;
    }
  }

  #refuseIfCorrupt(): void {
    if (this.#options.replica.state.isRaised(ALARM_CORRUPT)) throw new EngramError('Corrupt');
  }

  /**
   * Undefined if there is room for a write of this cost; a promise if the write must wait for room, and ask again. Rejects
   * with NoSpace if none can be made. Then every later write is refused too, until the alarm is cleared. The first refusal
   * waits until the alarm has taken effect, so that a client that lists alarms after it finds the alarm.
   */
  #roomFor(costBytes: number): Promise<void> | undefined {
    const { replica, memberId } = this.#options;
    if (replica.state.isRaised(ALARM_NOSPACE)) throw new EngramError('NoSpace');
    const answer = this.#space.waiting ?? this.#space.ask(costBytes);
    if (answer === 'room') return undefined;
    if (answer !== 'full') return answer;
    return this.activateAlarm({ memberId, alarm: ALARM_NOSPACE }, nodeItself).then(() => {
      throw new EngramError('NoSpace');
    });
  }

  /** Waits for room, with what the write keeps in memory meanwhile counted, and then begins anew. */
  async #whenRoom<Answer>(room: Promise<void>, bytes: number, again: () => Promise<Answer>): Promise<Answer> {
    const { waitingBytesMax = WAITING_BYTES_MAX } = this.#options;
    room.catch(() => {}); // a write that is refused for its bytes does not wait for it
    try {
      this.#roomBytes += bytes;
      if (this.waitingBytes > waitingBytesMax) throw new EngramError('TooManyRequests');
      await room;
    } finally {
      this.#roomBytes -= bytes;
    }
    return again();
  }
}
