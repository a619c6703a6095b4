import type { SharedTime } from '@engram/bbolt';
import { type Clock, sleep } from '@engram/core';
import { type Loop, SLICE_MS, type Task } from '@engram/loop';

/** The longest rest. While a client reads slowly, other work already has its turn. */
const REST_MS_MAX = 10;
/** What a snapshot does, of all of them: none is more urgent than another. */
export const SNAPSHOT: Task = { work: 'background', caller: 'snapshots', stage: 'snapshot' };

/**
 * Waits for another slice, and works at most half of the time: each rest is as long as the work before it. Other work would also run
 * without rests, but a writer that waits for the log needs the same processor and disk as this work's next read.
 */
export function pace(loop: Loop, clock: Clock, signal: AbortSignal): SharedTime {
  let sinceMs = clock.nowMs();
  return {
    isOver: () => clock.nowMs() - sinceMs >= SLICE_MS,
    pause: async () => {
      const restMs = Math.min(REST_MS_MAX, clock.nowMs() - sinceMs);
      if (restMs >= 1) await sleep(clock, restMs, signal);
      await loop.pause(SNAPSHOT, signal);
      sinceMs = clock.nowMs();
    },
  };
}
