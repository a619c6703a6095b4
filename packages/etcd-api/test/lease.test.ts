import { EngramError } from '@engram/core';
import { Loop, StepPace } from '@engram/loop';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { MemoryStorage } from '@engram/storage';
import { etcdserverpb } from '@engram/wire';
import { ALL, Api, b, failure, keysOf, t } from './api.ts';
import type { FakeCall } from './fake-call.ts';

const DELETE = 1;
const MAX = 2n ** 63n - 1n;
const MIN = -(2n ** 63n);

let api: Api;
beforeEach(async () => {
  api = await Api.open();
});
afterEach(() => api[Symbol.asyncDispose]());

const notFound = { code: 5, message: 'etcdserver: requested lease not found' };

describe('granting', () => {
  test.each([0, -1, 1])('edge 84: a TTL of %d becomes the smallest', async (ttl) => {
    const lease = await api.grant(ttl);
    expect(lease).toMatchObject({ TTL: 2, error: '' });
    expect(lease.ID).toBeGreaterThan(0n);
  });

  test('edge 84: the largest TTL, and one more', async () => {
    expect((await api.grant(9_000_000_000)).TTL).toBe(9_000_000_000);
    const tooLarge = { code: 11, message: 'etcdserver: too large lease TTL' };
    expect(await failure(api.grant(9_000_000_001))).toEqual(tooLarge);
    expect(await failure(api.grant(2 ** 62))).toEqual(tooLarge);
  });

  test.each([1n, -1n, MAX, MIN])('edge 85: id %d, once', async (id) => {
    const at = await api.fill('a');
    expect(await api.grant(60, id)).toMatchObject({ ID: id, TTL: 60, header: { revision: at } });
    expect(await failure(api.grant(60, id))).toEqual({ code: 9, message: 'etcdserver: lease already exists' });
    await api.put({ key: b('a'), lease: id });
    expect((await api.range({ key: b('a') })).kvs[0]?.lease).toBe(id);
    await api.revoke(id);
    expect((await api.range({ key: b('a') })).count).toBe(0);
  });
});

describe('keepalive', () => {
  const open = (): FakeCall => api.bidi('/etcdserverpb.Lease/LeaseKeepAlive');
  const ask = (call: FakeCall, ...ids: readonly bigint[]): void => {
    for (const ID of ids) call.request(etcdserverpb.encodeLeaseKeepAliveRequest({ ID }));
  };
  const answers = async (call: FakeCall) => {
    await api.clock.settle();
    return call.sent.map((bytes) => etcdserverpb.decodeLeaseKeepAliveResponse(bytes));
  };

  test('edge 86: the TTL as granted, 0 for an unknown id, in the order of the requests', async () => {
    await api.grant(60, 7n);
    await api.grant(30, 8n);
    const at = await api.fill('a');
    const call = open();
    ask(call, 7n, 9n, 8n, 7n);
    const seen = await answers(call);
    expect(seen.map(({ ID, TTL }) => [ID, TTL])).toEqual([
      [7n, 60],
      [9n, 0],
      [8n, 30],
      [7n, 60],
    ]);
    expect(seen[0]!.header).toMatchObject({ revision: at, raftTerm: 4 });
    expect(call.status).toBeUndefined();
  });

  test('a renewed lease lives on, one that is not ends', async () => {
    await api.grant(10, 7n);
    await api.grant(10, 8n);
    await api.put({ key: b('kept'), lease: 7n });
    await api.put({ key: b('gone'), lease: 8n });
    const call = open();
    for (let round = 0; round < 4; round += 1) {
      api.clock.advance(5_000);
      await api.clock.settle();
      ask(call, 7n);
    }
    expect(keysOf(await api.range(ALL))).toEqual(['kept']);
  });

  test('a lease past its end is gone when its 0 arrives, and answers keep their order meanwhile', async () => {
    await api.grant(2, 7n);
    await api.grant(60, 8n);
    await api.put({ key: b('a'), lease: 7n });
    api.clock.advance(2_400);
    const call = open();
    ask(call, 7n, 8n, 8n);
    call.halfClose();
    const seen = await answers(call);
    expect(seen.map(({ ID, TTL }) => [ID, TTL])).toEqual([
      [7n, 0],
      [8n, 60],
      [8n, 60],
    ]);
    expect((await api.range({ key: b('a') })).count).toBe(0);
    expect(call.status).toEqual({ code: 0, message: '' });
  });

  test('an answer that has waited behind others for longer than its lease lives says that the lease has ended', async () => {
    const appends = Promise.withResolvers<void>();
    let slow = false;
    const storage = new MemoryStorage({ gate: (what) => (slow && what === 'append' ? appends.promise : undefined) });
    await using late = await Api.open({ storage });
    for (const [id, ttl] of [
      [7n, 2],
      [8n, 3],
      [9n, 60],
    ] as const)
      await late.grant(ttl, id);
    late.clock.advance(2_400);
    slow = true;
    const call = late.bidi('/etcdserverpb.Lease/LeaseKeepAlive');
    // The end of the first one waits for the log.
    ask(call, 7n, 8n, 9n);
    late.clock.advance(4_000);
    await late.clock.settle();
    expect(call.sent).toEqual([]);
    appends.resolve();
    await late.clock.settle();
    const seen = call.sent.map((bytes) => etcdserverpb.decodeLeaseKeepAliveResponse(bytes));
    expect(seen.map(({ ID, TTL }) => [ID, TTL])).toEqual([
      [7n, 0],
      [8n, 0],
      [9n, 60],
    ]);
  });

  test('renewals that are answered at once by the store leave in slices, in order, up to the first that is refused', async () => {
    const RENEWALS = 300;
    const REFUSED = 250;
    let loop: Loop | undefined;
    await using many = await Api.open({
      loop: (clock) => {
        loop = new Loop({ clock, pace: new StepPace(10) });
        return loop;
      },
    });
    const settle: (() => void)[] = [];
    vi.spyOn(many.backend, 'leaseKeepAlive').mockImplementation((id) => {
      const { promise, resolve, reject } = Promise.withResolvers<number>();
      settle.push(() => (id === BigInt(REFUSED) ? reject(new EngramError('LeaseNotFound')) : resolve(60)));
      return promise;
    });
    const call = many.bidi('/etcdserverpb.Lease/LeaseKeepAlive');
    for (let id = 0n; id < RENEWALS; id += 1n) ask(call, id);
    call.halfClose();
    const before = loop!.usage.get('client')!.slices;
    // The refusal is there long before its turn.
    for (const each of settle.toReversed()) each();
    while (call.status === undefined) await many.clock.settle();
    const seen = call.sent.map((bytes) => etcdserverpb.decodeLeaseKeepAliveResponse(bytes).ID);
    expect(seen).toEqual(Array.from({ length: REFUSED }, (_, id) => BigInt(id)));
    expect(call.status).toEqual(notFound);
    expect(loop!.usage.get('client')!.slices - before).toBeGreaterThanOrEqual(REFUSED / 10);
  });

  test('once nothing waits, a renewal is answered at once again', async () => {
    await api.grant(2, 7n);
    await api.grant(60, 8n);
    api.clock.advance(2_400);
    const call = open();
    ask(call, 7n, 8n);
    expect(call.sent).toHaveLength(0);
    expect(await answers(call)).toHaveLength(2);
    ask(call, 8n);
    expect(call.sent).toHaveLength(3);
    call.halfClose();
    expect(call.status).toEqual({ code: 0, message: '' });
  });

  test('nothing is sent to a client that has gone', async () => {
    const late = Promise.withResolvers<number>();
    vi.spyOn(api.backend, 'leaseKeepAlive').mockReturnValue(late.promise);
    const call = open();
    ask(call, 7n, 7n);
    call.cancel();
    const send = vi.spyOn(call, 'send');
    late.resolve(60);
    await api.clock.settle();
    expect(send).not.toHaveBeenCalled();
  });

  test('no more than 10,000 renewals wait behind one', async () => {
    vi.spyOn(api.backend, 'leaseKeepAlive').mockReturnValue(new Promise(() => {}));
    const call = open();
    for (let at = 0; at <= 10_000; at += 1) ask(call, 7n);
    expect(call.status).toBeUndefined();
    ask(call, 7n);
    expect(call.status?.code).toBe(14);
  });

  test('a client that is done ends it with OK', async () => {
    const call = open();
    call.halfClose();
    expect(call.status).toEqual({ code: 0, message: '' });
  });

  test('bytes that are no message end it', () => {
    const call = open();
    call.request(Uint8Array.of(0x08));
    expect(call.status?.code).toBe(13);
  });

  test('who asks on and on without reading is cut', async () => {
    await using small = await Api.open({ limits: { streamQueueBytesMax: 1_000 } });
    const call = small.bidi('/etcdserverpb.Lease/LeaseKeepAlive');
    call.stalled = true;
    for (let at = 0; at < 1_000 && call.status === undefined; at += 1) ask(call, 9n);
    expect(call.status?.code).toBe(14);
  });
});

describe('what a lease holds', () => {
  test('edge 87: time to live, and the keys where asked', async () => {
    expect(await api.timeToLive(9n)).toMatchObject({ ID: 9n, TTL: -1, grantedTTL: 0, keys: [] });
    await api.grant(60, 7n);
    await api.put({ key: b('a'), lease: 7n });
    api.clock.advance(500);
    expect(await api.timeToLive(7n)).toMatchObject({ ID: 7n, TTL: 59, grantedTTL: 60, keys: [] });
    expect((await api.timeToLive(7n, true)).keys.map(t)).toEqual(['a']);
  });

  test('edge 88: a revoke deletes its keys in their order and one revision', async () => {
    expect(await failure(api.revoke(9n))).toEqual(notFound);
    await api.grant(60, 7n);
    await api.put({ key: b('b'), lease: 7n });
    await api.put({ key: b('a'), lease: 7n });
    const watch = api.watch();
    watch.create(ALL);
    expect((await api.revoke(7n)).header?.revision).toBe(4);
    const responses = await watch.rest();
    expect(responses).toHaveLength(1);
    expect(responses[0]!.events.map(({ type, kv }) => [type, t(kv!.key)])).toEqual([
      [DELETE, 'a'],
      [DELETE, 'b'],
    ]);
    await api.grant(60, 8n);
    expect((await api.revoke(8n)).header?.revision).toBe(4);
  });

  test('edge 89: a key belongs to the lease of its last put', async () => {
    await api.grant(60, 1n);
    await api.grant(60, 2n);
    await api.put({ key: b('a'), lease: 1n });
    await api.put({ key: b('a'), lease: 2n });
    await api.revoke(1n);
    expect((await api.range({ key: b('a') })).count).toBe(1);
    await api.revoke(2n);
    expect((await api.range({ key: b('a') })).count).toBe(0);
  });

  test('edge 90: an expiry is a deletion that watchers see', async () => {
    await api.grant(2, 7n);
    await api.put({ key: b('a'), lease: 7n });
    const watch = api.watch();
    watch.create({ key: b('a'), prevKv: true });
    api.clock.advance(4_000);
    expect(await watch.events()).toMatchObject([{ type: DELETE, prevKv: { lease: 7n } }]);
    expect((await api.timeToLive(7n)).TTL).toBe(-1);
  });

  test('edge 92: all leases, by the time they have left', async () => {
    await api.grant(60, 1n);
    await api.grant(10, 2n);
    await api.grant(30, 3n);
    const bytes = await api.call('/etcdserverpb.Lease/LeaseLeases', new Uint8Array(0));
    const { leases, header } = etcdserverpb.decodeLeaseLeasesResponse(bytes);
    expect(leases.map(({ ID }) => ID)).toEqual([2n, 3n, 1n]);
    expect(header).toMatchObject({ revision: 1 });
  });
});

describe('long lists', () => {
  const MANY = 2_500;

  test('all leases, more than are encoded at a time, by remaining time', async () => {
    for (let at = 0; at < MANY; at += 1) await api.grant(10 + ((at * 7) % MANY), BigInt(at + 1));
    const bytes = await api.call('/etcdserverpb.Lease/LeaseLeases', new Uint8Array(0));
    const { leases, header } = etcdserverpb.decodeLeaseLeasesResponse(bytes);
    const ttlOf = (id: bigint): number => 10 + ((Number(id - 1n) * 7) % MANY);
    expect(leases.map(({ ID }) => ttlOf(ID))).toEqual(Array.from({ length: MANY }, (_, at) => 10 + at));
    expect(header?.revision).toBe(1);
    expect(Buffer.from(bytes).equals(etcdserverpb.encodeLeaseLeasesResponse({ header, leases }))).toBe(true);
  });

  test('all keys of a lease, in byte order', async () => {
    await api.grant(60, 7n);
    const keys = Array.from({ length: MANY }, (_, at) => `k${String((at * 7) % MANY).padStart(5, '0')}`);
    for (let at = 0; at < MANY; at += 100) {
      const puts = keys.slice(at, at + 100).map((key) => ({ requestPut: { key: b(key), lease: 7n } }));
      await api.txn({ success: puts });
    }
    const request = etcdserverpb.encodeLeaseTimeToLiveRequest({ ID: 7n, keys: true });
    const bytes = await api.call('/etcdserverpb.Lease/LeaseTimeToLive', request);
    const answer = etcdserverpb.decodeLeaseTimeToLiveResponse(bytes);
    expect(answer).toMatchObject({ ID: 7n, TTL: 60, grantedTTL: 60 });
    expect(answer.keys.map(t)).toEqual([...keys].sort());
    expect(Buffer.from(bytes).equals(etcdserverpb.encodeLeaseTimeToLiveResponse(answer))).toBe(true);
  });
});
