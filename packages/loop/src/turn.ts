/** Tells the work that runs now when other work must have its turn. */
export interface Turn {
  /**
   * Whether the running slice is used up. Stays true until the next slice begins. `steps` is the work that was done since
   * the last question: a step is one key, one record, one comparison or one KiB that was copied, and takes at most a few
   * microseconds. 0 asks without having done anything.
   */
  shouldYield(steps?: number): boolean;
}

/**
 * Work that can pause. It yields undefined when `Turn.shouldYield` is true, and is resumed in another slice. It yields a
 * promise when it cannot go on before that settles: a rejection is thrown into the job. A job that is cancelled ends at its
 * yield, and its `finally` blocks run.
 */
export type Job<Result> = Generator<Promise<unknown> | undefined, Result, undefined>;

/** A job that waits for no values. Others may do it as a part of theirs (`yield*`), or at once (`finish`). */
export type PureJob<Result> = Generator<undefined, Result, undefined>;

/** Never has work yield: where nobody else waits for the event loop. */
export const unhurried: Turn = { shouldYield: () => false };

/** Does all of the work now, however long it takes. */
export function finish<Result>(job: PureJob<Result>): Result {
  for (;;) {
    const step = job.next();
    if (step.done === true) return step.value;
  }
}

/** Waits for a value within a job. */
export function* settled<Value>(promise: Promise<Value>): Job<Value> {
  const values: Value[] = [];
  yield promise.then((value) => void values.push(value));
  return values[0] as Value;
}
