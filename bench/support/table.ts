/** A table: a heading and rows of cells. The first column is text, the others are figures. */
export interface Table {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

const widthsOf = (table: Table): number[] =>
  table.columns.map((column, at) => Math.max(column.length, ...table.rows.map((row) => row[at]?.length ?? 0)));

const pad = (cell: string, at: number, width: number): string => (at === 0 ? cell.padEnd(width) : cell.padStart(width));

export function toText(table: Table): string {
  const widths = widthsOf(table);
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, at) => pad(cell, at, widths[at] ?? 0))
      .join('  ')
      .trimEnd();
  return [table.title, line(table.columns), ...table.rows.map(line)].join('\n');
}

/** Formats for Markdown files. Escapes `|` in cells. */
export function toMarkdown(table: Table): string {
  const escaped = {
    ...table,
    columns: table.columns.map(escapeCell),
    rows: table.rows.map((row) => row.map(escapeCell)),
  };
  const widths = widthsOf(escaped);
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, at) => pad(cell, at, widths[at] ?? 0)).join(' | ')} |`;
  const rule = widths.map((width, at) => (at === 0 ? '-'.repeat(width) : `${'-'.repeat(Math.max(width - 1, 1))}:`));
  return [`## ${table.title}`, '', line(escaped.columns), line(rule), ...escaped.rows.map(line), ''].join('\n');
}

const escapeCell = (cell: string): string => cell.replaceAll('|', '\\|');
