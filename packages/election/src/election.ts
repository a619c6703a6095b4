import { assert, type Epoch, epoch } from '@engram/core';
import { type Entry, type LogIndex, type Message, type ReadState, term } from '@engram/raft-ts';
import { PendingChanges } from './membership/pending-changes.ts';
import { type ClusterState, memberOf, newCluster } from './cluster/cluster-state.ts';
import { decodeClusterState, encodeCommand } from './codec/cluster-codec.ts';
import type { ClusterCommand } from './cluster/command.ts';
import { Dismissals } from './membership/dismissals.ts';
import type { Effect, Ticket, Witness } from './effect.ts';
import { ElectionError } from './election-error.ts';
import { committedEffectOf } from './entry-effect.ts';
import { hex, type MemberId, sameUrls } from './cluster/member.ts';
import { changeOf, type MemberRequest, refusalOf } from './membership/membership-rules.ts';
import { healthOf } from './member-health.ts';
import { faultOf, type MessageReceiver, type Speaker, type Standing, standingOf } from './message-fault.ts';
import { type ElectionOptions, requestTicks } from './options.ts';
import type { PeerMessage } from './peer-message.ts';
import { PeerActivity } from './peer-activity.ts';
import { RaftMember } from './raft-member.ts';
import type { RaftState } from './raft-state.ts';
import { ReadGate } from './read-gate.ts';
import { contextOf, numberOf } from './round-context.ts';
import { SnapshotRetries } from './snapshot-retries.ts';
import { successorAmong } from './successor.ts';
import type { StorePlace, Tenure } from './tenure.ts';
import { type ElectionView, viewOf } from './view.ts';

/** A leader that can't do its work hands over at most once in so many election timeouts. */
const HAND_OVER_PAUSE = 5;
const NOTHING_SKIPPED: ReadonlySet<LogIndex> = new Set();

/**
 * One member's part in the election: takes Raft's ticks and messages, and decides. It has no clock, network or disk. Inputs
 * are calls; their effects collect until `takeEffects`.
 *
 * Raft decides which member may try to lead. The seal in the log of the data decides which member leads. So a leadership of
 * the store (`Tenure`) begins after one in Raft, in an epoch equal to the term. It ends with `resigned`, when the store is
 * done with it. A member never has more than one.
 */
export class Election {
  readonly #options: ElectionOptions;
  readonly #raft: RaftMember;
  readonly #peers = new PeerActivity();
  readonly #reads: ReadGate;
  readonly #dismissals: Dismissals;
  readonly #changes: PendingChanges;
  readonly #snapshots: SnapshotRetries;
  #effects: Effect[] = [];
  #state: ClusterState;
  #leaderShown: { readonly leader: MemberId | undefined; readonly epoch: Epoch };
  #tenure: Tenure | undefined;
  /** The epoch in which the store gave up although Raft had not ended the leadership: another member is to lead. */
  #gaveUp: Epoch | undefined;
  #attributes: { readonly name: string; readonly clientUrls: readonly string[] } | undefined;
  #storageHealthy = true;
  /** The leader has said that this member may leave. */
  #dismissed = false;
  #dismissalShown = false;
  #askedToGoTick = Number.NEGATIVE_INFINITY;
  #ticks = 0;
  /** The last tick at which this member knew a leader. */
  #ledTick = 0;
  #unhealthySinceTick = 0;
  #handedOverTick = Number.NEGATIVE_INFINITY;

  /** `state`: as loaded, `bootstrapState` for a first member of a new cluster, NEW_RAFT_STATE for a member that joins. */
  constructor(options: ElectionOptions, state: RaftState) {
    this.#options = options;
    const { clusterId } = options;
    const { index, data } = state.snapshot;
    this.#state = index === 0 ? newCluster(clusterId, []) : decodeClusterState(data);
    if (this.#state.clusterId !== clusterId) {
      throw new ElectionError('foreign-state', `of cluster ${hex(this.#state.clusterId)}, not ${hex(clusterId)}`);
    }
    const emit = (effect: Effect): void => void this.#effects.push(effect);
    this.#reads = new ReadGate(emit, requestTicks(options));
    this.#changes = new PendingChanges(emit);
    this.#raft = new RaftMember(options, state, {
      send: (messages) => emit({ kind: 'send', messages: this.#addressed(messages) }),
      save: (batch, messages) => emit({ kind: 'save', batch, messages: this.#addressed(messages) }),
      apply: (entry) => this.#apply(entry),
      restore: (snapshot) => {
        this.#become(decodeClusterState(snapshot.data));
        this.#changes.passedOver();
      },
      read: (read) => this.#confirmed(read),
    });
    this.#dismissals = new Dismissals(this.#raft.node);
    this.#snapshots = new SnapshotRetries(this.#raft.node, options.limits.electionTicks);
    this.#leaderShown = { leader: undefined, epoch: this.epoch };
    this.#settle();
  }

  /** Takes the effects since the last call. They are to be done in this order. */
  takeEffects(): readonly Effect[] {
    const taken = this.#effects;
    this.#effects = [];
    return taken;
  }

  get view(): ElectionView {
    return viewOf(this.#options.self, this.#state, this.#raft.node, this.#tenure);
  }

  tick(): void {
    this.#ticks += 1;
    this.#peers.tick();
    this.#reads.tick();
    this.#raft.node.tick();
    if (this.#raft.node.leader !== undefined) this.#ledTick = this.#ticks;
    this.#snapshots.tick(this.#ticks);
    this.#leaveUnhealthyStorage();
    if (this.#gaveUp === this.epoch && this.#isLeader && this.#raft.node.status().transferTarget === undefined) {
      // No member has taken over within an election timeout.
      this.#raft.node.resign();
    }
    if (this.#ticks % this.#options.limits.electionTicks === 0) this.#publish();
    this.#settle();
  }

  /** The process was stopped or busy for so many ticks: see `PeerActivity.missed`. */
  missed(ticks: number): void {
    this.#peers.missed(ticks);
  }

  /** Returns why the message is not taken from this speaker: then it has changed nothing. Undefined if it was taken. */
  receive(message: PeerMessage, speaker: Speaker): string | undefined {
    const fault = faultOf(message, speaker, this.#receiver) ?? this.#take(message);
    if (fault === undefined) this.#settle();
    return fault;
  }

  #take(message: PeerMessage): string | undefined {
    if (message.kind === 'removed') {
      this.#dismissed = true;
      return undefined;
    }
    if (message.kind === 'leaving') {
      this.#dismissals.ask(message.from, this.#state.removed);
      return undefined;
    }
    const { from, type } = message.message;
    if ((type === 'vote' || type === 'pre-vote') && this.standingOf(from) === 'removed') {
      // It does not know of its removal. No group has it any more, so none needs its vote.
      this.#dismissals.ask(from, this.#state.removed);
      return undefined;
    }
    if (memberOf(this.#state, from) !== undefined) this.#peers.heard(from, message.storageHealthy);
    return this.#raft.node.step(message.message);
  }

  standingOf(member: MemberId): Standing {
    return standingOf(member, this.#receiver);
  }

  get #receiver(): MessageReceiver {
    const { leader, term: now } = this.#raft.node;
    const [state, skippedEntries, mayBeRemoved] = [this.#state, this.#skippedEntries, this.#mayBeRemoved];
    return { ...this.#options, state, term: now, leader, skippedEntries, mayBeRemoved };
  }

  /** For how many election timeouts this member has known no leader. */
  get leaderlessTimeouts(): number {
    return (this.#ticks - this.#ledTick) / this.#options.limits.electionTicks;
  }

  /** The batch of the last `save` is durable. */
  saved(): void {
    this.#raft.saved();
    this.#settle();
  }

  peerConnected(id: MemberId): void {
    this.#peers.connected(id);
    // Requests sent before the connection stood were lost. Without this, the candidate repeats them only after an
    // election timeout.
    const { role } = this.#raft.node.status();
    if (role === 'pre-candidate' || role === 'candidate') this.#raft.node.campaign();
    this.#settle();
  }

  /** The connection has ended: messages to the peer may have been lost. */
  peerDisconnected(id: MemberId): void {
    this.#peers.disconnected(id);
    this.#raft.node.reportUnreachable(id);
    this.#raft.node.reportSnapshot(id, false);
    this.#settle();
  }

  /**
   * The peer's process is gone: its connection has ended, and its address refuses new ones. If the peer led, this member
   * campaigns without waiting for a timeout. A wrong call does no harm: members that hear from the leader give no vote. To
   * be called again whenever another attempt to connect is refused, because the leader's last message may come after the
   * first call.
   */
  peerGone(id: MemberId): void {
    this.peerDisconnected(id);
    if (this.#raft.node.leader !== id) return;
    this.#raft.node.forgetLeader();
    this.#raft.node.campaign();
    this.#settle();
  }

  /** Whether this member's own process reaches storage. */
  setStorageHealth(healthy: boolean): void {
    if (this.#storageHealthy && !healthy) this.#unhealthySinceTick = this.#ticks;
    this.#storageHealthy = healthy;
  }

  /** The store has taken over in `epoch`; its leadership begins at `place`. Ignored if it has ended meanwhile. */
  announce(epoch: Epoch, place: StorePlace): void {
    if (this.#tenure?.epoch !== epoch || this.#tenure.phase === 'stepping-down') return;
    assert(this.#tenure.place === undefined, 'announced twice');
    this.#tenure.place = place;
    this.#settle();
  }

  /** The store no longer leads in `epoch`: it has stepped down, or could not take over, or was fenced. */
  resigned(epoch: Epoch): void {
    if (this.#tenure?.epoch !== epoch) return;
    const givesUp = this.#tenure.phase !== 'stepping-down';
    this.#tenure = undefined;
    this.#reads.refuseAll();
    if (givesUp) {
      // An epoch is led once. This member may try again in Raft's next term, if no other member leads.
      this.#gaveUp = epoch;
      // Within the pause this member only resigns: if no member can take over, leaderships would otherwise change as fast
      // as messages travel.
      const mayHandOver = this.#ticks - this.#handedOverTick >= this.#handOverPauseTicks;
      this.#handedOverTick = this.#ticks;
      if (!mayHandOver || !this.handOver()) this.#raft.node.resign();
    }
    this.#settle();
  }

  /**
   * Asks whether this member leads at some moment after the call: `confirmed` or `not-confirmed` follows. With a witness,
   * the moment may be any after the witness has asked.
   */
  confirm(ticket: Ticket, witness?: Witness): void {
    if (!this.#isLeader || this.#tenure === undefined) {
      this.#effects.push({ kind: 'not-confirmed', tickets: [ticket], code: 'NotLeader' });
    } else if (witness !== undefined && this.#isConfirmedBy(witness)) {
      this.#effects.push({ kind: 'confirmed', tickets: [ticket], epoch: this.#tenure.epoch });
    } else this.#reads.add(ticket);
    this.#settle();
  }

  #isConfirmedBy({ member, epoch: seenIn }: Witness): boolean {
    return this.#tenure?.phase === 'leading' && this.#raft.node.confirmsWith(member, term(seenIn));
  }

  /** `settled` follows. Changes of the membership are made one at a time. Each is checked when its turn comes. */
  changeMembers(ticket: Ticket, request: MemberRequest): void {
    if (this.#isLeader) this.#changes.add(ticket, request);
    else this.#changes.refuse(ticket, 'NotLeader');
    this.#settle();
  }

  /** `settled` follows. */
  set(ticket: Ticket, name: string, value: Uint8Array): void {
    if (!this.#isLeader) this.#changes.refuse(ticket, 'NotLeader');
    else if (this.#changes.full) this.#changes.refuse(ticket, 'TooManyRequests');
    else {
      const outcome = this.#propose({ kind: 'setting', name, value });
      if (outcome.kind === 'appended') this.#changes.proposed(ticket, outcome);
      else this.#changes.refuse(ticket, 'LeaderChanged');
    }
    this.#settle();
  }

  /** Proposes the name and client URLs for this member's entry in the list, until the entry has them. */
  publish(name: string, clientUrls: readonly string[]): void {
    this.#attributes = { name, clientUrls };
    this.#publish();
    this.#settle();
  }

  /** False: the target is no voter, or this member does not lead. True: the transfer has begun; `follow` shows its success. */
  transferTo(target: MemberId): boolean {
    if (!this.#isLeader) return false;
    const outcome = this.#raft.node.transferLeader(target);
    this.#settle();
    return outcome.kind === 'started' || outcome.kind === 'leads-already';
  }

  /** As `transferTo`, to the best successor. False if there is none. */
  handOver(): boolean {
    const target = successorAmong(this.#raft.node.status(), this.#peers, this.#options.limits.electionTicks);
    return target !== undefined && this.transferTo(target);
  }

  get #skippedEntries(): ReadonlySet<LogIndex> {
    return this.#options.skippedEntries ?? NOTHING_SKIPPED;
  }

  get #isLeader(): boolean {
    return this.#raft.node.role === 'leader';
  }

  get #handOverPauseTicks(): number {
    return HAND_OVER_PAUSE * this.#options.limits.electionTicks;
  }

  get epoch(): Epoch {
    return epoch(this.#raft.node.term);
  }

  /** Called after every input. Goes on until nothing changes, so that the effects are complete. */
  #settle(): void {
    do {
      this.#followRaft();
      this.#pursue();
      this.#dismiss();
    } while (this.#raft.drain());
    this.#raft.compact(this.#state);
    this.#leave();
  }

  /**
   * A removed member leaves when a leader says so. Its own log is not enough: the other members may not know yet that its
   * removal is committed. Until they do, they need its vote and its acknowledgements.
   */
  #leave(): void {
    const { self, clusterId, limits } = this.#options;
    if (this.#dismissalShown || this.#isLeader) return;
    if (this.#dismissed) {
      this.#dismissalShown = true;
      this.#effects.push({ kind: 'removed' });
    } else if (this.#mayBeRemoved && this.#ticks - this.#askedToGoTick >= limits.electionTicks) {
      this.#askedToGoTick = this.#ticks;
      // A member that has never heard from a leader knows only the members that its process is connected to.
      const others = new Set([...this.#state.members.map(({ id }) => id), ...this.#peers.connectedIds]);
      others.delete(self);
      const messages = [...others].map((to): PeerMessage => ({ kind: 'leaving', clusterId, from: self, to }));
      this.#effects.push({ kind: 'send', messages });
    }
  }

  /**
   * True if the state has this member as removed, or if it has heard no leader for more than two election timeouts. Such a
   * voter asks only the voters that it knows for votes, and the leader may not be one of them. A learner, and a member that
   * has not read of its own addition yet, ask no member for votes.
   */
  get #mayBeRemoved(): boolean {
    const { self, limits } = this.#options;
    if (this.#isLeader || this.#state.removed.includes(self)) return !this.#isLeader;
    const { leader } = this.#raft.node;
    const silentTicks = leader === undefined ? this.#ticks - this.#ledTick : this.#peers.silentTicks(leader);
    return silentTicks > 2 * limits.electionTicks;
  }

  /** Tells removed members that have asked that they may leave. */
  #dismiss(): void {
    const { clusterId } = this.#options;
    const leaving = this.#dismissals.take(this.#isLeader, this.#state.removed);
    const messages = leaving.map((to): PeerMessage => ({ kind: 'removed', clusterId, to }));
    if (messages.length > 0) this.#effects.push({ kind: 'send', messages });
  }

  /** Begins and ends the store's leadership after Raft's, and shows the leader. */
  #followRaft(): void {
    const leads = this.#isLeader;
    const current = this.epoch;
    const tenure = this.#tenure;
    if (tenure !== undefined && tenure.phase !== 'stepping-down' && !(leads && tenure.epoch === current)) {
      tenure.phase = 'stepping-down';
      this.#reads.refuseAll();
      this.#changes.refuseWaiting();
      this.#effects.push({ kind: 'step-down', epoch: tenure.epoch });
    }
    if (!leads) this.#changes.refuseWaiting();
    if (leads && this.#tenure === undefined && this.#gaveUp !== current) {
      this.#tenure = { epoch: current, phase: 'taking-over', place: undefined, proposed: false };
      this.#effects.push({ kind: 'lead', epoch: current });
    }
    this.#showLeader();
  }

  #showLeader(): void {
    const { leader } = this.#raft.node;
    const shown = this.#leaderShown;
    if (leader === shown.leader && (leader === undefined || this.epoch === shown.epoch)) return;
    this.#leaderShown = { leader, epoch: this.epoch };
    if (leader === undefined) {
      this.#effects.push({ kind: 'no-leader' });
      return;
    }
    if (leader !== this.#options.self) this.#effects.push({ kind: 'follow', leader, epoch: this.epoch });
    this.#publish();
  }

  /** Does the work that waits for this member to lead, or for an earlier step. */
  #pursue(): void {
    if (!this.#isLeader) return;
    this.#pursueAnnouncement();
    this.#pursueMemberChange();
    if (this.#tenure?.phase !== 'leading') return;
    const round = this.#reads.begin();
    if (round === undefined) return;
    const outcome = this.#raft.node.readIndex(contextOf(round));
    assert(outcome.kind === 'waiting', 'a leader takes one round of reads at a time');
  }

  #pursueAnnouncement(): void {
    const tenure = this.#tenure;
    if (tenure?.phase !== 'taking-over' || tenure.place === undefined || tenure.proposed) return;
    const leadership = { ...tenure.place, epoch: tenure.epoch, holder: this.#options.self };
    // Dropped while this member hands over, or while too much is uncommitted: the next tick tries again.
    tenure.proposed = this.#propose({ kind: 'leadership', leadership }).kind === 'appended';
  }

  #pursueMemberChange(): void {
    for (let request = this.#changes.next; request !== undefined; request = this.#changes.next) {
      // The change is checked against the state that it will be applied to, so not while another one is pending.
      if (this.#changes.full || !this.#raft.node.takesConfChange) return;
      const refusal = refusalOf(
        this.#state,
        request,
        this.#options.rules,
        healthOf(this.#options, this.#peers, this.#raft.node.status()),
      );
      if (refusal !== undefined) {
        this.#changes.refuseNext(refusal);
        continue;
      }
      const outcome = this.#raft.node.proposeConfChange(changeOf(request));
      if (outcome.kind === 'appended') this.#changes.nextProposed(outcome);
      else if (outcome.kind === 'dropped' && outcome.reason === 'conf-change-not-applicable') {
        this.#changes.refuseNext('MemberNotEnoughStarted');
      } else return;
    }
  }

  #propose(command: ClusterCommand): ReturnType<RaftMember['node']['propose']> {
    return this.#raft.node.propose(encodeCommand(command));
  }

  #publish(): void {
    const { self } = this.#options;
    const member = memberOf(this.#state, self);
    if (this.#attributes === undefined || member === undefined) return;
    const { name, clientUrls } = this.#attributes;
    const isSaid = member.name === name && sameUrls(member.clientUrls, clientUrls);
    if (!isSaid) this.#propose({ kind: 'attributes', member: self, name, clientUrls });
  }

  #apply(entry: Entry): void {
    const { state, command } = committedEffectOf(this.#state, entry, this.#skippedEntries);
    this.#become(state);
    if (entry.kind === 'conf-change' && entry.change.kind === 'remove') this.#peers.forget(entry.change.node);
    const tenure = this.#tenure;
    const isOwn = command?.kind === 'leadership' && command.leadership.epoch === tenure?.epoch;
    if (isOwn && tenure?.phase === 'taking-over') tenure.phase = 'leading';
    this.#changes.applied(entry.index, entry.term);
  }

  #become(state: ClusterState): void {
    if (state === this.#state) return;
    this.#state = state;
    this.#effects.push({ kind: 'cluster', state });
  }

  #confirmed(read: ReadState): void {
    const tickets = this.#reads.finish(numberOf(read.context));
    if (tickets.length === 0 || this.#tenure === undefined) return;
    this.#effects.push({ kind: 'confirmed', tickets, epoch: this.#tenure.epoch });
  }

  #addressed(messages: readonly Message[]): readonly PeerMessage[] {
    const { clusterId } = this.#options;
    return messages.map((message) => ({ kind: 'raft', clusterId, storageHealthy: this.#storageHealthy, message }));
  }

  /** If this leader's storage is slow or gone, hands over to a member whose storage is healthy. If there is none, it stays. */
  #leaveUnhealthyStorage(): void {
    const { electionTicks } = this.#options.limits;
    if (this.#storageHealthy || !this.#isLeader || this.#ticks - this.#unhealthySinceTick < electionTicks) return;
    if (this.#ticks - this.#handedOverTick < this.#handOverPauseTicks) return;
    const status = this.#raft.node.status();
    const target = successorAmong(status, this.#peers, electionTicks);
    if (target === undefined || !this.#peers.hasHealthyStorage(target, electionTicks)) return;
    this.#handedOverTick = this.#ticks;
    this.#raft.node.transferLeader(target);
  }
}
