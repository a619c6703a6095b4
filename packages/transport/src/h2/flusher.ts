import type { Clock, LoopWatch } from '@engram/core';
import { FLUSH_SLICE_MS } from './limits.ts';

/** What has gathered bytes and sends them when told. */
export interface Flushable {
  flush(): void;
}

/** The clock is asked after so many writes. */
const flushesBetweenLooks = 16;

/**
 * Sends what all connections of a server have gathered, once the code that runs now and the promises that it settles
 * are through: the answers to one group commit leave in one write for each connection.
 *
 * Connections with answers to calls go first. Who waits for an answer has his next request ready, and the log could be
 * working on it while the events of a thousand watchers are written. What a turn has no time for leaves in the next.
 */
export class Flusher {
  readonly #clock: Clock;
  readonly #watch: LoopWatch;
  #answering: Flushable[] = [];
  #others: Flushable[] = [];
  #scheduled = false;

  constructor(clock: Clock, watch: LoopWatch) {
    this.#clock = clock;
    this.#watch = watch;
  }

  /** Once for each that has something to send; a second time where an answer joins what is no answer. */
  add(output: Flushable, answers: boolean): void {
    if (!this.#scheduled) {
      this.#scheduled = true;
      process.nextTick(this.#flushAll);
    }
    (answers ? this.#answering : this.#others).push(output);
  }

  readonly #flushAll = (): void => {
    this.#scheduled = false;
    const outputs = this.#answering.length === 0 ? this.#others : this.#answering.concat(this.#others);
    this.#answering = [];
    this.#others = [];
    // The usual case on a quiet node: what one may write is bounded by itself.
    if (outputs.length === 1) outputs[0]!.flush();
    else this.#flush(outputs, 0);
  };

  #flush(outputs: readonly Flushable[], from: number): void {
    const startMs = this.#clock.nowMs();
    for (let at = from; at < outputs.length; at += 1) {
      outputs[at]!.flush();
      if ((at + 1) % flushesBetweenLooks !== 0 || this.#clock.nowMs() - startMs < FLUSH_SLICE_MS) continue;
      this.#clock.soon(() => this.#flush(outputs, at + 1));
      break;
    }
    const ms = this.#clock.nowMs() - startMs;
    if (ms > this.#watch.budgetMs) this.#watch.stretched('send', ms);
  }
}
