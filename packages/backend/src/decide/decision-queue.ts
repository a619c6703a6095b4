import { assert, type Clock, Slice } from '@engram/core';

/** Minimum cost of a decision, in microseconds. */
const DECISION_US = 10;

interface Waiting {
  readonly bytes: number;
  readonly startMs: number;
  decide(): void;
  fail(error: Error): void;
}

/**
 * The order of decisions: one after the other, as they are requested. Nearly always a decision is taken in the call
 * that requests it. Decisions wait here while one is taken in slices (`hold`), and when the decisions of one turn
 * have used up the slice. Waiting decisions follow in later turns, in slices too.
 */
export class DecisionQueue {
  readonly #clock: Clock;
  /** The slice for all decisions of this turn. */
  readonly #slice: Slice;
  #held = false;
  /** When the waiting decision that runs in this call was requested. */
  #decidingSinceMs: number | undefined;
  /** Decisions from `#first` on wait; those before it were taken out. */
  #waiting: Waiting[] = [];
  #first = 0;
  #waitingBytes = 0;
  /** A later turn is scheduled, which renews the slice and runs waiting decisions. */
  #turning = false;
  #idle: (() => void)[] = [];

  constructor(clock: Clock, sliceUs: number | undefined) {
    this.#clock = clock;
    this.#slice = new Slice(sliceUs);
  }

  /** A decision that is requested now is taken at once. */
  get free(): boolean {
    if (this.#held) return false;
    return this.#decidingSinceMs !== undefined || (this.#waiting.length === 0 && !this.#slice.spent);
  }

  /** Bytes that waiting decisions keep in memory. */
  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  /** When the decision that runs in this call was requested. Undefined if it did not wait. */
  get decidingSinceMs(): number | undefined {
    return this.#decidingSinceMs;
  }

  /**
   * Calls `decide` in its turn, within this call if the queue is free. `bytes` is what it keeps in memory while it
   * waits.
   */
  inTurn<Result>(bytes: number, decide: () => Result | Promise<Result>): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      const run = (): void => {
        try {
          resolve(decide());
        } catch (error) {
          reject(error);
        }
      };
      if (this.free) {
        run();
        return;
      }
      this.#waiting.push({ bytes, startMs: this.#clock.nowMs(), decide: run, fail: reject });
      this.#waitingBytes += bytes;
      if (!this.#held) this.#nextTurn();
    });
  }

  /** Counts the microseconds that a decision has taken in this turn. */
  spend(us: number): void {
    this.#slice.spend(us);
    this.#nextTurn();
  }

  /** The current decision continues in later turns. Until `release` no other decision runs. */
  hold(): void {
    assert(!this.#held, 'two decisions at a time');
    this.#held = true;
  }

  release(): void {
    assert(this.#held, 'a decision that was not held has ended');
    this.#held = false;
    if (this.#waiting.length > 0) this.#nextTurn();
    else this.#wakeIdle();
  }

  /** When the oldest waiting decision was requested. Undefined if none waits. */
  get oldestMs(): number | undefined {
    return this.#waiting[this.#first]?.startMs;
  }

  /** Fails the decisions that have waited since `startMs` or longer. They never run. */
  failUntil(startMs: number, error: Error): void {
    for (let oldest = this.oldestMs; oldest !== undefined && oldest <= startMs; oldest = this.oldestMs) {
      this.#take().fail(error);
    }
    if (!this.#held && this.#waiting.length === 0) this.#wakeIdle();
  }

  /** Removes all waiting decisions. They never run: the caller must fail them. */
  takeAll(): readonly { fail(error: Error): void }[] {
    const all = this.#waiting.slice(this.#first);
    this.#waiting = [];
    this.#first = 0;
    this.#waitingBytes = 0;
    if (!this.#held) this.#wakeIdle();
    return all;
  }

  /** Resolves when no decision is under way and none waits. */
  async idle(): Promise<void> {
    while (this.#held || this.#waiting.length > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  #nextTurn(): void {
    if (this.#turning) return;
    this.#turning = true;
    this.#clock.soon(() => {
      this.#turning = false;
      this.#slice.renew();
      this.#drain();
    });
  }

  #drain(): void {
    while (!this.#held && this.#waiting.length > 0 && !this.#slice.spent) {
      const next = this.#take();
      this.#decidingSinceMs = next.startMs;
      try {
        next.decide();
      } finally {
        this.#decidingSinceMs = undefined;
      }
      this.#slice.spend(DECISION_US + next.bytes / 1024);
    }
    if (this.#held) return;
    if (this.#waiting.length > 0) this.#nextTurn();
    else this.#wakeIdle();
  }

  #take(): Waiting {
    const next = this.#waiting[this.#first];
    assert(next !== undefined, 'nobody waits to decide');
    this.#first += 1;
    this.#waitingBytes -= next.bytes;
    if (this.#first === this.#waiting.length) {
      this.#waiting = [];
      this.#first = 0;
    }
    return next;
  }

  #wakeIdle(): void {
    for (const resolve of this.#idle.splice(0)) resolve();
  }
}
