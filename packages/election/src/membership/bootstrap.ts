import { logIndex, type Snapshot, term } from '@engram/raft-ts';
import { type ClusterState, confOf, newCluster } from '../cluster/cluster-state.ts';
import { encodeClusterState } from '../codec/cluster-codec.ts';
import type { Member } from '../cluster/member.ts';
import { NEW_RAFT_STATE, type RaftBatch, type RaftState, afterBatch } from '../raft-state.ts';

/**
 * The batch that each first member of a new cluster saves before it takes part. All of them begin at index 1 of term 1, so
 * their logs begin alike. The first election gives term 2, as in a fresh etcd.
 */
export function bootstrapBatch(clusterId: bigint, members: readonly Member[]): RaftBatch {
  const snapshot = snapshotOf(newCluster(clusterId, members), { index: logIndex(1), term: term(1) });
  return { hardState: { term: term(1), vote: undefined, commit: logIndex(1) }, snapshot, entries: [] };
}

export function bootstrapState(clusterId: bigint, members: readonly Member[]): RaftState {
  return afterBatch(NEW_RAFT_STATE, bootstrapBatch(clusterId, members));
}

export function snapshotOf(state: ClusterState, place: Pick<Snapshot, 'index' | 'term'>): Snapshot {
  return { ...place, conf: confOf(state), data: encodeClusterState(state) };
}
