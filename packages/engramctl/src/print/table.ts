/** Columns of text, the first row the heads, in a frame as etcdctl's. Numbers stand on the right. */
export function tableText(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = heads.map(({ length }) => length);
  // Not by `Math.max` of them all: a tree may have more rows than a call may have arguments.
  for (const row of rows) for (const [at, { length }] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, length);
  const line = (left: string, middle: string, right: string): string =>
    `${left}${widths.map((width) => '─'.repeat(width + 2)).join(middle)}${right}\n`;
  const rowText = (row: readonly string[]): string =>
    `│${widths.map((width, at) => ` ${aligned(row[at] ?? '', width)} `).join('│')}│\n`;
  return [line('┌', '┬', '┐'), rowText(heads), line('├', '┼', '┤'), ...rows.map(rowText), line('└', '┴', '┘')].join('');
}

const aligned = (text: string, width: number): string =>
  /^-?[\d.]+(?: (?:[kMGTPE]?B|ms|%))?$/.test(text) ? text.padStart(width) : text.padEnd(width);
