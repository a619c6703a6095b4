import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const src = join(import.meta.dirname, '../src');

/** The folders of src from which the files of one folder import. */
function importedBy(folder: string): readonly string[] {
  const imported = new Set<string>();
  for (const file of readdirSync(join(src, folder))) {
    const text = readFileSync(join(src, folder, file), 'utf8');
    for (const [, name] of text.matchAll(/from '\.\.\/([a-z0-9-]+)\//g)) imported.add(name!);
  }
  return [...imported].sort();
}

test.each([
  { folder: 'h2', imports: [], why: 'HTTP/2 does not know what it carries' },
  { folder: 'http', imports: ['h2'], why: 'plain HTTP goes over it' },
  { folder: 'grpc', imports: ['h2'], why: 'so do calls' },
])('$folder imports $imports: $why', ({ folder, imports }) => {
  expect(importedBy(folder)).toEqual(imports);
});
