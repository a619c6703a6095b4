import { posix } from 'node:path';
import type { circles, folders } from './folders.ts';
import type { SourceFile } from './source-files.ts';

/*
 * The checks of the rooms of a package. Each returns what is wrong, one line for each place. Lists are parameters, so that
 * a test can pass wrong ones.
 */

type Folders = typeof folders;
type Circles = typeof circles;

/** `.` for a file of src/ itself; undefined for what is in no room. */
function roomOf(path: string): { readonly owner: string; readonly room: string } | undefined {
  const [top, owner, src, ...rest] = path.split('/');
  if (top !== 'packages' || src !== 'src' || rest.includes('gen') || rest[0] === 'testing') return undefined;
  return { owner: owner!, room: rest.length === 1 ? '.' : rest[0]! };
}

interface Arrow {
  readonly path: string;
  readonly specifier: string;
  readonly owner: string;
  readonly from: string;
  readonly to: string;
}

/** The imports between two rooms of one package. */
function arrowsBetweenRooms(files: readonly SourceFile[]): readonly Arrow[] {
  return files.flatMap(({ path, imports }) => {
    const from = roomOf(path);
    if (from === undefined) return [];
    return imports.flatMap((specifier) => {
      const to = specifier.startsWith('.') ? roomOf(posix.join(posix.dirname(path), specifier)) : undefined;
      if (to === undefined || to.owner !== from.owner || to.room === from.room) return [];
      return [{ path, specifier, owner: from.owner, from: from.room, to: to.room }];
    });
  });
}

/** Checks the lists: each folder has a place, and lists only folders before it. */
export function wrongFolders(files: readonly SourceFile[], lists: Folders): readonly string[] {
  const wrong: string[] = [];
  const found = new Set<string>();
  for (const { path } of files) {
    const place = roomOf(path);
    if (place !== undefined && place.room !== '.') found.add(`${place.owner}/src/${place.room}`);
  }
  const listed = Object.entries(lists).flatMap(([owner, rooms]) =>
    Object.keys(rooms).map((room) => `${owner}/src/${room}`),
  );
  for (const name of found) if (!listed.includes(name)) wrong.push(`${name} has no list of what it may import`);
  for (const name of listed) if (!found.has(name)) wrong.push(`${name} is listed, and has no file`);
  for (const [owner, rooms] of Object.entries(lists)) {
    const order = Object.keys(rooms);
    for (const [room, allowed] of Object.entries(rooms)) {
      for (const other of allowed) {
        const isBefore = order.includes(other) && order.indexOf(other) < order.indexOf(room);
        if (other !== '.' && !isBefore) wrong.push(`${owner}/src/${room} lists ${other}, which is not before it`);
      }
    }
  }
  return wrong;
}

export function forbiddenFolderImports(files: readonly SourceFile[], lists: Folders): readonly string[] {
  return arrowsBetweenRooms(files).flatMap(({ path, specifier, owner, from, to }) =>
    from === '.' || lists[owner]?.[from]?.includes(to)
      ? []
      : [`${path} imports ${specifier}: ${owner}/src/${from} may not`],
  );
}

export function unusedFolderPermissions(files: readonly SourceFile[], lists: Folders): readonly string[] {
  const arrows = arrowsBetweenRooms(files);
  return Object.entries(lists).flatMap(([owner, rooms]) =>
    Object.entries(rooms).flatMap(([room, allowed]) =>
      allowed
        .filter((to) => !arrows.some((arrow) => arrow.owner === owner && arrow.from === room && arrow.to === to))
        .map((to) => `no file of ${owner}/src/${room} imports ${to}`),
    ),
  );
}

/** Circles of imports between files that are in no list, and lists that name no circle. */
export function wrongCircles(files: readonly SourceFile[], lists: Circles): readonly string[] {
  const found = circlesOf(files);
  const named = (circle: readonly string[]) => lists.some((list) => circle.every((path) => list.files.includes(path)));
  const there = (list: Circles[number]) => found.some((circle) => circle.some((path) => list.files.includes(path)));
  return [
    ...found.filter((circle) => !named(circle)).map((circle) => `a circle of imports: ${circle.join(', ')}`),
    ...lists.filter((list) => !there(list)).map((list) => `no circle any more: ${list.files.join(', ')}`),
  ];
}

/** The groups of files that reach one another by relative imports (Tarjan's strongly connected components). */
export function circlesOf(files: readonly SourceFile[]): readonly (readonly string[])[] {
  const graph = new Map(
    files
      .filter(({ path }) => /^packages\/[^/]+\/src\//.test(path))
      .map(({ path, imports }) => [
        path,
        imports.filter((name) => name.startsWith('.')).map((name) => posix.join(posix.dirname(path), name)),
      ]),
  );
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const found: (readonly string[])[] = [];
  const visit = (path: string): void => {
    order.set(path, order.size);
    lowest.set(path, order.get(path)!);
    open.push(path);
    for (const next of graph.get(path)!) {
      if (!graph.has(next)) continue;
      if (!order.has(next)) visit(next);
      if (open.includes(next)) lowest.set(path, Math.min(lowest.get(path)!, lowest.get(next)!));
    }
    if (lowest.get(path) !== order.get(path)) return;
    const group = open.splice(open.indexOf(path)).toSorted();
    if (group.length > 1) found.push(group);
  };
  for (const path of graph.keys()) if (!order.has(path)) visit(path);
  return found;
}
