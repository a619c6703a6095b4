import { AssertionError, revision } from '@engram/core';
import { expect, test } from 'vitest';
import { type Change, FakeSink, request, settled, turn } from './fakes.ts';
import { from, World } from './world.ts';

/** A revision of three events is a large one. */
const LIMITS = { largeGroup: 3, matchesMax: 8, cutEventsMax: 1_000, stride: 1 };
/** The first slice has time to match a put and to hand it to two watchers. */
const STEPS = 4;
const QUIET = 12;

class SlicedWorld extends World {
  /** The promise of the batch that is being published. */
  publication: Promise<void> | undefined;

  constructor(history: readonly Change[] = []) {
    super({ auto: true, history, hub: { limits: LIMITS }, steps: STEPS });
    this.store.readMax = () => this.hub.revision;
  }

  /** Begins to publish revisions with these changes. They must be too many to be published at once. */
  begin(...revisions: readonly (readonly Change[])[]): void {
    this.publication = this.batch(...revisions);
    expect(this.publication).toBeInstanceOf(Promise);
  }

  /** Runs turns until the publication ends. */
  async end(): Promise<void> {
    if (this.publication !== undefined) await this.clock.run(this.publication);
    await this.clock.pass(0);
  }
}

const keys = (count: number): string[] => Array.from({ length: count }, (_, at) => `k${String(at).padStart(6, '0')}`);

test('a large revision arrives whole, and the hub is at it when all have got it', async () => {
  const world = new SlicedWorld();
  const sinks = ['*', 'k*', 'k000001..k000004', 'k000002', 'x'].map((pattern) => {
    const sink = new FakeSink();
    world.watch(pattern, {}, world.hub.openStream(sink));
    return sink;
  });
  world.begin(keys(6).map((key) => `-${key}`));
  expect(world.hub.revision).toBe(1);
  await world.end();
  expect(world.hub.revision).toBe(2);
  const deleted = (from: number, to: number): string[] => [
    `0 2:${keys(6).slice(from, to).map((key) => `-${key}`).join('+')} header 2`, // biome-ignore format: one line
  ];
  expect(sinks.map((sink) => sink.take())).toEqual([deleted(0, 6), deleted(0, 6), deleted(1, 4), deleted(2, 3), []]);
  expect(sinks[0]!.groups[0]).toBe(sinks[1]!.groups[0]);
});

test('large and ordinary revisions of one batch come in their order, each once', async () => {
  const world = new SlicedWorld();
  for (let at = 0; at < 3; at += 1) world.watch('*');
  world.watch('a');
  world.begin(['a'], ['a', 'b', 'c'], ['a'], ['b'], ['d', 'a', 'b', 'c'], ['a', 'b'], ['a']);
  await world.end();
  const revisions = new Map<string, number[]>();
  for (const line of world.sink.take()) {
    const [id] = line.split(' ');
    const seen = (line.match(/\d+(?=:)/g) ?? []).map(Number);
    revisions.set(id!, [...(revisions.get(id!) ?? []), ...seen]);
  }
  const all = [2, 3, 4, 5, 6, 7, 8];
  expect(Object.fromEntries(revisions)).toEqual({ 0: all, 1: all, 2: all, 3: all.filter((at) => at !== 5) });
});

test('one event for very many watchers is handed to some in each turn', async () => {
  const world = new World({ steps: 1_000 });
  for (let at = 0; at < 10_000; at += 1) world.watch('a');
  const publication = world.batch(['a']);
  const handed = [world.sink.take().length];
  while (turn(world.clock)) {
    await settled();
    handed.push(world.sink.take().length);
  }
  await publication;
  expect(Math.max(...handed)).toBeLessThan(1_020);
  expect(Math.min(...handed.slice(0, 9))).toBeGreaterThan(980);
  expect(handed.reduce((sum, each) => sum + each, 0)).toBe(10_000);
  for (let at = 0; at < 9_100; at += 1) world.stream.cancel(at);
  expect(world.batch(['a'])).toBeUndefined();
});

test('very many ranges that match all of a revision do not take a note for each event', async () => {
  const world = new World({ steps: 1_000 });
  for (let at = 0; at < 3_000; at += 1) world.watch(`a..k${at}`);
  const publication = world.batch(keys(900).map((_, at) => `b${at}`));
  expect(publication).toBeInstanceOf(Promise);
  await world.clock.run(publication!);
  expect(world.sink.groups.length).toBe(3_000);
  expect(new Set(world.sink.groups).size, 'all match all').toBe(1);
});

test('very many ranges that contain one key are not all found in one go', async () => {
  const world = new World({ steps: 1_000 });
  for (let at = 0; at < 4_500; at += 1) world.watch(`a..k${at}`);
  const publication = world.batch(['b']);
  const first = world.sink.take().length;
  expect(first).toBeLessThan(1_000);
  await world.clock.run(publication!);
  expect(first + world.sink.take().length).toBe(4_500);
});

test('very many revisions that nobody watches give way too, and the next batch follows', async () => {
  const world = new World({ steps: 1_000 });
  world.watch('a');
  const publication = world.batch(...Array.from({ length: 3_000 }, () => ['b']));
  expect(publication).toBeInstanceOf(Promise);
  await world.clock.run(publication!);
  world.put('a');
  expect(world.sink.take()).toEqual(['0 3002:a header 3002']);
});

test('while a batch is published nothing else may be', async () => {
  const world = new SlicedWorld();
  for (let at = 0; at < 9; at += 1) world.watch('a');
  world.begin(['a']);
  expect(() => world.put('a')).toThrow(AssertionError);
  await world.end();
  world.store.revision = revision(2);
  world.store.groups.pop();
  await world.clock.run(world.batch(['a'])!);
  expect(world.hub.revision).toBe(3);
});

test('nor before all have been told that it is: the promise says when', async () => {
  const world = new SlicedWorld();
  for (let at = 0; at < 20; at += 1) world.watch('a', {}, world.hub.openStream(new FakeSink()));
  const streams = Array.from({ length: 9 }, () => world.hub.openStream(new FakeSink()));
  for (const stream of streams) world.watch('b', {}, stream);
  world.begin(['a']);
  for (const stream of streams) stream.requestProgress();
  while (world.hub.revision === 1) {
    turn(world.clock);
    await settled();
  }
  expect(() => world.put('a')).toThrow(AssertionError);
  await world.end();
});

test('who watches from now while a batch is published begins behind it: others may have told of it already', async () => {
  const world = new SlicedWorld();
  for (let at = 0; at < 5; at += 1) world.watch('a');
  world.begin(['a']);
  const late = new FakeSink();
  const stream = world.hub.openStream(late);
  const outcome = stream.create(request('a'));
  if (outcome.kind !== 'created') throw new Error('refused');
  expect(outcome.revision).toBe(2);
  stream.start(outcome.watcher);
  expect(world.hub.stats.slowWatchers).toBe(0);
  await world.end();
  expect(world.store.reads).toEqual([]);
  expect(late.take()).toEqual([]);
  await world.clock.run(world.batch(['a'])!);
  expect(late.take()).toEqual(['0 3:a header 3']);
});

test('a start behind the batch that is being published: nothing of it, and no history', async () => {
  const world = new SlicedWorld();
  for (let at = 0; at < 5; at += 1) world.watch('a');
  world.begin(['a'], ['a']);
  const sinks = [3, 4].map((start) => {
    const sink = new FakeSink();
    world.watch('a', from(start), world.hub.openStream(sink));
    return sink;
  });
  expect(world.hub.stats.slowWatchers).toBe(1);
  await world.end();
  await world.clock.run(world.batch(['a'])!);
  expect(sinks.map((sink) => sink.take())).toEqual([['0 3:a header 3', '0 4:a header 4'], ['0 4:a header 4']]);
});

test('who is cancelled meanwhile gets nothing more, and whoever takes his place gets it once', async () => {
  const world = new SlicedWorld();
  const ids = Array.from({ length: 12 }, () => Number(world.watch('a')));
  world.begin(['a']);
  const first = world.sink.take();
  const seen = new Set(first.map((line) => Number(line.split(' ')[0])));
  expect(seen.size).toBe(2);
  const [gone, ...others] = ids.filter((id) => !seen.has(id));
  world.stream.cancel(gone!);
  await world.end();
  const rest = world.sink.take().map((line) => Number(line.split(' ')[0]));
  expect(rest.toSorted((left, right) => left - right)).toEqual(others);
});

test('who catches up meanwhile has all of it, in order', async () => {
  const world = new SlicedWorld(['a', 'a', 'b']);
  for (let at = 0; at < 60; at += 1) world.watch('b');
  const late = new FakeSink();
  const stream = world.hub.openStream(late);
  world.begin(['b']);
  world.watch('*', from(2), stream); // its read goes up to the revision before the batch
  while (late.lines.length === 0) {
    turn(world.clock);
    await settled();
  }
  expect(world.hub.revision, 'the batch is still being published').toBe(4);
  expect(late.take()).toEqual(['0 2:a 3:a 4:b header 5']); // the store is at 5
  await world.end();
  expect(late.take()).toEqual(['0 5:b header 5']);
});

test('who refuses a part of it gets the rest from history, behind it', async () => {
  const world = new SlicedWorld();
  for (let at = 0; at < 5; at += 1) world.watch('x');
  world.watch('a');
  world.watch('*');
  world.sink.room = 1;
  world.begin(['x', 'a', 'b'], ['a']);
  await world.end();
  const before = world.sink.take();
  expect(before.filter((line) => !line.endsWith('refused')).length).toBe(1);
  world.sink.room = Number.POSITIVE_INFINITY;
  world.stream.drained();
  await world.clock.pass(0);
  const groups = new Map<string, string>();
  for (const line of [...before, ...world.sink.take()].filter((one) => !one.endsWith('refused'))) {
    const [, id, what] = /^(\d+) (.*) header/.exec(line)!;
    groups.set(id!, `${groups.get(id!) ?? ''}${what} `);
  }
  expect(groups.get('5')).toBe('2:a 3:a ');
  expect(groups.get('6')).toBe('2:x+a+b 3:a ');
  for (const id of ['0', '1', '2', '3', '4']) expect(groups.get(id)).toBe('2:x ');
});

test('progress that is asked for meanwhile comes behind the batch, with its revision', async () => {
  const world = new SlicedWorld();
  for (let at = 0; at < 5; at += 1) world.watch('a');
  world.begin(['a']);
  world.stream.requestProgress();
  world.stream.requestProgress();
  await world.end();
  const lines = world.sink.take();
  expect(lines.length).toBe(6);
  expect(lines.at(-1)).toBe('all progress 2');
});

/** One stream with twelve progress watchers of quiet keys and one of a busy key, and other streams on the busy key. */
function quietAndLoud(): { readonly world: SlicedWorld; readonly marks: () => readonly string[] } {
  const world = new SlicedWorld();
  const sink = new FakeSink();
  const stream = world.hub.openStream(sink);
  for (let at = 0; at < QUIET; at += 1) world.watch('quiet', { progressNotify: true }, stream);
  world.watch('a', {}, stream);
  for (let at = 0; at < 5; at += 1) world.watch('a');
  return { world, marks: () => sink.take().filter((line) => line.includes('progress')) };
}

test('periodic progress that is due meanwhile comes behind the batch, with its revision', async () => {
  const { world, marks } = quietAndLoud();
  const { promise, resolve } = Promise.withResolvers<void>();
  Object.assign(world.sink, { prepare: () => promise });
  world.watch('*'); // its offer is a large one
  world.begin(['a', 'x', 'y']);
  world.clock.advance(1_100);
  await settled();
  expect(marks()).toEqual([]);
  resolve();
  await world.end();
  expect(marks()).toEqual(Array.from({ length: QUIET }, (_, id) => `${id} progress 2`));
});

test('a round of periodic progress stands still while a batch is published', async () => {
  const { world, marks } = quietAndLoud();
  while (marks().length === 0) world.clock.scheduler.step();
  world.begin(['a']);
  turn(world.clock);
  expect(marks()).toEqual([]);
  await world.end();
  expect(marks()).toEqual(Array.from({ length: QUIET - STEPS }, (_, at) => `${STEPS + at} progress 2`));
});

test('once much was cut out of a revision for others, further parts of it are left to history', async () => {
  const world = new World({ auto: false, hub: { limits: { ...LIMITS, cutEventsMax: 5 } }, steps: STEPS });
  const sinks = ['k000000..k000003', 'k000000..k000004', '*', 'k000002..k000006', 'k000000..k000004'].map((pattern) => {
    const sink = new FakeSink();
    world.watch(pattern, {}, world.hub.openStream(sink));
    return sink;
  });
  const future = new FakeSink();
  world.watch('k000002..k000006', from(4), world.hub.openStream(future));
  const publication = world.batch(keys(6));
  await world.clock.run(publication!);
  expect(world.hub.stats.slowWatchers, 'the fourth only: the fifth shares what was cut').toBe(1);
  world.store.reads[0]!.settle();
  await world.clock.pass(0);
  expect(sinks.map((sink) => sink.groups.map((group) => group.events.length))).toEqual([[3], [4], [6], [4], [4]]);
  for (let at = 0; at < 2; at += 1) {
    expect(future.take()).toEqual([]);
    await world.clock.run(world.batch(keys(6))!);
  }
  while (world.store.reads.length > 0) {
    world.store.reads[0]!.settle();
    await world.clock.pass(0);
  }
  expect(future.groups.map((group) => group.revision)).toEqual([4]);
});

test('a hub that is closed meanwhile is done with the batch, and says nothing', async () => {
  const world = new SlicedWorld();
  for (let at = 0; at < 9; at += 1) world.watch('a');
  world.begin(['a']);
  world.sink.take();
  world.hub.close();
  await world.end();
  expect(world.sink.take()).toEqual([]);
  expect(world.hub.revision).toBe(2);
  expect(world.clock.waiting).toBe(0);
});
