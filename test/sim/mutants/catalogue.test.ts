import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { allMutants } from './find-mutant.ts';
import { applyEdits } from './mutant.ts';

test.each(allMutants)('the mutant $name fits the sources', ({ edits }) => {
  for (const file of new Set(edits.map((edit) => edit.file))) {
    const source = readFileSync(file, 'utf8');
    const mine = edits.filter((edit) => edit.file === file);
    expect(applyEdits(source, mine)).not.toBe(source);
  }
});

test('names of mutants are their own', () => {
  expect(new Set(allMutants.map(({ name }) => name)).size).toBe(allMutants.length);
});

test('the tests that mutants name are there', () => {
  for (const { name, test: finder } of allMutants)
    if (finder !== undefined) expect(existsSync(finder.file), `${name}: ${finder.file}`).toBe(true);
});

test('an edit that does not fit is refused', () => {
  expect(() => applyEdits('a b a', [{ file: 'x.ts', find: 'a', replace: 'c' }])).toThrow(/found 2 times/);
});
