import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compareBytes, equalBytes, keySuccessor, pointRange, prefixRange } from '@engram/core';
import { StepPace } from '@engram/loop';
import { IntervalSet } from '@engram/auth';
import { heldKeyByKey, keyRanges } from './key-model.ts';
import { range } from './states.ts';

describe('an interval set', () => {
  test('holds what its ranges hold key by key, made at once or of parts', () => {
    fc.assert(
      fc.property(fc.array(fc.array(keyRanges, { maxLength: 6 }), { maxLength: 5 }), keyRanges, (parts, asked) => {
        const expected = heldKeyByKey(parts.flat(), asked);
        expect(IntervalSet.of(parts.flat()).holds(asked)).toBe(expected);
        expect(IntervalSet.union(parts.map((part) => IntervalSet.of(part))).holds(asked)).toBe(expected);
      }),
      { numRuns: 2_000 },
    );
  });

  test('of very many ranges with long keys holds what they hold, whatever the keys have in common', () => {
    const piece = fc.constantFrom('/tenants/', '/t', 'abcd', 'abce', '\0\0\0\0', '\0', 'b', '\u{ff}');
    const key = fc.array(piece, { minLength: 1, maxLength: 4 }).map((pieces) => Buffer.from(pieces.join(''), 'latin1'));
    const longRange = fc.oneof(
      key.map((start) => ({ key: start, end: Buffer.alloc(0) })),
      fc.tuple(key, key).map(([start, end]) => ({ key: start, end })),
      key.map((start) => prefixRange(start)),
    );
    const parts = fc.array(fc.array(longRange, { minLength: 1, maxLength: 40, size: 'max' }), {
      minLength: 1,
      maxLength: 6,
      size: 'max',
    });
    fc.assert(
      fc.property(parts, fc.array(longRange, { minLength: 5, maxLength: 20 }), (held, asked) => {
        const all = held.flat();
        const whole = IntervalSet.of(all);
        const union = IntervalSet.union(held.map((part) => IntervalSet.of(part)));
        expect(union.size).toBe(whole.size);
        for (const range of [...asked, ...all.slice(0, 20)]) {
          const expected = heldKeyByKey(all, range);
          expect(whole.holds(range)).toBe(expected);
          expect(union.holds(range)).toBe(expected);
        }
      }),
      { numRuns: 300 },
    );
  });

  test('of more keys than one sort takes has each of them and no other', () => {
    // A key, and every fourth of those that go on with up to eight of these bytes, in no order: many end where others go on.
    const alphabet = [0, 1, 0x61, 0xff];
    const keyAt = (number: number): Uint8Array => {
      const key: number[] = [];
      for (let rest = number; rest > 0; rest = (rest - 1) >> 2) key.push(alphabet[(rest - 1) & 3]!);
      return Uint8Array.from([0x70, ...key.reverse()]);
    };
    const count = 40_000;
    // The step is a prime, so every number below `count` comes once.
    const numbers = Array.from({ length: count }, (_, at) => (at * 7_919) % count);
    const isIn = (number: number): boolean => number === 0 || number % 4 === 3;
    const held = numbers.filter(isIn).map((number) => pointRange(keyAt(number)));
    expect(held.length).toBe(10_001);
    const set = IntervalSet.union([
      IntervalSet.of(held.slice(0, 9_000)),
      IntervalSet.of(held.slice(9_000)),
      IntervalSet.of([]),
    ]);
    expect(numbers.filter((number) => set.holds(pointRange(keyAt(number))) !== isIn(number))).toEqual([]);
    const sorted = held.map(({ key }) => key).sort(compareBytes);
    const gaps = sorted.slice(1).filter((key, at) => !equalBytes(key, keySuccessor(sorted[at]!)));
    expect(set.size).toBe(gaps.length + 1);
  });

  test('made in slices is the same', () => {
    const parts = ['a,c', 'b,d', 'x', 'c,e'].map((text) => IntervalSet.of([range(text)]));
    const pace = new StepPace(0);
    const work = IntervalSet.unite(parts, pace);
    let slices = 0;
    let step = work.next();
    for (; step.done !== true; step = work.next()) {
      slices += 1;
      pace.begin();
    }
    expect(slices).toBeGreaterThan(2);
    expect(step.value.size).toBe(2);
    expect(step.value.holds(range('a,e'))).toBe(true);
  });

  test('has as few intervals as possible', () => {
    const sizeOf = (...texts: readonly string[]) => IntervalSet.of(texts.map(range)).size;
    expect(sizeOf()).toBe(0);
    expect(sizeOf('c,e', 'a,c')).toBe(1);
    expect(sizeOf('a,c', 'b')).toBe(1);
    expect(sizeOf('a', 'a\0')).toBe(1);
    expect(sizeOf('a', 'b')).toBe(2);
    expect(sizeOf('b,', 'a,', 'x,z')).toBe(1);
    expect(sizeOf('c,a', 'b,b', ',c')).toBe(0);
  });

  test.each([
    // etcd's cases: touching permissions are one, and an open end needs an open end.
    [['a,c', 'c,e'], 'a,e', true],
    [['a,c', 'c,e'], 'a,f', false],
    [['a,c', 'd,e'], 'a,e', false],
    [['a,c', 'c'], 'a,c\0', true],
    [['a,'], 'b,', true],
    [['a,\u{ffff}'], 'b,', false],
    [['a,'], 'b,z', true],
    // One key: only the key, also as a range that holds nothing else.
    [['k'], 'k', true],
    [['k'], 'k,k\0', true],
    [['k'], 'k,l', false],
    [['k'], 'k,', false],
    [['k'], 'k,a', true],
    [['k'], 'k,k', true],
    [['k'], 'l,k', false],
    [['k'], 'kk', false],
    // An empty key is no key.
    [['a,', '\0,'], '', false],
    [['\0,'], ',z', false],
    [['\0,'], '\0,', true],
  ])('of %j holds %j: %s', (held, asked, holds) => {
    expect(IntervalSet.of(held.map(range)).holds(range(asked))).toBe(holds);
  });
});
