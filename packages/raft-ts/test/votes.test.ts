import { describe, expect, test } from 'vitest';
import { confState, logIndex, type Message, type NodeId, term } from '@engram/raft-ts';
import { Group, id, ids, TestNode } from './support/group.ts';

const NOTHING_COMMITTED = { index: logIndex(1), term: term(1) };
const three = confState(ids(1, 2, 3));

function vote(
  from: number,
  ofTerm: number,
  last: { readonly index: number; readonly term: number },
  more: object = {},
): Message {
  return {
    type: 'vote',
    from: id(from),
    to: id(1),
    term: term(ofTerm),
    lastIndex: logIndex(last.index),
    lastTerm: term(last.term),
    transfer: false,
    committed: NOTHING_COMMITTED,
    ...more,
  };
}

/** The answer of node 1 to a request for its vote. Undefined if there is none. */
function answerOf(messages: readonly Message[]): { readonly granted: boolean; readonly term: number } | undefined {
  for (const message of messages) {
    if (message.type === 'vote-response' || message.type === 'pre-vote-response')
      return { granted: message.granted, term: message.term };
  }
  return undefined;
}

function voter(terms: readonly number[], ofTerm: number, votedFor?: NodeId): TestNode {
  return TestNode.member(
    id(1),
    three,
    {},
    {
      terms,
      hardState: { term: term(ofTerm), vote: votedFor, commit: logIndex(1) },
    },
  );
}

describe("a vote goes to a log at least as complete as the voter's", () => {
  // The voter's log ends at 3@2.
  test.each([
    { index: 3, term: 2, granted: true, why: 'the same end' },
    { index: 4, term: 2, granted: true, why: 'a longer log of the same term' },
    { index: 2, term: 3, granted: true, why: 'a shorter log of a later term' },
    { index: 2, term: 2, granted: false, why: 'a shorter log of the same term' },
    { index: 9, term: 1, granted: false, why: 'a longer log of an earlier term' },
    { index: 1, term: 1, granted: false, why: 'nearly nothing' },
  ])('$index@$term: $granted, $why', ({ index, term: lastTerm, granted }) => {
    const node = voter([1, 2], 3);
    const answer = answerOf(node.receive(vote(2, 4, { index, term: lastTerm })));
    expect(answer).toEqual({ granted, term: 4 });
    expect(node.storage.hardState.vote).toBe(granted ? id(2) : undefined);
    // The same for a pre-vote, but the voter's term and vote do not change.
    const asked = voter([1, 2], 3);
    const preVote = { ...vote(2, 4, { index, term: lastTerm }), type: 'pre-vote' } as Message;
    expect(answerOf(asked.receive(preVote))).toEqual({ granted, term: granted ? 4 : 3 });
    expect(asked.storage.hardState).toMatchObject({ term: 3, vote: undefined });
  });
});

describe('one vote in a term', () => {
  const end = { index: 1, term: 1 };

  test('goes to whoever asks first, and to it again', () => {
    const node = voter([], 2);
    expect(answerOf(node.receive(vote(2, 3, end)))).toEqual({ granted: true, term: 3 });
    expect(answerOf(node.receive(vote(3, 3, end)))).toEqual({ granted: false, term: 3 });
    expect(answerOf(node.receive(vote(2, 3, end)))).toEqual({ granted: true, term: 3 });
  });

  test('also after a crash', () => {
    const node = voter([], 2);
    node.receive(vote(2, 3, end));
    node.crash();
    expect(answerOf(node.receive(vote(3, 3, end)))).toEqual({ granted: false, term: 3 });
    expect(answerOf(node.receive(vote(2, 3, end)))).toEqual({ granted: true, term: 3 });
  });

  test('also with a pre-vote in between: that is none', () => {
    const node = voter([], 2);
    const preVote = { ...vote(3, 3, end), type: 'pre-vote' } as Message;
    expect(answerOf(node.receive(preVote))).toEqual({ granted: true, term: 3 });
    expect(answerOf(node.receive(vote(2, 3, end)))).toEqual({ granted: true, term: 3 });
    expect(answerOf(node.receive({ ...preVote, term: term(3) } as Message))).toEqual({ granted: false, term: 3 });
  });

  test('is free again in the next term', () => {
    const node = voter([], 2, id(2));
    expect(answerOf(node.receive(vote(3, 3, end)))).toEqual({ granted: true, term: 3 });
  });

  test('is not for a candidate of an old term, who is not answered, nor for its pre-vote, which is', () => {
    const node = voter([], 5);
    expect(node.receive(vote(2, 4, end))).toEqual([]);
    expect(answerOf(node.receive({ ...vote(2, 4, end), type: 'pre-vote' } as Message))).toEqual({
      granted: false,
      term: 5,
    });
  });

  test('a candidate has given it to itself', () => {
    const node = voter([], 2);
    node.raw.campaign();
    node.settle();
    node.receive({
      type: 'pre-vote-response',
      from: id(2),
      to: id(1),
      term: term(3),
      granted: true,
      committed: NOTHING_COMMITTED,
    });
    expect(node.status).toMatchObject({ role: 'candidate', term: 3, vote: id(1) });
    expect(answerOf(node.receive(vote(2, 3, { index: 9, term: 2 })))).toEqual({ granted: false, term: 3 });
  });
});

describe('a vote tells what is committed', () => {
  // The voter's log: 1@1, 2@1, 3@2.
  test.each([
    { committed: { index: 2, term: 1 }, commit: 2, why: 'it has that entry' },
    { committed: { index: 3, term: 2 }, commit: 3, why: 'it has all of them' },
    { committed: { index: 3, term: 3 }, commit: 1, why: 'it has another entry there' },
    { committed: { index: 4, term: 2 }, commit: 1, why: 'its log ends before' },
  ])('$committed.index@$committed.term: then $commit is, $why', ({ committed, commit }) => {
    const place = { index: logIndex(committed.index), term: term(committed.term) };
    // In requests and in answers, whether the vote is granted or not.
    const asked = voter([1, 2], 3);
    asked.receive(vote(2, 4, { index: 1, term: 1 }, { committed: place }));
    expect(asked.status.commit).toBe(commit);
    const answered = voter([1, 2], 3);
    answered.raw.campaign();
    answered.settle();
    answered.receive({
      type: 'pre-vote-response',
      from: id(2),
      to: id(1),
      term: term(3),
      granted: false,
      committed: place,
    });
    expect(answered.status.commit).toBe(commit);
  });
});

describe('who hears from a leader', () => {
  function follower(): TestNode {
    const node = voter([], 2);
    node.receive({ type: 'heartbeat', from: id(3), to: id(1), term: term(2), commit: logIndex(1), readRound: 0 });
    return node;
  }

  test.each([
    { ticks: 0, transfer: false, granted: undefined, why: 'it has just heard from it' },
    { ticks: 9, transfer: false, granted: undefined, why: 'an election timeout has not passed' },
    { ticks: 10, transfer: false, granted: true, why: 'the leader is silent' },
    { ticks: 0, transfer: true, granted: true, why: 'the leader wants it' },
  ])('after $ticks ticks, transfer $transfer: $granted, $why', ({ ticks, transfer, granted }) => {
    const one = TestNode.member(id(1), three);
    // The node's own election timeout is longer.
    one.random.value = 9;
    one.crash();
    one.receive({ type: 'heartbeat', from: id(3), to: id(1), term: term(2), commit: logIndex(1), readRound: 0 });
    one.tick(ticks);
    const answer = answerOf(one.receive(vote(2, 3, { index: 1, term: 1 }, { transfer })));
    expect(answer?.granted).toBe(granted);
    expect(one.status.term).toBe(granted === true ? 3 : 2);
  });

  test('without check-quorum it votes all the same', () => {
    const node = TestNode.member(id(1), three, { checkQuorum: false });
    node.receive({ type: 'heartbeat', from: id(3), to: id(1), term: term(2), commit: logIndex(1), readRound: 0 });
    expect(answerOf(node.receive(vote(2, 3, { index: 1, term: 1 })))).toEqual({ granted: true, term: 3 });
  });

  test('and has forgotten it votes too', () => {
    const node = follower();
    node.raw.forgetLeader();
    expect(answerOf(node.receive(vote(2, 3, { index: 1, term: 1 })))).toEqual({ granted: true, term: 3 });
  });

  test('does not forget it over a copy of the request that had elected it', () => {
    const node = voter([], 2);
    const request = vote(2, 3, { index: 1, term: 1 });
    node.receive(request);
    node.receive({ type: 'heartbeat', from: id(2), to: id(1), term: term(3), commit: logIndex(1), readRound: 0 });
    node.receive(request);
    expect(node.status).toMatchObject({ role: 'follower', leader: id(2) });
  });
});

describe('an election is won by a majority', () => {
  const answers = (
    type: 'vote-response' | 'pre-vote-response',
    granted: readonly number[],
    refused: readonly number[] = [],
    ofTerm = 2,
  ): readonly Message[] =>
    [...granted, ...refused].map((from) => ({
      type,
      from: id(from),
      to: id(1),
      term: term(granted.includes(from) ? ofTerm : type === 'vote-response' ? ofTerm : ofTerm - 1),
      granted: granted.includes(from),
      committed: NOTHING_COMMITTED,
    }));

  test.each([
    { size: 1, granted: [], refused: [], role: 'leader' },
    { size: 2, granted: [], refused: [], role: 'candidate' },
    { size: 2, granted: [2], refused: [], role: 'leader' },
    { size: 3, granted: [2], refused: [], role: 'leader' },
    { size: 3, granted: [2], refused: [3], role: 'leader' },
    { size: 3, granted: [], refused: [2], role: 'candidate' },
    { size: 3, granted: [], refused: [2, 3], role: 'follower' },
    { size: 5, granted: [2], refused: [3, 4], role: 'candidate' },
    { size: 5, granted: [2, 3], refused: [4, 5], role: 'leader' },
    { size: 5, granted: [2], refused: [3, 4, 5], role: 'follower' },
    { size: 5, granted: [2, 2, 2], refused: [], role: 'candidate' },
    { size: 3, granted: [7], refused: [], role: 'candidate' },
  ])('$size voters, $granted grant, $refused refuse: $role', ({ size, granted, refused, role }) => {
    const voters = Array.from({ length: size }, (_, at) => at + 1);
    const node = TestNode.member(id(1), confState(ids(...voters)), { preVote: false });
    node.raw.campaign();
    node.settle();
    node.receive(...answers('vote-response', granted, refused));
    expect(node.status.role).toBe(role);
    // The same for pre-votes, but a majority makes the node a candidate.
    const asking = TestNode.member(id(1), confState(ids(...voters)), { preVote: true });
    asking.raw.campaign();
    asking.settle();
    if (size === 1) return;
    asking.receive(...answers('pre-vote-response', granted, refused));
    const preRole = role === 'leader' ? 'candidate' : role === 'candidate' ? 'pre-candidate' : role;
    expect(asking.status.role).toBe(preRole);
    expect(asking.status.term).toBe(role === 'leader' ? 2 : 1);
  });

  test('answers of the other phase, or of an earlier campaign, count for nothing', () => {
    // The node has campaigned in term 2 before.
    const node = voter([], 2, id(1));
    node.raw.campaign();
    node.settle();
    node.receive(...answers('vote-response', [2, 3], [], 2));
    expect(node.status).toMatchObject({ role: 'pre-candidate', term: 2 });
    node.receive(...answers('pre-vote-response', [2], [], 3));
    expect(node.status).toMatchObject({ role: 'candidate', term: 3 });
    node.receive(...answers('pre-vote-response', [2, 3], [], 3));
    node.receive(...answers('vote-response', [2, 3], [], 2));
    expect(node.status).toMatchObject({ role: 'candidate', term: 3 });
    node.raw.campaign();
    node.settle();
    expect(node.status).toMatchObject({ role: 'pre-candidate', term: 3 });
    // A grant for term 3 says nothing about term 4.
    node.receive(...answers('pre-vote-response', [2, 3], [], 3));
    expect(node.status).toMatchObject({ role: 'pre-candidate', term: 3 });
    node.receive(...answers('pre-vote-response', [2], [], 4));
    expect(node.status).toMatchObject({ role: 'candidate', term: 4 });
  });

  test('its own vote counts only when it is persisted', () => {
    const node = TestNode.member(id(1), confState(ids(1)));
    node.raw.campaign();
    node.hold();
    expect(node.status.role).toBe('candidate');
    node.finish();
    expect(node.status.role).toBe('leader');
  });

  test('a learner does not campaign, whatever it is told, nor does a node that was never added', () => {
    const learner = TestNode.member(id(3), confState(ids(1, 2), ids(3)));
    const nobody = TestNode.joiner(id(4));
    for (const node of [learner, nobody]) {
      node.tick(100);
      node.raw.campaign();
      node.raw.step({ type: 'heartbeat', from: id(1), to: node.id, term: term(1), commit: logIndex(0), readRound: 0 });
      node.raw.step({ type: 'timeout-now', from: id(1), to: node.id, term: term(1) });
      expect(node.settle().filter(({ type }) => type.includes('vote'))).toEqual([]);
      expect(node.status).toMatchObject({ role: 'follower', term: 1 });
    }
  });

  test('no message moves a node to a term that no group reaches', () => {
    for (const type of ['vote', 'pre-vote'] as const) {
      for (const far of [2 ** 53 - 1, 2 ** 52, 2 ** 40]) {
        const node = TestNode.member(id(1), confState(ids(1, 2, 3)));
        const request = { ...vote(2, far, { index: 1, term: 1 }, { transfer: true }), type } as Message;
        expect(node.raw.step(request)).toMatch('a term out of reach');
        expect(node.settle()).toEqual([]);
        expect(node.status.term).toBe(1);
      }
    }
  });

  test('only the leader asks a node to campaign', () => {
    const node = TestNode.member(id(1), confState(ids(1, 2, 3)));
    node.receive({ type: 'heartbeat', from: id(3), to: id(1), term: term(2), commit: logIndex(1), readRound: 0 });
    expect(node.raw.step({ type: 'timeout-now', from: id(2), to: id(1), term: term(2) })).toMatch('a second leader');
    expect(node.raw.step({ type: 'timeout-now', from: id(3), to: id(1), term: term(3) })).toMatch(
      'a request to campaign',
    );
    expect(node.status).toMatchObject({ role: 'follower', term: 2 });
    expect(node.raw.step({ type: 'timeout-now', from: id(3), to: id(1), term: term(2) })).toBe(undefined);
    expect(node.status.role).toBe('candidate');
  });

  test('no message is in the name of its receiver', () => {
    const node = TestNode.member(id(1), confState(ids(1, 2, 3)));
    expect(node.raw.step(vote(1, 4, { index: 9, term: 9 }))).toMatch('in the name of its receiver');
  });

  test('an election timeout is drawn between one and two election timeouts, anew for each term', () => {
    const timeouts = new Set<number>();
    for (let drawn = 0; drawn < 40; drawn += 1) {
      const node = TestNode.member(id(1), three);
      node.random.value = drawn;
      node.crash();
      let ticks = 0;
      for (; node.status.role === 'follower'; ticks += 1) node.tick();
      timeouts.add(ticks);
    }
    expect(Math.min(...timeouts)).toBe(10);
    expect(Math.max(...timeouts)).toBe(19);
    expect(timeouts.size).toBe(10);
  });

  test('a node with a change of the membership that is committed and not applied does not campaign', () => {
    const group = Group.of(3);
    const leader = group.elect(1);
    leader.raw.proposeConfChange({ kind: 'remove', node: id(3), context: new Uint8Array(0) });
    group.settle();
    const node = group.node(2);
    // After the restart the entry is handed out again, and the application has not applied it yet.
    node.crash();
    node.raw.ready();
    node.raw.campaign();
    expect(node.status.role).toBe('follower');
    node.raw.applied(node.status.commit);
    node.raw.campaign();
    expect(node.status.role).toBe('pre-candidate');
  });
});
