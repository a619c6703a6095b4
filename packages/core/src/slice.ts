import { nextTurn } from './next-turn.ts';
import type { Clock } from './ports.ts';

/** How long one slice of long work takes, unless stated otherwise. The whole event loop has 10 ms for a turn. */
export const SLICE_US = 2000;

const US_MIN = 0.001;
const STEP_US = 0.5;

/**
 * Cuts long work into slices, so that a request waits for one slice and not for all of them. The work reports what it
 * has done, in microseconds as measured on slow memory. A slice reads no clock, so a simulation cuts the same work at the
 * same places every time. All parts of one piece of work share one slice.
 */
export class Slice {
  readonly #us: number;
  #leftUs: number;

  /** With 0 or less, each step is a slice. */
  constructor(us: number = SLICE_US) {
    this.#us = Math.max(us, US_MIN);
    this.#leftUs = this.#us;
  }

  /** Whether the slice is used up. */
  get spent(): boolean {
    return this.#leftUs <= 0;
  }

  /** Microseconds of work since the slice began. */
  get usedUs(): number {
    return this.#us - this.#leftUs;
  }

  /** Counts work that was done. True if the slice is used up: other work must then have its turn before this work continues. */
  spend(us: number): boolean {
    this.#leftUs -= us;
    return this.#leftUs <= 0;
  }

  /** For work that counts in steps (`Turn` of the package loop): about half a microsecond each. */
  shouldYield(steps = 1): boolean {
    return this.spend(steps * STEP_US);
  }

  /** Call it after other work has had its turn. */
  renew(): void {
    this.#leftUs = this.#us;
  }

  /** Resolves after other work has had its turn, with the slice renewed. Rejects if `signal` has aborted by then. */
  async turn(clock: Clock, signal?: AbortSignal): Promise<void> {
    await nextTurn(clock);
    signal?.throwIfAborted();
    this.renew();
  }
}

/** Work that yields when its slice is used up, and is resumed when the slice is renewed. */
export type SlicedWork<Result> = Generator<undefined, Result, undefined>;

/**
 * Does the work. Returns synchronously if one slice is enough. Otherwise awaits `turn` after each slice, which must
 * renew the slice. If `turn` rejects, the work ends there, and its `finally` blocks run.
 */
export function doSliced<Result>(work: SlicedWork<Result>, turn: () => Promise<void>): Result | Promise<Result> {
  const first = work.next();
  return first.done === true ? first.value : goOn(work, turn);
}

/** Does the work without giving way, however long it takes. For callers that no other work waits for. */
export function doAtOnce<Result>(work: SlicedWork<Result>): Result {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

async function goOn<Result>(work: SlicedWork<Result>, turn: () => Promise<void>): Promise<Result> {
  let done = false;
  try {
    for (;;) {
      await turn();
      const step = work.next();
      if (step.done !== true) continue;
      done = true;
      return step.value;
    }
  } finally {
    // No effect if the work has returned or thrown.
    if (!done) work.return(undefined as never);
  }
}
