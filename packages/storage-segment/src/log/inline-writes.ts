/** The most bytes that a disk takes in one go. */
const BYTES_MAX = 16 << 10;
/** A disk slower than this on average never blocks the process. */
const FAST_MS = 0.5;
/** If an inline append takes this long, the next ones may as well: none is inline for DISTRUST_MS. */
const STALL_MS = 5;
const DISTRUST_MS = 60_000;
/** The weight of the newest write in the average. */
const WEIGHT = 1 / 8;

/**
 * Decides which appends are written inline, in their own turn of the event loop, instead of by another thread. Waking
 * that thread and being woken by it costs as much CPU as the write, and takes long if other programs need the
 * processor. But nothing else runs in this process while an inline write waits for the disk. So only small appends are
 * written inline, on a disk that was fast and has not stalled lately, and only if the process was idle since the last append. While
 * clients keep the process busy, it serves them during the write.
 */
export class InlineWrites {
  readonly #idleMs: () => number;
  #idleSeenMs: number;
  // The first writes show how fast the disk is.
  #averageMs = 2 * FAST_MS;
  #trustedFromMs = Number.NEGATIVE_INFINITY;

  /** `idleMs` is how long the process has been idle since it began. */
  constructor(idleMs: () => number) {
    this.#idleMs = idleMs;
    this.#idleSeenMs = idleMs();
  }

  /** Call it once before each append. */
  may(bytes: number, nowMs: number): boolean {
    const idleMs = this.#idleMs();
    const idled = idleMs > this.#idleSeenMs;
    this.#idleSeenMs = idleMs;
    return idled && bytes <= BYTES_MAX && this.#averageMs < FAST_MS && nowMs >= this.#trustedFromMs;
  }

  /** Reports how long an append took, however it was written. */
  took(bytes: number, tookMs: number): void {
    if (bytes <= BYTES_MAX) this.#averageMs += (tookMs - this.#averageMs) * WEIGHT;
  }

  /** Reports how long an inline append has blocked the process, until `nowMs`. The time of other appends includes their wait for the event loop. */
  blocked(tookMs: number, nowMs: number): void {
    if (tookMs >= STALL_MS) this.#trustedFromMs = nowMs + DISTRUST_MS;
  }
}
