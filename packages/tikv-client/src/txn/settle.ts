import type { Backoffer } from '../backoff/backoffer.ts';
import type { Timestamp } from '../codec/timestamp.ts';
import type { Engine } from '../engine.ts';
import { TikvError } from '../errors.ts';
import type { Settled } from './commit-outcome.ts';
import { rollBack } from './roll-back.ts';

/**
 * Finds out what became of a transaction of ours whose answer was lost, and ends it if it is still open. Its primary
 * decides; if that is locked by async commit, all keys together do; if it is locked plainly, nobody has committed yet,
 * and a rollback record makes sure that nobody will.
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
      // "Already committed": our own late commit was faster. The next look finds it.
      if (!(error instanceof TikvError) || error.code !== 'transaction-aborted') throw error;
    }
  }
}
