import type { Backoffer } from '../backoff/backoffer.ts';
import type { Timestamp } from '../codec/timestamp.ts';
import type { Engine } from '../engine.ts';
import { TikvError } from '../errors.ts';
import { commands } from '../transport/commands.ts';

/** Removes locks of a transaction and leaves records that keep late prewrites out. */
export async function rollBack(
  engine: Engine,
  keys: readonly Uint8Array[],
  startVersion: Timestamp,
  backoffer: Backoffer,
  relocations = 0,
): Promise<void> {
  const groups = await engine.locator.group(keys, backoffer);
  for (const group of groups) {
    const result = await engine.onRegion(
      group.region,
      commands.batchRollback,
      { startVersion, keys: group.keys },
      backoffer,
      relocations,
    );
    if (result.kind === 'relocate') await rollBack(engine, group.keys, startVersion, backoffer, relocations + 1);
    else if (result.response.error !== undefined)
      throw new TikvError('transaction-aborted', result.response.error.abort || 'the rollback was refused');
  }
}
