// Loads every module that a member may load, so that node writes them to its compile cache. `make setup` runs it with the
// flags of a member (packages/server/bin/runtime.sh): node does not use code that was compiled with others.
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const root = join(import.meta.dirname, '..');
// main.ts runs when it is loaded: `make setup` starts it for itself.
const notOfMembers = [
  ...['packages/sim/**', 'packages/engramctl/**', 'packages/*/src/testing/**'],
  'packages/server/src/main.ts',
];

for (const file of globSync('packages/*/{index.ts,src/**/*.ts}', { cwd: root, exclude: notOfMembers })) {
  await import(pathToFileURL(join(root, file)).href);
}
