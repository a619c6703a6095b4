import { assert, type Clock, type Timer } from '@engram/core';
import type { Loop, PureJob, Task } from '@engram/loop';

/** An entry of the wheel. The wheel owns the links. */
export interface Timed {
  /** On the clock's `nowMs`. */
  deadlineMs: number;
  wheelPrevious: Timed | undefined;
  wheelNext: Timed | undefined;
  /** The deadline has passed. The wheel has already removed the entry. */
  expired(): void;
}

/** Precision of deadlines: never early, and at most two ticks late. */
const tickMs = 10;
const slots = 1024;
const EXPIRE: Task = { work: 'client', caller: 'deadlines', stage: 'expire' };
/** What it takes to end a call, in steps of the loop. */
const EXPIRE_STEPS = 8;

class Slot implements Timed {
  deadlineMs = 0;
  wheelPrevious: Timed | undefined = this;
  wheelNext: Timed | undefined = this;
  expired(): void {}
}

/**
 * The deadlines of all calls of a server, with one timer. Adding and removing are a few assignments, because nearly
 * every deadline is removed before it passes. An entry more than one revolution of the wheel away stays in its slot
 * until its revolution comes.
 */
export class DeadlineWheel {
  readonly #clock: Clock;
  readonly #loop: Loop;
  readonly #slots = Array.from({ length: slots }, () => new Slot());
  #count = 0;
  /** All slots up to this tick have been checked. */
  #doneTick: number;
  #timer: Timer | undefined;

  constructor(clock: Clock, loop: Loop) {
    this.#clock = clock;
    this.#loop = loop;
    this.#doneTick = Math.floor(clock.nowMs() / tickMs);
  }

  /** `entry` must not be in a wheel. */
  add(entry: Timed): void {
    assert(entry.wheelNext === undefined, 'an entry is in the wheel twice');
    if (this.#count === 0) this.#doneTick = Math.floor(this.#clock.nowMs() / tickMs);
    const tick = Math.max(Math.ceil(entry.deadlineMs / tickMs), this.#doneTick + 1);
    const slot = this.#slots[tick % slots]!;
    entry.wheelPrevious = slot.wheelPrevious;
    entry.wheelNext = slot;
    slot.wheelPrevious!.wheelNext = entry;
    slot.wheelPrevious = entry;
    this.#count += 1;
    if (this.#timer === undefined) this.#timer = this.#clock.after(tickMs, this.#turn);
  }

  /** Does nothing if the entry is not in the wheel. */
  remove(entry: Timed): void {
    const { wheelPrevious: previous, wheelNext: next } = entry;
    if (previous === undefined || next === undefined) return;
    previous.wheelNext = next;
    next.wheelPrevious = previous;
    entry.wheelPrevious = undefined;
    entry.wheelNext = undefined;
    this.#count -= 1;
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  readonly #turn = (): void => {
    this.#timer = undefined;
    const nowMs = this.#clock.nowMs();
    const nowTick = Math.floor(nowMs / tickMs);
    // After a pause longer than one revolution, one revolution checks every slot.
    const passed: Timed[] = [];
    for (let tick = Math.max(this.#doneTick + 1, nowTick - slots + 1); tick <= nowTick; tick += 1) {
      addPassed(this.#slots[tick % slots]!, nowMs, passed);
    }
    if (passed.length > 0) void this.#loop.run(EXPIRE, this.#expiring(passed));
    this.#doneTick = Math.max(this.#doneTick, nowTick);
    if (this.#count > 0) this.#timer = this.#clock.after(tickMs, this.#turn);
  };

  *#expiring(passed: readonly Timed[]): PureJob<void> {
    for (const entry of passed) {
      // An entry that expired before it may have removed this one, as may whoever ended the call between two slices.
      if (entry.wheelNext === undefined) continue;
      this.remove(entry);
      entry.expired();
      if (this.#loop.shouldYield(EXPIRE_STEPS)) yield;
    }
  }
}

function addPassed(slot: Slot, nowMs: number, passed: Timed[]): void {
  for (let entry = slot.wheelNext; entry !== undefined && entry !== slot; entry = entry.wheelNext) {
    if (entry.deadlineMs <= nowMs) passed.push(entry);
  }
}
