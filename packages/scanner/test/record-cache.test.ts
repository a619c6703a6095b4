import fc from 'fast-check';
import { logPosition } from '@engram/core';
import { RecordCache } from '@engram/scanner';
import { expect, test } from 'vitest';

const at = logPosition;
const bytesOf = (position: number, length: number): Uint8Array => new Uint8Array(length).fill(position);

test('the newest written versions are kept up to their part of the bound, the older ones only if they were read', () => {
  const cache = new RecordCache(16_000);
  for (let position = 1; position <= 20; position += 1) {
    cache.addPending(at(position), bytesOf(position, 100));
    cache.settle(at(position));
    if (position === 5) cache.add(at(5), cache.get(at(5))!);
  }
  const present = Array.from({ length: 20 }, (_, index) => index + 1).filter((position) => cache.get(at(position)));
  expect(present).toEqual([5, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]);
  expect(cache.get(at(5))).toEqual(bytesOf(5, 100));
});

test('a version was read lately as long as either generation has it', () => {
  const cache = new RecordCache(16_000);
  cache.addPending(at(1), bytesOf(1, 100));
  cache.settle(at(1));
  expect(cache.hasRead(at(1))).toBe(false);
  cache.add(at(1), bytesOf(1, 100));
  let added = 1;
  for (; cache.hasRead(at(1)); added += 1) cache.add(at(1 + added), bytesOf(2, 100));
  // It outlives one generation, half of the bound, and is gone with the second.
  expect(added * 100).toBeGreaterThan(8_000);
  expect(added * 100).toBeLessThan(17_000);
});

test('a version that is not durable stays, whatever the bound', () => {
  const cache = new RecordCache(0);
  cache.addPending(at(1), bytesOf(1, 1000));
  cache.addPending(at(2), bytesOf(2, 1000));
  cache.settle(at(1));
  expect(cache.get(at(1))).toBeUndefined();
  expect(cache.get(at(2))).toEqual(bytesOf(2, 1000));
});

test('positions that are assigned again have the later bytes', () => {
  const cache = new RecordCache(1 << 20);
  for (const position of [1, 2, 3]) cache.addPending(at(position), bytesOf(position, 10));
  cache.settle(at(1));
  cache.forgetPending(at(2));
  expect(cache.get(at(2))).toBeUndefined();
  cache.addPending(at(2), bytesOf(9, 10));
  cache.settle(at(2));
  expect(cache.get(at(2))).toEqual(bytesOf(9, 10));
  expect(() => cache.forgetPending(at(2))).toThrow('a durable version is taken back');
});

test('it gives what was written, takes no more than its bound, and never loses what is not durable', () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('write' as const), length: fc.nat(3_000), gap: fc.nat(2) }),
    fc.record({ kind: fc.constant('settle' as const), count: fc.nat(5) }),
    fc.record({ kind: fc.constant('undo' as const), count: fc.nat(3) }),
    fc.record({ kind: fc.constant('read' as const), back: fc.nat(40) }),
    fc.record({ kind: fc.constant('gather' as const), back: fc.nat(40), count: fc.nat(40) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), fc.constantFrom(0, 4_000, 100_000), (steps, bytesMax) => {
      const cache = new RecordCache(bytesMax);
      const model = new Map<number, Uint8Array>();
      let next = 1;
      let durable = 1;
      for (const taken of steps) {
        if (taken.kind === 'write') {
          next += taken.gap;
          model.set(next, bytesOf(next, taken.length));
          cache.addPending(at(next), model.get(next)!);
          next += 1;
        } else if (taken.kind === 'settle') {
          for (let left = taken.count; left > 0 && durable < next; left -= 1, durable += 1) cache.settle(at(durable));
        } else if (taken.kind === 'undo') {
          const from = Math.max(durable, next - taken.count);
          for (let position = from; position < next; position += 1) model.delete(position);
          cache.forgetPending(at(from));
          next = from;
        } else if (taken.kind === 'gather') {
          const first = Math.max(1, next - 1 - taken.back);
          cache.gather(Float64Array.from({ length: taken.count }, (_, index) => first + index));
        } else {
          const position = Math.max(1, next - 1 - taken.back);
          const found = cache.get(at(position));
          const bytes = model.get(position);
          if (found !== undefined) expect(found).toEqual(bytes);
          if (position >= durable) expect(found).toEqual(bytes);
          if (bytes !== undefined && position < durable) cache.add(at(position), bytes);
        }
        // A generation may pass its half by what was added last, with a slab and a table that has just grown.
        expect(cache.bytes).toBeLessThan(bytesMax + 12_000);
      }
    }),
  );
});
