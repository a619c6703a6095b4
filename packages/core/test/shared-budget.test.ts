import { AssertionError, SharedBudget } from '@engram/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';

/** Takes one at a time until the share may not grow. */
function fill(share: { readonly mayGrow: boolean; readonly held: number; hold(amount: number): void }): number {
  while (share.mayGrow) share.hold(share.held + 1);
  return share.held;
}

test.each([
  { greed: 1, alone: 500 },
  { greed: 4, alone: 800 },
])('greed $greed: a lone holder gets $alone of 1000', ({ greed, alone }) => {
  expect(fill(new SharedBudget({ max: 1000, greed, floor: 0 }).share())).toBe(alone);
});

test('greedy holders meet the bound, who comes next does not', () => {
  const budget = new SharedBudget({ max: 1200, greed: 1, floor: 0 });
  const [first, second] = [budget.share(), budget.share()];
  expect(fill(first)).toBe(600);
  expect(fill(second)).toBe(300);
  expect(first.mayGrow).toBe(false);
  const modest = budget.share();
  modest.hold(100);
  expect(modest.mayGrow).toBe(true);
  // The first holder must shrink to the bound that holds with the others.
  first.hold(350);
  expect(first.mayGrow).toBe(true);
});

test('the floor is everybody\u2019s, also where nothing is left', () => {
  const budget = new SharedBudget({ max: 100, greed: 1, floor: 10 });
  budget.share().hold(200);
  expect(fill(budget.share())).toBe(10);
});

test('what is given back is free, and an ended share holds nothing any more', () => {
  const budget = new SharedBudget({ max: 100, greed: 1, floor: 0 });
  const share = budget.share();
  share.hold(60);
  share.end();
  share.hold(70);
  expect([budget.used, share.held]).toEqual([0, 0]);
  expect(() => budget.move(-1)).toThrow(AssertionError);
});

test('steps of at most s overshoot the bound by no more than one step each', () => {
  const step = fc.record({ who: fc.nat(5), amount: fc.nat(20), back: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const budget = new SharedBudget({ max: 100, greed: 1, floor: 5 });
      const shares = Array.from({ length: 6 }, () => budget.share());
      for (const { who, amount, back } of steps) {
        const share = shares[who]!;
        if (back) share.hold(Math.max(0, share.held - amount));
        else if (share.mayGrow) share.hold(share.held + amount);
        expect(budget.used).toBe(shares.reduce((sum, { held }) => sum + held, 0));
        expect(budget.used).toBeLessThanOrEqual(100 + 6 * 25);
      }
    }),
  );
});
