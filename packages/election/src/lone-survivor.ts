import { logIndex, term } from '@engram/raft-ts';
import { snapshotOf } from './bootstrap.ts';
import { afterMemberChange, type ClusterState } from './cluster-state.ts';
import type { Member } from './member.ts';
import type { RaftBatch, RaftState } from './raft-state.ts';

/**
 * The batch with which a member goes on alone after the loss of the others (etcd: `--force-new-cluster`). `self` is its entry
 * in the list, which may have new URLs. `newest` is the state that the most advanced member has applied, `states` are the Raft
 * states of all members, the lost ones too.
 *
 * The term is above every term in which any of them has voted. So the first epoch of this member is above that of every seal
 * in the log, and fences a leader that lives after all. The index is above every entry of theirs. The others count as removed:
 * one that comes back is told so.
 */
export function loneSurvivorBatch(newest: ClusterState, self: Member, states: readonly RaftState[]): RaftBatch {
  const above = (of: (state: RaftState) => number): number => Math.max(0, ...states.map(of)) + 1;
  const place = {
    index: logIndex(above((state) => state.snapshot.index + state.entries.length)),
    term: term(above(({ hardState }) => hardState.term)),
  };
  let alone = newest;
  for (const { id } of newest.members) {
    if (id !== self.id) alone = afterMemberChange(alone, { kind: 'remove', node: id, context: NO_BYTES }, NOTHING);
  }
  const snapshot = snapshotOf({ ...alone, members: [{ ...self, isLearner: false }] }, place);
  return {
    hardState: { term: place.term, vote: undefined, commit: place.index },
    snapshot,
    entries: [],
  };
}

const NO_BYTES = new Uint8Array(0);
const NOTHING = { peerUrls: [] };
