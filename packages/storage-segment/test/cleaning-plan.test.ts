import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Candidate, planCleaning } from '../src/cleaner/cleaning-plan.ts';

const SEGMENT = 1000;

/** As `[live, dead]`, and false if it is not cleanable. */
function candidates(...list: readonly (readonly [live: number, dead: number, cleanable?: boolean])[]): Candidate[] {
  return list.map(([liveBytes, deadBytes, cleanable = true], index) => ({
    cleanable,
    first: 1 + index * 100,
    next: 1 + (index + 1) * 100,
    bytes: liveBytes + deadBytes,
    liveRecords: 10,
    liveBytes,
    deadBytes,
  }));
}

describe('the plan', () => {
  test.each([
    { of: [], run: undefined, why: 'nothing' },
    { of: [[900, 100]], run: undefined, why: 'little garbage' },
    { of: [[500, 500]], run: undefined, why: 'half is not most' },
    { of: [[499, 501]], run: [0, 1], why: 'mostly garbage' },
    { of: [[499, 501, false]], run: undefined, why: 'a replay needs it' },
    {
      of: [
        [400, 600],
        [300, 700],
        [200, 800],
      ],
      run: [0, 3],
      why: 'neighbours become one',
    },
    {
      of: [
        [400, 600],
        [400, 600],
        [400, 600],
      ],
      run: [0, 2],
      why: 'but not more than one segment holds',
    },
    {
      of: [
        [400, 600],
        [900, 100],
        [100, 900],
      ],
      run: [2, 3],
      why: 'what frees most for what it costs comes first',
    },
    {
      of: [
        [90, 10],
        [300, 700],
        [100, 0],
      ],
      run: [0, 3],
      why: 'small neighbours go along',
    },
    {
      of: [
        [100, 0],
        [90, 0],
        [80, 0],
      ],
      run: undefined,
      why: 'a few small ones are left alone',
    },
    {
      of: Array.from({ length: 9 }, () => [90, 0] as const),
      run: [0, 9],
      why: 'many small ones become one',
    },
    {
      of: [
        [400, 600],
        [1, 999, false],
        [300, 700],
      ],
      run: [2, 3],
      why: 'only what stands side by side',
    },
  ] as const)('$of: $run, $why', ({ of, run }) => {
    const plan = planCleaning(candidates(...of), SEGMENT, 'most');
    expect(plan).toEqual(run === undefined ? undefined : { from: run[0], to: run[1] });
  });

  test('takes what is left of any garbage, when it is told to', () => {
    expect(planCleaning(candidates([900, 100]), SEGMENT, 'any')).toEqual({ from: 0, to: 1 });
    expect(planCleaning(candidates([990, 10]), SEGMENT, 'any')).toBeUndefined();
  });

  test('spans no more positions than a table of offsets can tell apart', () => {
    const [left, right] = candidates([100, 900], [100, 900]);
    const far = { ...right!, first: 2 ** 32, next: 2 ** 32 + 100 };
    expect(planCleaning([left!, far], SEGMENT, 'most')).toEqual({ from: 0, to: 1 });
  });

  test('leaves a segment alone that would not fit into one', () => {
    const huge = { ...candidates([2 ** 29, 2 ** 30])[0]!, liveRecords: 2 ** 27 };
    expect(planCleaning([huge], SEGMENT, 'most')).toBeUndefined();
  });

  test('comes to an end, and leaves at most as much garbage as there is live', () => {
    const sizes = fc.tuple(fc.nat({ max: 1000 }), fc.nat({ max: 1000 }), fc.boolean());
    fc.assert(
      fc.property(
        fc.array(sizes, { maxLength: 30 }),
        fc.constantFrom('most' as const, 'any' as const),
        (list, worth) => {
          let now = candidates(...list.map(([live, dead, cleanable]) => [live + 1, dead, cleanable] as const));
          for (let rounds = 0; ; rounds += 1) {
            expect(rounds).toBeLessThan(2 * list.length + 2);
            const plan = planCleaning(now, SEGMENT, worth);
            if (plan === undefined) break;
            const run = now.slice(plan.from, plan.to);
            const liveBytes = run.reduce((sum, candidate) => sum + candidate.liveBytes, 0);
            expect(run.every(({ cleanable }) => cleanable)).toBe(true);
            expect(run.length === 1 || liveBytes <= SEGMENT).toBe(true);
            const merged = { ...run[0]!, next: run.at(-1)!.next, bytes: liveBytes, liveBytes, deadBytes: 0 };
            now = [...now.slice(0, plan.from), merged, ...now.slice(plan.to)];
          }
          for (const { cleanable, liveBytes, deadBytes } of now) {
            if (cleanable) expect(deadBytes).toBeLessThanOrEqual(liveBytes);
          }
        },
      ),
    );
  });
});
