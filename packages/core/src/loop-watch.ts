/**
 * Told of work that kept the event loop from everybody else for longer than it may: who has work that can be long
 * measures it, and names it. Work that is longer is to be cut in slices (`nextTurn`).
 */
export interface LoopWatch {
  /** What one stretch of work may take. */
  readonly budgetMs: number;
  /** All that was ever told of, so that whoever calls others can tell his own part. */
  readonly toldMs: number;
  /** A call of this method begins: what nobody tells of is likely to be its doing. */
  began(method: string): void;
  /**
   * `phase` is one of a few words of the caller's own, `method` the path of the call that it was for, where there is one.
   * Called only for what took longer than the budget.
   */
  stretched(phase: string, ms: number, method?: string): void;
}

/** For who has nobody to tell. */
export const unwatched: LoopWatch = { budgetMs: Number.POSITIVE_INFINITY, toldMs: 0, began() {}, stretched() {} };
