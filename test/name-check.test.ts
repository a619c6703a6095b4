import { join } from 'node:path';
import { expect, test } from 'vitest';
import { namesOnFaces, unusedValues, wrongNamesInside, wrongSharedNames } from '../tools/name-check.ts';
import { namesInside, offeredValues, sharedNames } from '../tools/shared-names.ts';
import { readSourceFiles, sourceFile } from '../tools/source-files.ts';

test('a name that two packages export is listed with a reason', () => {
  const files = readSourceFiles(join(import.meta.dirname, '..'));
  expect(namesOnFaces(files).size).toBeGreaterThan(400);
  expect(wrongSharedNames(files, sharedNames)).toEqual([]);
});

test('a name that files of two packages export is listed with a reason, also if no face has it', () => {
  const files = readSourceFiles(join(import.meta.dirname, '..'));
  expect(wrongNamesInside(files, namesInside, sharedNames)).toEqual([]);
});

test('the check finds declarations of every kind, and not those of tests and fakes', () => {
  const kinds = [
    'const a = 1',
    'function b() {}',
    'async function c() {}',
    'function* d() {}',
    'class E {}',
    'type F = 1',
  ];
  const code = kinds.map((declaration) => `export ${declaration};\n`).join('');
  const files = [
    sourceFile('packages/one/src/x.ts', code),
    sourceFile('packages/two/src/folder/y.ts', `${code}const g = 1;\n`),
    sourceFile('packages/three/src/testing/z.ts', 'export const g = 1;\n'),
    sourceFile('packages/three/src/z.ts', 'export const g = 1;\n'),
  ];
  const wrong = ['b', 'c', 'd', 'E', 'F'].map((name) => `files of one and two export ${name}`);
  expect(wrongNamesInside(files, [], { a: 'on faces' })).toEqual(wrong);
  const reasons = [
    { names: 'b c d', why: 'x' },
    { names: 'E F g', why: 'y' },
  ];
  const left = ['g has a reason, and files of one package at most export it'];
  expect(wrongNamesInside(files, reasons, { a: 'on faces' })).toEqual(left);
});

test('the check finds names in every form of an export, and reasons that are left over', () => {
  const files = [
    sourceFile(
      'packages/one/index.ts',
      "export { a, type B } from './src/x.ts';\nexport type {\n  C,\n} from './src/y.ts';\n",
    ),
    sourceFile('packages/two/index.ts', "export { z as a } from './src/x.ts';\nexport * as B from './src/y.ts';\n"),
    sourceFile('packages/three/index.ts', "export type { C } from './src/x.ts'; // export { a }\n"),
    sourceFile('packages/three/src/b.ts', 'export { a };\n'),
  ];
  expect(wrongSharedNames(files, {})).toEqual([
    'a is exported by one and two',
    'B is exported by one and two',
    'C is exported by one and three',
  ]);
  expect(wrongSharedNames(files, { a: 'x', B: 'x', C: 'x', D: 'x' })).toHaveLength(1);
});

test('what a package exports is used by another one, or by a test, or is listed with a reason', () => {
  const files = readSourceFiles(join(import.meta.dirname, '..'));
  expect(unusedValues(files, offeredValues)).toEqual([]);
});

test('the check finds values that nobody asks for, and reasons that are left over', () => {
  const files = [
    sourceFile(
      'packages/one/index.ts',
      "export { a, type B } from './src/x.ts';\nexport {\n  c,\n  z as d,\n} from './src/y.ts';\nexport type { E } from './src/y.ts';\n",
    ),
    sourceFile('packages/one/src/x.ts', 'a; c; z;'),
    sourceFile('packages/one/test/x.test.ts', "import { c } from '../index.ts';\n"),
    sourceFile('packages/two/src/x.ts', "import { a } from '@engram/one';\n"),
    sourceFile('packages/two/src/y.ts', "import { c } from '@engram/three';\nd;\n"),
  ];
  expect(unusedValues(files, {})).toEqual(['one exports d, and nobody asks for it']);
  expect(unusedValues(files, { 'one.d': 'x', 'one.a': 'x' })).toEqual(['one.a has a reason, and is in use']);
  expect(unusedValues(files, { one: 'x', two: 'x' })).toEqual(['two has a reason, and is in use']);
});
