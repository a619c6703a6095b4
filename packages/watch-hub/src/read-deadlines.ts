import type { Clock, Timer } from '@engram/core';
import type { Reading, WatcherState } from './watcher-state.ts';

interface UnderWay {
  readonly watcher: WatcherState;
  readonly reading: Reading;
  readonly dueMs: number;
}

/** The deadlines of reads of history. All reads have the same time limit, so the oldest read is due first. */
export class ReadDeadlines {
  readonly #clock: Clock;
  readonly #readMsMax: number;
  readonly #late: (watcher: WatcherState, reading: Reading) => void;
  readonly #underWay = new Map<Reading, UnderWay>();
  #timer: Timer | undefined;

  constructor(clock: Clock, readMsMax: number, late: (watcher: WatcherState, reading: Reading) => void) {
    this.#clock = clock;
    this.#readMsMax = readMsMax;
    this.#late = late;
  }

  begin(watcher: WatcherState, reading: Reading): void {
    this.#underWay.set(reading, { watcher, reading, dueMs: this.#clock.nowMs() + this.#readMsMax });
    this.#timer ??= this.#clock.after(this.#readMsMax, () => this.#expire());
  }

  /** Removes a read that has settled, in time or late. */
  end(reading: Reading): void {
    this.#underWay.delete(reading);
    if (this.#underWay.size > 0) return;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #expire(): void {
    this.#timer = undefined;
    const nowMs = this.#clock.nowMs();
    for (const { watcher, reading, dueMs } of this.#underWay.values()) {
      if (dueMs > nowMs) {
        this.#timer = this.#clock.after(dueMs - nowMs, () => this.#expire());
        return;
      }
      this.#underWay.delete(reading);
      this.#late(watcher, reading);
    }
  }
}
