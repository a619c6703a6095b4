import { nodeItself } from '@engram/backend';
import { encodePeerMessage, memberId, type PeerMessage } from '@engram/election';
import type { ClusterMember, Speaker } from '@engram/member';
import { type Message, nodeId } from '@engram/raft-ts';
import { describe, expect, test } from 'vitest';
import * as peerpb from '../src/gen/peerpb.ts';
import { TestCluster } from './cluster.ts';
import { get, put } from './requests.ts';

const CLUSTER = 0xc1n;
const STRANGER = 0x666n;

const raft = (message: unknown): Uint8Array =>
  encodePeerMessage({ kind: 'raft', clusterId: CLUSTER, storageHealthy: true, message: message as Message });
const say = (message: PeerMessage): Uint8Array => encodePeerMessage(message);

async function started() {
  const cluster = await TestCluster.start();
  const leader = await cluster.leader();
  const others = cluster.running.filter((each) => each !== leader);
  await cluster.run(leader.member.store.txn(put('k', 'v'), nodeItself));
  await cluster.pass(1000);
  return { cluster, leader, others, term: leader.member.cluster.term };
}

const idOf = ({ member }: ClusterMember): bigint => member.cluster.memberId;

/** The cluster is as it was: nobody has ended, nobody else leads, and it writes. */
async function expectUnharmed(cluster: TestCluster, leader: ClusterMember, term: number): Promise<void> {
  await cluster.pass(5000);
  expect(cluster.fatal).toEqual([]);
  expect(cluster.removed).toEqual([]);
  for (const { member } of cluster.running) {
    expect([member.cluster.term, member.cluster.leaderId]).toEqual([term, idOf(leader)]);
  }
  await cluster.run(leader.member.store.txn(put('k', 'after'), nodeItself));
  for (const { member } of cluster.running) expect(await cluster.run(get(member.store, 'k'))).toBe('after');
}

interface Attack {
  readonly what: string;
  readonly at: 'leader' | 'follower';
  /** Who sends it, if not the other follower. */
  readonly from?: 'leader' | 'stranger';
  readonly message: (head: { from: bigint; to: bigint; term: number }) => Uint8Array;
  readonly fault: string;
}

const data = Uint8Array.of(0x7a, 0);
const attacks: readonly Attack[] = [
  {
    what: 'a proposal of what no member can read',
    at: 'leader',
    message: ({ from, to }) => raft({ type: 'propose', from, to, payloads: [{ kind: 'normal', data }] }),
    fault: 'an unknown command',
  },
  {
    what: 'a proposal of a change of the membership',
    at: 'leader',
    message: ({ from, to }) =>
      raft({
        type: 'propose',
        from,
        to,
        payloads: [{ kind: 'conf-change', change: { kind: 'remove', node: nodeId(from), context: new Uint8Array(0) } }],
      }),
    fault: 'a change of the membership',
  },
  {
    what: 'a vote of the last term, as if the leader had asked for it',
    at: 'leader',
    message: (head) => raft({ ...vote(head, 2 ** 53 - 1) }),
    fault: 'a term out of reach',
  },
  {
    what: 'a vote of the last term at a follower',
    at: 'follower',
    message: (head) => raft({ ...vote(head, 2 ** 53 - 1) }),
    fault: 'a term out of reach',
  },
  {
    what: "a vote in a stranger's name",
    at: 'follower',
    message: ({ to, term }) => raft(vote({ from: STRANGER, to, term }, term + 1)),
    fault: 'a message in the name of 666',
  },
  {
    what: 'a vote of a stranger, as if the leader had asked for it',
    at: 'follower',
    from: 'stranger',
    message: (head) => raft(vote(head, head.term + 1)),
    fault: 'a message of a member that is not in the list',
  },
  {
    what: 'an append of a stranger',
    at: 'follower',
    from: 'stranger',
    message: (head) =>
      raft({ ...head, type: 'append', term: head.term + 1, prevIndex: 0, prevTerm: 0, entries: [], commit: 0 }),
    fault: 'a message of a member that is not in the list',
  },
  {
    what: "an append of the leader's own term",
    at: 'leader',
    message: (head) => raft({ ...head, type: 'append', prevIndex: 0, prevTerm: 0, entries: [], commit: 0 }),
    fault: 'a second leader',
  },
  {
    what: 'an acknowledgement beyond the log',
    at: 'leader',
    message: (head) => raft({ ...head, type: 'append-response', index: 10_000, rejection: undefined }),
    fault: 'an answer about entry 10000',
  },
  {
    what: 'a heartbeat with a far commit',
    at: 'follower',
    from: 'leader',
    message: (head) => raft({ ...head, type: 'heartbeat', commit: 10_000, readRound: 0 }),
    fault: 'is said to have been acknowledged here',
  },
  {
    what: 'an entry that cannot be read',
    at: 'follower',
    from: 'leader',
    message: (head) =>
      raft({
        ...head,
        type: 'append',
        prevIndex: 1,
        prevTerm: 1,
        entries: [{ kind: 'normal', term: head.term, index: 2, data }],
        commit: 0,
      }),
    fault: 'an unknown command',
  },
  {
    what: 'a snapshot that cannot be read',
    at: 'follower',
    from: 'leader',
    message: (head) => {
      const conf = { voters: [nodeId(1n)], learners: [] };
      return raft({ ...head, type: 'snapshot', snapshot: { index: 999, term: head.term, conf, data } });
    },
    fault: 'bytes that cannot be decoded',
  },
  {
    what: 'the order to hand over',
    at: 'leader',
    message: ({ from, to }) => raft({ type: 'transfer-leader', from, to, target: nodeId(from) }),
    fault: 'transfer-leader',
  },
  {
    what: 'a request for a read index',
    at: 'leader',
    message: ({ from, to }) => raft({ type: 'read-index', from, to, context: new Uint8Array(8) }),
    fault: 'read-index',
  },
  {
    what: 'a request to campaign, not of the leader',
    at: 'follower',
    message: (head) => raft({ ...head, type: 'timeout-now' }),
    fault: 'a second leader',
  },
  {
    what: 'a dismissal',
    at: 'follower',
    from: 'leader',
    message: ({ to }) => say({ kind: 'removed', clusterId: CLUSTER, to: memberId(to) }),
    fault: 'a dismissal by who was not dialed',
  },
  { what: 'bytes', at: 'follower', message: () => Uint8Array.of(1, 2, 3), fault: 'bytes that cannot be decoded' },
  {
    what: 'another cluster',
    at: 'leader',
    message: ({ from, to }) => say({ kind: 'leaving', clusterId: 5n, from: memberId(from), to: memberId(to) }),
    fault: 'a message of cluster 5',
  },
];

function vote({ from, to }: { from: bigint; to: bigint; term: number }, term: number) {
  const committed = { index: 0, term: 0 };
  return { type: 'vote', from, to, term, lastIndex: 99, lastTerm: 99, transfer: true, committed };
}

describe('one message', () => {
  test.each(attacks)('of $what at a $at changes nothing', async ({ at, from, message, fault }) => {
    const { cluster, leader, others, term } = await started();
    const [one, two] = others as [ClusterMember, ClusterMember];
    const receiver = at === 'leader' ? leader : one;
    const sender = from === 'stranger' ? STRANGER : idOf(from === 'leader' ? leader : two);
    const speaker: Speaker = { member: sender, dialed: false };
    const bytes = message({ from: sender, to: idOf(receiver), term });
    expect(receiver.service.message(bytes, speaker)).toMatch(fault);
    await expectUnharmed(cluster, leader, term);
    expect(cluster.refused).toEqual([]);
  });
});

test('a member that hears its leader is dismissed by nobody that it has dialed', async () => {
  const { cluster, leader, others, term } = await started();
  const [one, two] = others as [ClusterMember, ClusterMember];
  for (const [speaker, receiver] of [
    [two, one],
    [leader, one],
    [one, leader],
  ] as const) {
    const dismissal = say({ kind: 'removed', clusterId: CLUSTER, to: memberId(idOf(receiver)) });
    expect(receiver.service.message(dismissal, { member: idOf(speaker), dialed: true })).toMatch('that has a leader');
  }
  await expectUnharmed(cluster, leader, term);
});

test('a member ends for no hash that another one than the leader expects', async () => {
  const { cluster, leader, others, term } = await started();
  const [one, two] = others as [ClusterMember, ClusterMember];
  for (const [speaker, receiver] of [
    [two, one],
    [one, leader],
  ] as const) {
    const hashKv = { revision: 0, compare: true, expected: 7 };
    const request = peerpb.encodeRequest({ member: idOf(speaker), hashKv });
    const answer = await cluster.run(receiver.service.call(request, { ...nodeItself, member: idOf(speaker) }));
    expect(peerpb.decodeAnswer(answer).hash).toBeDefined();
  }
  await expectUnharmed(cluster, leader, term);
});

test('who is no member is told nothing and can do nothing', async () => {
  const { cluster, leader, term } = await started();
  expect(leader.service.admission(STRANGER)).toBe('unknown');
  const epoch = leader.member.stats.leadsIn ?? 0;
  for (const request of [
    { member: STRANGER, sequence: 1, settled: 1, epoch, leaseGrant: { id: 7n, ttlSeconds: 60 } },
    { member: STRANGER, memberChange: { kind: peerpb.MemberChangeKind.REMOVE, id: 1n } },
    { member: STRANGER, applied: {} },
  ]) {
    const answer = await leader.service.call(peerpb.encodeRequest(request), { ...nodeItself, member: STRANGER });
    expect(peerpb.decodeAnswer(answer)).toMatchObject({ error: 'NotLeader', position: 0 });
  }
  await expectUnharmed(cluster, leader, term);
  expect(await leader.member.store.leases('by-id', nodeItself)).toEqual([]);
});

test('a member forwards nothing in the name of another one', async () => {
  const { leader, others } = await started();
  const [one, two] = others as [ClusterMember, ClusterMember];
  const epoch = leader.member.stats.leadsIn ?? 0;
  const grant = { member: idOf(two), sequence: 1, settled: 1, epoch, leaseGrant: { id: 7n, ttlSeconds: 60 } };
  const caller = { ...nodeItself, member: idOf(one) };
  const answer = await leader.service.call(peerpb.encodeRequest(grant), caller);
  expect(peerpb.decodeAnswer(answer).error).toBe('NotCapable');
});

test('a removed member is refused from then on by who knows of its removal, but for its questions', async () => {
  const { cluster, leader, others } = await started();
  await cluster.pass(6000);
  const [one, two] = others as [ClusterMember, ClusterMember];
  const gone = idOf(one);
  cluster.kill(gone);
  await cluster.run(leader.member.cluster.changes.remove(gone, nodeItself));
  await cluster.pass(1000);
  for (const member of [leader, two]) {
    expect(member.service.admission(gone)).toBe('removed');
    const head = { from: gone, to: idOf(member), term: leader.member.cluster.term };
    const speaker = { member: gone, dialed: false };
    const heartbeat = raft({ ...head, type: 'heartbeat', commit: 0, readRound: 0 });
    expect(member.service.message(heartbeat, speaker)).toBe('a message of a removed member');
    const question = say({ kind: 'leaving', clusterId: CLUSTER, from: memberId(gone), to: memberId(idOf(member)) });
    expect(member.service.message(question, speaker)).toBe(undefined);
    // The vote asks as well, and moves no term, although the member was a voter.
    expect(member.service.message(raft(vote(head, head.term + 5)), speaker)).toBe(undefined);
    const answer = await member.service.call(peerpb.encodeRequest({ member: gone, readIndex: {} }), {
      ...nodeItself,
      member: gone,
    });
    expect(peerpb.decodeAnswer(answer).error).toBe('NotLeader');
  }
  await expectUnharmed(cluster, leader, leader.member.cluster.term);
});

test('who is not in the list may ask for votes once there has been no leader for long', async () => {
  const { cluster, leader, others } = await started();
  const [one, two] = others as [ClusterMember, ClusterMember];
  expect(one.service.admission(STRANGER)).toBe('unknown');
  cluster.kill(idOf(leader));
  cluster.kill(idOf(two));
  await cluster.pass(20_000);
  expect(one.service.admission(STRANGER)).toBe('asking');
  const head = { from: STRANGER, to: idOf(one), term: 1 };
  const speaker = { member: STRANGER, dialed: false };
  expect(one.service.message(raft({ ...vote(head, 99), transfer: false }), speaker)).toBe(undefined);
  expect(one.service.message(raft(vote(head, 100)), speaker)).toMatch('not in the list');
});

test('who is not in the list may lead a member that has had no leader for long, and nobody else', async () => {
  const { cluster, leader, others } = await started();
  const [one, two] = others as [ClusterMember, ClusterMember];
  const heartbeat = (term: number): Uint8Array =>
    raft({ type: 'heartbeat', from: STRANGER, to: idOf(one), term, commit: 0, readRound: 0 });
  const speaker = { member: STRANGER, dialed: false };
  expect(one.service.message(heartbeat(one.member.cluster.term + 1), speaker)).toMatch('not in the list');
  cluster.kill(idOf(leader));
  cluster.kill(idOf(two));
  await cluster.pass(20_000);
  expect(one.service.admission(STRANGER)).toBe('asking');
  expect(one.service.message(heartbeat(one.member.cluster.term + 1), speaker)).toBe(undefined);
  expect(one.member.cluster.leaderId).toBe(STRANGER);
  expect(one.service.admission(STRANGER)).toBe('member');
});
