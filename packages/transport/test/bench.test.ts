import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

test('the benchmark runs', async () => {
  const bench = join(import.meta.dirname, '../bench/serving.bench.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [bench], { env: { ...process.env, BENCH: 'smoke' } });
  expect(stdout.match(/us CPU each/g)).toHaveLength(5);
});
