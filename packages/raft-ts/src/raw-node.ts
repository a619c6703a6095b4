import { assert } from '@engram/core';
import { type ConfState, hasQuorum } from './conf-state.ts';
import type { ConfChange } from './entry.ts';
import { Follower } from './follower.ts';
import type { HardState } from './hard-state.ts';
import { Leader } from './leader.ts';
import type { LogIndex } from './log-index.ts';
import type { LogStorage } from './log-storage.ts';
import type { Message } from './message.ts';
import { faultOf } from './message-fault.ts';
import type { NodeId } from './node-id.ts';
import { checkOptions, type RaftOptions } from './options.ts';
import type { ProposeOutcome, ReadOutcome, TransferOutcome } from './outcomes.ts';
import { type InitialState, Raft } from './raft.ts';
import type { Persist, Ready, Role, SoftState } from './ready.ts';
import { type NodeStatus, statusOf } from './status.ts';
import type { Term } from './term.ts';

/**
 * One node of a group, without clock, network or disk. Inputs are calls. Their output collects until `ready` takes it:
 *
 * ```ts
 * while (node.hasReady) {
 *   const ready = node.ready();
 *   send(ready.messages);
 *   if (ready.persist) { await save(ready.persist); send(ready.persist.messages); node.advance(); }
 *   for (const entry of ready.committedEntries) { apply(entry); node.applied(entry.index); }
 * }
 * ```
 *
 * Inputs and further `ready`s may come while a save is under way. A slow disk delays votes and acknowledgements, but not
 * heartbeats.
 */
export class RawNode {
  readonly #raft: Raft;
  #softState: SoftState;
  /** The hard state that was handed out last. */
  #hardState: HardState;
  #persisting: { readonly hardState: HardState | undefined; readonly conf: boolean } | undefined;

  /**
   * `storage` has the persisted log, `initial` the rest. In a new group, every first member begins with the same snapshot,
   * which has the group's membership. A member that joins later begins with an empty log and no membership.
   * Throws RaftError `bad-options`, or `log-lost` if the hard state refers to entries that are not in the log.
   */
  constructor(options: RaftOptions, storage: LogStorage, initial: InitialState) {
    checkOptions(options);
    this.#raft = new Raft(options, storage, initial);
    this.#hardState = initial.hardState;
    this.#softState = this.#currentSoftState();
  }

  /** Time passes: all timeouts count ticks. */
  tick(): void {
    this.#raft.role.tick();
  }

  /**
   * Takes a message of another node. Messages may come in any order, any number of times. Returns why no node that keeps Raft's
   * rules can have sent it; then nothing has changed. Otherwise undefined.
   */
  step(message: Message): string | undefined {
    const fault = faultOf(message, this.#raft);
    if (fault === undefined) this.#raft.step(message);
    return fault;
  }

  /** Campaigns now, as if the election timeout had passed. Does nothing if this node leads or may not campaign. */
  campaign(): void {
    this.#raft.campaign(this.#raft.options.preVote ? 'pre-vote' : 'vote');
  }

  /**
   * The caller knows that the leader is gone, by other means than silence. From now on this node may vote for a candidate.
   * If the leader is still there, its next heartbeat ends this.
   */
  forgetLeader(): void {
    if (this.#raft.role instanceof Follower) this.#raft.role.forgetLeader();
  }

  /** Proposes payloads, all or none, at consecutive indexes. The core keeps the bytes; the caller must not change them. */
  propose(...payloads: readonly Uint8Array[]): ProposeOutcome {
    assert(payloads.length > 0, 'proposed nothing');
    return this.#raft.role.propose(payloads.map((data) => ({ kind: 'normal', data })));
  }

  /** This node leads, and no change of the membership is pending. A change proposed now is applied to the current `conf`. */
  get takesConfChange(): boolean {
    return this.#raft.role instanceof Leader && this.#raft.role.takesConfChange;
  }

  /** This node leads, and has committed an entry of its term. So it knows everything that is committed. */
  get hasCommittedInTerm(): boolean {
    return this.#raft.role instanceof Leader && this.#raft.log.committedId.term === this.#raft.term;
  }

  /**
   * True if this node leads in `term`, knows everything that is committed, and makes a majority with `witness`. Then a
   * message that `witness` sent in `term` confirms the reads that were asked for before it was sent, as an answer to a
   * heartbeat would: a leader of a later term would have needed the vote of one of the two by then.
   */
  confirmsWith(witness: NodeId, term: Term): boolean {
    const { conf, id: self } = this.#raft;
    if (!this.hasCommittedInTerm || this.#raft.term !== term) return false;
    return hasQuorum(conf, (voter) => voter === self || voter === witness);
  }

  /** The change takes effect on each node when that node applies the entry. */
  proposeConfChange(change: ConfChange): ProposeOutcome {
    return this.#raft.role.propose([{ kind: 'conf-change', change }]);
  }

  /**
   * Asks for an index such that a state applied up to it shows everything that was committed before this call. A ReadState
   * returns `context`, which must be unique, also among the contexts that this node used before a restart.
   */
  readIndex(context: Uint8Array): ReadOutcome {
    return this.#raft.role.readIndex(context);
  }

  transferLeader(target: NodeId): TransferOutcome {
    return this.#raft.role.transferLeader(target);
  }

  /** Ends this node's leadership at once: for a leader that can't do its work and finds no successor. */
  resign(): void {
    if (this.#raft.role instanceof Leader) this.#raft.becomeFollower(this.#raft.term, undefined);
  }

  /** The transport has lost messages to `node`. */
  reportUnreachable(node: NodeId): void {
    if (this.#raft.role instanceof Leader) this.#raft.role.unreachable(node);
  }

  /** Reports the outcome of a snapshot message to `node`. Without it, replication to a node that got none stands still. */
  reportSnapshot(node: NodeId, delivered: boolean): void {
    if (this.#raft.role instanceof Leader) this.#raft.role.snapshotSent(node, delivered);
  }

  /** Storage now has the entries in memory that it answered `loading` for. */
  loaded(): void {
    this.#raft.log.loaded();
    if (this.#raft.role instanceof Leader) this.#raft.role.replication.catchUp();
  }

  get hasReady(): boolean {
    const raft = this.#raft;
    if (raft.hasOutput || raft.log.hasCommitted || !equalSoft(this.#currentSoftState(), this.#softState)) return true;
    return this.#persisting === undefined && (raft.hasDeferred || this.#mustPersist);
  }

  ready(): Ready {
    const raft = this.#raft;
    const persist = this.#takePersist();
    const committedEntries = raft.log.takeCommitted();
    raft.noteHandedOut(committedEntries);
    return {
      softState: this.#takeSoftState(),
      messages: raft.takeMessages(),
      persist,
      committedEntries,
      readStates: raft.takeReadStates(),
    };
  }

  /** The last `Persist` is durable, storage can read it, and a snapshot in it is the application's state. */
  advance(): void {
    assert(this.#persisting !== undefined, 'advanced, but nothing was to be persisted');
    const { hardState } = this.#persisting;
    this.#persisting = undefined;
    this.#raft.persisted(hardState);
  }

  /** The application has applied all committed entries up to `index`. A lower index than before changes nothing. */
  applied(index: LogIndex): void {
    this.#raft.applied(index);
  }

  /** After a crash this node would begin with `conf`, or with a later membership. */
  get confIsDurable(): boolean {
    return !this.#raft.confUnsaved && this.#persisting?.conf !== true;
  }

  get term(): Term {
    return this.#raft.term;
  }

  get role(): Role {
    return this.#raft.role.role;
  }

  /** The leader of `term`. Undefined if it is not known, or if there is none. */
  get leader(): NodeId | undefined {
    return this.#raft.role.leader;
  }

  get commitIndex(): LogIndex {
    return this.#raft.log.committed;
  }

  get appliedIndex(): LogIndex {
    return this.#raft.log.applied;
  }

  /** The membership as of `appliedIndex`. A snapshot taken now must carry it. */
  get conf(): ConfState {
    return this.#raft.conf;
  }

  /** Built at each call, with the progress of every follower: too slow to call for each request. */
  status(): NodeStatus {
    return statusOf(this.#raft);
  }

  get #mustPersist(): boolean {
    const raft = this.#raft;
    return raft.confUnsaved || raft.log.hasUnpersisted || !equalHard(raft.hardState, this.#hardState);
  }

  #takePersist(): Persist | undefined {
    const raft = this.#raft;
    if (this.#persisting !== undefined) return undefined;
    const hardState = raft.hardState;
    const voted = hardState.term !== this.#hardState.term || hardState.vote !== this.#hardState.vote;
    const conf = raft.confUnsaved;
    const mustSync = voted || conf || raft.log.hasUnpersisted;
    // Deferred messages wait for terms, votes and entries, which are all durable here.
    if (!mustSync) raft.releaseDeferred();
    if (!this.#mustPersist) return undefined;
    const changed = conf || !equalHard(hardState, this.#hardState);
    const persist: Persist = {
      hardState: changed ? hardState : undefined,
      ...raft.log.takeUnpersisted(),
      mustSync,
      messages: raft.takeDeferred(),
    };
    this.#hardState = hardState;
    this.#persisting = { hardState: persist.hardState, conf };
    raft.confHandedOut();
    return persist;
  }

  #takeSoftState(): SoftState | undefined {
    const current = this.#currentSoftState();
    if (equalSoft(current, this.#softState)) return undefined;
    this.#softState = current;
    return current;
  }

  #currentSoftState(): SoftState {
    const { role, leader } = this.#raft.role;
    return { role, leader };
  }
}

const equalHard = (one: HardState, other: HardState): boolean =>
  one.term === other.term && one.vote === other.vote && one.commit === other.commit;

const equalSoft = (one: SoftState, other: SoftState): boolean => one.role === other.role && one.leader === other.leader;
