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
  /** Applied entries after which the log gives way to a snapshot. */
  readonly snapshotEntries: number;
  /** Entries that stay for members who are a little behind. In memory only: on disk the snapshot is enough. */
  readonly keptEntries: number;
}
