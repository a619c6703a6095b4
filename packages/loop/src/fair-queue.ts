import { assert } from '@engram/core';
import { CallerRing, DEBT_MAX_MS } from './caller-ring.ts';
import { CLASS_WEIGHTS, type Task, WORK_CLASSES, type WorkClass } from './work-class.ts';

/** The time of a round for each unit of weight. */
const UNIT_MS = 0.25;

interface Waiting<Item> {
  readonly work: WorkClass;
  readonly shareMs: number;
  readonly callers: CallerRing<Item>;
  creditMs: number;
}

/**
 * What waits for its slice: classes by weight, and callers in turn within a class. In a round each class may use its share;
 * the most urgent class that waits and has time left goes first. A round ends when no class that waits has time left.
 */
export class FairQueue<Item> {
  readonly #classes: readonly Waiting<Item>[] = WORK_CLASSES.map((work) => {
    const shareMs = CLASS_WEIGHTS[work] * UNIT_MS;
    return { work, shareMs, callers: new CallerRing<Item>(), creditMs: shareMs };
  });
  #size = 0;

  get size(): number {
    return this.#size;
  }

  waiting(work: WorkClass): number {
    return this.#of(work).callers.size;
  }

  push({ work, caller }: Task, item: Item): void {
    this.#of(work).callers.push(caller, item);
    this.#size += 1;
  }

  /** The item whose turn it is. There is one. */
  take(): Item {
    assert(this.#size > 0, 'nothing waits');
    for (;;) {
      for (const { callers, creditMs } of this.#classes) {
        if (callers.size === 0 || creditMs <= 0) continue;
        this.#size -= 1;
        return callers.take();
      }
      for (const waiting of this.#classes) {
        waiting.creditMs = Math.min(waiting.shareMs, waiting.creditMs + waiting.shareMs);
      }
    }
  }

  /** A slice of the task took so long. */
  charge({ work, caller }: Task, ms: number): void {
    const waiting = this.#of(work);
    waiting.creditMs = Math.max(-DEBT_MAX_MS, waiting.creditMs - ms);
    waiting.callers.charge(caller, ms);
  }

  /** The caller has used so much elsewhere: others of its class go first until they have had as much. */
  owes({ work, caller }: Task, ms: number): void {
    this.#of(work).callers.charge(caller, ms);
  }

  #of(work: WorkClass): Waiting<Item> {
    return this.#classes[WORK_CLASSES.indexOf(work)]!;
  }
}
