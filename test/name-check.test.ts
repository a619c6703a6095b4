import { join } from 'node:path';
import { expect, test } from 'vitest';
import { namesOnFaces, wrongSharedNames } from '../tools/name-check.ts';
import { sharedNames } from '../tools/shared-names.ts';
import { readSourceFiles, sourceFile } from '../tools/source-files.ts';

test('a name that two packages export is listed with a reason', () => {
  const files = readSourceFiles(join(import.meta.dirname, '..'));
  expect(namesOnFaces(files).size).toBeGreaterThan(400);
  expect(wrongSharedNames(files, sharedNames)).toEqual([]);
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
