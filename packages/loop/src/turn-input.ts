import type { Clock } from '@engram/core';

/**
 * How long the input of a turn of the event loop takes: frames and what answers them, and what the kernel and the runtime take for
 * each socket that is ready. The latter is in no part of a turn, and nothing can cut it, so the parts behind the input are shorter for it.
 */
export class TurnInput {
  readonly #clock: Pick<Clock, 'nowMs'>;
  readonly #idleMs: (() => number) | undefined;
  /** The loop waits between two turns, never in one: as long as it has not waited any more, a turn follows the one before at once. */
  #waitedMs = Number.NaN;
  #beganMs = 0;
  #tookMs = 0;

  /** `idleMs` is the time for which the event loop has waited so far. Without it input takes no time. */
  constructor(clock: Pick<Clock, 'nowMs'>, idleMs: (() => number) | undefined) {
    this.#clock = clock;
    this.#idleMs = idleMs;
  }

  get measured(): boolean {
    return this.#idleMs !== undefined;
  }

  /** What the input of this turn took. To be asked behind it. */
  get tookMs(): number {
    return this.#tookMs;
  }

  /** What the input of this turn has taken so far. To be asked within it. */
  soFarMs(nowMs = this.#clock.nowMs()): number {
    if (this.#idleMs === undefined) return 0;
    this.comes(nowMs);
    return nowMs - this.#beganMs;
  }

  /** Input comes. What came before the first call of a turn is not counted, if the loop has waited before it. */
  comes(nowMs?: number): void {
    const waitedMs = this.#idleMs?.();
    if (waitedMs === undefined || waitedMs === this.#waitedMs) return;
    this.#waitedMs = waitedMs;
    this.#beganMs = nowMs ?? this.#clock.nowMs();
  }

  /** All input of the turn has been read. */
  ends(): void {
    if (this.#idleMs !== undefined) this.#tookMs = this.soFarMs();
  }

  /** A part of the turn behind its input has ended: the input of the next one may follow at once. */
  partEnded(nowMs = this.#clock.nowMs()): void {
    if (this.#idleMs === undefined) return;
    this.#waitedMs = this.#idleMs();
    this.#beganMs = nowMs;
  }
}

/** Of a part of the loop that is used by itself. */
export const unmeasuredInput = new TurnInput({ nowMs: () => 0 }, undefined);
