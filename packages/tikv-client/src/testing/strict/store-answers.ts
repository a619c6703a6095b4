import type { Timestamp } from '@engram/tso';
import type { Error as RegionError } from '../../proto/gen/errorpb.ts';
import type * as kv from '../../proto/gen/kvrpcpb.ts';
import type { Region } from '../../proto/gen/metapb.ts';

/** Receives the timestamps and regions that a store's answer names. */
export interface Told {
  timestamp(timestamp: Timestamp): void;
  region(region: Region): void;
}

/** Passes the timestamps and regions in an answer to `told`, for each command. Pure. */
export const storeAnswers = {
  Get({ error, commitTs }: kv.GetResponse, told: Told): void {
    tellError(error, told);
    told.timestamp(commitTs);
  },
  BatchGet({ error, pairs }: kv.BatchGetResponse, told: Told): void {
    tellError(error, told);
    for (const pair of pairs) tellPair(pair, told);
  },
  Scan({ error, pairs }: kv.ScanResponse, told: Told): void {
    tellError(error, told);
    for (const pair of pairs) tellPair(pair, told);
  },
  Prewrite({ errors, minCommitTs, onePcCommitTs }: kv.PrewriteResponse, told: Told): void {
    for (const error of errors) tellError(error, told);
    told.timestamp(minCommitTs);
    told.timestamp(onePcCommitTs);
  },
  Commit({ error, commitVersion }: kv.CommitResponse, told: Told): void {
    tellError(error, told);
    told.timestamp(commitVersion);
  },
  BatchRollback({ error }: kv.BatchRollbackResponse, told: Told): void {
    tellError(error, told);
  },
  ResolveLock({ error }: kv.ResolveLockResponse, told: Told): void {
    tellError(error, told);
  },
  TxnHeartBeat({ error }: kv.TxnHeartBeatResponse, told: Told): void {
    tellError(error, told);
  },
  CheckTxnStatus({ error, commitVersion, lockInfo }: kv.CheckTxnStatusResponse, told: Told): void {
    tellError(error, told);
    tellLock(lockInfo, told);
    told.timestamp(commitVersion);
  },
  CheckSecondaryLocks({ error, locks, commitTs }: kv.CheckSecondaryLocksResponse, told: Told): void {
    tellError(error, told);
    for (const lock of locks) tellLock(lock, told);
    told.timestamp(commitTs);
  },
  ScanLock({ error, locks }: kv.ScanLockResponse, told: Told): void {
    tellError(error, told);
    for (const lock of locks) tellLock(lock, told);
  },
  SplitRegion({ regions }: kv.SplitRegionResponse, told: Told): void {
    for (const region of regions) told.region(region);
  },
} as const;

export function tellRegionError(error: RegionError | undefined, told: Told): void {
  for (const region of error?.epochNotMatch?.currentRegions ?? []) told.region(region);
}

function tellPair({ error, commitTs }: kv.KvPair, told: Told): void {
  tellError(error, told);
  told.timestamp(commitTs);
}

function tellError(error: kv.KeyError | undefined, told: Told): void {
  if (error === undefined) return;
  const { locked, primaryMismatch, conflict, commitTsExpired } = error;
  tellLock(locked, told);
  tellLock(primaryMismatch?.lockInfo, told);
  if (conflict !== undefined) {
    told.timestamp(conflict.conflictTs);
    told.timestamp(conflict.conflictCommitTs);
  }
  if (commitTsExpired !== undefined) told.timestamp(commitTsExpired.minCommitTs);
}

function tellLock(lock: kv.LockInfo | undefined, told: Told): void {
  if (lock === undefined) return;
  told.timestamp(lock.lockVersion);
  told.timestamp(lock.minCommitTs);
  for (const inner of lock.sharedLockInfos) tellLock(inner, told);
}
