/**
 * The time that all slices of one turn of the event loop may take. One slice more is possible (`SLICE_US` of core), and the
 * same turn may take 6 ms for frames and writing: all of it together must stay below 10 ms.
 */
export const TURN_MAX_MS = 2;
/** The most callbacks that are requested from the event loop at a time. */
const ASKED_MAX = 1024;

/**
 * Long work that waits for its next slice, in order. `setImmediate` alone runs all waiting callbacks in one turn: a hundred
 * lists that are made together would take a hundred slices before the sockets are read. Here a turn ends after
 * TURN_MAX_MS, and the rest runs in the next one. Cancelled work takes no time, so it does not wait for long.
 *
 * Each slice has its own callback, so that promises and `process.nextTick` run between two of them.
 */
export class TurnLine {
  readonly #nowMs: () => number;
  readonly #immediate: (run: (turn: number) => void, turn: number) => void;
  #waiting: (() => void)[] = [];
  /** Callbacks before this index have had their slice. */
  #first = 0;
  /** Callbacks that were requested from the event loop and have not run. */
  #asked = 0;
  /**
   * Counts turns in which a callback ran. A callback that is requested between the first callback of one turn and that
   * of the next runs in the next. So a callback that was requested in the current turn is the first of a new one.
   */
  #turn = 0;
  #untilMs = 0;
  /** The time of this turn is up: no callback gets a slice before `#renew`. */
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
    // Requests a callback for work beyond ASKED_MAX.
    if (this.#length > this.#asked) this.#ask();
    fire();
  };

  /** Runs in the turn after one that was too long. Callbacks requested here run in the turn after this one. */
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
