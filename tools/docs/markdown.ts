/** A heading of a page, with the anchor that leads to it. */
export interface Heading {
  readonly level: number;
  /** As written, with its markup. */
  readonly text: string;
  readonly slug: string;
}

/** A link or picture `[text](target)`, where it stands in the page. */
export interface Link {
  readonly picture: boolean;
  readonly text: string;
  readonly target: string;
  /** The place of the whole link in the page, in characters. */
  readonly start: number;
  readonly end: number;
}

export interface MarkdownPage {
  readonly headings: readonly Heading[];
  readonly links: readonly Link[];
}

/** Reads a page as GitHub does, as far as the pages of this repository go: no links by reference, no headings by underlines. */
export function readMarkdown(page: string): MarkdownPage {
  const prose = withoutCode(page);
  return { headings: headingsOf(page, prose), links: linksOf(page, prose) };
}

/** The same characters in the same places, but those of code, which are blank. */
export function withoutCode(page: string): string {
  const blank = (text: string): string => text.replace(/[^\n]/g, ' ');
  return page
    .replace(/^( *)```[\s\S]*?\n *```$/gm, blank)
    .replace(/(`+)(?!`)((?:(?!\1)[^\n]|\n(?!\n))*?)\1(?!`)/g, (_, ticks: string, code: string) => {
      return ticks + code.replace(/[^\n]/g, 'x') + ticks;
    });
}

function headingsOf(page: string, prose: string): readonly Heading[] {
  const seen = new Map<string, number>();
  return [...prose.matchAll(/^(#{1,6}) +\S.*$/gm)].map(({ 0: line, 1: marks, index }) => {
    const text = page.slice(index + marks!.length, index + line.length).trim();
    const slug = slugOf(text);
    const before = seen.get(slug) ?? 0;
    seen.set(slug, before + 1);
    return { level: marks!.length, text, slug: before === 0 ? slug : `${slug}-${before}` };
  });
}

/** The anchor of a heading by GitHub's rule: letters, figures, hyphens and underscores stay, a space becomes a hyphen. */
export function slugOf(heading: string): string {
  return heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');
}

function linksOf(page: string, prose: string): readonly Link[] {
  return [...prose.matchAll(/(!?)\[([^[\]]*)\]\(([^()\s]+)\)/g)].map(
    ({ 0: whole, 1: mark, 2: text, 3: target, index }) => ({
      picture: mark === '!',
      text: page.slice(index + mark!.length + 1, index + mark!.length + 1 + text!.length),
      target: target!,
      start: index,
      end: index + whole.length,
    }),
  );
}

/** The page with each link replaced by what `replacement` gives for it. */
export function replaceLinks(page: string, replacement: (link: Link) => string): string {
  let result = '';
  let at = 0;
  for (const link of readMarkdown(page).links) {
    result += page.slice(at, link.start) + replacement(link);
    at = link.end;
  }
  return result + page.slice(at);
}

export interface MarkdownTable {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** The tables in a section: from the heading whose anchor is `slug` to the next one of its level or above. */
export function tablesOfSection(page: string, slug: string): readonly MarkdownTable[] {
  const lines = page.split('\n');
  const { headings } = readMarkdown(page);
  const heading = headings.find((each) => each.slug === slug);
  if (heading === undefined) throw new Error(`no heading with the anchor ${slug}`);
  const isHeading = (line: string, { level, text }: Heading): boolean => line === `${'#'.repeat(level)} ${text}`;
  const begin = lines.findIndex((line) => isHeading(line, heading));
  const later = headings.slice(headings.indexOf(heading) + 1).find(({ level }) => level <= heading.level);
  const end = later === undefined ? lines.length : lines.findIndex((line, at) => at > begin && isHeading(line, later));
  return tablesOf(lines.slice(begin + 1, end));
}

function tablesOf(lines: readonly string[]): readonly MarkdownTable[] {
  const tables: MarkdownTable[] = [];
  for (const [at, line] of lines.entries()) {
    if (!/^\|[ :|-]+\|$/.test(line) || !lines[at - 1]?.startsWith('|')) continue;
    const after = lines.slice(at + 1);
    const length = after.findIndex((each) => !each.startsWith('|'));
    const rows = after.slice(0, length < 0 ? after.length : length).map(cellsOf);
    tables.push({ columns: cellsOf(lines[at - 1]!), rows });
  }
  return tables;
}

const cellsOf = (line: string): readonly string[] =>
  line
    .slice(1, line.trimEnd().lastIndexOf('|'))
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll('\\|', '|'));
