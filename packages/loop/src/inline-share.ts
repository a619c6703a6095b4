import { INLINE_EVERY_MS, INLINE_MS_MAX } from './turn-parts.ts';

/**
 * The time for which reads of files may block the event loop, those of all jobs and frames together: INLINE_MS_MAX of every
 * INLINE_EVERY_MS. It is part of the time of what reads. Who comes when it is used up reads in another thread.
 */
export class InlineShare {
  /** What all reads have taken, and how many had to go elsewhere because the share was used up. */
  readonly usage = { ms: 0, refused: 0 };
  #spentMs = 0;
  #untilMs = Number.NEGATIVE_INFINITY;

  /** Whether a read may begin at `nowMs`. */
  mayBegin(nowMs: number): boolean {
    if (nowMs >= this.#untilMs) {
      this.#untilMs = nowMs + INLINE_EVERY_MS;
      this.#spentMs = 0;
    }
    if (this.#spentMs < INLINE_MS_MAX) return true;
    this.usage.refused += 1;
    return false;
  }

  spend(ms: number): void {
    this.#spentMs += ms;
    this.usage.ms += ms;
  }
}
