import { compareBytes, equalBytes, keyText } from '@engram/core';
import { MAX_TIMESTAMP, type Timestamp } from '@engram/tso';
import * as kv from '../../proto/gen/kvrpcpb.ts';
import type { RegionRange } from '../../region/region.ts';
import type { AllocatedTimestamps } from './allocated-timestamps.ts';
import { encodedLength, needAscending, needKey, needKeys, needRange, needUnique, show } from './key-rules.ts';
import { need } from './refusal.ts';

/** TiKV's raftstore.raft-entry-max-size. The writes of one request are one entry. */
const ENTRY_BYTES_MAX = 8 << 20;
/** A value of at most this size is stored in the lock or write record of its key. A longer value has its own record. */
const SHORT_VALUE_BYTES = 255;
const RECORD_FIELDS_BYTES = 64;
const SPLIT_KEYS_MAX = 2_048;

/** The state that a request is checked against. `region`: the bounds of the region and version that its context names. */
export interface RequestView {
  readonly timestamps: AllocatedTimestamps;
  readonly region: RegionRange;
}

/**
 * The rules of the strictest TiKV for each command. They refuse timestamps from the future (concurrency_manager, max_ts), start
 * timestamps that PD did not allocate, keys that are repeated, out of order or of another region, entries above the Raft log's
 * limit, and fields that contradict each other. Pure. Throws Refusal. The sources are TiKV's src/storage/txn/commands and
 * src/server/service/kv.rs.
 */
export const requestRules = {
  Get({ key, version, context }: kv.GetRequest, view: RequestView): void {
    needKey(key, view.region, 'Get.key');
    if (version === MAX_TIMESTAMP)
      need(!context?.replicaRead && !context?.staleRead, 'Get.version is "the newest", which only a leader knows');
    else needPast(version, view, 'Get.version');
  },

  BatchGet({ keys, version }: kv.BatchGetRequest, view: RequestView): void {
    needKeys(keys, view.region, 'BatchGet.keys');
    needPast(version, view, 'BatchGet.version');
  },

  Scan({ startKey, endKey, limit, version, reverse }: kv.ScanRequest, view: RequestView): void {
    need(limit > 0, 'Scan.limit is 0');
    needRange(reverse ? endKey : startKey, reverse ? startKey : endKey, view.region, 'Scan');
    needPast(version, view, 'Scan.version');
  },

  Prewrite(request: kv.PrewriteRequest, view: RequestView): void {
    const { mutations, primaryLock, startVersion, minCommitTs } = request;
    needKeys(
      mutations.map(({ key }) => key),
      view.region,
      'Prewrite.mutations',
    );
    needAscending(
      mutations.map(({ key }) => key),
      'Prewrite.mutations',
    );
    for (const mutation of mutations) needMutation(mutation);
    need(view.timestamps.isAllocated(startVersion), `Prewrite.start_version ${startVersion} was not allocated by PD`);
    need(request.forUpdateTs === 0n, 'Prewrite.for_update_ts is set: there are no pessimistic locks here');
    need(request.lockTtl > 0, 'Prewrite.lock_ttl is 0');
    // The client may add one to an allocated timestamp as a lower bound. PD need not have allocated it: no store raises max_ts to it.
    if (minCommitTs !== 0n) {
      need(
        minCommitTs > startVersion,
        `Prewrite.min_commit_ts ${minCommitTs} is not above start_version ${startVersion}`,
      );
      needPast(minCommitTs - 1n, view, 'Prewrite.min_commit_ts, less one,');
    }
    needPrimary(request);
    const bytes = prewriteEntryBytes(request);
    need(bytes <= ENTRY_BYTES_MAX, `Prewrite writes ${bytes} bytes, more than an entry of the Raft log may have`);
    need(primaryLock.length > 0, 'Prewrite.primary_lock is empty');
  },

  Commit({ keys, startVersion, commitVersion }: kv.CommitRequest, view: RequestView): void {
    needKeys(keys, view.region, 'Commit.keys');
    needKnown(startVersion, view, 'Commit.start_version');
    needKnown(commitVersion, view, 'Commit.commit_version');
    need(commitVersion > startVersion, `Commit.commit_version ${commitVersion} is not above ${startVersion}`);
    needCommitEntry(keys, 'Commit');
  },

  BatchRollback({ keys, startVersion }: kv.BatchRollbackRequest, view: RequestView): void {
    needKeys(keys, view.region, 'BatchRollback.keys');
    needKnown(startVersion, view, 'BatchRollback.start_version');
    needCommitEntry(keys, 'BatchRollback');
  },

  CheckTxnStatus(request: kv.CheckTxnStatusRequest, view: RequestView): void {
    const { primaryKey, lockTs, callerStartTs, currentTs } = request;
    needKey(primaryKey, view.region, 'CheckTxnStatus.primary_key');
    needKnown(lockTs, view, 'CheckTxnStatus.lock_ts');
    if (callerStartTs !== 0n && callerStartTs !== MAX_TIMESTAMP)
      needPast(callerStartTs, view, 'CheckTxnStatus.caller_start_ts');
    need(
      currentTs === MAX_TIMESTAMP || view.timestamps.isAllocated(currentTs),
      `CheckTxnStatus.current_ts ${currentTs} was not allocated by PD, whose highest is ${view.timestamps.highest}`,
    );
  },

  CheckSecondaryLocks({ keys, startVersion }: kv.CheckSecondaryLocksRequest, view: RequestView): void {
    needKeys(keys, view.region, 'CheckSecondaryLocks.keys');
    needKnown(startVersion, view, 'CheckSecondaryLocks.start_version');
  },

  ResolveLock({ startVersion, commitVersion, txnInfos, keys }: kv.ResolveLockRequest, view: RequestView): void {
    need(startVersion > 0n !== txnInfos.length > 0, 'ResolveLock names no transaction, or names them in two ways');
    need(keys.length === 0 || startVersion > 0n, 'ResolveLock.keys need start_version');
    if (keys.length > 0) {
      needKeys(keys, view.region, 'ResolveLock.keys');
      needCommitEntry(keys, 'ResolveLock');
    }
    const ends = startVersion > 0n ? [{ txn: startVersion, status: commitVersion }] : txnInfos;
    for (const { txn, status } of ends) {
      needKnown(txn, view, 'ResolveLock: a transaction');
      if (status === 0n) continue;
      needKnown(status, view, 'ResolveLock: a commit timestamp');
      need(status > txn, `ResolveLock commits ${txn} at ${status}, not above it`);
    }
  },

  TxnHeartBeat({ primaryLock, startVersion, adviseLockTtl }: kv.TxnHeartBeatRequest, view: RequestView): void {
    needKey(primaryLock, view.region, 'TxnHeartBeat.primary_lock');
    needKnown(startVersion, view, 'TxnHeartBeat.start_version');
    need(adviseLockTtl > 0, 'TxnHeartBeat.advise_lock_ttl is 0');
  },

  ScanLock({ startKey, endKey, limit, maxVersion }: kv.ScanLockRequest, view: RequestView): void {
    need(limit > 0, 'ScanLock.limit is 0');
    needRange(startKey, endKey, view.region, 'ScanLock');
    needPast(maxVersion, view, 'ScanLock.max_version');
  },

  DeleteRange({ startKey, endKey }: kv.DeleteRangeRequest, view: RequestView): void {
    needRange(startKey, endKey, view.region, 'DeleteRange');
  },

  SplitRegion({ splitKeys }: kv.SplitRegionRequest, view: RequestView): void {
    need(splitKeys.length <= SPLIT_KEYS_MAX, `SplitRegion.split_keys are ${splitKeys.length}`);
    needKeys(splitKeys, view.region, 'SplitRegion.split_keys');
    needAscending(splitKeys, 'SplitRegion.split_keys');
    need(
      compareBytes(splitKeys[0]!, view.region.start) > 0,
      `SplitRegion.split_keys name the region's own start ${show(view.region.start)}`,
    );
  },

  MvccGetByKey({ key }: kv.MvccGetByKeyRequest, view: RequestView): void {
    needKey(key, view.region, 'MvccGetByKey.key');
  },
} as const;

function needMutation({ op, key, value }: kv.Mutation): void {
  const writes = op === kv.Op.Put || op === kv.Op.Insert;
  const other = op === kv.Op.Del || op === kv.Op.Lock || op === kv.Op.CheckNotExists;
  need(writes || other, `Prewrite: op ${op} of ${show(key)} is none of an optimistic transaction`);
  need(key.length > 0, 'Prewrite: a key is empty');
  need(writes === value.length > 0, `Prewrite: ${show(key)} has a value of ${value.length} bytes with op ${op}`);
}

/** The primary decides, so it must take a lock. With async commit its lock must name all other locked keys. */
function needPrimary({ mutations, primaryLock, useAsyncCommit, secondaries }: kv.PrewriteRequest): void {
  const locking = mutations.filter(({ op }) => op !== kv.Op.CheckNotExists);
  const primary = mutations.find(({ key }) => equalBytes(key, primaryLock));
  need(
    primary === undefined || primary.op !== kv.Op.CheckNotExists || locking.length === 0,
    `Prewrite.primary_lock ${show(primaryLock)} is only checked, so it leaves no lock to decide by`,
  );
  need(useAsyncCommit || secondaries.length === 0, 'Prewrite.secondaries without use_async_commit');
  needUnique([primaryLock, ...secondaries], 'Prewrite.primary_lock and secondaries');
  if (!useAsyncCommit || primary === undefined) {
    need(secondaries.length === 0, 'Prewrite.secondaries in a request without the primary');
    return;
  }
  const named = new Set(secondaries.map(keyText));
  for (const { key } of locking)
    need(key === primary.key || named.has(keyText(key)), `Prewrite.secondaries leave out ${show(key)}`);
}

/** Approximate size of TiKV's proposal: a lock or a write for each key, and a separate record for each long value. */
function prewriteEntryBytes({ mutations, primaryLock, secondaries }: kv.PrewriteRequest): number {
  let bytes = secondaries.reduce((sum, key) => sum + key.length, 0);
  for (const { op, key, value } of mutations) {
    if (op === kv.Op.CheckNotExists) continue;
    bytes += encodedLength(key) + primaryLock.length + value.length + RECORD_FIELDS_BYTES;
    if (value.length > SHORT_VALUE_BYTES) bytes += encodedLength(key) + 8;
  }
  return bytes;
}

function needCommitEntry(keys: readonly Uint8Array[], what: string): void {
  const bytes = keys.reduce((sum, key) => sum + 2 * (encodedLength(key) + RECORD_FIELDS_BYTES), 0);
  need(bytes <= ENTRY_BYTES_MAX, `${what} writes ${bytes} bytes, more than an entry of the Raft log may have`);
}

function needPast(timestamp: Timestamp, { timestamps }: RequestView, what: string): void {
  need(timestamp !== MAX_TIMESTAMP, `${what} is "the newest", which is no cut of several keys`);
  need(timestamps.isPast(timestamp), `${what} ${timestamp} lies in the future: PD's highest is ${timestamps.highest}`);
}

function needKnown(timestamp: Timestamp, { timestamps }: RequestView, what: string): void {
  need(timestamps.isKnown(timestamp), `${what} ${timestamp}: neither did PD allocate it nor did a store tell of it`);
}
