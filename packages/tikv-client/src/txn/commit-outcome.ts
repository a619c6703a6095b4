import type { Timestamp } from '@engram/tso';
import type { CallOptions } from '../runtime/call.ts';

/** How a transaction was committed. `read-only`: there was nothing to write. */
export type CommitMode = '1pc' | 'async' | '2pc' | 'read-only';

/**
 * The result of a transaction. All of these are expected, so they are values. Failures that say nothing about the data (a
 * deadline before anything was sent, a limit, a closed client) are thrown, and then nothing was or will be committed.
 */
export type CommitOutcome =
  | { readonly kind: 'committed'; readonly commitTs: Timestamp; readonly mode: CommitMode }
  | Conflict
  /** A key that was inserted, or checked to be absent, exists. Nothing was committed. */
  | { readonly kind: 'exists'; readonly key: Uint8Array }
  | Undetermined;

/**
 * Another transaction came first, or ended this one. Nothing was committed. Read again in a new transaction.
 * `conflictCommitTs` is 0 if the server does not name it.
 */
export interface Conflict {
  readonly kind: 'conflict';
  readonly reason: 'newer-write' | 'newer-lock' | 'rolled-back';
  readonly key: Uint8Array;
  readonly conflictStartTs: Timestamp;
  readonly conflictCommitTs: Timestamp;
}

/**
 * It is unknown whether the transaction is committed: the answer was lost, and the deadline passed before the client could
 * find out. A repetition of the work before `settle` has succeeded may do it twice.
 */
export interface Undetermined {
  readonly kind: 'undetermined';
  readonly startTs: Timestamp;
  /** The key whose record decides the transaction. */
  readonly primary: Uint8Array;
  readonly cause: unknown;
  /** Finds out whether the transaction is committed, and rolls it back if it is still open. May be repeated after a failure. */
  settle(options?: CallOptions): Promise<Settled>;
}

/** The result of a transaction that commits in one phase or not at all. */
export type OnePhaseOutcome =
  | { readonly kind: 'committed'; readonly commitTs: Timestamp }
  | Conflict
  | { readonly kind: 'exists'; readonly key: Uint8Array }
  | NotOnePhase
  | Undetermined;

/** Nothing was or will be committed, and no lock of the transaction is left. The same transaction cannot be tried again. */
export interface NotOnePhase {
  readonly kind: 'not-one-phase';
  /**
   * `regions`: the keys lie in several regions, as PD or a store has just said. `size`: the mutations exceed `writeBatchBytes`.
   * `declined`: the server fell back to two phases, and the client has rolled back the locks.
   */
  readonly reason: 'regions' | 'size' | 'declined';
}

export type Settled = { readonly kind: 'committed'; readonly commitTs: Timestamp } | { readonly kind: 'rolled-back' };
