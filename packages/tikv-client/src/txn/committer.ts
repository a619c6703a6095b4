import { assert } from '@engram/core';
import type { Timestamp } from '@engram/tso';
import type { CommitContext } from './commit-context.ts';
import type { CommitMode, CommitOutcome } from './commit-outcome.ts';
import { mayCommitAsync } from './commit-plan.ts';
import { Heartbeat } from './heartbeat.ts';
import { Prewriter } from './prewriter.ts';
import { commitInTwoPhases, commitLater } from './second-phase.ts';

/** Commits a transaction in as few phases as its mutations and options allow. */
export async function commit(context: CommitContext): Promise<CommitOutcome> {
  const wanted = context.options.mode ?? '1pc';
  let batches = await context.batches(context.mutations);
  const inOneBatch = wanted === '1pc' && batches.length === 1;
  if (!inOneBatch && context.addLocks()) batches = await context.batches(context.mutations);
  const { checksOnly } = context;
  const onePhase = inOneBatch && !checksOnly;
  const async = !checksOnly && wanted !== '2pc' && mayCommitAsync(context.mutations);
  const floor = await context.minCommitTs(onePhase || async);
  const heartbeat = new Heartbeat(context);
  if (!inOneBatch) heartbeat.start();
  try {
    const prewritten = await new Prewriter(context, { onePhase, async }).run(batches, floor);
    assert(prewritten.kind !== 'not-one-phase', 'this commit may take more phases than one');
    if (prewritten.kind === 'committed') return committed(context, prewritten.commitTs, prewritten.mode);
    if (prewritten.kind !== 'locked') return prewritten;
    if (checksOnly) return { kind: 'committed', commitTs: context.startTs, mode: 'read-only' };
    if (prewritten.commitTs === undefined) return await commitInTwoPhases(context);
    // All keys are locked, so the transaction is committed from here on. Any client may write the commit records.
    const outcome = committed(context, prewritten.commitTs, 'async');
    commitLater(context, context.lockedKeys, prewritten.commitTs, true);
    return outcome;
  } finally {
    heartbeat.stop();
  }
}

/** Caches the status, so that other transactions of this client that meet its locks need not ask a store. */
function committed(context: CommitContext, commitTs: Timestamp, mode: CommitMode): CommitOutcome {
  context.engine.statuses.put(context.startTs, { kind: 'committed', commitTs });
  return { kind: 'committed', commitTs, mode };
}
