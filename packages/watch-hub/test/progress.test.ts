import { revision, type Revision } from '@engram/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FakeSink, request, settled, turn } from './fakes.ts';
import { from, World } from './world.ts';

/** Watchers of a key that never changes. `looks` counts how often the hub read the start revision of one of them. */
function manyWatchers(world: World, count: number, startRevision: Revision): { looks: number } {
  const seen = { looks: 0 };
  const plain = request('quiet');
  for (let at = 0; at < count; at += 1) {
    const outcome = world.stream.create({
      ...plain,
      get startRevision(): Revision {
        seen.looks += 1;
        return startRevision;
      },
    });
    if (outcome.kind === 'created') world.stream.start(outcome.watcher);
  }
  seen.looks = 0;
  return seen;
}

test('requests cost nothing for each watcher, and those of one turn are answered at once and at its end', async () => {
  const world = new World();
  const seen = manyWatchers(world, 100_000, revision(0));
  for (let at = 0; at < 9_200; at += 1) world.stream.requestProgress();
  expect(world.sink.take()).toEqual(['all progress 1']);
  await world.clock.pass(0);
  expect(world.sink.take()).toEqual(['all progress 1']);
  expect(seen.looks).toBe(0);
});

test('a request behind a write of the same turn is answered with the revision of that write', async () => {
  const world = new World();
  world.watch('a');
  world.stream.requestProgress();
  world.put('b');
  world.stream.requestProgress();
  await world.clock.pass(0);
  expect(world.sink.take()).toEqual(['all progress 1', 'all progress 2']);
});

test('an answer at the end of the turn waits for who fell behind meanwhile', async () => {
  const world = new World({ auto: false });
  world.watch('a');
  world.stream.requestProgress();
  world.stream.requestProgress();
  world.sink.take();
  world.sink.room = 0;
  world.put('a');
  world.sink.room = 9;
  world.stream.drained();
  await world.clock.pass(0);
  expect(world.sink.take()).toEqual(['0 refused']);
  world.store.reads[0]!.settle();
  await world.clock.pass(0);
  world.stream.requestProgress();
  expect(world.sink.take()).toEqual(['0 2:a header 2', 'all progress 2']);
});

test('many that were waiting for their start are looked at in several slices, each once', async () => {
  const world = new World({ steps: 10_000 });
  const seen = manyWatchers(world, 35_000, revision(2));
  world.stream.requestProgress();
  expect(seen.looks).toBe(1);
  world.put('b');
  for (let turns = 0; world.sink.lines.length === 0 && turns < 10; turns += 1) {
    const before = seen.looks;
    if (turns === 0) world.stream.requestProgress();
    else turn(world.clock);
    expect(seen.looks - before).toBeLessThanOrEqual(10_000);
  }
  expect(world.sink.take()).toEqual(['all progress 2']);
  expect(seen.looks).toBe(35_001);
});

test('edge 73: a request whose last watcher is gone by the end of the turn has no answer', async () => {
  const world = new World();
  world.watch('a');
  world.stream.requestProgress();
  world.stream.requestProgress();
  world.stream.cancel(0);
  await world.clock.pass(0);
  expect(world.sink.take()).toEqual(['all progress 1']);
});

test('a stream that was closed with a request open says nothing', async () => {
  const world = new World();
  world.watch('a');
  world.stream.requestProgress();
  world.stream.requestProgress();
  world.stream.close();
  await world.clock.pass(0);
  expect(world.sink.take()).toEqual(['all progress 1']);
});

test.each(['closed', 'without its last watcher'] as const)(
  'a round that comes to a stream that is %s by then sets no timer',
  async (ending) => {
    const world = new World({ hub: { random: { uint32: () => 0 } } });
    const { scheduler } = world.clock;
    const other = world.hub.openStream(new FakeSink());
    world.watch('a', { progressNotify: true });
    world.watch('a', { progressNotify: true }, other);
    // Both timers fire in one turn, so the second round waits for a slice. The last event lets the next walk begin at once.
    while (world.clock.nowMs() < 1000) scheduler.step();
    scheduler.step();
    scheduler.step();
    if (ending === 'closed') other.close();
    else other.cancel(0);
    world.stream.close();
    while (turn(world.clock)) await settled();
    expect(scheduler.nextMs).toBeUndefined();
  },
);

type Step =
  | { readonly kind: 'watch'; readonly start: number }
  | { readonly kind: 'cancel'; readonly at: number }
  | { readonly kind: 'put' | 'refuse' | 'drain' | 'turn' };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('watch' as const), start: fc.integer({ min: -3, max: 4 }) }),
  fc.record({ kind: fc.constant('cancel' as const), at: fc.nat(20) }),
  fc.record({ kind: fc.constantFrom('put' as const, 'refuse' as const, 'drain' as const, 'turn' as const) }),
);

test('what is counted is what a walk over all watchers would find', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const world = new World();
      const starts = new Map<number, number>();
      for (const step of steps) {
        if (step.kind === 'watch') {
          const start = Math.max(1, world.store.revision + step.start);
          starts.set(Number(world.watch('a', from(start))), start);
        } else if (step.kind === 'cancel') {
          const id = [...starts.keys()].at(step.at);
          if (id !== undefined && starts.delete(id)) world.stream.cancel(id);
        } else if (step.kind === 'put') world.put('a');
        else if (step.kind === 'refuse') world.sink.room = 0;
        else if (step.kind === 'turn') turn(world.clock);
        else {
          world.sink.room = Number.POSITIVE_INFINITY;
          world.stream.drained();
        }
        if (step.kind === 'turn') continue;
        await world.clock.pass(0);
        world.sink.take();
        const behind = world.hub.stats.slowWatchers > 0;
        const synced = starts.size > 0 && !behind && [...starts.values()].every((at) => at <= world.store.revision);
        world.stream.requestProgress();
        await world.clock.pass(0);
        expect(world.sink.take()).toEqual(synced ? [`all progress ${world.store.revision}`] : []);
      }
    }),
  );
});
