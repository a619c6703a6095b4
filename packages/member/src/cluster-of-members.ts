import type { Caller } from '@engram/backend';
import { type Clock, EngramError, type ErrorCode, isEngramError, unreachable, sleep, withDeadline } from '@engram/core';
import {
  type ClusterState,
  type ElectionDriver,
  type MemberRequest,
  memberId,
  memberIdOf,
  memberOf,
  parsePeerUrls,
} from '@engram/election';
import {
  type Cluster,
  type ClusterChanges,
  type ClusterCounts,
  type Member,
  type MemberAdded,
  PromotionCounts,
} from '@engram/etcd-api';
import * as peerpb from './gen/peerpb.ts';
import type { KnownLeader } from './known-leader.ts';
import { present, readable } from './leader-answer.ts';
import type { ReadIndex } from './read-index.ts';
import type { RemoteLeader } from './remote-leader.ts';
import type { ReplicaReadiness } from './replica-readiness.ts';
import type { TakeoverRefusals } from './takeover-refusals.ts';

export interface ClusterOfMembersOptions {
  readonly driver: ElectionDriver;
  readonly remote: RemoteLeader;
  readonly known: KnownLeader;
  readonly reads: ReadIndex;
  readonly readiness: ReplicaReadiness;
  readonly clock: Clock;
  /** How long this leader's append, or its check of the seal, has been under way; 0 if there is none. */
  readonly storageMs: () => number;
  /** `--initial-cluster-token`: part of the ids of members that are added. */
  readonly refusals: Pick<TakeoverRefusals, 'behind' | 'count'>;
  readonly token: string;
  /** Bound on a change: etcd's request timeout. */
  readonly timeoutMs: number;
}

/** How often this member looks for what must be in its own state soon. */
const LOOK_MS = 50;
/** How long the answer to a change waits at most for this member to apply it. */
const SHOWN_MAX_MS = 1000;
/** Storage that takes longer does not answer. */
const STALLED_MS = 5000;

/** Refusals that rest on the list of the members. */
const OF_MEMBERS: ReadonlySet<ErrorCode> = new Set([
  'MemberExist',
  'PeerURLExist',
  'TooManyLearners',
  'MemberNotFound',
  'MemberNotLearner',
]);

const { ADD, REMOVE, UPDATE, PROMOTE } = peerpb.MemberChangeKind;

/** The cluster as the election knows it, and the changes that its leader makes. */
export class ClusterOfMembers implements Cluster, ClusterChanges {
  readonly #options: ClusterOfMembersOptions;
  readonly #promotions = new PromotionCounts();

  constructor(options: ClusterOfMembersOptions) {
    this.#options = options;
  }

  get clusterId(): bigint {
    return this.#view.cluster.clusterId;
  }

  get memberId(): bigint {
    return this.#view.self;
  }

  get leaderId(): bigint {
    return this.#view.leader ?? 0n;
  }

  /** Headers show at least 1, also before this member has heard of an election. */
  get term(): number {
    return Math.max(1, this.#view.term);
  }

  get isLearner(): boolean {
    return this.#view.isLearner;
  }

  get members(): readonly Member[] {
    return this.#view.cluster.members;
  }

  async membersCaughtUp({ timeoutMs: wantedMs, signal }: Caller): Promise<void> {
    const { driver, reads, clock, timeoutMs } = this.#options;
    const { raftIndex } = reads;
    const deadlineMs = clock.nowMs() + Math.min(wantedMs ?? timeoutMs, timeoutMs);
    const isCaughtUp = await this.#untilIn(() => driver.view.appliedIndex >= raftIndex, deadlineMs, signal);
    signal.throwIfAborted();
    if (!isCaughtUp) throw new EngramError('TimeoutWaitAppliedIndex');
  }

  get stalledMs(): number {
    const storageMs = this.#options.storageMs();
    return storageMs > STALLED_MS ? storageMs : 0;
  }

  /** Another member may lead by now: then this one's refusal is of no interest. */
  get takeoverRefusal(): EngramError | undefined {
    return this.#options.known.current === undefined ? this.#options.refusals.behind : undefined;
  }

  get counts(): ClusterCounts {
    const { driver, known, reads, refusals } = this.#options;
    return {
      leaderChanges: known.changes,
      refusedTakeovers: refusals.count,
      lateHeartbeats: driver.lateHeartbeats,
      slowReadIndexes: reads.slow,
      failedReadIndexes: reads.failed,
      promotions: this.#promotions.succeeded,
      refusedPromotions: this.#promotions.refused,
    };
  }

  get changes(): ClusterChanges {
    return this;
  }

  async add(urls: readonly string[], isLearner: boolean, caller: Caller): Promise<MemberAdded> {
    const peerUrls = parsePeerUrls(urls);
    if (peerUrls === undefined) throw new EngramError('MemberBadURLs');
    const { clock, token } = this.#options;
    const id = memberIdOf(peerUrls, token, Math.floor(clock.wallMs() / 1000));
    const members = await this.#change({ kind: 'add', id, peerUrls, isLearner }, caller);
    return { added: readable(() => present(findMember(members, id), 'member that was added')), members };
  }

  remove(id: bigint, caller: Caller): Promise<readonly Member[]> {
    return this.#changeOf(id, (member) => ({ kind: 'remove', id: member }), caller);
  }

  update(id: bigint, urls: readonly string[], caller: Caller): Promise<readonly Member[]> {
    const peerUrls = parsePeerUrls(urls);
    if (peerUrls === undefined) return Promise.reject(new EngramError('MemberBadURLs'));
    return this.#changeOf(id, (member) => ({ kind: 'update', id: member, peerUrls }), caller);
  }

  promote(id: bigint, caller: Caller): Promise<readonly Member[]> {
    return this.#promotions.count(this.#changeOf(id, (member) => ({ kind: 'promote', id: member }), caller));
  }

  /**
   * As in etcd, only the leader takes this call: clients find the leader by Status. TimeoutLeaderTransfer if the target does not lead
   * by the bound: clients of etcd repeat what is answered Timeout, a hundred times.
   */
  async moveLeader(target: bigint, { signal }: Caller): Promise<void> {
    const { driver, clock, timeoutMs } = this.#options;
    if (driver.view.leader !== driver.view.self) throw new EngramError('NotLeader');
    if (!this.members.some(({ id, isLearner }) => id === target && !isLearner))
      throw new EngramError('BadLeaderTransferee');
    const late = (): Error => new EngramError('TimeoutLeaderTransfer');
    const move = (bounded: AbortSignal): Promise<void> => driver.transferLeader(memberId(target), bounded);
    await withDeadline(clock, timeoutMs, late, move, signal);
  }

  /** A change that another member has forwarded. */
  async forwarded(
    { kind, id, peerUrls, learner }: peerpb.MemberChange,
    signal: AbortSignal,
  ): Promise<readonly Member[]> {
    return await this.#lead(requestOf(kind, id, peerUrls, learner), signal);
  }

  /** Rejects with Timeout at the bound: a leader that has lost the others does not know the outcome before it reaches them again. */
  async #lead(request: MemberRequest, signal: AbortSignal): Promise<readonly Member[]> {
    const { driver, readiness, clock, timeoutMs } = this.#options;
    const late = (): Error => new EngramError('Timeout');
    const change = async (bounded: AbortSignal): Promise<readonly Member[]> => {
      if (request.kind === 'promote') await readiness.ask(request.id, bounded);
      try {
        return (await driver.changeMembers(request, bounded)).members;
      } catch (error) {
        // A leader that was replaced does not know the newest members. etcd judges these where the change is applied.
        if (isEngramError(error) && OF_MEMBERS.has(error.code)) await driver.confirmLeadership(bounded);
        throw error;
      }
    };
    return await withDeadline(clock, timeoutMs, late, change, signal);
  }

  /** MemberNotFound for the id 0, which no member has. */
  #changeOf(
    id: bigint,
    request: (id: ReturnType<typeof memberId>) => MemberRequest,
    caller: Caller,
  ): Promise<readonly Member[]> {
    if (id === 0n) return Promise.reject(new EngramError('MemberNotFound'));
    return this.#change(request(memberId(id)), caller);
  }

  async #change(request: MemberRequest, caller: Caller): Promise<readonly Member[]> {
    const { driver, remote, clock, timeoutMs } = this.#options;
    const deadlineMs = clock.nowMs() + Math.min(caller.timeoutMs ?? timeoutMs, timeoutMs);
    if (driver.view.leader === driver.view.self) return await this.#lead(request, caller.signal);
    try {
      const { members, raftIndex } = await remote.forward({ memberChange: formOf(request) }, caller);
      // As in etcd, also a list that is not linearizable shows the client its own change. A member that is being removed need not
      // hear of it, and one that lags shows it later: the change is done.
      const untilMs = Math.min(deadlineMs, clock.nowMs() + SHOWN_MAX_MS);
      if (request.kind !== 'remove' || request.id !== driver.view.self)
        await this.#untilIn(() => driver.view.appliedIndex >= raftIndex, untilMs, caller.signal);
      return members.map(({ learner, ...member }) => ({ ...member, isLearner: learner }));
    } catch (error) {
      // A leader that removes itself may be gone before its answer arrives. The change is in Raft's log nevertheless.
      const unknown = isEngramError(error) && error.code === 'TimeoutDueToConnectionLost';
      const takesEffect = (): boolean => isIn(driver.view.cluster, request);
      if (!unknown || !(await this.#untilIn(takesEffect, deadlineMs, caller.signal))) throw error;
      return this.members;
    }
  }

  /** Looks until this member's state has it. False if the deadline passes or the signal aborts first. */
  async #untilIn(has: () => boolean, deadlineMs: number, signal: AbortSignal): Promise<boolean> {
    const { clock } = this.#options;
    while (!has()) {
      if (signal.aborted || clock.nowMs() >= deadlineMs) return false;
      await sleep(clock, LOOK_MS);
    }
    return true;
  }

  get #view(): ElectionDriver['view'] {
    return this.#options.driver.view;
  }
}

const findMember = (members: readonly Member[], id: bigint): Member | undefined =>
  members.find((member) => member.id === id);

/** Whether the state has what the request asks for, by this request or by another one. */
function isIn(state: ClusterState, request: MemberRequest): boolean {
  const member = memberOf(state, request.id);
  switch (request.kind) {
    case 'add':
      return member !== undefined;
    case 'remove':
      return state.removed.includes(request.id);
    case 'update':
      return member?.peerUrls.join() === request.peerUrls.join();
    case 'promote':
      return member?.isLearner === false;
    default:
      return unreachable(request);
  }
}

function formOf(request: MemberRequest): peerpb.MemberChangeInit {
  switch (request.kind) {
    case 'add':
      return { kind: ADD, id: request.id, peerUrls: [...request.peerUrls], learner: request.isLearner };
    case 'remove':
      return { kind: REMOVE, id: request.id };
    case 'update':
      return { kind: UPDATE, id: request.id, peerUrls: [...request.peerUrls] };
    case 'promote':
      return { kind: PROMOTE, id: request.id };
    default:
      return unreachable(request);
  }
}

function requestOf(kind: number, id: bigint, peerUrls: readonly string[], isLearner: boolean): MemberRequest {
  const member = memberId(id);
  switch (kind) {
    case ADD:
      return { kind: 'add', id: member, peerUrls, isLearner };
    case REMOVE:
      return { kind: 'remove', id: member };
    case UPDATE:
      return { kind: 'update', id: member, peerUrls };
    case PROMOTE:
      return { kind: 'promote', id: member };
    default:
      throw new EngramError('NotCapable');
  }
}
