import type { StoreLeadership } from './cluster-state.ts';
import type { MemberId } from './member.ts';

/** What an ordinary entry of Raft's log says. */
export type Command =
  | { readonly kind: 'leadership'; readonly leadership: StoreLeadership }
  | {
      readonly kind: 'attributes';
      readonly member: MemberId;
      readonly name: string;
      readonly clientUrls: readonly string[];
    }
  | { readonly kind: 'setting'; readonly name: string; readonly value: Uint8Array };

/** What a change of the membership carries along. */
export interface MemberChange {
  /** Of whom is added or has new ones; else empty. */
  readonly peerUrls: readonly string[];
}
