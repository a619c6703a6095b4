import type { Random } from '@engram/core';
import type { RaftLimits } from '@engram/raft-ts';
import type { MemberId } from './member.ts';
import type { MembershipRules } from './membership-rules.ts';

export interface ElectionOptions {
  readonly self: MemberId;
  readonly clusterId: bigint;
  readonly random: Random;
  /** How long a tick is: the distance of heartbeats. etcd's `--heartbeat-interval`. */
  readonly tickMs: number;
  /** etcd's `--election-timeout` in ticks; the rest are bounds. */
  readonly limits: RaftLimits;
  readonly rules: MembershipRules;
  /**
   * A learner's copy of the data is close enough to this member's that it may vote. The election knows only of Raft's log,
   * which has no data in it. Without it that is enough.
   */
  readonly isReplicaReady?: (learner: MemberId) => boolean;
  /** Applied entries after which the log gives way to a snapshot. */
  readonly snapshotEntries: number;
  /** Entries that stay for members who are a little behind. In memory only: on disk the snapshot is enough. */
  readonly keptEntries: number;
}
