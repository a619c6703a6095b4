import type { AuthRefusal } from '@engram/auth';
import { type KeyRange, keyBytes, type LeaseId, type Op, type RangeOp, type Txn } from '@engram/core';
import type { StoreHistory } from '@engram/sim/model';
import { holds, isRoot, type UsersState } from './users-model.ts';

/** What a request needs of its caller's rights. */
export type Need =
  /** No more than a token that counts, if there is one. */
  | { readonly kind: 'token' }
  | { readonly kind: 'user' }
  | { readonly kind: 'root' }
  | { readonly kind: 'keys'; readonly keys: NeededKeys }
  /** WRITE on every key of a lease, or READ. */
  | { readonly kind: 'lease'; readonly id: bigint; readonly what: 'read' | 'write' }
  /** READ on every key of every lease. */
  | { readonly kind: 'leases' };

interface NeededKeys {
  readonly read: readonly KeyRange[];
  readonly write: readonly KeyRange[];
  /** WRITE on every key of these. */
  readonly leases: readonly LeaseId[];
}

/** Whom a member takes a caller for. */
export interface ModelCaller {
  /** Empty: nobody. */
  readonly user: string;
  readonly authRevision: number;
}

export const readNeed = ({ range }: Pick<RangeOp, 'range'>): Need => ({
  kind: 'keys',
  keys: { read: [range], write: [], leases: [] },
});

/** Of both branches, nested ones too, whichever runs. */
export function txnNeed(txn: Txn): Need {
  const read: KeyRange[] = [];
  const write: KeyRange[] = [];
  const leases: LeaseId[] = [];
  const visit = (op: Op): void => {
    switch (op.kind) {
      case 'range':
        read.push(op.range);
        return;
      case 'put': {
        const range = { key: op.key, end: new Uint8Array(0) };
        write.push(range);
        if (op.prevKv) read.push(range);
        if (op.lease !== 0n) leases.push(op.lease);
        return;
      }
      case 'delete-range':
        write.push(op.range);
        if (op.prevKv) read.push(op.range);
        return;
      case 'txn':
        visitTxn(op.txn);
    }
  };
  const visitTxn = ({ compares, success, failure }: Txn): void => {
    read.push(...compares.map(({ range }) => range));
    success.forEach(visit);
    failure.forEach(visit);
  };
  visitTxn(txn);
  return { kind: 'keys', keys: { read, write, leases } };
}

/** Why the caller is refused where everything before the position has taken effect; undefined: it is not. */
export function refusalOf(
  history: StoreHistory,
  position: number,
  state: UsersState,
  { user, authRevision }: ModelCaller,
  need: Need,
): AuthRefusal | undefined {
  if (!state.enabled || need.kind === 'token') return undefined;
  const root = isRoot(state, user);
  if (need.kind === 'root') {
    if (user === '') return 'UserEmpty';
    return root === undefined ? 'UserNotFound' : root ? undefined : 'PermissionDenied';
  }
  // A transaction of nothing needs nothing.
  if (authRevision === 0 && need.kind !== 'keys') return 'UserEmpty';
  if (need.kind === 'user') return undefined;
  const every = (what: 'read' | 'write', ranges: readonly KeyRange[]): AuthRefusal | undefined => {
    if (ranges.length === 0) return undefined;
    if (authRevision === 0) return 'UserEmpty';
    if (authRevision < state.revision) return 'AuthOldRevision';
    if (root === undefined) return 'PermissionDenied';
    return root || ranges.every((range) => holds(state, user, what, range)) ? undefined : 'PermissionDenied';
  };
  const keysOf = (id: bigint): readonly KeyRange[] =>
    root === true ? [] : history.leaseKeys(id, position).map(pointOf);
  switch (need.kind) {
    case 'keys': {
      const { read, write, leases } = need.keys;
      return every('write', [...write, ...leases.flatMap(keysOf)]) ?? every('read', read);
    }
    case 'lease':
      return every(need.what, keysOf(need.id));
    case 'leases':
      return every(
        'read',
        history.leasesAt(position).flatMap(({ id }) => keysOf(id)),
      );
  }
}

const pointOf = (text: string): KeyRange => ({ key: keyBytes(text), end: new Uint8Array(0) });
