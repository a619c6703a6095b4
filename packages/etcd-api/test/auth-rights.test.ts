import { nodeItself } from '@engram/backend';
import { GrpcCode, putOp as putOf, utf8 } from '@engram/core';
import { Loop, StepPace } from '@engram/loop';
import { etcdserverpb, type Init } from '@engram/wire';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Api } from './api.ts';
import { AuthClient, fakeAuth, outcome } from './auth-client.ts';
import { WatchClient } from './watch-client.ts';

/* What a user may do: by every operation of every call, on the request as it came. */

const ZERO = Uint8Array.of(0);
const denied = 'permission denied';

let api: Api;
let anybody: AuthClient;
let root: AuthClient;
/** May read and write [a, c), read [c, e) and write [m, n). */
let alice: AuthClient;

beforeEach(async () => {
  api = await Api.open({ services: { auth: fakeAuth() } });
  anybody = new AuthClient(api.methods);
  await anybody.addUserWith('alice', ['rw', ['a', 'c']], ['r', ['c', 'e']], ['w', ['m', 'n']]);
  for (const key of ['a', 'b', 'c', 'd', 'e', 'm', 'z']) await anybody.put(key, `value of ${key}`);
  root = await anybody.enableWithRoot();
  alice = anybody.with(await anybody.authenticate('alice'));
});
afterEach(() => api[Symbol.asyncDispose]());

/** One whose jobs yield after each step. */
const openSliced = (): Promise<Api> =>
  Api.open({ services: { auth: fakeAuth() }, loop: (clock) => new Loop({ clock, pace: new StepPace(1) }) });

const b = utf8;
type Operation = Init<etcdserverpb.RequestOp>;
const putOp = (key: string, over: Init<etcdserverpb.PutRequest> = {}): Operation => ({
  requestPut: { key: b(key), value: b('v'), ...over },
});
const rangeOp = (key: string, end = ''): Operation => ({ requestRange: { key: b(key), rangeEnd: b(end) } });
const deleteOp = (key: string, over: Init<etcdserverpb.DeleteRangeRequest> = {}): Operation => ({
  requestDeleteRange: { key: b(key), ...over },
});
const txnOp = (txn: Init<etcdserverpb.TxnRequest>): Operation => ({ requestTxn: txn });
/** True for every key here: it exists. */
const exists = (key: string, end = ''): Init<etcdserverpb.Compare> => ({
  key: b(key),
  rangeEnd: b(end),
  target: etcdserverpb.CompareCompareTarget.VERSION,
  result: etcdserverpb.CompareCompareResult.GREATER,
  version: 0,
});

describe('keys', () => {
  test.each([
    ['a', '', 'ok'],
    ['a', 'c', 'ok'],
    ['a', 'e', 'ok'],
    ['a', 'f', denied],
    ['a', '\0', denied],
    ['\0', '\0', denied],
    ['c', 'a', 'ok'],
    ['e', 'a', denied],
    ['m', '', denied],
  ])('edge 100: range %j to %j: %s', async (key, end, expected) => {
    for (const serializable of [false, true]) {
      const request = { key: b(key), rangeEnd: b(end), serializable };
      expect(await outcome(alice.range(request)), `serializable ${serializable}`).toBe(expected);
      const stream = alice.serverStream('/etcdserverpb.KV/RangeStream', etcdserverpb.encodeRangeRequest(request));
      await api.clock.settle();
      const message = expected === 'ok' ? '' : `etcdserver: ${expected}`;
      expect(stream.status, `streamed, serializable ${serializable}`).toMatchObject({ message });
      if (expected !== 'ok') expect(stream.sent).toEqual([]);
    }
  });

  test.each([
    ['a', '', 'ok'],
    ['a', 'c', 'ok'],
    ['a', 'd', denied],
    ['b', '\0', denied],
    ['m', '\0', denied],
    ['b', 'a', 'ok'],
    ['m', 'n', 'ok'],
  ])('delete range %j to %j: %s', async (key, end, expected) => {
    const { revision } = api.backend;
    expect(await outcome(alice.remove({ key: b(key), rangeEnd: b(end) }))).toBe(expected);
    if (expected !== 'ok') expect(api.backend.revision).toBe(revision);
  });

  test('edge 101: a write that answers what was there before needs READ as well', async () => {
    expect(await outcome(alice.put('m'))).toBe('ok');
    expect(await outcome(alice.put('m', '', { prevKv: true }))).toBe(denied);
    expect(await outcome(alice.remove({ key: b('m'), prevKv: true }))).toBe(denied);
    expect(await outcome(alice.put('a', '', { prevKv: true }))).toBe('ok');
    expect(await outcome(alice.txn({ success: [putOp('m', { prevKv: true })] }))).toBe(denied);
    expect(await outcome(alice.put('c'))).toBe(denied);
  });

  test('a value is not told by a refusal', async () => {
    expect(await outcome(alice.put('z', '', { ignoreValue: true }))).toBe(denied);
    expect(await outcome(alice.put('y', '', { ignoreValue: true })), 'nor that there is no key').toBe(denied);
  });

  test('a compaction is for root', async () => {
    const compact = etcdserverpb.encodeCompactionRequest({ revision: 2 });
    expect(await outcome(alice.call('/etcdserverpb.KV/Compact', compact))).toBe(denied);
    expect(await outcome(anybody.call('/etcdserverpb.KV/Compact', compact))).toBe('user name is empty');
    expect(api.backend.compactRevision).toBe(-1);
    expect(await outcome(root.call('/etcdserverpb.KV/Compact', compact))).toBe('ok');
  });
});

describe('a transaction', () => {
  const own = putOp('a');
  const refusedOps: readonly (readonly [what: string, op: Operation])[] = [
    ['a put', putOp('z')],
    ['a range', rangeOp('z')],
    ['an open range', { requestRange: { key: b('a'), rangeEnd: ZERO } }],
    ['a deletion', deleteOp('z')],
    ['a deletion up to the end', deleteOp('c', { rangeEnd: ZERO })],
    ['a put that answers what it may not read', putOp('m', { prevKv: true })],
    ['a nested put', txnOp({ success: [putOp('z')] })],
    ['a nested put that is not taken', txnOp({ failure: [putOp('z')] })],
    ['a nested compare', txnOp({ compare: [exists('z')], success: [rangeOp('a')] })],
    ['a range two levels below', txnOp({ success: [txnOp({ failure: [rangeOp('a', 'f')] })] })],
  ];

  test.each(refusedOps)(
    'edge 102: with %s is refused whole, in a branch that runs and in one that does not',
    async (_, op) => {
      const { revision } = api.backend;
      expect(await outcome(alice.txn({ success: [op] }))).toBe(denied);
      expect(await outcome(alice.txn({ success: [own, op] }))).toBe(denied);
      expect(await outcome(alice.txn({ success: [own], failure: [op] })), 'not taken').toBe(denied);
      expect(await outcome(alice.txn({ compare: [exists('a')], success: [rangeOp('a')], failure: [op] }))).toBe(denied);
      expect(api.backend.revision, 'nothing has changed').toBe(revision);
      expect(await outcome(root.txn({ success: [op] }))).toBe('ok');
    },
  );

  test.each([
    ['one key', exists('z')],
    ['a range', exists('a', 'f')],
    ['an open range', { ...exists('a'), rangeEnd: ZERO }],
  ])('with a compare of %s that its user may not read is refused', async (_, compare) => {
    expect(await outcome(alice.txn({ compare: [compare], success: [own] }))).toBe(denied);
    expect(await outcome(alice.txn({ compare: [compare], success: [rangeOp('a')] })), 'that reads').toBe(denied);
    expect(await outcome(alice.txn({ compare: [compare] })), 'without operations').toBe(denied);
  });

  test('of what its user may do passes', async () => {
    const { succeeded, responses } = await alice.txn({
      compare: [exists('a', 'e')],
      success: [putOp('a', { prevKv: true }), rangeOp('b', 'e'), txnOp({ success: [deleteOp('b'), putOp('m')] })],
      failure: [deleteOp('a')],
    });
    expect(succeeded).toBe(true);
    expect(responses).toHaveLength(3);
  });
});

describe('leases', () => {
  test('edge 103: a put to a lease, its end and its renewal need WRITE on all of its keys', async () => {
    await root.grant(7n);
    expect(await outcome(alice.put('a', '', { lease: 7n })), 'it has no keys yet').toBe('ok');
    expect(await outcome(alice.put('b', '', { lease: 7n }))).toBe('ok');
    await root.put('z', '', { lease: 7n });
    expect(await outcome(alice.put('a', '', { lease: 7n }))).toBe(denied);
    expect(await outcome(alice.txn({ failure: [putOp('a', { lease: 7n })] })), 'in a branch that is not taken').toBe(
      denied,
    );
    expect(await outcome(alice.txn({ success: [txnOp({ success: [putOp('a', { lease: 7n })] })] }))).toBe(denied);
    expect(await outcome(alice.revoke(7n))).toBe(denied);
    expect(await renewal(alice, 7n)).toBe('etcdserver: permission denied');
    expect(await renewal(root, 7n)).toBe('60');
    await root.put('z');
    expect(await outcome(alice.put('a', '', { lease: 7n }))).toBe('ok');
    expect(await renewal(alice, 7n)).toBe('60');
    expect(await outcome(alice.revoke(7n))).toBe('ok');
  });

  test('keys that puts under way attach count, and those that they take away do not', async () => {
    await root.grant(7n);
    const attached = root.put('z', '', { lease: 7n });
    const put = outcome(alice.put('a', '', { lease: 7n }));
    expect([await put, await outcome(attached)]).toEqual([denied, 'ok']);
    const detached = root.put('z');
    const again = outcome(alice.put('a', '', { lease: 7n }));
    expect([await again, await outcome(detached)]).toEqual(['ok', 'ok']);
  });

  test('a grant, and the time of a lease, need a user; its keys need READ', async () => {
    expect(await outcome(anybody.grant(1n))).toBe('user name is empty');
    expect(await outcome(alice.grant(1n))).toBe('ok');
    expect(await outcome(anybody.timeToLive(1n, false))).toBe('user name is empty');
    await alice.put('a', '', { lease: 1n });
    expect((await alice.timeToLive(1n, true)).keys).toEqual([b('a')]);
    await root.put('m', '', { lease: 1n });
    expect(await outcome(alice.timeToLive(1n, true))).toBe(denied);
    expect(await outcome(alice.timeToLive(1n, false))).toBe('ok');
    expect((await root.timeToLive(1n, true)).keys).toHaveLength(2);
  });

  test('a list of leases needs READ on all of their keys', async () => {
    await alice.grant(1n);
    await alice.put('a', '', { lease: 1n });
    expect((await alice.leases()).leases).toEqual([{ ID: 1n }]);
    expect(await outcome(anybody.leases())).toBe('user name is empty');
    await root.grant(2n);
    expect(await outcome(alice.leases()), 'a lease without keys').toBe('ok');
    await root.put('z', '', { lease: 2n });
    expect(await outcome(alice.leases())).toBe(denied);
    expect((await root.leases()).leases).toHaveLength(2);
  });

  test('edge 110: a lease ends by itself, with keys that nobody but root may write', async () => {
    await root.grant(7n, 5);
    await root.put('z', '', { lease: 7n });
    api.clock.advance(10_000);
    await api.clock.settle();
    expect(await root.get('z')).toBeUndefined();
  });

  test('a renewal without a token, or with one that has ended, ends the stream', async () => {
    await root.grant(7n);
    expect(await renewal(anybody, 7n)).toBe('etcdserver: user name is empty');
    expect(await renewal(anybody.with('x'), 7n)).toBe('etcdserver: invalid auth token');
    expect(await renewal(anybody, 99n), 'also of no lease').toBe('etcdserver: user name is empty');
  });

  async function renewal(client: AuthClient, ID: bigint): Promise<string> {
    const call = client.bidi('/etcdserverpb.Lease/LeaseKeepAlive');
    call.request(etcdserverpb.encodeLeaseKeepAliveRequest({ ID }));
    await api.clock.settle();
    const [answer] = call.sent;
    if (answer === undefined) return call.status?.message ?? 'nothing';
    return String(etcdserverpb.decodeLeaseKeepAliveResponse(answer).TTL);
  }
});

describe('a watch', () => {
  const watch = (client: AuthClient): WatchClient =>
    new WatchClient(client.bidi('/etcdserverpb.Watch/Watch'), api.clock);
  const create = (client: AuthClient, key: string, end = '') => watch(client).create({ key: b(key), rangeEnd: b(end) });
  const refusals = {
    denied: 'rpc error: code = PermissionDenied desc = etcdserver: permission denied',
    empty: 'rpc error: code = InvalidArgument desc = etcdserver: user name is empty',
    invalid: 'rpc error: code = Unauthenticated desc = etcdserver: invalid auth token',
  };

  test.each([
    ['a', '', true],
    ['a', 'e', true],
    ['a', '\0', false],
    ['a', 'f', false],
    ['', '', false],
    ['', '\0', false],
    ['m', '', false],
  ])('edge 104: of %j to %j: %s', (key, end, permitted) => {
    const answer = create(alice, key, end);
    if (permitted) expect(answer).toMatchObject({ created: true, canceled: false, watchId: 0 });
    else expect(answer).toMatchObject({ created: true, canceled: true, watchId: -1, cancelReason: refusals.denied });
  });

  test('of somebody else is refused, and the stream goes on', () => {
    expect(create(anybody, 'a').cancelReason).toBe(refusals.empty);
    expect(create(anybody.with('x'), 'a').cancelReason).toBe(refusals.invalid);
    const stream = watch(alice);
    expect(stream.create({ key: b('z') }).cancelReason).toBe(refusals.denied);
    expect(stream.create({ key: b('a') })).toMatchObject({ canceled: false });
    expect(stream.create({ key: b('z'), startRevision: -1 }).cancelReason).toBe(
      'etcdserver: mvcc: required revision has been compacted',
    );
  });

  test('ends when its right is taken away while it runs, before later events; others go on', async () => {
    const stream = watch(alice);
    stream.create({ key: b('a') });
    stream.create({ key: b('c') });
    const rootStream = watch(root);
    rootStream.create({ key: b('a') });
    await root.put('a', 'seen');
    const forbidding = root.forbid('alice', ['a', 'c']);
    // Of the node itself: any client's call is old by then.
    const put = putOf(utf8('a'), utf8('unseen'));
    await Promise.all([forbidding, api.backend.txn({ compares: [], success: [put], failure: [] }, nodeItself)]);
    await root.put('c', 'seen');
    const responses = await stream.rest();
    expect(responses.flatMap(({ events }) => events.map(({ kv }) => Buffer.from(kv!.value).toString()))).toEqual([
      'seen',
      'seen',
    ]);
    expect(responses.filter(({ canceled }) => canceled)).toMatchObject([{ watchId: 0, cancelReason: refusals.denied }]);
    expect(await rootStream.events()).toHaveLength(2);
  });

  test('sees nothing that comes after its right was taken away, however many others are checked before it', async () => {
    await using sliced = await openSliced();
    const client = new AuthClient(sliced.methods);
    await client.addUserWith('alice', ['r', ['a', 'c']]);
    const owner = await client.enableWithRoot();
    const reader = client.with(await client.authenticate('alice'));
    const streams = Array.from({ length: 20 }, () => {
      const stream = new WatchClient(reader.bidi('/etcdserverpb.Watch/Watch'), sliced.clock);
      for (const key of ['a', 'b']) stream.create({ key: b(key) });
      return stream;
    });
    const changes = [owner.forbid('alice', ['a', 'c'])];
    for (const key of ['a', 'b']) {
      const txn = { compares: [], success: [putOf(utf8(key), utf8('unseen'))], failure: [] };
      changes.push(sliced.backend.txn(txn, nodeItself).then(() => new Uint8Array(0)));
    }
    await Promise.all(changes);
    await sliced.clock.settle(200);
    for (const stream of streams) {
      const responses = await stream.rest();
      expect(responses.flatMap(({ events }) => events)).toEqual([]);
      expect(responses.filter(({ canceled }) => canceled)).toHaveLength(2);
    }
  });

  test('goes on if it begins by a right that is newer than those by which the others are being judged', async () => {
    await using sliced = await openSliced();
    const client = new AuthClient(sliced.methods);
    await client.addUserWith('alice', ['r', ['a', 'c']]);
    const owner = await client.enableWithRoot();
    const reader = client.with(await client.authenticate('alice'));
    const stream = new WatchClient(reader.bidi('/etcdserverpb.Watch/Watch'), sliced.clock);
    for (let at = 0; at < 300; at += 1) stream.create({ key: b(`a${at}`) });
    await Promise.all([owner.permit('alice', 'r', ['y', '']), owner.permit('alice', 'r', ['z', ''])]);
    expect(stream.create({ key: b('z') })).toMatchObject({ created: true, canceled: false });
    await sliced.clock.settle(3_000);
    expect((await stream.rest()).filter(({ canceled }) => canceled)).toEqual([]);
    await owner.put('z', 'seen');
    expect(await stream.events()).toHaveLength(1);
  });

  test.each([
    ['the role is taken away', () => root.revokeRole('alice', 'alice')],
    ['the role is deleted', () => root.deleteRole('alice')],
    ['the user is deleted', () => root.deleteUser('alice')],
  ])('ends when %s', async (_, change) => {
    const stream = watch(alice);
    stream.create({ key: b('a') });
    await change();
    expect(await stream.rest()).toMatchObject([{ watchId: 0, canceled: true, cancelReason: refusals.denied }]);
  });

  test('goes on when its user gets another right, or another password', async () => {
    const stream = watch(alice);
    stream.create({ key: b('a') });
    await root.permit('alice', 'r', ['x', '']);
    await root.changePassword('alice', 'other');
    await root.put('a');
    expect(await stream.rest()).toMatchObject([{ canceled: false, events: [{}] }]);
  });

  test('of nobody ends when authentication is turned on', async () => {
    await root.disable();
    const stream = watch(anybody);
    stream.create({ key: b('a') });
    await anybody.enable();
    expect(await stream.rest()).toMatchObject([{ watchId: 0, canceled: true, cancelReason: refusals.empty }]);
  });
});

describe('a right that is taken away', () => {
  test('counts for what is decided after it, also where nothing of it has taken effect', async () => {
    const forbidding = root.forbid('alice', ['a', 'c']);
    const outcomes = await Promise.all([outcome(alice.put('a')), outcome(alice.txn({ success: [deleteOp('a')] }))]);
    await forbidding;
    expect(outcomes).toEqual(['revision of auth store is old', 'revision of auth store is old']);
    expect(await outcome(alice.put('a'))).toBe(denied);
    expect(await root.get('a')).toBe('value of a');
  });

  test('counts for a read that began before it and ends after it', async () => {
    await using sliced = await openSliced();
    const client = new AuthClient(sliced.methods);
    await client.addUserWith('alice', ['r', ['a', 'c']]);
    for (let at = 0; at < 200; at += 1) await client.put(`a${at}`, 'v');
    const owner = await client.enableWithRoot();
    const reader = client.with(await client.authenticate('alice'));
    const list = { key: b('a'), rangeEnd: b('c') };
    const compare: Init<etcdserverpb.Compare>[] = [];
    const success = [{ requestRange: list }];
    const listing = [outcome(reader.range(list)), outcome(reader.txn({ compare, success }))];
    const changing = owner.forbid('alice', ['a', 'c']);
    await sliced.clock.settle(2_000);
    await changing;
    expect(await Promise.all(listing)).toEqual([
      expect.stringContaining('revision of auth store is old'),
      expect.stringContaining('revision of auth store is old'),
    ]);
    expect(await outcome(reader.range(list))).toContain(denied);
  });

  test('counts for leases whose keys were being judged', async () => {
    await using sliced = await openSliced();
    const client = new AuthClient(sliced.methods);
    await client.addUserWith('alice', ['rw', ['a', 'c']]);
    const owner = await client.enableWithRoot();
    const reader = client.with(await client.authenticate('alice'));
    await reader.grant(1n);
    for (let at = 0; at < 50; at += 1) await reader.put(`a${at}`, 'v', { lease: 1n });
    const outcomes = new Set<string>();
    for (let turns = 0; turns < 60; turns += 4) {
      const listing = [outcome(reader.leases()), outcome(reader.timeToLive(1n, true))];
      await sliced.clock.settle(turns);
      const changing = owner.forbid('alice', ['a', 'c']);
      await sliced.clock.settle(1_000);
      await changing;
      for (const each of await Promise.all(listing)) outcomes.add(each);
      await owner.permit('alice', 'rw', ['a', 'c']);
    }
    // Before the change, behind it, and where it came in between.
    expect([...outcomes].toSorted()).toEqual(['ok', denied, 'revision of auth store is old']);
  });

  test('counts for a caller whose log-in is older than a change: it must say so again', async () => {
    // Any change makes a call old that was admitted before it. A simple token has the newest revision with each call.
    const adding = root.addRole('other');
    expect(await outcome(alice.put('a'))).toBe('revision of auth store is old');
    await adding;
    expect(await outcome(alice.put('a'))).toBe('ok');
  });
});

describe('calls about the member', () => {
  const nothing = new Uint8Array(0);
  const rooted = [
    ['Maintenance/Defragment', nothing],
    ['Maintenance/Hash', nothing],
    ['Maintenance/HashKV', nothing],
    ['Maintenance/MoveLeader', nothing],
    ['Maintenance/Downgrade', etcdserverpb.encodeDowngradeRequest({ action: 2 })],
    ['Maintenance/Alarm', etcdserverpb.encodeAlarmRequest({ action: 1, alarm: 1 })],
    ['Maintenance/Alarm', etcdserverpb.encodeAlarmRequest({ action: 2, alarm: 1 })],
    ['Cluster/MemberAdd', etcdserverpb.encodeMemberAddRequest({ peerURLs: ['http://127.0.0.1:1'] })],
    ['Cluster/MemberRemove', nothing],
    ['Cluster/MemberUpdate', nothing],
    ['Cluster/MemberPromote', nothing],
  ] as const;
  const ofUsers = [
    ['Maintenance/Status', nothing],
    ['Maintenance/Alarm', etcdserverpb.encodeAlarmRequest({ action: 0 })],
    ['Cluster/MemberList', nothing],
  ] as const;

  test.each(rooted)('edge 107: %s is for root', async (method, request) => {
    const path = `/etcdserverpb.${method}`;
    expect(await outcome(anybody.call(path, request))).toBe('user name is empty');
    expect(await outcome(anybody.with('x').call(path, request))).toBe('invalid auth token');
    expect(await outcome(alice.call(path, request))).toBe(denied);
    expect(await outcome(root.call(path, request))).not.toMatch(/denied|user name/);
    expect(api.backend.alarms().length).toBeLessThan(2);
  });

  test.each(ofUsers)('%s is for every user', async (method, request) => {
    const path = `/etcdserverpb.${method}`;
    expect(await outcome(anybody.call(path, request))).toBe('user name is empty');
    expect(await outcome(alice.call(path, request))).toBe('ok');
  });

  test('a snapshot is for root', async () => {
    const snapshot = (client: AuthClient) => client.serverStream('/etcdserverpb.Maintenance/Snapshot', nothing);
    for (const client of [anybody, alice]) expect(snapshot(client).sent).toEqual([]);
    expect(snapshot(anybody).status).toEqual({
      code: GrpcCode.INVALID_ARGUMENT,
      message: 'etcdserver: user name is empty',
    });
    expect(snapshot(alice).status).toEqual({
      code: GrpcCode.PERMISSION_DENIED,
      message: 'etcdserver: permission denied',
    });
    const sent = snapshot(root);
    await api.clock.settle(200);
    expect(sent.status).toEqual({ code: 0, message: '' });
  });

  test('the health of the node is for everybody', async () => {
    expect(await outcome(anybody.call('/grpc.health.v1.Health/Check', nothing))).toBe('ok');
  });

  test('a request that the quota would refuse raises no alarm for somebody without a right', async () => {
    const tooLarge = 'x'.repeat(2 * 1024 * 1024);
    expect(await outcome(anybody.put('a', tooLarge))).toBe('request is too large');
    expect(api.backend.alarms()).toEqual([]);
  });
});
