import { expect, test } from 'vitest';
import {
  circlesOf,
  forbiddenFolderImports,
  unusedFolderPermissions,
  wrongCircles,
  wrongFolders,
} from '../tools/folder-check.ts';
import { sourceFile } from '../tools/source-files.ts';

// Runs the checks of layers.test.ts on wrong files, as layer-check.test.ts does for packages.

const lists = { shop: { goods: [], till: ['goods', '.'] } };
const importing = (path: string, ...names: readonly string[]) =>
  sourceFile(path, names.map((name) => `import type { X } from '${name}';\n`).join(''));

test.each([
  { path: 'packages/shop/src/goods/a.ts', from: '../till/b.ts', why: 'a room after it' },
  { path: 'packages/shop/src/goods/a.ts', from: '../b.ts', why: 'the files of src/, which it does not list' },
  { path: 'packages/shop/src/goods/deep/a.ts', from: '../../till/b.ts', why: 'the same, from deeper' },
  { path: 'packages/shop/src/cellar/a.ts', from: '../goods/b.ts', why: 'a room without a list' },
])('$path may not import $from: $why', ({ path, from }) => {
  expect(forbiddenFolderImports([importing(path, from)], lists)).toHaveLength(1);
});

test.each([
  { path: 'packages/shop/src/till/a.ts', from: '../goods/b.ts', why: 'a room before it' },
  { path: 'packages/shop/src/till/a.ts', from: '../b.ts', why: 'the files of src/, which it lists' },
  { path: 'packages/shop/src/a.ts', from: './till/b.ts', why: 'the files of src/ know every room' },
  { path: 'packages/shop/src/goods/a.ts', from: './deep/b.ts', why: 'its own room' },
  { path: 'packages/shop/src/goods/a.ts', from: '@engram/core', why: 'another package is not a room' },
  { path: 'packages/shop/test/a.test.ts', from: '../src/goods/a.ts', why: 'a test knows every room' },
  { path: 'packages/shop/src/testing/a.ts', from: '../till/b.ts', why: 'so does a fake' },
  { path: 'packages/shop/src/goods/a.ts', from: '../till/gen/b.ts', why: 'what is generated is in no room' },
])('$path may import $from: $why', ({ path, from }) => {
  expect(forbiddenFolderImports([importing(path, from)], lists)).toEqual([]);
});

test('each room has a list, each list a room, and what it lists is before it', () => {
  const files = ['goods', 'till'].map((room) => importing(`packages/shop/src/${room}/a.ts`));
  expect(wrongFolders(files, lists)).toEqual([]);
  expect(wrongFolders([...files, importing('packages/shop/src/cellar/a.ts')], lists)).toHaveLength(1);
  expect(wrongFolders(files.slice(1), lists)).toEqual(['shop/src/goods is listed, and has no file']);
  expect(wrongFolders(files, { shop: { goods: ['till'], till: ['goods'] } })).toHaveLength(1);
  expect(wrongFolders(files, { shop: { goods: [], till: ['cellar'] } })).toHaveLength(1);
});

test('a permission that no file uses is refused', () => {
  const files = [importing('packages/shop/src/till/a.ts', '../goods/b.ts')];
  expect(unusedFolderPermissions(files, lists)).toEqual(['no file of shop/src/till imports .']);
});

test('a circle is found, however long it is, and each by itself', () => {
  const files = [
    importing('packages/a/src/one.ts', './two.ts', './leaf.ts'),
    importing('packages/a/src/two.ts', './in/three.ts'),
    importing('packages/a/src/in/three.ts', '../one.ts'),
    importing('packages/a/src/leaf.ts', './other.ts', 'node:path'),
    importing('packages/a/src/other.ts', './leaf.ts'),
    importing('packages/a/src/alone.ts', './one.ts'),
  ];
  const [short, long] = [
    ['packages/a/src/leaf.ts', 'packages/a/src/other.ts'],
    ['packages/a/src/in/three.ts', 'packages/a/src/one.ts', 'packages/a/src/two.ts'],
  ];
  expect(circlesOf(files)).toEqual([short, long]);
  expect(wrongCircles(files, [{ files: short!, why: 'of a reason' }])).toHaveLength(1);
  expect(wrongCircles(files.slice(0, -2), [{ files: long!, why: 'of a reason' }])).toEqual([]);
  expect(
    wrongCircles(
      files.slice(3),
      [short!, long!].map((paths) => ({ files: paths, why: '' })),
    ),
  ).toHaveLength(1);
});
