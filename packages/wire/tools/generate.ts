/**
 * Remakes packages/wire/src/gen/ from proto/. With --check it writes nothing and fails when a file is not what it would
 * write.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { emitAll } from './emit.ts';
import { loadRoot, readSchema } from './schema.ts';

const genFolder = join(import.meta.dirname, '../src/gen');
const protoFolder = join(import.meta.dirname, '../../../proto');

const wanted = emitAll(readSchema(loadRoot(protoFolder)));
mkdirSync(genFolder, { recursive: true });
const present = readdirSync(genFolder);
const stale = [
  ...present.filter((name) => !wanted.has(name)),
  ...[...wanted]
    .filter(([name, text]) => !present.includes(name) || readFileSync(join(genFolder, name), 'utf8') !== text)
    .map(([name]) => name),
];

if (process.argv.includes('--check')) {
  if (stale.length > 0) console.error(`not fresh, run node packages/wire/tools/generate.ts: ${stale.join(', ')}`);
  process.exitCode = stale.length > 0 ? 1 : 0;
} else {
  for (const name of stale) rmSync(join(genFolder, name), { force: true });
  for (const [name, text] of wanted) writeFileSync(join(genFolder, name), text);
}
