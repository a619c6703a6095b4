import { AssertionError, EngramError, revision } from '@engram/core';
import { expect, test } from 'vitest';
import { FakeSink, request, settled, turn } from './fakes.ts';
import { from, World } from './world.ts';

test.each([
  { ids: [0, 0, 0], assigned: [0, 1, 2], why: 'from 0 on' },
  { ids: [1, 0, 0, 0], assigned: [1, 0, 2, 3], why: 'what a client chose is skipped' },
  { ids: [-7, 0, 2 ** 40], assigned: [-7, 0, 2 ** 40], why: "any number is the client's to choose" },
])('edge 55: ids $ids become $assigned: $why', ({ ids, assigned }) => {
  const world = new World();
  expect(ids.map((watchId) => world.watch('a', { watchId }))).toEqual(assigned);
});

test.each([1.5, Number.NaN, 2 ** 53, 5n, 2n ** 63n])('%s is no form of a watch id', (watchId) => {
  expect(() => new World().watch('a', { watchId })).toThrow(AssertionError);
});

test('edge 55: an id is not assigned again after a cancel', () => {
  const world = new World();
  expect([world.watch('a'), world.watch('a')]).toEqual([0, 1]);
  expect(world.stream.cancel(0) && world.stream.cancel(1)).toBe(true);
  expect(world.watch('a')).toBe(2);
  expect(world.watch('a', { watchId: 1 })).toBe(1); // but a client may choose it, since it is free
  const other = world.hub.openStream(new FakeSink());
  expect(world.watch('a', {}, other)).toBe(0); // each stream assigns its own ids
});

test('edge 56: the same id again is refused, and the first watcher lives on', () => {
  const world = new World();
  expect(world.watch('a', { watchId: 5 })).toBe(5);
  expect(world.watch('b', { watchId: 5 })).toBe('duplicate-id');
  world.put('a');
  world.put('b');
  expect(world.sink.take()).toEqual(['5 2:a header 2']);
});

test.each([
  { pattern: '*', hits: ['a', 'b', '\0'], misses: [], why: 'edge 57: from \\0 without an end is everything' },
  { pattern: '\0', hits: ['\0'], misses: ['a', '\0\0'], why: 'edge 57: the key \\0 alone' },
  { pattern: 'a', hits: ['a'], misses: ['a\0', 'A', ''], why: 'one key' },
  { pattern: 'a*', hits: ['a', 'a\0', 'az'], misses: ['b', '`'], why: 'a prefix' },
  { pattern: 'a..c', hits: ['a', 'b', 'bz'], misses: ['c', 'c\0', '`'], why: 'the end is not in it' },
])('a watch of $pattern: $why', ({ pattern, hits, misses }) => {
  const world = new World();
  world.watch(pattern);
  for (const key of [...hits, ...misses]) world.put(key);
  expect(world.sink.take()).toEqual(hits.map((key, at) => `0 ${at + 2}:${key} header ${at + 2}`));
});

test.each([
  { pattern: 'b..b', options: {}, reason: 'empty-range', why: 'edge 58' },
  { pattern: 'b..a', options: {}, reason: 'empty-range', why: 'edge 58' },
  { pattern: 'b', options: from(-1), reason: 'negative-revision', why: 'edge 59' },
  { pattern: 'b..a', options: from(-1), reason: 'negative-revision', why: 'the revision is checked first' },
  { pattern: 'b..a', options: { watchId: 9 }, reason: 'empty-range', why: 'the range is checked before the id' },
])('$why: $pattern with $options is refused as $reason, and the stream goes on', ({ pattern, options, reason }) => {
  const world = new World();
  world.watch('x', { watchId: 9 });
  expect(world.watch(pattern, options)).toBe(reason);
  expect(world.watch('b')).toBe(0);
  expect(world.hub.stats.watchers).toBe(2);
});

test('edge 60: a start in the future: nothing before it, no progress before it', () => {
  const world = new World();
  world.watch('a', { ...from(4), progressNotify: true });
  world.put('a');
  world.put('a');
  world.stream.requestProgress();
  world.clock.advance(1100);
  expect(world.sink.take()).toEqual([]);
  world.put('a');
  expect(world.sink.take()).toEqual(['0 4:a header 4']);
  world.stream.requestProgress();
  expect(world.sink.take()).toEqual(['all progress 4']);
});

test('a resumed watch starts one above the store: progress only once the store got there (etcd: rev < startRev)', () => {
  const world = new World();
  world.watch('a', from(2));
  world.stream.requestProgress();
  expect(world.sink.take()).toEqual([]);
  world.put('b');
  world.stream.requestProgress();
  expect(world.sink.take()).toEqual(['all progress 2']);
});

test('edge 61: from revision 1 all of history comes in pages, then the live events, without a seam', async () => {
  const world = new World({ history: ['a', 'a', 'b', 'a', 'a'], hub: { catchUpGroupsMax: 2 } });
  world.watch('a', from(1));
  await settled();
  world.put('a');
  expect(world.sink.take()).toEqual(['0 2:a 3:a header 6', '0 5:a 6:a header 6', '0 7:a header 7']);
  expect(world.hub.stats).toEqual({ streams: 1, watchers: 1, slowWatchers: 0, pendingEvents: 0, pendingBytes: 0 });
});

test('edge 61: what is written during a read follows its page in the same step', async () => {
  const world = new World({ auto: false, history: ['a', 'a'] });
  world.watch('a', from(2));
  world.put('a');
  world.put('b');
  world.put('a');
  expect(world.hub.stats).toMatchObject({ streams: 1, watchers: 1, slowWatchers: 1, pendingEvents: 2 });
  expect(world.sink.take()).toEqual([]);
  world.store.reads[0]!.settle();
  await settled();
  expect(world.sink.take()).toEqual(['0 2:a 3:a 4:a 6:a header 6']);
  expect(world.store.reads).toEqual([]);
  world.put('a');
  expect(world.sink.take()).toEqual(['0 7:a header 7']);
  expect(world.hub.stats.pendingEvents).toBe(0);
});

test('edge 62: a revision arrives whole, live and caught up', async () => {
  const world = new World();
  world.watch('*');
  world.put('a', 'b', 'c');
  world.watch('a..c', from(2));
  await settled();
  expect(world.sink.take()).toEqual(['0 2:a+b+c header 2', '1 2:a+b header 2']);
});

test('edge 65: prev_kv on update and delete, not on create; for those who asked, live and caught up', async () => {
  const world = new World();
  world.watch('a', { prevKv: true });
  expect(world.hub.wantsPrevKv(Buffer.from('a'))).toBe(true);
  expect(world.hub.wantsPrevKv(Buffer.from('b'))).toBe(false);
  world.put('a');
  world.put('a');
  world.put('-a');
  const all = ['0 2:a header 2', '0 3:a(prev@2) header 3', '0 4:-a(prev@3) header 4'];
  expect(world.sink.take()).toEqual(all);
  world.watch('a', { ...from(2), prevKv: true });
  await settled();
  expect(world.sink.take()).toEqual(['1 2:a 3:a(prev@2) 4:-a(prev@3) header 4']);
});

test('a superseded version that nobody had asked for in time comes from history', async () => {
  const world = new World();
  world.put('a');
  const batch = world.store.commit(['a'], (key) => world.hub.wantsPrevKv(key));
  world.watch('a', { prevKv: true }); // between wantsPrevKv and the event
  world.watch('a');
  world.hub.publish(batch);
  world.put('a');
  expect(world.sink.take()).toEqual(['1 3:a header 3', '1 4:a(prev@3) header 4']);
  await settled();
  expect(world.sink.take()).toEqual(['0 3:a(prev@2) 4:a(prev@3) header 4']);
});

test.each([
  { options: { noPut: true }, live: ['0 3:-a(prev@2) header 3', '0 4:-b(prev@2) header 4'], why: 'only deletes' },
  { options: { noDelete: true }, live: ['0 2:a+b header 2', '0 4:c header 4'], why: 'only puts' },
  { options: { noPut: true, noDelete: true }, live: [], why: 'only progress' },
])('edge 66: $options: $why', async ({ options, live }) => {
  const world = new World();
  world.watch('*', { ...options, prevKv: true });
  world.put('a', 'b');
  world.put('-a');
  world.put('-b', 'c');
  world.stream.requestProgress();
  expect(world.sink.take()).toEqual([...live, 'all progress 4']);
  world.watch('*', { ...options, ...from(2), prevKv: true });
  await settled();
  const groups = live.map((line) => line.replace(/^0 (.*) header \d+$/, '$1'));
  expect(world.sink.take()).toEqual(groups.length === 0 ? [] : [`1 ${groups.join(' ')} header 4`]);
  turn(world.clock);
  world.stream.requestProgress();
  expect(world.sink.take()).toEqual(['all progress 4']);
});

test('edge 67: a start below the compact revision is cancelled with it, once it has started', () => {
  const world = new World({ history: ['a', 'a', 'a', 'a'] });
  world.compact(4);
  const outcome = world.stream.create(request('a', from(3)));
  if (outcome.kind !== 'created') throw new Error('refused');
  expect(world.sink.take()).toEqual([]);
  world.stream.start(outcome.watcher);
  expect(world.sink.take()).toEqual(['0 compacted 4']);
  expect(world.stream.cancel(0)).toBe(false);
  expect(world.hub.stats.watchers).toBe(0);
});

test('edge 68: a start at the compact revision gets the change at it, also a delete', async () => {
  const world = new World({ history: ['a', 'a', '-a', 'b'] });
  world.compact(4);
  world.watch('a', from(4));
  await settled();
  expect(world.sink.take()).toEqual(['0 4:-a header 5']);
});

test.each([
  { compactRevision: 3, after: [], resumed: ['0 3:a header 4', '0 4:a header 4'], why: 'what it needs is there' },
  { compactRevision: 4, after: ['0 compacted 4'], resumed: [], why: 'a gap must not be' },
])(
  'edge 69: compaction at $compactRevision of a reader stuck at 3: $why',
  async ({ compactRevision, after, resumed }) => {
    const world = new World({ hub: { catchUpGroupsMax: 1 } });
    world.watch('a');
    world.sink.room = 1;
    world.put('a');
    world.put('a');
    world.put('a');
    expect(world.sink.take()).toEqual(['0 2:a header 2', '0 refused']);
    world.compact(compactRevision);
    expect(world.sink.take()).toEqual(after);
    world.sink.room = 10;
    world.stream.drained();
    await settled();
    expect(world.sink.take()).toEqual(resumed);
  },
);

test('compaction during a read cancels at once, and the page is not used', async () => {
  const world = new World({ auto: false, history: ['a', 'a', 'a'] });
  world.watch('a', from(2));
  const [read] = world.store.reads;
  world.compact(3);
  expect(world.sink.take()).toEqual(['0 compacted 3']);
  expect(read!.signal.aborted).toBe(true);
  read!.settle(new Error('aborted'));
  await settled();
  expect(world.sink.take()).toEqual([]);
});

test('a read that compaction overtakes cancels the watcher, and only it', async () => {
  const world = new World({ auto: false, history: ['a', 'a', 'a'] });
  world.watch('a', from(2));
  world.watch('a');
  world.store.compactRevision = revision(4); // the hub was not told yet
  world.store.reads[0]!.settle();
  await settled();
  expect(world.sink.take()).toEqual(['0 compacted 4']);
  world.put('a');
  expect(world.sink.take()).toEqual(['1 5:a header 5']);
});

test('history that cannot be read breaks the stream, all of it, and no other', async () => {
  const world = new World({ auto: false, history: ['a'] });
  const other = new FakeSink();
  world.watch('a', {}, world.hub.openStream(other));
  world.watch('a', from(2));
  world.watch('a');
  world.store.reads[0]!.settle(new Error('disk on fire'));
  await settled();
  expect(world.sink.take()).toEqual(['failed disk on fire']);
  world.put('a');
  expect(world.sink.take()).toEqual([]);
  expect(other.take()).toEqual(['0 3:a header 3']);
  expect(world.hub.stats).toEqual({ streams: 1, watchers: 1, slowWatchers: 0, pendingEvents: 0, pendingBytes: 0 });
  expect(() => world.watch('a')).toThrow(EngramError);
});

test('a read that contradicts itself about compaction breaks the stream instead of inventing a revision', async () => {
  const world = new World({ auto: false, history: ['a'] });
  world.watch('a', from(2));
  world.store.reads[0]!.settle(new EngramError('Compacted'));
  await settled();
  expect(world.sink.take()).toEqual(['failed etcdserver: mvcc: required revision has been compacted']);
});

test('edge 70: after a cancel nothing comes; an unknown id is nothing', async () => {
  const world = new World({ auto: false, history: ['a'] });
  world.watch('a');
  world.watch('a', from(2));
  expect([world.stream.cancel(0), world.stream.cancel(1), world.stream.cancel(0), world.stream.cancel(7)]).toEqual([
    true,
    true,
    false,
    false,
  ]);
  expect(world.store.reads[0]!.signal.aborted).toBe(true);
  world.store.reads[0]!.settle();
  world.put('a');
  await settled();
  expect(world.sink.take()).toEqual([]);
  expect(world.hub.wantsEvents()).toBe(false);
});

test('edge 71: one answer for the whole stream, with the revision of a write that nobody watched', () => {
  const world = new World();
  world.watch('a');
  world.watch('b');
  world.put('c');
  world.stream.requestProgress();
  expect(world.sink.take()).toEqual(['all progress 2']);
});

test('edge 72: no answer while a watcher catches up, or has not started; a later request gets one', async () => {
  const world = new World({ auto: false, history: ['a'] });
  world.watch('b');
  const outcome = world.stream.create(request('a', from(2)));
  world.stream.requestProgress();
  if (outcome.kind === 'created') world.stream.start(outcome.watcher);
  world.stream.requestProgress();
  world.store.reads[0]!.settle();
  await settled();
  expect(world.sink.take()).toEqual(['1 2:a header 2']);
  world.stream.requestProgress();
  expect(world.sink.take()).toEqual(['all progress 2']);
});

test('edge 73: no watcher, no answer', () => {
  const world = new World();
  world.stream.requestProgress();
  expect(world.sink.take()).toEqual([]);
});

test('edge 74: a past without matches is caught up by one read', async () => {
  const world = new World({ auto: false, history: ['a', 'a', 'a'] });
  world.watch('b', from(1));
  world.put('c');
  world.store.reads[0]!.settle();
  await settled();
  world.stream.requestProgress();
  expect(world.sink.take()).toEqual(['all progress 5']);
});

test('edge 75: periodic progress: who asked, when quiet for an interval, with the current revision', () => {
  const world = new World();
  world.watch('a', { progressNotify: true });
  world.watch('a');
  world.put('b');
  world.clock.advance(999);
  expect(world.sink.take()).toEqual([]);
  world.clock.advance(101); // the interval, with a tenth of jitter
  expect(world.sink.take()).toEqual(['0 progress 2']);
  world.put('a');
  world.sink.take();
  world.clock.advance(1100);
  expect(world.sink.take()).toEqual([]);
  world.put('b');
  world.clock.advance(1100);
  expect(world.sink.take()).toEqual(['0 progress 4']);
});

test('edge 75: a watcher that is behind, and a stream without room, get no periodic progress', async () => {
  const world = new World({ auto: false, history: ['a'] });
  world.watch('a', { ...from(2), progressNotify: true });
  world.clock.advance(5000);
  expect(world.sink.take()).toEqual([]);
  world.store.reads[0]!.settle();
  await settled();
  world.sink.take();
  world.watch('b');
  world.sink.room = 0;
  world.put('b');
  world.clock.advance(5000);
  expect(world.sink.take()).toEqual(['1 refused']);
});

test('the progress timer lives as long as somebody wants progress', async () => {
  const world = new World();
  world.watch('a');
  expect(world.clock.waiting).toBe(0);
  world.watch('a', { progressNotify: true });
  world.watch('a', { progressNotify: true });
  expect(world.clock.waiting).toBe(1);
  world.stream.cancel(1);
  expect(world.clock.waiting).toBe(1);
  world.stream.cancel(2);
  expect(world.clock.waiting).toBe(0);
  world.watch('a', { progressNotify: true });
  world.hub.close();
  await world.clock.pass(0);
  expect(world.clock.waiting).toBe(0);
  expect(world.hub.stats).toEqual({ streams: 0, watchers: 0, slowWatchers: 0, pendingEvents: 0, pendingBytes: 0 });
});

test('edge 76: progress comes behind every event that it covers, also those held back for lack of room', async () => {
  const world = new World();
  world.watch('a');
  world.sink.room = 0;
  world.put('a');
  world.stream.requestProgress();
  expect(world.sink.take()).toEqual(['0 refused']);
  world.sink.room = 1;
  world.stream.drained();
  world.stream.requestProgress();
  await settled();
  expect(world.sink.take()).toEqual(['0 2:a header 2']);
  world.stream.requestProgress();
  expect(world.sink.take()).toEqual(['all progress 2']);
});

test('edge 80: a thousand watchers come and go, and the gauges are where they were', () => {
  const world = new World({ auto: false, history: ['a'] });
  for (let at = 0; at < 1000; at += 1) world.watch(`k${at % 10}*`, at % 2 === 0 ? {} : from(2));
  expect(world.hub.stats).toMatchObject({ watchers: 1000, slowWatchers: 500 });
  for (let at = 0; at < 1000; at += 1) expect(world.stream.cancel(at)).toBe(true);
  expect(world.hub.stats).toEqual({ streams: 1, watchers: 0, slowWatchers: 0, pendingEvents: 0, pendingBytes: 0 });
  const outcome = world.stream.create(request('a'));
  if (outcome.kind === 'created') world.stream.cancel(outcome.watcher.watchId);
  expect(world.hub.stats.watchers).toBe(0);
});

test('edge 82: the first event of a watcher from now is one above its created revision, whatever comes in between', async () => {
  const world = new World();
  world.put('a');
  const outcome = world.stream.create(request('a'));
  if (outcome.kind !== 'created') throw new Error('refused');
  expect(outcome.revision).toBe(2);
  world.put('a'); // before its owner has started it
  world.stream.start(outcome.watcher);
  world.put('a');
  await settled();
  world.put('a');
  expect(world.sink.take()).toEqual(['0 3:a 4:a header 4', '0 5:a header 5']);
});

test('edge 83: nothing of a watcher precedes its start, and nothing follows a cancel before it', async () => {
  const world = new World({ history: ['a'] });
  const outcome = world.stream.create(request('a', { ...from(1), progressNotify: true }));
  if (outcome.kind !== 'created') throw new Error('refused');
  world.put('a');
  world.compact(3);
  world.clock.advance(5000);
  world.stream.requestProgress();
  await settled();
  expect(world.sink.take()).toEqual([]);
  world.stream.cancel(outcome.watcher.watchId);
  world.stream.start(outcome.watcher);
  expect(world.sink.take()).toEqual([]);
});

test('watchers that match the same events get the same object', () => {
  const world = new World();
  const sinks = ['*', '*', 'a..c', 'a..bz', 'b*', 'b'].map((pattern) => {
    const sink = new FakeSink();
    world.watch(pattern, {}, world.hub.openStream(sink));
    return sink;
  });
  const batch = world.store.commit(['a', 'b', 'c'], () => false);
  world.hub.publish(batch);
  const got = sinks.map((sink) => sink.groups[0]);
  expect(got[0]).toBe(batch.groups[0]); // it matches all events, so it gets the group as published
  expect(got[1]).toBe(batch.groups[0]);
  expect(got[2]).toBe(got[3]);
  expect(got[4]).toBe(got[5]);
  expect(got[2]).not.toBe(got[4]);
});

test('a closed hub has no streams, not even new ones, and what is published reaches nobody', () => {
  const world = new World();
  world.watch('a');
  world.hub.close();
  const late = world.hub.openStream(world.sink);
  expect(() => world.watch('a', {}, late)).toThrow('etcdserver: server stopped');
  world.put('a');
  for (const stream of [world.stream, late]) {
    stream.drained();
    stream.requestProgress();
    stream.close();
    expect(stream.cancel(0)).toBe(false);
  }
  expect(world.sink.take()).toEqual([]);
  expect(world.hub.stats).toEqual({ streams: 0, watchers: 0, slowWatchers: 0, pendingEvents: 0, pendingBytes: 0 });
});

test.each([
  { what: 'a gap', act: (world: World) => world.hub.publish({ groups: [], revision: revision(5) }) },
  {
    what: 'a revision twice',
    act: (world: World) => {
      const batch = world.store.commit(['a'], () => false);
      world.hub.publish(batch);
      world.hub.publish(batch);
    },
  },
  {
    what: 'a revision without events',
    act: (world: World) =>
      world.hub.publish({ groups: [{ revision: revision(2), events: [] }], revision: revision(2) }),
  },
  {
    what: 'a sink that calls back',
    act: (world: World) => {
      world.watch('a');
      world.sink.events = () => world.stream.cancel(0);
      world.put('a');
    },
  },
])('$what is a broken invariant', ({ act }) => {
  const world = new World();
  expect(() => act(world)).toThrow(AssertionError);
});

test('a batch without events moves nothing', () => {
  const world = new World();
  world.watch('*');
  world.hub.publish({ groups: [], revision: revision(1) });
  expect([world.hub.revision, world.sink.take()]).toEqual([1, []]);
});
