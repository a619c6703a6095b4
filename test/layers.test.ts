import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { circles, folders } from '../tools/folders.ts';
import { forbiddenFolderImports, unusedFolderPermissions, wrongCircles, wrongFolders } from '../tools/folder-check.ts';
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

  test('the folders of a package import what the architecture allows, and use every permission', () => {
    expect(wrongFolders(files, folders)).toEqual([]);
    expect(forbiddenFolderImports(files, folders)).toEqual([]);
    expect(unusedFolderPermissions(files, folders)).toEqual([]);
  });

  test('files of a package import one another in no circle, but for those that are listed with a reason', () => {
    expect(wrongCircles(files, circles)).toEqual([]);
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
