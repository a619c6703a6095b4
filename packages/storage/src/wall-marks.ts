/**
 * The wall-clock marks of one log, in milliseconds since 1970: the time, or the mark before where the time has gone back. So the
 * marks of a log never go back, as long as each writer begins at the newest mark that its log has.
 */
export class WallMarks {
  readonly #time: () => number;
  #newest = 0;

  /** @param time milliseconds since 1970; may go back, and may be anything where no time is known. */
  constructor(time: () => number) {
    this.#time = time;
  }

  /** The newest mark of the log; 0 as long as none is known. */
  get newest(): number {
    return this.#newest;
  }

  /** The log has a batch with this mark. Later marks are not below it. */
  saw(wallMs: number): void {
    if (wallMs > this.#newest) this.#newest = wallMs;
  }

  /** The mark of the next batch. Never below one that was taken or seen before. */
  next(): number {
    const now = Math.floor(this.#time());
    if (Number.isSafeInteger(now) && now > this.#newest) this.#newest = now;
    return this.#newest;
  }
}
