import { describe, expect, test } from 'vitest';
import { configOf } from './config-files.ts';

const on = { OTEL_METRICS_EXPORTER: 'otlp' };

test.for([
  [{}, 'it is not asked for'],
  [{ OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'http://c:4318' }, 'an address alone asks for nothing'],
  [{ OTEL_METRICS_EXPORTER: 'none' }, 'it is refused'],
  [{ OTEL_METRICS_EXPORTER: 'prometheus' }, '/metrics is there'],
  [{ ...on, OTEL_SDK_DISABLED: 'true' }, 'all of it is disabled'],
] as const)('off with %j: %s', async ([environment]) => {
  const { metricsExport, warnings } = await configOf([], environment);
  expect(metricsExport).toBeUndefined();
  expect(warnings).toEqual([]);
});

test('the defaults are those of the specification, and the sender is that of the traces', async () => {
  const { metricsExport, warnings } = await configOf([], on);
  expect(metricsExport).toEqual({
    protocol: 'http/protobuf',
    intervalMs: 60_000,
    timeoutMs: 10_000,
    serviceName: 'etcd',
    instanceId: '',
    resourceDetectors: '',
  });
  expect(warnings).toEqual([]);
  const flags = ['--distributed-tracing-instance-id=m1', '--distributed-tracing-service-name=s'];
  expect((await configOf(flags, on)).metricsExport).toMatchObject({ serviceName: 's', instanceId: 'm1' });
  expect((await configOf([], { ...on, OTEL_SERVICE_NAME: 't' })).metricsExport?.serviceName).toBeUndefined();
});

test.for([
  [{ OTEL_METRICS_EXPORTER: ' prometheus, otlp ' }, {}, 'a list'],
  [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, { protocol: 'grpc' }, 'of all signals'],
  [
    { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc', OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: 'http/protobuf' },
    { protocol: 'http/protobuf' },
    'of metrics, which wins',
  ],
  [{ OTEL_METRIC_EXPORT_INTERVAL: '5000' }, { intervalMs: 5000, timeoutMs: 5000 }, 'an export ends before the next'],
  [{ OTEL_METRIC_EXPORT_TIMEOUT: '3000' }, { timeoutMs: 3000 }, 'the shorter of two times'],
  [{ OTEL_EXPORTER_OTLP_TIMEOUT: '2000' }, { timeoutMs: 2000 }, 'of a request of any signal'],
  [{ OTEL_EXPORTER_OTLP_METRICS_TIMEOUT: '1', OTEL_EXPORTER_OTLP_TIMEOUT: '2' }, { timeoutMs: 1 }, 'of a request'],
  [{ OTEL_METRIC_EXPORT_INTERVAL: '' }, { intervalMs: 60_000 }, 'empty is not set'],
  [{ OTEL_NODE_RESOURCE_DETECTORS: 'host' }, { resourceDetectors: 'host' }, 'the machine is told'],
  [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc', OTEL_EXPORTER_OTLP_ENDPOINT: 'c:4317' }, {}, 'gRPC takes host:port'],
] as const)('%j gives %j: %s', async ([environment, expected]) => {
  const { metricsExport, warnings } = await configOf([], { ...on, ...environment });
  expect(metricsExport).toMatchObject(expected);
  expect(warnings).toEqual([]);
});

describe('passed by with a warning', () => {
  test.for([
    ['OTEL_METRIC_EXPORT_INTERVAL', '0', 'expected milliseconds'],
    ['OTEL_METRIC_EXPORT_INTERVAL', '1e3', 'expected milliseconds'],
    ['OTEL_METRIC_EXPORT_INTERVAL', '2147483648', 'expected milliseconds'],
    ['OTEL_METRIC_EXPORT_TIMEOUT', '-1', 'expected milliseconds'],
    ['OTEL_EXPORTER_OTLP_METRICS_PROTOCOL', 'http/json', 'expected grpc or http/protobuf'],
    ['OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE', 'delta', 'counters are cumulative'],
  ] as const)('%s=%s', async ([name, value, why]) => {
    const { metricsExport, warnings } = await configOf([], { ...on, [name]: value });
    expect(metricsExport).toMatchObject({ protocol: 'http/protobuf', intervalMs: 60_000, timeoutMs: 10_000 });
    expect(warnings).toEqual([expect.stringMatching(`^${name}=${value}: ${why}`)]);
  });

  test('an exporter that is not known', async () => {
    const { metricsExport, warnings } = await configOf([], { OTEL_METRICS_EXPORTER: 'console' });
    expect(metricsExport).toBeUndefined();
    expect(warnings).toEqual(['OTEL_METRICS_EXPORTER=console: expected otlp']);
  });
});

test.for([
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'no address', 'http/protobuf', 'expected a URL'],
  ['OTEL_EXPORTER_OTLP_METRICS_ENDPOINT', 'collector:4318', 'http/protobuf', 'expected a URL'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'no address', 'grpc', 'expected a URL or host:port'],
] as const)('%s=%s is refused by %s', async ([name, value, protocol, why]) => {
  await expect(configOf([], { ...on, OTEL_EXPORTER_OTLP_PROTOCOL: protocol, [name]: value })).rejects.toThrow(
    `${name}=${value}: ${why}`,
  );
});
