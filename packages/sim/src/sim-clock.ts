import { assert, type Clock, type Timer } from '@engram/core';
import { Scheduler } from './scheduler.ts';

export interface SimClockOptions {
  /** Without a scheduler the clock has its own, whose time moves by `advance` and whose turns come by themselves. */
  readonly scheduler?: Scheduler;
  /** Milliseconds of this clock for each of the scheduler's: 1 is exact. */
  readonly rate?: number;
  /** What `nowMs` shows when the scheduler's time is 0. */
  readonly originMs?: number;
  /** What `wallMs` shows when the scheduler's time is 0. */
  readonly wallMs?: number;
  /** How late a timer fires, in the scheduler's milliseconds. */
  readonly lateMs?: () => number;
  /** How long a turn takes to come, in the scheduler's milliseconds. */
  readonly turnMs?: () => number;
  /** Called when a callback is due. The process that owns it may be dead or stopped by then. */
  readonly deliver?: (fire: () => void) => void;
}

const onTime = (): number => 0;
const deliverAtOnce = (fire: () => void): void => fire();

/**
 * The only clock of tests: a view of a scheduler's time, which may run too fast or too slow. With a scheduler of its
 * own, its time moves only by `advance`, `run` and `pass`.
 */
export class SimClock implements Clock {
  readonly scheduler: Scheduler;
  readonly #rate: number;
  readonly #originMs: number;
  readonly #lateMs: () => number;
  readonly #turnMs: () => number;
  readonly #deliver: (fire: () => void) => void;
  #wallMs: number;

  constructor(options: SimClockOptions = {}) {
    this.scheduler = options.scheduler ?? new Scheduler({ turns: 'event-loop' });
    this.#rate = options.rate ?? 1;
    assert(this.#rate > 0, 'a clock that does not move');
    this.#originMs = options.originMs ?? 0;
    this.#wallMs = options.wallMs ?? 0;
    this.#lateMs = options.lateMs ?? onTime;
    this.#turnMs = options.turnMs ?? onTime;
    this.#deliver = options.deliver ?? deliverAtOnce;
  }

  nowMs(): number {
    return this.#originMs + this.scheduler.nowMs * this.#rate;
  }

  wallMs(): number {
    return this.#wallMs + this.scheduler.nowMs;
  }

  after(delayMs: number, fire: () => void): Timer {
    const dueMs = this.nowMs() + delayMs;
    let cancelled = false;
    const expire = (): void => {
      // A rounding error may fire the event just before the timer is due. A timer is never early.
      const leftMs = dueMs - this.nowMs();
      if (leftMs > 0) event = this.scheduler.after(Math.max(leftMs / this.#rate, 1e-6), expire);
      // A stopped process gets it later, and may cancel it until then.
      else this.#deliver(() => void (cancelled || fire()));
    };
    let event = this.scheduler.after(delayMs / this.#rate + this.#lateMs(), expire);
    const cancel = (): void => {
      cancelled = true;
      event.cancel();
    };
    return { cancel };
  }

  soon(fire: () => void): void {
    if (this.scheduler.turns === 'event-loop') setImmediate(() => this.#deliver(fire));
    else this.scheduler.after(this.#turnMs(), () => this.#deliver(fire));
  }

  endOfTurn(fire: () => void): void {
    if (this.scheduler.turns === 'event-loop') process.nextTick(() => this.#deliver(fire));
    else this.scheduler.next(() => this.#deliver(fire));
  }

  /** Sets the time of day. Durations are not affected. */
  jumpWall(ms: number): void {
    this.#wallMs += ms;
  }

  /** See `Scheduler.advance`. */
  advance(ms: number): number {
    return this.scheduler.advance(ms);
  }

  /** See `Scheduler.run`. */
  run<Value>(promise: Promise<Value>): Promise<Value> {
    return this.scheduler.run(promise);
  }

  /** See `Scheduler.pass`. */
  pass(ms: number): Promise<void> {
    return this.scheduler.pass(ms);
  }

  /** The number of timers that wait. Must be 0 when everything has ended. */
  get waiting(): number {
    return this.scheduler.waiting;
  }

  /**
   * Lets `turns` turns of the real event loop pass, for a clock whose turns come by themselves. Work that needs no time
   * completes.
   */
  async settle(turns = 20): Promise<void> {
    for (let turn = 0; turn < turns; turn += 1) await new Promise<void>((resolve) => setImmediate(resolve));
  }
}
