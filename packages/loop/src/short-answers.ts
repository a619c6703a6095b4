import {
  JOBS_BESIDE_MS,
  JOBS_TURN_MS,
  LONG_OUTPUT_BESIDE_MS,
  LONG_OUTPUT_TURN_MS,
  SLICE_BESIDE_MS,
  SLICE_MS,
  TURN_BESIDE_MS,
  TURN_MS,
} from './turn-parts.ts';

/** What long work has of a turn. */
export interface LongWorkParts {
  readonly outputMs: number;
  readonly jobsMs: number;
  readonly sliceMs: number;
  /** What all of it may take, with its input. */
  readonly turnMs: number;
}

const alone: LongWorkParts = {
  outputMs: LONG_OUTPUT_TURN_MS,
  jobsMs: JOBS_TURN_MS,
  sliceMs: SLICE_MS,
  turnMs: TURN_MS,
};
const beside: LongWorkParts = {
  outputMs: LONG_OUTPUT_BESIDE_MS,
  jobsMs: JOBS_BESIDE_MS,
  sliceMs: SLICE_BESIDE_MS,
  turnMs: TURN_BESIDE_MS,
};

/** After this many turns with long work and without a short answer, long work is alone: some 100 ms. */
const TURNS_REMEMBERED = 64;

/**
 * Whether clients wait for short answers, in which case long work has less of a turn. Known from the answers of the last
 * turns: who has just had a short answer asks again.
 */
export class ShortAnswers {
  #turnsLeft = 0;

  /** A short answer leaves. */
  seen(): void {
    this.#turnsLeft = TURNS_REMEMBERED;
  }

  /** A turn begins that has long work. */
  turn(): void {
    if (this.#turnsLeft > 0) this.#turnsLeft -= 1;
  }

  /** Clients wait for short answers. */
  get awaited(): boolean {
    return this.#turnsLeft > 0;
  }

  /** For the work that begins now. */
  get parts(): LongWorkParts {
    return this.awaited ? beside : alone;
  }
}
