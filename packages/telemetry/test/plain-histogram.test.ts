import fc from 'fast-check';
import { expect, test } from 'vitest';
import { exponentialBounds, linesOf, PlainHistogram } from '../src/plain-histogram.ts';

test.each([
  { start: 0.001, count: 14, last: 8.192, why: "etcd's disk buckets" },
  { start: 0.1, count: 13, last: 409.6, why: 'no 409.59999 from the product' },
  { start: 0.0001, count: 20, last: 52.4288, why: "etcd's apply buckets" },
])('$count bounds from $start end at $last: $why', ({ start, count, last }) => {
  const bounds = exponentialBounds(start, 2, count);
  expect(bounds).toHaveLength(count);
  expect(bounds[0]).toBe(start);
  expect(bounds.at(-1)).toBe(last);
});

test('buckets are what a filter over all values says, cumulative, with sum and count', () => {
  const value = fc.oneof(fc.constantFrom(0, 1, 2, 4), fc.double({ min: 0, max: 10, noNaN: true }));
  fc.assert(
    fc.property(fc.array(value), (values) => {
      const bounds = [1, 2, 4];
      const histogram = new PlainHistogram(bounds);
      for (const each of values) histogram.observe(each);
      const lines = linesOf(histogram.reading({ op: 'x' }));
      const expected = [...bounds, Number.POSITIVE_INFINITY].map(
        (bound) => values.filter((each) => each <= bound).length,
      );
      expect(lines.filter(({ suffix }) => suffix === '_bucket').map((line) => line.value)).toEqual(expected);
      expect(lines.map(({ labels }) => labels['le'])).toEqual([1, 2, 4, '+Inf', undefined, undefined]);
      expect(lines.at(-2)?.value).toBeCloseTo(
        values.reduce((sum, each) => sum + each, 0),
        6,
      );
      expect(lines.at(-1)?.value).toBe(values.length);
      expect(histogram.count).toBe(values.length);
    }),
  );
});
