import { expect, test } from 'vitest';
import { Prng } from '../index.ts';

const numbers = (prng: Prng): number[] => Array.from({ length: 20 }, () => prng.uint32());

test('the same seed gives the same numbers', () => {
  expect(numbers(new Prng(7))).toEqual(numbers(new Prng(7)));
  expect(numbers(new Prng(7))).not.toEqual(numbers(new Prng(8)));
});

test('a fork depends on the seed and its name, not on what others draw', () => {
  const fork = (seed: number, name: string): number[] => numbers(new Prng(seed).fork(name));
  expect(fork(1, 'faults')).toEqual(fork(1, 'faults'));
  expect(fork(1, 'faults')).not.toEqual(fork(1, 'plan'));
  expect(fork(1, 'faults')).not.toEqual(fork(2, 'faults'));
  expect(fork(1, 'faults')).not.toEqual(numbers(new Prng(1)));
});

test('numbers stay in their bounds and reach all of them', () => {
  const prng = new Prng(5);
  const seen = new Set<number>();
  for (let at = 0; at < 200; at += 1) seen.add(prng.between(3, 7));
  expect([...seen].sort()).toEqual([3, 4, 5, 6, 7]);
  expect(prng.shuffled([1, 2, 3, 4, 5]).sort()).toEqual([1, 2, 3, 4, 5]);
  expect(() => prng.below(0)).toThrow();
  expect(() => prng.pick([])).toThrow();
});
