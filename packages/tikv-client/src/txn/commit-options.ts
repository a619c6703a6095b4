import type { Timestamp } from '@engram/tso';

export interface CommitOptions {
  /**
   * The first protocol to try. `1pc` (the default) tries one phase, then async commit, then two phases. `async` starts with
   * async commit, `2pc` with two phases.
   */
  readonly mode?: '1pc' | 'async' | '2pc' | undefined;
  /**
   * Saves one timestamp request. The commit still comes after all commits that its own client has seen, but two transactions
   * of different clients on different keys may be ordered against real time.
   */
  readonly causal?: boolean | undefined;
  /**
   * Keys to lock if one phase is not possible, because a check is then not atomic with the writes. A transaction that may
   * invalidate the check must write one of these keys.
   */
  readonly lockUnlessOnePhase?: readonly Uint8Array[] | undefined;
  /** kvrpcpb.AssertionLevel: 0 off, 1 where it costs nothing (the default), 2 always. */
  readonly assertionLevel?: number | undefined;
  /** Upper bound of commit timestamps that TiKV calculates. If it is exceeded, the commit takes two phases. */
  readonly maxCommitTs?: Timestamp | undefined;
}

/** Without `maxCommitTs`, because TiKV leaves one phase to keep a commit timestamp below it. */
export type OnePhaseOptions = Pick<CommitOptions, 'causal' | 'assertionLevel'>;
