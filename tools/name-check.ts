import type { SourceFile } from './source-files.ts';

/** The names that each package has on its face, by name. */
export function namesOnFaces(files: readonly SourceFile[]): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  for (const { path, code } of files) {
    const owner = /^packages\/([^/]+)\/index\.ts$/.exec(path)?.[1];
    if (owner === undefined) continue;
    for (const [, list] of code.matchAll(/^export\s+(?:type\s+)?\{([^}]*)\}/gm)) {
      for (const item of list!.split(',')) {
        const name = item.trim().split(/\s+/).at(-1)!;
        if (name !== '') found.set(name, (found.get(name) ?? new Set()).add(owner));
      }
    }
    for (const [, name] of code.matchAll(/^export \* as (\w+)/gm)) {
      found.set(name!, (found.get(name!) ?? new Set()).add(owner));
    }
  }
  return found;
}

const DECLARED = /^export (?:abstract )?(?:const|async function\*?|function\*?|class|interface|type) (\w+)/gm;

/** The packages whose sources declare each exported name, on their face or for their own files alone. */
export function declaredNames(files: readonly SourceFile[]): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  for (const { owner, part, code } of files) {
    if (owner === undefined || part !== 'sources') continue;
    for (const [, name] of code.matchAll(DECLARED)) found.set(name!, (found.get(name!) ?? new Set()).add(owner));
  }
  return found;
}

/** Names that one reason explains, of which some are not on a face. */
export interface NamesInside {
  /** Separated by spaces. */
  readonly names: string;
  readonly why: string;
}

/** Names that files of two packages export without a reason, and reasons that are left over. `faces` has those of faces. */
export function wrongNamesInside(
  files: readonly SourceFile[],
  reasons: readonly NamesInside[],
  faces: Readonly<Record<string, string>>,
): readonly string[] {
  const shared = [...declaredNames(files)].filter(([name, owners]) => owners.size > 1 && faces[name] === undefined);
  const listed = reasons.flatMap(({ names }) => names.split(' '));
  return [
    ...shared
      .filter(([name]) => !listed.includes(name))
      .map(([name, owners]) => `files of ${[...owners].toSorted().join(' and ')} export ${name}`),
    ...listed
      .filter((name) => !shared.some(([other]) => other === name))
      .map((name) => `${name} has a reason, and files of one package at most export it`),
  ];
}

/** Names on two faces without a reason, and reasons for names that are on one at most. One line for each. */
export function wrongSharedNames(
  files: readonly SourceFile[],
  reasons: Readonly<Record<string, string>>,
): readonly string[] {
  const names = namesOnFaces(files);
  const shared = [...names].filter(([, owners]) => owners.size > 1);
  return [
    ...shared
      .filter(([name]) => reasons[name] === undefined)
      .map(([name, owners]) => `${name} is exported by ${[...owners].toSorted().join(' and ')}`),
    ...Object.keys(reasons)
      .filter((name) => !shared.some(([other]) => other === name))
      .map((name) => `${name} has a reason, and is exported once at most`),
  ];
}

/**
 * Values on a face that nobody asks it for, neither another package nor a test of their own, and reasons that are left over. One line
 * for each. Types are left out: they say what the values take and give. `reasons` are by package, or by package and name.
 */
export function unusedValues(
  files: readonly SourceFile[],
  reasons: Readonly<Record<string, string>>,
): readonly string[] {
  const left = new Set(Object.keys(reasons));
  const unused: string[] = [];
  for (const { path, code } of files) {
    const owner = /^packages\/([^/]+)\/index\.ts$/.exec(path)?.[1];
    if (owner === undefined) continue;
    const users = files.filter((file) => file.path !== path && asks(file, owner));
    for (const name of valuesOf(code)) {
      const word = new RegExp(String.raw`\b${name}\b`);
      if (users.some((user) => word.test(user.code))) continue;
      const reason = [owner, `${owner}.${name}`].find((key) => reasons[key] !== undefined);
      if (reason === undefined) unused.push(`${owner} exports ${name}, and nobody asks for it`);
      else left.delete(reason);
    }
  }
  return [...unused, ...[...left].map((key) => `${key} has a reason, and is in use`)];
}

const asks = ({ owner, imports }: SourceFile, face: string): boolean =>
  imports.some((one) => one === `@engram/${face}` || (owner === face && /^(?:\.\.\/)+index\.ts$/.test(one)));

const valuesOf = (code: string): readonly string[] =>
  [...code.matchAll(/^export\s+\{([^}]*)\}/gm)].flatMap(([, list]) =>
    list!
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '' && !item.startsWith('type '))
      .map((item) => item.split(/\s+/).at(-1)!),
  );
