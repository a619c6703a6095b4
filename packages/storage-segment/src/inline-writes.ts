/** What the disk takes in one go. */
const BYTES_MAX = 16 << 10;
/** A disk that is slower than this, on average, never holds up the process. */
const FAST_MS = 0.5;
/** How much the newest write counts in the average. */
const WEIGHT = 1 / 8;

/**
 * Says which appends are written at once, in the turn of the event loop in which they come, instead of by another thread.
 * Waking that thread and being woken by it costs as much CPU as the write, and takes long where other programs want the
 * processor; but until the disk has answered, nothing else goes on here. So only small appends are, on a disk that has
 * been fast, and only when the process has waited for something to do since the append before: where clients keep it
 * busy, they are served while the disk works.
 */
export class InlineWrites {
  readonly #idleMs: () => number;
  #idleSeenMs: number;
  // The first writes show how fast the disk is.
  #averageMs = 2 * FAST_MS;

  /** `idleMs`: for how long the process has had nothing to do, since it began. */
  constructor(idleMs: () => number) {
    this.#idleMs = idleMs;
    this.#idleSeenMs = idleMs();
  }

  /** Asked once before each append. */
  may(bytes: number): boolean {
    const idleMs = this.#idleMs();
    const idled = idleMs > this.#idleSeenMs;
    this.#idleSeenMs = idleMs;
    return idled && bytes <= BYTES_MAX && this.#averageMs < FAST_MS;
  }

  /** How long an append of so many bytes took, however it was written. */
  took(bytes: number, tookMs: number): void {
    if (bytes <= BYTES_MAX) this.#averageMs += (tookMs - this.#averageMs) * WEIGHT;
  }
}
