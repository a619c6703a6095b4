import type { Epoch } from '@engram/core';
import type { LogIndex, RawNode, Term } from '@engram/raft-ts';
import { type ClusterState, memberOf } from './cluster-state.ts';
import type { MemberId } from './member.ts';
import type { Tenure } from './tenure.ts';

/** What a member shows of the cluster: Status, MemberList and headers are made of it. */
export interface ElectionView {
  readonly self: MemberId;
  readonly isLearner: boolean;
  readonly term: Term;
  /** Undefined: none is known. */
  readonly leader: MemberId | undefined;
  /** In which this member's store leads, and the members have agreed on it; undefined: it does not. */
  readonly leadingIn: Epoch | undefined;
  readonly commitIndex: LogIndex;
  readonly appliedIndex: LogIndex;
  readonly cluster: ClusterState;
}

export function viewOf(self: MemberId, cluster: ClusterState, node: RawNode, tenure: Tenure | undefined): ElectionView {
  const { term, leader, commitIndex, appliedIndex } = node;
  return {
    self,
    isLearner: memberOf(cluster, self)?.isLearner ?? false,
    term,
    leader,
    leadingIn: tenure?.phase === 'leading' ? tenure.epoch : undefined,
    commitIndex,
    appliedIndex,
    cluster,
  };
}
