import { term } from '@engram/raft-ts';
import { describe, expect, test } from 'vitest';
import { afterBatch, loneSurvivorBatch, type RaftState } from '../index.ts';
import { ELECTION_TICKS, id, Members, member } from './support/members.ts';

/** Three members that have led and changed, and what is stored of all of them. */
function lostCluster(): { readonly members: Members; readonly states: readonly RaftState[] } {
  const members = new Members(3);
  const leader = members.elect(1);
  members.tick(5);
  leader.election.set(1, 'name', Uint8Array.of(7));
  members.settle();
  return { members, states: [...members.all.values()].map(({ state }) => state) };
}

describe('a member that goes on alone', () => {
  test('leads by itself, in an epoch above every earlier one, with what the members had agreed on', () => {
    const { members, states } = lostCluster();
    const before = members.get(2).view;
    const self = member(2, { peerUrls: ['http://10.0.0.9:2380'] });
    const batch = loneSurvivorBatch(before.cluster, self, states);
    members.all.delete(id(1));
    members.all.delete(id(3));
    const alone = members.add(id(2), afterBatch(states[1]!, batch));
    members.tick(2 * ELECTION_TICKS);
    const epoch = alone.takeOver();
    members.settle();
    expect(epoch).toBeGreaterThan(Math.max(...states.map(({ hardState }) => hardState.term)));
    expect(alone.view.leader).toBe(id(2));
    expect(alone.view.cluster.members).toEqual([self]);
    expect(alone.view.cluster.removed).toEqual([id(1), id(3)]);
    expect(alone.view.cluster.settings).toEqual(before.cluster.settings);
    alone.takeSeen();
    alone.election.changeMembers(5, {
      kind: 'add',
      id: id(9),
      peerUrls: ['http://127.0.0.1:9'],
      isLearner: true,
    });
    members.settle();
    expect(alone.takeSeen()).toContainEqual({ kind: 'settled', ticket: 5, outcome: { kind: 'done' } });
  });

  test('is above a term in which only a lost member has voted, and above an entry that only one has', () => {
    const { members, states } = lostCluster();
    const [one, ...rest] = states as [RaftState, ...RaftState[]];
    const ahead: RaftState = {
      ...one,
      hardState: { ...one.hardState, term: term(one.hardState.term + 40) },
      entries: [...one.entries, ...one.entries],
    };
    const { hardState, snapshot } = loneSurvivorBatch(members.get(2).view.cluster, member(2), [...rest, ahead]);
    expect(hardState!.term).toBe(one.hardState.term + 41);
    expect(snapshot!.term).toBe(hardState!.term);
    expect(snapshot!.index).toBe(one.snapshot.index + 2 * one.entries.length + 1);
    expect(hardState!.commit).toBe(snapshot!.index);
  });

  test('tells a member that lives after all that it was removed', () => {
    const { members, states } = lostCluster();
    const other = members.get(3);
    members.all.delete(id(1));
    const batch = loneSurvivorBatch(members.get(2).view.cluster, member(2), states);
    const alone = members.add(id(2), afterBatch(states[1]!, batch));
    other.takeSeen();
    members.tick(8 * ELECTION_TICKS);
    expect(other.takeSeen().map(({ kind }) => kind)).toContain('removed');
    expect(alone.view.leader).toBe(id(2));
  });

  test('a learner goes on as a voter', () => {
    const { members, states } = lostCluster();
    const { snapshot } = loneSurvivorBatch(members.get(2).view.cluster, member(2, { isLearner: true }), states);
    expect(snapshot!.conf.voters).toEqual([id(2)]);
  });
});
