import fc from 'fast-check';
import { expect, test } from 'vitest';
import { WallMarks } from '../src/wall-marks.ts';

const time = fc.oneof(
  fc.integer({ min: 0, max: 2 ** 42 }),
  fc.double(),
  fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -5, 2 ** 60),
);
const step = fc.oneof(
  fc.record({ kind: fc.constant('next' as const), time }),
  fc.record({ kind: fc.constant('saw' as const), time: fc.integer({ min: 0, max: 2 ** 42 }) }),
);

test('marks never go back, whatever the clock shows, and are the time where that goes on', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      let now = 0;
      const marks = new WallMarks(() => now);
      let due = 0;
      for (const { kind, time: at } of steps) {
        now = at;
        const whole = Math.floor(at);
        if (Number.isSafeInteger(whole) && whole > due) due = whole;
        if (kind === 'saw') marks.saw(at);
        else expect(marks.next()).toBe(due);
        expect(marks.newest).toBe(due);
      }
    }),
  );
});

test('a clock that goes back repeats the mark before until it has passed it', () => {
  const times = [1000.7, 400, 999, 1000.2, 1001.9];
  const marks = new WallMarks(() => times.shift()!);
  expect([1, 2, 3, 4, 5].map(() => marks.next())).toEqual([1000, 1000, 1000, 1000, 1001]);
});
