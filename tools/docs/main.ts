// `make pictures`: writes docs/charts. `make docs`: makes the site. `make docs-serve`: shows it on 127.0.0.1:4173.
//   DOCS_BASE=/engram/            the path below which the site is served
//   DOCS_SOURCE_URL=https://...   where the files of the repository are, for links to those that are no page
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeChartFiles } from './chart-files.ts';
import { layOutSite, siteFolder } from './site.ts';

function run(program: string, ...args: readonly string[]): void {
  const { status, error } = spawnSync(program, args, { cwd: siteFolder, stdio: ['ignore', 'inherit', 'inherit'] });
  if (error !== undefined) throw error;
  if (status !== 0) process.exit(status ?? 1);
}

/** Installs the packages of the lock file, if those that are there are not of it. */
function install(): void {
  const stamp = join(siteFolder, 'node_modules/.lock-stamp');
  const lock = readFileSync(join(siteFolder, 'package-lock.json'), 'utf8');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return;
  run('npm', 'ci', '--ignore-scripts', '--no-progress', '--loglevel=error');
  writeFileSync(stamp, lock);
}

const vitepress = join(siteFolder, 'node_modules/vitepress/bin/vitepress.js');
const vite = join(siteFolder, 'node_modules/vite/bin/vite.js');
const base = process.env['DOCS_BASE'] ?? '/';

switch (process.argv[2]) {
  case 'pictures':
    writeChartFiles();
    break;
  case 'site':
    layOutSite({ base, sourceUrl: process.env['DOCS_SOURCE_URL'] });
    install();
    run(process.execPath, vitepress, 'build');
    console.log(`the site: ${join(siteFolder, 'dist')}`);
    break;
  case 'serve':
    // VitePress' own preview listens on all addresses.
    run(process.execPath, vite, 'preview', '--outDir', 'dist', '--base', base, '--host', '127.0.0.1', '--port', '4173');
    break;
  default:
    console.error('usage: main.ts pictures | site | serve');
    process.exit(2);
}
