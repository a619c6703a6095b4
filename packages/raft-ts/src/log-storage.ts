import type { Entry } from './entry.ts';
import type { LogIndex } from './log-index.ts';
import type { Snapshot } from './snapshot.ts';
import type { Term } from './term.ts';

/**
 * The persisted log of a node, as the core reads it. The core never writes to it. Calls are synchronous: a storage that
 * does not keep all entries in memory answers `loading`, fetches them, and has its owner call `RawNode.loaded`. The contents
 * of a `Persist` must be readable here before `RawNode.advance`.
 *
 * Between `firstIndex` and `lastIndex` no entry is missing. The snapshot stands for the entries dropped before `firstIndex`.
 */
export interface LogStorage {
  /** The index of the first entry; one behind `lastIndex` if there is no entry. */
  firstIndex(): LogIndex;
  lastIndex(): LogIndex;
  /** Known from one before `firstIndex` (0 if nothing was dropped) to `lastIndex`; undefined outside. Never `loading`. */
  term(index: LogIndex): Term | undefined;
  /**
   * The entries from `from` up to, not including, `to`, which the log contains. Bounded by `bytesMax`, as `entryBytes`
   * counts, but at least one. The caller does not change the array, and may keep it.
   */
  entries(from: LogIndex, to: LogIndex, bytesMax: number): readonly Entry[] | 'loading';
  /**
   * A snapshot that reaches at least to one before `firstIndex`, for a node that needs dropped entries. After `preparing`,
   * the core asks again at the next heartbeat.
   */
  snapshot(): Snapshot | 'preparing';
}
