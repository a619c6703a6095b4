/** Time as the store sees it. A simulator's clock moves only when told. */
export interface Clock {
  /** Monotonic milliseconds from an arbitrary origin: durations, deadlines. */
  nowMs(): number;
  /** Milliseconds since 1970: only for what people read. */
  wallMs(): number;
  /** Calls `fire` once, `delayMs` or later from now. */
  after(delayMs: number, fire: () => void): Timer;
  /** Calls `fire` as soon as other work that waits had its turn: long work lets others through with it. */
  soon(fire: () => void): void;
  /** Calls `fire` when all that the running code leads to without waiting has run, before anything else that waits. */
  endOfTurn(fire: () => void): void;
}

export interface Timer {
  /** After it `fire` is not called any more. May be called again, and after the timer has fired. */
  cancel(): void;
}

export interface Random {
  /** Uniform in [0, 2^32). */
  uint32(): number;
}

/** Structured logging: `fields` first, as pino has it. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
