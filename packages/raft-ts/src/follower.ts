import type { Payload } from './entry.ts';
import { type LogIndex, minIndex } from './log-index.ts';
import type { AppendRequest, AppendResponse, Heartbeat, Message, SnapshotMessage } from './message.ts';
import type { NodeId } from './node-id.ts';
import type { ProposeOutcome, ReadOutcome, TransferOutcome } from './outcomes.ts';
import type { Raft } from './raft.ts';
import type { RoleState } from './role-state.ts';

/** Takes what the leader sends. If it hears from no leader for its election timeout, it campaigns, if it may. */
export class Follower implements RoleState {
  readonly role = 'follower';
  readonly #raft: Raft;
  readonly #timeoutTicks: number;
  #elapsedTicks = 0;
  #leader: NodeId | undefined;

  constructor(raft: Raft, leader: NodeId | undefined) {
    this.#raft = raft;
    this.#leader = leader;
    this.#timeoutTicks = raft.randomElectionTicks();
  }

  get leader(): NodeId | undefined {
    return this.#leader;
  }

  get hearsLeader(): boolean {
    const { checkQuorum, electionTicks } = this.#raft.options;
    return checkQuorum && this.#leader !== undefined && this.#elapsedTicks < electionTicks;
  }

  tick(): void {
    this.#elapsedTicks += 1;
    if (this.#elapsedTicks < this.#timeoutTicks) return;
    this.#elapsedTicks = 0;
    this.#leader = undefined;
    this.#raft.campaign(this.#raft.options.preVote ? 'pre-vote' : 'vote');
  }

  step(message: Message): void {
    switch (message.type) {
      case 'append':
        this.#heard(message.from);
        this.#append(message);
        break;
      case 'heartbeat':
        this.#heard(message.from);
        this.#heartbeat(message);
        break;
      case 'snapshot':
        this.#heard(message.from);
        this.#restore(message);
        break;
      case 'timeout-now':
        // No pre-vote: this node was not cut off, and the leader waits for it.
        this.#raft.campaign('transfer');
        break;
      case 'read-index-response':
        this.#raft.confirmRead({ context: message.context, index: message.index });
        break;
      // All other messages are for leaders, or too late. A follower does not forward what another node has forwarded, because
      // the message could go in circles.
      default:
    }
  }

  propose(payloads: readonly Payload[]): ProposeOutcome {
    const to = this.#leader;
    if (to === undefined) return { kind: 'dropped', reason: 'no-leader' };
    this.#raft.send({ type: 'propose', from: this.#raft.id, to, payloads });
    return { kind: 'forwarded', to };
  }

  readIndex(context: Uint8Array): ReadOutcome {
    const to = this.#leader;
    if (to === undefined) return { kind: 'dropped', reason: 'no-leader' };
    this.#raft.send({ type: 'read-index', from: this.#raft.id, to, context });
    return { kind: 'forwarded', to };
  }

  transferLeader(target: NodeId): TransferOutcome {
    const to = this.#leader;
    if (to === undefined) return { kind: 'refused', reason: 'no-leader' };
    if (to === target) return { kind: 'leads-already' };
    this.#raft.send({ type: 'transfer-leader', from: this.#raft.id, to, target });
    return { kind: 'forwarded', to };
  }

  persisted(): void {}

  reconfigured(): void {}

  /** Forgets the leader, so that other nodes get this node's vote. The next message of a leader ends this. */
  forgetLeader(): void {
    this.#leader = undefined;
  }

  #heard(leader: NodeId): void {
    this.#elapsedTicks = 0;
    this.#leader = leader;
  }

  #append(message: AppendRequest): void {
    const { log } = this.#raft;
    if (message.prevIndex < log.committed) {
      // An old message: everything up to `committed` agrees with the leader's log in any case.
      this.#acknowledge(message.from, log.committed);
    } else if (log.matches(message.prevIndex, message.prevTerm)) {
      log.merge(message.entries);
      const last = message.entries.at(-1)?.index ?? message.prevIndex;
      // Entries behind `last` may be of another leader, so the leader's commit does not cover them.
      log.commitTo(minIndex(message.commit, last));
      this.#acknowledge(message.from, last);
    } else {
      this.#reject(message);
    }
  }

  #reject(message: AppendRequest): void {
    const { log } = this.#raft;
    const rejection = log.guessAgreement(minIndex(message.prevIndex, log.lastIndex), message.prevTerm);
    this.#answer(message.from, message.prevIndex, rejection);
  }

  #heartbeat(message: Heartbeat): void {
    this.#raft.log.commitTo(message.commit);
    // The answer says that this node is still in the leader's term. It says nothing about its disk, so it leaves at once.
    this.#raft.send({
      type: 'heartbeat-response',
      from: this.#raft.id,
      to: message.from,
      term: this.#raft.term,
      readRound: message.readRound,
    });
  }

  #restore(message: SnapshotMessage): void {
    const { log } = this.#raft;
    const { snapshot, from } = message;
    if (snapshot.index > log.committed) {
      // A log that already contains the snapshot's last entry is kept.
      if (log.matches(snapshot.index, snapshot.term)) log.commitTo(snapshot.index);
      else this.#raft.restore(snapshot);
    }
    this.#acknowledge(from, log.committed);
  }

  #acknowledge(to: NodeId, index: LogIndex): void {
    this.#answer(to, index, undefined);
  }

  #answer(to: NodeId, index: LogIndex, rejection: AppendResponse['rejection']): void {
    const { id, term } = this.#raft;
    this.#raft.sendWhenPersisted({ type: 'append-response', from: id, to, term, index, rejection });
  }
}
