import { Prng } from '@engram/sim';
import { expect, test } from 'vitest';
import { MeasuredPace, SeededPace, StepPace } from '../src/pace.ts';
import { SLICE_MS } from '../src/turn-parts.ts';

function measured(): { readonly pace: MeasuredPace; readonly time: { nowMs: number; looks: number } } {
  const time = { nowMs: 5, looks: 0 };
  const nowMs = (): number => {
    time.looks += 1;
    return time.nowMs;
  };
  const pace = new MeasuredPace({ nowMs });
  pace.begin();
  return { pace, time };
}

test('short work never reads the clock', () => {
  const { pace, time } = measured();
  for (let step = 0; step < 31; step += 1) expect(pace.shouldYield(1)).toBe(false);
  pace.begin();
  for (let step = 0; step < 31; step += 1) expect(pace.shouldYield(1)).toBe(false);
  expect(time.looks).toBe(0);
});

test.each([
  { stepMs: 0.0001, overMs: 0.3, looksMax: 60, why: 'short steps: seldom' },
  { stepMs: 0.004, overMs: 0.4, looksMax: 70, why: 'long steps: more often' },
  { stepMs: 0.5, overMs: 32.5, looksMax: 20, why: 'steps that are none: the first look comes late, others at once' },
])('a slice ends near its time, with few readings of the clock ($why)', ({ stepMs, overMs, looksMax }) => {
  const { pace, time } = measured();
  const startMs = time.nowMs;
  do time.nowMs += stepMs;
  while (!pace.shouldYield(1));
  expect(time.nowMs - startMs).toBeGreaterThanOrEqual(SLICE_MS);
  expect(time.nowMs - startMs).toBeLessThanOrEqual(SLICE_MS + overMs);
  expect(time.looks).toBeLessThanOrEqual(looksMax);
  expect(pace.shouldYield(0), 'a slice that is over stays so').toBe(true);
  pace.begin();
  expect(pace.shouldYield(0)).toBe(false);
});

test('a slice whose beginning is known ends after its time, even if one step takes all of it', () => {
  const { pace, time } = measured();
  pace.begin(time.nowMs);
  time.nowMs += SLICE_MS;
  expect(pace.shouldYield(32)).toBe(true);
  pace.begin(time.nowMs);
  time.nowMs += SLICE_MS / 2;
  expect(pace.shouldYield(32)).toBe(false);
});

test('a slice of steps ends at its last step, one of none at the first question', () => {
  const pace = new StepPace(3);
  expect([pace.shouldYield(1), pace.shouldYield(1), pace.shouldYield(1), pace.shouldYield(0)]).toEqual([
    false,
    false,
    true,
    true,
  ]);
  pace.begin();
  expect(pace.shouldYield(2)).toBe(false);
  expect(new StepPace(0).shouldYield(0)).toBe(true);
});

test('slices from a seed are of all lengths, and the same again from the same seed', () => {
  const lengths = (seed: number): readonly number[] => {
    const pace = new SeededPace(new Prng(seed));
    return Array.from({ length: 1000 }, () => {
      pace.begin();
      let steps = 0;
      while (!pace.shouldYield(1) && steps < 1000) steps += 1;
      return steps;
    });
  };
  const drawn = lengths(1);
  expect(lengths(1)).toEqual(drawn);
  expect(lengths(2)).not.toEqual(drawn);
  for (const [least, most] of [
    [0, 0],
    [1, 8],
    [100, 256],
    [1000, 1000],
  ] as const) {
    expect(
      drawn.some((steps) => steps >= least && steps <= most),
      `${least} to ${most}`,
    ).toBe(true);
  }
});
