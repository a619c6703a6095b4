import type { Clock } from './ports.ts';

/**
 * Resolves after other waiting work has had its turn. Long work awaits it between slices, so that a request waits for
 * one slice and not for all of them.
 */
export function nextTurn(clock: Clock): Promise<void> {
  return new Promise((resolve) => clock.giveWay(resolve));
}
