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
import type { EntryId } from './entry-id.ts';
import { RaftLog } from './raft-log.ts';
import type { ReadState } from './ready.ts';
import type { RoleState } from './role-state.ts';
import type { Snapshot } from './snapshot.ts';
import { nextTerm, type Term } from './term.ts';

/** The persisted state of a node, beside its log. `conf` is the membership as of `applied`. */
export interface InitialState {
  readonly hardState: HardState;
  readonly conf: ConfState;
  readonly applied: LogIndex;
}

export type CampaignKind = 'pre-vote' | 'vote' | 'transfer';

/** Bound on the messages that wait for a save. */
const DEFERRED_MAX = 1024;

/**
 * The state that all roles share: term, vote, log and membership, and the rules about terms and votes. The role does the
 * rest. This class never waits and never calls out: it collects output, and `RawNode` takes it.
 */
export class Raft {
  readonly id: NodeId;
  readonly options: RaftOptions;
  readonly log: RaftLog;
  #term: Term;
  #vote: NodeId | undefined;
  #conf: ConfState;
  #role: RoleState;
  /** The durable term and vote. */
  #durable: { readonly term: Term; readonly vote: NodeId | undefined };
  /** Changes of the membership that were handed out to be applied. */
  readonly #changesToApply: { readonly index: LogIndex; readonly change: ConfChange }[] = [];
  /** A change of the membership has been applied since the hard state was last handed out. */
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

  /** Only then this node's vote for itself in this term counts: a crash can't undo it. */
  get ownVoteIsDurable(): boolean {
    return this.#durable.term === this.#term && this.#durable.vote === this.id;
  }

  /** Whether this node may campaign: it is a voter, and has installed the snapshot that its membership comes from. */
  get promotable(): boolean {
    return isVoter(this.#conf, this.id) && !this.log.awaitsSnapshot;
  }

  /** Uniform in [electionTicks, 2 * electionTicks), so that nodes campaign at different times (Raft paper, 5.2). */
  randomElectionTicks(): number {
    return this.options.electionTicks + (this.options.random.uint32() % this.options.electionTicks);
  }

  /** For a message that says nothing about this node's disk. */
  send(message: Message): void {
    this.#messages.push(message);
  }

  /** For a message that may leave only when everything that is not persisted now is durable. */
  sendWhenPersisted(message: Message): void {
    // A save that hangs gets an answer for each heartbeat behind it. Messages may be lost, and the newest say the most.
    if (this.#deferred.length >= DEFERRED_MAX) this.#deferred.shift();
    this.#deferred.push(message);
  }

  confirmRead(state: ReadState): void {
    this.#readStates.push(state);
  }

  /** Takes a message that has no fault. */
  step(message: Message): void {
    // The message is for a node that had this address before.
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

  /** Asks for votes, if this node may lead. Does nothing while a committed change of the membership is not applied. */
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

  /** Replaces the log and the membership by those of the snapshot. Only for a follower. */
  restore(snapshot: Snapshot): void {
    assert(this.#role.role === 'follower', 'a snapshot is for followers');
    this.log.restore(snapshot);
    this.#changesToApply.length = 0;
    this.#conf = snapshot.conf;
  }

  /**
   * Voters tell each other what is committed, because the voter that may lead may be the one that does not know. So if a
   * group of two becomes a group of one, the remaining node learns of it, although neither node alone can elect a leader.
   */
  learnCommit(committed: EntryId): void {
    if (this.log.matches(committed.index, committed.term)) this.log.commitTo(committed.index);
  }

  hasUnappliedChange(): boolean {
    // `loading` counts as yes: the next timeout asks again.
    return this.log.someUnapplied((entry) => entry.kind === 'conf-change') !== false;
  }

  /** `entries` were handed out to be applied. Changes of the membership take effect when they are applied. */
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
   * The commit must be persisted even if nothing else must. Otherwise a crash could bring back an older membership, with a
   * node that has been told that it may leave.
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

  /** Everything is durable: messages that waited for it may leave with the others. */
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

  /** For a message of a later term. False: the message is to be ignored. Usually this node enters the message's term. */
  #acceptsTerm(message: Message & { readonly term: Term }): boolean {
    switch (message.type) {
      case 'vote':
      case 'pre-vote':
        // A node that hears from a leader doesn't help to depose it (thesis, 4.2.3): the sender may only have been cut off.
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
        // The sender is a leader that was cut off, or this node has campaigned since. Other nodes hear that leader and do
        // not vote for this node, so the terms would stay apart. The term of the answer makes the sender step down.
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
      case 'pre-vote-response':
        // Who refuses a pre-vote stays in its older term. What it knows to be committed is so in every term.
        if (this.#role instanceof Candidate) this.#role.learnCommit(message.committed);
        break;
      default:
    }
  }

  /**
   * At most one vote in a term, for a log at least as complete as this one (Raft paper, 5.4.1). A learner is asked only by a
   * node that already knows of its promotion. It answers like a voter: otherwise the group could lack the votes to tell it.
   */
  #answerVoteRequest(request: VoteRequest): void {
    this.learnCommit(request.committed);
    const forLater = request.type === 'pre-vote' && request.term > this.#term;
    const free = this.#vote === request.from || (this.#vote === undefined && this.#role.leader === undefined);
    const granted = (forLater || free) && this.log.isUpToDate(request.lastIndex, request.lastTerm);
    if (granted && request.type === 'vote') {
      this.#vote = request.from;
      // Starts a new election timeout, so that the candidate has time to win.
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
      committed: this.log.committedId,
    });
  }

  /**
   * Nodes that lose their leader at the same moment grant each other the pre-vote, and would then split the votes. So only
   * one of two goes on: the one with the more complete log, or with the higher id. The other waits for its next timeout.
   */
  #yieldTo(request: VoteRequest): void {
    if (this.#role.role !== 'pre-candidate') return;
    const sameLog = request.lastTerm === this.log.lastTerm && request.lastIndex === this.log.lastIndex;
    if (!sameLog || request.from > this.id) this.#role = new Follower(this, undefined);
  }
}
