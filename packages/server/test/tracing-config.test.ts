import { describe, expect, test } from 'vitest';
import type { TracingConfig } from '../src/config/tracing-config.ts';
import { configOf } from './config-files.ts';

const on = '--enable-distributed-tracing';

const tracingOf = async (
  args: readonly string[],
  environment: Record<string, string> = {},
): Promise<TracingConfig | undefined> => (await configOf(args, environment)).tracing;

test('traces are off by default, and then their other flags say nothing', async () => {
  expect(await tracingOf([])).toBeUndefined();
  expect(await tracingOf(['--distributed-tracing-sampling-rate=1000'])).toBeUndefined();
});

test('the defaults are those of etcd, and 200 calls in a second', async () => {
  expect(await tracingOf([on])).toEqual({
    address: 'localhost:4317',
    serviceName: 'etcd',
    instanceId: '',
    samplingPerMillion: 0,
    callsPerSecondMax: 200,
    resourceDetectors: false,
    recordKeys: false,
  });
});

test('variables of OpenTelemetry win over the defaults, and flags over them', async () => {
  const environment = {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4317',
    OTEL_SERVICE_NAME: 'store',
    OTEL_TRACES_SAMPLER: 'always_on',
  };
  expect(await tracingOf([on], environment)).toMatchObject({
    address: undefined,
    serviceName: undefined,
    samplingPerMillion: undefined,
  });
  const flags = [
    '--distributed-tracing-address=c:1',
    '--distributed-tracing-service-name=s',
    '--distributed-tracing-sampling-rate=5',
  ];
  expect(await tracingOf([on, ...flags], environment)).toMatchObject({
    address: 'c:1',
    serviceName: 's',
    samplingPerMillion: 5,
  });
});

describe('refused', () => {
  test.for([
    ['--distributed-tracing-sampling-rate=-1', 'tracing sampling rate must be positive'],
    ['--distributed-tracing-sampling-rate=1000001', 'tracing sampling rate must be less than 1000000'],
    ['--distributed-tracing-calls-per-second=-1', '--distributed-tracing-calls-per-second must not be negative'],
    ['--distributed-tracing-address=localhost', 'expected host:port'],
  ] as const)('%s', async ([flag, message]) => {
    await expect(tracingOf([on, flag])).rejects.toThrow(message);
  });
});
