import type { ErrorCode } from '@engram/core';
import type { ConfChange } from '@engram/raft-ts';
import { type ClusterState, memberOf } from '../cluster/cluster-state.ts';
import { encodeMemberChange } from '../codec/cluster-codec.ts';
import { hasStarted, type Member, type MemberId } from '../cluster/member.ts';
import { parsePeerUrls } from '../cluster/peer-urls.ts';

export type MemberRequest =
  | {
      readonly kind: 'add';
      readonly id: MemberId;
      /** As `parsePeerUrls` gives them. */
      readonly peerUrls: readonly string[];
      readonly isLearner: boolean;
    }
  | { readonly kind: 'remove'; readonly id: MemberId }
  | { readonly kind: 'update'; readonly id: MemberId; readonly peerUrls: readonly string[] }
  | { readonly kind: 'promote'; readonly id: MemberId };

export interface MembershipRules {
  /** `--strict-reconfig-check`: refuses changes that would leave no majority of started and connected members. */
  readonly strict: boolean;
  readonly learnersMax: number;
}

/** What the leader knows of the other members besides the state. */
export interface MemberHealth {
  readonly self: MemberId;
  isConnected(id: MemberId): boolean;
  /** Whether the member is connected for at least `HEALTH_INTERVAL_MS` without a break. */
  isConnectedForLong(id: MemberId): boolean;
  /** Whether a learner has nearly everything that the leader has. */
  isCaughtUp(id: MemberId): boolean;
}

/** etcd's HealthInterval (server.go). */
export const HEALTH_INTERVAL_MS = 5_000;

/** A learner is ready when it has at least this share of the leader's log (etcd: readyPercentThreshold). */
export const READY_SHARE = 0.9;

/**
 * Why a change of the membership is refused, with etcd's code. Undefined: it may be proposed. The leader checks it against
 * the applied state while no other change is pending, so an allowed change is still right when it is applied.
 */
export function refusalOf(
  state: ClusterState,
  request: MemberRequest,
  rules: MembershipRules,
  health: MemberHealth,
): ErrorCode | undefined {
  switch (request.kind) {
    case 'add':
      return refusalOfAdd(state, request, rules, health);
    case 'remove':
      return refusalOfRemove(state, request.id, rules, health);
    case 'update':
      if (memberOf(state, request.id) === undefined) return 'MemberNotFound';
      if (parsePeerUrls(request.peerUrls) === undefined) return 'MemberBadURLs';
      return hasUrlOfOthers(state, request.id, request.peerUrls) ? 'PeerURLExist' : undefined;
    case 'promote':
      return refusalOfPromote(state, request.id, rules, health);
  }
}

/** The change to propose for a request that was not refused. */
export function changeOf(request: MemberRequest): ConfChange {
  const peerUrls = request.kind === 'add' || request.kind === 'update' ? request.peerUrls : [];
  return { kind: kindOf(request), node: request.id, context: encodeMemberChange({ peerUrls }) };
}

function kindOf(request: MemberRequest): ConfChange['kind'] {
  if (request.kind === 'add') return request.isLearner ? 'add-learner' : 'add-voter';
  return request.kind === 'promote' ? 'add-voter' : request.kind;
}

function refusalOfAdd(
  state: ClusterState,
  request: MemberRequest & { readonly kind: 'add' },
  rules: MembershipRules,
  health: MemberHealth,
): ErrorCode | undefined {
  // The member that passes the change on may be of a version with other checks.
  if (parsePeerUrls(request.peerUrls) === undefined) return 'MemberBadURLs';
  const voters = votersOf(state);
  if (rules.strict) {
    if (!request.isLearner && !mayAddVoter(voters)) return 'MemberNotEnoughStarted';
    // The new member counts as not connected. A lone member may always add another one.
    const connected = countConnected(voters, health);
    if (voters.length > 1 && connected < majority(voters.length + 1)) return 'Unhealthy';
  }
  if (state.removed.includes(request.id)) return 'MemberNotFound';
  if (memberOf(state, request.id) !== undefined) return 'MemberExist';
  if (hasUrlOfOthers(state, request.id, request.peerUrls)) return 'PeerURLExist';
  const learners = state.members.length - voters.length;
  if (request.isLearner && learners >= rules.learnersMax) return 'TooManyLearners';
  return undefined;
}

function refusalOfRemove(
  state: ClusterState,
  id: MemberId,
  rules: MembershipRules,
  health: MemberHealth,
): ErrorCode | undefined {
  const member = memberOf(state, id);
  if (member === undefined) return 'MemberNotFound';
  if (member.isLearner || !rules.strict) return undefined;
  const voters = votersOf(state);
  const left = voters.filter((voter) => voter.id !== id);
  if (left.filter(hasStarted).length < majority(left.length)) return 'MemberNotEnoughStarted';
  // A member that is down is no part of the working majority: its removal only makes the needed majority smaller.
  if (id !== health.self && !health.isConnected(id)) return undefined;
  return countConnected(voters, health) - 1 < majority(voters.length - 1) ? 'Unhealthy' : undefined;
}

function refusalOfPromote(
  state: ClusterState,
  id: MemberId,
  rules: MembershipRules,
  health: MemberHealth,
): ErrorCode | undefined {
  const member = memberOf(state, id);
  if (member === undefined) return 'MemberNotFound';
  if (!member.isLearner) return 'MemberNotLearner';
  if (!health.isCaughtUp(id)) return 'LearnerNotReady';
  const voters = votersOf(state);
  // The learner counts as started, because it has caught up.
  const started = voters.filter(hasStarted).length + 1;
  return rules.strict && started < majority(voters.length + 1) ? 'MemberNotEnoughStarted' : undefined;
}

/** A lone member that has started may always add a second one: a lost cluster is rebuilt that way. */
function mayAddVoter(voters: readonly Member[]): boolean {
  const started = voters.filter(hasStarted).length;
  return (started === 1 && voters.length === 1) || started >= majority(voters.length + 1);
}

const majority = (count: number): number => Math.floor(count / 2) + 1;

const votersOf = (state: ClusterState): readonly Member[] => state.members.filter(({ isLearner }) => !isLearner);

function countConnected(voters: readonly Member[], health: MemberHealth): number {
  return voters.filter(({ id }) => id === health.self || health.isConnectedForLong(id)).length;
}

function hasUrlOfOthers(state: ClusterState, id: MemberId, peerUrls: readonly string[]): boolean {
  return state.members.some((member) => member.id !== id && member.peerUrls.some((url) => peerUrls.includes(url)));
}
