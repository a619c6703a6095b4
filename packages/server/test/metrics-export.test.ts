import { mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CollectedExport, type CollectedMetric, MetricsCollector } from '@engram/metrics-otlp/testing';
import { Collector } from '@engram/tracing/testing';
import { expect, onTestFinished, test } from 'vitest';
import { Engram } from './support/engram-process.ts';
import { GrpcClient } from './support/grpc-client.ts';

const INTERVAL_MS = 300;
const NEVER_MS = 2 ** 31 - 1;

const to = ({ url }: MetricsCollector, intervalMs: number): Record<string, string> => ({
  OTEL_METRICS_EXPORTER: 'otlp',
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: url,
  OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: 'grpc',
  OTEL_METRIC_EXPORT_INTERVAL: String(intervalMs),
});

/** Values by series, each as `name{label="value",...}` with the labels in order. */
type Series = ReadonlyMap<string, number>;

const seriesOf = (name: string, labels: Readonly<Record<string, unknown>>): string =>
  `${name}{${Object.entries(labels)
    .map(([label, value]) => `${label}="${value}"`)
    .toSorted()
    .join()}}`;

function seriesOfPage(page: string): Series {
  const lines = page.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const [, name = '', labels = '', value = ''] = /^(\w+)(?:\{(.*?)\})? (\S+)/.exec(line)!;
      const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label, text]) => [label, text]);
      return [seriesOf(name, Object.fromEntries(pairs)), value === '+Inf' ? Number.POSITIVE_INFINITY : Number(value)];
    }),
  );
}

function seriesOfExport({ metrics }: CollectedExport): Series {
  const series = new Map<string, number>();
  for (const { name, points } of metrics) {
    for (const { labels, value, histogram } of points) {
      if (histogram === undefined) {
        series.set(seriesOf(name, labels), value!);
        continue;
      }
      let below = 0;
      for (const [at, count] of histogram.counts.entries()) {
        below += count;
        series.set(seriesOf(`${name}_bucket`, { ...labels, le: String(histogram.bounds[at] ?? '+Inf') }), below);
      }
      series.set(seriesOf(`${name}_sum`, labels), histogram.sum);
      series.set(seriesOf(`${name}_count`, labels), histogram.count);
    }
  }
  return series;
}

const named = ({ metrics }: CollectedExport, name: string): CollectedMetric =>
  metrics.find((metric) => metric.name === name)!;

/** How many puts an export counts, and since when. */
function putsIn(got: CollectedExport): { readonly count: number; readonly startMs: number; readonly atMs: number } {
  const { points } = named(got, 'grpc_server_started_total');
  const { value, startMs, atMs } = points.find(({ labels }) => labels['grpc_method'] === 'Put')!;
  return { count: value!, startMs, atMs };
}

test('all that /metrics has is exported, with the same names, labels, types, helps and values', async () => {
  await using collector = await MetricsCollector.start();
  // A stretch of the event loop above its budget makes series of its own, at any time.
  const flags = ['--metrics=extensive', '--loop-budget=1h'];
  await using node = await Engram.start(flags, { env: to(collector, INTERVAL_MS) });
  {
    using client = new GrpcClient(node.url);
    for (let key = 0; key < 20; key += 1) {
      await client.put(`k${key}`, 'v');
      await client.get(`k${key}`);
    }
  }
  const scrape = async (accept: string): Promise<string> =>
    await (await fetch(`${node.url}/metrics`, { headers: { accept } })).text();
  const text = await scrape('text/plain');
  const scrapedMs = Date.now();
  const got = await collector.until(({ metrics }) => metrics[0]!.points[0]!.atMs > scrapedMs);
  const [before, exported] = [seriesOfPage(text), seriesOfExport(got)];
  // The other format, because a page is kept for a second.
  const after = seriesOfPage(await scrape('application/openmetrics-text'));

  const names = (series: Series): readonly string[] => [...series.keys()].toSorted();
  expect(names(exported)).toEqual(names(before));
  expect(names(exported)).toEqual(names(after));
  expect(exported.size).toBeGreaterThan(1000);
  const still = [...exported].filter(([name]) => before.get(name) === after.get(name));
  expect(still.filter(([name, value]) => !Object.is(value, before.get(name)))).toEqual([]);
  // Most of a member without calls stands still. What moves is the process and its event loop.
  expect(still.length).toBeGreaterThan(0.9 * exported.size);

  const types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name!, type!]));
  const helps = new Map([...text.matchAll(/^# HELP (\S+) (.*)$/gm)].map(([, name, help]) => [name!, help!]));
  const kinds: Readonly<Record<string, string>> = { counter: 'sum', gauge: 'gauge', histogram: 'histogram' };
  expect(got.metrics.map(({ name, kind, help }) => [name, kind, help]).toSorted()).toEqual(
    [...types].map(([name, type]) => [name, kinds[type], helps.get(name)]).toSorted(),
  );
  for (const { kind, temporality, monotonic } of got.metrics) {
    expect([kind, temporality, monotonic]).toEqual([kind, kind === 'gauge' ? 0 : 2, kind === 'sum']);
  }
});

test('a stop sends what was counted up to it, and a member that starts anew counts from then on', async () => {
  await using collector = await MetricsCollector.start();
  const puts = async (count: number): Promise<void> => {
    await using node = await Engram.start(['--metrics=extensive'], { env: to(collector, NEVER_MS) });
    using client = new GrpcClient(node.url);
    for (let key = 0; key < count; key += 1) await client.put(`k${key}`, 'v');
    expect((await node.stop()).code).toBe(0);
  };
  const fromMs = Date.now();
  await puts(5);
  await puts(2);
  const [first, second, ...others] = collector.exports.map(putsIn);
  expect(others).toEqual([]);
  expect([first?.count, second?.count]).toEqual([5, 2]);
  expect(first!.startMs).toBeGreaterThanOrEqual(fromMs);
  expect(second!.startMs).toBeGreaterThan(first!.atMs);
});

test.skipIf(process.platform !== 'linux')('the last reading is of a member whose files are open', async () => {
  await using collector = await MetricsCollector.start();
  await using node = await Engram.start([], { env: to(collector, NEVER_MS) });
  const folder = `/proc/${node.child.pid}/fd`;
  const open = readdirSync(folder).map((name) => readlinkSync(join(folder, name)));
  const files = open.filter((target) => target.startsWith(node.dataDir));
  const sockets = open.filter((target) => target.startsWith('socket:'));
  expect(files.length).toBeGreaterThan(sockets.length);
  expect((await node.stop()).code).toBe(0);
  // Sockets are closed by then.
  const [point] = named(collector.exports[0]!, 'os_fd_used').points;
  expect(point?.value).toBeGreaterThanOrEqual(open.length - sockets.length);
});

test('traces and metrics have one resource, and the exemplars of the metrics name the traces', async () => {
  await using collector = await MetricsCollector.start();
  await using traces = await Collector.start();
  const flags = [
    '--metrics=extensive',
    '--enable-distributed-tracing',
    `--distributed-tracing-address=${traces.address}`,
    '--distributed-tracing-sampling-rate=1000000',
    '--distributed-tracing-instance-id=m7',
  ];
  const env = { ...to(collector, NEVER_MS), OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test' };
  {
    await using node = await Engram.start(flags, { env });
    using client = new GrpcClient(node.url);
    await client.put('k', 'v');
    expect((await node.stop()).code).toBe(0);
  }
  const [got] = collector.exports;
  const put = traces.spans.find(({ name }) => name === 'etcdserverpb.KV/Put');
  expect(put?.resource).toMatchObject({ 'service.name': 'etcd', 'service.instance.id': 'm7' });
  for (const { resource, scope } of got!.metrics) expect([resource, scope]).toEqual([put?.resource, put?.scope]);
  const named = got!.metrics.flatMap(({ points }) => points.flatMap(({ histogram }) => histogram?.exemplars ?? []));
  expect(new Set(named.map(({ traceId }) => traceId))).toEqual(new Set([put?.traceId]));
  expect(named.length).toBeGreaterThanOrEqual(3);
});

test('a member without an id for traces is told by its name', async () => {
  await using collector = await MetricsCollector.start();
  await using node = await Engram.start(['--name=m3'], { env: to(collector, NEVER_MS) });
  expect((await node.stop()).code).toBe(0);
  expect(named(collector.exports[0]!, 'process_start_time_seconds').resource['service.instance.id']).toBe('m3');
});

test('a collector that does not answer holds a stop no longer than a second', async () => {
  await using collector = await MetricsCollector.start({ silent: true });
  await using node = await Engram.start([], { env: to(collector, NEVER_MS) });
  const { code } = await node.stop();
  expect(code).toBe(0);
  const messages = node.lines.map(({ msg }) => msg);
  expect(messages).toContain('the last metrics were not sent');
  expect(messages).not.toContain('the stop took too long');
});

/** Prints the file of each module of OpenTelemetry that is loaded. */
const HOOKS = `import { registerHooks } from 'node:module';
registerHooks({
  load(url, context, next) {
    if (url.includes('/@opentelemetry/')) process.stderr.write(JSON.stringify({ msg: 'loaded', url }) + '\\n');
    return next(url, context);
  },
});
`;

test.for([
  [{}, []],
  [
    { OTEL_METRICS_EXPORTER: 'otlp', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' },
    [
      'core',
      'otlp-exporter-base',
      'otlp-grpc-exporter-base',
      'otlp-transformer',
      'resources',
      'sdk-metrics',
      'semantic-conventions',
    ],
  ],
] as const)('with %j of OpenTelemetry is loaded: %j', async ([env, expected]) => {
  const folder = mkdtempSync(join(tmpdir(), 'engram-hooks-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const hooks = join(folder, 'hooks.mjs');
  writeFileSync(hooks, HOOKS);
  await using node = await Engram.start([], { env: { ...env, NODE_OPTIONS: `--import=${hooks}` } });
  await node.stop();
  const loaded = node.lines.filter(({ msg }) => msg === 'loaded').map(({ url }) => String(url));
  const packages = new Set(loaded.map((url) => /\/@opentelemetry\/([^/]+)/.exec(url)?.[1] ?? ''));
  // prom-client asks for the API, to name traces by itself.
  packages.delete('api');
  expect(packages.has('sdk-node')).toBe(false);
  expect([...packages].toSorted()).toEqual(expected);
});
