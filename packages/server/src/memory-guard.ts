import type { Clock, Timer } from '@engram/core';
import type { LoopWatch } from '@engram/loop';
import { GC_PHASE } from '@engram/telemetry';

const LOOK_MS = 100;
/** Below this share of the limit V8 alone decides when to collect. */
const FREE_SHARE = 3 / 4;
/** The same where the last collection took longer than this: so long a stop is better than the end of the process, and only than that. */
const STOP_MS_MAX = 100;
const FREE_SHARE_BY_LONG_STOPS = 15 / 16;
/** A collection that gave little is not repeated before so much more is resident. */
const GROWTH_MIN_BYTES = 16 * 1024 * 1024;
/** The next one is due once this part of what is free between them is taken. V8's own collection may take the rest for copies. */
const GROWTH_SHARE = 1 / 4;
const REST_MS_MIN = 250;
/** Rests are so much longer than the collection before them: at most a tenth of the time goes to collections. */
const REST_TIMES = 9;

export interface MemoryGuardOptions {
  readonly clock: Clock;
  /** Of the process. */
  readonly limitBytes: number;
  /** The resident memory of the process, in bytes. */
  readonly residentBytes: () => number;
  /** Collects all garbage, and gives free pages back to the system. Ends the work before it returns. */
  readonly collect: () => void;
  /** Is told how long each collection kept the event loop. */
  readonly watch: Pick<LoopWatch, 'stretched'>;
}

/**
 * Keeps garbage from taking a process above its limit of memory. V8 knows nothing of that limit: it lets garbage of more than
 * 100 MiB gather before a full collection, and keeps the pages that a collection has freed, resident, for as long as there is
 * work. From three quarters of the limit on, all garbage is collected and the pages are given back. What is still
 * resident then is held, so the next collection is due a quarter of the way from there to the limit. A heap whose collection takes
 * long is left to V8 until the limit is near.
 */
export class MemoryGuard implements Disposable {
  /** Collections so far. */
  collections = 0;
  readonly #options: MemoryGuardOptions;
  #timer: Timer;
  /** The least that was resident since the last collection; 0 before the first. */
  #heldBytes = 0;
  #restUntilMs = Number.NEGATIVE_INFINITY;
  /** The last collection. */
  #tookMs = 0;

  constructor(options: MemoryGuardOptions) {
    this.#options = options;
    this.#timer = this.#arm();
  }

  [Symbol.dispose](): void {
    this.#timer.cancel();
  }

  #arm(): Timer {
    return this.#options.clock.after(LOOK_MS, () => {
      this.#look();
      this.#timer = this.#arm();
    });
  }

  #look(): void {
    const { clock, residentBytes, collect, watch } = this.#options;
    const bytes = residentBytes();
    this.#heldBytes = Math.min(this.#heldBytes, bytes);
    const fromMs = clock.nowMs();
    if (bytes < this.#dueBytes || fromMs < this.#restUntilMs) return;
    collect();
    this.collections += 1;
    const endMs = clock.nowMs();
    this.#tookMs = endMs - fromMs;
    watch.stretched(GC_PHASE, this.#tookMs);
    this.#restUntilMs = endMs + Math.max(REST_MS_MIN, REST_TIMES * this.#tookMs);
    this.#heldBytes = residentBytes();
  }

  /** So much resident memory makes a collection due. */
  get #dueBytes(): number {
    const { limitBytes } = this.#options;
    const rest = Math.max(GROWTH_MIN_BYTES, GROWTH_SHARE * (limitBytes - this.#heldBytes));
    const share = this.#tookMs > STOP_MS_MAX ? FREE_SHARE_BY_LONG_STOPS : FREE_SHARE;
    return Math.max(share * limitBytes, this.#heldBytes + rest);
  }
}
