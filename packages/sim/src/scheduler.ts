import { assert, type Random } from '@engram/core';
import { EventQueue, SimEvent } from './event-queue.ts';

export interface SchedulerOptions {
  /**
   * Decides the order of events that are due at the same time. Without it, they fire in the order in which they were
   * scheduled.
   */
  readonly random?: Random;
  /**
   * The source of turns (`Clock.soon`). `queue`: turns are events like all others, and nothing happens outside `step`,
   * `advance` and `run`. `event-loop`: turns come by themselves, as in production, and only time is simulated. For
   * tests with real sockets or files.
   */
  readonly turns?: 'queue' | 'event-loop';
}

/** Immediates that are queued together. All microtasks run after each of them, and a round of the event loop costs more. */
const IMMEDIATES = 32;
/** Turns of the real event loop that `run` grants when no event is left, because the promise may need one. */
const IDLE_TURNS_MAX = 50;
/** Below every number of the random source. */
const BEFORE_ALL = -1;

/**
 * Virtual time and the one queue of all events: timers, turns, ends of storage operations, deliveries of the network.
 * Time moves from event to event and never by itself. Between two events all microtasks run, so the seed alone decides
 * the order of events.
 */
export class Scheduler {
  readonly turns: 'queue' | 'event-loop';
  readonly #random: Random | undefined;
  readonly #queue = new EventQueue();
  #nowMs = 0;
  #order = 0;
  #fired = 0;

  constructor(options: SchedulerOptions = {}) {
    this.turns = options.turns ?? 'queue';
    this.#random = options.random;
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  /** The number of events that have fired. Tests bound and compare runs with it. */
  get fired(): number {
    return this.#fired;
  }

  /** The number of events that wait. Must be 0 when everything has ended. */
  get waiting(): number {
    return this.#queue.count();
  }

  /** When the next event is due. Undefined if none waits. */
  get nextMs(): number | undefined {
    return this.#queue.first()?.atMs;
  }

  after(delayMs: number, fire: () => void): SimEvent {
    assert(!Number.isNaN(delayMs), 'an event at no time');
    return this.#push(this.#nowMs + Math.max(0, delayMs), this.#random?.uint32() ?? 0, fire);
  }

  /** Fires before all other waiting events, but after earlier events of this kind. */
  next(fire: () => void): SimEvent {
    return this.#push(this.#nowMs, BEFORE_ALL, fire);
  }

  #push(atMs: number, tie: number, fire: () => void): SimEvent {
    this.#order += 1;
    const event = new SimEvent(atMs, tie, this.#order, fire);
    this.#queue.push(event);
    return event;
  }

  /** Fires the next event at its time. False if none waits. Throws what the event throws. */
  step(): boolean {
    const event = this.#queue.take();
    if (event === undefined) return false;
    assert(event.atMs >= this.#nowMs, 'time goes back');
    this.#nowMs = event.atMs;
    this.#fired += 1;
    event.fire();
    return true;
  }

  /**
   * Advances time by `ms` and fires each event that comes due at its own time, without microtasks in between. Returns
   * the number of these events.
   */
  advance(ms: number): number {
    const endMs = this.#nowMs + ms;
    const before = this.#fired;
    for (let next = this.nextMs; next !== undefined && next <= endMs; next = this.nextMs) this.step();
    this.#nowMs = Math.max(this.#nowMs, endMs);
    return this.#fired - before;
  }

  /**
   * Fires events until `promise` settles, and returns its outcome. Rejects with what an event throws, or if no event is
   * left that could settle the promise.
   */
  async run<Value>(promise: Promise<Value>): Promise<Value> {
    let settled = false;
    const settle = (): void => {
      settled = true;
    };
    promise.then(settle, settle);
    let idle = 0;
    await this.#drive(() => {
      if (settled) return false;
      if (this.step()) idle = 0;
      else idle += 1;
      if (idle > IDLE_TURNS_MAX) throw new Error('nothing is left to happen, but the promise has not settled');
      return true;
    });
    return await promise;
  }

  /** Fires all events that are due within `ms` from now, then sets the time to the end. */
  async pass(ms: number): Promise<void> {
    const endMs = this.#nowMs + ms;
    await this.#drive(() => {
      const next = this.nextMs;
      if (next === undefined || next > endMs) return false;
      return this.step();
    });
    this.#nowMs = Math.max(this.#nowMs, endMs);
  }

  /** Calls `step` repeatedly, with all microtasks in between, until it returns false. */
  #drive(step: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      let ended = false;
      let queued = 0;
      const turn = (): void => {
        queued -= 1;
        if (ended) return;
        try {
          if (!step()) {
            ended = true;
            resolve();
            return;
          }
        } catch (error) {
          ended = true;
          reject(error);
          return;
        }
        if (queued === 0) queue();
      };
      const queue = (): void => {
        queued = IMMEDIATES;
        for (let at = 0; at < IMMEDIATES; at += 1) setImmediate(turn);
      };
      queue();
    });
  }
}
