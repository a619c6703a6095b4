import { test } from 'vitest';

test('the benchmark runs, tiny', async () => {
  process.env['BENCH'] = 'smoke';
  await import('../bench/access.bench.ts');
});
