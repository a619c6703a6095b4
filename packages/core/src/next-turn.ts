import type { Clock } from './ports.ts';

/** Those who wait for a turn of each clock, in order. There is none while nobody waits. */
const lines = new WeakMap<Clock, (() => void)[]>();

/**
 * Resolves after other waiting work had its turn. Long work awaits it between slices, so that a request waits for one
 * slice and not for all of them. Whatever waits has one turn of the event loop for itself, in the order in which it asked:
 * a hundred lists that are worked off together take a slice for each turn, not a hundred.
 */
export function nextTurn(clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const line = lines.get(clock);
    if (line !== undefined) {
      line.push(resolve);
      return;
    }
    lines.set(clock, [resolve]);
    clock.soon(() => next(clock));
  });
}

function next(clock: Clock): void {
  const line = lines.get(clock);
  const first = line?.shift();
  if (line === undefined || line.length === 0) lines.delete(clock);
  else clock.soon(() => next(clock));
  first?.();
}
