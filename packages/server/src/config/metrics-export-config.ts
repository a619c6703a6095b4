import { ConfigError, type FlagValues } from '../flags/flag-values.ts';
import { type SenderConfig, senderConfig } from './tracing-config.ts';

/** How metrics are sent by OTLP. Where to, OTEL_ variables say to the library. */
export interface MetricsExportConfig extends SenderConfig {
  readonly protocol: 'grpc' | 'http/protobuf';
  readonly intervalMs: number;
  /** For one export, `intervalMs` at most. */
  readonly timeoutMs: number;
  /** OTEL_NODE_RESOURCE_DETECTORS; empty: nothing of the machine is told. */
  readonly resourceDetectors: string;
}

const INTERVAL_DEFAULT_MS = 60_000;
const EXPORT_TIMEOUT_DEFAULT_MS = 30_000;
const REQUEST_TIMEOUT_DEFAULT_MS = 10_000;
/** A timer of node that waits for longer does not wait at all. */
const TIMER_MAX_MS = 2 ** 31 - 1;

/** Names of OTEL_METRICS_EXPORTER for which there is nothing to do: /metrics is always there. */
const otherExporters: ReadonlySet<string> = new Set(['none', 'prometheus']);

/**
 * The variables of OpenTelemetry's specification; what is set to nothing is not set. Undefined unless OTEL_METRICS_EXPORTER asks for
 * `otlp`. A value that cannot be meant is passed by with a warning, as the specification asks. Throws ConfigError for an address that
 * is none.
 */
export function metricsExportConfig(
  values: FlagValues,
  environment: Readonly<Record<string, string | undefined>>,
  warnings: string[],
): MetricsExportConfig | undefined {
  const first = (...names: readonly string[]): readonly [name: string, value: string] | undefined => {
    for (const name of names) {
      const value = environment[name]?.trim() ?? '';
      if (value !== '') return [name, value];
    }
    return undefined;
  };
  const exporters = (first('OTEL_METRICS_EXPORTER')?.[1] ?? 'none').split(',').map((name) => name.trim());
  const disabled = first('OTEL_SDK_DISABLED')?.[1].toLowerCase() === 'true';
  for (const name of exporters) {
    if (name !== 'otlp' && !otherExporters.has(name)) warnings.push(`OTEL_METRICS_EXPORTER=${name}: expected otlp`);
  }
  if (disabled || !exporters.includes('otlp')) return undefined;

  const ms = (defaultMs: number, ...names: readonly string[]): number => {
    const [name, value] = first(...names) ?? [];
    if (value === undefined) return defaultMs;
    if (/^\d+$/.test(value) && Number(value) > 0 && Number(value) <= TIMER_MAX_MS) return Number(value);
    warnings.push(`${name}=${value}: expected milliseconds, from 1 to ${TIMER_MAX_MS}`);
    return defaultMs;
  };
  const intervalMs = ms(INTERVAL_DEFAULT_MS, 'OTEL_METRIC_EXPORT_INTERVAL');
  const exportMs = ms(EXPORT_TIMEOUT_DEFAULT_MS, 'OTEL_METRIC_EXPORT_TIMEOUT');
  const requestMs = ms(REQUEST_TIMEOUT_DEFAULT_MS, 'OTEL_EXPORTER_OTLP_METRICS_TIMEOUT', 'OTEL_EXPORTER_OTLP_TIMEOUT');
  const protocol = protocolOf(first('OTEL_EXPORTER_OTLP_METRICS_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL'), warnings);
  const endpoint = first('OTEL_EXPORTER_OTLP_METRICS_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT');
  if (endpoint !== undefined && !isEndpoint(endpoint[1], protocol)) {
    throw new ConfigError(`${endpoint.join('=')}: expected ${protocol === 'grpc' ? 'a URL or host:port' : 'a URL'}`);
  }
  const temporality = first('OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE');
  if (temporality !== undefined && temporality[1].toLowerCase() !== 'cumulative')
    warnings.push(`${temporality.join('=')}: counters are cumulative, as those of /metrics`);
  return {
    ...senderConfig(values, environment),
    protocol,
    intervalMs,
    timeoutMs: Math.min(exportMs, requestMs, intervalMs),
    resourceDetectors: environment['OTEL_NODE_RESOURCE_DETECTORS'] ?? '',
  };
}

function protocolOf(
  asked: readonly [name: string, value: string] | undefined,
  warnings: string[],
): MetricsExportConfig['protocol'] {
  const [name, value] = asked ?? [];
  if (value === 'grpc') return value;
  if (value !== undefined && value !== 'http/protobuf')
    warnings.push(`${name}=${value}: expected grpc or http/protobuf`);
  return 'http/protobuf';
}

function isEndpoint(text: string, protocol: MetricsExportConfig['protocol']): boolean {
  const url = protocol === 'grpc' && !/^\w+:\/\//.test(text) ? `https://${text}` : text;
  return URL.canParse(url) && (protocol === 'grpc' || /^https?:$/.test(new URL(url).protocol));
}
