import { nodeItself, type OpResult, type TxnResult } from '@engram/backend';
import { type Compare, CompareResult, CompareTarget, EMPTY_BYTES, isEngramError, keyBytes } from '@engram/core';
import { leaseId, NO_LEASE, type Op, putOp, type RangeOp, rangeOp, type Txn } from '@engram/core';
import type { ClusterMember } from '@engram/member';
import { expect, test } from 'vitest';
import * as peerpb from '../src/gen/peerpb.ts';
import { TestCluster } from './cluster.ts';
import { get } from './requests.ts';

/* Answers of forwarded transactions: a long one does not come from the leader, whose stream also carries Raft's messages. */

const KEYS = 1_000;
const txnOf = (...success: Op[]): Txn => ({ compares: [], success, failure: [] });
const putOf = (key: string, value = 'v'): Op => putOp(keyBytes(key), keyBytes(value), { prevKv: true });
const all = (over: Partial<RangeOp> = {}): RangeOp => rangeOp({ key: keyBytes('k'), end: keyBytes('l') }, over);
const removal = (key: string, end: string): Op => ({
  kind: 'delete-range',
  range: { key: keyBytes(key), end: keyBytes(end) },
  prevKv: true,
});
const exists = (key: string): Compare => ({
  range: { key: keyBytes(key), end: EMPTY_BYTES },
  result: CompareResult.GREATER,
  target: CompareTarget.VERSION,
  number: 0,
  lease: NO_LEASE,
  value: EMPTY_BYTES,
});

interface Bed {
  readonly cluster: TestCluster;
  readonly leader: ClusterMember;
  readonly follower: ClusterMember;
  /** The length of the longest answer from one member to another since the last call. */
  longest(): number;
}

/** A cluster with KEYS keys of `valueBytes` each. */
async function filled(valueBytes: number): Promise<Bed> {
  const cluster = await TestCluster.start();
  const leader = await cluster.leader();
  const follower = cluster.running.find((member) => member !== leader)!;
  const value = 'x'.repeat(valueBytes);
  for (let at = 0; at < KEYS; at += 100) {
    const puts = Array.from({ length: 100 }, (_, more) => putOf(`k${10_000 + at + more}`, value));
    await cluster.run(leader.member.store.txn(txnOf(...puts), nodeItself));
  }
  await cluster.pass(500);
  let bytes = 0;
  cluster.changeAnswer = (answer) => {
    bytes = Math.max(bytes, answer.length);
    return answer;
  };
  const longest = (): number => {
    const before = bytes;
    bytes = 0;
    return before;
  };
  return { cluster, leader, follower, longest };
}

const txn = (cluster: TestCluster, { member }: ClusterMember, what: Txn): Promise<TxnResult> =>
  cluster.run(member.store.txn(what, nodeItself));

/** The result as plain values, without what tells how it came. */
const plain = (result: OpResult): unknown => {
  if (result.kind === 'txn') return { ...result, recallAfter: undefined, responses: result.responses.map(plain) };
  if (result.kind === 'range') return { ...result, kvs: [...result.kvs].map((kv) => Buffer.from(kv)) };
  if (result.kind === 'delete-range') return { ...result, prevKvs: [...result.prevKvs].map((kv) => Buffer.from(kv)) };
  return { ...result, prevKv: result.prevKv && Buffer.from(result.prevKv) };
};

async function refusal(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return 'accepted';
  } catch (error) {
    if (isEngramError(error)) return error.code;
    throw error;
  }
}

test('a follower reads a long answer from its own replica: the same as the leader gives, at the revision of the transaction', async () => {
  const nested: Op = { kind: 'txn', txn: txnOf(all({ limit: 700, keysOnly: true }), removal('k10100', 'k10300')) };
  for (const what of [
    txnOf(putOf('a'), all()),
    txnOf(all({ limit: 800 }), putOf('k10000'), all(), putOf('k10001'), nested, removal('k10200', 'k10400')),
    { ...txnOf(putOf('b')), compares: [exists('none')], failure: [all({ sortOrder: 2, sortTarget: 3 })] },
    txnOf(removal('k', 'l')),
  ]) {
    const other = await filled(200);
    const expected = plain(await txn(other.cluster, other.leader, what));
    const fresh = await filled(200);
    expect(plain(await txn(fresh.cluster, fresh.follower, what))).toEqual(expected);
    expect(fresh.longest()).toBeLessThan(1_000);
    expect(fresh.cluster.fatal).toEqual([]);
    for (const { member } of fresh.cluster.running) expect(member.stats.pins).toBe(0);
  }
});

test('a short answer comes with its key-values, so that most transactions need one round', async () => {
  const { cluster, follower, longest } = await filled(20);
  await txn(cluster, follower, txnOf(putOf('a'), all({ limit: 100 })));
  expect(longest()).toBeGreaterThan(100 * 20);
});

test('the answer is that of the transaction, also if a later write takes effect before it is read', async () => {
  const { cluster, leader, follower } = await filled(200);
  const [first, second] = await cluster.run(
    Promise.all([
      follower.member.store.txn(txnOf(putOf('a'), all()), nodeItself),
      leader.member.store.txn(txnOf(removal('k', 'l')), nodeItself),
    ]),
  );
  expect(first.responses[1]).toMatchObject({ count: first.revision < second.revision ? KEYS : 0 });
});

test('a member of the version before gets its answer whole, and a leader of that version gives it whole', async () => {
  const { cluster, follower, longest } = await filled(200);
  cluster.changeRequest = (bytes) => {
    const request = peerpb.decodeRequest(bytes);
    return peerpb.encodeRequest({ ...request, recalls: false });
  };
  const { responses } = await txn(cluster, follower, txnOf(putOf('a'), all()));
  expect(responses[1]).toMatchObject({ count: KEYS, kvs: { length: KEYS } });
  expect(longest()).toBeGreaterThan(KEYS * 200);
});

test.each([
  { recalls: false, valueBytes: 40_000, what: 'of a member that recalls none', ops: [putOf('a'), all()] },
  {
    recalls: true,
    valueBytes: 5_000,
    what: 'that no member can recall',
    ops: [putOf('a'), all({ sortOrder: 1, sortTarget: 4 }), putOf('b')],
  },
])('a long answer $what is refused before anything is changed', async ({ recalls, valueBytes, ops }) => {
  const { cluster, follower, leader, longest } = await filled(valueBytes);
  cluster.changeRequest = (bytes) => peerpb.encodeRequest({ ...peerpb.decodeRequest(bytes), recalls });
  const { revision } = leader.member.store;
  expect(await refusal(txn(cluster, follower, txnOf(...ops)))).toBe('ResponseTooLarge');
  expect(longest()).toBeLessThan(1_000);
  expect(leader.member.store.revision).toBe(revision);
  // Shorter ones are answered, and give back what they reserve.
  const shorter = ops.map((op) => (op.kind === 'range' ? { ...op, limit: 100 } : op));
  for (let at = 0; at < 25; at += 1) expect(await refusal(txn(cluster, follower, txnOf(...shorter)))).toBe('accepted');
});

test('a follower lists the keys of a lease from its own replica', async () => {
  const { cluster, leader, follower, longest } = await filled(1);
  await cluster.run(leader.member.store.leaseGrant(leaseId(7n), 60, nodeItself));
  for (let at = 0; at < KEYS; at += 100) {
    const puts = Array.from({ length: 100 }, (_, more) =>
      putOp(keyBytes(`k${10_000 + at + more}`), keyBytes('v'), { lease: leaseId(7n) }),
    );
    await cluster.run(leader.member.store.txn(txnOf(...puts), nodeItself));
  }
  longest();
  const lease = await cluster.run(follower.member.store.leaseTimeToLive(leaseId(7n), true, nodeItself));
  expect(lease).toMatchObject({ grantedTtlSeconds: 60, keys: { length: KEYS } });
  expect([...lease!.keys].map((key) => Buffer.from(key).toString()).at(-1)).toBe(`k${10_000 + KEYS - 1}`);
  expect(longest()).toBeLessThan(200);
  expect(await cluster.run(follower.member.store.leaseTimeToLive(leaseId(8n), true, nodeItself))).toBeUndefined();
});

test('a transaction whose revisions are compacted before its answer comes has an unknown outcome', async () => {
  const { cluster, follower, leader } = await filled(200);
  cluster.changeAnswer = (bytes) => {
    const answer = peerpb.decodeAnswer(bytes);
    if (answer.recallAfter === 0) return bytes;
    return peerpb.encodeAnswer({ ...(answer as peerpb.AnswerInit), recallAfter: 1 });
  };
  await cluster.run(leader.member.store.compact(5, false, nodeItself));
  expect(await refusal(txn(cluster, follower, txnOf(putOf('a'), all())))).toBe('TimeoutDueToLeaderFail');
  expect(await cluster.run(get(follower.member.store, 'a')), 'it is done').toBe('v');
});
