import type { Pause } from '@engram/bbolt';
import type { Clock } from '@engram/core';

/** The longest pause. While a client reads slowly, other work already has its turn. */
const PAUSE_MS_MAX = 10;

/**
 * Works at most half of the time: each pause is as long as the work before it. Shorter pauses would also let other work
 * run, but a writer that waits for the log needs the same processor and disk as this work's next read.
 */
export function pace(clock: Clock, signal: AbortSignal): Pause {
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
