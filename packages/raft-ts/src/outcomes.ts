import type { LogIndex } from './log-index.ts';
import type { NodeId } from './node-id.ts';
import type { Term } from './term.ts';

/** Why a proposal was dropped. Nothing of it is in any log. */
export type DropReason =
  /** No leader is known, or the node is none and has been taken out. */
  | 'no-leader'
  /** The leader hands over. */
  | 'transferring'
  /** `uncommittedBytesMax`. */
  | 'too-many-uncommitted-bytes'
  /** Another change may not have been applied yet, or the leader's first entry of its term. */
  | 'conf-change-pending'
  /** The change would leave no voter. */
  | 'conf-change-not-applicable';

export type ProposeOutcome =
  /** The payloads have these places, one after another. One is committed iff an entry of this `term` is applied there. */
  | { readonly kind: 'appended'; readonly term: Term; readonly first: LogIndex }
  /** On its way to the leader, which may take it, drop it, or take it twice if the network doubles it. */
  | { readonly kind: 'forwarded'; readonly to: NodeId }
  | { readonly kind: 'dropped'; readonly reason: DropReason };

export type ReadOutcome =
  /** A `ReadState` follows, unless the leadership ends before. */
  | { readonly kind: 'waiting' }
  /** A `ReadState` follows, unless something is lost on the way. */
  | { readonly kind: 'forwarded'; readonly to: NodeId }
  | { readonly kind: 'dropped'; readonly reason: 'no-leader' | 'too-many-reads' };

export type TransferOutcome =
  /** It succeeds or is given up within `electionTicks`; proposals are dropped meanwhile. */
  | { readonly kind: 'started' }
  | { readonly kind: 'forwarded'; readonly to: NodeId }
  | { readonly kind: 'leads-already' }
  | { readonly kind: 'refused'; readonly reason: 'no-leader' | 'not-a-voter' };
