import type { Entry } from './entry.ts';
import type { LogIndex } from './log-index.ts';
import type { Snapshot } from './snapshot.ts';
import type { Term } from './term.ts';

/**
 * What a node has persisted of its log, as the core reads it; the core never writes. Calls are synchronous: a storage
 * that does not keep all in memory answers `loading`, fetches, and has its owner call `RawNode.loaded`. What a `Persist`
 * contains must be readable here before `RawNode.advance`.
 *
 * Between `firstIndex` and `lastIndex` nothing is missing. Before it the snapshot stands for what was dropped.
 */
export interface LogStorage {
  /** Of the first entry that is there; one behind `lastIndex` when there is none. */
  firstIndex(): LogIndex;
  lastIndex(): LogIndex;
  /** From one before `firstIndex` (0 when nothing was dropped) to `lastIndex`; undefined outside. Never `loading`. */
  term(index: LogIndex): Term | undefined;
  /**
   * The entries from `from` up to, not including, `to`; both lie in the log. Fewer at `bytesMax` by `entryBytes`, but at
   * least one. The caller does not change the array, and may keep it.
   */
  entries(from: LogIndex, to: LogIndex, bytesMax: number): readonly Entry[] | 'loading';
  /**
   * A snapshot that reaches at least to one before `firstIndex`, for a node that needs what was dropped. `preparing`: ask
   * again at the next heartbeat.
   */
  snapshot(): Snapshot | 'preparing';
}
