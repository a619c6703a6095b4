import type { Backoffer } from '../backoff/backoffer.ts';
import { sameKey } from '../codec/key-codec.ts';
import type { Timestamp } from '../codec/timestamp.ts';
import type { Engine } from '../engine.ts';
import { TikvError } from '../errors.ts';
import { Limiter } from '../runtime/limiter.ts';
import { commands } from '../transport/commands.ts';
import { sendByRegion } from '../region/by-region.ts';

/** Removes locks of a transaction, in the order of `keys`, and leaves records that keep late prewrites out. */
export async function rollBack(
  engine: Engine,
  keys: readonly Uint8Array[],
  startVersion: Timestamp,
  backoffer: Backoffer,
): Promise<void> {
  await sendByRegion(engine, keys, {
    backoffer,
    limiter: new Limiter(1),
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
