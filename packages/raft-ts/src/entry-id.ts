import type { LogIndex } from './log-index.ts';
import type { Term } from './term.ts';

/** Identifies an entry by its index and the term in which it was proposed: no two entries of a group share both (etcd-io/raft: entryID). */
export interface EntryId {
  readonly index: LogIndex;
  /** NO_TERM if unknown, because the entry was dropped from the log. */
  readonly term: Term;
}
