import type { Clock, Timer } from '@engram/core';
import type { Reading, WatcherState } from '../live/watcher-state.ts';

interface UnderWay {
  readonly watcher: WatcherState;
  readonly reading: Reading;
  /** In running time. */
  readonly dueMs: number;
}

/** The timer runs this often within a time limit, so a pause of the process costs a read at most this share of it. */
const TICKS = 10;

/**
 * The deadlines of reads of history. All reads have the same time limit, so the oldest read is due first.
 *
 * Time is running time: the clock's time without the times for which the process stood still (SIGSTOP, a suspended
 * machine). After such a pause the timers fire before the results that wait in the sockets are read. By the clock's
 * time, a pause of `readMsMax` would break each stream whose read was under way, however soon its result came.
 */
export class ReadDeadlines {
  readonly #clock: Clock;
  readonly #readMsMax: number;
  readonly #late: (watcher: WatcherState, reading: Reading) => void;
  readonly #underWay = new Map<Reading, UnderWay>();
  #timer: Timer | undefined;
  /** When the timer is due, in the clock's time. */
  #timerMs = 0;
  /** How long the process has stood still. */
  #stoodMs = 0;

  constructor(clock: Clock, readMsMax: number, late: (watcher: WatcherState, reading: Reading) => void) {
    this.#clock = clock;
    this.#readMsMax = readMsMax;
    this.#late = late;
  }

  begin(watcher: WatcherState, reading: Reading): void {
    this.#underWay.set(reading, { watcher, reading, dueMs: this.#runningMs() + this.#readMsMax });
    if (this.#timer === undefined) this.#start(this.#readMsMax);
  }

  /** Removes a read that has settled, in time or late. */
  end(reading: Reading): void {
    this.#underWay.delete(reading);
    if (this.#underWay.size > 0) return;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #runningMs(): number {
    return this.#clock.nowMs() - this.#stoodMs;
  }

  #start(leftMs: number): void {
    const tickMs = Math.min(leftMs, this.#readMsMax / TICKS);
    this.#timerMs = this.#clock.nowMs() + tickMs;
    this.#timer = this.#clock.after(tickMs, () => this.#expire());
  }

  #expire(): void {
    this.#timer = undefined;
    this.#stoodMs += Math.max(0, this.#clock.nowMs() - this.#timerMs);
    const runningMs = this.#runningMs();
    for (const { watcher, reading, dueMs } of this.#underWay.values()) {
      if (dueMs > runningMs) {
        this.#start(dueMs - runningMs);
        return;
      }
      this.#underWay.delete(reading);
      this.#late(watcher, reading);
    }
  }
}
