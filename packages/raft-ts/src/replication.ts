import { assert } from '@engram/core';
import { hasQuorum, isVoter, quorumIndex } from './conf-state.ts';
import { totalBytes } from './entry.ts';
import { Inflights } from './inflights.ts';
import { indexAfter, indexBefore, type LogIndex, minIndex } from './log-index.ts';
import type { AppendResponse } from './message.ts';
import type { NodeId } from './node-id.ts';
import { Progress } from './progress.ts';
import type { Raft } from './raft.ts';

/** The followers of a leader: the log that each of them has, and what to send next. */
export class Replication {
  readonly #raft: Raft;
  readonly #followers = new Map<NodeId, Progress>();

  constructor(raft: Raft) {
    this.#raft = raft;
    for (const id of this.#others()) this.#add(id, indexAfter(raft.log.lastIndex));
  }

  get followers(): ReadonlyMap<NodeId, Progress> {
    return this.#followers;
  }

  /** Follows the membership. A new member is probed from the end of the log. */
  reconfigured(): void {
    const others = this.#others();
    for (const id of this.#followers.keys()) if (!others.includes(id)) this.#followers.delete(id);
    for (const id of others) {
      if (this.#followers.has(id)) continue;
      this.#add(id, indexAfter(this.#raft.log.lastIndex));
      // A new follower has had no chance to answer. Until the next count of the quorum it counts as active.
      this.#followers.get(id)!.recentlyActive = true;
    }
  }

  /** The highest index that a majority of the voters has persisted, the leader included. Learners do not count. */
  quorumIndex(): LogIndex {
    const { id: self, conf, log } = this.#raft;
    return quorumIndex(conf, (id) => (id === self ? log.stableIndex : this.#of(id).match));
  }

  /** Whether a majority of the voters was active since the last call. */
  countActive(): boolean {
    const { id: self, conf } = this.#raft;
    const active = hasQuorum(conf, (id) => id === self || this.#of(id).recentlyActive);
    for (const progress of this.#followers.values()) progress.recentlyActive = false;
    return active;
  }

  /** Sends an append to every follower that is not paused, even an empty append, which carries the commit. */
  broadcast(): void {
    for (const id of this.#followers.keys()) this.send(id);
  }

  /** Sends the followers the entries that they lack. Sends no empty appends. */
  catchUp(): void {
    for (const id of this.#followers.keys()) this.#send(id, false);
  }

  heartbeat(readRound: number): void {
    for (const id of this.#followers.keys()) this.#heartbeat(id, readRound);
  }

  /** To the voters among `wanted`: only a voter's answer counts in a round of reads. */
  heartbeatVoters(readRound: number, wanted: (voter: NodeId) => boolean): void {
    for (const id of this.#followers.keys()) {
      if (isVoter(this.#raft.conf, id) && wanted(id)) this.#heartbeat(id, readRound);
    }
  }

  send(to: NodeId): void {
    this.#send(to, true);
  }

  /** Sends as many appends as the window takes. */
  sendAll(to: NodeId): void {
    while (this.#send(to, false));
  }

  /** The follower has the log up to `response.index`. True if that is new to the leader, or ends a probe. */
  acknowledged(progress: Progress, response: AppendResponse): boolean {
    const { log } = this.#raft;
    assert(response.index <= log.lastIndex, 'a follower has more than its leader');
    const news = progress.acknowledged(response.index);
    // A probe may find that the follower lacks no entry.
    if (!news && !(progress.state === 'probe' && progress.match === response.index)) return false;
    // Any snapshot that the follower has installed will do if the log goes on from there.
    const connected = progress.match + 1 >= log.firstIndex;
    if (progress.state === 'probe' || (progress.state === 'snapshot' && connected)) progress.becomeReplicate();
    return true;
  }

  /** The follower's log does not agree before the append's entries. The search goes on by terms (Raft paper, 5.3). */
  rejected(progress: Progress, response: AppendResponse): void {
    const { rejection } = response;
    assert(rejection !== undefined, 'not rejected');
    // The logs can't agree where the follower's term is lower than this log's. This log knows how far down that is.
    const guess = rejection.term > 0 ? this.#raft.log.guessAgreement(rejection.index, rejection.term) : rejection;
    if (progress.rejected(response.index, guess.index)) this.send(response.from);
  }

  #send(to: NodeId, evenEmpty: boolean): boolean {
    const progress = this.#of(to);
    if (progress.paused) return false;
    const { log, options } = this.#raft;
    const prevIndex = indexBefore(progress.next);
    const prevTerm = log.term(prevIndex);
    if (prevTerm === undefined) return this.#sendSnapshot(to, progress);
    const windowFull = progress.state === 'replicate' && progress.windowFull;
    const found = windowFull ? [] : log.entries(progress.next, options.messageBytesMax);
    if (found === 'compacted') return this.#sendSnapshot(to, progress);
    const entries = found === 'loading' ? [] : found;
    if (entries.length === 0 && !evenEmpty) return false;
    const { id: from, term } = this.#raft;
    const commit = log.committed;
    this.#raft.send({ type: 'append', from, to, term, prevIndex, prevTerm, entries, commit });
    progress.sentEntries(entries.length, totalBytes(entries));
    progress.sentCommit(commit);
    return true;
  }

  /** Sends no snapshot to a silent follower: a snapshot is expensive, and it would be lost. */
  #sendSnapshot(to: NodeId, progress: Progress): boolean {
    if (!progress.recentlyActive) return false;
    const snapshot = this.#raft.log.snapshot();
    if (snapshot === 'preparing') return false;
    progress.becomeSnapshot(snapshot.index);
    this.#raft.send({ type: 'snapshot', from: this.#raft.id, to, term: this.#raft.term, snapshot });
    return true;
  }

  #heartbeat(to: NodeId, readRound: number): void {
    const progress = this.#of(to);
    // Behind the index that the follower has acknowledged, its log may differ.
    const commit = minIndex(progress.match, this.#raft.log.committed);
    this.#raft.send({ type: 'heartbeat', from: this.#raft.id, to, term: this.#raft.term, commit, readRound });
    progress.sentCommit(commit);
  }

  #others(): readonly NodeId[] {
    const { id: self, conf } = this.#raft;
    return [...conf.voters, ...conf.learners].filter((id) => id !== self);
  }

  #add(id: NodeId, next: LogIndex): void {
    const { inflightMessagesMax, inflightBytesMax } = this.#raft.options;
    this.#followers.set(id, new Progress(next, new Inflights(inflightMessagesMax, inflightBytesMax)));
  }

  #of(id: NodeId): Progress {
    const progress = this.#followers.get(id);
    assert(progress !== undefined, 'not a follower');
    return progress;
  }
}
