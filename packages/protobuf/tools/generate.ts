/** Regenerates the modules of every message set. With --check it writes nothing, and fails if a module is out of date. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { emitAll } from './emit.ts';
import { emitDescriptors } from './emit-descriptors.ts';
import { emitJson } from './emit-json.ts';
import { messageSets } from './message-sets.ts';
import { loadRoot, readSchema } from './schema.ts';

const repository = join(import.meta.dirname, '../../..');
const check = process.argv.includes('--check');

for (const set of messageSets) {
  const schema = readSchema(set, loadRoot(set));
  const wanted = new Map([
    ...emitAll(schema, set.bounded),
    ...emitJson(schema, set.json ?? []),
    ...(set.described === undefined ? [] : [emitDescriptors(set.described)]),
  ]);
  const folder = join(repository, set.genFolder);
  mkdirSync(folder, { recursive: true });
  const present = readdirSync(folder);
  const surplus = present.filter((name) => !wanted.has(name));
  const stale = [...wanted].filter(
    ([name, text]) => !present.includes(name) || readFileSync(join(folder, name), 'utf8') !== text,
  );
  if (check) {
    for (const name of [...surplus, ...stale.map(([file]) => file)]) {
      console.error(`${set.genFolder}/${name} is not fresh: run make generate`);
      process.exitCode = 1;
    }
  } else {
    for (const name of surplus) rmSync(join(folder, name), { force: true });
    for (const [name, text] of stale) writeFileSync(join(folder, name), text);
  }
}
