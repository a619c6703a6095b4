import type { Caller } from '@engram/backend';

/** One member, as all of them have agreed. */
export interface Member {
  /** Not 0, and not used again. */
  readonly id: bigint;
  /** Empty: it has not started yet. */
  readonly name: string;
  readonly peerUrls: readonly string[];
  /** Clients replace their endpoints with these. */
  readonly clientUrls: readonly string[];
  /** It gets all data and has no vote. */
  readonly isLearner: boolean;
}

/** The cluster as this node knows it now. What it says may change between two looks. */
export interface ClusterView {
  /** The same for the life of the data, and on every member; not 0. */
  readonly clusterId: bigint;
  /** This node. */
  readonly memberId: bigint;
  /** 0: none is known. */
  readonly leaderId: bigint;
  /** At least 1, never going back; the number that headers and Status show. */
  readonly term: number;
  /** This node is no voter. */
  readonly isLearner: boolean;
  /** By id. */
  readonly members: readonly Member[];
}

/** Changes of the membership. Each answers with all members after it; refusals are EngramError with etcd's codes. */
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

/** What this node's services know of the cluster, and can do to it. */
export interface Cluster extends ClusterView {
  readonly changes: ClusterChanges;
}
