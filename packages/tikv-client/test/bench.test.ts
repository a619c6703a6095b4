import { test } from 'vitest';

test('the benchmarks run, tiny', async () => {
  process.env['BENCH'] = 'smoke';
  await import('../bench/messages.bench.ts');
});
