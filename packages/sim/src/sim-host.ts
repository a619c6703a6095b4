import { assert, type Random } from '@engram/core';
import type { SimEvent } from './event-queue.ts';
import type { Prng } from './prng.ts';
import type { Scheduler } from './scheduler.ts';
import { SimClock } from './sim-clock.ts';

export interface SimHostOptions {
  readonly name: string;
  /** All chance of this host: how late its timers are, and what its processes draw. */
  readonly random: Prng;
  /** How fast its clocks run, 1 is exact. */
  readonly rate?: number;
  /** `nowMs` and `wallMs` of its clocks at the scheduler's time 0. */
  readonly originMs?: number;
  readonly wallMs?: number;
  /** A timer is up to so much late. */
  readonly lateMsMax?: number;
  /** A turn takes up to so much to come: other events of the node and of the world come before it. */
  readonly turnMsMax?: number;
}

/** Between events that must keep their order: too short to be seen. */
const ORDER_MS = 1e-5;

/** A machine: its clocks go on while processes on it come and go, one at a time. */
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

  /** The one that lives; undefined: none. */
  get process(): SimProcess | undefined {
    return this.#process?.alive === true ? this.#process : undefined;
  }

  start(): SimProcess {
    assert(this.process === undefined, 'two processes at a time on one host');
    this.#generation += 1;
    this.#process = new SimProcess(this, this.#generation, this.#wallJumpMs);
    return this.#process;
  }

  /** Somebody sets the time of day. */
  jumpWall(ms: number): void {
    this.#wallJumpMs += ms;
    this.process?.clock.jumpWall(ms);
  }
}

/**
 * One life of a node. Everything that may call into it later goes through it: its clock, the ends of what it asked
 * storage and network for. After `kill` none of that fires any more, and while it is paused all of it waits.
 */
export class SimProcess {
  readonly host: SimHost;
  /** 1 for the first on its host. */
  readonly generation: number;
  readonly clock: SimClock;
  readonly random: Random;
  readonly #deliver: (fire: () => void) => void;
  #alive = true;
  /** What came due while it was stopped; undefined: it runs. */
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
      // Mostly at once: that a turn takes long is the exception.
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

  /** As SIGKILL: what it has under way never ends. Calls what `atEnd` was given. */
  kill(): void {
    if (!this.#alive) return;
    this.#alive = false;
    this.#held = undefined;
    for (const end of this.#atEnd.splice(0)) end();
  }

  /** Called once when it is killed: locks are let go, connections break. */
  atEnd(end: () => void): void {
    this.#atEnd.push(end);
  }

  /** As SIGSTOP: its clocks go on, and it does nothing. */
  pause(): void {
    assert(this.#alive, 'a dead process cannot be paused');
    this.#held ??= [];
  }

  /**
   * As SIGCONT: what came due meanwhile happens now, each followed by what it leads to. In its order, or in one that `order`
   * draws: a process that wakes reads its connections in any order.
   */
  resume(order?: Prng): void {
    const held = this.#held;
    this.#held = undefined;
    if (!this.#alive || held === undefined) return;
    for (const [at, fire] of (order?.shuffled(held) ?? held).entries())
      this.host.scheduler.after(at * ORDER_MS, () => this.#deliver(fire));
  }

  /** The end of something that it asked of the world, `delayMs` of the scheduler's time from now. */
  after(delayMs: number, fire: () => void): SimEvent {
    return this.host.scheduler.after(delayMs, () => this.#deliver(fire));
  }

  /** Resolves `delayMs` from now; never, where the process is dead by then. */
  delay(delayMs: number): Promise<void> {
    return new Promise((resolve) => void this.after(delayMs, resolve));
  }
}
