import { assert } from '@engram/core';
import {
  type Entry,
  type HardState,
  indexAfter,
  NEW_HARD_STATE,
  NO_CONF,
  NO_INDEX,
  NO_TERM,
  type Snapshot,
} from '@engram/raft-ts';

/** All that a member keeps of Raft. The entries go on behind the snapshot without a gap. */
export interface RaftState {
  readonly hardState: HardState;
  readonly snapshot: Snapshot;
  readonly entries: readonly Entry[];
}

/** A change of it. */
export interface RaftBatch {
  /** Undefined: as it was. */
  readonly hardState: HardState | undefined;
  /**
   * Takes the place of the log up to its index. What follows it stays if the log had the snapshot's entry (its index and
   * term), and goes otherwise.
   */
  readonly snapshot: Snapshot | undefined;
  /** Take the place of everything from the first one's index on. */
  readonly entries: readonly Entry[];
}

/** Of a member that has taken part in nothing. */
export const NEW_RAFT_STATE: RaftState = {
  hardState: NEW_HARD_STATE,
  snapshot: { index: NO_INDEX, term: NO_TERM, conf: NO_CONF, data: new Uint8Array(0) },
  entries: [],
};

/** What is kept after a batch: the meaning of `RaftStorage.save`, for adapters that keep the whole state as one. */
export function afterBatch(state: RaftState, batch: RaftBatch): RaftState {
  const snapshot = batch.snapshot ?? state.snapshot;
  let entries = state.entries;
  if (batch.snapshot !== undefined) {
    const { index, term } = batch.snapshot;
    const at = index - state.snapshot.index - 1;
    const had = at === -1 ? state.snapshot.term === term : entries[at]?.term === term;
    entries = had ? entries.slice(at + 1) : [];
  }
  const first = batch.entries[0];
  if (first !== undefined) {
    const at = first.index - indexAfter(snapshot.index);
    assert(at >= 0 && at <= entries.length, 'a gap in the log that is kept');
    entries = [...entries.slice(0, at), ...batch.entries];
  }
  return { hardState: batch.hardState ?? state.hardState, snapshot, entries };
}
