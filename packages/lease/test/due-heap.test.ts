import fc from 'fast-check';
import { expect, test } from 'vitest';
import { AssertionError } from '@engram/core';
import { DueHeap, type Timed } from '../src/due-heap.ts';

const item = (dueMs: number): Timed => ({ dueMs, slot: -1, placedMs: dueMs });

test('items come out by time, however they were moved later or removed meanwhile', () => {
  const moves = fc.array(fc.tuple(fc.nat(99), fc.nat(50), fc.boolean()), { maxLength: 200 });
  fc.assert(
    fc.property(fc.array(fc.nat(100), { minLength: 1, maxLength: 100 }), moves, (times, moves) => {
      const heap = new DueHeap<Timed>();
      const items = times.map(item);
      for (const each of items) heap.push(each);
      for (const [at, laterMs, remove] of moves) {
        const picked = items[at % items.length]!;
        if (picked.slot === -1) continue;
        if (remove) heap.remove(picked);
        else picked.dueMs += laterMs;
        if (laterMs % 5 === 0) heap.first();
      }
      const expected = items.filter(({ slot }) => slot !== -1).map(({ dueMs }) => dueMs);
      expect(heap.size).toBe(expected.length);
      const popped: number[] = [];
      for (let first = heap.first(); first !== undefined; first = heap.first()) {
        popped.push(first.dueMs);
        heap.remove(first);
      }
      expect(popped).toEqual(expected.sort((left, right) => left - right));
    }),
  );
});

test('a million renewals leave one entry for each item', () => {
  const heap = new DueHeap<Timed>();
  const items = Array.from({ length: 10 }, (_, at) => item(at));
  for (const each of items) heap.push(each);
  for (let round = 0; round < 1_000_000; round += 1) {
    items[round % 10]!.dueMs += 10;
    if (round % 1000 === 0) heap.first();
  }
  expect(heap.size).toBe(10);
  expect(heap.first()).toBe(items[0]);
});

test('what is not in it cannot be removed, what is in it not pushed', () => {
  const heap = new DueHeap<Timed>();
  const only = item(1);
  expect(() => heap.remove(only)).toThrow(AssertionError);
  heap.push(only);
  expect(() => heap.push(only)).toThrow(AssertionError);
});
