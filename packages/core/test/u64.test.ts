import { drawId, joinU64, splitU64 } from '@engram/core';
import { expect, test } from 'vitest';

const drawing = (...numbers: readonly number[]): bigint => {
  const left = numbers.values();
  return drawId({ uint32: () => left.next().value ?? 0 });
};

test('an id has both numbers that are drawn, and is never 0', () => {
  expect(drawing(0x1234, 0xffff_ffff)).toBe(0x1234_ffff_ffffn);
  expect(drawing(0xffff_ffff, 0)).toBe(0xffff_ffff_0000_0000n);
  expect(drawing(0, 0)).toBe(1n);
});

test('halves that were split are joined to the same number', () => {
  for (const value of [0n, 1n, 2n ** 32n - 1n, 2n ** 32n, 2n ** 63n, 2n ** 64n - 1n]) {
    expect(joinU64(...splitU64(value))).toBe(value);
  }
});
