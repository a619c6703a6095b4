import { copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { root } from './root.ts';
import { type Chart, chartSvg } from './chart.ts';
import { charts } from './charts.ts';
import { destinationOf } from './links.ts';
import { readMarkdown, replaceLinks, withoutCode } from './markdown.ts';
import { navigation, type Page, pages } from './navigation.ts';

/** Where the site is made. Nothing in it is tracked; `dist` is the site. */
export const siteFolder = join(root, '.site');

/**
 * Lays the project of VitePress out in `siteFolder`, with the packages that are there: what docs/site has, the navigation, and the pages as
 * the site needs them. Links to pages lead to them, pictures of measurements stand in the page, so that they follow its colours. A link
 * to a file that is no page leads below `sourceUrl`; without it its text alone stays.
 */
export function layOutSite(options: { readonly base: string; readonly sourceUrl: string | undefined }): void {
  for (const part of ['.vitepress', 'pages', 'dist']) rmSync(join(siteFolder, part), { recursive: true, force: true });
  const config = join(siteFolder, '.vitepress');
  cpSync(join(root, 'docs/site/vitepress'), config, { recursive: true });
  copyFileSync(join(root, 'tools/docs/markdown.ts'), join(config, 'markdown.ts'));
  for (const file of ['package.json', 'package-lock.json', '.npmrc', 'tsconfig.json'])
    copyFileSync(join(root, 'docs/site', file), join(siteFolder, file));
  const sections = navigation.map((section) => ({
    title: section.title,
    pages: section.pages.map((page) => ({ title: page.title, link: addressOf(page) })),
  }));
  writeFileSync(join(config, 'navigation.json'), JSON.stringify({ base: options.base, sections }));
  for (const [path, text] of siteTexts(options.sourceUrl)) {
    const file = join(siteFolder, 'pages', `${path}.md`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  for (const picture of otherPictures()) {
    const file = join(siteFolder, 'pages/public', pictureAddress(picture));
    mkdirSync(dirname(file), { recursive: true });
    copyFileSync(join(root, picture), file);
  }
}

/** The texts of the pages as the site has them, by their paths in it. */
export function siteTexts(sourceUrl: string | undefined): ReadonlyMap<string, string> {
  const drawn = new Map(charts().map((chart) => [`docs/charts/${chart.id}.svg`, chart]));
  return new Map(pages.map((page) => [page.path, siteText(page, drawn, sourceUrl)]));
}

const addressOf = ({ path }: Page): string => (path === 'index' ? '/' : `/${path}`);

function siteText(page: Page, drawn: ReadonlyMap<string, Chart>, sourceUrl: string | undefined): string {
  const text = withoutTags(readFileSync(join(root, page.source), 'utf8'));
  return replaceLinks(text, (link) => {
    const found = destinationOf(page.source, link.target);
    if (found.kind === 'elsewhere') return text.slice(link.start, link.end);
    if (link.picture) {
      const chart = drawn.get(found.file);
      if (chart === undefined) return `![${link.text}](${pictureAddress(found.file)})`;
      return `<figure class="chart">\n${chartSvg(chart, { alone: false })}</figure>`;
    }
    const target = pageOf(found.file);
    if (target === undefined) return sourceUrl === undefined ? link.text : `[${link.text}](${sourceUrl}/${found.file})`;
    const anchor = found.anchor === undefined ? '' : `#${found.anchor}`;
    // A path says nothing to a reader of the site.
    const shown = link.text.endsWith('.md') ? target.title : link.text;
    return `[${shown}](${addressOf(target)}${anchor})`;
  });
}

/** Outside of code, `<name>` and `{{` are text: the site would take them for a tag and an expression. */
function withoutTags(text: string): string {
  let result = '';
  let at = 0;
  for (const { 0: found, index } of withoutCode(text).matchAll(/<(?=[a-z/])(?!https?:)|\{\{/gi)) {
    result += text.slice(at, index) + (found === '<' ? '&lt;' : '&#123;&#123;');
    at = index + found.length;
  }
  return result + text.slice(at);
}

/** A folder without a page of its own is its first page. */
const pageOf = (file: string): Page | undefined =>
  pages.find(({ source }) => source === file || source === `${file}/README.md`) ??
  pages.find(({ source }) => source.startsWith(`${file}/`));

const pictureAddress = (file: string): string => `/pictures/${basename(file)}`;

/** Pictures of pages that are files of their own, and not drawn from results. */
function otherPictures(): readonly string[] {
  return pages.flatMap(({ source }) =>
    readMarkdown(readFileSync(join(root, source), 'utf8')).links.flatMap(({ picture, target }) => {
      const found = destinationOf(source, target);
      return picture && found.kind === 'inside' && !found.file.startsWith('docs/charts/') ? [found.file] : [];
    }),
  );
}
