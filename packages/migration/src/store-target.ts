import type { Caller, Store } from '@engram/backend';
import {
  assert,
  type Compare,
  CompareResult,
  CompareTarget,
  leaseId,
  NO_LEASE,
  type Op,
  pointRange,
  putOp,
  rangeOp,
  type Txn,
} from '@engram/core';
import { mvccpb } from '@engram/wire';
import { type AuthMark, type Change, conditionOf, type KeyHead, type RevisionMark, type Target } from './stores.ts';

const NO_VALUE = new Uint8Array(0);

/** The calls of the store that follows. */
export type FollowingStore = Pick<
  Store,
  'revision' | 'auth' | 'txn' | 'leases' | 'keysOfLease' | 'leaseGrant' | 'leaseRevoke'
>;

/** The store of this node, to which only `caller` writes. Its errors are those of the store. */
export class StoreTarget implements Target {
  readonly #store: FollowingStore;
  readonly #caller: Caller;

  constructor(store: FollowingStore, caller: Caller) {
    this.#store = store;
    this.#caller = caller;
  }

  async revision(): Promise<number> {
    return this.#store.revision;
  }

  async heads(keys: readonly Uint8Array[]): Promise<readonly (KeyHead | undefined)[]> {
    const ops = keys.map((key) => rangeOp(pointRange(key), { keysOnly: true, serializable: true }));
    const { responses } = await this.#store.txn(txnOf(ops), this.#caller);
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
    const { revision, succeeded } = await this.#store.txn(txn, this.#caller);
    return succeeded ? revision : undefined;
  }

  async leases(): Promise<ReadonlyMap<bigint, number>> {
    const all = await this.#store.leases('by-id', this.#caller);
    return new Map(all.map(({ id, grantedTtlSeconds }) => [id, grantedTtlSeconds]));
  }

  async grant(id: bigint, ttlSeconds: number): Promise<number> {
    return (await this.#store.leaseGrant(leaseId(id), ttlSeconds, this.#caller)).grantedTtlSeconds;
  }

  async revoke(id: bigint): Promise<void> {
    await this.#store.leaseRevoke(leaseId(id), this.#caller);
  }

  async hasKeys(id: bigint): Promise<boolean> {
    for (const _key of this.#store.keysOfLease(leaseId(id))) return true;
    return false;
  }

  async auth(): Promise<AuthMark> {
    const { enabled, state } = this.#store.auth;
    return { enabled, authRevision: state.revision };
  }
}

const txnOf = (success: readonly Op[], compares: readonly Compare[] = []): Txn => ({ compares, success, failure: [] });

const { EQUAL, GREATER } = CompareResult;
const { VERSION, CREATE, MOD } = CompareTarget;
const compare = (key: Uint8Array, result: number, target: number, number: number): Compare => ({
  range: pointRange(key),
  result,
  target,
  number,
  lease: NO_LEASE,
  value: NO_VALUE,
});

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
