import { physicalMs, type Timestamp } from '../codec/timestamp.ts';
import { TikvError } from '../errors.ts';
import {
  type CheckTxnStatusResponse,
  type CheckSecondaryLocksResponse,
  Action,
  type KeyError,
  type LockInfo,
} from '../proto/gen/kvrpcpb.ts';

/** The lock of an error of a read; anything else is no answer that a read may get. */
export function lockOf(error: KeyError): LockInfo {
  if (error.locked !== undefined) return error.locked;
  throw new TikvError(
    'protocol-error',
    `a read was answered with ${error.abort || error.retryable || 'an unknown error of a key'}`,
  );
}

/** What became of a transaction, once it cannot change any more. */
export type FinalStatus =
  | { readonly kind: 'committed'; readonly commitTs: Timestamp }
  | { readonly kind: 'rolled-back' };

/** What CheckTxnStatus tells about the transaction that left a lock. */
export type TxnState =
  | FinalStatus
  /** Alive, and it will commit above the reader's timestamp. */
  | { readonly kind: 'pushed' }
  | { readonly kind: 'alive'; readonly remainingMs: number }
  /** Every key's lock together decides whether it has committed: its coordinator is probably gone. */
  | { readonly kind: 'async-expired'; readonly primary: LockInfo }
  /** The primary has neither lock nor record (yet). */
  | { readonly kind: 'not-found' };

/** Shared locks stand for the locks inside them. */
export function expandLock(lock: LockInfo): readonly LockInfo[] {
  return lock.sharedLockInfos.length === 0 ? [lock] : lock.sharedLockInfos.flatMap(expandLock);
}

/** What is left of a lock's time when PD's clock shows `nowMs`; 0 or less means that it is over. */
export const lockRemainingMs = (startTs: Timestamp, ttlMs: number, nowMs: number): number =>
  physicalMs(startTs) + ttlMs - nowMs;

/** Pure. `nowMs`: about the present by PD's clock. */
export function judgeTxnStatus(startTs: Timestamp, answer: CheckTxnStatusResponse, nowMs: number): TxnState {
  if (answer.error?.txnNotFound !== undefined) return { kind: 'not-found' };
  if (answer.commitVersion > 0n) return { kind: 'committed', commitTs: answer.commitVersion };
  if (answer.lockTtl === 0) return { kind: 'rolled-back' };
  if (answer.action === Action.MinCommitTSPushed) return { kind: 'pushed' };
  const remainingMs = lockRemainingMs(startTs, answer.lockTtl, nowMs);
  if (answer.lockInfo?.useAsyncCommit && remainingMs <= 0) return { kind: 'async-expired', primary: answer.lockInfo };
  return { kind: 'alive', remainingMs: Math.max(0, remainingMs) };
}

/** What the locks of an async-commit transaction's keys say together. */
export type AsyncVerdict =
  | FinalStatus
  /** Some lock is of plain two-phase commit: its primary alone decides. */
  | { readonly kind: 'fell-back' }
  /** The stores contradict each other: a bug, and nothing may be resolved. */
  | { readonly kind: 'contradiction'; readonly detail: string };

/** Pure. `asked`: how many keys each answer is about. */
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
    // Somebody has finished at least one key here, or just made sure that it never will be locked.
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
