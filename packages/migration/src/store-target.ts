import type { Caller, Store } from '@engram/backend';
import {
  assert,
  type Compare,
  CompareResult,
  CompareTarget,
  type ErrorCode,
  isEngramError,
  leaseId,
  NO_LEASE,
  type Op,
  pointRange,
  prefixRange,
  putOp,
  rangeOp,
  type Txn,
} from '@engram/core';
import { mvccpb } from '@engram/wire';
import { MigrationError } from './migration-error.ts';
import { type AuthMark, type Change, conditionOf, type KeyHead, type RevisionMark, type Target } from './stores.ts';

const ALL = prefixRange(new Uint8Array(0));
const NO_VALUE = new Uint8Array(0);

/** The calls of the store that follows. */
export type FollowingStore = Pick<
  Store,
  'revision' | 'auth' | 'txn' | 'leases' | 'keysOfLease' | 'leaseGrant' | 'leaseRevoke'
>;

export interface StoreTargetOptions {
  readonly store: FollowingStore;
  /** Nobody else writes to the store. */
  readonly caller: Caller;
  /** Whether this node leads, in the epoch for which the target was made. */
  readonly leads: () => boolean;
}

/**
 * Of a call whose leader has changed, or whose answer has not come in time. Its write is there, or is not. A store without space must stay
 * there until somebody disarms its alarm.
 */
const passing: ReadonlySet<ErrorCode> = new Set([
  'LeaderChanged',
  'NotLeader',
  'NoLeader',
  'Timeout',
  'TimeoutDueToLeaderFail',
  'TimeoutDueToConnectionLost',
  'TooManyRequests',
  'NoSpace',
]);

/**
 * The store of this node, in one epoch of its leadership: nothing is forwarded to another leader. All calls reject with MigrationError
 * `interrupted` where this node does not lead any more or what fails passes by itself, and with the store's other errors.
 */
export class StoreTarget implements Target {
  readonly #store: FollowingStore;
  readonly #caller: Caller;
  readonly #leads: () => boolean;

  constructor({ store, caller, leads }: StoreTargetOptions) {
    this.#store = store;
    this.#caller = caller;
    this.#leads = leads;
  }

  /** Of a leader that still leads, behind all that was written before. */
  async revision(): Promise<number> {
    return (await this.#led(() => this.#store.txn(NOTHING, this.#caller))).revision;
  }

  async heads(keys: readonly Uint8Array[]): Promise<readonly (KeyHead | undefined)[]> {
    const ops = keys.map((key) => rangeOp(pointRange(key), { keysOnly: true, serializable: true }));
    const { responses } = await this.#led(() => this.#store.txn(txnOf(ops), this.#caller));
    return responses.map((response) => {
      assert(response.kind === 'range', 'a range is answered by something else');
      for (const bytes of response.kvs) {
        const { version, createRevision, modRevision } = mvccpb.decodeKeyValue(bytes);
        return { version, createRevision, modRevision };
      }
      return undefined;
    });
  }

  async write(changes: readonly Change[], behind: RevisionMark | undefined): Promise<number | undefined> {
    const compares = changes.flatMap(comparesOf);
    if (behind !== undefined) compares.push(compare(behind.key, EQUAL, MOD, behind.modRevision));
    const txn = txnOf(changes.map(opOf), compares);
    const { revision, succeeded } = await this.#led(() => this.#store.txn(txn, this.#caller));
    return succeeded ? revision : undefined;
  }

  async keys(revision: number): Promise<number> {
    const count = rangeOp(ALL, { countOnly: true, serializable: true, revision });
    const { responses } = await this.#led(() => this.#store.txn(txnOf([count]), this.#caller));
    const [response] = responses;
    assert(response?.kind === 'range', 'a range is answered by something else');
    return response.count;
  }

  async leases(): Promise<ReadonlyMap<bigint, number>> {
    const all = await this.#led(() => this.#store.leases('by-id', this.#caller));
    return new Map(all.map(({ id, grantedTtlSeconds }) => [id, grantedTtlSeconds]));
  }

  async grant(id: bigint, ttlSeconds: number): Promise<number> {
    return (await this.#led(() => this.#store.leaseGrant(leaseId(id), ttlSeconds, this.#caller))).grantedTtlSeconds;
  }

  async revoke(id: bigint): Promise<void> {
    await this.#led(() => this.#store.leaseRevoke(leaseId(id), this.#caller));
  }

  async hasKeys(id: bigint): Promise<boolean> {
    for (const _key of this.#store.keysOfLease(leaseId(id))) return true;
    return false;
  }

  async auth(): Promise<AuthMark> {
    const { enabled, state } = this.#store.auth;
    return { enabled, authRevision: state.revision };
  }

  /** The store asks in the call itself whether this node leads: behind this look nothing else comes. */
  async #led<Result>(call: () => Promise<Result>): Promise<Result> {
    if (!this.#leads()) throw new MigrationError('interrupted', 'this member does not lead any more');
    try {
      return await call();
    } catch (cause) {
      if (!isEngramError(cause) || !passing.has(cause.code)) throw cause;
      throw new MigrationError('interrupted', `the store takes nothing now: ${cause.message}`, { cause });
    }
  }
}

const txnOf = (success: readonly Op[], compares: readonly Compare[] = []): Txn => ({ compares, success, failure: [] });

const { EQUAL, GREATER, LESS } = CompareResult;
const { VERSION, CREATE, MOD } = CompareTarget;
const compare = (key: Uint8Array, result: number, target: number, number: number): Compare => ({
  range: pointRange(key),
  result,
  target,
  number,
  lease: NO_LEASE,
  value: NO_VALUE,
});

/** No key has such a version. It changes nothing, and is answered behind what was decided before it. */
const NEVER = compare(Uint8Array.of(0), LESS, VERSION, 0);
const NOTHING = txnOf([{ kind: 'delete-range', range: NEVER.range, prevKv: false }], [NEVER]);

function comparesOf(change: Change): readonly Compare[] {
  const { key } = change;
  const condition = conditionOf(change);
  switch (condition.kind) {
    case 'absent':
      return [compare(key, EQUAL, VERSION, 0)];
    case 'lives':
      return [compare(key, GREATER, VERSION, 0)];
    case 'at':
      return [compare(key, EQUAL, VERSION, condition.version), compare(key, EQUAL, CREATE, condition.createRevision)];
  }
}

function opOf(change: Change): Op {
  if (change.kind === 'delete') return { kind: 'delete-range', range: pointRange(change.key), prevKv: false };
  return putOp(change.key, change.value, { lease: leaseId(change.lease) });
}
