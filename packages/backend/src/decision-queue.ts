import { assert, type Clock, Slice } from '@engram/core';

/** What taking a decision costs at least, in microseconds. */
const DECISION_US = 10;

interface Waiting {
  readonly bytes: number;
  readonly startMs: number;
  decide(): void;
  fail(error: Error): void;
}

/**
 * Who decides when: one after the other, in the order in which they ask. Nearly always a decision is taken in the call
 * that asks for it. While one is taken in slices (`hold`) all others wait here, and so they do where those of one turn have
 * taken as long as a slice may; then they follow, in slices too.
 */
export class DecisionQueue {
  readonly #clock: Clock;
  /** Of what is decided in this turn. */
  readonly #slice: Slice;
  #held = false;
  /** The start of the one that is taken out of the queue in this call. */
  #decidingSinceMs: number | undefined;
  /** From `#first` on. */
  #waiting: Waiting[] = [];
  #first = 0;
  #waitingBytes = 0;
  /** Others have their turn; then the slice is renewed, and those who wait decide. */
  #turning = false;
  #idle: (() => void)[] = [];

  constructor(clock: Clock, sliceUs: number | undefined) {
    this.#clock = clock;
    this.#slice = new Slice(sliceUs);
  }

  /** Whoever asks now decides at once. */
  get free(): boolean {
    if (this.#held) return false;
    return this.#decidingSinceMs !== undefined || (this.#waiting.length === 0 && !this.#slice.spent);
  }

  /** What those who wait keep in memory. */
  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  /** When the one that decides in this call asked to; undefined: it asks now. */
  get decidingSinceMs(): number | undefined {
    return this.#decidingSinceMs;
  }

  /** Calls `decide` when it is its turn: within the call where that is now. `bytes`: what it keeps in memory meanwhile. */
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

  /** A decision has taken so long in this turn. */
  spend(us: number): void {
    this.#slice.spend(us);
    this.#nextTurn();
  }

  /** The decision that is being taken goes on in later turns; until `release` nobody else decides. */
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

  /** When the one asked that waits longest; undefined: nobody waits. */
  get oldestMs(): number | undefined {
    return this.#waiting[this.#first]?.startMs;
  }

  /** Those that have waited since `startMs` or longer give up. Nothing of what they wanted has happened or will. */
  failUntil(startMs: number, error: Error): void {
    for (let oldest = this.oldestMs; oldest !== undefined && oldest <= startMs; oldest = this.oldestMs) {
      this.#take().fail(error);
    }
    if (!this.#held && this.#waiting.length === 0) this.#wakeIdle();
  }

  /** They never decide: whoever takes them lets them fail. */
  takeAll(): readonly { fail(error: Error): void }[] {
    const all = this.#waiting.slice(this.#first);
    this.#waiting = [];
    this.#first = 0;
    this.#waitingBytes = 0;
    if (!this.#held) this.#wakeIdle();
    return all;
  }

  /** Resolves when nothing is being decided and nobody waits for it. */
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
