import type { Clock, EngramError, Slice } from '@engram/core';

/** A decision that is taken in slices, from its first turn to its end. */
export class LongDecision {
  /** When the decision was requested. */
  readonly startMs: number;
  readonly #goesOn: boolean;
  #reason: EngramError | undefined;
  #told = false;
  #rejectAnswer: (error: EngramError) => void = () => {};
  #rejectRead: (error: EngramError) => void = () => {};

  /** `goesOn`: the decision continues after its caller was answered Timeout. */
  constructor(startMs: number, goesOn: boolean) {
    this.startMs = startMs;
    this.#goesOn = goesOn;
  }

  /** Settles as `answer` does, unless `timeOut` rejects it before. */
  answer<Answer>(answer: Promise<Answer>): Promise<Answer> {
    return new Promise<Answer>((resolve, reject) => {
      this.#rejectAnswer = reject;
      answer.then(resolve, reject);
    });
  }

  /**
   * Waits for values that the decision needs before its first change. Rejects when the decision is given up, without
   * waiting for storage.
   */
  read(reading: Promise<void>): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      this.#rejectRead = reject;
      reading.then(resolve, reject);
    });
  }

  /**
   * Resolves after other requests had their turn. If the decision was given up, rejects once, with the reason: the
   * decision must then undo its changes.
   */
  async turn(slice: Slice, clock: Clock): Promise<void> {
    await slice.turn(clock);
    if (this.#reason === undefined || this.#told) return;
    this.#told = true;
    throw this.#reason;
  }

  /** The caller's time is over. If the decision goes on, only rejects its answer; otherwise gives the decision up. */
  timeOut(error: EngramError): void {
    if (this.#goesOn) this.#rejectAnswer(error);
    else this.giveUp(error);
  }

  /** Gives the decision up. Only the first reason counts. */
  giveUp(error: EngramError): void {
    this.#reason ??= error;
    this.#rejectRead(this.#reason);
  }
}
