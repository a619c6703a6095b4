import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  forbiddenImports,
  impureSources,
  longFiles,
  unusedPermissions,
  wrongLists,
  wrongManifests,
} from '../tools/layer-check.ts';
import { readManifests, readRootManifest, readSourceFiles } from '../tools/source-files.ts';

describe('the repository', () => {
  const root = join(import.meta.dirname, '..');
  const files = readSourceFiles(root);
  const manifests = readManifests(root);

  test('every package has a layer and a list of what it may import, all of it below', () => {
    expect(wrongLists([...manifests.keys()])).toEqual([]);
  });

  test('files import what the architecture allows, by a face of a package', () => {
    expect(files.length).toBeGreaterThan(400);
    expect(forbiddenImports(files)).toEqual([]);
  });

  test('every permission is used', () => {
    expect(unusedPermissions(files)).toEqual([]);
  });

  test('a package.json names what its package imports, and nothing else', () => {
    expect(wrongManifests(files, manifests, readRootManifest(root))).toEqual([]);
  });

  test('layers 0 to 2 have no clock, no chance, no machine', () => {
    expect(impureSources(files)).toEqual([]);
  });

  test('no file is so long that nobody wants to open it', () => {
    expect(longFiles(files)).toEqual([]);
  });
});
