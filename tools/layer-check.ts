import { posix } from 'node:path';
import { impure, layers, linesMax, mayImport, pureLayers, testPackages, testsMayImport } from './layers.ts';
import type { Manifest, SourceFile } from './source-files.ts';

/*
 * Each check returns what is wrong, one line for each place. The checks are functions of the files, so that a test can
 * pass wrong ones.
 */

const SCOPE = '@engram/';
const layerOf = (name: string): string | undefined =>
  Object.entries(layers).find(([, packages]) => (packages as readonly string[]).includes(name))?.[0];
const order: readonly string[] = Object.values(layers).flat();

/** Checks the lists: every package has a place, and lists only packages below it. */
export function wrongLists(packages: readonly string[]): readonly string[] {
  const wrong: string[] = [];
  for (const name of packages) {
    if (!order.includes(name)) wrong.push(`${name} is in no layer`);
    if (mayImport[name] === undefined) wrong.push(`${name} has no list of what it may import`);
  }
  for (const name of new Set([...order, ...Object.keys(mayImport), ...Object.keys(testsMayImport)])) {
    if (!packages.includes(name)) wrong.push(`${name} is listed, and is no package`);
  }
  for (const [name, allowed] of Object.entries(mayImport)) {
    for (const other of allowed) {
      if (order.indexOf(other) >= order.indexOf(name)) wrong.push(`${name} lists ${other}, which is not below it`);
    }
  }
  return wrong;
}

/** `@engram/x/face` means the package x and its face. */
function packageOf(specifier: string): { readonly name: string; readonly face: string | undefined } | undefined {
  if (!specifier.startsWith(SCOPE)) return undefined;
  const [name, face] = specifier.slice(SCOPE.length).split('/');
  return { name: name!, face };
}

export function forbiddenImports(files: readonly SourceFile[]): readonly string[] {
  return files.flatMap((file) =>
    file.imports.flatMap((specifier) => {
      const fault = specifier.startsWith('.') ? relativeFault(file, specifier) : packageFault(file, specifier);
      return fault === undefined ? [] : [`${file.path} imports ${specifier}: ${fault}`];
    }),
  );
}

/** A relative path must stay within its package, and for sources within src/. */
function relativeFault(file: SourceFile, specifier: string): string | undefined {
  const [top, owner, ...rest] = posix.join(posix.dirname(file.path), specifier).split('/');
  if (file.owner === undefined) return top === 'packages' ? 'a package is imported by its name' : undefined;
  if (top !== 'packages' || owner !== file.owner) return 'it lies outside of the package';
  if (file.part === 'tests') return undefined;
  return rest[0] === 'index.ts' || rest[0] !== 'src' || rest[1] === 'testing'
    ? 'sources import files of src/, without src/testing/'
    : undefined;
}

function packageFault({ owner, part }: SourceFile, specifier: string): string | undefined {
  const target = packageOf(specifier);
  if (target === undefined || owner === undefined) return undefined;
  const { name, face } = target;
  const isTestPackage = testPackages.includes(owner);
  if (part === 'tests') {
    const allowed = [owner, ...testPackages, ...mayImport[owner]!, ...(testsMayImport[owner] ?? [])];
    return allowed.includes(name) ? undefined : `tests of ${owner} may not`;
  }
  if (name === owner) return 'sources import their own files';
  if (!mayImport[owner]!.includes(name)) return `${owner} may not`;
  if (!isTestPackage && testPackages.includes(name)) return 'it is for tests';
  return face === undefined || isTestPackage ? undefined : 'this face is for tests';
}

/** Permissions that no file uses. */
export function unusedPermissions(files: readonly SourceFile[]): readonly string[] {
  const unused = (part: SourceFile['part'], lists: Readonly<Record<string, readonly string[]>>): string[] =>
    Object.entries(lists).flatMap(([owner, allowed]) => {
      const used = new Set(
        files
          .filter((file) => file.owner === owner && file.part === part)
          .flatMap((file) => file.imports.map((specifier) => packageOf(specifier)?.name)),
      );
      return allowed.filter((name) => !used.has(name)).map((name) => `no ${part} of ${owner} import ${name}`);
    });
  return [...unused('sources', mayImport), ...unused('tests', testsMayImport)];
}

/** `@scope/name/face` and `name/face` without the face; undefined for node's own modules and for relative paths. */
function dependencyOf(specifier: string): string | undefined {
  if (specifier.startsWith('.') || specifier.startsWith('node:')) return undefined;
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
}

/**
 * A package.json must name exactly what the package imports: `dependencies` what its sources import, `devDependencies`
 * what only the rest does. For tests, packages of this repository and what the root's package.json names need no entry.
 */
export function wrongManifests(
  files: readonly SourceFile[],
  manifests: ReadonlyMap<string, Manifest>,
  root: Manifest,
): readonly string[] {
  const wrong: string[] = [];
  const named = (manifest: Manifest): readonly string[] =>
    Object.keys({ ...manifest.dependencies, ...manifest.devDependencies });
  for (const [owner, manifest] of manifests) {
    const used = { sources: new Set<string>(), tests: new Set<string>() };
    for (const { path, part, imports } of files.filter((file) => file.owner === owner)) {
      for (const name of imports.map(dependencyOf)) {
        if (name === undefined || name === `${SCOPE}${owner}`) continue;
        used[part].add(name);
        const known =
          part === 'sources'
            ? manifest.dependencies?.[name] !== undefined
            : name.startsWith(SCOPE) || named(manifest).includes(name) || named(root).includes(name);
        if (!known) wrong.push(`${path} imports ${name}, which package.json does not name`);
      }
    }
    for (const name of Object.keys(manifest.dependencies ?? {})) {
      if (!used.sources.has(name)) wrong.push(`no sources of ${owner} import ${name}, which package.json names`);
    }
    for (const name of Object.keys(manifest.devDependencies ?? {})) {
      if (!used.tests.has(name)) wrong.push(`no tests of ${owner} import ${name}, which package.json names`);
    }
  }
  return wrong;
}

export function impureSources(files: readonly SourceFile[]): readonly string[] {
  const pure = new Set<string>(pureLayers);
  return files
    .filter(({ owner, part }) => part === 'sources' && pure.has(layerOf(owner!) ?? ''))
    .flatMap(({ path, code }) =>
      impure.flatMap((pattern) => {
        const found = pattern.exec(code);
        return found === null ? [] : [`${path} names ${found[0]}`];
      }),
    );
}

export function longFiles(files: readonly SourceFile[]): readonly string[] {
  return files.filter(({ lines }) => lines > linesMax).map(({ path, lines }) => `${path} has ${lines} lines`);
}
