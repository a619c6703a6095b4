import type { Clock, Random } from '@engram/core';
import type { Turn } from './turn.ts';
import { SLICE_MS } from './turn-parts.ts';

/** Says when a slice ends: `shouldYield` is true from then on, until the next `begin`. */
export interface Pace extends Turn {
  /** A slice counts as at least this long. In a simulation, where no time passes in a slice, all of them do. */
  readonly sliceMinMs: number;
  /**
   * A slice begins. `nowMs` is the time, if it has just been read. By a pace that measures, the slice ends after `sliceMs`: SLICE_MS
   * if it is not given.
   */
  begin(nowMs?: number, sliceMs?: number): void;
}

/** Steps between two readings of the clock: a reading costs about 0.1 microseconds. */
const STRIDE_FIRST = 32;
const STRIDE_MAX = 512;
/** The clock is read more or less often, so that this part of a slice passes between two readings. */
const LOOKS = 32;

/** Slices by a monotonic clock. Work of fewer steps than STRIDE_FIRST never reads it. */
export class MeasuredPace implements Pace {
  readonly sliceMinMs = 0.01;
  readonly #clock: Pick<Clock, 'nowMs'>;
  #stride = STRIDE_FIRST;
  /** Steps until the clock is read. */
  #left = STRIDE_FIRST;
  #over = false;
  /** The last reading; a negative number before the first one of the slice. */
  #lookMs = -1;
  #endMs = 0;
  #sliceMs = SLICE_MS;

  constructor(clock: Pick<Clock, 'nowMs'>) {
    this.#clock = clock;
  }

  begin(nowMs = -1, sliceMs = SLICE_MS): void {
    this.#over = false;
    this.#sliceMs = sliceMs;
    this.#stride = STRIDE_FIRST;
    this.#left = STRIDE_FIRST;
    this.#lookMs = nowMs;
    this.#endMs = nowMs + sliceMs;
  }

  shouldYield(steps = 1): boolean {
    this.#left -= steps;
    return this.#left > 0 || this.#over ? this.#over : this.#look(steps);
  }

  #look(steps: number): boolean {
    const nowMs = this.#clock.nowMs();
    if (this.#lookMs < 0) {
      this.#endMs = nowMs + this.#sliceMs;
    } else {
      const tookMs = nowMs - this.#lookMs;
      const lookMs = this.#sliceMs / LOOKS;
      // A question about many steps says little about the time of few.
      if (tookMs > 2 * lookMs) this.#stride = Math.max(1, Math.floor(this.#stride / 4));
      else if (tookMs < lookMs / 2 && steps <= this.#stride) this.#stride = Math.min(STRIDE_MAX, 2 * this.#stride);
      this.#over = nowMs >= this.#endMs;
    }
    this.#lookMs = nowMs;
    this.#left = this.#stride;
    return this.#over;
  }
}

/** Slices of so many steps: of none, with 0, where each question ends one. */
export class StepPace implements Pace {
  readonly sliceMinMs = SLICE_MS;
  readonly #steps: number;
  #left: number;

  constructor(steps: number) {
    this.#steps = steps;
    this.#left = steps;
  }

  begin(): void {
    this.#left = this.#steps;
  }

  shouldYield(steps = 1): boolean {
    this.#left -= steps;
    return this.#left <= 0;
  }
}

/** The longest slice of most, in steps: 2 ** STEPS_LOG2. */
const STEPS_LOG2 = 8;

/**
 * Slices whose lengths come from a seed, for simulations: most have 1 to 2 ** STEPS_LOG2 steps, one in eight none, one in
 * sixteen does not end. Long work is then cut at places where a machine would hardly ever cut it.
 */
export class SeededPace implements Pace {
  readonly sliceMinMs = SLICE_MS;
  readonly #random: Random;
  #left = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  begin(): void {
    const drawn = this.#random.uint32();
    const kind = drawn % 16;
    if (kind < 2) this.#left = 0;
    else if (kind === 2) this.#left = Number.POSITIVE_INFINITY;
    else this.#left = 2 ** ((drawn >>> 4) % (STEPS_LOG2 + 1));
  }

  shouldYield(steps = 1): boolean {
    this.#left -= steps;
    return this.#left <= 0;
  }
}
