import { FaultError } from '@engram/core';

/** Why a store cannot follow another one. */
export type MigrationFault =
  /** The other side does not answer, or has ended a stream. Alone of all it passes by itself: it is tried again. */
  | 'interrupted'
  /** The other side refuses a call, for a reason that does not pass by itself. */
  | 'refused'
  /** What comes next was compacted at the source. */
  | 'compacted'
  /** Another cluster than the one that is followed answers. */
  | 'other-cluster'
  /** A message that etcd does not send: events out of order, a revision that is missing or comes twice. */
  | 'malformed'
  /** A revision of more bytes than are held at a time. */
  | 'too-large'
  /** The source has revisions that the target does not have yet. */
  | 'lags'
  /** The two stores differ: in a revision, a version, a lease. */
  | 'differs';

/** The message is for the operator, and names the place. */
export class MigrationError extends FaultError<MigrationFault> {
  override readonly name = 'MigrationError';
}

export function isMigrationError(error: unknown, fault?: MigrationFault): error is MigrationError {
  return error instanceof MigrationError && (fault === undefined || error.fault === fault);
}
