import { createRequire } from 'node:module';
import { MetricRegistry } from '@engram/telemetry';
import { expect, test } from 'vitest';

const { cache } = createRequire(import.meta.url);
const isLoaded = (): boolean => Object.keys(cache).some((file) => file.includes('/prom-client/'));

test('what a scrape needs can be loaded before', async () => {
  const registry = new MetricRegistry();
  registry.counter('a_total', 'A.', () => 1);
  expect(isLoaded()).toBe(false);
  await registry.load();
  expect(isLoaded()).toBe(true);
  expect((await registry.render()).text).toContain('a_total 1');
});
