/** Time. A simulator's clock moves only when the simulator advances it. */
export interface Clock {
  /** Monotonic milliseconds from an arbitrary origin, for durations and deadlines. */
  nowMs(): number;
  /** Milliseconds since 1970, only for display. */
  wallMs(): number;
  /** Calls `fire` once, after at least `delayMs`. */
  after(delayMs: number, fire: () => void): Timer;
  /**
   * Calls `fire` in the next turn, after other waiting work has had its turn. For short work only: long work is a job of the
   * package loop, which bounds the time of all such work in a turn.
   */
  soon(fire: () => void): void;
  /** Calls `fire` when the running code and its microtasks are done, before any other waiting work. */
  endOfTurn(fire: () => void): void;
}

export interface Timer {
  /** `fire` is not called afterwards. May be called again, also after the timer has fired. */
  cancel(): void;
}

export interface Random {
  /** Uniform in [0, 2^32). */
  uint32(): number;
}

/** Structured logging. `fields` come first, as in pino. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
