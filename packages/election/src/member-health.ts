import type { NodeStatus } from '@engram/raft-ts';
import { HEALTH_INTERVAL_MS, type MemberHealth, READY_SHARE } from './membership/membership-rules.ts';
import type { ElectionOptions } from './options.ts';
import type { PeerActivity } from './peer-activity.ts';

/** What the rules of membership ask of the other members, as this member sees them at the call. */
export function healthOf(
  { self, tickMs, isReplicaReady }: ElectionOptions,
  peers: PeerActivity,
  status: NodeStatus,
): MemberHealth {
  const longTicks = Math.ceil(HEALTH_INTERVAL_MS / tickMs);
  return {
    self,
    isConnected: (id) => peers.connectedTicks(id) >= 0,
    isConnectedForLong: (id) => peers.connectedTicks(id) >= longTicks,
    isCaughtUp: (id) =>
      (status.followers.get(id)?.match ?? 0) >= status.lastIndex * READY_SHARE && isReplicaReady?.(id) !== false,
  };
}
