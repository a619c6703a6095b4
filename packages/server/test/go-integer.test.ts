import { expect, test } from 'vitest';
import { parseGoInteger } from '../src/flags/go-integer.ts';

test.each([
  ['0', 0n],
  ['10', 10n],
  ['-10', -10n],
  ['+10', 10n],
  ['1_000', 1000n],
  ['010', 8n],
  ['0_10', 8n],
  ['0o10', 8n],
  ['0x1F', 31n],
  ['0x_1f', 31n],
  ['0b11', 3n],
  ['-0x10', -16n],
  ['18446744073709551615', 18446744073709551615n],
  ['', undefined],
  ['-', undefined],
  ['08', undefined],
  ['0x', undefined],
  ['0xg', undefined],
  ['_1', undefined],
  ['1_', undefined],
  ['1__0', undefined],
  ['1e3', undefined],
  ['1.5', undefined],
  [' 1', undefined],
])('%s is %s', (text, value) => {
  expect(parseGoInteger(text)).toBe(value);
});
