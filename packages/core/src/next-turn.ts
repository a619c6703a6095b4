import type { Clock } from './ports.ts';

/**
 * Resolves once other work that waits had its turn. Long work awaits it between its slices: however much there is to
 * walk over, a request that comes meanwhile waits for one slice and not for all.
 */
export function nextTurn(clock: Clock): Promise<void> {
  return new Promise((resolve) => clock.soon(resolve));
}
