import { etcdserverpb as pb } from '@engram/wire';
import type { EtcdClient } from './etcd-client.ts';
import { EtcdSource } from './etcd-source.ts';
import { MigrationError } from './migration-error.ts';
import { type AuthMark, type Change, conditionOf, type KeyHead, type RevisionMark, type Target } from './stores.ts';

/** Below what an etcd takes by default (--max-txn-ops). */
const OPS_MAX = 100;
/** Calls for leases that run at a time. */
const LEASE_CALLS = 32;

/** An etcd that follows. Nobody else may write to it. */
export class EtcdTarget implements Target {
  readonly #client: EtcdClient;
  readonly #read: EtcdSource;

  constructor(client: EtcdClient) {
    this.#client = client;
    this.#read = new EtcdSource(client);
  }

  /** By a transaction that changes nothing: an etcd that did not answer others in time has them before it in its log. */
  async revision(signal: AbortSignal): Promise<number> {
    const { header } = await this.#txn(
      { compare: [NEVER], success: [{ requestDeleteRange: { key: NEVER.key } }] },
      signal,
    );
    return header?.revision ?? 0;
  }

  auth(signal: AbortSignal): Promise<AuthMark> {
    return this.#read.auth(signal);
  }

  async heads(keys: readonly Uint8Array[], signal: AbortSignal): Promise<readonly (KeyHead | undefined)[]> {
    const heads: (KeyHead | undefined)[] = [];
    for (let at = 0; at < keys.length; at += OPS_MAX) {
      const some = keys.slice(at, at + OPS_MAX);
      const success = some.map((key) => ({ requestRange: { key, keysOnly: true } }));
      const { responses } = await this.#txn({ success }, signal);
      if (responses.length !== some.length) throw new MigrationError('malformed', 'a transaction with missing answers');
      for (const { responseRange } of responses) {
        const kv = responseRange?.kvs[0];
        heads.push(kv);
      }
    }
    return heads;
  }

  /** Rejects with MigrationError refused if the changes are more than the etcd takes: nothing is written then. */
  async write(
    changes: readonly Change[],
    behind: RevisionMark | undefined,
    signal: AbortSignal,
  ): Promise<number | undefined> {
    const compares = changes.flatMap(comparesOf);
    if (behind !== undefined)
      compares.push({ key: behind.key, result: EQUAL, target: MOD, modRevision: behind.modRevision });
    // One round trip for almost every revision. An etcd takes as many compares as operations: more are compared before.
    const isOne = compares.length <= OPS_MAX;
    for (let at = 0; !isOne && at < compares.length; at += OPS_MAX) {
      const { succeeded } = await this.#txn({ compare: compares.slice(at, at + OPS_MAX) }, signal);
      if (!succeeded) return undefined;
    }
    // Some of them again: what was compared before is not compared in the moment of the write.
    const init = { compare: compares.slice(0, OPS_MAX), success: changes.map(requestOf) };
    const { header, succeeded } = await this.#txn(init, signal);
    return succeeded ? (header?.revision ?? 0) : undefined;
  }

  keys(revision: number, signal: AbortSignal): Promise<number> {
    return this.#read.keys(revision, signal);
  }

  async leases(signal: AbortSignal): Promise<ReadonlyMap<bigint, number>> {
    const ids = await this.#read.leases(signal);
    const leases = new Map<bigint, number>();
    for (let at = 0; at < ids.length; at += LEASE_CALLS) {
      const some = ids.slice(at, at + LEASE_CALLS);
      const ttls = await Promise.all(some.map((id) => this.#read.leaseTtl(id, signal)));
      for (const [index, ttl] of ttls.entries()) if (ttl !== undefined) leases.set(some[index]!, ttl);
    }
    return leases;
  }

  async grant(id: bigint, ttlSeconds: number, signal: AbortSignal): Promise<number> {
    const path = '/etcdserverpb.Lease/LeaseGrant';
    const request = pb.encodeLeaseGrantRequest({ ID: id, TTL: ttlSeconds });
    return (await this.#client.unary(path, request, pb.decodeLeaseGrantResponse, signal)).TTL;
  }

  async revoke(id: bigint, signal: AbortSignal): Promise<void> {
    const path = '/etcdserverpb.Lease/LeaseRevoke';
    await this.#client.unary(path, pb.encodeLeaseRevokeRequest({ ID: id }), pb.decodeLeaseRevokeResponse, signal);
  }

  async hasKeys(id: bigint, signal: AbortSignal): Promise<boolean> {
    const path = '/etcdserverpb.Lease/LeaseTimeToLive';
    const request = pb.encodeLeaseTimeToLiveRequest({ ID: id, keys: true });
    const { keys } = await this.#client.unary(path, request, pb.decodeLeaseTimeToLiveResponse, signal);
    return keys.length > 0;
  }

  /** Gives leases their full time again. One that is not there is passed over. */
  async keepAlive(ids: readonly bigint[], signal: AbortSignal): Promise<void> {
    const requests = ids.map((ID) => pb.encodeLeaseKeepAliveRequest({ ID }));
    const path = '/etcdserverpb.Lease/LeaseKeepAlive';
    await this.#client.exchange(path, requests, pb.decodeLeaseKeepAliveResponse, signal);
  }

  #txn(init: pb.TxnRequestInit, signal: AbortSignal): Promise<pb.TxnResponse> {
    const request = pb.encodeTxnRequest(init);
    return this.#client.unary('/etcdserverpb.KV/Txn', request, pb.decodeTxnResponse, signal);
  }
}

const { EQUAL, GREATER, LESS } = pb.CompareCompareResult;
const { VERSION, CREATE, MOD } = pb.CompareCompareTarget;

/** No key has such a version. */
const NEVER = { key: Uint8Array.of(0), result: LESS, target: VERSION, version: 0 };

function comparesOf(change: Change): readonly pb.CompareInit[] {
  const { key } = change;
  const condition = conditionOf(change);
  switch (condition.kind) {
    case 'absent':
      return [{ key, result: EQUAL, target: VERSION, version: 0 }];
    case 'lives':
      return [{ key, result: GREATER, target: VERSION, version: 0 }];
    case 'at':
      return [
        { key, result: EQUAL, target: VERSION, version: condition.version },
        { key, result: EQUAL, target: CREATE, createRevision: condition.createRevision },
      ];
  }
}

const requestOf = (change: Change): pb.RequestOpInit =>
  change.kind === 'delete'
    ? { requestDeleteRange: { key: change.key } }
    : { requestPut: { key: change.key, value: change.value, lease: change.lease } };
