import type { Epoch } from '@engram/core';
import type { LogIndex, RawNode, Term } from '@engram/raft-ts';
import { type ClusterState, memberOf } from './cluster/cluster-state.ts';
import type { MemberId } from './cluster/member.ts';
import type { Tenure } from './tenure.ts';

/** A member's view of the cluster, for Status, MemberList and response headers. */
export interface ElectionView {
  readonly self: MemberId;
  /**
   * Also true for a member that is not in its list of members yet: until it knows what it is, it serves what a learner
   * serves.
   */
  readonly isLearner: boolean;
  readonly term: Term;
  /** Undefined if no leader is known. */
  readonly leader: MemberId | undefined;
  /** The epoch in which this member's store leads, once the members have agreed on it. Undefined if it does not lead. */
  readonly leadingIn: Epoch | undefined;
  readonly commitIndex: LogIndex;
  readonly appliedIndex: LogIndex;
  readonly cluster: ClusterState;
}

export function viewOf(self: MemberId, cluster: ClusterState, node: RawNode, tenure: Tenure | undefined): ElectionView {
  const { term, leader, commitIndex, appliedIndex } = node;
  return {
    self,
    isLearner: memberOf(cluster, self)?.isLearner ?? true,
    term,
    leader,
    leadingIn: tenure?.phase === 'leading' ? tenure.epoch : undefined,
    commitIndex,
    appliedIndex,
    cluster,
  };
}
