import { sorting, StepPace } from '@engram/loop';
import { Prng } from '@engram/sim';
import { expect, test } from 'vitest';

const SEED = Number(process.env['SEED'] ?? 20_261_124);

interface Item {
  readonly value: number;
  readonly came: number;
}

const byValue = (left: Item, right: Item): number => left.value - right.value;

function sorted(items: readonly Item[], pace: StepPace, compare = byValue, runItems = 256) {
  const work = sorting(items, compare, pace, runItems);
  for (let slices = 1; ; slices += 1) {
    const step = work.next();
    if (step.done === true) return { result: step.value, slices };
    expect(pace.shouldYield(0)).toBe(true);
    pace.begin();
  }
}

test.each([0, 1, 2, 255, 256, 257, 511, 512, 513, 1000, 4097, 20_000])(
  '%i items come out as toSorted has them, equal ones in their order',
  (count) => {
    const prng = new Prng(SEED + count);
    for (const different of [1, 5, count + 1]) {
      const items = Array.from({ length: count }, (_, came) => ({ value: prng.below(different), came }));
      for (const runItems of [1, 8, 256]) {
        const { result } = sorted(items, new StepPace(50), byValue, runItems);
        expect(result, `SEED=${SEED}`).toEqual(items.toSorted(byValue));
      }
    }
  },
);

test('a long sort gives way as often as its comparisons ask for', () => {
  const prng = new Prng(SEED);
  const items = Array.from({ length: 50_000 }, (_, came) => ({ value: prng.uint32(), came }));
  // A step for each item in its run, and in each of eight rounds of merging.
  const { slices } = sorted(items, new StepPace(5000));
  expect(slices).toBeGreaterThan(75);
  expect(slices).toBeLessThan(100);
});

test('what a comparison counts itself ends the slice as well', () => {
  const prng = new Prng(SEED);
  const pace = new StepPace(1000);
  const items = Array.from({ length: 100 }, (_, came) => ({ value: prng.uint32(), came }));
  let sinceTurn = 0;
  let most = 0;
  const work = sorting(
    items,
    (left, right) => {
      sinceTurn += 1;
      most = Math.max(most, sinceTurn);
      pace.shouldYield(250);
      return byValue(left, right);
    },
    pace,
    4,
  );
  for (let step = work.next(); step.done !== true; step = work.next()) {
    sinceTurn = 0;
    pace.begin();
  }
  expect(most, 'four comparisons fill a slice; a run of four items has six at most').toBeLessThanOrEqual(4 + 6);
});
