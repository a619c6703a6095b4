import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { flagsDocument } from '../tools/flags/flags-page.ts';

const page = readFileSync(join(import.meta.dirname, '../docs/FLAGS.md'), 'utf8');

test('docs/FLAGS.md is fresh', () => {
  expect(page, 'make flags writes it').toBe(flagsDocument());
});

test('it says what a flag without effect, and one that is refused, is about', () => {
  const reasons = [...page.matchAll(/\*\*(?:Without effect|Refused)\.\*\* ([^|]*) \|/g)].map(
    ([, reason = '']) => reason,
  );
  expect(reasons.length).toBeGreaterThan(30);
  expect(reasons.filter((reason) => reason.length < 'bbolt: not used.'.length)).toEqual([]);
});
