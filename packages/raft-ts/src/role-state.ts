import type { Payload } from './entry.ts';
import type { Message } from './message.ts';
import type { NodeId } from './node-id.ts';
import type { ProposeOutcome, ReadOutcome, TransferOutcome } from './outcomes.ts';
import type { Role } from './ready.ts';

/**
 * What a node does while it has one role. An instance lives from one change of role or term to the next, so no state of
 * an old role is left over.
 */
export interface RoleState {
  readonly role: Role;
  readonly leader: NodeId | undefined;
  /** This node has heard from a leader so lately that it votes for no other node, unless the leader itself asks for it. */
  readonly hearsLeader: boolean;
  tick(): void;
  /** Takes a message of this node's term, or one without a term. Requests for votes are not among them. */
  step(message: Message): void;
  propose(payloads: readonly Payload[]): ProposeOutcome;
  readIndex(context: Uint8Array): ReadOutcome;
  transferLeader(target: NodeId): TransferOutcome;
  /** More of the log, or the hard state, is durable on this node. */
  persisted(): void;
  /** The membership has changed. */
  reconfigured(): void;
}
