import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { allMutants } from './find-mutant.ts';
import { applyEdits, type Mutant } from './mutant.ts';

/** The sources of a mutant, by their files, as they are and with its edits. */
const edited = ({
  edits,
}: Mutant): readonly { readonly file: string; readonly source: string; readonly made: string }[] =>
  [...new Set(edits.map(({ file }) => file))].map((file) => {
    const source = readFileSync(file, 'utf8');
    const mine = edits.filter((edit) => edit.file === file);
    return { file, source, made: applyEdits(source, mine) };
  });

test.each(allMutants)('the mutant $name fits the sources', (mutant) => {
  for (const { source, made } of edited(mutant)) expect(made).not.toBe(source);
});

test('the sources of mutants compile', () => {
  const broken = { 'no mutant': 'class Queue { take() { return this.#first; } }' };
  const all = allMutants.flatMap((mutant) => edited(mutant).map(({ file, made }) => [`${mutant.name}, ${file}`, made]));
  const check = join(import.meta.dirname, 'compile-check.ts');
  const { stdout, status } = spawnSync(
    process.execPath,
    ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', check],
    { input: JSON.stringify({ ...Object.fromEntries(all), ...broken }), encoding: 'utf8' },
  );
  expect(status).toBe(0);
  expect(stdout.trimEnd()).toMatch(/^no mutant: SyntaxError: Private field '#first' .*$/);
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
