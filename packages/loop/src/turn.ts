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
    const slice = job.next();
    if (slice.done === true) return slice.value;
  }
}

/** Waits for a value within a job. Of one that is there already, nothing is waited for. */
export function* settled<Value>(value: Value | Promise<Value>): Job<Value> {
  if (!(value instanceof Promise)) return value;
  const values: Value[] = [];
  yield value.then((there) => void values.push(there));
  return values[0] as Value;
}

/** A part of a job: does the work of `visit` for each item, one after the other. However it ends, the iteration ends as well. */
export function* eachOf<Item>(items: AsyncIterable<Item>, visit: (item: Item) => Job<void>): Job<void> {
  const iterator = items[Symbol.asyncIterator]();
  let open = true;
  const close = async (): Promise<void> => {
    open = false;
    await iterator.return?.();
  };
  try {
    for (;;) {
      const next = yield* settled(iterator.next());
      if (next.done === true) break;
      yield* visit(next.value);
    }
    open = false;
  } catch (error) {
    yield close();
    throw error;
  } finally {
    // A job that is cancelled waits for nothing.
    if (open) void close().catch(() => undefined);
  }
}

/** Items of `eachSettling` after which the promises go on that these have settled, if nothing else is said. */
const TOGETHER = 16;

/**
 * A part of a job: short work on each item, which settles promises. What goes on with these is work of the job as well. `together`: what
 * so many items settle may take a slice for each of them.
 */
export function* eachSettling<Item>(
  turn: Turn,
  items: Iterable<Item>,
  visit: (item: Item) => void,
  together = TOGETHER,
): Job<void> {
  let done = 0;
  for (const item of items) {
    visit(item);
    done += 1;
    if (turn.shouldYield()) yield;
    else if (done % together === 0) yield Promise.resolve();
  }
}
