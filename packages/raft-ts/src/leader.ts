import { assert } from '@engram/core';
import { hasQuorum, isApplicable, isMember, isVoter } from './conf-state.ts';
import { type Entry, type Payload, payloadBytes } from './entry.ts';
import { indexAfter, type LogIndex } from './log-index.ts';
import type { AppendResponse, HeartbeatResponse, Message } from './message.ts';
import type { NodeId } from './node-id.ts';
import type { DropReason, ProposeOutcome, ReadOutcome, TransferOutcome } from './outcomes.ts';
import type { Progress } from './progress.ts';
import type { Raft } from './raft.ts';
import { ReadRounds } from './read-rounds.ts';
import { Replication } from './replication.ts';
import type { RoleState } from './role-state.ts';
import { UncommittedTail } from './uncommitted-tail.ts';

const EMPTY = new Uint8Array(0);

/** One leadership. It appends, commits what a majority has, confirms reads, hands over, and ends without a majority. */
export class Leader implements RoleState {
  readonly role = 'leader';
  readonly leader: NodeId;
  readonly #raft: Raft;
  readonly replication: Replication;
  readonly #reads: ReadRounds;
  readonly #uncommitted: UncommittedTail;
  /** Until this entry is applied, no change of the membership may be proposed: at most one is pending. */
  #pendingChange: LogIndex;
  #transfer: { readonly target: NodeId; elapsedTicks: number } | undefined;
  /** The voters that this leader, being removed, has asked to take over. */
  readonly #askedToLead = new Set<NodeId>();
  #quorumElapsedTicks = 0;
  #heartbeatElapsedTicks = 0;

  constructor(raft: Raft) {
    this.#raft = raft;
    this.leader = raft.id;
    this.replication = new Replication(raft);
    this.#reads = new ReadRounds(raft.options.waitingReadsMax);
    this.#uncommitted = new UncommittedTail(raft.options.uncommittedBytesMax);
    this.#pendingChange = indexAfter(raft.log.lastIndex);
  }

  get transferTarget(): NodeId | undefined {
    return this.#transfer?.target;
  }

  get takesConfChange(): boolean {
    return this.#pendingChange <= this.#raft.log.applied && this.#transfer === undefined && !this.#leaving;
  }

  /** With `checkQuorum`, a leader ignores the campaign of another node: it steps down when it counts no quorum. */
  get hearsLeader(): boolean {
    return this.#raft.options.checkQuorum;
  }

  /**
   * Begins the term with an empty entry. Entries of earlier terms are never committed by counting, only by an entry of this
   * term behind them (Raft paper, figure 8). Until an entry of this term is committed, a leader does not know which are.
   */
  begin(): void {
    this.#append([{ kind: 'normal', data: EMPTY }]);
  }

  tick(): void {
    const { options } = this.#raft;
    this.#quorumElapsedTicks += 1;
    if (this.#quorumElapsedTicks >= options.electionTicks) {
      this.#quorumElapsedTicks = 0;
      if (!this.replication.countActive() && options.checkQuorum) {
        this.#raft.becomeFollower(this.#raft.term, undefined);
        return;
      }
    }
    if (this.#transfer !== undefined) {
      this.#transfer.elapsedTicks += 1;
      if (this.#transfer.elapsedTicks >= options.electionTicks) this.#transfer = undefined;
    }
    this.#handOverIfLeaving();
    this.#heartbeatElapsedTicks += 1;
    if (this.#heartbeatElapsedTicks >= options.heartbeatTicks) this.#sendHeartbeats();
  }

  step(message: Message): void {
    switch (message.type) {
      case 'append-response':
        this.#answered(message);
        break;
      case 'heartbeat-response':
        this.#heartbeatAnswered(message);
        break;
      case 'propose':
        // The node that passed it on learns the outcome from the committed entries.
        this.propose(message.payloads);
        break;
      case 'read-index':
        if (isMember(this.#raft.conf, message.from)) this.#read(message.from, message.context);
        break;
      case 'transfer-leader':
        this.transferLeader(message.target);
        break;
      case 'append':
      case 'heartbeat':
      case 'snapshot':
        assert(false, 'two leaders in one term');
        break;
      default:
    }
  }

  propose(payloads: readonly Payload[]): ProposeOutcome {
    const reason = this.#refusal(payloads);
    if (reason !== undefined) return { kind: 'dropped', reason };
    const first = indexAfter(this.#raft.log.lastIndex);
    this.#append(payloads);
    return { kind: 'appended', term: this.#raft.term, first };
  }

  readIndex(context: Uint8Array): ReadOutcome {
    if (!this.#read(this.#raft.id, context)) return { kind: 'dropped', reason: 'too-many-reads' };
    return { kind: 'waiting' };
  }

  transferLeader(target: NodeId): TransferOutcome {
    if (target === this.#raft.id) return { kind: 'leads-already' };
    if (!isVoter(this.#raft.conf, target)) return { kind: 'refused', reason: 'not-a-voter' };
    if (this.#transfer?.target === target) return { kind: 'started' };
    this.#transfer = { target, elapsedTicks: 0 };
    if (!this.#handOverIfComplete(target)) this.replication.send(target);
    return { kind: 'started' };
  }

  persisted(): void {
    this.#advanceCommit();
  }

  reconfigured(): void {
    const { conf } = this.#raft;
    this.replication.reconfigured();
    if (this.#transfer !== undefined && !isVoter(conf, this.#transfer.target)) this.#transfer = undefined;
    this.#handOverIfLeaving();
    // A smaller group may have the majority that the previous group lacked.
    if (!this.#advanceCommit()) this.replication.catchUp();
    this.#finishReads();
    // The voters that were asked may be no majority of the new group.
    this.#askTheOthers();
  }

  /** Messages to `node` were lost: probes again where its log agrees, and a round of reads may need another voter. */
  unreachable(node: NodeId): void {
    const progress = this.replication.followers.get(node);
    if (progress?.state === 'replicate') progress.becomeProbe();
    if (this.#reads.asks(node)) this.#askTheOthers();
  }

  /** The transport has delivered the snapshot to `node`, or given up. */
  snapshotSent(node: NodeId, delivered: boolean): void {
    const progress = this.replication.followers.get(node);
    if (progress?.state !== 'snapshot') return;
    if (delivered) progress.becomeProbe();
    else progress.snapshotFailed();
    // The follower's answer to the snapshot may be on the way. If not, the answer to the next heartbeat resumes the appends.
    progress.pause();
  }

  #refusal(payloads: readonly Payload[]): DropReason | undefined {
    if (this.#transfer !== undefined || this.#leaving) return 'transferring';
    let bytes = 0;
    let changes = 0;
    for (const payload of payloads) {
      bytes += payloadBytes(payload);
      if (payload.kind !== 'conf-change') continue;
      changes += 1;
      if (changes > 1 || !this.takesConfChange) return 'conf-change-pending';
      // No change is pending, so the change will be applied to this membership.
      if (!isApplicable(this.#raft.conf, payload.change)) return 'conf-change-not-applicable';
    }
    return this.#uncommitted.hasRoom(bytes) ? undefined : 'too-many-uncommitted-bytes';
  }

  #append(payloads: readonly Payload[]): void {
    const { log, term } = this.#raft;
    let index = log.lastIndex;
    const entries = payloads.map((payload): Entry => {
      index = indexAfter(index);
      this.#uncommitted.add(index, payloadBytes(payload));
      if (payload.kind === 'normal') return { kind: 'normal', term, index, data: payload.data };
      this.#pendingChange = index;
      return { kind: 'conf-change', term, index, change: payload.change };
    });
    log.append(entries);
    this.replication.broadcast();
  }

  #answered(response: AppendResponse): void {
    const { from } = response;
    const progress = this.replication.followers.get(from);
    if (progress === undefined) return;
    progress.recentlyActive = true;
    if (response.rejection !== undefined) this.replication.rejected(progress, response);
    else if (this.replication.acknowledged(progress, response)) this.#acknowledgedBy(from, progress);
  }

  #acknowledgedBy(from: NodeId, progress: Progress): void {
    if (!this.#advanceCommit() && progress.needsCommit(this.#raft.log.committed)) this.replication.send(from);
    this.replication.sendAll(from);
    if (this.#transfer?.target === from) this.#handOverIfComplete(from);
  }

  #heartbeatAnswered(response: HeartbeatResponse): void {
    const { from, readRound } = response;
    const progress = this.replication.followers.get(from);
    if (progress === undefined) return;
    progress.recentlyActive = true;
    progress.resume();
    // Even an empty append: its answer shows where the follower's log ends if all appends before were lost.
    if (progress.match < this.#raft.log.lastIndex || progress.state === 'probe') this.replication.send(from);
    if (this.#transfer?.target === from) this.#handOverIfComplete(from);
    this.#reads.confirmedBy(from, readRound);
    this.#finishReads();
  }

  /** Commits up to the last entry that a majority has, if that entry is of this term. False if nothing is committed. */
  #advanceCommit(): boolean {
    const { log, term } = this.#raft;
    const index = this.replication.quorumIndex();
    if (index <= log.committed || log.term(index) !== term) return false;
    log.commitTo(index);
    this.#uncommitted.committed(index);
    this.replication.broadcast();
    this.#beginReads();
    return true;
  }

  #sendHeartbeats(): void {
    this.#heartbeatElapsedTicks = 0;
    this.#reads.askAll();
    this.replication.heartbeat(this.#reads.number);
  }

  #read(from: NodeId, context: Uint8Array): boolean {
    const taken = this.#reads.add({ from, context });
    if (taken) this.#beginReads();
    return taken;
  }

  /** Begins no round before an entry of this term is committed: the leader may not know writes that others have answered. */
  #beginReads(): void {
    const { log, term, id } = this.#raft;
    if (log.term(log.committed) !== term) return;
    if (!this.#reads.begin(log.committed, id)) return;
    this.replication.heartbeatVoters(this.#reads.number, (voter) => this.#reads.asks(voter));
    this.#finishReads();
  }

  /** Asks the voters that the round under way has left out; the next round asks all. */
  #askTheOthers(): void {
    if (this.#reads.isUnderWay) {
      this.replication.heartbeatVoters(this.#reads.number, (voter) => !this.#reads.asks(voter));
    }
    this.#reads.askAll();
  }

  #finishReads(): void {
    const { conf, id: self } = this.#raft;
    const round = this.#reads.finish((confirmed) => hasQuorum(conf, (voter) => confirmed.has(voter)));
    if (round === undefined) return;
    const { index } = round;
    for (const { from, context } of round.requests) {
      if (from === self) this.#raft.confirmRead({ context, index });
      else {
        this.#raft.send({ type: 'read-index-response', from: self, to: from, term: this.#raft.term, index, context });
      }
    }
    this.#beginReads();
  }

  #handOverIfComplete(target: NodeId): boolean {
    const progress = this.replication.followers.get(target);
    if (progress?.match !== this.#raft.log.lastIndex) return false;
    this.#raft.send({ type: 'timeout-now', from: this.#raft.id, to: target, term: this.#raft.term });
    return true;
  }

  /** This node is no longer a voter. */
  get #leaving(): boolean {
    return !isVoter(this.#raft.conf, this.#raft.id);
  }

  /**
   * A removed leader goes on, without counting itself, until another voter leads (thesis, 4.2.2): the others may not know
   * yet that the change is committed. It asks the voter with the most entries to take over, and each election timeout another
   * one: nothing is appended meanwhile, so a voter that is gone would keep the most entries.
   */
  #handOverIfLeaving(): void {
    if (!this.#leaving || this.#transfer !== undefined) return;
    let successor = this.#successor();
    if (successor === undefined) {
      this.#askedToLead.clear();
      successor = this.#successor();
    }
    if (successor === undefined) return;
    this.#askedToLead.add(successor);
    this.transferLeader(successor);
  }

  /** The voter with the most entries of those that were not asked yet. */
  #successor(): NodeId | undefined {
    let successor: NodeId | undefined;
    let most = -1;
    for (const [id, { match }] of this.replication.followers) {
      if (!isVoter(this.#raft.conf, id) || this.#askedToLead.has(id) || match <= most) continue;
      successor = id;
      most = match;
    }
    return successor;
  }
}
