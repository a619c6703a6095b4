import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './root.ts';
import type { Chart, ChartRow, Figure } from './chart.ts';
import { destinationOf } from './links.ts';
import { type MarkdownTable, readMarkdown, tablesOfSection } from './markdown.ts';

/** The page that says which results are the newest. */
const INDEX = 'docs/BENCHMARKS.md';

/**
 * A section of the results that docs/BENCHMARKS.md links to as the newest: in the row of its first table that has `command`,
 * or anywhere, with the anchor. Pictures are so always of what that page calls the newest.
 */
export interface Source {
  readonly command?: string;
  /** The anchor of the section. */
  readonly section: string;
}

/** The first table of the section; undefined if the file of the results has no such section. */
export function tableOf(
  { command, section }: Source,
  index = readFileSync(join(root, INDEX), 'utf8'),
): MarkdownTable | undefined {
  const lines = index
    .split('\n')
    .filter((line) => (command === undefined ? line.includes(`#${section})`) : line.includes(`\`${command}\``)));
  const targets = lines.flatMap((line) => readMarkdown(line).links.map(({ target }) => target));
  const target = targets.find((each) => command !== undefined || each.endsWith(`#${section}`));
  const found = target === undefined ? undefined : destinationOf(INDEX, target);
  if (found?.kind !== 'inside') throw new Error(`${INDEX} names no results for ${command ?? section}`);
  const page = readFileSync(join(root, found.file), 'utf8');
  if (!readMarkdown(page).headings.some(({ slug }) => slug === section)) return undefined;
  const [table] = tablesOfSection(page, section);
  if (table === undefined) throw new Error(`${found.file}#${section} has no table`);
  return table;
}

/** Of `184,237`; of `13.8 + 13.5`, whose value is the sum. Undefined where the cell has no figure. */
export function figureOf(cell: string): Figure | undefined {
  const parts = cell.split('+').map((part) => Number(part.replaceAll(',', '').trim()));
  if (cell.trim() === '' || parts.some((part) => !Number.isFinite(part))) return undefined;
  return { text: cell.trim(), value: parts.reduce((sum, part) => sum + part, 0) };
}

const plain = (column: string): string => column.toLowerCase().replaceAll(' ', '');

/**
 * Where a table has a measure of both stores: `Engram p99 ms` and `etcd p99 ms`, or `p99 ms` (`p99 ms, Engram`) with `etcd` behind it. The
 * name of a column begins with the measure, in any case and without spaces.
 */
export function columnsOf({ columns }: MarkdownTable, measure: string): readonly [engram: number, etcd: number] {
  const names = columns.map(plain);
  const wanted = plain(measure);
  const named = (store: string): number => names.findIndex((name) => name.startsWith(`${store}${wanted}`));
  const both = [named('engram'), named('etcd')] as const;
  if (both[0] >= 0 && both[1] >= 0) return both;
  const first = names.findIndex((name, at) => name.startsWith(wanted) && names[at + 1] === 'etcd');
  if (first < 0) throw new Error(`no columns of ${measure} among ${columns.join(' | ')}`);
  return [first, first + 1];
}

/** Rows of a table, as bars of both stores; `label` gives the text of a row, undefined for a row that is left out. */
export function storeRows(
  source: Source,
  measure: string,
  label: (name: string) => string | undefined = (name) => name,
): readonly ChartRow[] {
  const table = tableOf(source);
  if (table === undefined) return [];
  const [engram, etcd] = columnsOf(table, measure);
  return table.rows.flatMap((cells) => {
    const text = label(cells[0] ?? '');
    return text === undefined
      ? []
      : [{ label: text, figures: [cells[engram], cells[etcd]].map((cell) => figureOf(cell ?? '')) }];
  });
}

/** The rows of a table, with the columns that have these names. */
export function columnRows(source: Source, names: readonly string[]): readonly ChartRow[] {
  const table = tableOf(source);
  if (table === undefined) return [];
  const at = names.map((name) => {
    const found = table.columns.map(plain).indexOf(plain(name));
    if (found < 0) throw new Error(`no column ${name} among ${table.columns.join(' | ')}`);
    return found;
  });
  return table.rows.map((cells) => ({ label: cells[0] ?? '', figures: at.map((each) => figureOf(cells[each] ?? '')) }));
}

/** Whether a picture has what it is to show: a figure in each row. */
export const isDrawable = ({ rows }: Chart): boolean =>
  rows.length > 0 && rows.every(({ figures }) => figures.some((figure) => figure !== undefined));
