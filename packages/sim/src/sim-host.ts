import { assert, type Random } from '@engram/core';
import type { SimEvent } from './event-queue.ts';
import type { Prng } from './prng.ts';
import type { Scheduler } from './scheduler.ts';
import { SimClock } from './sim-clock.ts';

export interface SimHostOptions {
  readonly name: string;
  /** The randomness of this host: the delays of its timers and the numbers that its processes draw. */
  readonly random: Prng;
  /** How fast its clocks run. 1 is exact. */
  readonly rate?: number;
  /** `nowMs` and `wallMs` of its clocks at the scheduler's time 0. */
  readonly originMs?: number;
  readonly wallMs?: number;
  /** A timer is late by up to this long. */
  readonly lateMsMax?: number;
  /** A turn takes up to this long to come. Other events of the member and of the world may come before it. */
  readonly turnMsMax?: number;
}

/** The time between events that must keep their order. Too short to be noticed. */
const ORDER_MS = 1e-5;

/** A machine. Its clocks continue while processes start and end on it, one at a time. */
export class SimHost {
  readonly name: string;
  readonly scheduler: Scheduler;
  readonly options: SimHostOptions;
  #wallJumpMs = 0;
  #generation = 0;
  #process: SimProcess | undefined;

  constructor(scheduler: Scheduler, options: SimHostOptions) {
    this.name = options.name;
    this.scheduler = scheduler;
    this.options = options;
  }

  /** The living process. Undefined if there is none. */
  get process(): SimProcess | undefined {
    return this.#process?.alive === true ? this.#process : undefined;
  }

  start(): SimProcess {
    assert(this.process === undefined, 'two processes at a time on one host');
    this.#generation += 1;
    this.#process = new SimProcess(this, this.#generation, this.#wallJumpMs);
    return this.#process;
  }

  /** Sets the time of day. */
  jumpWall(ms: number): void {
    this.#wallJumpMs += ms;
    this.process?.clock.jumpWall(ms);
  }
}

/**
 * One life of a member. Every later call into it goes through it: its clock, and the ends of its storage and network
 * operations. After `kill` none of them fires. While it is paused, all of them wait.
 */
export class SimProcess {
  readonly host: SimHost;
  /** 1 for the first process on its host. */
  readonly generation: number;
  readonly clock: SimClock;
  readonly random: Random;
  readonly #deliver: (fire: () => void) => void;
  #alive = true;
  /** Callbacks that came due while the process was paused. Undefined while it runs. */
  #held: (() => void)[] | undefined;
  #atEnd: (() => void)[] = [];

  constructor(host: SimHost, generation: number, wallJumpMs: number) {
    const { scheduler, options } = host;
    const { random, lateMsMax = 0, turnMsMax = 0 } = options;
    this.host = host;
    this.generation = generation;
    this.random = random;
    this.#deliver = (fire) => {
      if (!this.#alive) return;
      if (this.#held !== undefined) this.#held.push(fire);
      else fire();
    };
    this.clock = new SimClock({
      scheduler,
      rate: options.rate ?? 1,
      originMs: options.originMs ?? 0,
      wallMs: (options.wallMs ?? 0) + wallJumpMs,
      lateMs: () => (lateMsMax === 0 ? 0 : random.fraction() * lateMsMax),
      // Half of the turns come at once: a long turn is the exception.
      turnMs: () => (turnMsMax === 0 || random.chance(0.5) ? 0 : random.fraction() * turnMsMax),
      deliver: this.#deliver,
    });
  }

  get alive(): boolean {
    return this.#alive;
  }

  get paused(): boolean {
    return this.#held !== undefined;
  }

  /** As SIGKILL: its running operations never end. Calls the functions given to `atEnd`. */
  kill(): void {
    if (!this.#alive) return;
    this.#alive = false;
    this.#held = undefined;
    for (const end of this.#atEnd.splice(0)) end();
  }

  /** Called once when the process is killed, to release locks and break connections. */
  atEnd(end: () => void): void {
    this.#atEnd.push(end);
  }

  /** As SIGSTOP: its clocks continue, but none of its callbacks run. */
  pause(): void {
    assert(this.#alive, 'a dead process cannot be paused');
    this.#held ??= [];
  }

  /**
   * As SIGCONT: callbacks that came due meanwhile fire now, each followed by its consequences. They keep their order,
   * or `order` draws one, because a process that wakes reads its connections in any order.
   */
  resume(order?: Prng): void {
    const held = this.#held;
    this.#held = undefined;
    if (!this.#alive || held === undefined) return;
    for (const [at, fire] of (order?.shuffled(held) ?? held).entries())
      this.host.scheduler.after(at * ORDER_MS, () => this.#deliver(fire));
  }

  /** Fires the end of an operation outside the process, after `delayMs` of the scheduler's time. */
  after(delayMs: number, fire: () => void): SimEvent {
    return this.host.scheduler.after(delayMs, () => this.#deliver(fire));
  }

  /** Resolves after `delayMs`. Never resolves if the process is dead by then. */
  delay(delayMs: number): Promise<void> {
    return new Promise((resolve) => void this.after(delayMs, resolve));
  }
}
