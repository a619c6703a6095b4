import { hasQuorum, isVoter, quorumSize } from './conf-state.ts';
import type { EntryId } from './entry-id.ts';
import type { Message, VoteResponse } from './message.ts';
import type { NodeId } from './node-id.ts';
import type { ProposeOutcome, ReadOutcome, TransferOutcome } from './outcomes.ts';
import type { Raft } from './raft.ts';
import type { RoleState } from './role-state.ts';
import type { Term } from './term.ts';

/**
 * Asks the voters. A pre-candidate stays in its old term, casts no vote, and asks whether the voters would vote for it
 * (thesis, 9.6). With a majority it becomes a candidate. With a majority of votes the candidate becomes the leader.
 */
export class Candidate implements RoleState {
  readonly role: 'pre-candidate' | 'candidate';
  readonly leader = undefined;
  readonly hearsLeader = false;
  readonly #raft: Raft;
  readonly #term: Term;
  readonly #timeoutTicks: number;
  #elapsedTicks = 0;
  readonly #answers = new Map<NodeId, boolean>();

  /** `term`: the term in which this node leads if it wins. */
  constructor(raft: Raft, role: 'pre-candidate' | 'candidate', term: Term) {
    this.#raft = raft;
    this.role = role;
    this.#term = term;
    this.#timeoutTicks = raft.randomElectionTicks();
  }

  begin(transfer: boolean): void {
    const { id, conf, log } = this.#raft;
    for (const to of conf.voters) {
      if (to === id) continue;
      // The term must be durable first: after a crash this node could campaign in it again, with a shorter log, and count
      // the answers to this request.
      this.#raft.sendWhenPersisted({
        type: this.role === 'candidate' ? 'vote' : 'pre-vote',
        from: id,
        to,
        term: this.#term,
        lastIndex: log.lastIndex,
        lastTerm: log.lastTerm,
        transfer,
        committed: log.committedId,
      });
    }
    // A candidate's own vote counts once it is durable.
    if (this.role === 'pre-candidate') this.#count(id, true);
  }

  tick(): void {
    this.#elapsedTicks += 1;
    if (this.#elapsedTicks < this.#timeoutTicks) return;
    this.#elapsedTicks = 0;
    this.#raft.campaign(this.#raft.options.preVote ? 'pre-vote' : 'vote');
  }

  step(message: Message): void {
    switch (message.type) {
      case 'append':
      case 'heartbeat':
      case 'snapshot':
        // Another node has won this term.
        this.#raft.becomeFollower(message.term, message.from);
        this.#raft.role.step(message);
        break;
      case 'vote-response':
      case 'pre-vote-response':
        this.learnCommit(message.committed);
        if (this.#raft.role === this && this.#isForMe(message)) this.#count(message.from, message.granted);
        break;
      default:
    }
  }

  /** A learnt commit may contain a change of the membership. Then this campaign asks the wrong nodes, and ends. */
  learnCommit(committed: EntryId): void {
    this.#raft.learnCommit(committed);
    if (this.#raft.hasUnappliedChange()) this.#raft.becomeFollower(this.#raft.term, undefined);
  }

  propose(): ProposeOutcome {
    return { kind: 'dropped', reason: 'no-leader' };
  }

  readIndex(): ReadOutcome {
    return { kind: 'dropped', reason: 'no-leader' };
  }

  transferLeader(): TransferOutcome {
    return { kind: 'refused', reason: 'no-leader' };
  }

  persisted(): void {
    if (this.role === 'candidate' && this.#raft.ownVoteIsDurable) this.#count(this.#raft.id, true);
  }

  reconfigured(): void {
    this.#decide();
  }

  /** False for an answer of the other phase, and for a grant of another term. */
  #isForMe(response: VoteResponse): boolean {
    const phase = response.type === 'vote-response' ? 'candidate' : 'pre-candidate';
    return phase === this.role && (!response.granted || response.term === this.#term);
  }

  #count(from: NodeId, granted: boolean): void {
    // The first answer counts: a second one is a copy of it.
    if (!this.#answers.has(from)) this.#answers.set(from, granted);
    this.#decide();
  }

  #decide(): void {
    const { conf } = this.#raft;
    const refusals = conf.voters.filter((voter) => this.#answers.get(voter) === false).length;
    const lost = conf.voters.length - refusals < quorumSize(conf) || !isVoter(conf, this.#raft.id);
    if (lost) this.#raft.becomeFollower(this.#raft.term, undefined);
    else if (hasQuorum(conf, (voter) => this.#answers.get(voter) === true)) this.#win();
  }

  #win(): void {
    if (this.role === 'pre-candidate') this.#raft.campaign('vote');
    else this.#raft.becomeLeader();
  }
}
