import type { LeaseId, Txn } from '@engram/core';
import type { Caller } from '../caller.ts';
import { type Confirm, refuse } from './confirmed-refusal.ts';
import { GuardedProposals } from './guarded-proposals.ts';
import { ALARM_CORRUPT, type ReplicatedState } from '../apply/replicated-state.ts';
import type { LeaseView, Proposals, TxnResult } from '../store.ts';

type Alarms = Pick<ReplicatedState, 'isRaised'>;

/** For what is judged in the turn of its decision, as the end of a lease is. */
export const isCorrupt = (state: Alarms): boolean => state.isRaised(ALARM_CORRUPT);

/** While the alarm CORRUPT is raised, nothing is written (etcd: apply/corrupt.go). Leases may be renewed and alarms cleared. */
export class CorruptGuard extends GuardedProposals {
  readonly #state: Alarms;
  readonly #confirm: Confirm;

  constructor(next: Proposals, state: Alarms, confirm: Confirm) {
    super(next);
    this.#state = state;
    this.#confirm = confirm;
  }

  override txn(txn: Txn, caller: Caller): Promise<TxnResult> {
    return this.#isCorrupt ? refuse(this.#confirm, 'Corrupt') : this.next.txn(txn, caller);
  }

  override compact(wanted: number, physical: boolean, caller: Caller): Promise<void> {
    return this.#isCorrupt ? refuse(this.#confirm, 'Corrupt') : this.next.compact(wanted, physical, caller);
  }

  override leaseGrant(id: LeaseId, ttlSeconds: number, caller: Caller): Promise<LeaseView> {
    return this.#isCorrupt ? refuse(this.#confirm, 'Corrupt') : this.next.leaseGrant(id, ttlSeconds, caller);
  }

  get #isCorrupt(): boolean {
    return isCorrupt(this.#state);
  }
}
