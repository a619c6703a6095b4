import { Scheduler, SimClock } from '@engram/sim';
import { expect, test } from 'vitest';
import { VISIT_US } from '../src/slice-limits.ts';
import { Sliced } from '../src/sliced.ts';
import { Walk } from '../src/walk.ts';

function world(visits: number): { readonly clock: SimClock; readonly sliced: Sliced } {
  const clock = new SimClock({ scheduler: new Scheduler() });
  return { clock, sliced: new Sliced(clock, visits * VISIT_US) };
}

test('who leaves before the walk comes is not met, and the walk ends however fast others come', async () => {
  const { clock, sliced } = world(2);
  const items = new Set([1, 2, 3, 4, 5]);
  const met: number[] = [];
  let ended = 0;
  new Walk(items, sliced).run(
    (item) => {
      met.push(item);
      items.add(item + 100);
      items.delete(4);
    },
    () => {
      ended += 1;
    },
  );
  expect(met).toEqual([1, 2]);
  await clock.pass(0);
  expect(met.slice(0, 4)).toEqual([1, 2, 3, 5]);
  expect(met.length).toBeLessThanOrEqual(5);
  expect(ended).toBe(1);
});

test('a walk that is stopped meets nobody more', async () => {
  const { clock, sliced } = world(2);
  const met: number[] = [];
  const walk = new Walk(new Set([1, 2, 3]), sliced);
  walk.run((item) => met.push(item));
  walk.stop();
  await clock.pass(0);
  expect(met).toEqual([1, 2]);
});

test('walks share their slices', async () => {
  const { clock, sliced } = world(3);
  const met: string[] = [];
  for (const name of ['a', 'b', 'c']) new Walk(new Set([1, 2]), sliced).run((item) => met.push(`${name}${item}`));
  expect(met).toEqual(['a1', 'a2', 'b1']);
  clock.scheduler.step();
  for (let microtasks = 0; microtasks < 20; microtasks += 1) await Promise.resolve();
  expect(met).toEqual(['a1', 'a2', 'b1', 'b2', 'c1', 'c2']);
});
