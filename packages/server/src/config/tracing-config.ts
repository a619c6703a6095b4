import { ConfigError, type FlagValues } from '../flags/flag-values.ts';

/** Who sends traces and metrics. */
export interface SenderConfig {
  /** Undefined: OTEL_SERVICE_NAME says it. */
  readonly serviceName: string | undefined;
  /** Empty: it is not told. */
  readonly instanceId: string;
}

/** How calls are traced. */
export interface TracingConfig extends SenderConfig {
  /** Host and port of the collector. Undefined: OTEL_ variables say it. */
  readonly address: string | undefined;
  /** Of a million calls whose client names no trace, so many are recorded. Undefined: OTEL_TRACES_SAMPLER says it. */
  readonly samplingPerMillion: number | undefined;
  /** Calls of clients that are recorded in a second at most. 0: no bound. */
  readonly callsPerSecondMax: number;
  /** OTEL_NODE_RESOURCE_DETECTORS is set. */
  readonly resourceDetectors: boolean;
  readonly recordKeys: boolean;
}

const PER_MILLION = 1_000_000;
/** Variables of OpenTelemetry that say where spans go, which the flag's default must not overrule. */
const destinations = [
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
  'OTEL_EXPORTER_OTLP_PROTOCOL',
  'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL',
  'OTEL_TRACES_EXPORTER',
];

/**
 * etcd's flags (server/embed/config_tracing.go). A flag that is set wins over OTEL_ variables, these win over the flag's default.
 * Undefined if tracing is off. Throws ConfigError.
 */
export function tracingConfig(
  values: FlagValues,
  environment: Readonly<Record<string, string | undefined>>,
): TracingConfig | undefined {
  if (!values.bool('enable-distributed-tracing')) return undefined;
  const rate = values.number('distributed-tracing-sampling-rate');
  const refuse = (problem: string): never => {
    throw new ConfigError(`distributed tracing configurition is not valid: (${problem})`);
  };
  if (rate < 0) refuse('tracing sampling rate must be positive');
  if (rate > PER_MILLION) refuse(`tracing sampling rate must be less than ${PER_MILLION}`);
  const callsPerSecondMax = values.number('distributed-tracing-calls-per-second');
  if (callsPerSecondMax < 0) refuse('--distributed-tracing-calls-per-second must not be negative');
  const address = values.text('distributed-tracing-address');
  if (!/^(?:\[[\da-fA-F:.]+\]|[^\s:/@[\]]+):\d{1,5}$/.test(address)) {
    refuse(`--distributed-tracing-address=${address}: expected host:port`);
  }
  const given = (flag: string, ...names: readonly string[]): boolean => saysMore(values, environment, flag, names);
  return {
    ...senderConfig(values, environment),
    address: given('distributed-tracing-address', ...destinations) ? address : undefined,
    samplingPerMillion: given('distributed-tracing-sampling-rate', 'OTEL_TRACES_SAMPLER') ? rate : undefined,
    callsPerSecondMax,
    resourceDetectors: (environment['OTEL_NODE_RESOURCE_DETECTORS'] ?? '') !== '',
    recordKeys: values.bool('distributed-tracing-record-keys'),
  };
}

export function senderConfig(
  values: FlagValues,
  environment: Readonly<Record<string, string | undefined>>,
): SenderConfig {
  const flag = 'distributed-tracing-service-name';
  return {
    serviceName: saysMore(values, environment, flag, ['OTEL_SERVICE_NAME']) ? values.text(flag) : undefined,
    instanceId: values.text('distributed-tracing-instance-id'),
  };
}

/** Whether a flag, set or by its default, counts for more than these variables. */
const saysMore = (
  values: FlagValues,
  environment: Readonly<Record<string, string | undefined>>,
  flag: string,
  names: readonly string[],
): boolean => values.isSet(flag) || !names.some((name) => (environment[name] ?? '') !== '');
