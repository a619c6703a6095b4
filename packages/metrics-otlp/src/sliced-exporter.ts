import type { Loop, PureJob, Task } from '@engram/loop';
import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import type { IOtlpExportDelegate } from '@opentelemetry/otlp-exporter-base';
import { ProtobufMetricsSerializer } from '@opentelemetry/otlp-transformer';
import {
  AggregationTemporality,
  type MetricData,
  type PushMetricExporter,
  type ResourceMetrics,
  type ScopeMetrics,
} from '@opentelemetry/sdk-metrics';
import { withExemplars } from './exemplars.ts';
import { pointsOf } from './metric-data.ts';

/** All that an export does on the event loop. */
export const EXPORT_TASK: Task = { work: 'background', caller: 'metrics', stage: 'metrics' };
/** Points that are encoded at a time, some microseconds each. */
const PART_POINTS = 100;

export interface SlicedExporterOptions {
  readonly loop: Loop;
  readonly delegate: IOtlpExportDelegate<Uint8Array>;
  /** Is told how each export has ended: undefined if the collector has taken it. */
  readonly onEnd: (error: Error | undefined) => void;
}

/**
 * Encodes in slices of the event loop, and sends by the library. Encoded requests one after another are one request, with its
 * metrics in several blocks of the same resource.
 */
export class SlicedExporter implements PushMetricExporter {
  readonly #options: SlicedExporterOptions;

  constructor(options: SlicedExporterOptions) {
    this.#options = options;
  }

  export(metrics: ResourceMetrics, done: (result: ExportResult) => void): void {
    const { loop, delegate, onEnd } = this.#options;
    const end = (result: ExportResult): void => {
      onEnd(result.code === ExportResultCode.SUCCESS ? undefined : (result.error ?? new Error('refused')));
      done(result);
    };
    const send = async (): Promise<void> => delegate.export(await loop.run(EXPORT_TASK, encoding(metrics, loop)), end);
    send().catch((error: unknown) => end({ code: ExportResultCode.FAILED, error: asError(error) }));
  }

  selectAggregationTemporality(): AggregationTemporality {
    return AggregationTemporality.CUMULATIVE;
  }

  forceFlush(): Promise<void> {
    return this.#options.delegate.forceFlush();
  }

  shutdown(): Promise<void> {
    return this.#options.delegate.shutdown();
  }
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));

function* encoding({ resource, scopeMetrics }: ResourceMetrics, loop: Loop): PureJob<Uint8Array> {
  const parts: Uint8Array[] = [];
  for (const part of scopeMetrics.flatMap(partsOf)) {
    const request = ProtobufMetricsSerializer.serializeRequest({ resource, scopeMetrics: [part] });
    if (request !== undefined) parts.push(withExemplars(request, part.metrics));
    if (loop.shouldYield(PART_POINTS)) yield;
  }
  return Buffer.concat(parts);
}

/** A metric is in one part whole. */
function partsOf({ scope, metrics }: ScopeMetrics): readonly ScopeMetrics[] {
  const parts: { readonly scope: ScopeMetrics['scope']; readonly metrics: MetricData[] }[] = [];
  let room = 0;
  for (const metric of metrics) {
    const last = parts.at(-1);
    if (last === undefined || room <= 0) {
      parts.push({ scope, metrics: [metric] });
      room = PART_POINTS;
    } else last.metrics.push(metric);
    room -= pointsOf(metric);
  }
  return parts;
}
