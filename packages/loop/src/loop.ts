import { assert, type Clock } from '@engram/core';
import { FairQueue } from './fair-queue.ts';
import { InlineShare } from './inline-share.ts';
import { type LoopWatch, unwatched } from './loop-watch.ts';
import { MeasuredPace, type Pace } from './pace.ts';
import { type Parked, ParkedJob, type SliceGiver } from './parked-job.ts';
import type { LongWorkParts } from './short-answers.ts';
import { TransportShare } from './transport-share.ts';
import { TurnInput } from './turn-input.ts';
import { LATE_PHASE_MS } from './turn-parts.ts';
import { TurnStart } from './turn-start.ts';
import type { Job, Turn } from './turn.ts';
import { type Task, WORK_CLASSES, type WorkClass } from './work-class.ts';

/** The most callbacks that are requested from the event loop at a time. */
const ASKED_MAX = 1024;

export interface LoopOptions {
  readonly clock: Pick<Clock, 'nowMs' | 'soon'>;
  /** The time for which the event loop has waited for something to do. If undefined, the input of a turn is taken for short. */
  readonly idleMs?: () => number;
  /** When a slice ends. If undefined, after SLICE_MS by the clock. */
  readonly pace?: Pace;
}

/** What a class has used. The first slice of a job is not measured: what ends at once reads no clock. */
export interface ClassUsage {
  slices: number;
  ms: number;
  longestMs: number;
}

/**
 * The owner of the event loop's time. Long work runs as a job: it asks `shouldYield`, and yields. What yields waits in a
 * line of its class and its caller (`FairQueue`), and each turn of the event loop gives slices for JOBS_TURN_MS, or less while
 * clients wait for short answers (`ShortAnswers`). Frames
 * and writing have a share of their own (`transport`). All together take less than TURN_MS. What the input of a turn takes beyond its
 * part, the others have less (`TurnInput`).
 *
 * A job begins in the call that runs it, so what needs less than a slice has ended when `run` returns: two writes of one
 * connection are decided in the order in which they came. A job that is run within another one shares its slice.
 *
 * Each slice has its own callback of the event loop, so that promises and `process.nextTick` run between two of them.
 * `setImmediate` alone runs all waiting callbacks in one turn: a hundred lists that are made together would take a hundred
 * slices before the sockets are read.
 */
export class Loop implements Turn {
  readonly transport: TransportShare;
  readonly inline = new InlineShare();
  readonly usage: ReadonlyMap<WorkClass, Readonly<ClassUsage>>;
  /** Is told of slices that took longer than its budget. */
  watch: LoopWatch = unwatched;
  readonly #usage = new Map(WORK_CLASSES.map((work) => [work, { slices: 0, ms: 0, longestMs: 0 }]));
  readonly #clock: Pick<Clock, 'nowMs' | 'soon'>;
  readonly #input: TurnInput;
  readonly #start: TurnStart;
  readonly #pace: Pace;
  readonly #queue = new FairQueue<Parked>();
  readonly #giver: SliceGiver;
  /** A job has the slice. */
  #running = false;
  /** Callbacks that were requested from the event loop and have not run. */
  #asked = 0;
  /**
   * Counts turns in which a callback ran. A callback that is requested between the first callback of one turn and that
   * of the next runs in the next. So a callback that was requested in the current turn is the first of a new one.
   */
  #turn = 0;
  #untilMs = 0;
  /** The time of this turn is up: no callback gives a slice before `#renew`. */
  #over = false;
  /** Jobs that go on when a promise settles do so until this time, in this turn. Undefined: none has. */
  #resumeUntilMs: number | undefined;
  /** The last slice of this turn, and the time up to which it is charged. */
  #last: Task | undefined;
  #chargedMs = 0;

  constructor({ clock, idleMs, pace }: LoopOptions) {
    this.usage = this.#usage;
    this.#clock = clock;
    this.#input = new TurnInput(clock, idleMs);
    this.#start = new TurnStart(clock, this.#input);
    this.#pace = pace ?? new MeasuredPace(clock);
    this.transport = new TransportShare({ soon: (fire) => this.#start.behind(fire) }, this.#input);
    this.#giver = {
      park: (parked) => this.#park(parked),
      resume: (parked) => this.#resume(parked),
      enter: (nowMs) => this.#enter(nowMs),
      leave: () => this.#leave(),
    };
  }

  /** Slices of this class that wait for their turn. */
  waiting(work: WorkClass): number {
    return this.#queue.waiting(work);
  }

  /**
   * As `Clock.soon`: calls `fire` once the input that is there has been read, but ahead of the slices and the long output of the
   * turn. For short work that others wait for, such as the begin of an append.
   */
  soon(fire: () => void): void {
    this.#start.soon(fire);
  }

  /** See `Turn`. Only a job may ask, while it runs. */
  shouldYield(steps = 1): boolean {
    assert(this.#running, 'work outside of a job asks for its slice');
    return this.#pace.shouldYield(steps);
  }

  /**
   * Runs a job: its first slice in this call. Returns its result, or throws its error, if it ends there; otherwise a
   * promise of them. After an abort of `signal` the job ends at its next slice, and the promise rejects with the reason.
   */
  run<Result>(task: Task, job: Job<Result>, signal?: AbortSignal): Result | Promise<Result> {
    const nested = this.#running;
    const first = this.#begin(job);
    if (first.done === true) return first.value;
    const parked = new ParkedJob(this.#giver, task, job, signal);
    parked.wait(first.value);
    // The first slice was in the caller's own time, and took all of a slice. Otherwise who begins many jobs would get more.
    if (!nested && first.value === undefined) this.#queue.owes(task, this.#parts.sliceMs);
    return parked.result;
  }

  /** Does work that stops by itself when it should yield, in a slice that begins now. The rest may follow after `pause`. */
  slice<Result>(work: () => Result): Result {
    if (this.#running) return work();
    this.#enter();
    try {
      return work();
    } finally {
      this.#leave();
    }
  }

  /** Resolves in a slice of a later turn, for work that is no job. Rejects if `signal` has aborted by then. */
  async pause(task: Task, signal?: AbortSignal): Promise<void> {
    await new Promise<void>((resume) => this.later(task, resume));
    signal?.throwIfAborted();
  }

  /** Calls `resume` in a slice of a later turn. */
  later(task: Task, resume: () => void): void {
    this.#park({ task, resume });
  }

  #begin<Result>(job: Job<Result>): IteratorResult<Promise<unknown> | undefined, Result> {
    if (this.#running) return job.next();
    this.#enter();
    try {
      return job.next();
    } finally {
      this.#leave();
    }
  }

  #enter(nowMs?: number): void {
    assert(!this.#running, 'a slice begins within a slice');
    this.#running = true;
    this.#pace.begin(nowMs, this.#parts.sliceMs);
  }

  #leave(): void {
    this.#running = false;
  }

  get #parts(): LongWorkParts {
    return this.transport.shortAnswers.parts;
  }

  /**
   * Promises may settle within the turn, one after another: without a bound, a job that waits for them would do all of its
   * work in one turn.
   */
  #resume(parked: Parked): void {
    const nowMs = this.#clock.nowMs();
    if (this.#resumeUntilMs === undefined) {
      this.#resumeUntilMs = nowMs + this.#parts.jobsMs;
      this.#clock.soon(() => {
        this.#resumeUntilMs = undefined;
      });
    }
    if (this.#queue.size === 0 && nowMs < this.#resumeUntilMs) this.#slice(parked, nowMs);
    else this.#park(parked);
  }

  #park(parked: Parked): void {
    this.#queue.push(parked.task, parked);
    this.#input.comes();
    if (!this.#over && this.#asked < ASKED_MAX) this.#ask();
  }

  #ask(): void {
    this.#asked += 1;
    const turn = this.#turn;
    this.#start.behind(() => this.#callback(turn));
  }

  #callback(turn: number): void {
    this.#asked -= 1;
    if (this.#over) return;
    const nowMs = this.#clock.nowMs();
    if (!this.#begins(turn, nowMs)) {
      // What the promises of the last slice have done since was its work.
      if (this.#last !== undefined && nowMs > this.#chargedMs) this.#charge(this.#last, nowMs);
      if (nowMs >= this.#untilMs) {
        this.#over = true;
        const overIn = this.#turn;
        this.#start.behind(() => this.#renew(overIn));
        return;
      }
    }
    this.#give(nowMs);
  }

  #give(nowMs: number): void {
    const parked = this.#queue.take();
    // Requests a callback for work beyond ASKED_MAX.
    if (this.#queue.size > this.#asked) this.#ask();
    this.#slice(parked, nowMs);
    this.#input.partEnded(this.#chargedMs);
  }

  #slice(parked: Parked, nowMs: number): void {
    const { task } = parked;
    this.#last = task;
    this.#chargedMs = nowMs;
    try {
      parked.resume(nowMs);
    } finally {
      const endMs = this.#clock.nowMs();
      const ms = endMs - nowMs;
      this.#charge(task, endMs);
      const usage = this.#usage.get(task.work)!;
      usage.slices += 1;
      usage.longestMs = Math.max(usage.longestMs, ms);
      if (ms > this.watch.budgetMs) this.watch.stretched(task.stage, ms, task.method);
    }
  }

  #charge(task: Task, nowMs: number): void {
    const ms = nowMs - this.#chargedMs;
    this.#chargedMs = nowMs;
    this.#queue.charge(task, Math.max(ms, this.#pace.sliceMinMs));
    this.#usage.get(task.work)!.ms += ms;
  }

  /** Runs in the turn after one that was too long. Callbacks requested here run in the turn after this one. */
  #renew(turn: number): void {
    this.#over = false;
    this.#begins(turn, this.#clock.nowMs());
    while (this.#asked < Math.min(this.#queue.size, ASKED_MAX)) this.#ask();
  }

  /** Whether this is the first callback of a turn. */
  #begins(turn: number, nowMs: number): boolean {
    if (turn !== this.#turn) return false;
    this.#turn += 1;
    this.transport.shortAnswers.turn();
    const { turnMs, jobsMs, sliceMs } = this.#parts;
    // One slice is given in any case.
    this.#untilMs = nowMs + Math.min(jobsMs, turnMs - this.#input.tookMs - LATE_PHASE_MS - sliceMs);
    this.#last = undefined;
    return true;
  }
}
