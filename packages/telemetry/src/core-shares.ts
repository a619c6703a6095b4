import type { Clock } from '@engram/core';
import { commonMs, type TimeSpan, totalMs } from './time-span.ts';

/** Since the thread started. */
export interface LoopUsage {
  readonly cpuMs: number;
  /** Time in which the loop had nothing to do. */
  readonly idleMs: number;
}

/** A time in which the thread had this share of a core, as far as it had something to do. */
interface Window extends TimeSpan {
  readonly share: number;
  readonly cpuMs: number;
}

/** Windows are no shorter: reading what the thread has used costs some microseconds. */
const WINDOW_MIN_MS = 0.25;

/**
 * How much of a core the thread had, in one window after another. The kernel tells only what a thread has used in all, so
 * the share is the same for all work of a window. The more often `look` is called, the less is blamed on work that stood still
 * behind other work that ran.
 */
export class CoreShares {
  readonly #clock: Pick<Clock, 'nowMs'>;
  readonly #read: () => LoopUsage;
  #windows: Window[] = [];
  #usage: LoopUsage = { cpuMs: 0, idleMs: 0 };
  #fromMs = 0;

  constructor(clock: Pick<Clock, 'nowMs'>, read: () => LoopUsage) {
    this.#clock = clock;
    this.#read = read;
    this.restart();
  }

  /** Forgets all windows. The next one begins now. */
  restart(): void {
    this.#windows = [];
    this.#begin(this.#read());
  }

  /** Ends the window, unless it is very short. */
  look(): void {
    const nowMs = this.#clock.nowMs();
    if (nowMs - this.#fromMs < WINDOW_MIN_MS) return;
    const usage = this.#read();
    const cpuMs = usage.cpuMs - this.#usage.cpuMs;
    const activeMs = nowMs - this.#fromMs - (usage.idleMs - this.#usage.idleMs);
    const share = activeMs > cpuMs ? cpuMs / activeMs : 1;
    this.#windows.push({ fromMs: this.#fromMs, toMs: nowMs, share, cpuMs });
    this.#begin(usage);
  }

  /** The CPU time in these spans, in which the thread had something to do. What lies in no window counts whole. */
  within(spans: readonly TimeSpan[]): number {
    let [ms, coveredMs] = [0, 0];
    for (const window of this.#windows) {
      const sharedMs = commonMs(spans, [window]);
      // A loop that is woken and waits for a core counts as idle, so a span may have more time than the loop was active in it.
      ms += Math.min(sharedMs * window.share, window.cpuMs);
      coveredMs += sharedMs;
    }
    return ms + totalMs(spans) - coveredMs;
  }

  #begin(usage: LoopUsage): void {
    this.#usage = usage;
    this.#fromMs = this.#clock.nowMs();
  }
}
