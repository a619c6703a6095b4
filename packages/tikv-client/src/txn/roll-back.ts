import type { Backoffer } from '../backoff/backoffer.ts';
import { sameKey } from '../codec/key-codec.ts';
import type { Timestamp } from '@engram/tso';
import type { Engine } from '../engine.ts';
import { TikvError } from '../errors.ts';
import { sendByRegion } from '../region/by-region.ts';
import { commands } from '../transport/commands.ts';

/**
 * Removes the locks of a transaction and writes rollback records that refuse late prewrites. The primary must be the first of
 * `keys`. If the primary is committed, this throws `transaction-aborted` and does not change any further key, so no part of a
 * committed transaction is rolled back.
 */
export async function rollBack(
  engine: Engine,
  keys: readonly Uint8Array[],
  startVersion: Timestamp,
  backoffer: Backoffer,
): Promise<void> {
  await sendByRegion(engine, keys, {
    backoffer,
    inOrder: true,
    keyOf: sameKey,
    async send(region, part, relocations) {
      const request = { startVersion, keys: part };
      const result = await engine.onRegion(region, commands.batchRollback, request, backoffer, relocations);
      if (result.kind === 'relocate') return 'moved';
      const { error } = result.response;
      if (error !== undefined) throw new TikvError('transaction-aborted', error.abort || 'the rollback was refused');
      return 'done';
    },
  });
}
