import { type AuthRefusal, type AuthState, KeyAccess, refuseUnauthenticated, refuseUnlessRoot } from '@engram/auth';
import { EngramError, keyBytes, type LeaseId, NO_LEASE, type Op, pointRange, type Txn } from '@engram/core';
import type { PureJob, Turn } from '@engram/loop';
import type { Caller } from '../caller.ts';

/** A caller as far as rights are concerned. */
export type Permitted = Pick<Caller, 'isNode' | 'user' | 'authRevision'>;

/** The keys that are attached to a lease, in the form of `keyText`. */
export type LeaseKeyTexts = (id: LeaseId) => PureJob<Iterable<string>>;

export function refuseIf(refusal: AuthRefusal | undefined): void {
  if (refusal !== undefined) throw new EngramError(refusal);
}

/** Throws what refuses a caller who needs no more than to be authenticated. */
export function permitUser(state: AuthState, caller: Permitted): void {
  if (caller.isNode !== true) refuseIf(refuseUnauthenticated(state, caller));
}

/** Throws what refuses a caller without the role root. */
export function permitRoot(state: AuthState, caller: Permitted): void {
  if (caller.isNode !== true) refuseIf(refuseUnlessRoot(state, caller));
}

/**
 * What the caller may do with keys in this state. Undefined: everything, because no user counts. The rights of a user with very
 * many permissions are joined at their first use, which may give way.
 */
export function* accessOf(state: AuthState, caller: Permitted, turn: Turn): PureJob<KeyAccess | undefined> {
  if (caller.isNode === true || !state.enabled) return undefined;
  yield* state.prepareRights(caller.user, turn);
  return new KeyAccess(state, caller);
}

/** As `accessOf`, where it needs no job. Undefined: it needs one, because rights must be joined first. */
export const accessAtOnce = (state: AuthState, caller: Permitted): KeyAccess | undefined =>
  caller.isNode !== true && state.hasRightsOf(caller.user) ? new KeyAccess(state, caller) : undefined;

/** Whether `permitTxn` would be short: no rights must be joined first, and there are no leases whose keys to look at. */
export const isPermittedAtOnce = (state: AuthState, txn: Txn, { user }: Permitted): boolean =>
  state.hasRightsOf(user) && !namesLease(txn);

/** As `permitTxn`, for a transaction of which `isPermittedAtOnce`. */
export function permitTxnAtOnce(state: AuthState, txn: Txn, caller: Permitted): void {
  if (caller.isNode !== true) refuseIf(new KeyAccess(state, caller).txn(txn, noKeys));
}

/**
 * Throws what refuses the transaction: anything in it, in both branches, nested ones too, and the keys of the leases to which it
 * puts keys.
 */
export function* permitTxn(
  state: AuthState,
  txn: Txn,
  caller: Permitted,
  keysOf: LeaseKeyTexts,
  turn: Turn,
): PureJob<void> {
  const access = yield* accessOf(state, caller, turn);
  if (access === undefined) return;
  refuseIf(access.txn(txn, noKeys));
  if (access.permitsAll) return;
  for (const lease of leasesOf(txn)) yield* permitKeys(access, 'write', yield* keysOf(lease), turn);
}

/** Throws what refuses the use of a lease, by its keys. */
export function* permitLease(state: AuthState, caller: Permitted, keys: Iterable<string>, turn: Turn): PureJob<void> {
  permitUser(state, caller);
  const access = yield* accessOf(state, caller, turn);
  if (access === undefined || access.permitsAll) return;
  yield* permitKeys(access, 'write', keys, turn);
}

/** Throws what refuses to read or write any of the keys. */
export function* permitKeys(
  access: KeyAccess,
  what: 'read' | 'write',
  keys: Iterable<string>,
  turn: Turn,
): PureJob<void> {
  for (const text of keys) {
    refuseIf(access[what](pointRange(keyBytes(text))));
    if (turn.shouldYield()) yield;
  }
}

const noKeys = (): readonly Uint8Array[] => [];

function namesLease({ success, failure }: Txn): boolean {
  return success.some(opNamesLease) || failure.some(opNamesLease);
}

const opNamesLease = (op: Op): boolean =>
  op.kind === 'put' ? op.lease !== NO_LEASE : op.kind === 'txn' && namesLease(op.txn);

/** The leases that puts of the transaction name, whichever branch runs. */
function leasesOf(txn: Txn, into: Set<LeaseId> = new Set()): ReadonlySet<LeaseId> {
  const visit = (op: Op): void => {
    if (op.kind === 'txn') leasesOf(op.txn, into);
    else if (op.kind === 'put' && op.lease !== NO_LEASE) into.add(op.lease);
  };
  txn.success.forEach(visit);
  txn.failure.forEach(visit);
  return into;
}
