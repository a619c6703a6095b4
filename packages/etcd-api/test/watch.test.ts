import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Int64 } from '@engram/core';
import { etcdserverpb } from '@engram/wire';
import { ALL, Api, b, member, t, ZERO } from './api.ts';
import type { WatchClient } from './watch-client.ts';

const { WatchCreateRequestFilterType: Filter } = etcdserverpb;
const PUT = 0;
const DELETE = 1;

let api: Api;
let watch: WatchClient;
beforeEach(async () => {
  api = await Api.open();
  watch = api.watch();
});
afterEach(() => api[Symbol.asyncDispose]());

const created = { created: true, canceled: false, cancelReason: '', compactRevision: 0, events: [] };
const refused = (cancelReason: string) => ({
  created: true,
  canceled: true,
  watchId: -1,
  cancelReason,
  compactRevision: 0,
});
const plain = (event: { type: number; kv: { key: Uint8Array; modRevision: number } | undefined }) => [
  event.type === PUT ? 'put' : 'delete',
  t(event.kv!.key),
  event.kv!.modRevision,
];

describe('creating', () => {
  test('edge 55: ids count from 0, skip what the client chose, and are assigned once', () => {
    const ids = [0, 0, 3, 0, 0].map((watchId) => watch.create({ key: b('a'), watchId }).watchId);
    expect(ids).toEqual([0, 1, 3, 2, 4]);
    watch.cancel(4);
    watch.next();
    expect(watch.create({ key: b('a') }).watchId).toBe(5);
  });

  test('edge 56: an id in use is refused, and its watcher lives on', async () => {
    expect(watch.create({ key: b('a'), watchId: 5 })).toMatchObject({ ...created, watchId: 5 });
    expect(watch.create({ key: b('b'), watchId: 5 })).toMatchObject(
      refused('mvcc: duplicate watch ID provided on the WatchStream'),
    );
    await api.fill('a');
    expect(await watch.events()).toHaveLength(1);
  });

  test('ids that no double holds are exact: neighbours are two watchers, and each is answered by its own name', async () => {
    const ids = [2 ** 53 - 1, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n), -(2n ** 53n) - 1n, -7];
    for (const watchId of ids) expect(watch.create({ key: b('a'), watchId })).toMatchObject({ ...created, watchId });
    const again = watch.create({ key: b('b'), watchId: 2n ** 53n + 1n });
    expect(again).toMatchObject(refused('mvcc: duplicate watch ID provided on the WatchStream'));
    expect(watch.create({ key: b('b') })).toMatchObject({ ...created, watchId: 0 });
    await api.fill('a');
    const seen = (await watch.rest()).map((response) => response.watchId);
    expect(new Set(seen)).toEqual(new Set(ids));
    expect(seen.length).toBe(ids.length);
    watch.cancel(2n ** 53n + 1n);
    expect(watch.next()).toMatchObject({ watchId: 2n ** 53n + 1n, canceled: true });
    watch.cancel(2n ** 53n + 1n);
    await api.fill('a');
    expect((await watch.rest()).length).toBe(ids.length - 1);
  });

  test('periodic progress names a watcher whose id no double holds', async () => {
    await using busy = await Api.open({ watchProgressIntervalMs: 1_000 });
    const stream = busy.watch();
    stream.create({ key: b('a'), progressNotify: true, watchId: 2n ** 62n + 1n });
    busy.clock.advance(1_200);
    expect((await stream.rest()).map(({ watchId }) => watchId)).toEqual([2n ** 62n + 1n]);
  });

  test('edge 57: no key is the zero byte; up to the zero byte is everything', async () => {
    watch.create({ rangeEnd: ZERO });
    watch.create({});
    await api.fill('a');
    await api.put({ key: ZERO });
    const seen = (await watch.rest()).map(({ watchId, events }) => [
      watchId,
      Buffer.from(events[0]!.kv!.key).toString('hex'),
    ]);
    expect(seen.toSorted()).toEqual([
      [0, '00'],
      [0, '61'],
      [1, '00'],
    ]);
  });

  test.each([
    { key: 'a', rangeEnd: 'a' },
    { key: 'b', rangeEnd: 'a' },
  ])('edge 58: the empty range [$key, $rangeEnd) is refused, and the stream goes on', ({ key, rangeEnd }) => {
    expect(watch.create({ key: b(key), rangeEnd: b(rangeEnd) })).toMatchObject(refused('mvcc: watcher range is empty'));
    expect(watch.create({ key: b('a') })).toMatchObject({ ...created, watchId: 0 });
  });

  test('edge 59: a negative revision is refused, whatever else is wrong', () => {
    const response = watch.create({ key: b('b'), rangeEnd: b('a'), startRevision: -1 });
    expect(response).toMatchObject(refused('etcdserver: mvcc: required revision has been compacted'));
    expect(response.header).toMatchObject({
      revision: 1,
      clusterId: member.clusterId,
      memberId: member.memberId,
      raftTerm: 4,
    });
  });

  test('a request of no kind is ignored', async () => {
    watch.send({});
    expect(await watch.rest()).toEqual([]);
    expect(watch.create({ key: b('a') })).toMatchObject(created);
  });

  test('bytes that are no message end the stream', () => {
    watch.call.request(Uint8Array.of(0x0a, 0x05));
    expect(watch.call.status).toEqual({
      code: 13,
      message: 'grpc: failed to unmarshal the received message: proto: cannot parse invalid wire-format data',
    });
  });

  test('the created response has the revision from which on events come', async () => {
    const at = await api.fill('x', 'y');
    expect(watch.create({ key: b('a') }).header).toMatchObject({ revision: at, raftTerm: 4 });
  });

  test('edge 82: watchers made during puts begin right behind their created response, without a gap', async () => {
    const puts = Array.from({ length: 40 }, async () => {
      const { header } = watch.create({ key: b('a') });
      await api.put({ key: b('a') });
      return header!.revision;
    });
    const starts = await Promise.all(puts);
    const last = (await api.range({ key: b('a') })).header!.revision;
    const seen = new Map<Int64, number[]>();
    for (const { watchId, events } of await watch.rest()) {
      for (const event of events) seen.set(watchId, [...(seen.get(watchId) ?? []), event.kv!.modRevision]);
    }
    for (const [watchId, start] of starts.entries()) {
      expect(seen.get(watchId)).toEqual(Array.from({ length: last - start }, (_, at) => start + 1 + at));
    }
  });
});

describe('events', () => {
  test('edge 2 and 63: each put is an event, also one of an empty or the same value', async () => {
    watch.create(ALL);
    await api.put({ key: b('a') });
    await api.put({ key: b('a') });
    const events = await watch.events();
    expect(events.map(({ type, kv }) => [type, kv!.version])).toEqual([
      [PUT, 1],
      [PUT, 2],
    ]);
  });

  test('edge 4, 5 and 64: a deletion has one event for each key, in one response, with key and revision alone', async () => {
    await api.fill('b', 'a');
    watch.create(ALL);
    await api.deleteRange({ key: b('none') });
    const { header } = await api.deleteRange(ALL);
    const responses = await watch.rest();
    expect(responses).toHaveLength(1);
    const modRevision = header!.revision;
    expect(responses[0]!.header!.revision).toBe(modRevision);
    const empty = { createRevision: 0, version: 0, lease: 0n, value: new Uint8Array(0) };
    expect(responses[0]!.events).toEqual([
      { type: DELETE, kv: { key: b('a'), modRevision, ...empty }, prevKv: undefined },
      { type: DELETE, kv: { key: b('b'), modRevision, ...empty }, prevKv: undefined },
    ]);
  });

  test('edge 60: a start in the future waits for its revision', async () => {
    const at = await api.fill('a');
    expect(watch.create({ key: b('a'), startRevision: at + 3 })).toMatchObject(created);
    watch.requestProgress();
    await api.fill('a', 'a');
    watch.requestProgress();
    expect(await watch.rest()).toEqual([]);
    await api.fill('a', 'a');
    expect((await watch.events()).map((event) => event.kv!.modRevision)).toEqual([at + 3, at + 4]);
  });

  test('edge 61 and 83: history from the start, at most 1000 revisions at once, and no seam to what is live', async () => {
    for (let put = 0; put < 1_500; put += 1) await api.put({ key: b('a') });
    watch.create({ key: b('a'), startRevision: 1 });
    const more = Promise.all(Array.from({ length: 50 }, () => api.put({ key: b('a') })));
    await more;
    const responses = await watch.rest();
    expect(Math.max(...responses.map((response) => response.events.length))).toBeLessThanOrEqual(1_000);
    const versions = responses.flatMap((response) => response.events.map((event) => event.kv!.version));
    expect(versions).toEqual(Array.from({ length: 1_550 }, (_, at) => at + 1));
  });

  test('edge 62: a transaction arrives whole, live and from history', async () => {
    watch.create(ALL);
    const put = (key: string) => ({ requestPut: { key: b(key) } });
    await api.txn({ success: [put('a'), put('b'), put('c')] });
    expect((await watch.rest()).map((response) => response.events.length)).toEqual([3]);
    watch.create({ ...ALL, startRevision: 1 });
    expect((await watch.rest()).map((response) => response.events.length)).toEqual([3]);
  });

  test('the header of a live event is its revision, of history the store is at now', async () => {
    const at = await api.fill('a', 'a', 'x');
    watch.create({ key: b('a'), startRevision: 2 });
    const [history] = await watch.rest();
    expect(history!.header!.revision).toBe(at);
    await api.fill('a');
    const [live] = await watch.rest();
    expect(live!.header!.revision).toBe(at + 1);
  });

  test('edge 65: prev_kv is what was there before', async () => {
    watch.create({ key: b('a'), prevKv: true });
    await api.fill('a', 'a');
    await api.deleteRange({ key: b('a') });
    const events = await watch.events();
    expect(events.map((event) => event.prevKv?.modRevision)).toEqual([undefined, 2, 3]);
    await api.compact(4);
    watch.create({ key: b('a'), prevKv: true, startRevision: 4 });
    expect((await watch.events())[0]).toMatchObject({ type: DELETE, prevKv: undefined });
  });

  test('watchers with and without prev_kv see the same events', async () => {
    await api.fill('a');
    watch.create({ key: b('a'), prevKv: true });
    watch.create({ key: b('a') });
    watch.create({ key: b('a'), prevKv: true });
    await api.fill('a');
    const seen = (await watch.rest()).map(({ watchId, events }) => [watchId, events[0]!.prevKv?.modRevision]);
    expect(seen.toSorted()).toEqual([
      [0, 2],
      [1, undefined],
      [2, 2],
    ]);
  });

  test('edge 66: filters', async () => {
    watch.create({ key: b('a'), filters: [Filter.NOPUT], prevKv: true });
    watch.create({ key: b('a'), filters: [Filter.NODELETE, 77] });
    watch.create({ key: b('a'), filters: [Filter.NOPUT, Filter.NODELETE] });
    await api.fill('a');
    await api.deleteRange({ key: b('a') });
    const seen = (await watch.rest()).map(({ watchId, events }) => [
      watchId,
      events[0]!.type,
      events[0]!.prevKv?.version,
    ]);
    expect(seen).toEqual([
      [1, PUT, undefined],
      [0, DELETE, 1],
    ]);
  });

  test('edge 77: of a large revision all parts but the last say so, to those who asked for parts', async () => {
    await using narrow = await Api.open({ limits: { maxRequestBytes: 700 * 1024 } });
    const value = new Uint8Array(110 * 1024);
    const puts = Array.from({ length: 6 }, (_, at) => ({ requestPut: { key: b(`k${at}`), value } }));
    await narrow.txn({ success: puts });
    const stream = narrow.watch();
    stream.create({ ...ALL, prevKv: true });
    stream.create({ ...ALL, prevKv: true, fragment: true });
    await narrow.txn({ success: puts });
    const responses = (await stream.rest()).map(({ watchId, header, fragment, events }) => {
      expect(header!.revision).toBe(3);
      return [watchId, fragment, events.length] as const;
    });
    expect(responses.toSorted(([left], [right]) => Number(left) - Number(right))).toEqual([
      [0, false, 6],
      [1, true, 5],
      [1, false, 1],
    ]);
  });

  test('edge 77: ten events of a megabyte, live and from history', async () => {
    const value = new Uint8Array(1024 * 1024);
    watch.create({ ...ALL, fragment: true });
    for (let at = 0; at < 10; at += 1) await api.put({ key: b(`big${at}`), value });
    expect(await watch.events()).toHaveLength(10);
    watch.create({ ...ALL, fragment: true, startRevision: 1 });
    expect(await watch.events()).toHaveLength(10);
  });
});

describe('ends', () => {
  test('edge 67: below the compact revision it is created, and then cancelled', async () => {
    await api.fill('a', 'a', 'a');
    await api.compact(3);
    expect(watch.create({ key: b('a'), startRevision: 2 })).toMatchObject(created);
    expect(watch.next()).toMatchObject({
      watchId: 0,
      created: false,
      canceled: true,
      compactRevision: 3,
      cancelReason: '',
      events: [],
      header: { revision: 0, clusterId: member.clusterId, memberId: member.memberId, raftTerm: 4 },
    });
    await api.fill('a');
    expect(await watch.rest()).toEqual([]);
  });

  test('edge 68: from the compact revision on it sees that change, also a deletion', async () => {
    await api.fill('a');
    const { header } = await api.deleteRange({ key: b('a') });
    await api.fill('x');
    await api.compact(header!.revision);
    watch.create({ key: b('a'), startRevision: header!.revision });
    expect((await watch.events()).map(plain)).toEqual([['delete', 'a', header!.revision]]);
  });

  test('edge 69: who reads too slowly for a compaction is cancelled, without a gap before', async () => {
    await using small = await Api.open({ limits: { streamQueueBytesMax: 1_000 } });
    const slow = small.watch();
    slow.create(ALL);
    slow.call.stalled = true;
    for (let put = 0; put < 100; put += 1) await small.put({ key: b('a') });
    await small.compact(90);
    slow.call.stalled = false;
    slow.call.read();
    const responses = await slow.rest();
    const revisions = responses.flatMap((response) => response.events.map((event) => event.kv!.modRevision));
    expect(revisions).toEqual(revisions.map((_, at) => at + 2));
    expect(revisions.length).toBeLessThan(88);
    expect(responses.at(-1)).toMatchObject({ canceled: true, compactRevision: 90 });
  });

  test('a slow reader loses nothing where nothing is compacted, and holds no more than its bound', async () => {
    await using small = await Api.open({ limits: { streamQueueBytesMax: 1_000 } });
    const slow = small.watch();
    const quick = small.watch();
    slow.create(ALL);
    quick.create(ALL);
    slow.call.stalled = true;
    for (let put = 0; put < 100; put += 1) await small.put({ key: b('a') });
    expect(await quick.events()).toHaveLength(100);
    expect(slow.call.queuedBytes).toBeLessThan(1_200);
    slow.call.stalled = false;
    slow.call.read();
    const revisions = (await slow.events()).map((event) => event.kv!.modRevision);
    expect(revisions).toEqual(Array.from({ length: 100 }, (_, at) => at + 2));
  });

  test('who asks on and on without reading is cut, as a stream that clients resume', async () => {
    await using small = await Api.open({ limits: { streamQueueBytesMax: 1_000 } });
    const greedy = small.watch();
    greedy.call.stalled = true;
    for (let at = 0; at < 10_000 && greedy.call.status === undefined; at += 1) {
      greedy.send({ createRequest: { key: b('a') } });
    }
    expect(greedy.call.status?.code).toBe(14);
    expect(greedy.call.queuedBytes).toBeLessThan(5_000);
    expect(small.backend.watchHub.stats.streams).toBe(0);
  });

  test('edge 70: a cancel is answered once, an unknown id not at all', async () => {
    watch.create({ key: b('a') });
    const at = await api.fill('x');
    watch.cancel(0);
    expect(watch.next()).toMatchObject({
      watchId: 0,
      created: false,
      canceled: true,
      cancelReason: '',
      compactRevision: 0,
      header: { revision: at },
    });
    watch.cancel(0);
    watch.cancel(77);
    await api.fill('a');
    expect(await watch.rest()).toEqual([]);
  });

  test('edge 78: a client that only listens gets its events', async () => {
    watch.create(ALL);
    watch.call.halfClose();
    await api.fill('a');
    expect(await watch.events()).toHaveLength(1);
    expect(watch.call.status).toBeUndefined();
  });

  test('edge 80: no watcher is left behind', () => {
    for (let at = 0; at < 1_000; at += 1) watch.create({ key: b(`k${at}`) });
    expect(api.backend.watchHub.stats.watchers).toBe(1_000);
    for (let at = 0; at < 1_000; at += 1) watch.cancel(at);
    expect(api.backend.watchHub.stats.watchers).toBe(0);
    watch.create({ key: b('a') });
    watch.call.cancel();
    expect(api.backend.watchHub.stats).toMatchObject({ streams: 0, watchers: 0 });
  });
});

describe('progress', () => {
  const progress = { events: [], created: false, canceled: false, compactRevision: 0 };

  test('edge 71: one answer for all watchers of the stream, though nothing matched', async () => {
    watch.create({ key: b('a') });
    watch.create({ key: b('b') });
    const at = await api.fill('x', 'y');
    watch.requestProgress();
    const responses = await watch.rest();
    expect(responses).toHaveLength(1);
    expect(responses[0]).toMatchObject({ ...progress, watchId: -1, header: { revision: at } });
  });

  test('edge 72 and 74: none while a watcher catches up, soon afterwards one', async () => {
    const at = await api.fill('x', 'y', 'z');
    watch.create({ key: b('a'), startRevision: 1 });
    watch.requestProgress();
    expect(await watch.rest()).toEqual([]);
    watch.requestProgress();
    expect(await watch.rest()).toMatchObject([{ ...progress, watchId: -1, header: { revision: at } }]);
  });

  test('edge 73: none without a watcher', async () => {
    watch.requestProgress();
    expect(await watch.rest()).toEqual([]);
  });

  test('edge 75: periodic progress comes to those who asked, where an interval was quiet', async () => {
    await using busy = await Api.open({ watchProgressIntervalMs: 1_000 });
    const stream = busy.watch();
    stream.create({ key: b('a'), progressNotify: true });
    stream.create({ key: b('a') });
    const at = await busy.fill('x');
    busy.clock.advance(1_200);
    expect(await stream.rest()).toMatchObject([{ ...progress, watchId: 0, header: { revision: at } }]);
    await busy.fill('a');
    busy.clock.advance(1_200);
    expect((await stream.rest()).filter((response) => response.events.length === 0)).toEqual([]);
    busy.clock.advance(1_200);
    expect(await stream.rest()).toMatchObject([{ ...progress, watchId: 0 }]);
  });

  test('edge 76: progress never passes an event', async () => {
    watch.create(ALL);
    const puts = Array.from({ length: 200 }, (_, at) => {
      if (at % 10 === 0) watch.requestProgress();
      return api.put({ key: b('a') }).then(() => watch.requestProgress());
    });
    await Promise.all(puts);
    let last = 1;
    let marks = 0;
    for (const { events, header } of await watch.rest()) {
      for (const event of events) {
        expect(event.kv!.modRevision).toBe(last + 1);
        last = event.kv!.modRevision;
      }
      if (events.length > 0) continue;
      marks += 1;
      expect(header!.revision).toBeLessThanOrEqual(last);
    }
    expect(marks).toBeGreaterThan(0);
  });

  test('none where the stream has no room', async () => {
    await using small = await Api.open({ limits: { streamQueueBytesMax: 100 } });
    const slow = small.watch();
    slow.create({ key: b('a') });
    slow.call.stalled = true;
    slow.call.queuedBytes = 101;
    slow.requestProgress();
    expect(await slow.rest()).toEqual([]);
  });
});

test('streams share the bytes of an event', async () => {
  const streams = Array.from({ length: 3 }, () => api.watch());
  for (const stream of streams) stream.create({ key: b('a') });
  await api.put({ key: b('a'), value: new Uint8Array(100_000).fill(3) });
  const seen = await Promise.all(streams.map((stream) => stream.rest()));
  for (const responses of seen) expect(responses[0]!.events[0]!.kv!.value).toHaveLength(100_000);
});
