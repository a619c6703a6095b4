// Not the global `performance`: that is a getter, and the time is read several times for each request.
import { performance } from 'node:perf_hooks';
import type { Clock, Timer } from '@engram/core';
import { Loop } from '@engram/loop';

/** setTimeout's longest delay. A longer one fires at once. */
const TIMEOUT_MAX_MS = 2 ** 31 - 1;

/** The machine's time, and the owner of the event loop's. */
export class SystemClock implements Clock {
  readonly loop = new Loop({ clock: this, idleMs: () => performance.nodeTiming.idleTime });

  nowMs(): number {
    return performance.now();
  }

  wallMs(): number {
    return Date.now();
  }

  after(delayMs: number, fire: () => void): Timer {
    const dueMs = performance.now() + delayMs;
    let timeout: NodeJS.Timeout;
    const arm = (restMs: number): void => {
      timeout = setTimeout(
        () => {
          // Timers count whole milliseconds of the loop's own time, and may fire up to one early.
          const leftMs = dueMs - performance.now();
          if (leftMs > 0) arm(leftMs);
          else fire();
        },
        Math.min(Math.ceil(restMs), TIMEOUT_MAX_MS),
      );
    };
    arm(delayMs);
    return { cancel: () => clearTimeout(timeout) };
  }

  soon(fire: () => void): void {
    setImmediate(fire);
  }

  endOfTurn(fire: () => void): void {
    process.nextTick(fire);
  }
}
