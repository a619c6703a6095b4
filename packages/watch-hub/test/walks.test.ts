import { type Job, Loop, StepPace, type Task } from '@engram/loop';
import { Scheduler, SimClock } from '@engram/sim';
import { expect, test } from 'vitest';
import { Walks, walking } from '../src/walks.ts';
import { settled, turn } from './fakes.ts';

const TASK: Task = { work: 'catch-up', caller: 'a client', stage: 'watch' };

function world(steps: number): { readonly clock: SimClock; readonly loop: Loop; readonly walks: Walks } {
  const clock = new SimClock({ scheduler: new Scheduler() });
  const loop = new Loop({ clock, pace: new StepPace(steps) });
  return { clock, loop, walks: new Walks(loop, clock) };
}

test('who leaves before the walk comes is not met, and the walk ends however fast others come', async () => {
  const { clock, loop, walks } = world(2);
  const items = new Set([1, 2, 3, 4, 5]);
  const met: number[] = [];
  const visit = (item: number): boolean => {
    met.push(item);
    items.add(item + 100);
    items.delete(4);
    return true;
  };
  walks.begin(TASK, walking(items, visit, loop));
  expect(met).toEqual([1, 2]);
  await clock.pass(0);
  expect(met.slice(0, 4)).toEqual([1, 2, 3, 5]);
  expect(met.length).toBeLessThanOrEqual(5);
});

test('a walk whose visitor wants no more meets nobody more', async () => {
  const { clock, loop, walks } = world(9);
  const met: number[] = [];
  walks.begin(
    TASK,
    walking(new Set([1, 2, 3]), (item) => met.push(item) < 2, loop),
  );
  await clock.pass(0);
  expect(met).toEqual([1, 2]);
});

test('the first walk of a turn begins at once, and however many follow, each waits for a slice', async () => {
  const { clock, loop, walks } = world(3);
  const met: string[] = [];
  const visiting = (name: string): Job<void> =>
    walking(new Set([1, 2]), (item) => met.push(`${name}${item}`) > 0, loop);
  for (const name of ['a', 'b', 'c']) walks.begin(TASK, visiting(name));
  expect(met).toEqual(['a1', 'a2']);
  await clock.pass(0);
  expect(met).toEqual(['a1', 'a2', 'b1', 'b2', 'c1', 'c2']);
  walks.begin(TASK, visiting('d'));
  expect(met.slice(6), 'another turn').toEqual(['d1', 'd2']);
});

test('walks of two clients take turns', async () => {
  const { clock, loop, walks } = world(1);
  const met: string[] = [];
  for (const caller of ['a', 'b']) {
    const visit = (item: number): boolean => met.push(`${caller}${item}`) > 0;
    walks.begin({ ...TASK, caller }, walking(new Set([1, 2, 3]), visit, loop));
  }
  while (turn(clock)) await settled();
  expect(met).toEqual(['a1', 'a2', 'b1', 'a3', 'b2', 'b3']);
});
