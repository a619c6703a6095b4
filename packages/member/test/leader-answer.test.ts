import { nodeItself } from '@engram/backend';
import { EngramError, leaseId } from '@engram/core';
import type { ClusterMember } from '@engram/member';
import { Reader } from '@engram/protobuf';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import * as peerpb from '../src/gen/peerpb.ts';
import { TestCluster } from './cluster.ts';
import { put } from './requests.ts';

/** One that does not lead: the election's randomness is that of the members' numbers. */

async function outcome(work: Promise<unknown>): Promise<unknown> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof EngramError)) throw error;
    return { code: error.code, grpc: error.grpc, message: error.message };
  }
}

/** Each call that a member forwards to its leader. */
const calls: readonly [string, (member: ClusterMember['member']) => Promise<unknown>][] = [
  ['txn', async ({ store }) => store.txn(put('k', 'v'), nodeItself)],
  ['compact', async ({ store }) => store.compact(1, false, nodeItself)],
  ['grant', async ({ store }) => store.leaseGrant(leaseId(7n), 60, nodeItself)],
  ['revoke', async ({ store }) => store.leaseRevoke(leaseId(7n), nodeItself)],
  ['keep alive', async ({ store }) => store.leaseKeepAlive(leaseId(7n), nodeItself)],
  ['time to live', async ({ store }) => store.leaseTimeToLive(leaseId(7n), false, nodeItself)],
  ['activate', async ({ store }) => store.activateAlarm({ memberId: 1n, alarm: 1 }, nodeItself)],
  ['deactivate', async ({ store }) => store.deactivateAlarm({ memberId: 1n, alarm: 1 }, nodeItself)],
  ['add', async ({ cluster }) => cluster.changes.add(['http://127.0.0.1:9'], true, nodeItself)],
];

async function followerOf(cluster: TestCluster): Promise<ClusterMember> {
  const leader = await cluster.leader();
  await cluster.pass(6000); // members must have been connected for a while
  return cluster.running.find((each) => each !== leader)!;
}

describe.each(calls)('%s at a follower', (_, call) => {
  test.each([
    { given: 'with a text', text: 'etcdserver: the quota of this prefix is used up' },
    { given: 'without a text', text: '' },
  ])('an error that only the leader knows, $given, is unknown', async ({ text }) => {
    const cluster = await TestCluster.start();
    const { member } = await followerOf(cluster);
    const answer = peerpb.encodeAnswer({ error: 'QuotaOfPrefix', errorText: text });
    cluster.changeAnswer = () => answer;
    expect(await cluster.run(outcome(call(member)))).toEqual({
      code: 'Unknown',
      grpc: 2,
      message: text === '' ? 'etcdserver: QuotaOfPrefix' : text,
    });
    cluster.changeAnswer = (bytes) => bytes;
    await cluster.run(member.store.deactivateAlarm({ memberId: 1n, alarm: 1 }, nodeItself));
    await cluster.run(member.store.txn(put('k', 'v'), nodeItself));
    expect(cluster.fatal).toEqual([]);
  });

  test.each([
    { what: 'empty', bytes: new Uint8Array(0) },
    { what: 'no protobuf', bytes: Uint8Array.of(0xff, 0xff, 0xff) },
    { what: 'of a later version', bytes: Uint8Array.of(0xfa, 0x06, 0x01, 0x41) },
    {
      what: 'of another call',
      bytes: peerpb.encodeAnswer({ txn: { succeeded: true, responses: [{}, {}] }, position: 1 }),
    },
  ])('an answer that is $what is an error or nothing, and ends nobody', async ({ bytes }) => {
    const cluster = await TestCluster.start();
    const { member } = await followerOf(cluster);
    cluster.changeAnswer = () => bytes;
    const told = await cluster.run(outcome(call(member)));
    if (typeof told === 'object' && told !== null && 'code' in told)
      expect(told).toMatchObject({ code: 'Unknown', grpc: 2 });
    cluster.changeAnswer = (sent) => sent;
    await cluster.run(member.store.deactivateAlarm({ memberId: 1n, alarm: 1 }, nodeItself));
    await cluster.run(member.store.txn(put('k', 'v'), nodeItself));
    expect(cluster.fatal).toEqual([]);
  });
});

test.each(calls.filter(([name]) => ['txn', 'grant', 'keep alive', 'add'].includes(name)))(
  '%s at a follower does not succeed by an answer that lacks what it must have',
  async (_, call) => {
    const cluster = await TestCluster.start();
    const { member } = await followerOf(cluster);
    for (const answer of [{}, { txn: { succeeded: true, responses: [] } }, { members: [] }, { renewals: [] }]) {
      cluster.changeAnswer = () => peerpb.encodeAnswer(answer);
      expect(await cluster.run(outcome(call(member)))).toMatchObject({ code: 'Unknown', grpc: 2 });
    }
    expect(cluster.fatal).toEqual([]);
  },
);

test('an error of one renewal that only the leader knows is unknown, and the others succeed', async () => {
  const cluster = await TestCluster.start();
  const { member } = await followerOf(cluster);
  await cluster.run(member.store.leaseGrant(leaseId(7n), 60, nodeItself));
  cluster.changeAnswer = (bytes) => {
    const answer = peerpb.decodeAnswer(bytes);
    if (answer.renewals.length === 0) return bytes;
    return peerpb.encodeAnswer({
      ...answer,
      renewals: [answer.renewals[0]!, { error: 'New', errorText: 'etcdserver: new' }],
    });
  };
  const renewals = [7n, 8n].map((id) => outcome(Promise.resolve(member.store.leaseKeepAlive(leaseId(id), nodeItself))));
  expect(await cluster.run(Promise.all(renewals))).toEqual([
    60,
    { code: 'Unknown', grpc: 2, message: 'etcdserver: new' },
  ]);
});

test('a renewal whose answer took longer than the lease lives is asked for again: the lease may have ended', async () => {
  const cluster = await TestCluster.start();
  const { member } = await followerOf(cluster);
  await cluster.run(member.store.leaseGrant(leaseId(7n), 2, nodeItself));
  // This node waits until it has applied what comes next in the log: the end of the lease.
  cluster.changeAnswer = (bytes) => {
    const answer = peerpb.decodeAnswer(bytes);
    if (answer.renewals.length === 0) return bytes;
    cluster.changeAnswer = (others) => others;
    return peerpb.encodeAnswer({ ...answer, position: answer.position + 1 });
  };
  const renewed = Promise.resolve(member.store.leaseKeepAlive(leaseId(7n), nodeItself));
  expect(await cluster.run(renewed)).toBe(0);
  expect(cluster.fatal).toEqual([]);
});

test.each([
  { what: 'no protobuf', bytes: () => Uint8Array.of(0xff) },
  { what: 'a number that is cut off', bytes: () => Uint8Array.of(0x08) },
  { what: 'a call of a later version', bytes: () => Uint8Array.of(0xfa, 0x06, 0x01, 0x41) },
  {
    what: 'a transaction that is none',
    bytes: (member: bigint) => peerpb.encodeRequest({ member, txn: Uint8Array.of(0xff) }),
  },
  {
    what: 'an alarm that does not exist',
    bytes: (member: bigint) => peerpb.encodeRequest({ member, alarm: { member: 1n, alarm: 77, active: true } }),
  },
  {
    what: 'a change that does not exist',
    bytes: (member: bigint) => peerpb.encodeRequest({ member, memberChange: { kind: 77, id: 5n } }),
  },
])('a request that cannot be read is answered at once: $what', async ({ bytes }) => {
  const cluster = await TestCluster.start();
  const leader = await cluster.leader();
  const startMs = cluster.clock.nowMs();
  const { id: member } = leader.member.cluster.members.find(({ id }) => id !== leader.member.cluster.memberId)!;
  const call = leader.service.call(bytes(member), { ...nodeItself, member });
  const answer = peerpb.decodeAnswer(await cluster.run(call));
  expect(answer.error).toBe('NotCapable');
  expect(cluster.clock.nowMs() - startMs).toBeLessThan(50);
  expect(cluster.fatal).toEqual([]);
});

test('an alarm with a negative number is not there, at any member', async () => {
  const cluster = await TestCluster.start();
  const follower = await followerOf(cluster);
  for (const { member } of [await cluster.leader(), follower]) {
    const startMs = cluster.clock.nowMs();
    expect(await cluster.run(member.store.deactivateAlarm({ memberId: 1n, alarm: -1 }, nodeItself))).toBe(false);
    expect(cluster.clock.nowMs() - startMs).toBeLessThan(1000);
  }
});

const codecs = Object.entries(peerpb).flatMap(([name, value]) =>
  typeof value === 'object' && 'read' in value ? [[name, value] as const] : [],
);

/** A field with a number that no message has, of the wire type of a number or of bytes. */
const unknownField = fc
  .tuple(fc.integer({ min: 100, max: 2000 }), fc.uint8Array({ maxLength: 20 }), fc.boolean())
  .map(([number, content, isBytes]) => {
    const tag = number * 8 + (isBytes ? 2 : 0);
    const start = [(tag & 0x7f) | 0x80, tag >>> 7 < 0x80 ? tag >>> 7 : ((tag >>> 7) & 0x7f) | 0x80];
    if (tag >>> 7 >= 0x80) start.push(tag >>> 14);
    return Uint8Array.of(...start, content.length, ...(isBytes ? content : []));
  });

test.each(codecs)('%s takes a message with fields of a later version as one without them', (_, codec) => {
  const read = (bytes: Uint8Array): unknown => codec.read(new Reader(bytes));
  fc.assert(
    fc.property(fc.array(unknownField, { maxLength: 5 }), (fields) => {
      expect(read(Buffer.concat(fields))).toEqual(read(new Uint8Array(0)));
    }),
    { numRuns: 50 },
  );
});
