import { expect, test } from 'vitest';
import { isInt64 } from '@engram/core';

test.each([
  { value: 0, is: true },
  { value: -(2 ** 53) + 1, is: true },
  { value: 2 ** 53, is: false },
  { value: 0.5, is: false },
  { value: Number.NaN, is: false },
  { value: 2n ** 53n - 1n, is: false },
  { value: 2n ** 53n, is: true },
  { value: -(2n ** 63n), is: true },
  { value: 2n ** 63n, is: false },
])('$value as an Int64: $is', ({ value, is }) => {
  expect(isInt64(value)).toBe(is);
});
