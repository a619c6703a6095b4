import type { Clock, EngramError, Slice } from '@engram/core';

/** A decision that is taken in slices, from its first turn to its end. */
export class LongDecision {
  /** When it was asked for. */
  readonly startMs: number;
  readonly #goesOn: boolean;
  #reason: EngramError | undefined;
  #told = false;
  #rejectAnswer: (error: EngramError) => void = () => {};
  #rejectRead: (error: EngramError) => void = () => {};

  /** `goesOn`: also when nobody waits for it any more. */
  constructor(startMs: number, goesOn: boolean) {
    this.startMs = startMs;
    this.#goesOn = goesOn;
  }

  /** The answer that will be there when the decision has taken effect, or the error of who did not wait for it. */
  answer<Answer>(answer: Promise<Answer>): Promise<Answer> {
    return new Promise<Answer>((resolve, reject) => {
      this.#rejectAnswer = reject;
      answer.then(resolve, reject);
    });
  }

  /** Waits for what the decision needs before its first change. Rejects as `turn` does, without waiting for storage. */
  read(reading: Promise<void>): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      this.#rejectRead = reject;
      reading.then(resolve, reject);
    });
  }

  /** Others have their turn. Rejects, once, with why it was given up: its changes are to be taken back then. */
  async turn(slice: Slice, clock: Clock): Promise<void> {
    await slice.turn(clock);
    if (this.#reason === undefined || this.#told) return;
    this.#told = true;
    throw this.#reason;
  }

  /** Nobody waits any longer. */
  timeOut(error: EngramError): void {
    if (this.#goesOn) this.#rejectAnswer(error);
    else this.giveUp(error);
  }

  /** For the first reason that there is. */
  giveUp(error: EngramError): void {
    this.#reason ??= error;
    this.#rejectRead(this.#reason);
  }
}
