import type { AuthChange } from '@engram/auth';
import type { LeaseId, Revision, Txn } from '@engram/core';
import type { Caller } from '../caller.ts';
import type { Alarm, LeaseDetails, LeaseView, Login, Proposals, TxnResult } from '../store.ts';

/**
 * Proposals that pass on to `next`. A concern that stands before the leader's decisions (corruption, quota) extends it, and
 * overrides what it may refuse; etcd has its appliers for the same (server/etcdserver/apply). A guard judges the state at the
 * call. What must be judged in the turn of the decision is not a guard's: there the state may be another one.
 */
export abstract class GuardedProposals implements Proposals {
  protected readonly next: Proposals;

  constructor(next: Proposals) {
    this.next = next;
  }

  txn(txn: Txn, caller: Caller): Promise<TxnResult> {
    return this.next.txn(txn, caller);
  }

  compact(wanted: number, physical: boolean, caller: Caller): Promise<void> {
    return this.next.compact(wanted, physical, caller);
  }

  leaseGrant(id: LeaseId, ttlSeconds: number, caller: Caller): Promise<LeaseView> {
    return this.next.leaseGrant(id, ttlSeconds, caller);
  }

  leaseRevoke(id: LeaseId, caller: Caller): Promise<Revision> {
    return this.next.leaseRevoke(id, caller);
  }

  leaseKeepAlive(id: LeaseId, caller: Caller): number | Promise<number> {
    return this.next.leaseKeepAlive(id, caller);
  }

  leaseTimeToLive(id: LeaseId, withKeys: boolean, caller: Caller): Promise<LeaseDetails | undefined> {
    return this.next.leaseTimeToLive(id, withKeys, caller);
  }

  activateAlarm(alarm: Alarm, caller: Caller): Promise<void> {
    return this.next.activateAlarm(alarm, caller);
  }

  deactivateAlarm(alarm: Alarm, caller: Caller): Promise<boolean> {
    return this.next.deactivateAlarm(alarm, caller);
  }

  changeAuth(change: AuthChange, caller: Caller): Promise<void> {
    return this.next.changeAuth(change, caller);
  }

  logIn(login: Login, caller: Caller): Promise<void> {
    return this.next.logIn(login, caller);
  }
}
