import type { Deciding, NeededNow } from '@engram/sequencer';

/** What a decision waits for. */
export interface DecisionWaits {
  /** Gets the values that it needs. Undefined: they are there. */
  readonly provide: (needed: NeededNow) => Promise<void> | undefined;
  /** Others have their turn; the slice is renewed. */
  readonly turn: () => Promise<void>;
}

/**
 * Takes a decision: within the call as far as its first slice goes and what it needs is in memory. What it waits for and
 * rejects is thrown into it: where it has made changes already it takes them back, for which `turn` must be good once more.
 */
export function decide<Result>(deciding: Deciding<Result>, waits: DecisionWaits): Result | Promise<Result> {
  for (let step = deciding.next(); ; step = deciding.next()) {
    if (step.done === true) return step.value;
    const first = waitFor(step.value, waits);
    if (first !== undefined) return goOn(deciding, waits, first);
  }
}

async function goOn<Result>(deciding: Deciding<Result>, waits: DecisionWaits, first: Promise<void>): Promise<Result> {
  for (let waiting: Promise<void> | undefined = first; ; ) {
    const failure = await outcomeOf(waiting);
    const step = failure === undefined ? deciding.next() : deciding.throw(failure.cause);
    if (step.done === true) return step.value;
    waiting = waitFor(step.value, waits);
  }
}

const waitFor = (needed: NeededNow | undefined, { provide, turn }: DecisionWaits): Promise<void> | undefined =>
  needed === undefined ? turn() : provide(needed);

const outcomeOf = (waiting: Promise<void> | undefined): Promise<{ readonly cause: unknown } | undefined> =>
  Promise.resolve(waiting).then(
    () => undefined,
    (cause: unknown) => ({ cause }),
  );
