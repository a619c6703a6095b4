import { assert } from '@engram/core';
import { Candidate } from './candidate.ts';
import { afterChange, type ConfState, isVoter } from './conf-state.ts';
import type { ConfChange, Entry } from './entry.ts';
import { Follower } from './follower.ts';
import type { HardState } from './hard-state.ts';
import { Leader } from './leader.ts';
import { type LogIndex, NO_INDEX } from './log-index.ts';
import type { LogStorage } from './log-storage.ts';
import type { Message, VoteRequest } from './message.ts';
import type { NodeId } from './node-id.ts';
import type { RaftOptions } from './options.ts';
import type { Place } from './place.ts';
import { RaftLog } from './raft-log.ts';
import type { ReadState } from './ready.ts';
import type { RoleState } from './role-state.ts';
import type { Snapshot } from './snapshot.ts';
import { nextTerm, type Term } from './term.ts';

/** What a node has persisted, beside the log. `conf` is the membership as of `applied`. */
export interface InitialState {
  readonly hardState: HardState;
  readonly conf: ConfState;
  readonly applied: LogIndex;
}

export type CampaignKind = 'pre-vote' | 'vote' | 'transfer';

/**
 * What all roles share: term, vote, log, membership, and the rules about terms and votes. The role does the rest. Nothing
 * here waits or calls out: `RawNode` takes what has gathered.
 */
export class Raft {
  readonly id: NodeId;
  readonly options: RaftOptions;
  readonly log: RaftLog;
  #term: Term;
  #vote: NodeId | undefined;
  #conf: ConfState;
  #role: RoleState;
  /** Terms and votes as they are durable. */
  #durable: { readonly term: Term; readonly vote: NodeId | undefined };
  /** Changes of the membership that were handed out to be applied. */
  readonly #changesToApply: { readonly index: LogIndex; readonly change: ConfChange }[] = [];
  /** A change of the membership has been applied since the commit was persisted last. */
  #confUnsaved = false;
  #messages: Message[] = [];
  #deferred: Message[] = [];
  #readStates: ReadState[] = [];

  constructor(options: RaftOptions, storage: LogStorage, initial: InitialState) {
    this.id = options.id;
    this.options = options;
    this.log = new RaftLog(storage, options.applyingBytesMax, initial.hardState.commit, initial.applied);
    this.#term = initial.hardState.term;
    this.#vote = initial.hardState.vote;
    this.#durable = { term: this.#term, vote: this.#vote };
    this.#conf = initial.conf;
    this.#role = new Follower(this, undefined);
  }

  get term(): Term {
    return this.#term;
  }

  get conf(): ConfState {
    return this.#conf;
  }

  get role(): RoleState {
    return this.#role;
  }

  get hardState(): HardState {
    return { term: this.#term, vote: this.#vote, commit: this.log.committed };
  }

  /** This node's vote for itself in this term counts only once a crash can't take it back. */
  get ownVoteIsDurable(): boolean {
    return this.#durable.term === this.#term && this.#durable.vote === this.id;
  }

  /** May campaign: a voter that has what its membership was taken from. */
  get promotable(): boolean {
    return isVoter(this.#conf, this.id) && !this.log.awaitsSnapshot;
  }

  /** Uniform in [electionTicks, 2 * electionTicks): it keeps campaigns apart (Raft paper, 5.2). */
  randomElectionTicks(): number {
    return this.options.electionTicks + (this.options.random.uint32() % this.options.electionTicks);
  }

  /** A message that says nothing about this node's disk. */
  send(message: Message): void {
    this.#messages.push(message);
  }

  /** A message that may leave only when all that is not persisted now is durable. */
  sendWhenPersisted(message: Message): void {
    this.#deferred.push(message);
  }

  confirmRead(state: ReadState): void {
    this.#readStates.push(state);
  }

  step(message: Message): void {
    // Meant for whoever had this address before.
    if (message.to !== this.id) return;
    if (!('term' in message)) this.#role.step(message);
    else if (message.term < this.#term) this.#answerOldTerm(message);
    else if (message.term === this.#term || this.#acceptsTerm(message)) {
      if (message.type === 'vote' || message.type === 'pre-vote') this.#answerVoteRequest(message);
      else this.#role.step(message);
    }
  }

  becomeFollower(term: Term, leader: NodeId | undefined): void {
    this.#enterTerm(term);
    this.#role = new Follower(this, leader);
  }

  becomeLeader(): void {
    assert(this.#role.role === 'candidate', 'leads without having been elected');
    const leader = new Leader(this);
    this.#role = leader;
    leader.begin();
  }

  /** Asks for votes, if this node may lead. A change of the membership that is not applied yet comes first. */
  campaign(kind: CampaignKind): void {
    if (this.#role.role === 'leader' || !this.promotable || this.hasUnappliedChange()) return;
    if (kind === 'pre-vote') {
      const candidate = new Candidate(this, 'pre-candidate', nextTerm(this.#term));
      this.#role = candidate;
      candidate.begin(false);
    } else {
      this.#enterTerm(nextTerm(this.#term));
      this.#vote = this.id;
      const candidate = new Candidate(this, 'candidate', this.#term);
      this.#role = candidate;
      candidate.begin(kind === 'transfer');
    }
  }

  /** Takes the snapshot in place of the log, and its membership. Only a follower does. */
  restore(snapshot: Snapshot): void {
    assert(this.#role.role === 'follower', 'a snapshot is for followers');
    this.log.restore(snapshot);
    this.#changesToApply.length = 0;
    this.#conf = snapshot.conf;
  }

  /**
   * Voters tell each other what is committed, since the one that may lead could be the one that does not know. So a group
   * of two that has become a group of one finds out who is left, though each of them alone can't elect anybody.
   */
  learnCommit(committed: Place): void {
    if (this.log.matches(committed.index, committed.term)) this.log.commitTo(committed.index);
  }

  hasUnappliedChange(): boolean {
    // `loading` counts as yes: the next timeout asks again.
    return this.log.someUnapplied((entry) => entry.kind === 'conf-change') !== false;
  }

  /** `entries` were handed out: changes of the membership take effect when they are applied. */
  noteHandedOut(entries: readonly Entry[]): void {
    for (const entry of entries) {
      if (entry.kind === 'conf-change') this.#changesToApply.push({ index: entry.index, change: entry.change });
    }
  }

  applied(index: LogIndex): void {
    this.log.appliedTo(index);
    for (let first = this.#changesToApply[0]; first !== undefined && first.index <= index; ) {
      this.#changesToApply.shift();
      this.#conf = afterChange(this.#conf, first.change);
      this.#confUnsaved = true;
      this.#role.reconfigured();
      first = this.#changesToApply[0];
    }
  }

  /**
   * The commit must be persisted although nothing else must: a crash may not bring an older membership back, in which a
   * node counts that has been told that it may go.
   */
  get confUnsaved(): boolean {
    return this.#confUnsaved;
  }

  /** The hard state was handed out to be persisted. */
  confHandedOut(): void {
    this.#confUnsaved = false;
  }

  persisted(durable: HardState | undefined): void {
    if (durable !== undefined) this.#durable = durable;
    this.log.persisted();
    this.#role.persisted();
  }

  /** Messages that wait for what is persisted become ordinary when everything is. */
  releaseDeferred(): void {
    for (const message of this.#deferred) this.#messages.push(message);
    this.#deferred = [];
  }

  get hasOutput(): boolean {
    return this.#messages.length > 0 || this.#readStates.length > 0;
  }

  get hasDeferred(): boolean {
    return this.#deferred.length > 0;
  }

  takeMessages(): readonly Message[] {
    const taken = this.#messages;
    this.#messages = [];
    return taken;
  }

  takeDeferred(): readonly Message[] {
    const taken = this.#deferred;
    this.#deferred = [];
    return taken;
  }

  takeReadStates(): readonly ReadState[] {
    const taken = this.#readStates;
    this.#readStates = [];
    return taken;
  }

  #enterTerm(term: Term): void {
    assert(term >= this.#term, 'a term went back');
    if (term === this.#term) return;
    this.#term = term;
    this.#vote = undefined;
  }

  /** False: the message is to be ignored. Usually this node goes on in the message's term. */
  #acceptsTerm(message: Message & { readonly term: Term }): boolean {
    switch (message.type) {
      case 'vote':
      case 'pre-vote':
        // Who hears from a leader doesn't help to depose it (thesis, 4.2.3): the sender may just have been cut off.
        if (!message.transfer && this.#role.hearsLeader) return false;
        if (message.type === 'pre-vote') return true;
        break;
      case 'pre-vote-response':
        // A grant has the term that this node would campaign in.
        if (message.granted) return true;
        break;
      case 'append':
      case 'heartbeat':
      case 'snapshot':
        this.becomeFollower(message.term, message.from);
        return true;
      default:
    }
    this.becomeFollower(message.term, undefined);
    return true;
  }

  #answerOldTerm(message: Message): void {
    switch (message.type) {
      case 'append':
      case 'heartbeat':
      case 'snapshot':
        // A leader that was cut off, or one that this node has left behind by campaigning. Nobody votes for a node that
        // leads or hears a leader, so terms would never meet: the answer's term makes the sender step down.
        this.sendWhenPersisted({
          type: 'append-response',
          from: this.id,
          to: message.from,
          term: this.#term,
          index: NO_INDEX,
          rejection: undefined,
        });
        break;
      case 'pre-vote':
        // The sender learns the term and can campaign above it.
        this.#answerVote(message, false);
        break;
      default:
    }
  }

  /**
   * At most one vote in a term, for a log at least as complete as this one (Raft paper, 5.4.1). A learner is asked only by
   * who knows of its promotion already: it answers like any other, or the group could lack the votes to tell it.
   */
  #answerVoteRequest(request: VoteRequest): void {
    this.learnCommit(request.committed);
    const forLater = request.type === 'pre-vote' && request.term > this.#term;
    const free = this.#vote === request.from || (this.#vote === undefined && this.#role.leader === undefined);
    const granted = (forLater || free) && this.log.isUpToDate(request.lastIndex, request.lastTerm);
    if (granted && request.type === 'vote') {
      this.#vote = request.from;
      // A new election timeout: the candidate gets the time to win.
      this.#role = new Follower(this, this.#role.leader);
    }
    this.#answerVote(request, granted);
    if (granted && request.type === 'pre-vote') this.#yieldTo(request);
  }

  #answerVote(request: VoteRequest, granted: boolean): void {
    this.sendWhenPersisted({
      type: request.type === 'vote' ? 'vote-response' : 'pre-vote-response',
      from: this.id,
      to: request.from,
      term: granted ? request.term : this.#term,
      granted,
      committed: this.log.committedPlace,
    });
  }

  /**
   * Nodes that lose their leader at the same moment ask each other for a pre-vote, grant it, and would divide the votes.
   * So one of the two goes on: the one with the more complete log, or with the higher id. The other has its next timeout.
   */
  #yieldTo(request: VoteRequest): void {
    if (this.#role.role !== 'pre-candidate') return;
    const sameLog = request.lastTerm === this.log.lastTerm && request.lastIndex === this.log.lastIndex;
    if (!sameLog || request.from > this.id) this.#role = new Follower(this, undefined);
  }
}
