import type { AuthChange } from '@engram/auth';
import { EngramError, type LeaseId, type Revision, type Txn } from '@engram/core';
import type { Caller } from '../caller.ts';
import type { Following } from './following.ts';
import { GuardedProposals } from './guarded-proposals.ts';
import type { LeaseView, Proposals, TxnResult } from '../store.ts';

/**
 * While the store follows another one, its follower alone writes: a write of anybody else would take a revision of the other store.
 * Nobody renews a lease, whose time does not run. Alarms and compactions are this store's own: they take no revision, and those of the
 * other store do not show.
 */
export class FollowGuard extends GuardedProposals {
  readonly #following: Following;

  constructor(next: Proposals, following: Following) {
    super(next);
    this.#following = following;
  }

  override txn(txn: Txn, caller: Caller): Promise<TxnResult> {
    return this.#isClosed(caller) ? refused() : this.next.txn(txn, caller);
  }

  override leaseGrant(id: LeaseId, ttlSeconds: number, caller: Caller): Promise<LeaseView> {
    return this.#isClosed(caller) ? refused() : this.next.leaseGrant(id, ttlSeconds, caller);
  }

  override leaseRevoke(id: LeaseId, caller: Caller): Promise<Revision> {
    return this.#isClosed(caller) ? refused() : this.next.leaseRevoke(id, caller);
  }

  override leaseKeepAlive(id: LeaseId, caller: Caller): number | Promise<number> {
    return this.#isClosed(caller) ? refused() : this.next.leaseKeepAlive(id, caller);
  }

  override changeAuth(change: AuthChange, caller: Caller): Promise<void> {
    return this.#isClosed(caller) ? refused() : this.next.changeAuth(change, caller);
  }

  #isClosed(caller: Caller): boolean {
    return this.#following.active && caller !== this.#following.caller;
  }
}

const refused = (): Promise<never> => Promise.reject(new EngramError('Following'));
