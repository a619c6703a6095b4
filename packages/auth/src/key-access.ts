import {
  type DeleteRangeOp,
  type KeyRange,
  type LeaseId,
  NO_LEASE,
  type Op,
  pointRange,
  type PutOp,
  type Txn,
  unreachable,
} from '@engram/core';
import { type AuthInfo, type AuthRefusal, refuseUnauthenticated } from './auth-info.ts';
import type { AuthState, Rights } from './auth-state.ts';

/** The keys that are attached to a lease; none for an unknown lease. */
export type KeysOfLease = (lease: LeaseId) => Iterable<Uint8Array>;

const SMALLEST_KEY = Uint8Array.of(0);

/**
 * What one caller may do with keys, in one state. Every answer is undefined if it is permitted, otherwise the reason
 * (etcd server/auth: isOpPermitted; etcdserver/apply/auth.go).
 *
 * Ranges are those of the request as it came: a form that a service makes of them, such as that of an open end, may
 * mean other keys.
 */
export class KeyAccess {
  readonly #unauthenticated: AuthRefusal | undefined;
  /** Why nothing is permitted. */
  readonly #refusal: AuthRefusal | undefined;
  /** Undefined if everything is permitted, or nothing. */
  readonly #rights: Exclude<Rights, { root: true }> | undefined;
  /** Whether the keys of leases matter. */
  readonly #all: boolean;

  constructor(state: AuthState, info: AuthInfo) {
    this.#unauthenticated = refuseUnauthenticated(state, info);
    const rights = state.enabled ? state.rightsOf(info.user) : undefined;
    this.#rights = rights?.root === false ? rights : undefined;
    this.#refusal = state.enabled ? refusalOf(state, info, rights) : undefined;
    // Root may use every lease, also with an old auth revision.
    this.#all = !state.enabled || rights?.root === true;
  }

  /** Everything is permitted, with every lease: the keys of leases need not be looked at. */
  get permitsAll(): boolean {
    return this.#all;
  }

  /** Of Range, of a compare, and of what a Watch asks for. */
  read(range: KeyRange): AuthRefusal | undefined {
    if (this.#refusal !== undefined || this.#rights === undefined) return this.#refusal;
    return this.#rights.read.holds(range) ? undefined : 'PermissionDenied';
  }

  write(range: KeyRange): AuthRefusal | undefined {
    if (this.#refusal !== undefined || this.#rights === undefined) return this.#refusal;
    return this.#rights.write.holds(range) ? undefined : 'PermissionDenied';
  }

  /**
   * A put with a lease needs WRITE on all of the lease's keys: who puts a key to a lease takes part in when the others
   * end.
   */
  put({ key, lease, prevKv }: Pick<PutOp, 'key' | 'lease' | 'prevKv'>, keysOf: KeysOfLease): AuthRefusal | undefined {
    const range = pointRange(key);
    return (
      this.write(range) ??
      (lease === NO_LEASE ? undefined : this.#everyKey(keysOf(lease), 'write')) ??
      (prevKv ? this.read(range) : undefined)
    );
  }

  deleteRange({ range, prevKv }: Pick<DeleteRangeOp, 'range' | 'prevKv'>): AuthRefusal | undefined {
    return this.write(range) ?? (prevKv ? this.read(range) : undefined);
  }

  /** Everything in the transaction, nested ones too: its compares, and both branches whichever will run. */
  txn({ compares, success, failure }: Txn, keysOf: KeysOfLease): AuthRefusal | undefined {
    for (const { range } of compares) {
      const refusal = this.read(range);
      if (refusal !== undefined) return refusal;
    }
    return this.#branch(success, keysOf) ?? this.#branch(failure, keysOf);
  }

  /** When a watch begins. Without a key it watches from the smallest key on. */
  watch(range: KeyRange): AuthRefusal | undefined {
    return this.read(range.key.length === 0 ? { key: SMALLEST_KEY, end: range.end } : range);
  }

  /** Of LeaseRevoke and LeaseKeepAlive, with the keys of the lease. */
  useLease(keys: Iterable<Uint8Array>): AuthRefusal | undefined {
    return this.#unauthenticated ?? this.#everyKey(keys, 'write');
  }

  /** Of LeaseTimeToLive that shows the keys of the lease, and of LeaseLeases with the keys of all leases. */
  showLeases(keys: Iterable<Uint8Array>): AuthRefusal | undefined {
    return this.#unauthenticated ?? this.#everyKey(keys, 'read');
  }

  #branch(ops: readonly Op[], keysOf: KeysOfLease): AuthRefusal | undefined {
    for (const op of ops) {
      const refusal = this.#op(op, keysOf);
      if (refusal !== undefined) return refusal;
    }
    return undefined;
  }

  #op(op: Op, keysOf: KeysOfLease): AuthRefusal | undefined {
    switch (op.kind) {
      case 'range':
        return this.read(op.range);
      case 'put':
        return this.put(op, keysOf);
      case 'delete-range':
        return this.deleteRange(op);
      case 'txn':
        return this.txn(op.txn, keysOf);
      default:
        return unreachable(op);
    }
  }

  #everyKey(keys: Iterable<Uint8Array>, what: 'read' | 'write'): AuthRefusal | undefined {
    if (this.#all) return undefined;
    for (const key of keys) {
      const refusal = this[what](pointRange(key));
      if (refusal !== undefined) return refusal;
    }
    return undefined;
  }
}

function refusalOf(
  { revision }: AuthState,
  { authRevision }: AuthInfo,
  rights: Rights | undefined,
): AuthRefusal | undefined {
  if (authRevision === 0) return 'UserEmpty';
  if (authRevision < revision) return 'AuthOldRevision';
  return rights === undefined ? 'PermissionDenied' : undefined;
}
