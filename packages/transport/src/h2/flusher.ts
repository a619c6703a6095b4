import type { Clock, LoopWatch } from '@engram/core';
import { FLUSH_SLICE_MS, LONG_OUTPUT_TURN_MS } from './limits.ts';

/** An object that gathers bytes and sends them in `flush`. */
export interface Flushable {
  flush(): void;
}

/** The clock is read after this many writes. */
const flushesBetweenLooks = 16;

/**
 * Sends what all connections of a server have gathered, after the current code and the promises that it settles have
 * run. So the answers to one group commit leave in one write for each connection.
 *
 * Connections with answers to calls go first. A client that waits for an answer has its next request ready, and the log
 * could work on it while the events of a thousand watchers are written. Output that does not fit into the time of a
 * turn leaves in the next turn.
 */
export class Flusher {
  readonly #clock: Clock;
  readonly #watch: LoopWatch;
  #answering: Flushable[] = [];
  #others: Flushable[] = [];
  #scheduled = false;
  /** The time at which the first long output of this turn left; undefined if none has. */
  #longSinceMs: number | undefined;
  /** Long outputs that wait for the next turn, in their order. */
  #waiting = new Set<Flushable>();

  constructor(clock: Clock, watch: LoopWatch) {
    this.#clock = clock;
    this.#watch = watch;
  }

  /** To be called once for each output with bytes to send; a second time if an answer is added to output without answers. */
  add(output: Flushable, answers: boolean): void {
    if (!this.#scheduled) {
      this.#scheduled = true;
      process.nextTick(this.#flushAll);
    }
    (answers ? this.#answering : this.#others).push(output);
  }

  /**
   * Sends the next batch of an output that has more to send than one. A socket may take each batch at once, and then the next
   * would follow without end: 50 MB kept the event loop for 50 ms. So all outputs together have a limited time of each turn.
   * The rest leaves in the next turn, one output after another.
   */
  more(output: Flushable): void {
    const nowMs = this.#clock.nowMs();
    if (this.#longSinceMs === undefined) {
      this.#longSinceMs = nowMs;
      this.#clock.soon(this.#renew);
    } else if (nowMs - this.#longSinceMs >= LONG_OUTPUT_TURN_MS) {
      this.#waiting.add(output);
      return;
    }
    output.flush();
  }

  readonly #renew = (): void => {
    this.#longSinceMs = undefined;
    if (this.#waiting.size === 0) return;
    const waiting = this.#waiting;
    this.#waiting = new Set();
    for (const output of waiting) this.more(output);
  };

  readonly #flushAll = (): void => {
    this.#scheduled = false;
    const outputs = this.#answering.length === 0 ? this.#others : this.#answering.concat(this.#others);
    this.#answering = [];
    this.#others = [];
    // The usual case on a quiet node. The work of one output is bounded by the output itself.
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
