import { isVoter, type NodeStatus } from '@engram/raft-ts';
import type { MemberId } from './cluster/member.ts';
import type { PeerActivity } from './peer-activity.ts';

/**
 * The member that a leader asks to lead instead: a connected voter, preferably with healthy storage, then with most of the
 * log, then connected for longest (etcd's choice). Undefined if there is none.
 */
export function successorAmong(status: NodeStatus, peers: PeerActivity, healthTicks: number): MemberId | undefined {
  let best: { readonly id: MemberId; readonly rank: readonly number[] } | undefined;
  for (const [id, { match }] of status.followers) {
    const connectedTicks = peers.connectedTicks(id);
    if (!isVoter(status.conf, id) || connectedTicks < 0) continue;
    const rank = [peers.hasHealthyStorage(id, healthTicks) ? 1 : 0, match, connectedTicks];
    if (best === undefined || isAbove(rank, best.rank)) best = { id, rank };
  }
  return best?.id;
}

function isAbove(rank: readonly number[], other: readonly number[]): boolean {
  for (const [at, value] of rank.entries()) {
    const against = other[at] ?? 0;
    if (value !== against) return value > against;
  }
  return false;
}
