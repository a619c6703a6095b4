import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Chart, chartSvg } from '../tools/docs/chart.ts';
import { charts } from '../tools/docs/charts.ts';
import { chartFiles } from '../tools/docs/chart-files.ts';
import { destinationOf, linkFault } from '../tools/docs/links.ts';
import { readMarkdown, replaceLinks, slugOf, tablesOfSection, withoutCode } from '../tools/docs/markdown.ts';
import { pages } from '../tools/docs/navigation.ts';
import { columnsOf, figureOf } from '../tools/docs/results.ts';
import { siteTexts } from '../tools/docs/site.ts';

const root = join(import.meta.dirname, '..');
const text = (path: string): string => readFileSync(join(root, path), 'utf8');
const everyMarkdown = globSync(['*.md', '{bench,deploy,docs,e2e,helm,packages,proto,test}/**/*.md'], {
  cwd: root,
  exclude: ['**/node_modules/**'],
}).sort();

describe('links', () => {
  test('every link of every page leads to a file, and to a heading where it names one', () => {
    expect(everyMarkdown.length).toBeGreaterThan(100);
    const faults = everyMarkdown.flatMap((source) =>
      readMarkdown(text(source)).links.flatMap(({ target }) => linkFault(source, target) ?? []),
    );
    expect(faults).toEqual([]);
  });

  test('a link to nothing is seen: a file, a heading, a file outside', () => {
    expect(linkFault('docs/TIKV.md', 'BOUNDS.md#one-number-for-all')).toBeUndefined();
    expect(linkFault('docs/TIKV.md', '#disk')).toBeUndefined();
    expect(linkFault('docs/TIKV.md', 'https://example.org/#x')).toBeUndefined();
    for (const target of ['NOTHING.md', 'BOUNDS.md#nothing', '#nothing', '../../x.md', '../Makefile#x'])
      expect(linkFault('docs/TIKV.md', target), target).toContain(target);
  });

  test('what code shows is neither link nor heading', () => {
    const page =
      '# A `b` & C\n\n```sh\n# no heading\n[x](y)\n```\n\n`[no](link)` [a `code`](to#there)\n\n## A b  c\n## A b  c\n';
    expect(readMarkdown(page).headings.map(({ slug }) => slug)).toEqual(['a-b--c', 'a-b--c-1', 'a-b--c-2']);
    expect(readMarkdown(page).links).toMatchObject([{ text: 'a `code`', target: 'to#there', picture: false }]);
    expect(replaceLinks('x [a](b) ![c](d) y', ({ target }) => target.toUpperCase())).toBe('x B D y');
    expect(slugOf("What is worse than etcd's, [here](x)?")).toBe('what-is-worse-than-etcds-here');
  });

  test('a destination is from the root, whatever the page', () => {
    expect(destinationOf('docs/decisions/x.md', '../TIKV.md#a')).toEqual({
      kind: 'inside',
      file: 'docs/TIKV.md',
      anchor: 'a',
    });
    expect(destinationOf('README.md', 'docs/decisions/')).toMatchObject({ file: 'docs/decisions' });
  });
});

describe('the navigation', () => {
  test('has every page of docs, each once, and only files that exist', () => {
    const sources = pages.map(({ source }) => source);
    expect(sources.filter((source) => !existsSync(join(root, source)))).toEqual([]);
    const missing = everyMarkdown.filter((path) => path.startsWith('docs/') && !sources.includes(path));
    expect(missing, 'tools/docs/navigation.ts lists the pages').toEqual([]);
    expect(new Set(sources).size).toBe(sources.length);
    expect(new Set(pages.map(({ path }) => path)).size).toBe(pages.length);
  });

  test('the front page leads to every page of docs but results and single decisions', () => {
    const front = readMarkdown(text('README.md')).links.flatMap(({ target }) => {
      const found = destinationOf('README.md', target);
      return found.kind === 'inside' ? [found.file] : [];
    });
    const own = pages.map(({ source }) => source).filter((source) => /^docs\/[^/]+$/.test(source));
    expect(own.filter((source) => !front.includes(source) && source !== 'docs/DEPENDENCIES.md')).toEqual([]);
  });

  test('the front page stays one page', () => {
    expect(text('README.md').split('\n').length).toBeLessThan(150);
  });

  test('every page begins with its title', () => {
    for (const { source } of pages) expect(readMarkdown(text(source)).headings[0]?.level, source).toBe(1);
  });
});

describe('the site', () => {
  const texts = siteTexts(undefined);

  test('links of its pages lead to its pages and their headings, and nothing else of the repository is linked', () => {
    for (const [path, page] of texts) {
      for (const { target, picture } of readMarkdown(page).links) {
        if (picture || /^https?:/.test(target)) continue;
        const [, address, anchor] = /^\/([^#]*)(?:#(.*))?$/.exec(target) ?? [];
        const linked = texts.get(address === '' ? 'index' : (address ?? ''));
        expect(linked, `${path}: ${target}`).toBeDefined();
        if (anchor === undefined) continue;
        expect(
          readMarkdown(linked!).headings.map(({ slug }) => slug),
          `${path}: ${target}`,
        ).toContain(anchor);
      }
    }
    expect(texts.get('index')).toContain('[Quick start](/quickstart)');
    expect(siteTexts('https://example.org/main').get('comparison')).toContain(
      '](https://example.org/main/e2e/kube-storage/README.md)',
    );
  });

  test('no page has what a template would take for its own: tags, and braces outside of code', () => {
    for (const [path, page] of texts) {
      const prose = withoutCode(page).replace(/^<figure class="chart">[\s\S]*?<\/figure>$/gm, '');
      expect(
        [...prose.matchAll(/\{\{|<[a-z/].*/gi)].map(([found]) => found),
        path,
      ).toEqual([]);
    }
  });

  test('flowcharts are in the part of the language that the site draws', () => {
    const pictures = [...texts.values()].flatMap((page) => [...page.matchAll(/```mermaid\n([^`]*)```/g)]);
    expect(pictures.length).toBeGreaterThan(0);
    for (const [, picture] of pictures) {
      const [head, ...lines] = picture!.trim().split('\n');
      expect(head).toBe('flowchart TD');
      for (const line of lines) expect(line.trim()).toMatch(/^[\w-]+( (-->|-\. \w+ \.->) [\w-]+)+$/);
    }
  });
});

describe('docs/FAILURES.md', () => {
  const catalogues = globSync('test/sim/mutants/*catalogue.ts', { cwd: root }).map(text);
  const mutants = new Set(
    catalogues.flatMap((each) => [...each.matchAll(/^ +name: '([a-z0-9-]+)'/gm)].map(([, name]) => name)),
  );
  const faults = text('e2e/chaos/faults.ts');
  const rows = [...text('docs/FAILURES.md').matchAll(/^\| (?!---)(.*) \|$/gm)]
    .map(([, row]) => row!.split(' | '))
    .filter(([first]) => first !== 'what fails' && first !== 'what');

  test('each line names what shows it', () => {
    expect(rows.length).toBeGreaterThan(40);
    expect(mutants.size).toBeGreaterThan(100);
    for (const [what, , shown] of rows) expect(shown, what).toMatch(/`[^`]+`/);
  });

  test.each(rows)('%s', (_, __, shown) => {
    for (const [, name] of shown!.matchAll(/`([^`]+)`/g)) {
      if (name!.includes('/')) expect(existsSync(join(root, name!)), name).toBe(true);
      else expect(mutants, name).toContain(name);
    }
    for (const [, fault] of shown!.matchAll(/"([^"]+)"/g)) expect(faults).toContain(`${fault}`);
  });
});

describe('pictures of measurements', () => {
  test('docs/charts is fresh (make pictures), and nothing else is in it', () => {
    const made = chartFiles();
    for (const [path, expected] of made) expect(existsSync(join(root, path)) ? text(path) : '', path).toBe(expected);
    const drawn = readdirSync(join(root, 'docs/charts')).map((name) => `docs/charts/${name}`);
    expect(drawn.filter((path) => !made.has(path))).toEqual([]);
  });

  test('a picture has the figures of the results, and a page shows it', () => {
    const shown = everyMarkdown.map(text).join('\n');
    const rates = charts().find(({ id }) => id === 'one-rate')!;
    const [, figures] = /\| put \|(.*?)\|\n/.exec(text('docs/BENCHMARKS.md'))!;
    expect(figures).toContain(rates.rows.find(({ label }) => label === 'put')!.figures[0]!.text);
    for (const { id } of charts()) expect(shown, id).toContain(`charts/${id}.svg)`);
  });

  test('a picture is for dark and light, tells all figures as text, and escapes names', () => {
    const chart: Chart = {
      id: 'x',
      title: 'A & B',
      unit: 'ms',
      scale: 'all',
      series: ['Engram', 'etcd'],
      rows: [
        { label: 'a < b', figures: [figureOf('1,200'), undefined] },
        { label: 'c', figures: [figureOf('600'), figureOf('1.5 + 2.5')] },
      ],
    };
    const svg = chartSvg(chart, { alone: true });
    expect(svg).toContain('prefers-color-scheme:dark');
    expect(chartSvg(chart, { alone: false })).not.toContain('<style>');
    expect(svg).toContain('<title id="x-title">A &amp; B</title>');
    expect(svg).toContain('ms. a &lt; b: Engram 1,200. c: Engram 600, etcd 1.5 + 2.5.');
    const bars = [...svg.matchAll(/<rect class="[ab]" x="\d+" y="\d+" width="(\d+)" height="11"/g)];
    const lengths = bars.map(([, length]) => Number(length));
    expect(lengths[0]).toBeGreaterThan(300);
    expect(lengths).toEqual([1200, 600, 4].map((value) => Math.round((value / 1200) * lengths[0]!)));
    expect(svg).not.toContain('\n\n');
  });

  test('a row of zeros has bars', () => {
    const rows = [{ label: 'count', figures: [figureOf('0.0'), figureOf('0.0')] }];
    const chart: Chart = { id: 'x', title: 'x', unit: 'us', scale: 'row', series: ['Engram', 'etcd'], rows };
    expect(chartSvg(chart, { alone: true })).not.toContain('NaN');
  });

  test('columns of a measure, by both forms of tables', () => {
    const table = (columns: string): { readonly columns: readonly string[]; readonly rows: [] } => ({
      columns: columns.split('|'),
      rows: [],
    });
    expect(columnsOf(table('w|Engram /s|etcd /s|ratio|p50 ms|etcd|p99 ms, Engram|etcd'), '/s')).toEqual([1, 2]);
    expect(columnsOf(table('w|Engram /s|etcd /s|ratio|p50 ms|etcd|p99 ms, Engram|etcd'), 'p99 ms')).toEqual([6, 7]);
    expect(columnsOf(table('w|engram cpu us: leader|etcd cpu us: leader'), 'cpu us')).toEqual([1, 2]);
    expect(() => columnsOf(table('w|x'), '/s')).toThrow('no columns of /s among w | x');
    expect([figureOf('1,092,541,841')?.value, figureOf('2 + 3.5')?.value, figureOf('-'), figureOf('')]).toEqual([
      1_092_541_841,
      5.5,
      undefined,
      undefined,
    ]);
  });

  test('tables of a section end with it', () => {
    const page =
      '## A\n\n| x | y |\n| --- | ---: |\n| 1 | a\\|b |\n\n### B\n\n| z |\n| --- |\n\n## C\n\n| n |\n| --- |\n';
    expect(tablesOfSection(page, 'a')).toEqual([
      { columns: ['x', 'y'], rows: [['1', 'a|b']] },
      { columns: ['z'], rows: [] },
    ]);
    expect(() => tablesOfSection(page, 'd')).toThrow('no heading with the anchor d');
  });
});
