import { assert } from '@engram/core';
import { TikvError } from '../errors.ts';
import type { CommitContext } from './commit-context.ts';
import type { OnePhaseOutcome } from './commit-outcome.ts';
import { cutBatches } from './commit-plan.ts';
import { Prewriter } from './prewriter.ts';

/**
 * Commits in one phase, or not at all. In TiKV one phase is one evaluation under the latches of one region, so checks hold at
 * the moment of the writes. If one phase is not possible, no lock of the transaction is left.
 */
export async function commitOnePhase(context: CommitContext): Promise<OnePhaseOutcome> {
  assert(context.onePhaseOnly, 'a lock that it leaves must be worthless');
  if (context.checksOnly) throw nothingToWrite();
  if (cutBatches(context.mutations, context.primary, context.engine.settings.writeBatchBytes).length > 1)
    return { kind: 'not-one-phase', reason: 'size' };
  const batches = await wholeBatch(context);
  if (batches === undefined) return { kind: 'not-one-phase', reason: 'regions' };
  const floor = await context.minCommitTs(true);
  const prewritten = await new Prewriter(context, { onePhase: true, async: false }).run(batches, floor);
  if (prewritten.kind === 'committed') {
    context.engine.statuses.put(context.startTs, { kind: 'committed', commitTs: prewritten.commitTs });
    return { kind: 'committed', commitTs: prewritten.commitTs };
  }
  if (prewritten.kind !== 'locked') return prewritten;
  // The server fell back to two phases. Only this client could commit the locks, and they block other transactions.
  try {
    await context.rollBackNow();
  } catch (error) {
    return context.undetermined(error);
  }
  return { kind: 'not-one-phase', reason: 'declined' };
}

/** Undefined if the keys are in several regions. PD is asked again before, because cached regions may be outdated. */
async function wholeBatch(context: CommitContext): Promise<Awaited<ReturnType<CommitContext['batches']>> | undefined> {
  const { locator } = context.engine;
  for (const asked of [false, true]) {
    const batches = await context.batches(context.mutations);
    if (batches.length === 1) return batches;
    if (asked) break;
    for (const { region } of await locator.groupBy(context.mutations, ({ key }) => key, context.backoffer))
      locator.drop(region, 'not-one-phase');
  }
  return undefined;
}

export const nothingToWrite = (): TikvError =>
  new TikvError('invalid-argument', 'a commit in one phase needs a write or a lock');
