import type { ConfState } from './conf-state.ts';
import type { LogIndex } from './log-index.ts';
import type { Term } from './term.ts';

/**
 * The application's state after the entry at `index`. It replaces the log up to that entry. `data` is opaque: the whole
 * state, or how to fetch it.
 */
export interface Snapshot {
  readonly index: LogIndex;
  readonly term: Term;
  readonly conf: ConfState;
  readonly data: Uint8Array;
}
