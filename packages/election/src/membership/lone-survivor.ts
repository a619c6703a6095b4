import { logIndex, term } from '@engram/raft-ts';
import { snapshotOf } from './bootstrap.ts';
import { afterMemberChange, type ClusterState } from '../cluster/cluster-state.ts';
import type { Member, MemberId } from '../cluster/member.ts';
import type { RaftBatch, RaftState } from '../raft-state.ts';
import type { RaftStorage } from '../raft-storage.ts';

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

export interface LoneSurvivorOptions {
  /** The entry of the member that goes on. It may have new URLs. */
  readonly self: Member;
  /** The members whose states are known to be stored. */
  readonly known: Iterable<MemberId>;
  readonly storageOf: (member: MemberId) => RaftStorage;
  /** What the most advanced of these states has agreed to. */
  readonly agreedBy: (states: ReadonlyMap<MemberId, RaftState>) => ClusterState;
}

/**
 * Lets a member go on alone: see `loneSurvivorBatch`. Takes over the states of all members first. A process of another member
 * that lives after all cannot save any more: it gives no vote, wins no election, and ends with `storage-taken-over`, by name.
 * What the states say cannot change from then on either, so the term that is chosen is above all.
 * Returns the members that were removed.
 */
export async function goOnAlone({
  self,
  known,
  storageOf,
  agreedBy,
}: LoneSurvivorOptions): Promise<readonly MemberId[]> {
  const states = new Map<MemberId, RaftState>();
  const taken = new Map<MemberId, RaftStorage>();
  const take = async (ids: Iterable<MemberId>): Promise<void> => {
    for (const id of ids) {
      if (taken.has(id)) continue;
      const storage = storageOf(id);
      taken.set(id, storage);
      const state = await storage.load();
      if (state !== undefined) states.set(id, state);
    }
  };
  await take([...known, self.id]);
  let agreed = agreedBy(states);
  // Members may have been added until their states were taken over.
  for (let count = 0; count < taken.size; agreed = agreedBy(states)) {
    count = taken.size;
    await take(agreed.members.map(({ id }) => id));
  }
  await taken.get(self.id)!.save(loneSurvivorBatch(agreed, self, [...states.values()]));
  return agreed.members.map(({ id }) => id).filter((id) => id !== self.id);
}
