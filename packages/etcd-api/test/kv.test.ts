import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { etcdserverpb } from '@engram/wire';
import { ALL, Api, b, failure, keysOf, member, t, ZERO } from './api.ts';

const { RangeRequestSortOrder: Order, RangeRequestSortTarget: Target } = etcdserverpb;

let api: Api;
beforeEach(async () => {
  api = await Api.open();
});
afterEach(() => api[Symbol.asyncDispose]());

const invalid = (message: string) => ({ code: 3, message: `etcdserver: ${message}` });
const compacted = { code: 11, message: 'etcdserver: mvcc: required revision has been compacted' };
const future = { code: 11, message: 'etcdserver: mvcc: required revision is a future revision' };

describe('revisions', () => {
  test('edge 1: an empty store is at revision 1, the first put at 2; headers say who answers', async () => {
    const who = { clusterId: member.clusterId, memberId: member.memberId, raftTerm: member.raftTerm };
    expect((await api.range({ key: b('a') })).header).toEqual({ ...who, revision: 1 });
    expect((await api.put({ key: b('a') })).header).toEqual({ ...who, revision: 2 });
  });

  test('edge 2: a put of the same value is a new revision and version', async () => {
    await api.fill('a', 'a');
    expect((await api.range({ key: b('a') })).kvs[0]).toMatchObject({ version: 2, createRevision: 2, modRevision: 3 });
  });

  test('edge 3: a key that was deleted begins anew', async () => {
    await api.fill('a', 'a');
    await api.deleteRange({ key: b('a') });
    await api.fill('a');
    expect((await api.range({ key: b('a') })).kvs[0]).toMatchObject({ version: 1, createRevision: 5, modRevision: 5 });
  });

  test('edge 4: deleting nothing takes no revision', async () => {
    const at = await api.fill('a');
    expect(await api.deleteRange({ key: b('b') })).toMatchObject({ deleted: 0, header: { revision: at } });
  });

  test('edge 5: deleting three keys takes one', async () => {
    const at = await api.fill('a', 'b', 'c');
    const response = await api.deleteRange({ ...ALL, prevKv: true });
    expect(response).toMatchObject({ deleted: 3, header: { revision: at + 1 } });
    expect(response.prevKvs.map((kv) => t(kv.key))).toEqual(['a', 'b', 'c']);
  });

  test('edge 6: an empty range deletes nothing', async () => {
    await api.fill('a', 'b');
    for (const [key, end] of [
      ['a', 'a'],
      ['b', 'a'],
    ] as const) {
      expect((await api.deleteRange({ key: b(key), rangeEnd: b(end) })).deleted).toBe(0);
    }
  });
});

describe('Range', () => {
  test('edge 7: an empty range has no keys', async () => {
    await api.fill('b', 'c', 'd');
    for (const [key, end] of [
      ['c', 'c'],
      ['d', 'b'],
    ] as const) {
      expect(await api.range({ key: b(key), rangeEnd: b(end) })).toMatchObject({ kvs: [], count: 0 });
    }
  });

  test('edge 8: zero bytes mean all keys, no key is refused', async () => {
    await api.fill('a', 'b');
    expect(keysOf(await api.range(ALL))).toEqual(['a', 'b']);
    expect(await failure(api.range({ rangeEnd: ZERO }))).toEqual(invalid('key is not provided'));
  });

  test.each([
    { limit: 2, keys: ['a', 'b'], more: true },
    { limit: 3, keys: ['a', 'b', 'c'], more: false },
    { limit: -1, keys: ['a', 'b', 'c'], more: false },
  ])('edge 9: limit $limit', async ({ limit, keys, more }) => {
    await api.fill('a', 'b', 'c');
    const response = await api.range({ ...ALL, limit });
    expect(keysOf(response)).toEqual(keys);
    expect(response).toMatchObject({ more, count: 3 });
  });

  test('edge 10: the count begins at the start key', async () => {
    await api.fill('p/a', 'p/b', 'p/c', 'p/d');
    expect(await api.range({ key: b('p/b\0'), rangeEnd: b('p0'), limit: 1 })).toMatchObject({ count: 2, more: true });
  });

  test('edge 11: count_only counts all, at an old revision too', async () => {
    await api.fill('a', 'b', 'c');
    expect(await api.range({ ...ALL, countOnly: true, limit: 1 })).toMatchObject({ kvs: [], more: false, count: 3 });
    expect(await api.range({ ...ALL, countOnly: true, revision: 3 })).toMatchObject({ count: 2 });
  });

  test('edge 12: filters come before the limit and leave the count', async () => {
    await api.fill('a', 'b', 'c');
    const response = await api.range({ ...ALL, minModRevision: 3, limit: 1 });
    expect(keysOf(response)).toEqual(['b']);
    expect(response).toMatchObject({ more: true, count: 3 });
  });

  test('edge 13: filters are inclusive', async () => {
    await api.fill('a', 'b', 'c');
    expect(keysOf(await api.range({ ...ALL, minModRevision: 3, maxModRevision: 3 }))).toEqual(['b']);
  });

  test('edge 14: a sort target without an order sorts ascending', async () => {
    await api.fill('b', 'c', 'a');
    expect(keysOf(await api.range({ ...ALL, sortTarget: Target.CREATE }))).toEqual(['b', 'c', 'a']);
  });

  test('edge 15: the newest key by descending modification', async () => {
    await api.fill('b', 'c', 'a');
    const response = await api.range({ ...ALL, sortTarget: Target.MOD, sortOrder: Order.DESCEND, limit: 1 });
    expect(keysOf(response)).toEqual(['a']);
    expect(response.more).toBe(true);
  });

  test.each([{ sortTarget: 99 }, { sortTarget: -1 }, { sortOrder: 3 }, { sortOrder: -1 }])(
    'edge 16: %o is no sort option',
    async (sort) => {
      expect(await failure(api.range({ key: b('a'), ...sort }))).toEqual(invalid('invalid sort option'));
    },
  );

  test('edge 17: keys_only takes away the value alone, and after sorting', async () => {
    await api.grant(60, 7n);
    await api.put({ key: b('a'), value: b('z'), lease: 7n });
    await api.put({ key: b('b'), value: b('y') });
    const { kvs } = await api.range({ ...ALL, keysOnly: true, sortTarget: Target.VALUE, sortOrder: Order.ASCEND });
    expect(kvs.map((kv) => t(kv.key))).toEqual(['b', 'a']);
    expect(kvs[1]).toMatchObject({ lease: 7n, version: 1, createRevision: 2, modRevision: 2 });
    expect(kvs.every((kv) => kv.value.length === 0)).toBe(true);
  });

  test('edge 18: revision 1 is an empty store', async () => {
    const at = await api.fill('a');
    expect(await api.range({ ...ALL, revision: 1 })).toMatchObject({ kvs: [], header: { revision: at } });
  });

  test('edge 19: the future and the compacted past are refused, the compact revision is not', async () => {
    const at = await api.fill('a', 'a', 'a');
    await api.compact(3);
    expect(await failure(api.range({ key: b('a'), revision: at + 1 }))).toEqual(future);
    expect(await failure(api.range({ key: b('a'), revision: 2 }))).toEqual(compacted);
    expect((await api.range({ key: b('a'), revision: 3 })).kvs[0]).toMatchObject({ modRevision: 3 });
  });

  test('edge 20: a negative revision reads the latest, but not in a transaction after a compaction', async () => {
    await api.fill('a', 'a');
    await api.compact(3);
    expect((await api.range({ key: b('a'), revision: -5 })).kvs[0]).toMatchObject({ version: 2 });
    const txn = { success: [{ requestRange: { key: b('a'), revision: -5 } }, { requestPut: { key: b('b') } }] };
    expect(await failure(api.txn(txn))).toEqual(compacted);
  });

  test('edge 21: an old revision shows the key as it was', async () => {
    await api.grant(60, 7n);
    await api.put({ key: b('a'), value: b('1'), lease: 7n });
    const at = await api.fill('a');
    const response = await api.range({ key: b('a'), revision: 2 });
    expect(response.header?.revision).toBe(at);
    expect(response.kvs[0]).toMatchObject({ version: 1, lease: 7n, modRevision: 2 });
    expect(t(response.kvs[0]!.value)).toBe('1');
  });

  test('edge 29: an answer of many megabytes is whole', async () => {
    const value = new Uint8Array(1_000_000).fill(7);
    for (let key = 0; key < 6; key += 1) await api.put({ key: b(`k${key}`), value });
    const { kvs } = await api.range(ALL);
    expect(kvs).toHaveLength(6);
    expect(kvs.every((kv) => Buffer.from(kv.value).equals(value))).toBe(true);
  });
});

describe('Put', () => {
  test('edge 23: an unknown lease is refused and nothing is stored', async () => {
    const status = { code: 5, message: 'etcdserver: requested lease not found' };
    expect(await failure(api.put({ key: b('a'), lease: 9n }))).toEqual(status);
    expect((await api.range({ key: b('a') })).count).toBe(0);
  });

  test('edge 24: ignore_value needs a key and no value', async () => {
    expect(await failure(api.put({ key: b('a'), ignoreValue: true }))).toEqual(invalid('key not found'));
    const both = api.put({ key: b('a'), value: b('1'), ignoreValue: true });
    expect(await failure(both)).toEqual(invalid('value is provided'));
  });

  test('edge 25: ignore_value drops the lease, ignore_lease keeps it', async () => {
    await api.grant(60, 7n);
    await api.put({ key: b('a'), value: b('1'), lease: 7n });
    await api.put({ key: b('a'), value: b('2'), ignoreLease: true });
    expect((await api.range({ key: b('a') })).kvs[0]).toMatchObject({ lease: 7n, version: 2 });
    await api.put({ key: b('a'), ignoreValue: true });
    const { kvs } = await api.range({ key: b('a') });
    expect(kvs[0]).toMatchObject({ lease: 0n, version: 3 });
    expect(t(kvs[0]!.value)).toBe('2');
    const both = api.put({ key: b('a'), lease: 7n, ignoreLease: true });
    expect(await failure(both)).toEqual(invalid('lease is provided'));
  });

  test('edge 26: prev_kv comes only where it is asked for', async () => {
    await api.fill('a');
    expect((await api.put({ key: b('a'), ignoreValue: true })).prevKv).toBeUndefined();
    expect((await api.put({ key: b('a'), ignoreValue: true, prevKv: true })).prevKv).toMatchObject({ version: 2 });
    expect((await api.put({ key: b('new'), prevKv: true })).prevKv).toBeUndefined();
  });

  test('edge 27: a key that was put without its lease outlives it', async () => {
    await api.grant(60, 7n);
    await api.put({ key: b('a'), lease: 7n });
    await api.fill('a');
    await api.revoke(7n);
    expect((await api.range({ key: b('a') })).count).toBe(1);
  });

  test('edge 28: the size limit is for what etcd would propose', async () => {
    const of = (size: number) => ({ key: b('key'), value: new Uint8Array(size) });
    const limit = 1.5 * 1024 * 1024;
    expect(await failure(api.put(of(limit + 100)))).toEqual(invalid('request is too large'));
    await api.put(of(limit - 50));
    const txn = { success: [{ requestPut: of(limit) }] };
    expect(await failure(api.txn(txn))).toEqual(invalid('request is too large'));
    const deletion = { key: new Uint8Array(limit) };
    expect(await failure(() => api.deleteRange(deletion))).toEqual(invalid('request is too large'));
    const read = { key: new Uint8Array(limit + 100).fill(1) };
    expect((await api.range(read)).count).toBe(0);
    expect((await api.txn({ success: [{ requestRange: read }] })).succeeded).toBe(true);
  });
});

describe('Compact', () => {
  test('edge 30: at the current revision all live keys stay, and once is enough', async () => {
    const at = await api.fill('a', 'b', 'a');
    await api.compact(at);
    expect(keysOf(await api.range(ALL))).toEqual(['a', 'b']);
    expect(keysOf(await api.range({ ...ALL, serializable: true }))).toEqual(['a', 'b']);
    expect(await failure(api.compact(at))).toEqual(compacted);
    expect(await failure(api.compact(at + 100))).toEqual(future);
  });

  test('edge 31: its header has the current revision', async () => {
    const at = await api.fill('a', 'b');
    expect((await api.compact(2, true)).header).toEqual({
      clusterId: member.clusterId,
      memberId: member.memberId,
      raftTerm: member.raftTerm,
      revision: at,
    });
  });

  test('compacting at 0 succeeds once', async () => {
    await api.compact(0);
    expect(await failure(api.compact(0))).toEqual(compacted);
  });
});

describe('RangeStream', () => {
  const stream = async (request: Parameters<Api['range']>[0]) => {
    const call = api.serverStream('/etcdserverpb.KV/RangeStream', etcdserverpb.encodeRangeRequest(request));
    await api.clock.settle(100);
    return call;
  };
  const responses = (sent: readonly Uint8Array[]) =>
    sent.map((bytes) => etcdserverpb.decodeRangeStreamResponse(bytes).rangeResponse!);

  test.each([
    { ...ALL },
    { ...ALL, limit: 17 },
    { ...ALL, revision: 20 },
    { ...ALL, countOnly: true },
    { key: b('none') },
  ])('the chunks of %o are what Range gives', async (request) => {
    await api.fill(...Array.from({ length: 60 }, (_, at) => `k${String(at).padStart(2, '0')}`));
    const call = await stream(request);
    expect(call.status).toEqual({ code: 0, message: '' });
    const chunks = responses(call.sent);
    const last = chunks.at(-1)!;
    expect(chunks.slice(0, -1).map(({ header, more, count }) => ({ header, more, count }))).toEqual(
      chunks.slice(0, -1).map(() => ({ header: undefined, more: false, count: 0 })),
    );
    expect({ ...last, kvs: chunks.flatMap((chunk) => chunk.kvs) }).toEqual(await api.range(request));
  });

  test.each([
    { request: { ...ALL, sortOrder: 2 }, message: 'RangeStream does not support custom sort orders' },
    { request: { ...ALL, sortOrder: 1, sortTarget: 3 }, message: 'RangeStream does not support custom sort orders' },
    { request: { ...ALL, minModRevision: 1 }, message: 'RangeStream does not support revision filters' },
  ])('$message', async ({ request, message }) => {
    expect((await stream(request)).status).toEqual({ code: 12, message });
  });

  test('it waits for a client that does not read', async () => {
    await using small = await Api.open({ limits: { streamQueueBytesMax: 3_000, maxRequestBytes: 1_000 } });
    for (let key = 100; key < 200; key += 1) await small.put({ key: b(`k${key}`), value: new Uint8Array(100) });
    const call = small.serverStream('/etcdserverpb.KV/RangeStream', etcdserverpb.encodeRangeRequest(ALL));
    call.stalled = true;
    await small.clock.settle(100);
    expect(call.status).toBeUndefined();
    expect(call.queuedBytes).toBeLessThan(6_000);
    call.stalled = false;
    call.read();
    await small.clock.settle(100);
    expect(responses(call.sent).at(-1)?.count).toBe(100);
    expect(call.status?.code).toBe(0);
  });
});

test('bytes that are no message are refused as grpc-go refuses them', async () => {
  const torn = api.call.bind(api, '/etcdserverpb.KV/Range', Uint8Array.of(0x0a, 0x05, 1));
  expect(await failure(torn)).toEqual({
    code: 13,
    message: 'grpc: error unmarshalling request: proto: cannot parse invalid wire-format data',
  });
});
