import type { Epoch, ErrorCode } from '@engram/core';
import type { ClusterState } from './cluster/cluster-state.ts';
import type { MemberId } from './cluster/member.ts';
import type { PeerMessage } from './peer-message.ts';
import type { RaftBatch } from './raft-state.ts';

/** The caller's number for an outcome that it waits for. */
export type Ticket = number;

/** A member that asks for its readers, and its epoch when it asked: it had voted for no later leader by then. */
export interface Witness {
  readonly member: MemberId;
  readonly epoch: Epoch;
}

export type ChangeOutcome =
  /** The change is applied on this member. */
  | { readonly kind: 'done' }
  /** The change was not proposed, or another leader's entry has its index: it never takes effect. */
  | { readonly kind: 'refused'; readonly code: ErrorCode }
  /** The change was proposed, and a snapshot hides its outcome. */
  | { readonly kind: 'unknown' };

/** What the owner of an election does next, in this order. The owner waits only for a save. */
export type Effect =
  | { readonly kind: 'send'; readonly messages: readonly PeerMessage[] }
  /** Make the batch durable. Then send the messages and call `saved`. The next save comes after that. */
  | { readonly kind: 'save'; readonly batch: RaftBatch; readonly messages: readonly PeerMessage[] }
  /**
   * This member leads in this epoch: seal the log of the data, take over, and `announce` where the leadership begins. It
   * ends with `resigned`, and no other `lead` comes before that.
   */
  | { readonly kind: 'lead'; readonly epoch: Epoch }
  /** The leadership has ended in Raft. The store steps down and calls `resigned`. */
  | { readonly kind: 'step-down'; readonly epoch: Epoch }
  /** Another member leads. It may not have taken over yet. */
  | { readonly kind: 'follow'; readonly leader: MemberId; readonly epoch: Epoch }
  | { readonly kind: 'no-leader' }
  /** The agreed state has changed: members, settings, or the newest leadership of the store. */
  | { readonly kind: 'cluster'; readonly state: ClusterState }
  /** This member led in `epoch` at some moment after each of these tickets was added, or its witness asked. */
  | { readonly kind: 'confirmed'; readonly tickets: readonly Ticket[]; readonly epoch: Epoch }
  | { readonly kind: 'not-confirmed'; readonly tickets: readonly Ticket[]; readonly code: ErrorCode }
  | { readonly kind: 'settled'; readonly ticket: Ticket; readonly outcome: ChangeOutcome }
  /** This member was removed from the cluster, and the leader has confirmed that it may leave. Comes once. */
  | { readonly kind: 'removed' };
