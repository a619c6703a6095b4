import type { Message } from '@engram/raft-ts';
import type { MemberId } from './cluster/member.ts';

/** A message between members. Messages are independent of each other: each may be lost, delayed or doubled. */
export type PeerMessage =
  | {
      readonly kind: 'raft';
      readonly clusterId: bigint;
      /** Whether the sender reaches storage. A leader with slow storage hands over to a member with healthy storage. */
      readonly storageHealthy: boolean;
      readonly message: Message;
    }
  /** The sender may have been removed, as far as it knows, and asks whether it may leave. */
  | { readonly kind: 'leaving'; readonly clusterId: bigint; readonly from: MemberId; readonly to: MemberId }
  /** The leader tells the receiver that it is no longer a member: because it has asked, or does not know it. */
  | { readonly kind: 'removed'; readonly clusterId: bigint; readonly to: MemberId };

export function receiverOf(message: PeerMessage): MemberId {
  return message.kind === 'raft' ? message.message.to : message.to;
}
