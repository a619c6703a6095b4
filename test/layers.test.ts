import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { impurePatterns, layers, mayImport, pureLayers } from '../tools/layers.ts';

const rank = new Map<string, number>();
for (const [at, packages] of Object.values(layers).entries()) for (const name of packages) rank.set(name, at);

interface Source {
  readonly path: string;
  readonly owner: string;
  readonly text: string;
}
const sources: readonly Source[] = globSync('packages/*/{index.ts,src/**/*.ts}').map((path) => ({
  path,
  owner: path.split('/')[1]!,
  text: readFileSync(path, 'utf8'),
}));

test('every package has a layer and a list of what it may import, and only of lower layers', () => {
  for (const { owner } of sources) expect(rank.has(owner), `${owner} has no layer`).toBe(true);
  for (const [name, allowed] of Object.entries(mayImport)) {
    for (const other of allowed) {
      // Within a layer packages build on each other in the order in which it lists them.
      const sameLayer = Object.values(layers).find((packages) =>
        (packages as readonly string[]).includes(name),
      ) as readonly string[];
      const below = rank.get(other)! < rank.get(name)!;
      const before = sameLayer.includes(other) && sameLayer.indexOf(other) < sameLayer.indexOf(name);
      expect(below || before, `${name} may not list ${other}`).toBe(true);
    }
  }
});

test("packages import only what the architecture allows, and only by a package's face", () => {
  const wrong: string[] = [];
  for (const { path, owner, text } of sources) {
    for (const [, specifier] of text.matchAll(/(?:from|import\()\s*'(@engram\/[^']+)'/g)) {
      const name = specifier!.slice('@engram/'.length);
      if (!mayImport[owner]!.includes(name)) wrong.push(`${path} imports ${specifier}`);
    }
    for (const [, specifier] of text.matchAll(/from '(\.\.\/[^']+)'/g)) {
      if (/^\.\.\/\.\.\//.test(specifier!) && !path.split('/').slice(3).length)
        wrong.push(`${path} reaches out by ${specifier}`);
    }
  }
  expect(wrong).toEqual([]);
});

test('what a package imports, its package.json names', () => {
  const wrong: string[] = [];
  for (const { path, owner, text } of sources) {
    const manifest: { dependencies?: Record<string, string> } = JSON.parse(
      readFileSync(`packages/${owner}/package.json`, 'utf8'),
    );
    for (const [, specifier] of text.matchAll(/from '((?:@[^/']+\/)?[a-z][^/']*)(?:\/[^']*)?'/g)) {
      if (specifier!.startsWith('node:')) continue;
      if (manifest.dependencies?.[specifier!] === undefined) wrong.push(`${path} imports ${specifier}`);
    }
  }
  expect(wrong).toEqual([]);
});

test('layers 0 to 2 have no clock, no chance, no socket', () => {
  const pure = new Set<string>(pureLayers.flatMap((layer) => layers[layer]));
  const wrong: string[] = [];
  for (const { path, owner, text } of sources) {
    if (!pure.has(owner)) continue;
    for (const pattern of impurePatterns) if (pattern.test(text)) wrong.push(`${path} matches ${pattern}`);
  }
  expect(wrong).toEqual([]);
});

test('no source file is so long that nobody wants to open it', () => {
  const wrong = sources
    .filter(({ path, text }) => !path.includes('/gen/') && text.split('\n').length > 500)
    .map(({ path }) => path);
  expect(wrong).toEqual([]);
});
