import type { Deciding, NeededNow } from '@engram/sequencer';

/** How a decision waits for values and for its next slice. */
export interface DecisionWaits {
  /** Loads the values that the decision needs. Undefined if they are at hand. */
  readonly provide: (needed: NeededNow) => Promise<void> | undefined;
  /** Resolves after other requests had their turn, with the slice renewed. */
  readonly turn: () => Promise<void>;
}

/**
 * Takes a decision. Synchronous if one slice is enough and all needed values are in memory. If a wait rejects, its
 * error is thrown into the decision. A decision that has made changes then undoes them, so `turn` must work again
 * after it has rejected.
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
