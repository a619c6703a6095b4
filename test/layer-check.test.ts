import { expect, test } from 'vitest';
import {
  forbiddenImports,
  impureSources,
  unusedPermissions,
  wrongLists,
  wrongManifests,
} from '../tools/layer-check.ts';
import { layers } from '../tools/layers.ts';
import { sourceFile } from '../tools/source-files.ts';

// Runs the checks of layers.test.ts on wrong files, because a check that finds nothing would pass in layers.test.ts.

test.each([
  { path: 'packages/index/src/a.ts', from: '@engram/storage', why: 'not in its list' },
  { path: 'packages/index/src/a.ts', from: '@engram/index', why: 'its own face' },
  { path: 'packages/index/src/a.ts', from: '@engram/core/testing', why: 'a face for tests' },
  { path: 'packages/index/src/a.ts', from: '@engram/sim', why: 'a package for tests' },
  { path: 'packages/index/src/a.ts', from: '../../storage/src/log.ts', why: 'another package by a relative path' },
  {
    path: 'packages/index/src/a/b.ts',
    from: '../../../core/index.ts',
    why: 'its face by a relative path, from deeper',
  },
  { path: 'packages/index/src/a.ts', from: '../test/model.ts', why: 'sources on tests' },
  { path: 'packages/index/src/a.ts', from: '../index.ts', why: 'sources on the face they make' },
  { path: 'packages/index/src/a.ts', from: './testing/fake.ts', why: 'sources on fakes' },
  { path: 'packages/index/index.ts', from: '../../tools/layers.ts', why: 'outside of packages/' },
  { path: 'packages/index/test/a.test.ts', from: '@engram/backend', why: 'a test of what is below' },
  { path: 'packages/index/test/a.test.ts', from: '../../core/src/bytes.ts', why: 'a test on files of another package' },
  { path: 'packages/index/bench/a.bench.ts', from: '../../core/testing.ts', why: 'a benchmark, the same' },
  { path: 'test/a.test.ts', from: '../packages/core/src/bytes.ts', why: 'a test of the whole on files of a package' },
  { path: 'e2e/crash/a.ts', from: '../../packages/core/index.ts', why: 'a face has a name' },
])('$path may not import $from: $why', ({ path, from }) => {
  for (const text of [
    `import { x } from '${from}';`,
    `import type {\n  X,\n} from '${from}';`,
    `export * from '${from}';`,
    `import '${from}';`,
    `const x = await import('${from}');`,
  ]) {
    expect(forbiddenImports([sourceFile(path, text)]), text).toHaveLength(1);
  }
});

test.each([
  { path: 'packages/scanner/src/a.ts', from: '@engram/index', why: 'in its list' },
  { path: 'packages/scanner/src/a/b.ts', from: '../c.ts', why: 'its own file' },
  { path: 'packages/scanner/index.ts', from: './src/a.ts', why: 'what the face shows' },
  { path: 'packages/scanner/test/a.test.ts', from: '@engram/scanner', why: 'what it tests' },
  { path: 'packages/scanner/test/a.test.ts', from: '@engram/storage/testing', why: 'fakes of what its package uses' },
  { path: 'packages/scanner/test/a.test.ts', from: '@engram/sim', why: 'the world of all tests' },
  { path: 'packages/scanner/src/testing/a.ts', from: '@engram/storage/testing', why: 'fakes are no sources' },
  { path: 'packages/sim/src/a.ts', from: '@engram/storage/testing', why: 'a package for tests uses every face' },
  { path: 'test/a.test.ts', from: '@engram/server', why: 'tests of the whole use all' },
  { path: 'test/a.test.ts', from: '../e2e/crash/history.ts', why: 'and what is beside them' },
])('$path may import $from: $why', ({ path, from }) => {
  expect(forbiddenImports([sourceFile(path, `import { x } from '${from}';`)])).toEqual([]);
});

test('an import in a comment or in a text is none', () => {
  const text =
    "// import { x } from '@engram/backend';\nconst x = [\n  \"import { x } from '@engram/backend';\",\n];\n";
  expect(forbiddenImports([sourceFile('packages/core/src/a.ts', text)])).toEqual([]);
});

test.each([
  'Date.now()',
  'new Date()',
  'performance.now()',
  'Math.random()',
  'const wait = setTimeout;',
  'AbortSignal.timeout(5)',
  'process.nextTick(f)',
  'process.env.HOME',
  "import { setTimeout as wait } from 'node:timers/promises';",
  "import { readFile } from 'node:fs/promises';",
  "import { randomBytes } from 'node:crypto';",
  'globalThis.crypto.getRandomValues(bytes)',
  "import { Worker } from 'node:worker_threads';",
])('%s is impure: not below the adapters', (text) => {
  expect(impureSources([sourceFile('packages/index/src/a.ts', text)])).not.toEqual([]);
  expect(impureSources([sourceFile('packages/index/test/a.test.ts', text)])).toEqual([]);
  expect(impureSources([sourceFile('packages/transport/src/a.ts', text)])).toEqual([]);
});

test('a hash is pure, and so is the word in a comment', () => {
  const text = "import { createHash } from 'node:crypto';\n/* Date.now() of the caller */\n// not setTimeout\n";
  expect(impureSources([sourceFile('packages/index/src/a.ts', text)])).toEqual([]);
});

test('a permission that only a test uses is not used', () => {
  const test = sourceFile('packages/scanner/test/a.test.ts', "import { x } from '@engram/index';");
  const source = sourceFile('packages/scanner/src/a.ts', "import { x } from '@engram/index';");
  expect(unusedPermissions([test])).toContain('no sources of scanner import index');
  expect(unusedPermissions([source])).not.toContain('no sources of scanner import index');
});

test('lists name packages that are there, each of them', () => {
  const packages = Object.values(layers).flat();
  expect(wrongLists(packages)).toEqual([]);
  expect(wrongLists([...packages, 'new-one'])).toHaveLength(2);
  expect(wrongLists(packages.filter((name) => name !== 'scanner')).length).toBeGreaterThan(0);
});

test('package.json: nothing missing, nothing left over', () => {
  const files = [
    sourceFile('packages/telemetry/src/a.ts', "import pino from 'pino';\nimport { x } from '@engram/core';"),
    sourceFile('packages/telemetry/test/a.test.ts', "import fc from 'fast-check';\nimport { y } from 'oracle/deep';"),
  ];
  const check = (dependencies: string[], devDependencies: string[]): readonly string[] => {
    const versions = (names: string[]) => Object.fromEntries(names.map((name) => [name, '1.0.0']));
    const manifest = { dependencies: versions(dependencies), devDependencies: versions(devDependencies) };
    return wrongManifests(files, new Map([['telemetry', manifest]]), { devDependencies: { 'fast-check': '4.0.0' } });
  };
  expect(check(['pino', '@engram/core'], ['oracle'])).toEqual([]);
  expect(check(['@engram/core'], ['oracle', 'pino'])).toHaveLength(2);
  expect(check(['pino', '@engram/core', 'yaml'], ['oracle'])).toHaveLength(1);
  expect(check(['pino', '@engram/core'], [])).toHaveLength(1);
  expect(check(['pino', '@engram/core'], ['oracle', 'fast-check', 'unused'])).toHaveLength(1);
});
