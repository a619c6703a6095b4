import type { AuthChange } from '@engram/auth';
import {
  type ByteList,
  EngramError,
  keyText,
  type LeaseId,
  type Revision,
  revision,
  type Txn,
  whenLate,
  whenThere,
} from '@engram/core';
import type { PureJob } from '@engram/loop';
import type { Mark } from '../apply/committed-write.ts';
import type { DecidedAuth } from '../auth/decided-auth.ts';
import { accessOf, permitKeys, permitLease, permitRoot, permitUser } from '../auth/permits.ts';
import type { AuthDecisions } from './auth-decisions.ts';
import type { Caller } from '../caller.ts';
import { clientTask } from '../client-task.ts';
import { CONFIRMED_WITHIN_MS, confirmedLately } from '../confirmed-lately.ts';
import type { Decided } from '../decide/write.ts';
import type { Confirm } from './confirmed-refusal.ts';
import type { LeaseDecisions } from './lease-decisions.ts';
import type { StoreObserver } from '../observer.ts';
import { MARK_COST_BYTES } from '../quota.ts';
import type { Replica } from '../replica/replica.ts';
import { alarmName } from '../apply/replicated-state.ts';
import type { Alarm, LeaseDetails, LeaseView, Login, Proposals, TxnResult } from '../store.ts';
import type { WritePath } from '../write/write-path.ts';

export interface LeaderDecisionsOptions {
  readonly replica: Replica;
  readonly writes: WritePath;
  readonly leases: LeaseDecisions;
  readonly auth: DecidedAuth;
  readonly authDecisions: AuthDecisions;
  readonly memberId: bigint;
  readonly observer: StoreObserver;
  readonly confirm: Confirm;
  /** See `BackendSettings`. */
  readonly confirmedWithinMs: number | undefined;
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
    try {
      return this.#options.writes.txn(txn, caller);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** Resolves when reads below `wanted` are refused. */
  async compact(wanted: number, _physical: boolean, caller: Caller): Promise<void> {
    // The revision may be durable and visible on a follower, but not in effect here yet.
    if (wanted > this.#options.replica.revision) await this.#options.writes.whenApplied();
    return this.#options.writes.decide(() => this.#compacting(wanted, caller), MARK_COST_BYTES, caller);
  }

  #compacting(wanted: number, caller: Caller): Decided<void> {
    const { replica, writes, auth } = this.#options;
    if (auth.enabled) permitRoot(auth.state, caller);
    // The compaction that makes this one fail may still be under way. A refusal is told when it is not.
    if (wanted <= this.#compactDecided) throw new EngramError('Compacted');
    if (wanted > replica.revision) throw new EngramError('FutureRev');
    const target = revision(wanted);
    writes.admit();
    this.#compactDecided = target;
    return { mark: { kind: 'compact', revision: target }, origin: caller.origin, answer: () => undefined };
  }

  leaseGrant(id: LeaseId, ttlSeconds: number, caller: Caller): Promise<LeaseView> {
    return this.#options.leases.grant(id, ttlSeconds, caller);
  }

  leaseRevoke(id: LeaseId, caller: Caller): Promise<Revision> {
    return this.#options.leases.revoke(id, caller);
  }

  /** A renewal is no write, so it is judged by the users and roles that have taken effect. */
  leaseKeepAlive(id: LeaseId, caller: Caller): number | Promise<number> {
    const { leases, replica } = this.#options;
    return replica.state.auth.enabled ? this.#judgedKeepAlive(id, caller) : leases.keepAlive(id);
  }

  #judgedKeepAlive(id: LeaseId, caller: Caller): number | Promise<number> {
    const { replica } = this.#options;
    const { state, loop } = replica;
    const permitting = permitLease(state.auth.state, caller, state.lessor.keyTexts(id), loop);
    const permitted = loop.run(clientTask(caller, 'permit'), permitting, caller.signal);
    const judged = whenLate(permitted, (late) => this.#confirmedAgain(late));
    return whenThere(judged, () => this.#renewHere(id), undefined);
  }

  /** The judgement took more than a slice: by now another node may lead, and may have ended the lease. */
  async #confirmedAgain(permitted: Promise<void>): Promise<void> {
    const { replica, confirm, confirmedWithinMs = CONFIRMED_WITHIN_MS } = this.#options;
    await permitted;
    if (confirm !== undefined) await confirmedLately(replica.clock, confirmedWithinMs, confirm);
  }

  #renewHere(id: LeaseId): number | Promise<number> {
    const { leases, writes } = this.#options;
    if (writes.halted) throw new EngramError('LeaderChanged');
    return leases.keepAlive(id);
  }

  /** Another member reads the keys from its own replica. They are here for members of the version before. */
  async leaseTimeToLive(id: LeaseId, withKeys: boolean, caller: Caller): Promise<LeaseDetails | undefined> {
    const { replica } = this.#options;
    for (;;) {
      const grant = replica.state.lessor.grantOf(id);
      if (replica.state.auth.enabled) permitUser(replica.state.auth.state, caller);
      const keys = withKeys ? await replica.leaseKeys(id, caller) : [];
      if (keys !== undefined && keys.length > 0 && replica.state.auth.enabled) {
        await replica.loop.run(clientTask(caller, 'permit'), this.#showing(keys, caller));
      }
      // The id may have been granted again while its keys were listed.
      if (replica.state.lessor.grantOf(id) !== grant) continue;
      const lease = this.#options.leases.timeToLive(id);
      return lease === undefined || keys === undefined ? undefined : { ...lease, keys };
    }
  }

  *#showing(keys: ByteList, caller: Caller): PureJob<void> {
    const { state, loop } = this.#options.replica;
    const access = yield* accessOf(state.auth.state, caller, loop);
    if (access === undefined || access.permitsAll) return;
    yield* permitKeys(access, 'read', keyTexts(keys), loop);
  }

  /** TooManyRequests if too many are raised. This node's own are always raised: they guard its data. */
  async activateAlarm(alarm: Alarm, caller: Caller): Promise<void> {
    await this.#changingAlarms.get(alarmName(alarm));
    const { replica, memberId, confirm } = this.#options;
    const { state } = replica;
    const refused = this.#refuseUnlessRoot(caller);
    if (refused !== undefined) return refused;
    if (state.hasAlarm(alarm)) return confirm?.();
    const raised = state.alarmCount + this.#changingAlarms.size;
    if (raised >= ALARMS_MAX && alarm.memberId !== memberId) throw new EngramError('TooManyRequests');
    await this.#changeAlarm(alarm, true, caller);
  }

  /** Resolves with false if the alarm was not set. */
  async deactivateAlarm(alarm: Alarm, caller: Caller): Promise<boolean> {
    await this.#changingAlarms.get(alarmName(alarm));
    const { state } = this.#options.replica;
    const refused = this.#refuseUnlessRoot(caller);
    if (refused !== undefined) return refused;
    if (!state.hasAlarm(alarm)) {
      await this.#options.confirm?.();
      return false;
    }
    await this.#changeAlarm(alarm, false, caller);
    return true;
  }

  /**
   * Undefined: the caller is permitted. Otherwise rejects with the refusal when it is confirmed that this node still leads: a leader
   * that was replaced does not know the newest users and roles. Synchronous, so that nothing comes between the question and the change.
   */
  #refuseUnlessRoot(caller: Caller): Promise<never> | undefined {
    const { replica, confirm } = this.#options;
    const { auth } = replica.state;
    if (!auth.enabled) return undefined;
    try {
      permitRoot(auth.state, caller);
      return undefined;
    } catch (error) {
      return Promise.resolve(confirm?.()).then(() => {
        throw error;
      });
    }
  }

  changeAuth(change: AuthChange, caller: Caller): Promise<void> {
    return this.#options.authDecisions.change(change, caller);
  }

  logIn(login: Login, caller: Caller): Promise<void> {
    return this.#options.authDecisions.logIn(login, caller);
  }

  #marking(mark: Mark, caller: Caller): Decided<void> {
    const { auth, writes } = this.#options;
    if (auth.enabled) permitRoot(auth.state, caller);
    writes.admit();
    return { mark, origin: caller.origin, answer: () => undefined };
  }

  #changeAlarm(alarm: Alarm, active: boolean, caller: Caller): Promise<unknown> {
    const name = alarmName(alarm);
    const changed = this.#options.writes
      .decide(() => this.#marking({ kind: 'alarm', ...alarm, active }, caller), MARK_COST_BYTES, caller)
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

function* keyTexts(keys: ByteList): Generator<string> {
  for (const key of keys) yield keyText(key);
}
