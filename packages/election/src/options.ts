import type { Random } from '@engram/core';
import type { LogIndex, RaftLimits } from '@engram/raft-ts';
import type { MemberId } from './cluster/member.ts';
import type { MembershipRules } from './membership/membership-rules.ts';

export interface ElectionOptions {
  readonly self: MemberId;
  readonly clusterId: bigint;
  readonly random: Random;
  /** The duration of a tick, which is the interval of heartbeats: etcd's `--heartbeat-interval`. */
  readonly tickMs: number;
  /** etcd's `--election-timeout` in ticks; the rest are bounds. */
  readonly limits: RaftLimits;
  readonly rules: MembershipRules;
  /**
   * Whether a learner's copy of the data is so close to this member's that the learner may become a voter. The election
   * knows only Raft's log, which has no data in it. Without this function a learner that has Raft's log is ready.
   */
  readonly isReplicaReady?: (learner: MemberId) => boolean;
  /**
   * Whether this member was told at its start that another one is a member. It counts until this member has a list of its own,
   * which one that joins gets from the leader. Without this function nobody is.
   */
  readonly isGivenMember?: (member: MemberId) => boolean;
  /** The number of applied entries after which a snapshot replaces the log. */
  readonly snapshotEntries: number;
  /** Entries kept for members that are a little behind. In memory only: on disk the snapshot is enough. */
  readonly keptEntries: number;
  /**
   * Entries of Raft's log that have no effect: the way out if members hold one that none of them can read. The same on every
   * member, because members that apply different entries disagree.
   */
  readonly skippedEntries?: ReadonlySet<LogIndex>;
}

/** etcd waits so long for a request, and two election timeouts besides (server/config: ReqTimeout). */
const REQUEST_MS = 5000;

/** The ticks of etcd's request timeout. */
export function requestTicks({ tickMs, limits }: Pick<ElectionOptions, 'tickMs' | 'limits'>): number {
  return Math.ceil(REQUEST_MS / tickMs) + 2 * limits.electionTicks;
}
