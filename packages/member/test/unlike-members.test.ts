import { nodeItself } from '@engram/backend';
import { keyBytes, putOp, rangeOp, type Txn } from '@engram/core';
import type { ClusterMember } from '@engram/member';
import { type CallContext, encodeTxn, etcdserverpb, gatherMessage, statusOf } from '@engram/wire';
import { expect, test } from 'vitest';
import * as peerpb from '../src/gen/peerpb.ts';
import { TestCluster } from './cluster.ts';
import { put } from './requests.ts';

const call: CallContext = {
  client: 'test',
  method: '/test',
  head: { admitted: undefined },
  metadata: () => undefined,
  signal: nodeItself.signal,
  peer: '127.0.0.1:1',
  commonName: undefined,
};

const key = (at: number): Uint8Array => keyBytes(`k${String(at).padStart(4, '0')}`);
const puts = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ requestPut: { key: key(at), value: key(at) } }));

/** Three members, of which one that does not lead was started with other limits, or other settings. */
async function unlike(
  limits: TestCluster['limits'],
  { of, others }: { of?: TestCluster['settings']; others?: TestCluster['settings'] } = {},
) {
  const cluster = new TestCluster();
  const { settings } = cluster;
  cluster.settings = { ...settings, ...others };
  for (const id of [1n, 2n, 3n]) await cluster.start(id);
  const leader = await cluster.leader();
  const id = leader.member.cluster.memberId === 1n ? 2n : 1n;
  await cluster.stop(id);
  cluster.limits = limits;
  cluster.settings = { ...settings, ...of };
  const follower = await cluster.start(id);
  await cluster.leader();
  await cluster.pass(500);
  expect(follower.member.stats.leadsIn).toBe(undefined);
  return { cluster, leader, follower };
}

async function txn(cluster: TestCluster, { member }: ClusterMember, request: etcdserverpb.TxnRequestInit) {
  const method = member.methods.get('/etcdserverpb.KV/Txn');
  if (method?.kind !== 'unary') throw new Error('no method');
  const sent = etcdserverpb.encodeTxnRequest(request);
  const answering = (async () => gatherMessage(await method.handle(sent, call)))().then(
    (bytes) => etcdserverpb.decodeTxnResponse(bytes),
    (error: unknown) => statusOf(error),
  );
  return await cluster.run(answering);
}

async function keysAt(cluster: TestCluster, { member }: ClusterMember): Promise<number> {
  const all = rangeOp({ key: keyBytes('k'), end: keyBytes('l') }, { countOnly: true });
  return (await cluster.run(Promise.resolve(member.store.range(all, nodeItself)))).count;
}

test('a transaction is bounded by the member that the client asks, also if the leader allows less', async () => {
  const { cluster, leader, follower } = await unlike({ maxTxnOps: 1000 });
  // The last of 300 compares does not hold: its key does not exist.
  const compare = Array.from({ length: 300 }, (_, at) => ({
    key: key(at),
    target: 0,
    result: at === 299 ? 1 : 0,
    version: 0,
  }));
  expect(await txn(cluster, follower, { compare, success: puts(300) })).toMatchObject({
    succeeded: false,
    responses: [],
  });
  expect(await keysAt(cluster, leader)).toBe(0);
  const done = await txn(cluster, follower, { success: puts(300) });
  expect(done).toMatchObject({ succeeded: true, responses: { length: 300 } });
  expect(await keysAt(cluster, leader)).toBe(300);
  expect(await txn(cluster, leader, { success: puts(300) })).toMatchObject({
    message: 'etcdserver: too many operations in txn request',
  });
  expect(cluster.fatal).toEqual([]);
});

test('a transaction is refused by the member that the client asks, also if the leader allows more', async () => {
  const { cluster, leader, follower } = await unlike({ maxTxnOps: 10, maxRequestBytes: 100 });
  const tooMany = { message: 'etcdserver: too many operations in txn request' };
  const tooLarge = { message: 'etcdserver: request is too large' };
  expect(await txn(cluster, follower, { success: puts(11) })).toMatchObject(tooMany);
  expect(await txn(cluster, follower, { success: puts(10) })).toMatchObject(tooLarge);
  expect(await keysAt(cluster, leader)).toBe(0);
});

test('a request that is larger than the leader takes from its own clients is done', async () => {
  const { cluster, leader, follower } = await unlike({ maxRequestBytes: 8 << 20 });
  const large = { requestPut: { key: key(0), value: new Uint8Array(4 << 20) } };
  expect(await txn(cluster, leader, { success: [large] })).toMatchObject({
    message: 'etcdserver: request is too large',
  });
  expect(await txn(cluster, follower, { success: [large] })).toMatchObject({ succeeded: true });
  expect(await keysAt(cluster, leader)).toBe(1);
  expect(cluster.fatal).toEqual([]);
});

const answerOf = (count: number) => ({
  success: [{ requestPut: { key: keyBytes('z') } }, { requestRange: { key: key(0), rangeEnd: key(count) } }],
});
const small = { txnAnswerBytesMax: 10_000 };

test('a transaction whose answer the leader has no room for is refused before it changes anything', async () => {
  const { cluster, leader, follower } = await unlike({ maxTxnOps: 1000 }, { others: small });
  await txn(cluster, follower, { success: puts(300) });
  const { revision } = leader.member.store;
  expect(await txn(cluster, follower, answerOf(300))).toMatchObject({ message: 'etcdserver: response is too large' });
  expect(leader.member.store.revision).toBe(revision);
  expect(await txn(cluster, follower, answerOf(30))).toMatchObject({ succeeded: true });
  expect(cluster.fatal).toEqual([]);
});

test('a transaction whose answer the leader has room for, and the member that is asked has none, is done', async () => {
  const { cluster, leader, follower } = await unlike({ maxTxnOps: 3000 }, { of: small });
  await txn(cluster, follower, { success: puts(3000) });
  const { revision } = leader.member.store;
  expect(await txn(cluster, follower, answerOf(3000))).toMatchObject({
    message: 'etcdserver: request timed out, possibly due to previous leader failure',
  });
  expect(leader.member.store.revision).toBe(revision + 1);
  expect(cluster.fatal).toEqual([]);
});

const twice = putOp(keyBytes('k'), keyBytes('v'));
const deletes = (key: string, prevKv = false) => ({
  kind: 'delete-range' as const,
  range: { key: keyBytes(key), end: new Uint8Array(0) },
  prevKv,
});
const nothing = { compares: [], success: [], failure: [] };

test.each<{ what: string; txn: Txn; error: string }>([
  { what: 'one key twice', txn: { ...nothing, success: [twice, twice] }, error: 'DuplicateKey' },
  { what: 'one key twice in the other branch', txn: { ...nothing, failure: [twice, twice] }, error: 'DuplicateKey' },
  { what: 'a key and its delete', txn: { ...nothing, success: [twice, deletes('k')] }, error: 'DuplicateKey' },
  {
    what: 'one key twice, nested',
    txn: { ...nothing, success: [twice, { kind: 'txn', txn: { ...nothing, success: [twice] } }] },
    error: 'DuplicateKey',
  },
  { what: 'no key', txn: { ...nothing, success: [putOp(new Uint8Array(0), keyBytes('v'))] }, error: 'EmptyKey' },
  { what: 'no key to delete', txn: { ...nothing, success: [deletes('')] }, error: 'EmptyKey' },
  {
    what: 'a value and none',
    txn: { ...nothing, success: [putOp(keyBytes('k'), keyBytes('v'), { ignoreValue: true })] },
    error: 'ValueProvided',
  },
])('a leader refuses what another member has forwarded unchecked: $what', async ({ txn: sent, error }) => {
  const cluster = await TestCluster.start();
  const leader = await cluster.leader();
  const { memberId } = cluster.running.find((each) => each !== leader)!.member.cluster;
  const epoch = leader.member.stats.leadsIn ?? 0;
  const request = peerpb.encodeRequest({ member: memberId, sequence: 1, settled: 1, epoch, txn: encodeTxn(sent) });
  const answer = peerpb.decodeAnswer(
    await cluster.run(leader.service.call(request, { ...nodeItself, member: memberId })),
  );
  expect(answer.error).toBe(error);
  expect(await keysAt(cluster, leader)).toBe(0);
  await cluster.run(leader.member.store.txn(put('k', 'v'), nodeItself));
  expect(cluster.fatal).toEqual([]);
});
