/**
 * Records work that held the event loop for longer than its budget. The code that does work which can be long measures
 * and names it. Work above the budget should be cut into slices (`Loop`).
 */
export interface LoopWatch {
  /** The longest time that one stretch of work may take. */
  readonly budgetMs: number;
  /** The sum of all reported stretches. A caller subtracts it to tell its own time from the time that its callees reported. */
  readonly reportedMs: number;
  /** A call of this method begins. Time that no code reports is attributed to the method that began last. */
  began(method: string): void;
  /**
   * `phase` is one of a few names that the reporting code chooses. `method` is the path of the call that the work was
   * for, if there is one. Called only for work that took longer than the budget.
   */
  stretched(phase: string, ms: number, method?: string): void;
}

/** A watch that records nothing. */
export const unwatched: LoopWatch = { budgetMs: Number.POSITIVE_INFINITY, reportedMs: 0, began() {}, stretched() {} };
