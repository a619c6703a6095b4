import type { Timestamp } from '../codec/timestamp.ts';

export interface CommitOptions {
  /**
   * How far the client may go: `1pc` (the default) tries one phase, then async commit, then two phases; `async` starts with
   * the second, `2pc` with the third.
   */
  readonly mode?: '1pc' | 'async' | '2pc' | undefined;
  /**
   * Saves a timestamp: the commit still comes after all that its own client has seen, but two transactions of different
   * clients on different keys may be ordered against real time.
   */
  readonly causal?: boolean | undefined;
  /**
   * Keys to lock when it cannot be one phase: a check alone is not atomic with the writes then. Whoever may invalidate the
   * check must write one of these keys.
   */
  readonly lockUnlessOnePhase?: readonly Uint8Array[] | undefined;
  /** kvrpcpb.AssertionLevel: 0 off, 1 where it costs nothing (the default), 2 always. */
  readonly assertionLevel?: number | undefined;
  /** An upper bound for timestamps that TiKV calculates; above it the commit takes two phases. */
  readonly maxCommitTs?: Timestamp | undefined;
}

/** There is no bound for the commit timestamp: to keep one below it, TiKV would leave one phase. */
export type OnePhaseOptions = Pick<CommitOptions, 'causal' | 'assertionLevel'>;
