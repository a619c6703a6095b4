import { EngramError, type LeaseId, type Revision, revision, type Txn } from '@engram/core';
import type { Caller } from '../caller.ts';
import { type Confirm, refusing } from './confirmed-refusal.ts';
import type { LeaseDecisions } from './lease-decisions.ts';
import type { StoreObserver } from '../observer.ts';
import { MARK_COST_BYTES } from '../quota.ts';
import type { Replica } from '../replica/replica.ts';
import { alarmName } from '../apply/replicated-state.ts';
import type { Alarm, LeaseDetails, LeaseView, Proposals, TxnResult } from '../store.ts';
import type { WritePath } from '../write/write-path.ts';

export interface LeaderDecisionsOptions {
  readonly replica: Replica;
  readonly writes: WritePath;
  readonly leases: LeaseDecisions;
  readonly memberId: bigint;
  readonly observer: StoreObserver;
  readonly confirm: Confirm;
}

/**
 * etcd raises an alarm for any member id, also one that no member has. A cluster's own members need two each. More than
 * this are not from members.
 */
const ALARMS_MAX = 1024;

/** What the leader decides on transactions, compactions, leases and alarms, if nothing stands before it. */
export class LeaderDecisions implements Proposals {
  readonly #options: LeaderDecisionsOptions;
  /** The highest revision for which a compaction is under way or done. */
  #compactDecided: Revision;
  /** Changes of alarms under way, by `alarmName`. */
  readonly #changingAlarms = new Map<string, Promise<unknown>>();

  constructor(options: LeaderDecisionsOptions) {
    this.#options = options;
    this.#compactDecided = options.replica.state.compactRevision;
  }

  /** Decided in this call, not in a later turn, so that two writes of one connection keep their order. */
  txn(txn: Txn, caller: Caller): Promise<TxnResult> {
    const { writes, observer, confirm } = this.#options;
    try {
      if (txn.success.length > 1 || txn.failure.length > 1) observer.txn?.();
      return writes.txn(txn, caller);
    } catch (error) {
      return refusing(confirm, Promise.reject(error));
    }
  }

  /** Resolves when reads below `wanted` are refused. */
  compact(wanted: number, _physical: boolean, caller: Caller): Promise<void> {
    return refusing(this.#options.confirm, this.#compactInTurn(wanted, caller));
  }

  async #compactInTurn(wanted: number, caller: Caller): Promise<void> {
    // The revision may be durable and visible on a follower, but not in effect here yet.
    if (wanted > this.#options.replica.revision) await this.#options.writes.settled();
    return this.#options.writes.inTurn(MARK_COST_BYTES, () => this.#compact(wanted, caller));
  }

  async #compact(wanted: number, caller: Caller): Promise<void> {
    const { replica } = this.#options;
    if (wanted <= this.#compactDecided) {
      // The compaction that makes this one fail may still be under way.
      await this.#options.writes.settled();
      throw new EngramError('Compacted');
    }
    if (wanted > replica.revision) throw new EngramError('FutureRev');
    const target = revision(wanted);
    const compacted = this.#options.writes.mark({ kind: 'compact', revision: target }, caller.origin);
    this.#compactDecided = target;
    await compacted;
  }

  leaseGrant(id: LeaseId, ttlSeconds: number, caller: Caller): Promise<LeaseView> {
    const { leases, confirm } = this.#options;
    return refusing(confirm, leases.grant(id, ttlSeconds, caller.origin));
  }

  leaseRevoke(id: LeaseId, caller: Caller): Promise<Revision> {
    const { leases, confirm } = this.#options;
    return refusing(confirm, leases.revoke(id, caller.origin));
  }

  leaseKeepAlive(id: LeaseId): number | Promise<number> {
    return this.#options.leases.keepAlive(id);
  }

  /** Another member reads the keys from its own copy. They are here for members of the version before. */
  async leaseTimeToLive(id: LeaseId, withKeys: boolean, caller: Caller): Promise<LeaseDetails | undefined> {
    const keys = withKeys ? await this.#options.replica.leaseKeys(id, caller) : [];
    const lease = this.#options.leases.timeToLive(id);
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

  #changeAlarm(alarm: Alarm, active: boolean, caller: Caller): Promise<unknown> {
    const name = alarmName(alarm);
    const changed = this.#options.writes
      .inTurn(MARK_COST_BYTES, () => this.#options.writes.mark({ kind: 'alarm', ...alarm, active }, caller.origin))
      .finally(() => {
        this.#changingAlarms.delete(name);
      });
    this.#changingAlarms.set(
      name,
      changed.catch(() => undefined),
    );
    return changed;
  }
}
