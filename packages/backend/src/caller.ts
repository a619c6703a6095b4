import type { AnswerAccount } from '@engram/core';

/**
 * On whose behalf a call is made. It goes with every write, lease call and linearizable read, also to another node that
 * does the work.
 */
export interface Caller extends AnswerAccount {
  /** Aborted when nobody waits for the answer any more. May be made at the first use: a call that needs none asks for none. */
  readonly signal: AbortSignal;
  /** The authenticated user; empty: nobody in particular. */
  readonly user: string;
  /** The revision of the users' and roles' data that `user` was authenticated at; 0: not authenticated. */
  readonly authRevision: number;
  /** How long the caller waits from now on; undefined: as long as the store lets anything wait. */
  readonly timeoutMs: number | undefined;
  /** The member that passed the call on. What it writes carries this in the log, so that the member can find it there. */
  readonly origin?: Origin;
}

const neverAborted = new AbortController().signal;

/** A call that a member has passed on to the leader: `sequence` is its own count of them, used once in its life. */
export interface Origin {
  readonly memberId: bigint;
  readonly sequence: number;
}

/** The node itself: its health checks, its own compactions, its tests. */
export const nodeItself: Caller = { signal: neverAborted, user: '', authRevision: 0, timeoutMs: undefined };
