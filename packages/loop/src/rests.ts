import { type Clock, sleep } from '@engram/core';
import type { Loop } from './loop.ts';
import type { Task } from './work-class.ts';

/** A rest is so many times as long as the work before it: the work has a quarter of the time. */
export const REST_TIMES = 3;
/** The longest rest. */
export const REST_MS_MAX = 20;

/**
 * The pauses of work that need not end soon. While clients wait for short answers it rests after each slice, so that it has a part of
 * the time, of the loop and of the disk, however little else there is to do: a client that waits for an answer has its next
 * request a moment later. Without short answers it only gives way.
 *
 * A pause takes no AbortSignal: it ends by itself, after REST_MS_MAX at most and in the next slice of its task. Work that is to stop
 * looks behind each pause whether it goes on.
 */
export class Rests {
  readonly #loop: Loop;
  readonly #clock: Pick<Clock, 'nowMs' | 'after'>;
  readonly #task: Task;
  #sinceMs: number;

  /** The work begins now. */
  constructor(loop: Loop, clock: Pick<Clock, 'nowMs' | 'after'>, task: Task) {
    this.#loop = loop;
    this.#clock = clock;
    this.#task = task;
    this.#sinceMs = clock.nowMs();
  }

  /** Resolves in a slice of a later turn, after a rest of at most REST_MS_MAX. */
  async pause(): Promise<void> {
    if (this.#loop.transport.shortAnswers.awaited) {
      const restMs = Math.min(REST_MS_MAX, REST_TIMES * (this.#clock.nowMs() - this.#sinceMs));
      if (restMs > 0) await sleep(this.#clock, restMs);
    }
    await this.#loop.pause(this.#task);
    this.#sinceMs = this.#clock.nowMs();
  }
}
