import { type Clock, type EngramError, NO_REVISION, type Slice } from '@engram/core';
import type { Pins } from '@engram/scanner';
import type { Deciding } from '@engram/sequencer';
import { decide } from './decide.ts';
import { DecisionQueue } from './decision-queue.ts';
import { LongDecision } from './long-decision.ts';
import type { NeededValues } from './needed-values.ts';

export interface DecisionsOptions {
  readonly pins: Pins;
  readonly clock: Clock;
  /** See `Slice`. */
  readonly sliceUs: number | undefined;
  /** A long decision has begun: somebody must look at the time (`failUntil`). */
  readonly onLong: () => void;
}

/** A decision that may be long. */
export interface SlicedDecision<Result, Answer> {
  /** All its parts share `slice`. */
  readonly deciding: Deciding<Result>;
  readonly values: NeededValues;
  readonly slice: Slice;
  /** Also when it was answered Timeout. */
  readonly goesOn: boolean;
  /** It was long, and may not count any more: then this takes it back and rejects. Nobody else decides meanwhile. */
  readonly confirm: (result: Result) => Promise<void> | undefined;
  /** It is taken. Called before anybody else decides; the answer may come later. */
  readonly finish: (result: Result) => Promise<Answer>;
  /** It could not be taken, and has left no trace: rejects with what is to be told. */
  readonly refuse: (error: unknown) => Promise<never>;
}

/** Decisions on writes: one after the other, in the order in which they are asked for. One of them may be long. */
export class Decisions {
  readonly #options: DecisionsOptions;
  readonly #queue: DecisionQueue;
  readonly #neverAborted = new AbortController().signal;
  #long: LongDecision | undefined;
  /** When the long decision was asked for that is finished in this call. */
  #finishingSinceMs: number | undefined;

  constructor(options: DecisionsOptions) {
    this.#options = options;
    this.#queue = new DecisionQueue(options.clock, options.sliceUs);
  }

  /** Whoever asks now decides at once. */
  get free(): boolean {
    return this.#queue.free;
  }

  /** What those who wait keep in memory. */
  get waitingBytes(): number {
    return this.#queue.waitingBytes;
  }

  /** Who decides in this call has waited for his turn. */
  get waited(): boolean {
    return this.#queue.decidingSinceMs !== undefined;
  }

  /** When the decision of this call was asked for. */
  get askedMs(): number {
    return this.#queue.decidingSinceMs ?? this.#finishingSinceMs ?? this.#options.clock.nowMs();
  }

  /** Resolves when nobody decides or waits for it. Undefined: no long decision is under way. */
  get longEnded(): Promise<void> | undefined {
    return this.#long === undefined ? undefined : this.#queue.idle();
  }

  idle(): Promise<void> {
    return this.#queue.idle();
  }

  /** See `DecisionQueue`. */
  inTurn<Result>(bytes: number, decide: () => Result | Promise<Result>): Promise<Result> {
    return this.#queue.inTurn(bytes, decide);
  }

  /** At once where one slice is enough for it; otherwise others wait until it is taken. In turn. */
  take<Result, Answer>(decision: SlicedDecision<Result, Answer>): Promise<Answer> {
    const { deciding, values, slice, goesOn, finish, refuse } = decision;
    const { clock, onLong } = this.#options;
    const long = new LongDecision(this.askedMs, goesOn);
    let decided: Result | Promise<Result>;
    try {
      decided = decide(deciding, {
        provide: (needed) => {
          const reading = values.provide(needed, this.#neverAborted);
          return reading && long.read(reading);
        },
        turn: () => long.turn(slice, clock),
      });
    } catch (error) {
      return refuse(error);
    }
    if (!(decided instanceof Promise)) {
      this.#queue.spend(slice.usedUs);
      return finish(decided);
    }
    this.#queue.hold();
    this.#long = long;
    onLong();
    return long.answer(this.#goOn(decided, long, decision));
  }

  async #goOn<Result, Answer>(
    decided: Promise<Result>,
    long: LongDecision,
    { confirm, finish, refuse }: SlicedDecision<Result, Answer>,
  ): Promise<Answer> {
    // What is noted for the answer stays readable until it is pinned by itself.
    using _pin = this.#options.pins.hold(NO_REVISION);
    try {
      const result = await decided;
      const confirmed = confirm(result);
      if (confirmed !== undefined) await confirmed;
      this.#finishingSinceMs = long.startMs;
      return finish(result);
    } catch (error) {
      return refuse(error);
    } finally {
      this.#finishingSinceMs = undefined;
      this.#long = undefined;
      this.#queue.release();
    }
  }

  /** The long decision takes its changes back and is refused with `error`. Those who wait never decide: the caller fails them. */
  giveUp(error: EngramError): readonly { fail(error: Error): void }[] {
    this.#long?.giveUp(error);
    return this.#queue.takeAll();
  }

  /** Those who asked at `untilMs` or before wait no longer. Returns whether anybody still waits to be decided. */
  failUntil(untilMs: number, error: EngramError): boolean {
    if (this.#long !== undefined && this.#long.startMs <= untilMs) this.#long.timeOut(error);
    this.#queue.failUntil(untilMs, error);
    return this.#long !== undefined || this.#queue.oldestMs !== undefined;
  }
}
