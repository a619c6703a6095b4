import type { EngramError } from '@engram/core';
import type { Job } from '@engram/loop';

/** A decision that has given way, from there to its end. */
export class ParkedDecision {
  #reason: EngramError | undefined;
  /** The decision knows the reason. */
  #told = false;
  #rejectWait: ((error: EngramError) => void) | undefined;

  /**
   * Gives way, or waits for values, which the decision needs before its first change. If the decision was given up, returns the
   * reason as a failure, once, and does not wait for values: the decision must then undo its changes.
   */
  *wait(values: Promise<unknown> | undefined): Job<{ readonly cause: unknown } | undefined> {
    try {
      yield values && this.#unlessGivenUp(values);
    } catch (cause) {
      if (cause === this.#reason) this.#told = true;
      return { cause };
    }
    if (this.#reason === undefined || this.#told) return undefined;
    this.#told = true;
    return { cause: this.#reason };
  }

  #unlessGivenUp(values: Promise<unknown>): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#rejectWait = reject;
      values.then(resolve, reject);
    });
  }

  /** Only the first reason counts. */
  giveUp(reason: EngramError): void {
    this.#reason ??= reason;
    this.#rejectWait?.(this.#reason);
  }
}
