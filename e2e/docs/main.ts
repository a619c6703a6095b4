/** Makes the site of the documentation, and follows every link in it. See README.md. */
import { execFile } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { pages } from '../../tools/docs/navigation.ts';
import { siteFolder } from '../../tools/docs/site.ts';
import { root } from '../../tools/release/bundle.ts';
import { equal, Judge } from '../support/judge.ts';

const judge = new Judge('docs');
const dist = join(siteFolder, 'dist');
const BUILD_MAX_MS = 240_000;
/** What npm and VitePress say, and the warnings of a bundler. */
const SAID_MAX_BYTES = 16 * 1024 * 1024;

await judge.check('the site is made', async () => {
  // The addresses below are those of a site that is served at the root.
  const { DOCS_BASE: _base, DOCS_SOURCE_URL: _url, ...env } = process.env;
  await promisify(execFile)(process.execPath, [join(root, 'tools/docs/main.ts'), 'site'], {
    env,
    timeout: BUILD_MAX_MS,
    maxBuffer: SAID_MAX_BYTES,
  });
});

/** The pages of the site by their files, as they are served. */
const made = new Map(
  globSync('**/*.html', { cwd: dist }).map((file) => [file, readFileSync(join(dist, file), 'utf8')] as const),
);
const fileOf = (path: string): string => `${path}.html`;

await judge.check(`each page is there, and has a heading: ${pages.length}`, async () => {
  const without = pages.filter(({ path }) => !/<h1 id=/.test(made.get(fileOf(path)) ?? ''));
  equal('pages without one', without.map(({ source }) => source).join(' '), '');
});

await judge.check('each page is in the sidebar of each', async () => {
  const wanted = pages.map(({ path }) => (path === 'index' ? '/' : `/${fileOf(path)}`));
  for (const { path } of pages) {
    const linked = new Set(linksOf(made.get(fileOf(path)) ?? ''));
    equal(`missing in ${path}`, wanted.filter((address) => !linked.has(address)).join(' '), '');
  }
});

await judge.check(
  'each link and picture leads to a file of the site, and to a heading where it names one',
  async () => {
    const faults: string[] = [];
    let followed = 0;
    for (const [file, page] of made) {
      for (const link of linksOf(page)) {
        if (/^(?:[a-z]+:|\/\/)/.test(link)) continue;
        followed += 1;
        const { pathname, hash } = new URL(link, `http://site/${file}`);
        const target = pathname.endsWith('/')
          ? `${pathname.slice(1)}index.html`
          : decodeURIComponent(pathname.slice(1));
        const anchor = decodeURIComponent(hash.slice(1));
        if (!existsSync(join(dist, target))) faults.push(`${file}: ${link}`);
        else if (anchor !== '' && !made.get(target)?.includes(` id="${anchor}"`)) faults.push(`${file}: ${link}`);
      }
    }
    equal('leads nowhere', [...new Set(faults)].join('\n'), '');
    equal('enough of them', followed > 1000, true);
  },
);
judge.end();

/** What a page links to and shows, as it is written there. */
function linksOf(page: string): readonly string[] {
  return [...page.matchAll(/ (?:href|src)="([^"]*)"/g)].map(([, address]) => address!.replaceAll('&amp;', '&'));
}
