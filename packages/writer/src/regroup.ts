/** What the next append waits at most, of the time that the last one took. */
const WAIT_SHARE = 0.5;
const WAIT_MAX_MS = 4;
/** Timers count whole milliseconds. Where appends are faster than twice this, waiting does not pay. */
const WAIT_MIN_MS = 1;
/**
 * The share of the answered writers that must come back. Requests that arrive at a steady rate, whoever is answered, make
 * 1/2 after an append without a wait, and 1/3 after one that has waited: a wait is half as long as an append.
 */
const RETURNS_MIN = 0.6;
/** How much one wait counts for the average. */
const WEIGHT = 0.25;
/** Every so many appends one waits, to find out whether the writers come back now. */
const PROBE_EVERY = 16;

/**
 * How long an append waits for the writers that the one before has answered. Clients that wait for each answer write again
 * soon after it. Without a wait they fall into two halves: while the writes of one half are appended, those of the other
 * arrive, and all wait for two appends. With one, each append serves them all: half as many appends for the same writes,
 * and each client waits for one of them and a little more. If the writers do not come back within a wait, there is none.
 */
export class Regroup {
  #returns = 1;
  #sinceWait = 0;

  /** The wait before the next append, in milliseconds, after one that took `tookMs`. 0: none. */
  waitMs(tookMs: number): number {
    const waitMs = Math.min(WAIT_SHARE * tookMs, WAIT_MAX_MS);
    if (waitMs < WAIT_MIN_MS) return 0;
    this.#sinceWait += 1;
    if (this.#returns < RETURNS_MIN && this.#sinceWait < PROBE_EVERY) return 0;
    this.#sinceWait = 0;
    return waitMs;
  }

  /** `came` writes came during the wait after an append of `answered` writes. */
  waited(answered: number, came: number): void {
    this.#returns += WEIGHT * (Math.min(1, came / answered) - this.#returns);
  }
}
