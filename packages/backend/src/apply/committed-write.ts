import type { LogRecord } from '@engram/coder';
import type { EventGroup } from '@engram/core';
import type { Origin } from '../caller.ts';

/** A log record without a revision that changes the state. */
export type Mark = Exclude<LogRecord, { readonly kind: 'put' | 'delete' | 'origin' }>;

/**
 * The effect of one write: a mark, the changes of one revision, or both. The end of a lease has both, and the mark
 * comes first. The versions of `group` are already in the index, above the revision that readers see.
 */
export interface CommittedWrite {
  readonly mark: Mark | undefined;
  readonly group: EventGroup | undefined;
  /** The member that forwarded the write to the leader, and its number. Undefined if no member forwarded it. */
  readonly origin: Origin | undefined;
}
