import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

test.each([
  ['append', /segment .* ops\/s/],
  ['get-many', /segment .* a request/],
  ['sustained', /segment .* replayed \d+ records/],
])('the benchmark %s runs', async (name, printed) => {
  const directory = mkdtempSync(join(tmpdir(), 'engram-bench-'));
  try {
    const bench = join(import.meta.dirname, `../bench/${name}.bench.ts`);
    const env = { ...process.env, SMOKE: '1', DIR: directory };
    const { stdout } = await promisify(execFile)(process.execPath, [bench], { env });
    expect(stdout).toMatch(printed);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
