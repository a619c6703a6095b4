import type { Clock } from '@engram/core';
import type { LoopWatch, TransportShare } from '@engram/loop';

/** An object that gathers bytes and sends them in `flush`. What is long of it is not in it: see `more`. */
export interface Flushable {
  flush(): void;
}

/** An object that has more to send than one batch. */
export interface LongOutput {
  /** Answers of which it has more to send, and that take turns in its batches. */
  readonly takingTurns: number;
  /** Sends one batch. */
  flushLong(): void;
}

/**
 * An output in which so many answers take turns rests between its batches while other clients wait for short answers (`longRestMs`).
 * One list or snapshot does not: its client waits for it, where a client with many waits for the last of them.
 */
export const RESTING_FROM_ANSWERS = 8;

/** The clock is read after this many writes. Each may carry out the first slice of an answer that is a job. */
const flushesBetweenLooks = 4;

/**
 * Sends what all connections of a server have gathered, after the current code and the promises that it settles have
 * run. So the answers to one group commit leave in one write for each connection.
 *
 * Connections with answers to calls go first. A client that waits for an answer has its next request ready, and the log
 * could work on it while the events of a thousand watchers are written. Output that does not fit into the time of a
 * turn (`TransportShare`) leaves in the next turn.
 */
export class Flusher {
  readonly #clock: Clock;
  readonly #turn: TransportShare;
  readonly #watch: LoopWatch;
  #answering: Flushable[] = [];
  #others: Flushable[] = [];
  #scheduled = false;
  /** Long outputs that wait for a later turn. */
  readonly #long = new Set<LongOutput>();
  /** Those of them that rest first. Each frame of their clients brings a call of `more`, which cuts no rest short. */
  readonly #resting = new Set<LongOutput>();

  constructor(clock: Clock, turn: TransportShare, watch: LoopWatch) {
    this.#clock = clock;
    this.#turn = turn;
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

  /** A short answer is written, in whatever call. */
  answers(): void {
    this.#turn.shortAnswers.seen();
  }

  /**
   * Sends the next batch of an output that has more to send than one. A socket may take each batch at once, and then the next
   * would follow without end: 50 MB kept the event loop for 50 ms. So all outputs together have a limited time of each turn.
   * The rest leaves in the next turn, one output after another, or after a rest if there are many answers in the output.
   */
  more(output: LongOutput): void {
    if (this.#resting.has(output)) return;
    if (!this.#turn.longSpent) this.#writeLong(output);
    else if (!this.#long.has(output)) {
      this.#long.add(output);
      const restMs = output.takingTurns < RESTING_FROM_ANSWERS ? 0 : this.#turn.longRestMs;
      if (restMs === 0) this.#waitInLine(output);
      else {
        this.#resting.add(output);
        this.#clock.after(restMs, () => this.#waitInLine(output));
      }
    }
  }

  /** For a turn that has time left for long output. */
  #waitInLine(output: LongOutput): void {
    this.#turn.waitForWriting(() => {
      if (this.#turn.longSpent) this.#waitInLine(output);
      else {
        this.#long.delete(output);
        this.#resting.delete(output);
        this.#writeLong(output);
      }
    });
  }

  #writeLong(output: LongOutput): void {
    const startMs = this.#clock.nowMs();
    output.flushLong();
    this.#turn.spendOnLong(this.#clock.nowMs() - startMs);
  }

  readonly #flushAll = (): void => {
    this.#scheduled = false;
    const outputs = this.#answering.length === 0 ? this.#others : this.#answering.concat(this.#others);
    this.#answering = [];
    this.#others = [];
    if (this.#turn.writeMs > 0) this.#flush(outputs, 0);
    else this.#turn.waitForWriting(() => this.#flush(outputs, 0));
  };

  /** The turn has time left for writing. The work of one output is bounded by the output itself. */
  #flush(outputs: readonly Flushable[], from: number): void {
    const startMs = this.#clock.nowMs();
    const endMs = startMs + this.#turn.writeMs;
    let at = from;
    do {
      outputs[at]!.flush();
      at += 1;
    } while (at < outputs.length && ((at - from) % flushesBetweenLooks !== 0 || this.#clock.nowMs() < endMs));
    const ms = this.#clock.nowMs() - startMs;
    this.#turn.spendOnWriting(ms);
    if (at < outputs.length) this.#turn.waitForWriting(() => this.#flush(outputs, at));
    if (ms > this.#watch.budgetMs) this.#watch.stretched('send', ms);
  }
}
