import type { Clock } from '@engram/core';
import type { Turn } from './bbolt-tree.ts';

/** A client that was slow to read is no reason to wait: it already gave others their turn. */
const PAUSE_MS_MAX = 10;

/**
 * Half of the time at most: a pause as long as the work before it. Less would let others in as well, but whoever waits
 * for the log waits for the same processor and disk as the next read of this does.
 */
export function pace(clock: Clock, signal: AbortSignal): Turn {
  let sinceMs = clock.nowMs();
  return async () => {
    const workedMs = Math.min(PAUSE_MS_MAX, clock.nowMs() - sinceMs);
    await new Promise<void>((resolve) => {
      if (workedMs < 1) clock.soon(resolve);
      else clock.after(workedMs, resolve);
    });
    signal.throwIfAborted();
    sinceMs = clock.nowMs();
  };
}
