/** What may be done in one turn of the event loop, all together. One slice more is possible (`SLICE_US` of core). */
export const TURN_MAX_MS = 4;
/** Calls that the event loop is asked for at a time, where many wait. */
const ASKED_MAX = 1024;

/**
 * Long work that waits for its next slice, in order. `setImmediate` alone runs all that waits in one turn: a hundred lists
 * that are worked off together would take a hundred slices before anybody looks at the sockets. Here a turn ends after
 * TURN_MAX_MS, and the rest has the next one. What was cancelled needs no time, so it does not wait for long.
 *
 * Each slice has a callback of its own, so that promises and `process.nextTick` are worked off between two of them.
 */
export class TurnLine {
  readonly #nowMs: () => number;
  readonly #immediate: (run: (turn: number) => void, turn: number) => void;
  #waiting: (() => void)[] = [];
  /** Those before it have had their slice. */
  #first = 0;
  /** Callbacks that the event loop was asked for and that have not come. */
  #asked = 0;
  /**
   * Counts turns in which a callback came. Whatever is asked for between the first callback of one turn and that of the
   * next comes in the next: so a callback that was asked for in the turn that is counted now is the first of a new one.
   */
  #turn = 0;
  #untilMs = 0;
  /** The time of this turn is up: nobody has a slice before `#renew`. */
  #over = false;

  /** `immediate` is setImmediate. */
  constructor(nowMs: () => number, immediate: (run: (turn: number) => void, turn: number) => void) {
    this.#nowMs = nowMs;
    this.#immediate = immediate;
  }

  push(fire: () => void): void {
    this.#waiting.push(fire);
    if (!this.#over && this.#asked < ASKED_MAX) this.#ask();
  }

  get #length(): number {
    return this.#waiting.length - this.#first;
  }

  #ask(): void {
    this.#asked += 1;
    this.#immediate(this.#run, this.#turn);
  }

  readonly #run = (turn: number): void => {
    this.#asked -= 1;
    if (this.#over) return;
    if (!this.#begins(turn) && this.#nowMs() >= this.#untilMs) {
      this.#over = true;
      this.#immediate(this.#renew, this.#turn);
      return;
    }
    const fire = this.#take();
    // Whoever waits beyond ASKED_MAX.
    if (this.#length > this.#asked) this.#ask();
    fire();
  };

  /** The turn after one that was too long. What is asked for here comes in the one behind it. */
  readonly #renew = (turn: number): void => {
    this.#over = false;
    this.#begins(turn);
    while (this.#asked < Math.min(this.#length, ASKED_MAX)) this.#ask();
  };

  /** Whether this is the first callback of a turn. */
  #begins(turn: number): boolean {
    if (turn !== this.#turn) return false;
    this.#turn += 1;
    this.#untilMs = this.#nowMs() + TURN_MAX_MS;
    return true;
  }

  #take(): () => void {
    const fire = this.#waiting[this.#first]!;
    this.#first += 1;
    if (this.#first === this.#waiting.length) {
      this.#waiting = [];
      this.#first = 0;
    } else if (this.#first >= ASKED_MAX && 2 * this.#first >= this.#waiting.length) {
      this.#waiting.splice(0, this.#first);
      this.#first = 0;
    }
    return fire;
  }
}
