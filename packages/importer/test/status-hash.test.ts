import { utf8 } from '@engram/core';
import { expect, test } from 'vitest';
import { StatusHash } from '../src/status-hash.ts';

// The check value of CRC-32C, as its catalogues have it.
test('the hash is a CRC-32C of all that it is given, in hexadecimal without zeros before it', () => {
  const hash = new StatusHash();
  for (const part of ['1234', '', '56789']) hash.update(utf8(part));
  expect(hash.text).toBe('e3069283');
  expect(new StatusHash().text).toBe('0');
});
