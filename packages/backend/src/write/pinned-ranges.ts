import type { AnswerRoom, RangeOp, Revision } from '@engram/core';
import type { PureJob, Turn } from '@engram/loop';
import type { Scanner } from '@engram/scanner';
import type { RangePlanner } from '@engram/sequencer';
import type { PlannedRange } from '../answer/answer.ts';

/** Plans the ranges of one transaction after another, and knows the oldest revision that the plans of the current one need. */
export class PinnedRanges implements RangePlanner<PlannedRange> {
  readonly #scanner: Scanner;
  #lowest: Revision | undefined;

  constructor(scanner: Scanner) {
    this.#scanner = scanner;
  }

  /** A transaction begins. */
  begin(): void {
    this.#lowest = undefined;
  }

  /** Undefined if no plan needs a version. */
  get lowest(): Revision | undefined {
    return this.#lowest;
  }

  *plan(op: RangeOp, at: Revision, pinned: Revision, room: AnswerRoom, turn: Turn): PureJob<PlannedRange> {
    if (!op.countOnly && (this.#lowest === undefined || pinned < this.#lowest)) this.#lowest = pinned;
    return { plan: yield* this.#scanner.plan(op, at, room, turn), pinned };
  }
}
