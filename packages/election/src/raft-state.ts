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

/** The Raft state that a member stores. The entries follow the snapshot without a gap. */
export interface RaftState {
  readonly hardState: HardState;
  readonly snapshot: Snapshot;
  readonly entries: readonly Entry[];
}

/** A change of the stored state. */
export interface RaftBatch {
  /** Undefined if unchanged. */
  readonly hardState: HardState | undefined;
  /**
   * Replaces the log up to its index. The entries behind it stay if the log had the snapshot's entry (its index and term).
   * Otherwise they are removed.
   */
  readonly snapshot: Snapshot | undefined;
  /** Replace everything from the index of the first entry on. */
  readonly entries: readonly Entry[];
}

/** The state of a member that has never taken part. */
export const NEW_RAFT_STATE: RaftState = {
  hardState: NEW_HARD_STATE,
  snapshot: { index: NO_INDEX, term: NO_TERM, conf: NO_CONF, data: new Uint8Array(0) },
  entries: [],
};

/** The state after a batch. It defines `RaftStorage.save`, and serves adapters that store the whole state as one value. */
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
