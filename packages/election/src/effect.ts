import type { Epoch, ErrorCode } from '@engram/core';
import type { ClusterState } from './cluster-state.ts';
import type { MemberId } from './member.ts';
import type { PeerMessage } from './peer-message.ts';
import type { RaftBatch } from './raft-state.ts';

/** The caller's number for something that it waits for. */
export type Ticket = number;

export type ChangeOutcome =
  /** Applied here. */
  | { readonly kind: 'done' }
  /** Nothing was proposed, or another leader's entry has taken its place: it never takes effect. */
  | { readonly kind: 'refused'; readonly code: ErrorCode }
  /** It was proposed, and a snapshot hides what became of it. */
  | { readonly kind: 'unknown' };

/** What the owner of an election does next, in this order. Nothing of it is waited for but a save. */
export type Effect =
  | { readonly kind: 'send'; readonly messages: readonly PeerMessage[] }
  /** Make it durable; then send the messages and call `saved`. The next save comes after that. */
  | { readonly kind: 'save'; readonly batch: RaftBatch; readonly messages: readonly PeerMessage[] }
  /**
   * This member leads, in this epoch: seal the log of the data, take over, `announce` where it begins. Ends with
   * `resigned`, and no other `lead` comes before it.
   */
  | { readonly kind: 'lead'; readonly epoch: Epoch }
  /** The leadership has ended in Raft. The store steps down and calls `resigned`. */
  | { readonly kind: 'step-down'; readonly epoch: Epoch }
  /** Another member leads. It may not have taken over yet. */
  | { readonly kind: 'follow'; readonly leader: MemberId; readonly epoch: Epoch }
  | { readonly kind: 'no-leader' }
  /** What the members agree on has changed: members, settings, the newest leadership of the store. */
  | { readonly kind: 'cluster'; readonly state: ClusterState }
  /** This member led in `epoch`, after each of these had asked. */
  | { readonly kind: 'confirmed'; readonly tickets: readonly Ticket[]; readonly epoch: Epoch }
  | { readonly kind: 'not-confirmed'; readonly tickets: readonly Ticket[]; readonly code: ErrorCode }
  | { readonly kind: 'settled'; readonly ticket: Ticket; readonly outcome: ChangeOutcome }
  /** A message of another cluster has come: somebody's addresses are wrong. It was ignored. */
  | { readonly kind: 'foreign-message'; readonly clusterId: bigint }
  /** This member was removed from the cluster, and the leader says that it may go. Comes once. */
  | { readonly kind: 'removed' };
