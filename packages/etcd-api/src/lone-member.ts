import { EngramError, GrpcCode } from '@engram/core';
import { StatusError } from '@engram/wire';
import type { Cluster, ClusterChanges, ClusterCounts, Member } from './cluster-view.ts';
import { PromotionCounts } from './promotion-counts.ts';

export interface LoneMemberOptions {
  readonly clusterId: bigint;
  readonly member: Omit<Member, 'isLearner'>;
  /** Increases with each start. */
  readonly term: number;
}

/** A cluster of one member whose membership is fixed. It refuses changes with etcd's errors, or with UNIMPLEMENTED. */
export class LoneMember implements Cluster, ClusterChanges {
  readonly clusterId: bigint;
  readonly memberId: bigint;
  readonly leaderId: bigint;
  readonly term: number;
  readonly isLearner = false;
  /** The disk of a node that is alone either answers or ends the node. */
  readonly stalledMs = 0;
  readonly #promotions = new PromotionCounts();
  readonly counts: ClusterCounts = {
    leaderChanges: 1,
    lateHeartbeats: 0,
    slowReadIndexes: 0,
    failedReadIndexes: 0,
    promotions: 0,
    refusedPromotions: this.#promotions.refused,
    refusedTakeovers: 0,
  };
  readonly members: readonly Member[];

  constructor({ clusterId, member, term }: LoneMemberOptions) {
    this.clusterId = clusterId;
    this.memberId = member.id;
    this.leaderId = member.id;
    this.term = term;
    this.members = [{ ...member, isLearner: false }];
  }

  get changes(): ClusterChanges {
    return this;
  }

  async membersCaughtUp(): Promise<void> {}

  async add(peerUrls: readonly string[]): Promise<never> {
    const known = this.members.flatMap((member) => member.peerUrls);
    if (peerUrls.some((url) => known.includes(url.trim()))) throw new EngramError('PeerURLExist');
    throw fixedMembership();
  }

  async remove(id: bigint): Promise<never> {
    this.#checkMember(id);
    throw new EngramError('MemberNotEnoughStarted');
  }

  async update(id: bigint): Promise<never> {
    this.#checkMember(id);
    throw fixedMembership();
  }

  promote(id: bigint): Promise<never> {
    return this.#promotions.count(this.#promoting(id));
  }

  async #promoting(id: bigint): Promise<never> {
    this.#checkMember(id);
    throw new EngramError('MemberNotLearner');
  }

  /** This member leads, and no other member exists. */
  async moveLeader(target: bigint): Promise<void> {
    if (target !== this.memberId) throw new EngramError('BadLeaderTransferee');
  }

  #checkMember(id: bigint): void {
    if (id !== this.memberId) throw new EngramError('MemberNotFound');
  }
}

const fixedMembership = (): StatusError =>
  new StatusError(
    GrpcCode.UNIMPLEMENTED,
    'etcdserver: the membership of this cluster is fixed: members need --storage=tikv',
  );
