import { type LogIndex, NO_INDEX } from './log-index.ts';
import type { NodeId } from './node-id.ts';
import { NO_TERM, type Term } from './term.ts';

/** The state that a node must have again after a restart, beside its log. */
export interface HardState {
  readonly term: Term;
  /** The node that this node voted for in `term`. Undefined if it has not voted yet. */
  readonly vote: NodeId | undefined;
  readonly commit: LogIndex;
}

/** The hard state of a node that has never taken part. */
export const NEW_HARD_STATE: HardState = { term: NO_TERM, vote: undefined, commit: NO_INDEX };
