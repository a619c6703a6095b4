import type { LogIndex } from './log-index.ts';
import type { NodeId } from './node-id.ts';
import type { Term } from './term.ts';

/** Why a proposal was dropped. Nothing of it is in any log. */
export type DropReason =
  /** No leader is known, for example because this node has been removed from the group. */
  | 'no-leader'
  /** The leader hands over, or is no longer a voter. */
  | 'transferring'
  /** The proposal would exceed `uncommittedBytesMax`. */
  | 'too-many-uncommitted-bytes'
  /** Another change, or the leader's first entry of its term, may not be applied yet. */
  | 'conf-change-pending'
  /** The change would leave no voter. */
  | 'conf-change-not-applicable';

export type ProposeOutcome =
  /** The payloads have consecutive indexes from `first`. One is committed iff an entry of `term` is applied at its index. */
  | { readonly kind: 'appended'; readonly term: Term; readonly first: LogIndex }
  /** Sent to the leader, which may take it, drop it, or take it twice if the network doubles it. */
  | { readonly kind: 'forwarded'; readonly to: NodeId }
  | { readonly kind: 'dropped'; readonly reason: DropReason };

export type ReadOutcome =
  /** A `ReadState` follows, unless the leadership ends first. */
  | { readonly kind: 'waiting' }
  /** A `ReadState` follows, unless the request or its answer is lost. */
  | { readonly kind: 'forwarded'; readonly to: NodeId }
  | { readonly kind: 'dropped'; readonly reason: 'no-leader' | 'too-many-reads' };

export type TransferOutcome =
  /** The transfer succeeds or is given up within `electionTicks`. Proposals are dropped meanwhile. */
  | { readonly kind: 'started' }
  | { readonly kind: 'forwarded'; readonly to: NodeId }
  | { readonly kind: 'leads-already' }
  | { readonly kind: 'refused'; readonly reason: 'no-leader' | 'not-a-voter' };
