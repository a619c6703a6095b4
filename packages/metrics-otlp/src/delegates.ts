import type { Logger } from '@engram/core';
import type { IOtlpExportDelegate } from '@opentelemetry/otlp-exporter-base';
import { convertLegacyHttpOptions, createOtlpHttpExportDelegate } from '@opentelemetry/otlp-exporter-base/node-http';
import { convertLegacyOtlpGrpcOptions, createOtlpGrpcExportDelegate } from '@opentelemetry/otlp-grpc-exporter-base';
import { ProtobufMetricsSerializer } from '@opentelemetry/otlp-transformer';

/** How a collector is spoken to. Both carry protobuf. */
export type Protocol = 'grpc' | 'http/protobuf';

export interface DelegateOptions {
  readonly protocol: Protocol;
  /** How long a request takes at most, with what is tried again. */
  readonly timeoutMs: number;
  readonly logger: Pick<Logger, 'warn'>;
}

const SIGNAL = 'METRICS';
const HTTP_PATH = 'v1/metrics';
const GRPC_SERVICE = 'MetricsExportService';
const GRPC_PATH = '/opentelemetry.proto.collector.metrics.v1.MetricsService/Export';
/** Requests under way: one that a collector holds must not stop the next. Their bytes are all that is kept. */
const REQUESTS_MAX = 2;
const COMPONENT = 'engram_metrics_exporter';

/** Sends encoded requests. Address, headers, certificates and compression are those of OTEL_ variables. */
export function delegateFor({ protocol, timeoutMs, logger }: DelegateOptions): IOtlpExportDelegate<Uint8Array> {
  const limits = { timeoutMillis: timeoutMs, concurrencyLimit: REQUESTS_MAX };
  const serializer = {
    serializeRequest: (request: Uint8Array): Uint8Array => request,
    deserializeResponse: (response: Uint8Array): object => {
      const { partialSuccess } = ProtobufMetricsSerializer.deserializeResponse(response);
      const { rejectedDataPoints: points = 0, errorMessage: why = '' } = partialSuccess ?? {};
      if (points > 0 || why !== '') logger.warn({ points, why }, 'the collector has not taken all metrics');
      return {};
    },
  };
  // What the library would count of itself, for which there is no provider.
  const itself = { name: 'metric_data_point', countItems: () => 0 } as const;
  if (protocol === 'grpc') {
    const options = convertLegacyOtlpGrpcOptions(limits, SIGNAL);
    return createOtlpGrpcExportDelegate(options, serializer, COMPONENT, itself, undefined, GRPC_SERVICE, GRPC_PATH);
  }
  const headers = { 'Content-Type': 'application/x-protobuf' };
  const options = convertLegacyHttpOptions(limits, SIGNAL, HTTP_PATH, headers);
  return createOtlpHttpExportDelegate(options, serializer, COMPONENT, itself, undefined);
}
