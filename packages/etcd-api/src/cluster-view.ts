import type { Caller } from '@engram/backend';
import type { EngramError } from '@engram/core';

/** One member, as the members have agreed. */
export interface Member {
  /** Not 0, and never reused. */
  readonly id: bigint;
  /** Empty until the member has started. */
  readonly name: string;
  readonly peerUrls: readonly string[];
  /** Clients replace their endpoints with these. */
  readonly clientUrls: readonly string[];
  /** The member gets all data and has no vote. */
  readonly isLearner: boolean;
}

/** The cluster as this member knows it now. Values may change between two reads. */
export interface ClusterView {
  /** The same on every member and for the life of the data. Not 0. */
  readonly clusterId: bigint;
  /** The id of this member. */
  readonly memberId: bigint;
  /** 0 if no leader is known. */
  readonly leaderId: bigint;
  /** At least 1, never decreases. Response headers and Status show it. */
  readonly term: number;
  /** True if this member has no vote. */
  readonly isLearner: boolean;
  /** Ordered by id. */
  readonly members: readonly Member[];
  /**
   * After a `Store.readIndex`: resolves when `members` has every change that any client was told of before it. Rejects with
   * TimeoutWaitAppliedIndex at the bound of a request, and with the reason of the caller's signal.
   */
  membersCaughtUp(caller: Caller): Promise<void>;
  /**
   * For how long this member, if it leads, has waited for a storage that does not answer. Every write and every linearizable
   * read waits meanwhile; other reads and watches go on. 0 if storage answers, or may still answer soon.
   */
  readonly stalledMs: number;
  /**
   * Why this member does not lead although it was elected, and nobody leads: TimestampsWentBack. It tries again whenever it is elected.
   * Undefined where a leader is known, and where nothing was refused.
   */
  readonly takeoverRefusal?: EngramError | undefined;
  readonly counts: ClusterCounts;
}

/** What etcd's metrics count of a cluster, as this member has seen it since its start. */
export interface ClusterCounts {
  /** The first leader included, and each leader that came after a time without one. */
  readonly leaderChanges: number;
  /** Takeovers of this member that were refused because the timestamps of storage went back. */
  readonly refusedTakeovers: number;
  /** Times that this member led and was late with its heartbeats. */
  readonly lateHeartbeats: number;
  /** Questions whether the leader still leads that nobody has answered in time. */
  readonly slowReadIndexes: number;
  /** Those that have failed otherwise. */
  readonly failedReadIndexes: number;
  /** Learners that became voters by a call of this member's clients. */
  readonly promotions: number;
  /** Such calls that were refused, by etcd's reason. */
  readonly refusedPromotions: ReadonlyMap<string, number>;
}

/** Changes of the membership. Each answers with all members after the change. Refusals are EngramErrors with etcd's codes. */
export interface ClusterChanges {
  /** MemberExist, PeerURLExist, TooManyLearners, Unhealthy, MemberNotEnoughStarted. */
  add(peerUrls: readonly string[], isLearner: boolean, caller: Caller): Promise<MemberAdded>;
  /** MemberNotFound, MemberNotEnoughStarted, Unhealthy. */
  remove(id: bigint, caller: Caller): Promise<readonly Member[]>;
  /** MemberNotFound, PeerURLExist. */
  update(id: bigint, peerUrls: readonly string[], caller: Caller): Promise<readonly Member[]>;
  /** MemberNotFound, MemberNotLearner, LearnerNotReady. */
  promote(id: bigint, caller: Caller): Promise<readonly Member[]>;
  /** Resolves when `target` leads. NotLeader, BadLeaderTransferee, TimeoutDueToLeaderFail. */
  moveLeader(target: bigint, caller: Caller): Promise<void>;
}

export interface MemberAdded {
  readonly added: Member;
  readonly members: readonly Member[];
}

/** What this member's services know about the cluster and can change in it. */
export interface Cluster extends ClusterView {
  readonly changes: ClusterChanges;
}
