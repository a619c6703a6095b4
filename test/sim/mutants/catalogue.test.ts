import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { mutants } from './catalogue.ts';
import { clusterMutants } from './cluster-catalogue.ts';
import { applyEdits } from './mutant.ts';
import { tikvMutants } from './tikv-catalogue.ts';

const all = [...new Set([...mutants, ...clusterMutants, ...tikvMutants])];

test.each(all)('the mutant $name fits the sources', ({ edits }) => {
  for (const file of new Set(edits.map((edit) => edit.file))) {
    const source = readFileSync(file, 'utf8');
    const mine = edits.filter((edit) => edit.file === file);
    expect(applyEdits(source, mine)).not.toBe(source);
  }
});

test('names of mutants are their own', () => {
  expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
});

test('an edit that does not fit is refused', () => {
  expect(() => applyEdits('a b a', [{ file: 'x.ts', find: 'a', replace: 'c' }])).toThrow(/found 2 times/);
});
