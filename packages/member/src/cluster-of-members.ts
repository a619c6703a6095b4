import type { Caller } from '@engram/backend';
import { assert, type Clock, EngramError, unreachable } from '@engram/core';
import {
  type ClusterState,
  type ElectionDriver,
  type MemberRequest,
  memberId,
  memberIdOf,
  parsePeerUrls,
} from '@engram/election';
import type { Cluster, ClusterChanges, Member, MemberAdded } from '@engram/etcd-api';
import * as peerpb from './gen/peerpb.ts';
import type { RemoteLeader } from './remote-leader.ts';

export interface ClusterOfMembersOptions {
  readonly driver: ElectionDriver;
  readonly remote: RemoteLeader;
  readonly clock: Clock;
  /** `--initial-cluster-token`: part of the ids of members that are added. */
  readonly token: string;
}

const { ADD, REMOVE, UPDATE, PROMOTE } = peerpb.MemberChangeKind;

/** The cluster as the election knows it, and the changes that its leader makes. */
export class ClusterOfMembers implements Cluster, ClusterChanges {
  readonly #options: ClusterOfMembersOptions;

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

  get changes(): ClusterChanges {
    return this;
  }

  async add(urls: readonly string[], isLearner: boolean, caller: Caller): Promise<MemberAdded> {
    const peerUrls = parsePeerUrls(urls);
    if (peerUrls === undefined) throw new EngramError('MemberBadURLs');
    const { clock, token } = this.#options;
    const id = memberIdOf(peerUrls, token, Math.floor(clock.wallMs() / 1000));
    const members = await this.#change({ kind: 'add', id, peerUrls, isLearner }, caller);
    const added = members.find((member) => member.id === id);
    assert(added !== undefined, 'a member that was added is not there');
    return { added, members };
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
    return this.#changeOf(id, (member) => ({ kind: 'promote', id: member }), caller);
  }

  /** As in etcd the leader itself is asked: clients find it by Status. */
  async moveLeader(target: bigint, { signal }: Caller): Promise<void> {
    const { driver } = this.#options;
    if (driver.view.leader !== driver.view.self) throw new EngramError('NotLeader');
    if (!this.members.some(({ id, isLearner }) => id === target && !isLearner))
      throw new EngramError('BadLeaderTransferee');
    await driver.transferLeader(memberId(target), signal);
  }

  /** A change that another member has passed on. */
  async passedOn(
    { kind, id, peerUrls, learner }: peerpb.MemberChange,
    signal: AbortSignal,
  ): Promise<readonly Member[]> {
    const { members } = await this.#options.driver.changeMembers(requestOf(kind, id, peerUrls, learner), signal);
    return members;
  }

  /** No member has the id 0. */
  #changeOf(
    id: bigint,
    request: (id: ReturnType<typeof memberId>) => MemberRequest,
    caller: Caller,
  ): Promise<readonly Member[]> {
    if (id === 0n) return Promise.reject(new EngramError('MemberNotFound'));
    return this.#change(request(memberId(id)), caller);
  }

  async #change(request: MemberRequest, caller: Caller): Promise<readonly Member[]> {
    const { driver, remote } = this.#options;
    if (driver.view.leader === driver.view.self) {
      const state: ClusterState = await driver.changeMembers(request, caller.signal);
      return state.members;
    }
    // This member may hear of it a little later.
    const { members } = await remote.tell({ memberChange: formOf(request) }, caller);
    return members.map(({ learner, ...member }) => ({ ...member, isLearner: learner }));
  }

  get #view(): ElectionDriver['view'] {
    return this.#options.driver.view;
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
