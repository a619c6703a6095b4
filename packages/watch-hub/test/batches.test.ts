import type { EventGroup } from '@engram/core';
import { expect, test } from 'vitest';
import { FakeSink, settled } from './fakes.ts';
import { from, World } from './world.ts';

test('what a batch has for a watcher comes at once, with the revision that the store has then', () => {
  const world = new World();
  world.watch('a');
  world.watch('a..c');
  world.watch('*', { noPut: true });
  world.watch('c', from(4));
  world.batch(['a'], ['b', 'c', 'a'], ['-b'], ['c'], ['d']);
  expect([...world.sink.take()].sort()).toEqual([
    '0 2:a 3:a header 6',
    '1 2:a 3:b+a 4:-b header 6',
    '2 4:-b header 6',
    '3 5:c header 6',
  ]);
  world.batch(['d'], ['e']);
  expect(world.sink.take()).toEqual([]);
});

test('a start within a batch: nothing before it', () => {
  const world = new World();
  world.watch('a', from(3));
  world.batch(['a'], ['a'], ['a']);
  world.batch(['a'], ['a']);
  expect(world.sink.take()).toEqual(['0 3:a header 4', '0 4:a header 4', '0 5:a 6:a header 6']);
});

test('watchers that match the same of a batch get the same array', () => {
  const world = new World();
  const arrays: (readonly EventGroup[])[] = [];
  for (const prevKv of [false, true, false]) {
    const sink = new FakeSink();
    sink.events = (_watcher, groups) => arrays.push(groups) > 0;
    world.watch('a*', { prevKv }, world.hub.openStream(sink));
  }
  world.batch(['a'], ['b'], ['ab', 'b']);
  expect(arrays.length).toBe(3);
  expect(arrays[0]).toBe(arrays[1]);
  expect(arrays[0]).toBe(arrays[2]);
});

test('a superseded version that is missing within a batch: before it live, from it on out of history', async () => {
  const world = new World();
  world.put('b');
  const groups = [['a'], ['b'], ['a']].flatMap((changes) => world.store.commit(changes, () => false).groups);
  world.watch('*', { prevKv: true }); // after wantsPrevKv was asked and no watcher wanted it
  world.hub.publish({ groups, revision: world.store.revision });
  expect(world.sink.take()).toEqual(['0 3:a header 5']);
  await settled();
  expect(world.sink.take()).toEqual(['0 4:b(prev@2) 5:a(prev@3) header 5']);
});

test('a batch larger than a response comes in pieces; from the one refused on it comes again', async () => {
  const world = new World();
  world.watch('*');
  const big = 'k'.repeat(400_000);
  world.batch([big], [big], [big], [big], [big, big, big, big], ['small']);
  const pieces = [['2:', '3:'], ['4:', '5:'], ['6:'], ['7:']];
  const sent = (): unknown[] => world.sink.take().map((line) => line.match(/\d+:/g) ?? line);
  expect(sent()).toEqual(pieces);
  world.sink.room = 1;
  world.batch([big], [big], [big], [big]);
  expect(sent()).toEqual([['8:', '9:'], '0 refused']);
  world.sink.room = Number.POSITIVE_INFINITY;
  world.stream.drained();
  await settled();
  expect(sent()).toEqual([['10:', '11:']]);
});
