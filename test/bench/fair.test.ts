import { expect, test } from 'vitest';
import { unequal } from '../../bench/fair/greedy-client.ts';

const had = (bytes: number, seconds: number) => ({ lists: 1, bytes, failures: 0, seconds, cores: 0.5 });

test('shares are compared by bytes a second, the larger with the smaller', () => {
  expect(unequal(had(100, 1), had(200, 2))).toBe(0);
  expect(unequal(had(110, 1), had(100, 1))).toBeCloseTo(0.1);
  expect(unequal(had(100, 1), had(110, 1))).toBeCloseTo(0.1);
});
