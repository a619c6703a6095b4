import type { Clock } from '@engram/core';
import { DRAIN_MAX_MS } from './serve-options.ts';

/** Resolves with `done`, or when `signal` aborts, or after DRAIN_MAX_MS. */
export function waitForDrain(done: Promise<void>, clock: Clock, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const stop = (): void => {
      timer.cancel();
      signal.removeEventListener('abort', stop);
      resolve();
    };
    const timer = clock.after(DRAIN_MAX_MS, stop);
    signal.addEventListener('abort', stop);
    if (signal.aborted) stop();
    void done.then(stop);
  });
}
