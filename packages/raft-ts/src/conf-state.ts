import { assert } from '@engram/core';
import type { ConfChange } from './entry.ts';
import { type LogIndex, NO_INDEX } from './log-index.ts';
import { type NodeId, sortedIds } from './node-id.ts';

/** The members of the group, as of one place in the log. Sorted; no node is in both lists. A learner is in no quorum. */
export interface ConfState {
  readonly voters: readonly NodeId[];
  readonly learners: readonly NodeId[];
}

export const NO_CONF: ConfState = { voters: [], learners: [] };

export function confState(voters: Iterable<NodeId>, learners: Iterable<NodeId> = []): ConfState {
  const state = { voters: sortedIds(voters), learners: sortedIds(learners) };
  for (const id of state.learners) assert(!state.voters.includes(id), 'a node is voter and learner');
  return state;
}

/** False if the change would leave no voter: a group without voters can't decide on any further change. */
export function isApplicable(state: ConfState, change: ConfChange): boolean {
  const takesVoter = change.kind === 'remove' || change.kind === 'add-learner';
  return !(takesVoter && state.voters.length === 1 && state.voters[0] === change.node);
}

/**
 * The membership after the change. Adding a member again and removing a node that is no member change nothing. Neither does a
 * change that is not applicable: a leader proposes none, but what is committed has the same effect on every node.
 */
export function afterChange(state: ConfState, change: ConfChange): ConfState {
  if (change.kind === 'update' || !isApplicable(state, change)) return state;
  const voters = state.voters.filter((id) => id !== change.node);
  const learners = state.learners.filter((id) => id !== change.node);
  if (change.kind === 'add-voter') voters.push(change.node);
  if (change.kind === 'add-learner') learners.push(change.node);
  return confState(voters, learners);
}

export function isVoter(state: ConfState, id: NodeId): boolean {
  return state.voters.includes(id);
}

export function isMember(state: ConfState, id: NodeId): boolean {
  return state.voters.includes(id) || state.learners.includes(id);
}

export function quorumSize(state: ConfState): number {
  return Math.floor(state.voters.length / 2) + 1;
}

export function hasQuorum(state: ConfState, says: (voter: NodeId) => boolean): boolean {
  let count = 0;
  for (const id of state.voters) if (says(id)) count += 1;
  return state.voters.length > 0 && count >= quorumSize(state);
}

/** The highest index that a majority of the voters has. `indexOf` is called for voters only. */
export function quorumIndex(state: ConfState, indexOf: (voter: NodeId) => LogIndex): LogIndex {
  if (state.voters.length === 0) return NO_INDEX;
  const indexes = state.voters.map(indexOf).sort((one, other) => other - one);
  return indexes[quorumSize(state) - 1]!;
}
