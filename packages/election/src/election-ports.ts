import type { Clock, Epoch, Logger, Random } from '@engram/core';
import type { ClusterState } from './cluster-state.ts';
import type { MemberId } from './member.ts';
import type { RaftStorage } from './raft-storage.ts';

/** Messages to other members. They may be lost; what arrives comes by `ElectionDriver.receive`. */
export interface ElectionNetwork {
  /** The bytes are the network's. It keeps the order of what goes to one member, and drops rather than waits. */
  send(to: MemberId, bytes: Uint8Array): void;
}

/**
 * The member that the election is for. All calls come in the order in which things happened, one after another, and may
 * call the driver back. None of them may throw.
 */
export interface ElectionOwner {
  /** Take over in this epoch; `ElectionDriver.announce` when it is done, `resigned` when it has ended or can't be done. */
  lead(epoch: Epoch): void;
  /** The leadership has ended: step down, then `ElectionDriver.resigned`. */
  stepDown(epoch: Epoch): void;
  follow(leader: MemberId, epoch: Epoch): void;
  noLeader(): void;
  clusterChanged(state: ClusterState): void;
  /** This member is no member any more. The driver goes on until it is disposed of. */
  removed(): void;
  /**
   * The driver has ended: its storage failed or was taken over, its log was lost, or an invariant is broken. Whether what
   * was being saved is there, only the next start can tell.
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
