import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { root } from './root.ts';
import { readMarkdown } from './markdown.ts';

/** Where a link of a page of this repository leads. */
export type Destination =
  | { readonly kind: 'elsewhere' }
  | { readonly kind: 'inside'; readonly file: string; readonly anchor: string | undefined };

/** `source` is from the project's root, and so is the file that is found. */
export function destinationOf(source: string, target: string): Destination {
  if (/^[a-z][a-z0-9+.-]*:/i.test(target)) return { kind: 'elsewhere' };
  const hash = target.indexOf('#');
  const path = hash < 0 ? target : target.slice(0, hash);
  const anchor = hash < 0 ? undefined : target.slice(hash + 1);
  const file = path === '' ? source : normalize(join(dirname(source), path)).replace(/\/$/, '');
  return { kind: 'inside', file, anchor };
}

/** What is wrong with a link; undefined if it leads to a file of the repository, and to a heading of it where it names one. */
export function linkFault(source: string, target: string): string | undefined {
  const found = destinationOf(source, target);
  if (found.kind === 'elsewhere') return undefined;
  const { file, anchor } = found;
  if (file.startsWith('..') || !existsSync(join(root, file))) return `${source}: ${target} leads to no file`;
  if (anchor === undefined) return undefined;
  if (!file.endsWith('.md') || statSync(join(root, file)).isDirectory())
    return `${source}: ${target} has an anchor, and leads to no page`;
  const slugs = readMarkdown(readFileSync(join(root, file), 'utf8')).headings.map(({ slug }) => slug);
  return slugs.includes(anchor) ? undefined : `${source}: ${target}: ${file} has no such heading`;
}
