import type { RestoreConfig } from '../config/restore-config.ts';
import { SystemClock } from '../system-clock.ts';
import { SystemRandom } from '../system-random.ts';
import { type RestoreParts, restoreSnapshot } from './restore-snapshot.ts';

/** `engram restore` on this machine: `restoreSnapshot` with the machine's clock and random source. */
export const restoreHere = (
  config: RestoreConfig,
  parts: Pick<RestoreParts, 'logger' | 'terminal' | 'signal'>,
): Promise<string> => restoreSnapshot(config, { clock: new SystemClock(), random: new SystemRandom(), ...parts });
