import { keyText } from '@engram/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { uniqueByKey } from '../src/region/unique-by-key.ts';

const bySet = (keys: readonly Uint8Array[]): readonly Uint8Array[] =>
  keys.filter((key, at) => keys.findIndex((other) => keyText(other) === keyText(key)) === at);

test('the first of each key, in their order', () => {
  const key = fc.uint8Array({ maxLength: 3, max: 3 });
  fc.assert(
    fc.property(fc.array(key, { maxLength: 60 }), (keys) => {
      expect(uniqueByKey(keys, (one) => one)).toEqual(bySet(keys));
    }),
  );
});

test('keys that all differ are the array itself, in order or not', () => {
  const keys = Array.from({ length: 1_000 }, (_, at) => new TextEncoder().encode(`key/${String(at).padStart(6, '0')}`));
  expect(uniqueByKey(keys, (key) => key)).toBe(keys);
  const other = keys.toReversed();
  expect(uniqueByKey(other, (key) => key)).toBe(other);
  expect(uniqueByKey([...other, keys[7]!, keys[8]!], (key) => key)).toEqual(other);
});

test('keys whose hashes all meet are told apart', () => {
  // Keys of three bytes, found by search, whose hashes have the same low nine bits and so the same slot in the table.
  const state = (bytes: Uint8Array): number =>
    bytes.reduce((hash, byte) => Math.imul(hash ^ byte, 0x01000193), 0x811c9dc5);
  const low = (hash: number): number => (hash ^ (hash >>> 15)) & 0x1ff;
  const keys: Uint8Array[] = [];
  for (let at = 0; keys.length < 100; at += 1) {
    const key = Uint8Array.of(at & 0xff, (at >> 8) & 0xff, at >> 16);
    if (low(state(key)) === 5) keys.push(key);
  }
  const doubled = [...keys.toReversed(), ...keys];
  expect(uniqueByKey(doubled, (key) => key)).toEqual(keys.toReversed());
});
