import type { MemberId } from './member.ts';
import type { StoreLeadership } from './store-leadership.ts';

/** The contents of an ordinary entry of Raft's log. */
export type ClusterCommand =
  | { readonly kind: 'leadership'; readonly leadership: StoreLeadership }
  | {
      readonly kind: 'attributes';
      readonly member: MemberId;
      readonly name: string;
      readonly clientUrls: readonly string[];
    }
  | { readonly kind: 'setting'; readonly name: string; readonly value: Uint8Array };

/** The context of a change of the membership. */
export interface MemberChange {
  /** The URLs of an added or updated member; empty for other changes. */
  readonly peerUrls: readonly string[];
}
