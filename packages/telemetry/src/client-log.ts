import type { Clock, Logger } from '@engram/core';

/** Lines with the same message that are written in a second. Further lines are counted. */
const LINES_PER_SECOND = 10;
const SECOND_MS = 1000;
/** Longest field value in a line: clients choose these values. */
const TEXT_MAX_LENGTH = 1024;

interface Written {
  sinceMs: number;
  lines: number;
  omitted: number;
}

/**
 * A logger for events that clients cause. A message is written at most ten times a second, and the next line then has
 * the number of omitted lines.
 */
export class ClientLog implements Logger {
  readonly #logger: Logger;
  readonly #clock: Clock;
  /** By message. The number of messages is bounded, because they are constants in the code. */
  readonly #written = new Map<string, Written>();

  constructor(logger: Logger, clock: Clock) {
    this.#logger = logger;
    this.#clock = clock;
  }

  debug(fields: object, message: string): void {
    const bounded = this.#bounded(fields, message);
    if (bounded !== undefined) this.#logger.debug(bounded, message);
  }

  info(fields: object, message: string): void {
    const bounded = this.#bounded(fields, message);
    if (bounded !== undefined) this.#logger.info(bounded, message);
  }

  warn(fields: object, message: string): void {
    const bounded = this.#bounded(fields, message);
    if (bounded !== undefined) this.#logger.warn(bounded, message);
  }

  error(fields: object, message: string): void {
    const bounded = this.#bounded(fields, message);
    if (bounded !== undefined) this.#logger.error(bounded, message);
  }

  #bounded(fields: object, message: string): object | undefined {
    const nowMs = this.#clock.nowMs();
    let written = this.#written.get(message);
    if (written === undefined) {
      written = { sinceMs: nowMs, lines: 0, omitted: 0 };
      this.#written.set(message, written);
    }
    if (nowMs - written.sinceMs >= SECOND_MS) {
      written.sinceMs = nowMs;
      written.lines = 0;
    }
    if (written.lines === LINES_PER_SECOND) {
      written.omitted += 1;
      return undefined;
    }
    written.lines += 1;
    const { omitted } = written;
    written.omitted = 0;
    const short = Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, cut(value)]));
    return omitted === 0 ? short : { ...short, omitted };
  }
}

function cut(value: unknown): unknown {
  if (typeof value !== 'string' || value.length <= TEXT_MAX_LENGTH) return value;
  return `${value.slice(0, TEXT_MAX_LENGTH)}...`;
}
