import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LogKeys } from '../src/format/log-keys.ts';

const keys = new LogKeys('cluster');
const prefix = fc.string({
  minLength: 1,
  maxLength: 8,
  unit: fc.constantFrom('a', 'b', '/', '\0', '\u0001', '\u00ff', '\ud7ff'),
});
const segment = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
const position = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
const part = fc.integer({ min: 0, max: 0xffff });
const before = (left: Uint8Array, right: Uint8Array): boolean => Buffer.compare(left, right) < 0;

test('a key says what it is of', () => {
  fc.assert(
    fc.property(prefix, segment, position, part, (name, number, first, index) => {
      const its = new LogKeys(name);
      expect(its.parse(its.slot(number, first, index))).toEqual({ kind: 'slot', segment: number, first, part: index });
      expect(its.parse(its.seal(number))).toEqual({ kind: 'seal', segment: number });
    }),
  );
});

test('keys of two prefixes lie apart, whatever the prefixes are, and no key of one parses under the other', () => {
  fc.assert(
    fc.property(prefix, prefix, segment, position, (one, two, number, first) => {
      fc.pre(one !== two);
      const [left, right] = [new LogKeys(one), new LogKeys(two)];
      for (const key of [right.root, right.slot(number, first), right.seal(number), right.logStart, right.logEnd]) {
        expect(!before(key, left.range.start) && before(key, left.range.end)).toBe(false);
        expect(left.parse(key)).toBeUndefined();
      }
      const order = Buffer.compare(Buffer.from(one), Buffer.from(two));
      expect(Buffer.compare(left.range.start, right.range.start)).toBe(order);
    }),
    { numRuns: 1000 },
  );
});

test('the order of keys is the order of the log, and a seal is behind its segment', () => {
  const place = fc.tuple(segment, position, part);
  fc.assert(
    fc.property(place, place, (left, right) => {
      const order = left[0] - right[0] || left[1] - right[1] || left[2] - right[2];
      expect(Buffer.compare(keys.slot(...left), keys.slot(...right))).toBe(Math.sign(order));
      expect(before(keys.slot(...left), keys.seal(left[0]))).toBe(true);
      expect(before(keys.segmentStart(left[0]), keys.slot(...left))).toBe(true);
      expect(before(keys.slot(...left), keys.behindSlot(left[0], left[1]))).toBe(true);
      expect(before(keys.behindSlot(left[0], left[1]), keys.seal(left[0]))).toBe(true);
      if (left[0] < right[0]) expect(before(keys.seal(left[0]), keys.segmentStart(right[0]))).toBe(true);
    }),
  );
});

test('all of it lies in the range of the cluster, apart from keys of TiDB', () => {
  const { start, end } = keys.range;
  for (const key of [keys.root, keys.logStart, keys.slot(1, 1), keys.seal(2 ** 53 - 1)]) {
    expect(before(start, key) && before(key, end)).toBe(true);
    expect(Buffer.from(key).toString('latin1').startsWith('engram/')).toBe(true);
  }
});

describe('what is no key of a log', () => {
  const good = keys.slot(3, 7, 1);
  const changed = (at: number, byte: number): Uint8Array => {
    const bytes = good.slice();
    bytes[at] = byte;
    return bytes;
  };
  test.each([
    { key: keys.root, why: 'the root' },
    { key: good.subarray(0, good.length - 1), why: 'a part of one' },
    { key: Buffer.concat([good, Uint8Array.of(0)]), why: 'more than one' },
    { key: changed(0, 1), why: 'of another prefix' },
    { key: keys.segmentStart(4), why: 'the start of a segment' },
    { key: changed(good.length - 10, 1), why: 'a position above 2^53' },
    { key: Buffer.concat([keys.segmentStart(1), Uint8Array.of(0xfe)]), why: 'almost a seal' },
    { key: new Uint8Array(0), why: 'nothing' },
  ])('$why', ({ key }) => {
    expect(keys.parse(key)).toBeUndefined();
  });
});

test.each(['', 'x'.repeat(257)])('a prefix of %j is an assertion', (name) => {
  expect(() => new LogKeys(name)).toThrow(/prefix/);
});

describe('what processes need', () => {
  const keys = new LogKeys('a');

  test.each([
    { member: 0n, process: 1n },
    { member: 2n ** 64n - 1n, process: 2n ** 64n - 1n },
    { member: 7n, process: 0n },
  ])('is under $member and $process', (key) => {
    const bytes = keys.need(key);
    expect(keys.parseNeed(bytes)).toEqual(key);
    const { start, end } = keys.needsOf(key.member);
    for (const range of [keys.needs, { start, end }]) {
      expect(Buffer.compare(range.start, bytes)).toBeLessThanOrEqual(0);
      expect(Buffer.compare(bytes, range.end)).toBeLessThan(0);
    }
  });

  test('is in the range of no other member', () => {
    const { end } = keys.needsOf(7n);
    expect(Buffer.compare(end, keys.need({ member: 8n, process: 0n }))).toBeLessThan(0);
    expect(keys.parseNeed(keys.raft(7n))).toBeUndefined();
  });
});
