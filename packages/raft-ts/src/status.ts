import type { ConfState } from './conf-state.ts';
import { Leader } from './leader.ts';
import type { LogIndex } from './log-index.ts';
import type { NodeId } from './node-id.ts';
import type { ProgressState } from './progress.ts';
import type { Raft } from './raft.ts';
import type { Role } from './ready.ts';
import type { Term } from './term.ts';

export interface FollowerStatus {
  readonly state: ProgressState;
  readonly match: LogIndex;
  readonly next: LogIndex;
  readonly paused: boolean;
  readonly recentlyActive: boolean;
  /** The number of unanswered appends. */
  readonly inflight: number;
}

/** A node as it was at the call. */
export interface NodeStatus {
  readonly id: NodeId;
  readonly term: Term;
  readonly vote: NodeId | undefined;
  readonly role: Role;
  readonly leader: NodeId | undefined;
  readonly lastIndex: LogIndex;
  readonly commit: LogIndex;
  readonly applied: LogIndex;
  readonly conf: ConfState;
  /** Empty if this node does not lead. */
  readonly followers: ReadonlyMap<NodeId, FollowerStatus>;
  readonly transferTarget: NodeId | undefined;
}

export function statusOf(raft: Raft): NodeStatus {
  const { role, log } = raft;
  const { term, vote, commit } = raft.hardState;
  const followers = new Map<NodeId, FollowerStatus>();
  if (role instanceof Leader) {
    for (const [id, progress] of role.replication.followers) {
      const { state, match, next, paused, recentlyActive, inflightCount: inflight } = progress;
      followers.set(id, { state, match, next, paused, recentlyActive, inflight });
    }
  }
  return {
    id: raft.id,
    term,
    vote,
    role: role.role,
    leader: role.leader,
    lastIndex: log.lastIndex,
    commit,
    applied: log.applied,
    conf: raft.conf,
    followers,
    transferTarget: role instanceof Leader ? role.transferTarget : undefined,
  };
}
