import type { Clock, Epoch, Logger, Random } from '@engram/core';
import type { ClusterState } from '../cluster/cluster-state.ts';
import type { MemberId } from '../cluster/member.ts';
import type { RaftStorage } from '../raft-storage.ts';

/** Sends messages to other members. They may be lost. The receiver passes them to `ElectionDriver.receive`. */
export interface ElectionNetwork {
  /**
   * The network owns the bytes. It keeps the order of messages to one member, and drops a message rather than wait. What it
   * throws is logged, and the message counts as lost.
   */
  send(to: MemberId, bytes: Uint8Array): void;
}

/**
 * The member that the election is for. The driver makes the calls one at a time, in the order of events. They may call the
 * driver back. They must not throw.
 */
export interface ElectionOwner {
  /** Take over in this epoch, then call `ElectionDriver.announce`. Call `resigned` if it fails, or when it has ended. */
  lead(epoch: Epoch): void;
  /** The leadership has ended: step down, then call `ElectionDriver.resigned`. */
  stepDown(epoch: Epoch): void;
  follow(leader: MemberId, epoch: Epoch): void;
  noLeader(): void;
  /** What it throws is logged, because all members have the same change. */
  clusterChanged(state: ClusterState): void;
  /** This member was removed from the cluster. The driver goes on until it is disposed of. */
  removed(): void;
  /**
   * The driver has ended: its storage failed or was taken over, its log was lost, or an invariant is broken. Only the next
   * start can tell whether the save under way is durable.
   */
  failed(error: unknown): void;
}

export interface ElectionPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly storage: RaftStorage;
  readonly network: ElectionNetwork;
  readonly owner: ElectionOwner;
}
