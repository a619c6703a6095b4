import { AssertionError } from '@engram/core';
import { describe, expect, test } from 'vitest';
import { type AppendRequest, confState, logIndex, type Message, term } from '@engram/raft-ts';
import { bootstrap, bytes, entriesOf, Group, id, ids, TestNode } from './support/group.ts';

const three = confState(ids(1, 2, 3));

/** Node 1 in term `ofTerm`, with entries of these terms in its log behind place 1@1. */
function follower(terms: readonly number[], ofTerm: number, commit = 1): TestNode {
  const hardState = { term: term(ofTerm), vote: undefined, commit: logIndex(commit) };
  return TestNode.member(id(1), three, {}, { terms, hardState });
}

function append(
  ofTerm: number,
  prev: readonly [index: number, term: number],
  terms: readonly number[],
  commit: number,
): AppendRequest {
  return {
    type: 'append',
    from: id(2),
    to: id(1),
    term: term(ofTerm),
    prevIndex: logIndex(prev[0]),
    prevTerm: term(prev[1]),
    entries: entriesOf(terms, prev[0] + 1),
    commit: logIndex(commit),
  };
}

const acknowledgement = (index: number, ofTerm: number): object => ({
  type: 'append-response',
  index,
  term: ofTerm,
  rejection: undefined,
});

describe('a follower', () => {
  test('keeps the newest 1024 answers behind a save that hangs', () => {
    const node = follower([1, 2, 2], 2);
    node.raw.step(append(2, [4, 2], [2], 1));
    node.hold();
    // Each is an answer about a later entry, none of which is saved.
    for (let at = 5; at < 2005; at += 1) node.raw.step(append(2, [at, 2], [2], 1));
    node.finish();
    const answers = node.settle().filter(({ type }) => type === 'append-response');
    expect(answers).toHaveLength(1024);
    expect(answers.at(-1)).toMatchObject(acknowledgement(2005, 2));
  });

  // The follower's log: 1@1 (the beginning), 2@1, 3@2, 4@2; term 2.
  test.each([
    { prev: [4, 2], terms: [3], commit: 1, log: [1, 2, 2, 3], has: 5, committed: 1, why: 'adds what is new' },
    { prev: [4, 2], terms: [], commit: 4, log: [1, 2, 2], has: 4, committed: 4, why: 'learns the commit' },
    { prev: [4, 2], terms: [3], commit: 9, log: [1, 2, 2, 3], has: 5, committed: 5, why: 'commits what it has' },
    {
      prev: [2, 1],
      terms: [2],
      commit: 9,
      log: [1, 2, 2],
      has: 3,
      committed: 3,
      why: 'keeps what may follow, and does not commit it',
    },
    { prev: [2, 1], terms: [2, 2], commit: 1, log: [1, 2, 2], has: 4, committed: 1, why: 'keeps what it has already' },
    {
      prev: [2, 1],
      terms: [3],
      commit: 1,
      log: [1, 3],
      has: 3,
      committed: 1,
      why: 'gives up what conflicts, and all behind it',
    },
    { prev: [1, 1], terms: [3, 3, 3], commit: 3, log: [3, 3, 3], has: 4, committed: 3, why: 'gives up all of it' },
    {
      prev: [2, 1],
      terms: [2, 3, 3],
      commit: 1,
      log: [1, 2, 3, 3],
      has: 5,
      committed: 1,
      why: 'keeps the part that agrees',
    },
  ] as const)('$why: behind $prev $terms', ({ prev, terms, commit, log, has, committed }) => {
    const node = follower([1, 2, 2], 2);
    const answers = node.receive(append(3, prev, terms, commit));
    expect(answers).toEqual([expect.objectContaining(acknowledgement(has, 3))]);
    expect(node.terms()).toEqual(log);
    expect(node.status).toMatchObject({ commit: committed, leader: id(2), term: 3 });
  });

  // The follower's log: 1@1, 2@1, 3@2, 4@2, 5@4.
  test.each([
    { prev: [9, 4], at: [5, 4], why: 'the log ends before' },
    { prev: [5, 3], at: [4, 2], why: 'of a lower term there is something at 4' },
    { prev: [4, 1], at: [2, 1], why: 'the term of 2 is not above 1' },
    { prev: [5, 9], at: [5, 4], why: 'what is there may be older' },
  ] as const)('without $prev says where the logs may agree: $at, $why', ({ prev, at }) => {
    const node = follower([1, 2, 2, 4], 4);
    const answers = node.receive(append(9, prev, [9], 1));
    const rejection = { index: at[0], term: at[1] };
    expect(answers).toEqual([expect.objectContaining({ type: 'append-response', index: prev[0], rejection })]);
    expect(node.terms()).toEqual([1, 2, 2, 4]);
  });

  test('acknowledges an append before its commit by the commit', () => {
    const node = follower([1, 2, 2], 2, 4);
    expect(node.receive(append(3, [2, 1], [2], 2))).toEqual([expect.objectContaining(acknowledgement(4, 3))]);
    expect(node.status.commit).toBe(4);
  });

  test('an entry that would replace a committed one is refused', () => {
    const node = follower([1, 2, 2], 2, 3);
    // Entry 3 is committed, so a correct leader has no other entry at index 3.
    const wrong = { ...append(3, [3, 2], [3], 3), entries: entriesOf([3], 3) };
    expect(node.raw.step(wrong)).toBe('entries that do not follow their place');
    expect(node.settle()).toEqual([]);
  });

  test('answers a leader of an old term with its own', () => {
    const node = follower([], 5);
    for (const message of [
      append(3, [1, 1], [2], 1),
      { type: 'heartbeat', from: id(2), to: id(1), term: term(3), commit: logIndex(1), readRound: 0 },
      {
        type: 'snapshot',
        from: id(2),
        to: id(1),
        term: term(3),
        snapshot: { ...bootstrap(three), index: logIndex(9) },
      },
    ] satisfies readonly Message[]) {
      expect(node.receive(message)).toEqual([expect.objectContaining({ type: 'append-response', term: 5, to: id(2) })]);
    }
    expect(node.status).toMatchObject({ leader: undefined, lastIndex: 1 });
  });

  test('ignores what is meant for another node', () => {
    const node = follower([], 1);
    expect(node.receive({ ...append(3, [1, 1], [2], 1), to: id(3) })).toEqual([]);
    expect(node.status.term).toBe(1);
  });

  test('a commit behind its end means that it has lost entries', () => {
    const node = follower([], 2);
    const heartbeat = {
      type: 'heartbeat',
      from: id(2),
      to: id(1),
      term: term(2),
      commit: logIndex(3),
      readRound: 0,
    } as const;
    const before = node.status;
    expect(node.raw.step(heartbeat)).toMatch('the log ends at');
    expect(node.status).toEqual(before);
  });
});

describe('a snapshot', () => {
  const conf = confState(ids(1, 2), ids(3));
  const snapshotOf = (index: number, ofTerm: number): Message => ({
    type: 'snapshot',
    from: id(2),
    to: id(1),
    term: term(5),
    snapshot: { index: logIndex(index), term: term(ofTerm), conf, data: bytes(`state at ${index}`) },
  });

  // The log: 1@1 (the beginning), 2@1, 3@2, 4@2, 5@4; committed up to 3.
  test.each([
    { index: 2, ofTerm: 1, has: 3, commit: 3, last: 5, restored: false, why: 'is older than what is committed' },
    { index: 3, ofTerm: 2, has: 3, commit: 3, last: 5, restored: false, why: 'is of what is committed' },
    { index: 5, ofTerm: 4, has: 5, commit: 5, last: 5, restored: false, why: 'tells that the log is committed so far' },
    { index: 5, ofTerm: 5, has: 5, commit: 5, last: 5, restored: true, why: 'takes the place of another log' },
    { index: 9, ofTerm: 5, has: 9, commit: 9, last: 9, restored: true, why: 'is far ahead' },
  ])('of $index@$ofTerm $why', ({ index, ofTerm, has, commit, last, restored }) => {
    const node = follower([1, 2, 2, 4], 4, 3);
    // Entries are committed, but none has been applied yet.
    node.raw.step(snapshotOf(index, ofTerm));
    expect(node.status).toMatchObject({ commit, lastIndex: last, applied: 1 });
    expect(node.settle()).toEqual([expect.objectContaining(acknowledgement(has, 5))]);
    expect(node.state[0]).toBe(restored ? `state at ${index}` : 'begin');
    expect(node.raw.conf).toEqual(restored ? conf : three);
    expect(node.status.applied).toBe(commit);
  });

  test('that is not installed yet holds back what follows it, and every campaign', () => {
    const node = follower([], 4);
    node.receive();
    node.raw.step(snapshotOf(9, 5));
    const { ready } = node.hold();
    expect(ready.persist?.snapshot?.index).toBe(9);
    node.raw.step({ ...append(5, [9, 5], [5], 10), prevIndex: logIndex(9) });
    node.raw.campaign();
    node.raw.step({ type: 'timeout-now', from: id(2), to: id(1), term: term(5) });
    expect(node.status).toMatchObject({ role: 'follower', commit: 10, applied: 1 });
    expect(node.hold().ready).toMatchObject({ persist: undefined, committedEntries: [] });
    node.finish();
    node.settle();
    expect(node.status).toMatchObject({ applied: 10, lastIndex: 10 });
    expect(node.state).toEqual(['state at 9', '10@5']);
  });
});

describe('a leader', () => {
  test('commits by counting only entries of its own term', () => {
    const group = Group.of(3);
    // An entry of term 1 is on nodes 1 and 2. They are a majority, but the entry is not committed.
    for (const number of [1, 2]) group.add(TestNode.member(id(number), three, {}, { terms: [1] }));
    group.loses = (message) => message.type === 'append';
    const leader = group.elect(1);
    const answer = { type: 'append-response', to: id(1), term: leader.status.term, rejection: undefined } as const;
    leader.receive({ ...answer, from: id(2), index: logIndex(2) });
    expect(leader.status).toMatchObject({ commit: 1, lastIndex: 3 });
    leader.receive({ ...answer, from: id(2), index: logIndex(3) });
    expect(leader.status.commit).toBe(3);
  });

  test.each([
    { voters: 1, has: [], commit: 3 },
    { voters: 2, has: [2], commit: 2 },
    { voters: 2, has: [3], commit: 3 },
    { voters: 3, has: [2, 2], commit: 2 },
    { voters: 3, has: [3, 1], commit: 3 },
    { voters: 4, has: [3, 1, 1], commit: 1 },
    { voters: 4, has: [3, 3, 1], commit: 3 },
    { voters: 5, has: [3, 2, 1, 1], commit: 2 },
    { voters: 5, has: [3, 3, 1, 1], commit: 3 },
  ])('$voters voters of which the others have $has commit $commit', ({ voters, has, commit }) => {
    const group = Group.of(voters);
    group.loses = (message) => message.type === 'append';
    const leader = group.elect(1);
    leader.raw.propose(bytes('a'));
    leader.settle();
    const answer = { type: 'append-response', to: id(1), term: leader.status.term, rejection: undefined } as const;
    for (const [at, index] of has.entries()) leader.receive({ ...answer, from: id(at + 2), index: logIndex(index) });
    expect(leader.status.commit).toBe(commit);
  });

  test('does not count what it has not persisted itself', () => {
    const group = Group.of(3);
    const leader = group.elect(1);
    leader.raw.propose(bytes('a'));
    leader.hold();
    const answer = { type: 'append-response', to: id(1), term: leader.status.term, rejection: undefined } as const;
    leader.raw.step({ ...answer, from: id(2), index: logIndex(3) });
    expect(leader.status.commit).toBe(2);
    leader.finish();
    expect(leader.status.commit).toBe(3);
  });

  test('learners are not counted', () => {
    const conf = confState(ids(1, 2), ids(3, 4, 5));
    const group = new Group();
    for (const number of [1, 2, 3, 4, 5]) group.add(TestNode.member(id(number), conf));
    const leader = group.elect(1);
    group.isolate(2);
    leader.raw.propose(bytes('a'));
    leader.raw.readIndex(bytes('r'));
    group.settle();
    expect(leader.status).toMatchObject({ commit: 2, lastIndex: 3 });
    expect(leader.readStates).toEqual([]);
    group.tick(2 * 10);
    expect(leader.status.role).toBe('follower');
  });

  test('takes duplicates and late answers for what they are', () => {
    const group = Group.of(3);
    const leader = group.elect(1);
    leader.raw.propose(bytes('a'), bytes('b'));
    group.settle();
    const before = leader.status;
    const answer = { type: 'append-response', from: id(2), to: id(1), term: before.term } as const;
    const sent = leader.receive(
      { ...answer, index: logIndex(2), rejection: undefined },
      { ...answer, index: logIndex(4), rejection: undefined },
      { ...answer, index: logIndex(3), rejection: { index: logIndex(2), term: term(1) } },
    );
    expect(sent).toEqual([]);
    expect(leader.status).toEqual(before);
  });

  test('an answer that claims more than the leader has is refused', () => {
    const leader = Group.of(3).elect(1);
    const lie = {
      type: 'append-response',
      from: id(2),
      to: id(1),
      term: leader.status.term,
      rejection: undefined,
    } as const;
    const before = leader.status;
    expect(leader.raw.step({ ...lie, index: logIndex(99) })).toMatch('an answer about entry 99');
    const rejection = { index: logIndex(2), term: term(1) };
    expect(leader.raw.step({ ...lie, index: logIndex(1), rejection })).toMatch('a rejection');
    expect(leader.status).toEqual(before);
  });

  test('another leader in its term is refused, at the leader and at its followers', () => {
    const leader = Group.of(3).elect(1);
    const heartbeat = {
      type: 'heartbeat',
      from: id(2),
      to: id(1),
      term: leader.status.term,
      commit: logIndex(1),
      readRound: 0,
    } as const;
    expect(leader.raw.step(heartbeat)).toMatch('a second leader');
    const other = TestNode.member(id(1), confState(ids(1, 2, 3)));
    expect(other.raw.step({ ...heartbeat, from: id(3), term: term(5) })).toBe(undefined);
    expect(other.raw.step({ ...heartbeat, from: id(2), term: term(5) })).toMatch('a second leader');
    expect(other.raw.step({ ...heartbeat, from: id(2), term: term(6) }), 'of a later term').toBe(undefined);
  });

  test('ends at once when it is told to, and may be elected again in a later term', () => {
    const group = Group.of(3);
    const leader = group.elect(1);
    leader.raw.resign();
    expect(leader.status).toMatchObject({ role: 'follower', leader: undefined, term: 2 });
    group.settle();
    group.tick(20);
    expect(group.leaders()).toHaveLength(1);
    expect(group.leaders()[0]!.status.term).toBeGreaterThan(2);
  });
});

describe('proposals', () => {
  test('are told where they stand, or why they were dropped', () => {
    const group = Group.of(3, { uncommittedBytesMax: 10 });
    expect(group.node(1).raw.propose(bytes('a'))).toEqual({ kind: 'dropped', reason: 'no-leader' });
    const leader = group.elect(1);
    expect(leader.raw.propose(bytes('a'), bytes('b'))).toEqual({ kind: 'appended', term: 2, first: 3 });
    expect(leader.raw.propose(bytes('123456789'))).toEqual({ kind: 'dropped', reason: 'too-many-uncommitted-bytes' });
    expect(group.node(2).raw.propose(bytes('c'))).toEqual({ kind: 'forwarded', to: id(1) });
    group.settle();
    expect(leader.state).toEqual(['begin', 'a', 'b', 'c']);
    expect(leader.raw.propose(bytes('12345678901234567890'))).toMatchObject({ kind: 'appended' });
    leader.raw.transferLeader(id(2));
    expect(leader.raw.propose(bytes('d'))).toEqual({ kind: 'dropped', reason: 'transferring' });
  });

  test('what was forwarded is not forwarded again', () => {
    const group = Group.of(3);
    group.elect(1);
    const sent = group
      .node(2)
      .receive({ type: 'propose', from: id(3), to: id(2), payloads: [{ kind: 'normal', data: bytes('a') }] });
    expect(sent).toEqual([]);
  });

  test('one change of the membership at a time, also within one proposal from elsewhere', () => {
    const group = Group.of(3);
    const leader = group.elect(1);
    const change = (node: number) =>
      ({ kind: 'conf-change', change: { kind: 'add-learner', node: id(node), context: bytes('') } }) as const;
    leader.receive({ type: 'propose', from: id(2), to: id(1), payloads: [change(4), change(5)] });
    expect(leader.status.lastIndex).toBe(2);
    leader.raw.proposeConfChange(change(4).change);
    expect(leader.raw.takesConfChange).toBe(false);
    expect(leader.raw.proposeConfChange(change(5).change)).toEqual({ kind: 'dropped', reason: 'conf-change-pending' });
    group.settle();
    expect(leader.raw.takesConfChange).toBe(true);
    expect(leader.raw.conf).toEqual(confState(ids(1, 2, 3), ids(4)));
  });

  test('a change takes effect when it is applied, not when it is appended or committed', () => {
    const group = Group.of(3);
    const leader = group.elect(1);
    leader.raw.proposeConfChange({ kind: 'add-voter', node: id(4), context: bytes('') });
    leader.hold();
    expect(leader.raw.conf).toEqual(three);
    leader.finish();
    const answer = { type: 'append-response', from: id(2), to: id(1), term: term(2), rejection: undefined } as const;
    leader.raw.step({ ...answer, index: logIndex(3) });
    expect(leader.status).toMatchObject({ commit: 3, applied: 2 });
    expect(leader.raw.conf).toEqual(three);
    const { committedEntries } = leader.raw.ready();
    expect(leader.raw.conf).toEqual(three);
    leader.raw.applied(committedEntries.at(-1)!.index);
    expect(leader.raw.conf).toEqual(confState(ids(1, 2, 3, 4)));
  });
});

test('a change of the membership that was applied is made durable, though nothing else is to be', () => {
  const group = Group.of(3);
  const leader = group.elect(1);
  leader.raw.proposeConfChange({ kind: 'remove', node: id(3), context: bytes('') });
  leader.settle();
  const answer = { type: 'append-response', from: id(2), to: id(1), term: term(2), rejection: undefined } as const;
  leader.raw.step({ ...answer, index: logIndex(3) });
  // The commit alone needs no sync. The applied change of the membership does.
  expect(leader.process().ready.persist).toMatchObject({ mustSync: false, hardState: { commit: 3 } });
  expect(leader.raw.conf).toEqual(confState(ids(1, 2)));
  expect(leader.raw.confIsDurable).toBe(false);
  expect(leader.hold().ready.persist).toMatchObject({ mustSync: true, hardState: { commit: 3 }, entries: [] });
  expect(leader.raw.confIsDurable).toBe(false);
  leader.finish();
  expect(leader.raw.confIsDurable).toBe(true);
  expect(leader.raw.hasReady).toBe(false);
});

describe('a word of one voter', () => {
  test('confirms the leader of its term, if the two are a majority', () => {
    const group = Group.of(3);
    const leader = group.elect(1);
    const { term: now } = leader.status;
    expect(leader.raw.confirmsWith(id(2), now)).toBe(true);
    expect(leader.raw.confirmsWith(id(3), now)).toBe(true);
    // A voter that is in another term may have voted for a later leader, or may yet have to hear of this one.
    expect(leader.raw.confirmsWith(id(2), term(now + 1))).toBe(false);
    expect(leader.raw.confirmsWith(id(2), term(now - 1))).toBe(false);
    expect(leader.raw.confirmsWith(id(1), now)).toBe(false);
    expect(leader.raw.confirmsWith(id(9), now)).toBe(false);
    expect(group.node(2).raw.confirmsWith(id(3), now)).toBe(false);
  });

  test('is not enough among five, nor from a learner', () => {
    const five = Group.of(5).elect(1);
    expect(five.raw.confirmsWith(id(2), five.status.term)).toBe(false);
    const node = TestNode.member(id(1), confState(ids(1, 2), ids(3)));
    node.raw.campaign();
    node.process();
    expect(node.raw.confirmsWith(id(3), node.status.term)).toBe(false);
  });

  test('waits until the leader knows what is committed', () => {
    const group = Group.of(3);
    group.loses = ({ type }) => type === 'append-response';
    const leader = group.elect(1);
    expect(leader.raw.confirmsWith(id(2), leader.status.term)).toBe(false);
    group.heal();
    group.tick();
    expect(leader.raw.confirmsWith(id(2), leader.status.term)).toBe(true);
  });
});

describe('what is slow', () => {
  test('an application gets no more than it may hold', () => {
    const group = Group.of(1, { applyingBytesMax: 100 });
    const leader = group.elect(1);
    leader.raw.propose(...Array.from({ length: 6 }, (_, at) => bytes(`entry ${at}`)));
    leader.hold();
    leader.finish();
    const first = leader.raw.ready().committedEntries;
    expect(first.map(({ index }) => index)).toEqual([3, 4]);
    // One entry may exceed the bound.
    expect(leader.raw.ready().committedEntries.map(({ index }) => index)).toEqual([5]);
    expect(leader.raw.ready().committedEntries).toEqual([]);
    leader.raw.applied(logIndex(4));
    expect(leader.raw.ready().committedEntries.map(({ index }) => index)).toEqual([6]);
    leader.raw.applied(logIndex(6));
    expect(leader.raw.ready().committedEntries.map(({ index }) => index)).toEqual([7, 8]);
  });

  test('what was not handed out can not be applied, and nothing is persisted twice at a time', () => {
    const leader = Group.of(1).elect(1);
    expect(() => leader.raw.applied(logIndex(99))).toThrow(AssertionError);
    expect(() => leader.raw.advance()).toThrow(AssertionError);
    leader.raw.propose(bytes('a'));
    expect(leader.raw.ready().persist).toBeDefined();
    leader.raw.propose(bytes('b'));
    expect(leader.raw.ready().persist).toBeUndefined();
    expect(() => leader.raw.advance()).toThrow('advanced before storage has the entries');
  });
});
