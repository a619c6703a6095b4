import { utf8 } from '@engram/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { StatusHash } from '../src/status-hash.ts';

// The check value of CRC-32C, as its catalogues have it.
test('the hash is a CRC-32C of all that it is given, in hexadecimal without zeros before it', () => {
  const hash = new StatusHash();
  for (const part of ['1234', '', '56789']) hash.update(utf8(part));
  expect(hash.text).toBe('e3069283');
  expect(new StatusHash().text).toBe('0');
});

/** A bit at a time. */
function crc32c(bytes: Uint8Array): number {
  let crc = -1;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc & 1) === 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
  }
  return ~crc >>> 0;
}

test('the hash is the same however the bytes are cut into parts', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 70, size: 'max' }), { maxLength: 6, size: 'max' }), (parts) => {
      const hash = new StatusHash();
      for (const part of parts) hash.update(part);
      expect(hash.text).toBe(crc32c(Buffer.concat(parts)).toString(16));
    }),
    { numRuns: 300 },
  );
});
