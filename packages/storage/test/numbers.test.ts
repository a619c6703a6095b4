import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeNumberList, decodeNumbers, encodeNumberList, encodeNumbers } from '@engram/storage';

const lists = fc.array(fc.maxSafeNat(), { maxLength: 5 });

test('numbers belong to their name, and are as many as they were', () => {
  fc.assert(
    fc.property(lists, fc.uint8Array({ maxLength: 20 }), (numbers, rest) => {
      const name = Uint8Array.of(1);
      const bytes = encodeNumbers(name, numbers, rest);
      expect(decodeNumbers(name, bytes, numbers.length)).toEqual({ numbers, rest });
      expect(decodeNumbers(Uint8Array.of(2), bytes, numbers.length)).toBeUndefined();
      expect(decodeNumbers(name, bytes, numbers.length + 1)).toBeUndefined();
      for (let length = 0; length < bytes.length; length += 1) {
        expect(decodeNumbers(name, bytes.subarray(0, length), numbers.length)).toBeUndefined();
      }
    }),
  );
});

test('a list of numbers belongs to its name', () => {
  fc.assert(
    fc.property(lists, (list) => {
      const bytes = encodeNumberList('one', list);
      expect(decodeNumberList('one', bytes)).toEqual(list);
      expect(decodeNumberList('other', bytes)).toBeUndefined();
      for (let length = 0; length < bytes.length; length += 1) {
        expect(decodeNumberList('one', bytes.subarray(0, length))).toBeUndefined();
      }
    }),
  );
});

test('the bytes on disk stay what they are', () => {
  const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
  expect(hex(encodeNumbers('seal', [258, 2 ** 40]))).toBe('eab2a0ba0202010000000000000000000000010000');
  expect(hex(encodeNumbers('seal', [1], Uint8Array.of(9)))).toBe('5565353c01010000000000000009');
  expect(hex(encodeNumberList('state', [258]))).toBe('7b4858b30201000000000000');
});
