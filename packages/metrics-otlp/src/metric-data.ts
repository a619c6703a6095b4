import type { Loop, PureJob } from '@engram/loop';
import type { HistogramReading, MetricReading } from '@engram/telemetry';
import { type Attributes, type HrTime, ValueType } from '@opentelemetry/api';
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type Histogram,
  type MetricData,
} from '@opentelemetry/sdk-metrics';
import { keepExemplars } from './exemplars.ts';

/** Units by UCUM, by the word for them in the name of a metric. */
const units: readonly (readonly [word: string, unit: string])[] = [
  ['seconds', 's'],
  ['bytes', 'By'],
];

/** From when on counters count, and when they were read. */
export interface ReadTimes {
  readonly startTime: HrTime;
  readonly endTime: HrTime;
}

/** Metrics as the library sends them. Names and labels are those of /metrics. */
export function* metricsData(readings: readonly MetricReading[], times: ReadTimes, loop: Loop): PureJob<MetricData[]> {
  const all: MetricData[] = [];
  for (const reading of readings) {
    const metric = metricData(reading, times);
    all.push(metric);
    if (loop.shouldYield(pointsOf(metric))) yield;
  }
  return all;
}

function metricData(metric: MetricReading, times: ReadTimes): MetricData {
  const { name, help } = metric;
  const common = {
    descriptor: { name, description: help, unit: unitOf(name), valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
  if (metric.type === 'histogram') {
    const dataPoints = metric.points.map((point) => histogramPoint(point, times));
    return { ...common, dataPointType: DataPointType.HISTOGRAM, dataPoints };
  }
  const dataPoints = metric.points.map(({ labels, value }) => ({ ...times, attributes: textsOf(labels), value }));
  return metric.type === 'counter'
    ? { ...common, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints }
    : { ...common, dataPointType: DataPointType.GAUGE, dataPoints };
}

export const pointsOf = ({ dataPoints }: MetricData): number => dataPoints.length;

function histogramPoint(reading: HistogramReading, times: ReadTimes): DataPoint<Histogram> {
  const { labels, bounds, counts, sum, exemplars } = reading;
  const value = {
    buckets: { boundaries: [...bounds], counts: [...counts] },
    sum,
    count: counts.reduce((all, count) => all + count, 0),
  };
  keepExemplars(value, exemplars);
  return { ...times, attributes: textsOf(labels), value };
}

/** Labels are texts for Prometheus, numbers too. */
const textsOf = (labels: HistogramReading['labels']): Attributes =>
  Object.fromEntries(Object.entries(labels).map(([name, value]) => [name, String(value)]));

/** Empty for a metric that counts things. */
export function unitOf(name: string): string {
  const words = name.split('_');
  return units.find(([word]) => words.includes(word))?.[1] ?? '';
}
