import type { LogRecord } from '@engram/coder';
import type { EventGroup } from '@engram/core';
import type { Origin } from './caller.ts';

/** A record that takes no revision and changes the state. */
export type Mark = Exclude<LogRecord, { readonly kind: 'put' | 'delete' | 'origin' }>;

/**
 * What one write does when it takes effect: a mark, the changes of one revision, or both, the mark first (the end of a
 * lease). The versions of `group` are in the index already, above the revision that readers see.
 */
export interface CommittedWrite {
  readonly mark: Mark | undefined;
  readonly group: EventGroup | undefined;
  /** Who passed it on to the leader; undefined: a client of the leader's own. */
  readonly origin: Origin | undefined;
}
