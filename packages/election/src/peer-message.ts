import type { Message } from '@engram/raft-ts';
import type { MemberId } from './member.ts';

/** What members tell each other. Each message stands for itself: it may be lost, delayed or doubled. */
export type PeerMessage =
  | {
      readonly kind: 'raft';
      readonly clusterId: bigint;
      /** The sender's way to storage. A leader whose own is slow hands over to somebody whose is not. */
      readonly storageHealthy: boolean;
      readonly message: Message;
    }
  /** From a member that was removed, as far as it knows: may it go? */
  | { readonly kind: 'leaving'; readonly clusterId: bigint; readonly from: MemberId; readonly to: MemberId }
  /** The leader's word that the receiver is no member any more: to who asks, and to who does not know it. */
  | { readonly kind: 'removed'; readonly clusterId: bigint; readonly to: MemberId };

export function receiverOf(message: PeerMessage): MemberId {
  return message.kind === 'raft' ? message.message.to : message.to;
}
