import { EMPTY_BYTES, equalBytes } from '@engram/core';
import { MAX_TIMESTAMP, maxTimestamp, physicalMs, type Timestamp } from '@engram/tso';
import * as kv from '../proto/gen/kvrpcpb.ts';
import { type FakeLock, type FakeRow, FakeRows, type FakeWrite, kindOf, record, rollBack } from './fake-rows.ts';

/** The server whose behaviour is imitated where servers of the protocol differ. */
export type Flavour = 'tikv' | 'unistore';

/**
 * Percolator as in TiKV (src/storage/txn), on one map that holds the data of all regions. Keys are user keys, messages are
 * those of kvrpcpb. No method waits or fails at random.
 */
export class FakeMvcc {
  readonly flavour: Flavour;
  readonly #rows = new FakeRows();
  /** By store, the largest timestamp of the reads of which it has heard. Commit timestamps of two stores do not follow each other. */
  readonly #maxTs = new Map<number, Timestamp>();
  #store = 0;
  /** Makes the store fall back from one phase, as a real store may: prewrites leave locks of two phases. */
  declinesOnePhase = false;
  /** Called for each value or deletion when it is committed, before anybody is told. */
  onCommitted: ((key: Uint8Array, write: FakeWrite) => void) | undefined;

  constructor(flavour: Flavour) {
    this.flavour = flavour;
  }

  row(key: Uint8Array): FakeRow {
    return this.#rows.row(key);
  }

  /** In key order. */
  rows(start: Uint8Array, end: Uint8Array): readonly FakeRow[] {
    return this.#rows.range(start, end);
  }

  /** The keys of all locks. A test checks it when no transaction is left. */
  locks(): readonly Uint8Array[] {
    return this.rows(EMPTY_BYTES, EMPTY_BYTES)
      .filter(({ lock }) => lock !== undefined)
      .map(({ key }) => key);
  }

  /** From now on this store reads and writes. `atLeast`: its commit timestamps lie above it. */
  servedBy(store: number, atLeast: Timestamp = 0n): void {
    this.#store = store;
    this.#raiseMaxTs(atLeast);
  }

  get #maxTsOfStore(): Timestamp {
    return this.#maxTs.get(this.#store) ?? 0n;
  }

  // Reads

  #read(
    row: FakeRow,
    ts: Timestamp,
    context: kv.ContextInit | undefined,
  ): { locked: kv.LockInfoInit } | { value: Uint8Array | undefined; commitTs: Timestamp } {
    const { lock } = row;
    const advised = this.flavour === 'tikv';
    if (
      lock !== undefined &&
      lock.startTs <= ts &&
      lock.minCommitTs <= ts &&
      (lock.op === kv.Op.Put || lock.op === kv.Op.Del)
    ) {
      const readThrough = advised && context?.committedLocks?.includes(lock.startTs);
      const ignored = advised && context?.resolvedLocks?.includes(lock.startTs);
      if (readThrough) return { value: lock.op === kv.Op.Put ? lock.value : undefined, commitTs: lock.startTs };
      if (!ignored) return { locked: lockInfo(row.key, lock) };
    }
    const write = row.writes.find(({ kind, commitTs }) => commitTs <= ts && (kind === 'put' || kind === 'delete'));
    return { value: write?.kind === 'put' ? write.value : undefined, commitTs: write?.commitTs ?? 0n };
  }

  /** Every commit timestamp that the store calculates from here on lies above `ts`. */
  #raiseMaxTs(ts: Timestamp): void {
    if (ts !== MAX_TIMESTAMP && ts > this.#maxTsOfStore) this.#maxTs.set(this.#store, ts);
  }

  #sawReader(ts: Timestamp, context: kv.ContextInit | undefined): void {
    if (!context?.staleRead) this.#raiseMaxTs(ts);
  }

  get(request: kv.GetRequest): kv.GetResponseInit {
    this.#sawReader(request.version, request.context);
    const read = this.#read(this.row(request.key), request.version, request.context);
    if ('locked' in read) return { error: { locked: read.locked } };
    if (read.value === undefined) return this.flavour === 'tikv' ? { notFound: true } : {};
    return { value: read.value, commitTs: read.commitTs };
  }

  batchGet(request: kv.BatchGetRequest): kv.BatchGetResponseInit {
    this.#sawReader(request.version, request.context);
    const pairs: kv.KvPairInit[] = [];
    for (const key of request.keys) {
      const read = this.#read(this.row(key), request.version, request.context);
      if ('locked' in read) pairs.push({ key, error: { locked: read.locked } });
      else if (read.value !== undefined) pairs.push({ key, value: read.value });
    }
    return { pairs: pairs.reverse() }; // the protocol promises no order
  }

  scan(request: kv.ScanRequest): kv.ScanResponseInit {
    this.#sawReader(request.version, request.context);
    const { reverse, startKey, endKey } = request;
    const rows = reverse ? this.rows(endKey, startKey).toReversed() : this.rows(startKey, endKey);
    const pairs: kv.KvPairInit[] = [];
    for (const row of rows) {
      if (pairs.length >= request.limit) break;
      const read = this.#read(row, request.version, request.context);
      if ('locked' in read) pairs.push({ error: { locked: read.locked } });
      else if (read.value !== undefined)
        pairs.push({ key: row.key, value: request.keyOnly ? EMPTY_BYTES : read.value });
    }
    return { pairs };
  }

  // Writes

  prewrite(request: kv.PrewriteRequest): kv.PrewriteResponseInit {
    const { startVersion: startTs } = request;
    // A check whether a key exists is a read.
    if (request.mutations.some(({ op }) => op === kv.Op.Insert || op === kv.Op.CheckNotExists))
      this.#raiseMaxTs(startTs);
    const errors: kv.KeyErrorInit[] = [];
    let doneAt: Timestamp | undefined;
    for (const mutation of request.mutations) {
      const checked = this.#check(this.row(mutation.key), mutation, request);
      if (typeof checked === 'bigint') doneAt = checked;
      else if (checked !== undefined) errors.push(checked);
    }
    if (errors.length > 0)
      return { errors, onePcCommitTs: this.flavour === 'unistore' && request.tryOnePc ? this.#maxTsOfStore + 1n : 0n };
    if (doneAt !== undefined)
      return request.tryOnePc ? { onePcCommitTs: doneAt } : { minCommitTs: request.useAsyncCommit ? doneAt : 0n };
    const floor = [this.#maxTsOfStore + 1n, startTs + 1n, request.minCommitTs].reduce((left, right) =>
      left > right ? left : right,
    );
    const tooLate = request.maxCommitTs > 0n && floor > request.maxCommitTs;
    const writing = request.mutations.filter(({ op }) => op !== kv.Op.CheckNotExists);
    // An earlier attempt fell back and left locks, so a resend cannot use one phase.
    const locked = writing.some(({ key }) => this.row(key).lock?.startTs === startTs);
    const onePhase = request.tryOnePc && !tooLate && !locked && !this.declinesOnePhase;
    if (onePhase) {
      for (const { key, op, value } of writing) this.#committed(this.row(key), kindOf(op), startTs, floor, value);
      return { onePcCommitTs: floor };
    }
    const async = request.useAsyncCommit && !tooLate;
    for (const { key, op, value } of writing) {
      const row = this.row(key);
      if (row.lock !== undefined) continue; // a lock of the same transaction: a resend
      row.lock = {
        startTs,
        primary: request.primaryLock,
        ttlMs: request.lockTtl,
        op: op === kv.Op.Insert ? kv.Op.Put : op,
        value,
        txnSize: request.txnSize,
        useAsyncCommit: async,
        minCommitTs: async ? floor : request.minCommitTs,
        secondaries: equalBytes(key, request.primaryLock) ? request.secondaries : [],
      };
    }
    return { minCommitTs: async && writing.length > 0 ? floor : 0n };
  }

  /** Turns the row's lock into a record. */
  #finish(row: FakeRow, commitTs: Timestamp): void {
    const lock = row.lock!;
    row.lock = undefined;
    this.#committed(row, kindOf(lock.op), lock.startTs, commitTs, lock.value);
  }

  #committed(row: FakeRow, kind: FakeWrite['kind'], startTs: Timestamp, commitTs: Timestamp, value: Uint8Array): void {
    record(row, kind, startTs, commitTs, value);
    if (kind === 'put' || kind === 'delete') this.onCommitted?.(row.key, { kind, startTs, commitTs, value });
  }

  /** An error, the commit timestamp of an earlier success, or undefined. */
  #check(row: FakeRow, mutation: kv.Mutation, request: kv.PrewriteRequest): kv.KeyErrorInit | Timestamp | undefined {
    const { startVersion: startTs } = request;
    const { lock } = row;
    if (lock?.startTs === startTs) return undefined;
    const own = row.writes.find((write) => write.startTs === startTs);
    if (own?.kind === 'rollback') {
      if (this.flavour === 'unistore') return { retryable: 'already rollback' };
      return {
        conflict: {
          startTs,
          conflictTs: startTs,
          conflictCommitTs: startTs,
          key: row.key,
          primary: request.primaryLock,
          reason: kv.WriteConflictReason.SelfRolledBack,
        },
      };
    }
    if (own !== undefined) {
      if (this.flavour === 'tikv') return own.commitTs;
      return { conflict: { startTs, conflictTs: startTs, conflictCommitTs: own.commitTs, key: row.key } };
    }
    if (lock !== undefined) return { locked: lockInfo(row.key, lock) };
    const newest = row.writes.find(({ kind }) => kind !== 'rollback');
    if (newest !== undefined && newest.commitTs > startTs) {
      return {
        conflict: {
          startTs,
          conflictTs: newest.startTs,
          conflictCommitTs: newest.commitTs,
          key: row.key,
          primary: request.primaryLock,
          reason: kv.WriteConflictReason.Optimistic,
        },
      };
    }
    const data = row.writes.find(({ kind }) => kind === 'put' || kind === 'delete');
    const exists = data?.kind === 'put';
    if ((mutation.op === kv.Op.Insert || mutation.op === kv.Op.CheckNotExists) && exists)
      return { alreadyExist: { key: row.key } };
    const wrong =
      (mutation.assertion === kv.Assertion.Exist && !exists) ||
      (mutation.assertion === kv.Assertion.NotExist && exists);
    if (wrong && request.assertionLevel !== kv.AssertionLevel.Off) {
      return {
        assertionFailed: {
          startTs,
          key: row.key,
          assertion: mutation.assertion,
          existingStartTs: data?.startTs ?? 0n,
          existingCommitTs: data?.commitTs ?? 0n,
        },
      };
    }
    return undefined;
  }

  commit(request: kv.CommitRequest): kv.CommitResponseInit {
    const { startVersion: startTs, commitVersion: commitTs } = request;
    for (const key of request.keys) {
      const row = this.row(key);
      const { lock } = row;
      if (lock?.startTs === startTs) {
        if (commitTs < lock.minCommitTs)
          return {
            error: { commitTsExpired: { startTs, attemptedCommitTs: commitTs, key, minCommitTs: lock.minCommitTs } },
          };
        this.#finish(row, commitTs);
        continue;
      }
      const own = row.writes.find((write) => write.startTs === startTs);
      if (own === undefined || own.kind === 'rollback') return { error: lockNotFound(this.flavour, key) };
    }
    return this.flavour === 'tikv' ? { commitVersion: commitTs } : {};
  }

  batchRollback(request: kv.BatchRollbackRequest): kv.BatchRollbackResponseInit {
    for (const key of request.keys) {
      const row = this.row(key);
      const own = row.writes.find((write) => write.startTs === request.startVersion);
      if (own !== undefined && own.kind !== 'rollback') return { error: { abort: 'the transaction is committed' } };
      rollBack(row, request.startVersion);
    }
    return {};
  }

  // Transactions of others

  checkTxnStatus(request: kv.CheckTxnStatusRequest): kv.CheckTxnStatusResponseInit {
    for (const ts of [request.lockTs, request.callerStartTs, request.currentTs]) this.#raiseMaxTs(ts);
    const row = this.row(request.primaryKey);
    const { lock } = row;
    if (lock !== undefined && lock.startTs === request.lockTs) {
      if (request.verifyIsPrimary && !equalBytes(lock.primary, row.key))
        return { error: { primaryMismatch: { lockInfo: lockInfo(row.key, lock) } } };
      const live = { lockTtl: lock.ttlMs, lockInfo: lockInfo(row.key, lock) };
      if (lock.useAsyncCommit && !request.forceSyncCommit) return live;
      if (request.forceSyncCommit) lock.useAsyncCommit = false;
      if (physicalMs(lock.startTs) + lock.ttlMs < physicalMs(request.currentTs)) {
        rollBack(row, request.lockTs);
        return { action: kv.Action.TTLExpireRollback };
      }
      if (request.callerStartTs === MAX_TIMESTAMP) return { ...live, action: kv.Action.MinCommitTSPushed };
      if (request.callerStartTs === 0n) return live;
      if (lock.minCommitTs === 0n) return live; // the lock of an old client cannot be pushed
      if (lock.minCommitTs <= request.callerStartTs)
        lock.minCommitTs = maxTimestamp(request.callerStartTs + 1n, request.currentTs);
      return { lockTtl: lock.ttlMs, lockInfo: lockInfo(row.key, lock), action: kv.Action.MinCommitTSPushed };
    }
    const own = row.writes.find((write) => write.startTs === request.lockTs);
    if (own === undefined) {
      if (!request.rollbackIfNotExist)
        return { error: { txnNotFound: { startTs: request.lockTs, primaryKey: row.key } } };
      rollBack(row, request.lockTs);
      return { action: kv.Action.LockNotExistRollback };
    }
    return own.kind === 'rollback' ? {} : { commitVersion: own.commitTs };
  }

  checkSecondaryLocks(request: kv.CheckSecondaryLocksRequest): kv.CheckSecondaryLocksResponseInit {
    this.#raiseMaxTs(request.startVersion);
    const locks: kv.LockInfoInit[] = [];
    for (const key of request.keys) {
      const row = this.row(key);
      if (row.lock?.startTs === request.startVersion) {
        locks.push(lockInfo(row.key, row.lock));
        continue;
      }
      const own = row.writes.find((write) => write.startTs === request.startVersion);
      if (own !== undefined && own.kind !== 'rollback') return { commitTs: own.commitTs };
      rollBack(row, request.startVersion);
      return { commitTs: 0n };
    }
    return { locks };
  }

  resolveLock(request: kv.ResolveLockRequest, start: Uint8Array, end: Uint8Array): kv.ResolveLockResponseInit {
    if (request.keys.length > 0) return this.#resolveKeys(request);
    const statuses = new Map(request.txnInfos.map(({ txn, status }) => [txn, status]));
    if (request.startVersion > 0n) statuses.set(request.startVersion, request.commitVersion);
    for (const row of this.rows(start, end)) {
      const commitTs = row.lock === undefined ? undefined : statuses.get(row.lock.startTs);
      if (commitTs === undefined) continue;
      if (commitTs === 0n) rollBack(row, row.lock!.startTs);
      else this.#finish(row, commitTs);
    }
    return {};
  }

  /** Commits or rolls back the named keys. A key without a lock must have ended in the same way before. */
  #resolveKeys({ keys, startVersion, commitVersion }: kv.ResolveLockRequest): kv.ResolveLockResponseInit {
    for (const key of keys) {
      const row = this.row(key);
      const own = row.writes.find(({ startTs }) => startTs === startVersion);
      const ended = own === undefined || own.kind === 'rollback' ? 'rolled back' : 'committed';
      if (row.lock?.startTs === startVersion) {
        if (commitVersion === 0n) rollBack(row, startVersion);
        else this.#finish(row, commitVersion);
      } else if (commitVersion > 0n) {
        if (ended !== 'committed') return { error: lockNotFound(this.flavour, key) };
      } else {
        if (ended === 'committed') return { error: { abort: 'the transaction is committed' } };
        rollBack(row, startVersion);
      }
    }
    return {};
  }

  heartBeat(request: kv.TxnHeartBeatRequest): kv.TxnHeartBeatResponseInit {
    const { lock } = this.row(request.primaryLock);
    if (lock?.startTs !== request.startVersion)
      return { error: { txnNotFound: { startTs: request.startVersion, primaryKey: request.primaryLock } } };
    lock.ttlMs = Math.max(lock.ttlMs, request.adviseLockTtl);
    return { lockTtl: lock.ttlMs };
  }

  scanLock(request: kv.ScanLockRequest): kv.ScanLockResponseInit {
    this.#raiseMaxTs(request.maxVersion);
    const locks = this.rows(request.startKey, request.endKey)
      .filter(({ lock }) => lock !== undefined && lock.startTs <= request.maxVersion)
      .slice(0, request.limit === 0 ? undefined : request.limit)
      .map(({ key, lock }) => lockInfo(key, lock!));
    return { locks };
  }

  deleteRange(start: Uint8Array, end: Uint8Array): void {
    this.#rows.deleteRange(start, end);
  }

  versions(key: Uint8Array): kv.MvccGetByKeyResponseInit {
    const { lock, writes } = this.row(key);
    return {
      info: {
        lock: lock === undefined ? undefined : { type: lock.op, startTs: lock.startTs, primary: lock.primary },
        writes: writes.map(({ kind, startTs, commitTs }) => ({
          type: { put: kv.Op.Put, delete: kv.Op.Del, lock: kv.Op.Lock, rollback: kv.Op.Rollback }[kind],
          startTs,
          commitTs,
        })),
      },
    };
  }

  collect(safePoint: Timestamp): void {
    this.#rows.collect(safePoint);
  }
}

/** Newer servers set the field `txnLockNotFound` as well. */
const lockNotFound = (flavour: Flavour, key: Uint8Array): kv.KeyErrorInit => ({
  retryable: 'lock not found',
  ...(flavour === 'tikv' ? { txnLockNotFound: { key } } : {}),
});

function lockInfo(key: Uint8Array, lock: FakeLock): kv.LockInfoInit {
  return {
    key,
    primaryLock: lock.primary,
    lockVersion: lock.startTs,
    lockTtl: lock.ttlMs,
    txnSize: lock.txnSize,
    lockType: lock.op,
    useAsyncCommit: lock.useAsyncCommit,
    minCommitTs: lock.minCommitTs,
    secondaries: lock.secondaries,
  };
}
