import { nextTurn } from './next-turn.ts';
import type { Clock } from './ports.ts';

/** What one slice of long work takes where nobody has said otherwise. The whole event loop has 10 ms for a turn. */
export const SLICE_US = 2000;

/**
 * Measures long work out into slices, so that a request that comes meanwhile waits for one slice and not for all. The
 * work tells what it has done, in microseconds as they are on slow memory. No clock is read, so a simulation cuts the
 * same work at the same places each time. All parts of one piece of work share one slice.
 */
export class Slice {
  readonly #us: number;
  #leftUs: number;

  constructor(us: number = SLICE_US) {
    this.#us = us;
    this.#leftUs = us;
  }

  /** The slice is used up. */
  get spent(): boolean {
    return this.#leftUs <= 0;
  }

  /** Counts work that was done. True: the slice is used up, and others are to have their turn before the work goes on. */
  spend(us: number): boolean {
    this.#leftUs -= us;
    return this.#leftUs <= 0;
  }

  /** Others had their turn. */
  renew(): void {
    this.#leftUs = this.#us;
  }

  /** Resolves once others had their turn, with the slice renewed. Rejects where `signal` has aborted by then. */
  async turn(clock: Clock, signal?: AbortSignal): Promise<void> {
    await nextTurn(clock);
    signal?.throwIfAborted();
    this.renew();
  }
}

/** Work that yields wherever its slice is used up, and may be resumed once that is renewed. */
export type SlicedWork<Result> = Generator<undefined, Result, undefined>;

/**
 * Does the work, within this call where one slice is enough for it; otherwise `turn` is awaited after each slice, and
 * renews it. Where `turn` rejects the work ends there, its `finally` blocks run.
 */
export function doSliced<Result>(work: SlicedWork<Result>, turn: () => Promise<void>): Result | Promise<Result> {
  const first = work.next();
  return first.done === true ? first.value : goOn(work, turn);
}

/** Does the work without giving way, however long it is: where nobody waits. */
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
    // Nothing where the work has ended by itself, or by throwing.
    if (!done) work.return(undefined as never);
  }
}
