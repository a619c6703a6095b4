import { keyBytes, type LeaseId, type Txn } from '@engram/core';
import type { KeyIndex } from '@engram/index';
import { finish, type PureJob } from '@engram/loop';
import type { PendingLeases } from '../answer/pending-leases.ts';
import type { DecidedAuth } from '../auth/decided-auth.ts';
import { isPermittedAtOnce, permitLease, permitTxn, permitTxnAtOnce } from '../auth/permits.ts';
import type { Caller } from '../caller.ts';
import type { Replica } from '../replica/replica.ts';

export interface WriteRightsOptions {
  readonly auth: DecidedAuth;
  readonly leases: PendingLeases;
  readonly replica: Replica;
}

/** Judges writes: each when it is decided, by the users and roles of what is decided before it. All parts throw what refuses it. */
export class WriteRights {
  readonly #options: WriteRightsOptions;

  constructor(options: WriteRightsOptions) {
    this.#options = options;
  }

  /** Whether users and roles count. */
  get enabled(): boolean {
    return this.#users.enabled;
  }

  get #users(): Pick<DecidedAuth, 'enabled' | 'state'> {
    return this.#options.auth;
  }

  /** Whether to judge the transaction looks up no more than rights that are known: its caller's, and no keys of leases. */
  isShort(txn: Txn, caller: Caller): boolean {
    return isPermittedAtOnce(this.#users.state, txn, caller);
  }

  /** Of a transaction of which `isShort` in this call. */
  permitShort(txn: Txn, caller: Caller): void {
    permitTxnAtOnce(this.#users.state, txn, caller);
  }

  /** In one slice, however long. */
  permitNow(txn: Txn, caller: Caller): void {
    this.#options.replica.loop.slice(() => finish(this.permit(txn, caller)));
  }

  /** A part of a decision. */
  *permit(txn: Txn, caller: Caller): PureJob<void> {
    const { enabled, state } = this.#users;
    if (enabled) yield* permitTxn(state, txn, caller, (id) => this.#keysOf(id), this.#options.replica.loop);
  }

  /** A part of a decision, for the use of a lease. */
  *permitLease(id: LeaseId, caller: Caller): PureJob<void> {
    yield* permitLease(this.#users.state, caller, yield* this.#keysOf(id), this.#options.replica.loop);
  }

  /** In the form of `keyText`, as far as no write under way has taken them from the lease. */
  *#keysOf(id: LeaseId): PureJob<Iterable<string>> {
    const { leases, replica } = this.#options;
    return attachedTo(id, yield* leases.candidates(id, replica.loop), replica.state.index);
  }
}

/** The candidates that are attached to the lease by what is decided. */
function* attachedTo(id: LeaseId, candidates: readonly string[], index: KeyIndex): Generator<string> {
  for (const text of candidates) {
    const head = index.head(keyBytes(text));
    if (head >= 0 && !index.isTombstone(head) && index.lease(head) === id) yield text;
  }
}
