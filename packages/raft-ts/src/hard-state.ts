import { type LogIndex, NO_INDEX } from './log-index.ts';
import type { NodeId } from './node-id.ts';
import { NO_TERM, type Term } from './term.ts';

/** What a node must find again after a restart, beside its log. */
export interface HardState {
  readonly term: Term;
  /** Whom the node voted for in `term`; undefined: nobody yet. */
  readonly vote: NodeId | undefined;
  readonly commit: LogIndex;
}

/** Of a node that never took part. */
export const NEW_HARD_STATE: HardState = { term: NO_TERM, vote: undefined, commit: NO_INDEX };
