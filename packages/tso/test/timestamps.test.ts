import fc from 'fast-check';
import { expect, test } from 'vitest';
import { composeTimestamp, MAX_TIMESTAMP, maxTimestamp, physicalMs, revisionAt, shiftTimestamp } from '../index.ts';

const ms = fc.integer({ min: 0, max: 2 ** 46 - 1 });
const logical = fc.integer({ min: 0, max: 2 ** 18 - 1 });

test('timestamps are ordered by their milliseconds, then by their counter', () => {
  fc.assert(
    fc.property(ms, logical, ms, logical, (leftMs, left, rightMs, right) => {
      const order = leftMs === rightMs ? left - right : leftMs - rightMs;
      const difference = composeTimestamp(leftMs, left) - composeTimestamp(rightMs, right);
      return Math.sign(order) === Math.sign(Number(difference));
    }),
  );
});

test('the physical part comes back, and a shift moves it alone', () => {
  fc.assert(
    fc.property(ms, logical, fc.integer({ min: -1e9, max: 1e9 }), (atMs, count, deltaMs) => {
      const timestamp = composeTimestamp(atMs, count);
      expect(physicalMs(timestamp)).toBe(atMs);
      const shifted = shiftTimestamp(timestamp, deltaMs);
      expect(shifted).toBe(atMs + deltaMs < 0 ? 0n : composeTimestamp(atMs + deltaMs, count));
      expect(maxTimestamp(timestamp, shifted)).toBe(deltaMs > 0 ? shifted : timestamp);
    }),
  );
  expect(MAX_TIMESTAMP).toBe(composeTimestamp(2 ** 46 - 1, 2 ** 18 - 1));
});

test('revisions begin at 1, or at the microsecond of the founding', () => {
  expect(revisionAt('sequence', composeTimestamp(1_800_000_000_000, 7))).toBe(1);
  expect(revisionAt('timestamp', composeTimestamp(1_800_000_000_000, 7))).toBe(1_800_000_000_000_000);
});
