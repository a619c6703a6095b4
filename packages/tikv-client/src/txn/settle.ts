import type { Backoffer } from '../backoff/backoffer.ts';
import type { Timestamp } from '@engram/tso';
import type { Engine } from '../engine.ts';
import { TikvError } from '../errors.ts';
import type { Settled } from './commit-outcome.ts';
import { rollBack } from './roll-back.ts';

/**
 * Finds out the state of a transaction of this client whose answer was lost, and ends the transaction if it is still open. The
 * primary decides. If the primary has a lock of async commit, all keys together decide. If it has a lock of plain two-phase
 * commit, the transaction is not committed, and a rollback record makes sure that it never will be.
 */
export async function settleTransaction(
  engine: Engine,
  startTs: Timestamp,
  primary: Uint8Array,
  keys: readonly Uint8Array[],
  backoffer: Backoffer,
): Promise<Settled> {
  for (;;) {
    const now = await engine.pd.oracle.next(backoffer.call);
    const state = await engine.resolver.checkOwn(primary, startTs, now, backoffer);
    if (state.kind === 'committed' || state.kind === 'rolled-back') {
      engine.statuses.put(startTs, state);
      const call = engine.backgroundCall();
      engine.background.run('resolve-own', () =>
        engine.resolver.resolveKeys(keys, startTs, state, engine.backoffer(call)),
      );
      return state;
    }
    const decided = await engine.resolver.decideByKeys(primary, keys, startTs, backoffer);
    if (decided !== undefined) return decided;
    try {
      await rollBack(engine, [primary], startTs, backoffer);
    } catch (error) {
      // "Already committed": a late commit of this client arrived before the rollback. The next round finds it.
      if (!(error instanceof TikvError) || error.code !== 'transaction-aborted') throw error;
    }
  }
}
