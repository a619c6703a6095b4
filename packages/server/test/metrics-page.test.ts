import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { SimClock } from '@engram/sim';
import { MetricRegistry } from '@engram/telemetry';
import { MetricsPage } from '../src/http/metrics-page.ts';

function start(): { page: MetricsPage; clock: SimClock; reads(): number } {
  const registry = new MetricRegistry();
  let reads = 0;
  registry.counter('reads_total', 'How often it was read.', () => {
    reads += 1;
    return reads;
  });
  const clock = new SimClock();
  return { page: new MetricsPage(registry, clock), clock, reads: () => reads };
}

test('a second of questions is one text, whose bytes all share', async () => {
  const { page, clock, reads } = start();
  const answers = await Promise.all(Array.from({ length: 1_000 }, () => page.answer(undefined, undefined)));
  clock.advance(999);
  answers.push(await page.answer(undefined, undefined));
  expect(reads()).toBe(1);
  expect(new Set(answers.map(({ body }) => body)).size).toBe(1);
  clock.advance(1);
  expect(String((await page.answer(undefined, undefined)).body)).toContain('reads_total 2');
});

test('compressed, for who takes it, once', async () => {
  const { page } = start();
  const [first, second] = await Promise.all([
    page.answer(undefined, 'gzip'),
    page.answer(undefined, 'deflate, gzip;q=0.5'),
  ]);
  expect(first?.headers['content-encoding']).toBe('gzip');
  expect(first?.body).toBe(second?.body);
  expect(first?.body instanceof Uint8Array && gunzipSync(first.body).toString()).toContain('reads_total 1');
});

test.each([undefined, '', 'identity', 'gzip;q=0', 'gzip;q=0.0, br', 'x-gzip', 'br'])(
  '%s is no gzip',
  async (accept) => {
    const { page } = start();
    expect((await page.answer(undefined, accept)).headers).not.toHaveProperty('content-encoding');
  },
);

test('a text that could not be made is made anew a second later', async () => {
  const registry = new MetricRegistry();
  let broken = true;
  registry.counter('some_total', 'Some.', () => {
    if (broken) throw new Error('not yet');
    return 1;
  });
  const clock = new SimClock();
  const page = new MetricsPage(registry, clock);
  await expect(page.answer(undefined, undefined)).rejects.toThrow('not yet');
  broken = false;
  clock.advance(1000);
  expect((await page.answer(undefined, undefined)).status).toBe(200);
});

test.each([
  ['application/openmetrics-text', true],
  ['application/openmetrics-text;version=1.0.0;q=0.6,text/plain;version=0.0.4;q=0.5', true],
  ['application/openmetrics-text; version=1.0.0, text/plain', true],
  ['text/plain;q=0.5, Application/OpenMetrics-Text;escaping=allow-utf-8;version=1.0.0;q=0.6', true],
  ['application/openmetrics-text;version=0.0.1', false],
  ['application/openmetrics-text;q=0', false],
  ['application/openmetrics-text;q=0.1, text/plain;q=0.2', false],
  ['application/openmetrics-text;q=x', false],
  ['text/plain', false],
  ['*/*', false],
  ['', false],
])('who accepts %j gets OpenMetrics: %s', async (accept, open) => {
  const { page } = start();
  const { headers, body } = await page.answer(accept, undefined);
  expect(headers['content-type']).toMatch(open ? /^application\/openmetrics-text; version=1\.0\.0/ : /^text\/plain/);
  expect(String(body).endsWith('# EOF\n')).toBe(open);
});

test('each format is a text of its own', async () => {
  const { page, reads } = start();
  const accept = 'application/openmetrics-text';
  const [first, other, again] = [
    await page.answer(accept, undefined),
    await page.answer('', undefined),
    await page.answer(accept, undefined),
  ];
  expect(first.body).toBe(again.body);
  expect(first.body).not.toBe(other.body);
  expect(reads()).toBe(2);
});
