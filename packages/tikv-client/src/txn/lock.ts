import { physicalMs, type Timestamp } from '@engram/tso';
import { TikvError } from '../errors.ts';
import {
  type CheckTxnStatusResponse,
  type CheckSecondaryLocksResponse,
  Action,
  type KeyError,
  type LockInfo,
} from '../proto/gen/kvrpcpb.ts';

/** The lock in a key error of a read. Throws `read-aborted`, and `protocol-error` for any other key error: a read must not get one. */
export function lockOf(error: KeyError): LockInfo {
  if (error.locked !== undefined) return error.locked;
  if (error.abort !== '') throw new TikvError('read-aborted', error.abort);
  throw new TikvError('protocol-error', `a read was answered with ${error.retryable || 'an unknown error of a key'}`);
}

/** The state of a transaction that cannot change any more. */
export type FinalStatus =
  | { readonly kind: 'committed'; readonly commitTs: Timestamp }
  | { readonly kind: 'rolled-back' };

/** The state of the transaction that left a lock, by CheckTxnStatus. */
export type TxnState =
  | FinalStatus
  /** Alive. The transaction can only commit above the reader's timestamp. A writer waits as for any other. */
  | { readonly kind: 'pushed'; readonly remainingMs: number }
  | { readonly kind: 'alive'; readonly remainingMs: number }
  /** The lock has expired, so its client is probably gone. The locks of all keys together decide whether it is committed. */
  | { readonly kind: 'async-expired'; readonly primary: LockInfo }
  /** The primary has neither lock nor record (yet). */
  | { readonly kind: 'not-found' };

/** The locks that a shared lock consists of, or the lock itself. */
export function expandLock(lock: LockInfo): readonly LockInfo[] {
  return lock.sharedLockInfos.length === 0 ? [lock] : lock.sharedLockInfos.flatMap(expandLock);
}

/** The remaining time to live of a lock when PD's clock shows `nowMs`. 0 or less if the lock has expired. */
export const lockRemainingMs = (startTs: Timestamp, ttlMs: number, nowMs: number): number =>
  physicalMs(startTs) + ttlMs - nowMs;

/** Pure. `nowMs`: the approximate time of PD's clock. */
export function judgeTxnStatus(startTs: Timestamp, answer: CheckTxnStatusResponse, nowMs: number): TxnState {
  if (answer.error?.txnNotFound !== undefined) return { kind: 'not-found' };
  if (answer.commitVersion > 0n) return { kind: 'committed', commitTs: answer.commitVersion };
  if (answer.lockTtl === 0) return { kind: 'rolled-back' };
  const remainingMs = Math.max(0, lockRemainingMs(startTs, answer.lockTtl, nowMs));
  if (answer.action === Action.MinCommitTSPushed) return { kind: 'pushed', remainingMs };
  if (answer.lockInfo?.useAsyncCommit && remainingMs === 0) return { kind: 'async-expired', primary: answer.lockInfo };
  return { kind: 'alive', remainingMs };
}

/** The state of an async-commit transaction, by the locks of all its keys. */
export type AsyncVerdict =
  | FinalStatus
  /** At least one lock is of plain two-phase commit, so the primary alone decides. */
  | { readonly kind: 'fell-back' }
  /** The stores contradict each other. That is a bug, and no lock may be resolved. */
  | { readonly kind: 'contradiction'; readonly detail: string };

/** Pure. `asked`: the number of keys in the request of each answer. */
export function judgeSecondaries(
  primaryMinCommitTs: Timestamp,
  answers: readonly { readonly asked: number; readonly answer: CheckSecondaryLocksResponse }[],
): AsyncVerdict {
  let commitTs = primaryMinCommitTs;
  let decided: Timestamp | undefined;
  for (const { asked, answer } of answers) {
    for (const lock of answer.locks) {
      if (!lock.useAsyncCommit) return { kind: 'fell-back' };
      if (lock.minCommitTs > commitTs) commitTs = lock.minCommitTs;
    }
    if (answer.locks.length === asked) continue;
    // At least one key here is committed or rolled back, or this request made sure that it cannot be locked any more.
    if (decided !== undefined && decided !== answer.commitTs) {
      return { kind: 'contradiction', detail: `committed at ${decided} and at ${answer.commitTs}` };
    }
    decided = answer.commitTs;
  }
  if (decided === undefined) return { kind: 'committed', commitTs };
  if (decided === 0n) return { kind: 'rolled-back' };
  if (decided < commitTs)
    return { kind: 'contradiction', detail: `committed at ${decided}, below a lock's ${commitTs}` };
  return { kind: 'committed', commitTs: decided };
}
