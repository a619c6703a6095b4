import { formatGoDuration, parseGoDuration } from '@engram/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';

// The rows are results of Go's time.ParseDuration and Duration.String.
test.each([
  { text: '0', ms: 0 },
  { text: '10ms', ms: 10 },
  { text: '1h30m', ms: 5_400_000 },
  { text: '1.5s', ms: 1500 },
  { text: '.5s', ms: 500 },
  { text: '2us', ms: 0.002 },
  { text: '2µs', ms: 0.002 },
  { text: '-1m', ms: -60_000 },
  { text: '+5s', ms: 5000 },
  { text: '1h1h', ms: 7_200_000 },
])('$text is $ms ms', ({ text, ms }) => {
  expect(parseGoDuration(text)).toBeCloseTo(ms, 9);
});

test.each(['', '5', '1d', 's', '1 s', '1h ', '--1s', '1.s.', 'ms', '1e3s', 'Infinity'])('%j is no duration', (text) => {
  expect(parseGoDuration(text)).toBeUndefined();
});

test.each([
  { ms: 0, text: '0s' },
  { ms: 5000, text: '5s' },
  { ms: 300, text: '300ms' },
  { ms: 5_400_000, text: '1h30m0s' },
  { ms: 90_500, text: '1m30.5s' },
  { ms: 0.25, text: '250µs' },
  { ms: 0.000005, text: '5ns' },
  { ms: -1500, text: '-1.5s' },
])('$ms ms prints as $text', ({ ms, text }) => {
  expect(formatGoDuration(ms)).toBe(text);
});

test('what is printed is read back', () => {
  fc.assert(
    fc.property(fc.integer({ min: -1e12, max: 1e12 }), (us) => {
      expect(parseGoDuration(formatGoDuration(us / 1000))).toBeCloseTo(us / 1000, 3);
    }),
  );
});
