import type { Payload } from './entry.ts';
import type { Message } from './message.ts';
import type { NodeId } from './node-id.ts';
import type { ProposeOutcome, ReadOutcome, TransferOutcome } from './outcomes.ts';
import type { Role } from './ready.ts';

/**
 * What a node does while it has one role. An instance lives from one change of role or term to the next, so nothing of
 * an old role is left to be forgotten.
 */
export interface RoleState {
  readonly role: Role;
  readonly leader: NodeId | undefined;
  /** A leader's word is so fresh that nobody else gets a vote, unless the leader itself wants it. */
  readonly hearsLeader: boolean;
  tick(): void;
  /** A message of this node's term, or without one; votes are not among them. */
  step(message: Message): void;
  propose(payloads: readonly Payload[]): ProposeOutcome;
  readIndex(context: Uint8Array): ReadOutcome;
  transferLeader(target: NodeId): TransferOutcome;
  /** More of the log, or the hard state, is durable on this node. */
  persisted(): void;
  /** The membership has changed. */
  reconfigured(): void;
}
