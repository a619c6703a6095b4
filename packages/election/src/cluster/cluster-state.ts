import type { ConfChange, ConfState } from '@engram/raft-ts';
import { confState, isApplicable } from '@engram/raft-ts';
import type { ClusterCommand, MemberChange } from './command.ts';
import { byId, type Member, type MemberId } from './member.ts';
import type { StoreLeadership } from './store-leadership.ts';

/** The state that the members agree on beside the data, as of one place in Raft's log. Immutable. */
export interface ClusterState {
  readonly clusterId: bigint;
  /** Sorted by id. */
  readonly members: readonly Member[];
  /** Removed members, which can't be added again, in the order of their removal. The last `REMOVED_MAX` of them. */
  readonly removed: readonly MemberId[];
  /** The peer URLs that each of them had, so that its process can be told when it comes back. Without those that were not stored. */
  readonly removedUrls: ReadonlyMap<MemberId, readonly string[]>;
  /** Small values that all members must agree on, by name. */
  readonly settings: ReadonlyMap<string, Uint8Array>;
  /** The newest leadership. Undefined before the first one. */
  readonly leadership: StoreLeadership | undefined;
}

/** How many removed members are remembered, to tell them when they come back. Ids are not reused, so forgetting is harmless. */
const REMOVED_MAX = 1024;

/** The state in which all first members begin. Its encoding is the same on all of them. */
export function newCluster(clusterId: bigint, members: readonly Member[]): ClusterState {
  return {
    clusterId,
    members: [...members].sort(byId),
    removed: [],
    removedUrls: new Map(),
    settings: new Map(),
    leadership: undefined,
  };
}

export function memberOf(state: ClusterState, id: MemberId): Member | undefined {
  return state.members.find((member) => member.id === id);
}

/** The membership for Raft. */
export function confOf(state: ClusterState): ConfState {
  const ids = (learners: boolean): readonly MemberId[] =>
    state.members.filter(({ isLearner }) => isLearner === learners).map(({ id }) => id);
  return confState(ids(false), ids(true));
}

/** The state after a change of the membership. */
export function afterMemberChange(state: ClusterState, change: ConfChange, { peerUrls }: MemberChange): ClusterState {
  const { node: id, kind } = change;
  const before = memberOf(state, id);
  // Raft gives neither any effect. A leader proposes none; what is committed must have the same effect on every member.
  if (!isApplicable(confOf(state), change) || (kind === 'update' && before === undefined)) return state;
  if (kind === 'remove') {
    if (before === undefined) return state;
    const members = state.members.filter((member) => member.id !== id);
    const all = [...state.removed, id];
    const removedUrls = new Map(state.removedUrls).set(id, before.peerUrls);
    for (const forgotten of all.slice(0, -REMOVED_MAX)) removedUrls.delete(forgotten);
    return { ...state, members, removed: all.slice(-REMOVED_MAX), removedUrls };
  }
  const isLearner = kind === 'add-learner' || (kind === 'update' && before?.isLearner === true);
  // A promotion keeps the member's name and URLs, an update its name and client URLs.
  const after: Member =
    before === undefined
      ? { id, name: '', peerUrls, clientUrls: [], isLearner }
      : { ...before, peerUrls: kind === 'update' ? peerUrls : before.peerUrls, isLearner };
  return { ...state, members: [...state.members.filter((member) => member.id !== id), after].sort(byId) };
}

export function afterCommand(state: ClusterState, command: ClusterCommand): ClusterState {
  switch (command.kind) {
    case 'leadership': {
      const { leadership } = command;
      // Epochs are terms, so a leadership that comes later in Raft's log has a larger one, if a leader has proposed it.
      return leadership.epoch <= (state.leadership?.epoch ?? 0) ? state : { ...state, leadership };
    }
    case 'attributes': {
      const before = memberOf(state, command.member);
      // The member may have been removed meanwhile.
      if (before === undefined) return state;
      const after = { ...before, name: command.name, clientUrls: command.clientUrls };
      return { ...state, members: state.members.map((member) => (member === before ? after : member)) };
    }
    case 'setting':
      return { ...state, settings: new Map([...state.settings, [command.name, command.value]]) };
  }
}
