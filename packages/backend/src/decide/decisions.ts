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
  /** A long decision has begun: the owner must call `failUntil` when its time is over. */
  readonly onLong: () => void;
}

/** A decision that may be long. */
export interface SlicedDecision<Result, Answer> {
  /** All steps of the decision share `slice`. */
  readonly deciding: Deciding<Result>;
  readonly values: NeededValues;
  readonly slice: Slice;
  /** Whether the decision continues after its caller was answered Timeout. */
  readonly goesOn: boolean;
  /**
   * Called when a long decision is done. If its result is no longer valid, undoes it and rejects. No other decision
   * runs meanwhile.
   */
  readonly confirm: (result: Result) => Promise<void> | undefined;
  /** The decision is taken. Called before any other decision runs; the answer may come later. */
  readonly finish: (result: Result) => Promise<Answer>;
  /** The decision failed and has left no trace. Rejects with the error for the caller. */
  readonly refuse: (error: unknown) => Promise<never>;
}

/** Takes decisions on writes one after the other, in the order in which they are requested. One of them may be long. */
export class Decisions {
  readonly #options: DecisionsOptions;
  readonly #queue: DecisionQueue;
  readonly #neverAborted = new AbortController().signal;
  #long: LongDecision | undefined;
  /** When the long decision that finishes in this call was requested. */
  #finishingSinceMs: number | undefined;

  constructor(options: DecisionsOptions) {
    this.#options = options;
    this.#queue = new DecisionQueue(options.clock, options.sliceUs);
  }

  /** A decision that is requested now is taken at once. */
  get free(): boolean {
    return this.#queue.free;
  }

  /** Bytes that waiting decisions keep in memory. */
  get waitingBytes(): number {
    return this.#queue.waitingBytes;
  }

  /** Whether the decision of this call has waited for its turn. */
  get waited(): boolean {
    return this.#queue.decidingSinceMs !== undefined;
  }

  /** When the decision of this call was requested. */
  get askedMs(): number {
    return this.#queue.decidingSinceMs ?? this.#finishingSinceMs ?? this.#options.clock.nowMs();
  }

  /** Resolves when no decision is under way and none waits. Undefined if no long decision is under way. */
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

  /**
   * Takes a decision. If one slice is enough, it is taken at once; otherwise other decisions wait until it is taken.
   * Must be called in turn (`inTurn`).
   */
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
    // Versions that are noted for the answer stay readable until the answer has its own pin.
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

  /**
   * Makes the long decision undo its changes and fail with `error`. Returns the waiting decisions, which never run:
   * the caller must fail them.
   */
  giveUp(error: EngramError): readonly { fail(error: Error): void }[] {
    this.#long?.giveUp(error);
    return this.#queue.takeAll();
  }

  /** Fails the decisions that were requested at or before `untilMs`. Returns whether any other is under way or waits. */
  failUntil(untilMs: number, error: EngramError): boolean {
    if (this.#long !== undefined && this.#long.startMs <= untilMs) this.#long.timeOut(error);
    this.#queue.failUntil(untilMs, error);
    return this.#long !== undefined || this.#queue.oldestMs !== undefined;
  }
}
