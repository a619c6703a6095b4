import { equalBytes } from '@engram/core';
import type { Backoffer } from '../backoff/backoffer.ts';
import { sameKey } from '../codec/key-codec.ts';
import type { Timestamp } from '@engram/tso';
import { TikvError } from '../errors.ts';
import { CommitRole } from '../proto/gen/kvrpcpb.ts';
import type { Fate } from '../region/region-sender.ts';
import { commands } from '../transport/commands.ts';
import { sendByRegion } from '../region/by-region.ts';
import type { CommitContext } from './commit-context.ts';
import type { CommitOutcome } from './commit-outcome.ts';
import { commitTsTooFar } from './commit-plan.ts';

/**
 * The result of the primary's commit. `lost`: another transaction rolled this one back. `too-early`: a reader pushed the
 * minimal commit timestamp above the one that was sent.
 */
type PrimaryAnswer =
  | { readonly kind: 'lost' }
  | { readonly kind: 'too-early'; readonly minCommitTs: Timestamp }
  | { readonly kind: 'done'; readonly commitTs: Timestamp };

/** Two-phase commit after the prewrite. The primary decides. The secondaries are committed in the background. */
export async function commitInTwoPhases(context: CommitContext): Promise<CommitOutcome> {
  const { engine, startTs, primary } = context;
  const fate: Fate = { uncertain: false, sent: false };
  try {
    for (;;) {
      const commitTs = await engine.pd.oracle.next(context.call);
      const answer = await commitPrimary(context, commitTs, fate);
      if (answer.kind === 'done') {
        engine.statuses.put(startTs, { kind: 'committed', commitTs: answer.commitTs });
        commitLater(
          context,
          context.lockedKeys.filter((key) => !equalBytes(key, primary)),
          answer.commitTs,
          false,
        );
        return { kind: 'committed', commitTs: answer.commitTs, mode: '2pc' };
      }
      if (answer.kind === 'lost') {
        context.rollBackLater();
        return {
          kind: 'conflict',
          reason: 'rolled-back',
          key: primary,
          conflictStartTs: startTs,
          conflictCommitTs: 0n,
        };
      }
      if (commitTsTooFar(answer.minCommitTs, startTs))
        throw new TikvError('transaction-aborted', 'a reader pushed the commit an hour ahead');
    }
  } catch (error) {
    if (fate.uncertain) return context.undetermined(error);
    context.rollBackLater();
    throw error;
  }
}

/** Commits the primary. This is the commit point of the transaction. */
async function commitPrimary(context: CommitContext, commitTs: Timestamp, fate: Fate): Promise<PrimaryAnswer> {
  const { engine, startTs, primary, backoffer } = context;
  const request = {
    startVersion: startTs,
    keys: [primary],
    commitVersion: commitTs,
    commitRole: CommitRole.Primary,
    primaryKey: primary,
  };
  const { error, commitVersion } = await engine.onKey(primary, commands.commit, request, backoffer, { fate });
  if (error === undefined) return { kind: 'done', commitTs: commitVersion > 0n ? commitVersion : commitTs };
  if (error.commitTsExpired !== undefined) return { kind: 'too-early', minCommitTs: error.commitTsExpired.minCommitTs };
  // The lock is gone. If the primary were committed, the answer would be a success, so the transaction was rolled back.
  if (error.txnLockNotFound !== undefined || error.retryable !== '' || error.conflict !== undefined)
    return { kind: 'lost' };
  fate.uncertain = false; // the answer is definite, whatever happened to earlier attempts
  throw new TikvError('transaction-aborted', error.abort || 'the commit was refused');
}

/** Commits `keys` of a committed transaction in the background. A client that meets a lock before asks the primary. */
export function commitLater(
  context: CommitContext,
  keys: readonly Uint8Array[],
  commitTs: Timestamp,
  async: boolean,
): void {
  if (keys.length === 0) return;
  const { engine } = context;
  const backoffer = engine.backoffer(engine.backgroundCall(), engine.settings.backgroundBudgetMs);
  engine.background.run('commit', () => commitKeys(context, keys, commitTs, async, backoffer));
}

async function commitKeys(
  context: CommitContext,
  keys: readonly Uint8Array[],
  commitVersion: Timestamp,
  useAsyncCommit: boolean,
  backoffer: Backoffer,
): Promise<void> {
  const { engine, startTs, primary, limiter } = context;
  await sendByRegion(engine, keys, {
    backoffer,
    limiter,
    keyOf: sameKey,
    async send(region, part, relocations) {
      const request = {
        startVersion: startTs,
        keys: part,
        commitVersion,
        commitRole: CommitRole.Secondary,
        primaryKey: primary,
        useAsyncCommit,
      };
      const result = await engine.onRegion(region, commands.commit, request, backoffer, relocations);
      if (result.kind === 'relocate') return 'moved';
      if (result.response.error?.commitTsExpired !== undefined) {
        engine.logger?.error(
          { startTs: `${startTs}`, commitTs: `${commitVersion}` },
          'a secondary was committed below its lock: a bug',
        );
      }
      return 'done';
    },
  });
}
