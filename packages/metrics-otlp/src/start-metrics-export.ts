import { type Clock, type Logger, sleep } from '@engram/core';
import type { Loop } from '@engram/loop';
import type { MetricRegistry } from '@engram/telemetry';
import { millisToHrTime } from '@opentelemetry/core';
import { emptyResource } from '@opentelemetry/resources';
import {
  type CollectionResult,
  MeterProvider,
  type MetricProducer,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { delegateFor, type Protocol } from './delegates.ts';
import { metricsData } from './metric-data.ts';
import { resourceOf, type Sender } from './resource.ts';
import { EXPORT_TASK, SlicedExporter } from './sliced-exporter.ts';

export interface MetricsExportOptions extends Sender {
  readonly registry: Pick<MetricRegistry, 'read'>;
  readonly protocol: Protocol;
  readonly intervalMs: number;
  /** How long one export takes at most, at most `intervalMs`. */
  readonly timeoutMs: number;
  /** From when on counters count, in milliseconds since 1970. */
  readonly startWallMs: number;
  /** How long a stop waits for the collector. By default a second. */
  readonly stopMs?: number;
  readonly clock: Clock;
  readonly loop: Loop;
  readonly logger: Pick<Logger, 'warn' | 'info'>;
}

/** Disposal sends what `last` has read, and waits for `stopMs` at most, counted from there. */
export interface MetricsExport extends AsyncDisposable {
  /** Reads all metrics a last time, while what they read of is open, and begins to send them. */
  last(): Promise<void>;
}

const NAME = 'engram';
const STOP_MS = 1000;

/** Sends all metrics of the registry every `intervalMs`. Where they go OTEL_ variables say. */
export function startMetricsExport(options: MetricsExportOptions): MetricsExport {
  const { clock, loop, logger, intervalMs, timeoutMs, stopMs = STOP_MS } = options;
  const producer = new RegistryProducer(options);
  const delegate = delegateFor({ protocol: options.protocol, timeoutMs, logger });
  const reader = new PeriodicExportingMetricReader({
    exporter: new SlicedExporter({ loop, delegate, onEnd: tellingChanges(logger) }),
    exportIntervalMillis: intervalMs,
    exportTimeoutMillis: timeoutMs,
    metricProducers: [producer],
  });
  const provider = new MeterProvider({ resource: resourceOf(options), readers: [reader] });
  let stopped: Promise<void> | undefined;
  const last = async (): Promise<void> => {
    if (stopped !== undefined) return;
    const reading = producer.readLast();
    stopped = reading
      .then(() => within(clock, stopMs, provider.shutdown()))
      .catch((error: unknown) => logger.warn({ err: error }, 'the last metrics were not sent'));
    await reading;
  };
  return {
    last,
    [Symbol.asyncDispose]: async () => {
      await last();
      await stopped;
    },
  };
}

/** A collector may be gone for days: its absence is told once, and its return. */
function tellingChanges(logger: MetricsExportOptions['logger']): (error: Error | undefined) => void {
  let failing = false;
  return (error) => {
    if (error !== undefined && !failing) logger.warn({ err: error }, 'metrics are not sent');
    if (error === undefined && failing) logger.info({}, 'metrics are sent again');
    failing = error !== undefined;
  };
}

async function within(clock: Clock, ms: number, work: Promise<void>): Promise<void> {
  const done = new AbortController();
  const late = async (): Promise<void> => {
    await sleep(clock, ms, done.signal);
    throw new Error('the collector does not answer');
  };
  try {
    await Promise.race([work, late()]);
  } finally {
    done.abort();
  }
}

/** The registry, as a source of metrics that the library has not counted itself. */
class RegistryProducer implements MetricProducer {
  readonly #options: MetricsExportOptions;
  #last: Promise<CollectionResult> | undefined;

  constructor(options: MetricsExportOptions) {
    this.#options = options;
  }

  collect(): Promise<CollectionResult> {
    return this.#last ?? this.#read();
  }

  /** From now on `collect` gives what is read now. */
  async readLast(): Promise<void> {
    this.#last = this.#read();
    await this.#last;
  }

  async #read(): Promise<CollectionResult> {
    const { registry, clock, loop, startWallMs, version, logger } = this.#options;
    const scope = { name: NAME, version };
    try {
      const readings = await registry.read();
      const times = { startTime: millisToHrTime(startWallMs), endTime: millisToHrTime(clock.wallMs()) };
      const metrics = await loop.run(EXPORT_TASK, metricsData(readings, times, loop));
      return { resourceMetrics: { resource: emptyResource(), scopeMetrics: [{ scope, metrics }] }, errors: [] };
    } catch (error) {
      logger.warn({ err: error }, 'metrics cannot be read');
      return { resourceMetrics: { resource: emptyResource(), scopeMetrics: [] }, errors: [error] };
    }
  }
}
