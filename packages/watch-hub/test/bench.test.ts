import { expect, test, vi } from 'vitest';

test('the benchmarks run, tiny', async () => {
  process.env['BENCH'] = 'smoke';
  const log = vi.spyOn(console, 'log').mockImplementation(() => undefined);
  await import('../bench/publish.bench.ts');
  expect(log).toHaveBeenCalledTimes(6);
  await import('../bench/stalls.bench.ts');
  expect(log).toHaveBeenCalledTimes(6 + 10);
  log.mockRestore();
});
