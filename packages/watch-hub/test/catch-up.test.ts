import type { EventGroup, Revision } from '@engram/core';
import { SLICE_MS } from '@engram/loop';
import type { Watcher } from '@engram/watch-hub';
import { expect, test } from 'vitest';
import { FakeSink, settled, text, turn } from './fakes.ts';
import { from, World } from './world.ts';

const past = (count: number): string[] => Array.from({ length: count }, () => 'a');

/** Records calls of `prepare`. The test resolves their promises. */
class PreparingSink extends FakeSink {
  ready: (() => void)[] = [];
  readonly #prepared = new Set<readonly EventGroup[]>();

  prepare(watcher: Watcher, groups: readonly EventGroup[]): Promise<void> | undefined {
    if (this.#prepared.has(groups)) return undefined;
    this.lines.push(
      `${watcher.watchId} prepares ${groups.map(({ revision, events }) => `${revision}x${events.length}`)}`,
    );
    return new Promise((resolve) => {
      this.ready.push(() => {
        this.#prepared.add(groups);
        resolve();
      });
    });
  }

  override events(watcher: Watcher, groups: readonly EventGroup[], headerRevision: number): boolean {
    const large = groups.some(({ events }) => events.length >= 3);
    if (large && !this.#prepared.has(groups)) this.lines.push('not prepared');
    this.lines.push(`${watcher.watchId} ${groups.map(text).join(' ')} header ${headerRevision}`);
    return true;
  }
}

/** A revision of three events is a large one. */
const LARGE = { limits: { largeGroup: 3 } };

/** A time that passes only where the test says so. */
function stopwatch(): { readonly nowMs: () => number; readonly wait: (ms: number) => void } {
  let passedMs = 0;
  const wait = (ms: number): void => {
    passedMs += ms;
  };
  return { nowMs: () => passedMs, wait };
}

/** A sink that takes a while to encode what it is offered. */
class SlowSink extends FakeSink {
  readonly #encode: () => void;

  constructor(encode: () => void) {
    super();
    this.#encode = encode;
  }

  override events(watcher: Watcher, groups: readonly EventGroup[], headerRevision: Revision): boolean {
    this.#encode();
    return super.events(watcher, groups, headerRevision);
  }
}

test('pages that are at hand are taken a few in each turn', async () => {
  const { nowMs, wait } = stopwatch();
  const world = new World({ history: past(5_000), nowMs });
  const sinks = Array.from({ length: 20 }, () => new SlowSink(() => wait(SLICE_MS / 2)));
  for (const sink of sinks) world.watch('a', from(2), world.hub.openStream(sink));
  const offers = (): number => sinks.reduce((sum, sink) => sum + sink.take().length, 0);
  let all = 0;
  do {
    await settled();
    const now = offers();
    expect(now, 'a page takes half a slice').toBeLessThanOrEqual(3);
    all += now;
  } while (turn(world.clock));
  expect(all).toBe(100);
  for (const { groups } of sinks) expect(groups.length).toBe(5_000);
  expect(world.hub.stats.slowWatchers).toBe(0);
});

test('reads that find nothing are many in a turn', async () => {
  const { nowMs, wait } = stopwatch();
  const world = new World({ history: past(10), nowMs });
  const read = world.store.read.bind(world.store);
  world.store.read = (...asked) => {
    wait(0.005);
    return read(...asked);
  };
  for (let at = 0; at < 20_000; at += 1) world.watch('b', from(2));
  let turns = 0;
  for (await settled(); turn(world.clock); turns += 1) await settled();
  while (world.hub.stats.slowWatchers > 0) {
    for (let microtasks = 0; microtasks < 100; microtasks += 1) await settled();
    if (turn(world.clock)) turns += 1;
  }
  expect(turns).toBeGreaterThan(20_000 / 500);
  expect(turns).toBeLessThan(20_000 / 50);
});

test('a page that waits for its turn is taken, with what came meanwhile, or given up with its watcher', async () => {
  const { nowMs, wait } = stopwatch();
  const world = new World({ auto: false, history: past(3_000), hub: { historyReadsMax: 3 }, nowMs });
  const sinks = Array.from({ length: 3 }, () => new SlowSink(() => wait(SLICE_MS)));
  const streams = sinks.map((sink) => world.hub.openStream(sink));
  for (const stream of streams) world.watch('a', from(2_002), stream);
  await world.clock.pass(0);
  for (const read of [...world.store.reads]) read.settle();
  await settled();
  expect(sinks.map((sink) => sink.take().length)).toEqual([1, 0, 0]); // the other streams wait
  world.put('a');
  streams[2]!.cancel(0);
  await world.clock.pass(0);
  expect(sinks.map(({ groups }) => groups.map(({ revision }) => Number(revision)).slice(-2))).toEqual([
    [3_001, 3_002],
    [3_001, 3_002],
    [],
  ]);
  expect(world.hub.stats).toMatchObject({ slowWatchers: 0, pendingEvents: 0 });
});

test('a read that takes too long is given up: its stream breaks, and others go on', async () => {
  const world = new World({ auto: false, history: ['a'], hub: { historyReadsMax: 2, historyReadMsMax: 10_000 } });
  const sinks = [new FakeSink(), new FakeSink(), new FakeSink()];
  const streams = sinks.map((sink) => world.hub.openStream(sink));
  world.watch('a', from(2), streams[0]);
  await world.clock.pass(4_000);
  world.watch('a', from(2), streams[1]);
  world.watch('a', from(2), streams[2]);
  await world.clock.pass(5_999);
  const [first, second] = world.store.reads;
  expect(sinks.map((sink) => sink.take())).toEqual([[], [], []]);
  await world.clock.pass(1);
  expect(sinks.map((sink) => sink.take())).toEqual([['failed etcdserver: request timed out'], [], []]);
  expect([first!.signal.aborted, second!.signal.aborted]).toEqual([true, false]);
  expect(world.store.reads.length, 'it takes its place until it settles').toBe(2);
  first!.settle(new Error('aborted'));
  await world.clock.pass(0);
  expect(world.store.reads.length).toBe(2);
  await world.clock.pass(3_999);
  expect(sinks[1]!.take()).toEqual([]);
  await world.clock.pass(1);
  expect(sinks.map((sink) => sink.take())).toEqual([[], ['failed etcdserver: request timed out'], []]);
  second!.settle();
  world.store.reads[0]!.settle();
  await world.clock.pass(0);
  expect(sinks.map((sink) => sink.take())).toEqual([[], [], ['0 2:a header 2']]);
  expect(world.clock.waiting).toBe(0);
});

test('a cancelled watcher has nothing to do with its late read', async () => {
  const world = new World({ auto: false, history: ['a'], hub: { historyReadMsMax: 10_000 } });
  world.watch('a', from(2));
  world.stream.cancel(0);
  await world.clock.pass(20_000);
  expect(world.sink.take()).toEqual([]);
  world.watch('a');
  world.put('a');
  expect(world.sink.take()).toEqual(['1 3:a header 3']);
});

/** Each watcher reads for itself. */
const alone = { recentBytesMax: 0 };

test('a stream that falls behind again and again delays others by one read at a time', async () => {
  const world = new World({
    auto: false,
    history: past(20),
    hub: { historyReadsMax: 1, catchUpGroupsMax: 2, ...alone },
  });
  const sinks = Array.from({ length: 4 }, () => new FakeSink());
  const streams = sinks.map((sink) => world.hub.openStream(sink));
  for (const stream of streams) world.watch('a', from(2), stream);
  const readers: number[] = [];
  while (world.hub.stats.slowWatchers > 0) {
    sinks[0]!.room = readers.length % 8 === 0 ? 0 : 1; // it refuses every other of its pages, and has room again at once
    streams[0]!.drained();
    await world.clock.pass(0);
    world.store.reads[0]!.settle();
    await world.clock.pass(0);
    readers.push(sinks.findIndex((sink) => sink.take().length > 0));
  }
  expect(readers.slice(0, 32)).toEqual(Array.from({ length: 32 }, (_, at) => at % 4));
  expect(sinks.map(({ groups }) => groups.length)).toEqual([20, 20, 20, 20]);
});

test('a compaction ends who reads below it, and the read with him', async () => {
  const world = new World({ auto: false, history: past(9) });
  world.watch('a', from(2));
  world.watch('a', from(6));
  await world.clock.pass(0);
  const [below, above] = world.store.reads;
  world.compact(6);
  expect(world.sink.take()).toEqual(['0 compacted 6']);
  expect([below!.signal.aborted, above!.signal.aborted]).toEqual([true, false]);
});

test('a revision with very many events is made ready before it is offered, and what comes meanwhile follows', async () => {
  const world = new World({ history: ['a'], hub: LARGE });
  world.put('a', 'b', 'c', '-d');
  const sink = new PreparingSink();
  const stream = world.hub.openStream(sink);
  world.watch('*', { ...from(2), noDelete: true }, stream);
  await world.clock.pass(0);
  expect(sink.take()).toEqual(['0 prepares 2x1,3x3']);
  world.put('a');
  sink.ready[0]!();
  await world.clock.pass(0);
  expect(sink.take()).toEqual(['0 2:a 3:a+b+c header 4', '0 4:a header 4']);
  world.put('b');
  expect(sink.take()).toEqual(['0 5:b header 5']);
});

test('who goes while his offer is made ready is offered nothing', async () => {
  const world = new World({ history: ['a'], hub: LARGE });
  world.put('a', 'b', 'c');
  const sink = new PreparingSink();
  const stream = world.hub.openStream(sink);
  world.watch('*', from(2), stream);
  await world.clock.pass(0);
  stream.cancel(0);
  sink.take();
  sink.ready[0]!();
  await world.clock.pass(0);
  expect(sink.take()).toEqual([]);
  expect(world.hub.stats).toMatchObject({ watchers: 0, slowWatchers: 0, pendingEvents: 0 });
});

test('a large revision is made ready once for those who share it, then offered to all', async () => {
  const world = new World({ hub: LARGE });
  const sink = new PreparingSink();
  const stream = world.hub.openStream(sink);
  for (const pattern of ['*', '*', 'a..z', 'b']) world.watch(pattern, {}, stream);
  const publication = world.batch(['a', 'b', 'c']);
  expect(publication).toBeInstanceOf(Promise);
  await world.clock.pass(0);
  expect(sink.take().filter((line) => line.includes('prepares')).length).toBe(1);
  expect(world.hub.revision).toBe(1);
  sink.ready[0]!();
  await world.clock.run(publication!);
  const lines = sink.take();
  expect(lines.filter((line) => line.includes('2:a+b+c')).length).toBe(3);
  expect(lines.some((line) => line.includes('prepare'))).toBe(false);
  expect(world.hub.revision).toBe(2);
});

test('who is cancelled while the offer is made ready leaves the others theirs', async () => {
  const world = new World({ hub: LARGE });
  const sink = new PreparingSink();
  const stream = world.hub.openStream(sink);
  for (let at = 0; at < 4; at += 1) world.watch('*', {}, stream);
  const publication = world.batch(['a', 'b', 'c']);
  await world.clock.pass(0);
  const [asked] = sink.take()[0]!.split(' ');
  stream.cancel(Number(asked));
  sink.ready[0]!();
  await world.clock.run(publication!);
  const told = sink.take().map((line) => line.split(' ')[0]);
  expect(told.toSorted()).toEqual(['0', '1', '2', '3'].filter((id) => id !== asked));
});

test('a sink that is asked once is not asked again for the same watcher', async () => {
  const world = new World({ hub: LARGE });
  const sink = new PreparingSink();
  sink.prepare = (watcher) => {
    sink.lines.push(`${watcher.watchId} asked`);
    return Promise.resolve();
  };
  for (let at = 0; at < 2; at += 1) world.watch('*', {}, world.hub.openStream(sink));
  await world.clock.run(world.batch(['a', 'b', 'c'])!);
  expect(sink.take().filter((line) => line.endsWith('asked')).length).toBe(2);
});

test('nobody prepares for a stream without room', async () => {
  const world = new World({ hub: LARGE });
  const sink = new PreparingSink();
  const stream = world.hub.openStream(sink);
  world.watch('x', {}, stream);
  world.watch('a..d', {}, stream);
  const offer = sink.events.bind(sink);
  sink.events = () => false;
  world.put('x');
  sink.events = offer;
  await world.batch(['a', 'b', 'c']);
  expect(sink.take()).toEqual([]);
});
