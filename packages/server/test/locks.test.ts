import { etcdserverpb, v3electionpb, v3lockpb } from '@engram/wire';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Engram } from './support/engram-process.ts';
import { GrpcClient } from './support/grpc-client.ts';

/* Locks of two clients of a real process: what ends a wait, and what a client leaves behind. */

let node: Engram;
let alice: GrpcClient;
let bob: GrpcClient;
beforeEach(async () => {
  node = await Engram.start();
  alice = new GrpcClient(node.url);
  bob = new GrpcClient(node.url);
  for (const ID of [1n, 2n]) {
    await alice.unary('/etcdserverpb.Lease/LeaseGrant', etcdserverpb.encodeLeaseGrantRequest({ ID, TTL: 600 }));
  }
});
afterEach(async () => {
  alice[Symbol.dispose]();
  bob[Symbol.dispose]();
  await node[Symbol.asyncDispose]();
});

const name = Buffer.from('m');
async function lock(client: GrpcClient, lease: bigint): Promise<string> {
  const answer = await client.unary('/v3lockpb.Lock/Lock', v3lockpb.encodeLockRequest({ name, lease }));
  return Buffer.from(v3lockpb.decodeLockResponse(answer).key).toString();
}
const unlock = (client: GrpcClient, key: string): Promise<Uint8Array> =>
  client.unary('/v3lockpb.Lock/Unlock', v3lockpb.encodeUnlockRequest({ key: Buffer.from(key) }));
async function untilKeys(...keys: readonly string[]): Promise<void> {
  const request = etcdserverpb.encodeRangeRequest({ key: Buffer.from('m/'), rangeEnd: Buffer.from('m0') });
  for (;;) {
    const { kvs } = etcdserverpb.decodeRangeResponse(await alice.unary('/etcdserverpb.KV/Range', request));
    if (kvs.map((kv) => Buffer.from(kv.key).toString()).join() === keys.join()) return;
  }
}

test('the second client waits until the first unlocks, by the service or through the gateway', async () => {
  expect(await lock(alice, 1n)).toBe('m/1');
  const second = lock(bob, 2n);
  await untilKeys('m/1', 'm/2');
  await unlock(alice, 'm/1');
  expect(await second).toBe('m/2');
  const body = JSON.stringify({ name: name.toString('base64'), lease: '1' });
  const third = fetch(`${node.url}/v3/lock/lock`, { method: 'POST', body });
  await untilKeys('m/1', 'm/2');
  await unlock(bob, 'm/2');
  expect(await (await third).json()).toMatchObject({ key: Buffer.from('m/1').toString('base64') });
});

test('a client that is gone leaves no key: others need not wait for its lease', async () => {
  await lock(alice, 1n);
  const second = lock(bob, 2n).catch(() => 'gone');
  await untilKeys('m/1', 'm/2');
  bob[Symbol.dispose]();
  expect(await second).toBe('gone');
  await untilKeys('m/1');
});

test('a client of the gateway that is gone leaves no key', async () => {
  await lock(alice, 1n);
  const gone = new AbortController();
  const body = JSON.stringify({ name: name.toString('base64'), lease: '2' });
  const waiting = fetch(`${node.url}/v3/lock/lock`, { method: 'POST', body, signal: gone.signal }).catch(() => 'gone');
  await untilKeys('m/1', 'm/2');
  gone.abort();
  expect(await waiting).toBe('gone');
  await untilKeys('m/1');
});

test.each(['native', 'grpc-js'])('a process that stops waits for no lock: --transport=%s', async (transport) => {
  await using other = await Engram.start([`--transport=${transport}`]);
  using client = new GrpcClient(other.url);
  await lock(client, 0n);
  const waiting = client.call('/v3lockpb.Lock/Lock', v3lockpb.encodeLockRequest({ name, lease: 0n }));
  const request = v3electionpb.encodeCampaignRequest({ name });
  const campaigning = client.call('/v3electionpb.Election/Campaign', request);
  const range = etcdserverpb.encodeRangeRequest({
    key: Buffer.from('m/'),
    rangeEnd: Buffer.from('m0'),
    countOnly: true,
  });
  const count = async (): Promise<number> =>
    etcdserverpb.decodeRangeResponse(await client.unary('/etcdserverpb.KV/Range', range)).count;
  while ((await count()) < 3);
  const stopped = other.stop();
  expect((await waiting).status).toBe('14: etcdserver: server stopped');
  expect((await campaigning).status).toBe('14: etcdserver: server stopped');
  const { code, tookMs } = await stopped;
  expect(code).toBe(0);
  expect(tookMs).toBeLessThan(6_000);
});
