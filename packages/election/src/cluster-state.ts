import { assert, type Epoch, type LogPosition } from '@engram/core';
import type { ConfChange, ConfState } from '@engram/raft-ts';
import { confState } from '@engram/raft-ts';
import type { Command, MemberChange } from './command.ts';
import { byId, type Member, type MemberId } from './member.ts';

/** One leadership of the store: who leads in an epoch, and where in the log of the data that began. */
export interface StoreLeadership {
  readonly epoch: Epoch;
  readonly holder: MemberId;
  readonly segment: number;
  readonly position: LogPosition;
}

/** What the members agree on beside the data, as of one place in Raft's log. Never changed in place. */
export interface ClusterState {
  readonly clusterId: bigint;
  /** By id. */
  readonly members: readonly Member[];
  /** Were members and can't be any more, in the order of their removal. The last `REMOVED_MAX` of them. */
  readonly removed: readonly MemberId[];
  /** Small values that all members must agree on, by name. */
  readonly settings: ReadonlyMap<string, Uint8Array>;
  /** The newest; undefined: none yet. */
  readonly leadership: StoreLeadership | undefined;
}

/** So many removed members are told of it when they come back. Ids are not dealt twice, so forgetting one is harmless. */
const REMOVED_MAX = 1024;

/** The state in which all first members begin, equal to the last byte. */
export function newCluster(clusterId: bigint, members: readonly Member[]): ClusterState {
  return { clusterId, members: [...members].sort(byId), removed: [], settings: new Map(), leadership: undefined };
}

export function memberOf(state: ClusterState, id: MemberId): Member | undefined {
  return state.members.find((member) => member.id === id);
}

/** The members as Raft has them. */
export function confOf(state: ClusterState): ConfState {
  const ids = (learners: boolean): readonly MemberId[] =>
    state.members.filter(({ isLearner }) => isLearner === learners).map(({ id }) => id);
  return confState(ids(false), ids(true));
}

/** The state behind a change of the membership. It was checked before it was proposed, against the state before it. */
export function afterMemberChange(state: ClusterState, change: ConfChange, { peerUrls }: MemberChange): ClusterState {
  const { node: id, kind } = change;
  const before = memberOf(state, id);
  if (kind === 'remove') {
    if (before === undefined) return state;
    const members = state.members.filter((member) => member.id !== id);
    return { ...state, members, removed: [...state.removed, id].slice(-REMOVED_MAX) };
  }
  const isLearner = kind === 'add-learner' || (kind === 'update' && before?.isLearner === true);
  // A promotion keeps what the member says of itself, an update its name.
  const after: Member =
    before === undefined
      ? { id, name: '', peerUrls, clientUrls: [], isLearner }
      : { ...before, peerUrls: kind === 'update' ? peerUrls : before.peerUrls, isLearner };
  assert(kind !== 'update' || before !== undefined, 'an update of nobody');
  return { ...state, members: [...state.members.filter((member) => member.id !== id), after].sort(byId) };
}

export function afterCommand(state: ClusterState, command: Command): ClusterState {
  switch (command.kind) {
    case 'leadership': {
      const { leadership } = command;
      // Epochs are terms, so a leadership that comes later in Raft's log has a larger one.
      assert(leadership.epoch > (state.leadership?.epoch ?? 0), 'an epoch went back');
      return { ...state, leadership };
    }
    case 'attributes': {
      const before = memberOf(state, command.member);
      // It may have been removed meanwhile.
      if (before === undefined) return state;
      const after = { ...before, name: command.name, clientUrls: command.clientUrls };
      return { ...state, members: state.members.map((member) => (member === before ? after : member)) };
    }
    case 'setting':
      return { ...state, settings: new Map([...state.settings, [command.name, command.value]]) };
  }
}
