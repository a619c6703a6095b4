import { describe, expect, test } from 'vitest';
import { bootstrapState, type Effect, memberOf, NEW_RAFT_STATE, receiverOf } from '../index.ts';
import { ELECTION_TICKS, id, Members, member, raftOf } from './support/members.ts';

const kinds = (effects: readonly Effect[]): readonly string[] => effects.map((effect) => effect.kind);
const settledOf = (effects: readonly Effect[]): readonly unknown[] =>
  effects.flatMap((effect) => (effect.kind === 'settled' ? [effect.outcome] : []));

describe('members', () => {
  test('a learner is added, catches up from a snapshot, says who it is, and is promoted', () => {
    const members = new Members(3);
    const leader = members.elect(1);
    members.tick(5);
    leader.election.changeMembers(7, { kind: 'add', id: id(4), peerUrls: ['http://127.0.0.1:4'], isLearner: true });
    members.settle();
    expect(settledOf(leader.takeSeen())).toEqual([{ kind: 'done' }]);
    const learner = members.add(id(4), NEW_RAFT_STATE);
    expect(learner.view.isLearner, 'before it knows the list').toBe(true);
    learner.election.publish('m4', ['http://127.0.0.1:479']);
    members.tick(2 * ELECTION_TICKS);
    expect(learner.view.isLearner).toBe(true);
    expect(learner.view.leader).toBe(id(1));
    expect(memberOf(members.get(3).view.cluster, id(4))).toEqual(member(4, { isLearner: true }));
    leader.election.changeMembers(8, { kind: 'promote', id: id(4) });
    members.settle();
    expect(settledOf(leader.takeSeen())).toEqual([{ kind: 'done' }]);
    for (const one of members.all.values()) expect(memberOf(one.view.cluster, id(4))).toEqual(member(4));
  });

  test('a member says who it is as soon as it knows a leader', () => {
    const members = new Members(3);
    for (const one of members.all.values()) one.election.publish(`new-${one.id}`, ['http://127.0.0.1:1']);
    while ([...members.all.values()].every(({ view }) => view.leader === undefined)) members.tick(1);
    [...members.all.values()].find(({ id: own, view }) => view.leader === own)?.takeOver();
    members.settle();
    const names = members.get(1).view.cluster.members.map(({ name }) => name);
    expect(names).toEqual([1, 2, 3].map((number) => `new-${id(number)}`));
  });

  test('changes wait for each other, and each is checked when it is its turn', () => {
    const members = new Members(3);
    const leader = members.elect(1);
    members.tick(5);
    const url = 'http://127.0.0.1:4';
    leader.election.changeMembers(1, { kind: 'add', id: id(4), peerUrls: [url], isLearner: true });
    leader.election.changeMembers(2, { kind: 'add', id: id(5), peerUrls: [url], isLearner: false });
    leader.election.changeMembers(3, { kind: 'promote', id: id(4) });
    leader.election.changeMembers(4, { kind: 'remove', id: id(4) });
    leader.election.changeMembers(5, { kind: 'remove', id: id(4) });
    members.settle();
    expect(settledOf(leader.takeSeen())).toEqual([
      { kind: 'done' },
      { kind: 'refused', code: 'PeerURLExist' },
      { kind: 'refused', code: 'LearnerNotReady' },
      { kind: 'done' },
      { kind: 'refused', code: 'MemberNotFound' },
    ]);
  });

  test('what is right only after the one before is not refused before it', () => {
    const members = new Members(3);
    const leader = members.elect(1);
    members.tick(5);
    leader.takeSeen();
    leader.election.changeMembers(1, { kind: 'add', id: id(4), peerUrls: ['http://127.0.0.1:4'], isLearner: true });
    leader.election.changeMembers(2, { kind: 'promote', id: id(4) });
    members.settle();
    expect(settledOf(leader.takeSeen())).toEqual([{ kind: 'done' }, { kind: 'refused', code: 'LearnerNotReady' }]);
  });

  test('a change is refused by who does not lead', () => {
    const members = new Members(3);
    members.elect(1);
    members.get(2).election.changeMembers(1, { kind: 'remove', id: id(3) });
    members.settle();
    expect(settledOf(members.get(2).takeSeen())).toEqual([{ kind: 'refused', code: 'NotLeader' }]);
  });

  test('a change whose leader is deposed is settled by what takes its place', () => {
    const members = new Members(3);
    const leader = members.elect(1);
    members.tick(5);
    members.isolate(1);
    leader.takeSeen();
    leader.election.changeMembers(1, { kind: 'update', id: id(2), peerUrls: ['http://127.0.0.1:22'] });
    leader.election.changeMembers(2, { kind: 'update', id: id(3), peerUrls: ['http://127.0.0.1:33'] });
    members.tick(2 * ELECTION_TICKS);
    // The second was never proposed; the first may still be committed by another leader.
    expect(settledOf(leader.takeSeen())).toEqual([{ kind: 'refused', code: 'LeaderChanged' }]);
    members.heal();
    members.tick(2);
    expect(settledOf(leader.takeSeen())).toEqual([{ kind: 'refused', code: 'LeaderChanged' }]);
    expect(memberOf(leader.view.cluster, id(2))).toEqual(member(2));
  });

  test('who is removed learns it from its own log, and stops when somebody else leads', () => {
    const members = new Members(3);
    const leader = members.elect(1);
    members.tick(5);
    leader.takeSeen();
    leader.election.changeMembers(1, { kind: 'remove', id: id(1) });
    members.settle();
    members.tick(2);
    const seen = kinds(leader.takeSeen());
    expect(seen).toContain('settled');
    expect(seen.indexOf('removed')).toBeGreaterThan(seen.indexOf('step-down'));
    const next = [members.get(2), members.get(3)].find((one) => one.view.leader === one.id)!;
    expect(next.view.cluster.members.map((one) => one.id)).toEqual([id(2), id(3)]);
  });

  test('a leader that was removed stays until the other knows that this is committed, and leads', () => {
    const members = new Members(2);
    const leader = members.elect(1);
    members.tick(5);
    leader.takeSeen();
    leader.election.changeMembers(1, { kind: 'remove', id: id(1) });
    // The other member persists the change, and does not learn of its commit.
    members.loses = (message, from) => {
      const raft = raftOf(message);
      return from === leader && !(raft?.type === 'append' && raft.entries.length > 0);
    };
    members.settle();
    members.tick(3 * ELECTION_TICKS);
    expect(kinds(leader.takeSeen())).toEqual(['cluster', 'settled', 'step-down', 'no-leader']);
    expect(leader.view.cluster.members.map((one) => one.id)).toEqual([id(2)]);
    expect(members.get(2).view.leader).toBeUndefined();
    members.heal();
    members.tick(3 * ELECTION_TICKS);
    expect(members.get(2).view.leader).toBe(id(2));
    expect(kinds(leader.takeSeen())).toContain('removed');
  });

  test('a leader that was removed hands over although the voter with the most entries is gone', () => {
    const members = new Members(4);
    const leader = members.elect(1);
    members.tick(5);
    leader.election.changeMembers(1, { kind: 'remove', id: id(1) });
    // Member 2 dies when it has acknowledged the removal, like the two others.
    members.loses = (message) => receiverOf(message) === id(2) && raftOf(message)?.type === 'timeout-now';
    members.settle();
    members.all.delete(id(2));
    members.tick(4 * ELECTION_TICKS);
    const successor = [members.get(3), members.get(4)].find((one) => one.view.leader === one.id);
    expect(successor).toBeDefined();
    expect(kinds(leader.takeSeen())).toContain('removed');
  });

  test('who was removed may go when a majority knows of it, and not when only the leader does', () => {
    const members = new Members(4, { rules: { strict: false, learnersMax: 1 } });
    const leader = members.elect(1);
    members.tick(3);
    // From the moment when the leader has committed the removal, its messages to 2 and 4 are lost.
    let isCutOff = false;
    members.loses = (message, from) => {
      isCutOff ||= leader.view.cluster.removed.length > 0;
      const [to, other] = [receiverOf(message), id(3)];
      return isCutOff && ((from === leader && to !== other) || (to === leader.id && from.id !== other));
    };
    leader.election.changeMembers(1, { kind: 'remove', id: id(3) });
    leader.work();
    members.settle();
    members.tick(ELECTION_TICKS - 1, 1, 3);
    expect(kinds(members.get(3).takeSeen())).not.toContain('removed');
    // The leader is lost for good. The others need the vote of 3, and get it.
    members.all.delete(leader.id);
    members.heal();
    for (const number of [2, 4]) members.get(number).random.value = number;
    members.tick(6 * ELECTION_TICKS);
    expect([2, 4].map((number) => members.get(number).view.leader)).not.toContain(undefined);
    expect(kinds(members.get(3).takeSeen())).toContain('removed');
  });

  test('only a leader tells who was removed that it may go', () => {
    const members = new Members(3);
    const leader = members.elect(1);
    members.tick(5);
    leader.election.changeMembers(1, { kind: 'remove', id: id(3) });
    members.settle();
    members.all.delete(id(3));
    const ask = (to: number): readonly unknown[] => {
      const asked = members.get(to);
      asked.outbox = [];
      const question = { kind: 'leaving', clusterId: members.clusterId, from: id(3), to: id(to) } as const;
      asked.election.receive(question, { member: id(3), dialed: false });
      asked.work();
      return asked.outbox;
    };
    expect(ask(2)).toEqual([]);
    expect(ask(1)).toEqual([{ kind: 'removed', clusterId: members.clusterId, to: id(3) }]);
  });

  test('nor does it before a crash could not make it forget that', () => {
    const members = new Members(2);
    const leader = members.elect(1);
    members.tick(5);
    members.get(2).takeSeen();
    leader.election.changeMembers(1, { kind: 'remove', id: id(2) });
    leader.work();
    // The change is saved, but its commit is not.
    leader.holdsSaves = true;
    members.settle();
    members.tick(ELECTION_TICKS);
    expect(leader.view.cluster.members.map((one) => one.id)).toEqual([id(1)]);
    expect(kinds(members.get(2).takeSeen())).not.toContain('removed');
    leader.holdsSaves = false;
    leader.finishSave();
    members.tick(ELECTION_TICKS);
    expect(kinds(members.get(2).takeSeen())).toContain('removed');
  });

  test('a voter that was removed while it was away learns of it from a leader that it knows as a learner', () => {
    const members = new Members(3);
    const leader = members.elect(1);
    members.tick(5);
    leader.election.changeMembers(1, { kind: 'add', id: id(4), peerUrls: ['http://127.0.0.1:4'], isLearner: true });
    members.settle();
    const next = members.add(id(4), NEW_RAFT_STATE);
    members.tick(2 * ELECTION_TICKS);
    const away = members.get(3);
    members.isolate(3);
    leader.election.changeMembers(2, { kind: 'promote', id: id(4) });
    members.settle();
    members.tick(2);
    leader.election.changeMembers(3, { kind: 'remove', id: id(3) });
    members.settle();
    expect(leader.election.transferTo(id(4))).toBe(true);
    members.tick(2 * ELECTION_TICKS);
    expect(next.takeOver()).toBeDefined();
    members.tick(2 * ELECTION_TICKS);
    expect(kinds(away.takeSeen())).not.toContain('removed');
    members.heal();
    members.tick(4 * ELECTION_TICKS);
    expect(kinds(away.takeSeen())).toContain('removed');
  });

  test('a voter that was away follows a leader that was added meanwhile, and learns of all changes from it', () => {
    const members = new Members(3);
    const leader = members.elect(1);
    members.tick(5);
    const away = members.get(3);
    members.isolate(3);
    leader.election.changeMembers(1, { kind: 'add', id: id(4), peerUrls: ['http://127.0.0.1:4'], isLearner: true });
    members.settle();
    const next = members.add(id(4), NEW_RAFT_STATE);
    members.tick(2 * ELECTION_TICKS);
    leader.election.changeMembers(2, { kind: 'promote', id: id(4) });
    members.settle();
    members.tick(2);
    expect(leader.election.transferTo(id(4))).toBe(true);
    members.tick(2 * ELECTION_TICKS);
    expect(next.takeOver()).toBeDefined();
    members.tick(2 * ELECTION_TICKS);
    expect([away.view.leader, memberOf(away.view.cluster, id(4))]).toEqual([undefined, undefined]);
    members.heal();
    members.tick(2 * ELECTION_TICKS);
    expect([away.view.leader, away.view.term]).toEqual([id(4), next.view.term]);
    expect(away.view.cluster).toEqual(next.view.cluster);
  });

  test('a member that was removed before it had read of its own addition asks too', () => {
    const members = new Members(3);
    const leader = members.elect(1);
    members.tick(5);
    leader.election.changeMembers(1, { kind: 'add', id: id(4), peerUrls: ['http://127.0.0.1:4'], isLearner: true });
    members.settle();
    leader.election.changeMembers(2, { kind: 'remove', id: id(4) });
    members.settle();
    // The late member knows the first members, as if it had read the log up to there.
    const late = members.add(id(4), bootstrapState(members.clusterId, [member(1), member(2), member(3)]));
    members.tick(4 * ELECTION_TICKS);
    expect(kinds(late.takeSeen())).toContain('removed');
  });

  test('a learner that was removed while it was away asks, though it asks for no votes', () => {
    const members = new Members(3);
    const leader = members.elect(1);
    members.tick(5);
    const url = 'http://127.0.0.1:4';
    leader.election.changeMembers(1, { kind: 'add', id: id(4), peerUrls: [url], isLearner: true });
    members.settle();
    const learner = members.add(id(4), NEW_RAFT_STATE);
    members.tick(2 * ELECTION_TICKS);
    members.isolate(4);
    leader.election.changeMembers(2, { kind: 'remove', id: id(4) });
    members.tick(4 * ELECTION_TICKS);
    expect(kinds(learner.takeSeen())).not.toContain('removed');
    members.heal();
    members.tick(2 * ELECTION_TICKS);
    expect(kinds(learner.takeSeen())).toContain('removed');
  });

  test.each([true, false])(
    'who was removed before its first start asks whom it is connected to (learner: %s)',
    (isLearner) => {
      const members = new Members(3);
      const leader = members.elect(1);
      members.tick(5);
      leader.election.changeMembers(1, { kind: 'add', id: id(4), peerUrls: ['http://127.0.0.1:4'], isLearner });
      members.settle();
      leader.election.changeMembers(2, { kind: 'remove', id: id(4) });
      members.settle();
      expect(settledOf(leader.takeSeen())).toEqual([{ kind: 'done' }, { kind: 'done' }]);
      const late = members.add(id(4), NEW_RAFT_STATE);
      members.tick(3 * ELECTION_TICKS);
      expect(kinds(late.takeSeen())).not.toContain('removed'); // no member is connected yet
      late.election.peerConnected(id(1));
      late.election.peerConnected(id(2));
      members.tick(2 * ELECTION_TICKS);
      expect(kinds(late.takeSeen())).toEqual(['removed']);
      expect(leader.view.leader).toBe(id(1));
    },
  );

  test('who was added and hears from the leader late is not sent away', () => {
    const members = new Members(3);
    const leader = members.elect(1);
    members.tick(5);
    leader.election.changeMembers(1, { kind: 'add', id: id(4), peerUrls: ['http://127.0.0.1:4'], isLearner: true });
    members.settle();
    const late = members.add(id(4), NEW_RAFT_STATE);
    late.election.peerConnected(id(1));
    members.loses = (message, from) => from === leader && raftOf(message) !== undefined;
    members.tick(4 * ELECTION_TICKS);
    members.heal();
    members.tick(2 * ELECTION_TICKS);
    expect(kinds(late.takeSeen())).not.toContain('removed');
    expect(memberOf(late.view.cluster, id(4))?.isLearner).toBe(true);
  });

  test('who was removed while it was away is told so by whoever it asks', () => {
    const members = new Members(3);
    const leader = members.elect(1);
    members.tick(5);
    members.isolate(3);
    leader.election.peerDisconnected(id(3));
    leader.takeSeen();
    leader.election.changeMembers(1, { kind: 'remove', id: id(3) });
    members.settle();
    expect(settledOf(leader.takeSeen())).toEqual([{ kind: 'done' }]);
    members.tick(3);
    members.heal();
    members.tick(3 * ELECTION_TICKS);
    expect(kinds(members.get(3).takeSeen())).toContain('removed');
    expect(leader.view.leader).toBe(id(1));
  });

  test('a learner whose copy of the data is not ready is not promoted', () => {
    let isReady = false;
    const list = [member(1), member(2), member(3, { isLearner: true })];
    const members = new Members(3, { isReplicaReady: (learner) => isReady && learner === id(3) }, list);
    const leader = members.elect(1);
    members.tick(5);
    leader.takeSeen();
    leader.election.changeMembers(1, { kind: 'promote', id: id(3) });
    isReady = true;
    members.settle();
    leader.election.changeMembers(2, { kind: 'promote', id: id(3) });
    members.settle();
    expect(settledOf(leader.takeSeen())).toEqual([{ kind: 'refused', code: 'LearnerNotReady' }, { kind: 'done' }]);
  });

  test('settings are agreed upon', () => {
    const members = new Members(3);
    const leader = members.elect(1);
    leader.takeSeen();
    leader.election.set(1, 'cluster-version', Uint8Array.of(3, 7));
    members.settle();
    expect(settledOf(leader.takeSeen())).toEqual([{ kind: 'done' }]);
    for (const one of members.all.values()) {
      expect(one.view.cluster.settings.get('cluster-version')).toEqual(Uint8Array.of(3, 7));
    }
  });
});
