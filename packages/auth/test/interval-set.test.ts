import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
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
