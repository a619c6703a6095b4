import type { Logger } from '@engram/core';
import { Loop } from '@engram/loop';
import { startMetricsExport, type MetricsExportOptions } from '@engram/metrics-otlp';
import { type CollectedMetric, MetricsCollector } from '@engram/metrics-otlp/testing';
import { quiet, realClock } from '@engram/sim';
import { MetricRegistry, RpcMetrics } from '@engram/telemetry';
import { describe, expect, onTestFinished, test, vi } from 'vitest';

const PUT = '/etcdserverpb.KV/Put';
const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const START_MS = 1_700_000_000_000;
/** Exports come at the end alone, but where a test says otherwise. */
const NEVER_MS = 2 ** 31 - 1;

const loop = new Loop({ clock: realClock });

function optionsFor(
  registry: MetricsExportOptions['registry'],
  more: Partial<MetricsExportOptions>,
): MetricsExportOptions {
  return {
    registry,
    protocol: 'grpc',
    intervalMs: NEVER_MS,
    timeoutMs: 10_000,
    startWallMs: START_MS,
    serviceName: 'etcd',
    instanceId: 'm1',
    version: '1.2.3',
    resourceDetectors: '',
    stopMs: 60_000,
    clock: realClock,
    loop,
    logger: quiet,
    ...more,
  };
}

function setVariables(variables: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
}

/** What one export of the registry tells, by name. */
async function exported(
  registry: MetricRegistry,
  more: Partial<MetricsExportOptions> = {},
): Promise<ReadonlyMap<string, CollectedMetric>> {
  await using collector = await MetricsCollector.start({ protocol: more.protocol ?? 'grpc' });
  setVariables({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
  {
    await using _ = startMetricsExport(optionsFor(registry, more));
  }
  const [first, ...others] = collector.exports;
  expect(others).toEqual([]);
  const byName = new Map(first?.metrics.map((metric) => [metric.name, metric]));
  expect(byName.size).toBe(first?.metrics.length);
  return byName;
}

interface Line {
  readonly message: string;
  readonly fields: object;
}

function listening(): { readonly lines: Line[]; readonly logger: Logger } {
  const lines: Line[] = [];
  const line = (fields: object, message: string): void => void lines.push({ fields, message });
  return { lines, logger: { debug: line, info: line, warn: line, error: line } };
}

describe.each(['grpc', 'http/protobuf'] as const)('by %s', (protocol) => {
  test('a counter, a gauge and a histogram have their names, units, labels, values and times', async () => {
    const registry = new MetricRegistry();
    registry.counter('a_bytes_total', 'A.', () => [{ labels: { of: 'x', code: 7 }, value: 3 }]);
    registry.gauge('b', 'B.', () => -0.5);
    const histogram = registry.histogram('c_seconds', 'C.', [0.5, 1]);
    for (const value of [0.5, 0.7, 3, 4]) histogram.observe(value);
    const beforeMs = Date.now();
    const metrics = await exported(registry, { protocol });
    const times = { startMs: START_MS, atMs: expect.any(Number) };
    const common = {
      scope: 'engram',
      resource: { 'service.name': 'etcd', 'service.instance.id': 'm1', 'service.version': '1.2.3' },
    };
    expect([...metrics.values()]).toEqual([
      {
        ...common,
        kind: 'sum',
        name: 'a_bytes_total',
        help: 'A.',
        unit: 'By',
        temporality: 2,
        monotonic: true,
        points: [{ ...times, labels: { of: 'x', code: '7' }, value: 3 }],
      },
      {
        ...common,
        kind: 'gauge',
        name: 'b',
        help: 'B.',
        unit: '',
        temporality: 0,
        monotonic: false,
        points: [{ ...times, labels: {}, value: -0.5 }],
      },
      {
        ...common,
        kind: 'histogram',
        name: 'c_seconds',
        help: 'C.',
        unit: 's',
        temporality: 2,
        monotonic: false,
        points: [
          {
            ...times,
            labels: {},
            histogram: { count: 4, sum: 8.2, counts: [1, 1, 2], bounds: [0.5, 1], exemplars: [] },
          },
        ],
      },
    ]);
    const { atMs } = metrics.get('b')!.points[0]!;
    expect(atMs).toBeGreaterThanOrEqual(beforeMs);
    expect(atMs).toBeLessThanOrEqual(Date.now());
  });

  test('headers, compression and an address of their own', async () => {
    await using collector = await MetricsCollector.start({ protocol });
    setVariables({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
      OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${collector.url}${protocol === 'grpc' ? '' : '/v1/metrics'}`,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=a',
      OTEL_EXPORTER_OTLP_METRICS_COMPRESSION: 'gzip',
    });
    const registry = new MetricRegistry();
    registry.gauge('b', 'B.', () => 1);
    {
      await using _ = startMetricsExport(optionsFor(registry, { protocol }));
    }
    expect(collector.exports[0]?.metrics).toHaveLength(1);
    expect(collector.exports[0]?.headers['x-tenant']).toBe('a');
  });

  test('a collector that is gone keeps nobody, and is told once', async () => {
    const collector = await MetricsCollector.start({ protocol });
    setVariables({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    await collector[Symbol.asyncDispose]();
    const { lines, logger } = listening();
    let reads = 0;
    const several = Promise.withResolvers<void>();
    const registry = new MetricRegistry();
    registry.gauge('b', 'B.', () => {
      reads += 1;
      if (reads === 4) several.resolve();
      return 1;
    });
    const options = { protocol, logger, intervalMs: 20, timeoutMs: 20, stopMs: 1000 };
    const sending = startMetricsExport(optionsFor(registry, options));
    await several.promise;
    await sending[Symbol.asyncDispose]();
    expect(lines.filter(({ message }) => message === 'metrics are not sent')).toHaveLength(1);
  });

  test('a collector that never answers holds a stop for its bound, and two requests at most', async () => {
    await using collector = await MetricsCollector.start({ protocol, silent: true });
    setVariables({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    const { lines, logger } = listening();
    const registry = new MetricRegistry();
    registry.gauge('b', 'B.', () => 1);
    const options = { protocol, logger, intervalMs: NEVER_MS, timeoutMs: 600_000, stopMs: 300 };
    const sending = startMetricsExport(optionsFor(registry, options));
    const fromMs = performance.now();
    await sending[Symbol.asyncDispose]();
    expect(performance.now() - fromMs).toBeGreaterThanOrEqual(299);
    expect(lines.map(({ message }) => message)).toEqual(['the last metrics were not sent']);
    expect(collector.exports.length).toBeLessThanOrEqual(2);
  });

  test('what the collector has not taken is told', async () => {
    await using collector = await MetricsCollector.start({ protocol, rejects: { points: 7, why: 'too old' } });
    setVariables({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    const { lines, logger } = listening();
    {
      await using _ = startMetricsExport(optionsFor(withGauge(), { protocol, logger }));
    }
    expect(lines).toEqual([
      { message: 'the collector has not taken all metrics', fields: { points: 7, why: 'too old' } },
    ]);
  });
});

function withGauge(read = (): number => 1): MetricRegistry {
  const registry = new MetricRegistry();
  registry.gauge('b', 'B.', read);
  return registry;
}

test('exports follow each other, each with what is read then and the start of the counters', async () => {
  await using collector = await MetricsCollector.start();
  setVariables({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
  const registry = new MetricRegistry();
  let count = 0;
  registry.counter('a_total', 'A.', () => {
    count += 1;
    return count;
  });
  {
    await using _ = startMetricsExport(optionsFor(registry, { intervalMs: 20, timeoutMs: 20 }));
    await collector.until(({ metrics }) => (metrics[0]?.points[0]?.value ?? 0) >= 3);
  }
  const points = collector.exports.map(({ metrics }) => metrics[0]!.points[0]!);
  const values = points.map(({ value }) => value!);
  expect(values).toEqual([...new Set(values)].toSorted((a, b) => a - b));
  expect(new Set(points.map(({ startMs }) => startMs))).toEqual(new Set([START_MS]));
  const times = points.map(({ atMs }) => atMs);
  expect(times).toEqual(times.toSorted((a, b) => a - b));
});

test('a counter that has begun anew says when', async () => {
  const registry = new MetricRegistry();
  registry.counter('a_total', 'A.', () => 5);
  const before = await exported(registry, { startWallMs: START_MS });
  vi.unstubAllEnvs();
  const after = await exported(registry, { startWallMs: START_MS + 60_000.5 });
  expect([before, after].map((metrics) => metrics.get('a_total')?.points[0]?.startMs)).toEqual([
    START_MS,
    START_MS + 60_000.5,
  ]);
});

test('exemplars are at their own point, among many points and several parts', async () => {
  const registry = new MetricRegistry();
  const rpc = new RpcMetrics(registry, { extensive: true, clock: { wallMs: () => START_MS + 12 } });
  const methods = Array.from({ length: 40 }, (_, at) => rpc.hooks(`/a.B/C${at}`, 'unary'));
  const put = rpc.hooks(PUT, 'unary');
  for (const method of methods) method.end({}, { code: 0 }, 20);
  const other = traceId.replaceAll('4', '5');
  put.end({ span: { context: { traceId: other } } }, { code: 0 }, 1);
  put.end({ span: { context: { traceId } } }, { code: 0 }, 21);
  methods[7]!.end({ span: { context: { traceId } } }, { code: 13 }, 6000);
  const metrics = await exported(registry);
  const told = [...metrics.values()].flatMap(({ name, points }) =>
    points.flatMap(({ labels, histogram }) =>
      (histogram?.exemplars ?? []).map((exemplar) => [
        name,
        labels['grpc_method'] ?? labels['op'] ?? labels['type'],
        exemplar,
      ]),
    ),
  );
  const atMs = START_MS + 12;
  const both = (name: string, method: string): unknown[] => [
    [name, method, { traceId: other, value: 0.001, atMs }],
    [name, method, { traceId, value: 0.021, atMs }],
  ];
  const late = { traceId, value: 6, atMs };
  expect(told).toEqual([
    ...both('etcd_server_apply_duration_seconds', 'Put'),
    ['grpc_server_handling_seconds', 'C7', late],
    ...both('grpc_server_handling_seconds', 'Put'),
    ['etcd_server_request_duration_seconds', 'C7', late],
    ...both('etcd_server_request_duration_seconds', 'Put'),
  ]);
  // All else is there as well.
  const handling = metrics.get('grpc_server_handling_seconds')!.points;
  expect(handling).toHaveLength(41);
  expect(handling.reduce((sum, { histogram }) => sum + histogram!.count, 0)).toBe(43);
});

test('the last reading is of the time of `last`, also when what it was read of is closed', async () => {
  await using collector = await MetricsCollector.start();
  setVariables({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
  let open = true;
  const registry = withGauge(() => {
    if (!open) throw new Error('closed');
    return 7;
  });
  const { lines, logger } = listening();
  const sending = startMetricsExport(optionsFor(registry, { logger }));
  await sending.last();
  open = false;
  await sending[Symbol.asyncDispose]();
  expect(collector.exports.map(({ metrics }) => metrics[0]?.points[0]?.value)).toEqual([7]);
  expect(lines).toEqual([]);
});

test('a metric that cannot be read is told, and later ones are sent', async () => {
  await using collector = await MetricsCollector.start();
  setVariables({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
  let broken = true;
  const registry = withGauge(() => {
    if (broken) throw new Error('not yet');
    return 7;
  });
  const { lines, logger } = listening();
  const told = Promise.withResolvers<void>();
  const telling = {
    ...logger,
    warn: (fields: object, message: string) => {
      logger.warn(fields, message);
      told.resolve();
    },
  };
  {
    await using _ = startMetricsExport(optionsFor(registry, { logger: telling, intervalMs: 20, timeoutMs: 20 }));
    await told.promise;
    broken = false;
    await collector.until(({ metrics }) => metrics[0]?.points[0]?.value === 7);
  }
  expect(lines[0]?.message).toBe('metrics cannot be read');
});

test('a collector that comes back is told', async () => {
  const first = await MetricsCollector.start({ protocol: 'http/protobuf', silent: true });
  setVariables({ OTEL_EXPORTER_OTLP_ENDPOINT: first.url });
  const { lines, logger } = listening();
  await using _first = first;
  const options = { protocol: 'http/protobuf', logger, intervalMs: 50, timeoutMs: 50 } as const;
  {
    await using _ = startMetricsExport(optionsFor(withGauge(), options));
    await vi.waitFor(() => expect(lines.map(({ message }) => message)).toContain('metrics are not sent'), 30_000);
    first.answers();
    await vi.waitFor(() => expect(lines.map(({ message }) => message)).toContain('metrics are sent again'), 30_000);
  }
});

test('OTEL_RESOURCE_ATTRIBUTES and OTEL_SERVICE_NAME are told, the machine only if it is asked for', async () => {
  setVariables({ OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test', OTEL_SERVICE_NAME: 'store' });
  const quietly = await exported(withGauge(), { serviceName: undefined });
  expect(quietly.get('b')?.resource).toEqual({
    'deployment.environment.name': 'test',
    'service.name': 'store',
    'service.instance.id': 'm1',
    'service.version': '1.2.3',
  });
  vi.unstubAllEnvs();
  const openly = await exported(withGauge(), { resourceDetectors: 'process' });
  expect(openly.get('b')?.resource).toMatchObject({ 'process.pid': process.pid });
});
