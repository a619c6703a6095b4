import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

test('the benchmark runs', () => {
  const bench = fileURLToPath(new URL('../bench/txn.bench.ts', import.meta.url));
  const printed = execFileSync(process.execPath, [bench], { env: { ...process.env, SMOKE: '1' }, encoding: 'utf8' });
  expect(printed).toMatch(/create: .* us CPU.*revision 2001\n/);
});
