import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { mayImport } from '../tools/layers.ts';

const root = join(import.meta.dirname, '..');

interface Arrow {
  readonly from: string;
  readonly to: string;
  /** Of a dotted arrow. */
  readonly port: string | undefined;
}

/** The arrows of the lines `a --> b -. Port .-> c` of the first picture of a page. */
function arrowsOf(page: string): readonly Arrow[] {
  const picture = /```mermaid\nflowchart TD\n([^`]+)```/.exec(page)?.[1];
  if (picture === undefined) throw new Error('the page has no picture');
  return picture.split('\n').flatMap((line) => {
    const parts = line.trim().split(/ (-->|-\. \w+ \.->) /);
    return parts.flatMap((part, at) =>
      at % 2 === 0 ? [] : [{ from: parts[at - 1]!, to: parts[at + 1]!, port: /\w+/.exec(part)?.[0] }],
    );
  });
}

const arrows = arrowsOf(readFileSync(join(root, 'docs/ARCHITECTURE.md'), 'utf8'));
const drawn = new Set(arrows.flatMap(({ from, to }) => [from, to]));
const text = ({ from, to }: Pick<Arrow, 'from' | 'to'>): string => `${from} --> ${to}`;

test('the solid arrows of the picture are the imports of the packages in it', () => {
  const imports = [...drawn].flatMap((from) =>
    (mayImport[from] ?? []).filter((to) => drawn.has(to)).map((to) => text({ from, to })),
  );
  const solid = arrows.filter(({ port }) => port === undefined).map(text);
  expect(solid.toSorted()).toEqual(imports.toSorted());
});

/** Packages that are not drawn, in which ports stand. */
const WORDS = ['core', 'wire', 'storage'];

test('the port on a dotted arrow stands on the face of its caller, or among the words', () => {
  const dotted = arrows.filter(({ port }) => port !== undefined);
  expect(dotted.length).toBeGreaterThan(5);
  for (const { from, to, port } of dotted) {
    const faces = [from, ...WORDS].map((name) => readFileSync(join(root, 'packages', name, 'index.ts'), 'utf8'));
    expect(faces.join('\n'), `${from} -. ${port} .-> ${to}`).toMatch(new RegExp(`\\b${port}\\b`));
  }
});

test('every package of the code is in the picture, or is named beside it', () => {
  const page = readFileSync(join(root, 'docs/ARCHITECTURE.md'), 'utf8');
  const beside = page.slice(page.indexOf('## The picture'), page.indexOf('```mermaid'));
  const missing = Object.keys(mayImport).filter((name) => !drawn.has(name) && !beside.includes(`\`${name}\``));
  expect(missing).toEqual([]);
});
