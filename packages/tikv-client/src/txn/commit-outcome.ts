import type { Timestamp } from '../codec/timestamp.ts';
import type { CallOptions } from '../runtime/call.ts';

/** How a transaction was committed. `read-only`: there was nothing to write. */
export type CommitMode = '1pc' | 'async' | '2pc' | 'read-only';

/**
 * What became of a transaction. All of these are ordinary days, so they are values; only what says nothing about the data
 * (a deadline before anything was sent, a limit, a closed client) is thrown, and then nothing was or will be committed.
 */
export type CommitOutcome =
  | { readonly kind: 'committed'; readonly commitTs: Timestamp; readonly mode: CommitMode }
  | Conflict
  /** A key that was inserted, or checked to be absent, exists. Nothing was committed. */
  | { readonly kind: 'exists'; readonly key: Uint8Array }
  | Undetermined;

/**
 * Another transaction came first, or ended this one. Nothing was committed; read again, with a new transaction.
 * `conflictCommitTs` is 0 where the server does not tell.
 */
export interface Conflict {
  readonly kind: 'conflict';
  readonly reason: 'newer-write' | 'newer-lock' | 'rolled-back';
  readonly key: Uint8Array;
  readonly conflictStartTs: Timestamp;
  readonly conflictCommitTs: Timestamp;
}

/**
 * The transaction is committed or it is not: the answer was lost, and the deadline came before it could be found out.
 * Repeating the work before it is settled may do it twice.
 */
export interface Undetermined {
  readonly kind: 'undetermined';
  readonly startTs: Timestamp;
  /** The key whose record decides. */
  readonly primary: Uint8Array;
  readonly cause: unknown;
  /** Finds out, or makes sure that it is not committed. May be called again after it failed. */
  settle(options?: CallOptions): Promise<Settled>;
}

/** What became of a transaction that was to commit in one phase or not at all. Values, as in CommitOutcome. */
export type OnePhaseOutcome =
  | { readonly kind: 'committed'; readonly commitTs: Timestamp }
  | Conflict
  | { readonly kind: 'exists'; readonly key: Uint8Array }
  | NotOnePhase
  | Undetermined;

/** Nothing was and will be committed, and no lock of the transaction is left. The same transaction cannot be tried again. */
export interface NotOnePhase {
  readonly kind: 'not-one-phase';
  /**
   * `regions`: its keys lie in several, as PD and the stores have just said. `size`: it is more than `writeBatchBytes`.
   * `declined`: the server fell back to two phases; the locks that this left were rolled back.
   */
  readonly reason: 'regions' | 'size' | 'declined';
}

export type Settled = { readonly kind: 'committed'; readonly commitTs: Timestamp } | { readonly kind: 'rolled-back' };
