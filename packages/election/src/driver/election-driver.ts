import { EngramError, type Epoch, type Timer } from '@engram/core';
import { bootstrapBatch } from '../membership/bootstrap.ts';
import type { ClusterState } from '../cluster/cluster-state.ts';
import { decodePeerMessage, encodePeerMessage } from '../codec/peer-codec.ts';
import type { Effect, Witness } from '../effect.ts';
import { Election } from '../election.ts';
import { ElectionError } from '../election-error.ts';
import type { ElectionPorts } from './election-ports.ts';
import type { Member, MemberId } from '../cluster/member.ts';
import type { MemberRequest } from '../membership/membership-rules.ts';
import type { Speaker, Standing } from '../message-fault.ts';
import type { ElectionOptions } from '../options.ts';
import { OwnerWatch } from './owner-watch.ts';
import { type PeerMessage, receiverOf } from '../peer-message.ts';
import { afterBatch, NEW_RAFT_STATE, type RaftBatch, type RaftState } from '../raft-state.ts';
import type { StorePlace } from '../tenure.ts';
import type { ElectionView } from '../view.ts';
import { PromisesByTicket } from './promises-by-ticket.ts';

export interface ElectionDriverOptions extends Omit<ElectionOptions, 'random'> {
  /** For a member without a state: the first members of a new cluster. Undefined if the member joins a cluster. */
  readonly firstMembers: readonly Member[] | undefined;
}

/**
 * Runs an election on a clock, a network and a storage, and turns its outcomes into promises. The driver decides only when
 * to tick; `Election` decides the rest. Every wait ends when its signal aborts, or with EngramError `Stopped` when the
 * driver ends.
 */
export class ElectionDriver implements AsyncDisposable {
  readonly #election: Election;
  readonly #ports: ElectionPorts;
  readonly #tickMs: number;
  readonly #confirmations = new PromisesByTicket<Epoch>();
  readonly #changes = new PromisesByTicket<ClusterState>();
  /** About the member that is to lead. Undefined: any other member. */
  readonly #transfers = new PromisesByTicket<void, MemberId | undefined>();
  readonly #todo: Effect[] = [];
  #working = false;
  #ended = false;
  #timer: Timer | undefined;
  #dueMs: number;
  #lateHeartbeats = 0;
  #save: Promise<void> = Promise.resolve();
  #ownerWatch: OwnerWatch | undefined;

  private constructor(options: ElectionDriverOptions, ports: ElectionPorts, state: RaftState) {
    this.#ports = ports;
    this.#tickMs = options.tickMs;
    this.#dueMs = ports.clock.nowMs();
    this.#election = new Election({ ...options, random: ports.random }, state);
  }

  /**
   * Loads or begins the state, and takes part from then on. Rejects with the error of storage, with ElectionError
   * `foreign-state` or `bad-bytes`, or with RaftError `log-lost`.
   */
  static async open(options: ElectionDriverOptions, ports: ElectionPorts): Promise<ElectionDriver> {
    const loaded = await ports.storage.load();
    const state = loaded ?? (await ElectionDriver.#begin(options, ports));
    const driver = new ElectionDriver(options, ports, state);
    driver.#work(() => {});
    driver.#armTimer();
    driver.#watchOwner();
    return driver;
  }

  static async #begin(options: ElectionDriverOptions, ports: ElectionPorts): Promise<RaftState> {
    if (options.firstMembers === undefined) return NEW_RAFT_STATE;
    const batch = bootstrapBatch(options.clusterId, options.firstMembers);
    await ports.storage.save(batch);
    return afterBatch(NEW_RAFT_STATE, batch);
  }

  /** This member's epoch: it votes for no leader of an earlier one, and has voted for none of a later one. */
  get epoch(): Epoch {
    return this.#election.epoch;
  }

  get view(): ElectionView {
    return this.#election.view;
  }

  /** How often this member led and was late with its heartbeats by a whole interval or more. */
  get lateHeartbeats(): number {
    return this.#lateHeartbeats;
  }

  /**
   * Takes a message of another member, as the network brought it. Returns why it is not taken from this speaker, or cannot be
   * read: then it has changed nothing.
   */
  receive(bytes: Uint8Array, speaker: Speaker): string | undefined {
    let message: PeerMessage;
    try {
      message = decodePeerMessage(bytes);
    } catch (error) {
      if (error instanceof ElectionError) return error.message;
      throw error;
    }
    let fault: string | undefined;
    this.#work(() => {
      fault = this.#election.receive(message, speaker);
    });
    return fault;
  }

  /** How this member's list has another member. */
  standingOf(member: MemberId): Standing {
    return this.#election.standingOf(member);
  }

  /** For how many election timeouts this member has known no leader. */
  get leaderlessTimeouts(): number {
    return this.#election.leaderlessTimeouts;
  }

  peerConnected(id: MemberId): void {
    this.#work(() => this.#election.peerConnected(id));
  }

  peerDisconnected(id: MemberId): void {
    this.#work(() => this.#election.peerDisconnected(id));
  }

  /** The peer's connection has ended, and its address refuses new ones: see `Election.peerGone`. */
  peerGone(id: MemberId): void {
    this.#work(() => this.#election.peerGone(id));
  }

  setStorageHealth(healthy: boolean): void {
    this.#work(() => this.#election.setStorageHealth(healthy));
  }

  announce(epoch: Epoch, place: StorePlace): void {
    this.#work(() => this.#election.announce(epoch, place));
  }

  resigned(epoch: Epoch): void {
    this.#work(() => this.#election.resigned(epoch));
  }

  publish(name: string, clientUrls: readonly string[]): void {
    this.#work(() => this.#election.publish(name, clientUrls));
  }

  /**
   * Resolves with the epoch in which this member led at some moment after the call. At that moment no member has
   * acknowledged more than this member's store has. Rejects with EngramError `NotLeader`, `LeaderChanged` or
   * `TooManyRequests`. With a witness, the moment may be any after the witness has asked; if the two members are a
   * majority, no other member is asked.
   */
  confirmLeadership(signal: AbortSignal, witness?: Witness): Promise<Epoch> {
    return this.#ask(this.#confirmations, signal, (ticket) => this.#election.confirm(ticket, witness));
  }

  /**
   * Resolves with the state once the change has been applied here. Rejects with EngramError: etcd's code if the change is
   * refused, `NotLeader` or `LeaderChanged` if this member does not lead, `Timeout` if the outcome is not known.
   */
  changeMembers(request: MemberRequest, signal: AbortSignal): Promise<ClusterState> {
    return this.#ask(this.#changes, signal, (ticket) => this.#election.changeMembers(ticket, request));
  }

  /** As `changeMembers`, for a setting. */
  set(name: string, value: Uint8Array, signal: AbortSignal): Promise<ClusterState> {
    return this.#ask(this.#changes, signal, (ticket) => this.#election.set(ticket, name, value));
  }

  /** Resolves when the target leads. Rejects with EngramError `NotLeader` or `BadLeaderTransferee`. */
  async transferLeader(target: MemberId, signal: AbortSignal): Promise<void> {
    if (this.view.leader !== this.view.self) throw new EngramError('NotLeader');
    if (target === this.view.self) return;
    await this.#transfer(target, signal, () => this.#election.transferTo(target));
  }

  /** As `transferLeader`, to the best successor. Rejects with EngramError `Unhealthy` if there is none. */
  async handOver(signal: AbortSignal): Promise<void> {
    if (this.view.leader !== this.view.self) throw new EngramError('NotLeader');
    await this.#transfer(undefined, signal, () => this.#election.handOver());
  }

  /** Ends all waits, and resolves when nothing is asked of storage any more. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#end();
    await this.#save.catch(() => {});
    await this.#ownerWatch?.idle();
  }

  #ask<Value>(waiters: PromisesByTicket<Value>, signal: AbortSignal, ask: (ticket: number) => void): Promise<Value> {
    if (this.#ended) return Promise.reject(new EngramError('Stopped'));
    return waiters.wait(signal, undefined, (ticket) => this.#work(() => ask(ticket)));
  }

  #transfer(target: MemberId | undefined, signal: AbortSignal, begin: () => boolean): Promise<void> {
    if (this.#ended) return Promise.reject(new EngramError('Stopped'));
    const code = target === undefined ? 'Unhealthy' : 'BadLeaderTransferee';
    return this.#transfers.wait(signal, target, (ticket) =>
      this.#work(() => {
        if (!begin()) this.#transfers.reject(ticket, new EngramError(code));
      }),
    );
  }

  /** Takes an input and does all its effects. The effects of an input that comes during an effect wait their turn. */
  #work(input: () => void): void {
    if (this.#ended) return;
    try {
      input();
      this.#todo.push(...this.#election.takeEffects());
      if (this.#working) return;
      this.#working = true;
      for (let effect = this.#todo.shift(); effect !== undefined && !this.#ended; effect = this.#todo.shift()) {
        this.#do(effect);
      }
      this.#working = false;
    } catch (error) {
      this.#fail(error);
    }
  }

  #do(effect: Effect): void {
    const { owner } = this.#ports;
    switch (effect.kind) {
      case 'send':
        this.#send(effect.messages);
        break;
      case 'save':
        this.#startSave(effect.batch, effect.messages);
        break;
      case 'lead':
        owner.lead(effect.epoch);
        break;
      case 'step-down':
        owner.stepDown(effect.epoch);
        break;
      case 'follow':
        this.#leaderSeen(effect.leader);
        owner.follow(effect.leader, effect.epoch);
        break;
      case 'no-leader':
        owner.noLeader();
        break;
      case 'cluster':
        this.#guarded('the member list of this change was not taken over', () => owner.clusterChanged(effect.state));
        break;
      case 'confirmed':
        for (const ticket of effect.tickets) this.#confirmations.resolve(ticket, effect.epoch);
        break;
      case 'not-confirmed':
        for (const ticket of effect.tickets) this.#confirmations.reject(ticket, new EngramError(effect.code));
        break;
      case 'settled':
        this.#settled(effect);
        break;
      case 'removed':
        owner.removed();
        break;
    }
  }

  #settled({ ticket, outcome }: Effect & { readonly kind: 'settled' }): void {
    if (outcome.kind === 'done') this.#changes.resolve(ticket, this.view.cluster);
    else this.#changes.reject(ticket, new EngramError(outcome.kind === 'unknown' ? 'Timeout' : outcome.code));
  }

  #leaderSeen(leader: MemberId): void {
    for (const [ticket, target] of this.#transfers.waiting()) {
      if (target === undefined || target === leader) this.#transfers.resolve(ticket, undefined);
    }
  }

  #send(messages: readonly PeerMessage[]): void {
    for (const message of messages) {
      const bytes = encodePeerMessage(message);
      this.#guarded('a message was not sent', () => this.#ports.network.send(receiverOf(message), bytes));
    }
  }

  /**
   * Calls an adapter with what the members have agreed on. What it throws is logged: the change is committed, so it would end
   * every member, and again at each start.
   */
  #guarded(failure: string, call: () => void): void {
    try {
      call();
    } catch (error) {
      this.#ports.logger.error({ error }, failure);
    }
  }

  #startSave(batch: RaftBatch, messages: readonly PeerMessage[]): void {
    this.#save = this.#ports.storage.save(batch);
    this.#save.then(
      () =>
        this.#work(() => {
          this.#send(messages);
          this.#election.saved();
        }),
      (error: unknown) => this.#fail(error),
    );
  }

  /** Ticks missed while the process was stopped or busy are not made up for: other members were not silent then. */
  #armTimer(): void {
    const { clock } = this.#ports;
    const nowMs = clock.nowMs();
    const missed = Math.max(0, Math.floor((nowMs - this.#dueMs) / this.#tickMs));
    if (missed > 0) {
      this.#election.missed(missed);
      if (this.view.leader === this.view.self) this.#lateHeartbeats += 1;
    }
    // At equal intervals. After a missed tick, they count from now on.
    this.#dueMs = (missed > 0 ? nowMs : this.#dueMs) + this.#tickMs;
    this.#timer = clock.after(this.#dueMs - nowMs, () => {
      if (this.#ended) return;
      this.#work(() => this.#election.tick());
      if (!this.#ended) this.#armTimer();
    });
  }

  #watchOwner(): void {
    if (this.#ended) return;
    const { storage, clock } = this.#ports;
    const onTaken = (): void => this.#fail(new ElectionError('storage-taken-over', 'storage says so'));
    this.#ownerWatch = new OwnerWatch({ storage, clock, onTaken });
  }

  #fail(error: unknown): void {
    if (this.#ended) return;
    this.#end();
    this.#ports.owner.failed(error);
  }

  #end(): void {
    this.#ended = true;
    this.#timer?.cancel();
    this.#ownerWatch?.close();
    const stopped = new EngramError('Stopped');
    this.#confirmations.rejectAll(stopped);
    this.#changes.rejectAll(stopped);
    this.#transfers.rejectAll(stopped);
  }
}
