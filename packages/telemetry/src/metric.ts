import { type HistogramReading, linesOf, type Sample } from './plain-histogram.ts';

/** The value of a metric at a scrape: a number, or one number for each set of labels. */
export type Reading = number | readonly Sample[];

interface Named {
  readonly name: string;
  readonly help: string;
}

/** Of numbers, or of histograms that differ in their labels. */
export type Metric =
  | (Named & { readonly type: 'counter' | 'gauge'; readonly read: () => Reading })
  | (Named & { readonly type: 'histogram'; readonly read: () => readonly HistogramReading[] });

/** The lines of a metric in an exposition, as it reads now. */
export function samplesOf(metric: Metric): readonly Sample[] {
  return metric.type === 'histogram' ? metric.read().flatMap(linesOf) : numbersOf(metric.read());
}

const numbersOf = (reading: Reading): readonly Sample[] =>
  typeof reading === 'number' ? [{ labels: {}, value: reading }] : reading;

/** A metric with what it reads at one time. */
export type MetricReading =
  | (Named & { readonly type: 'counter' | 'gauge'; readonly points: readonly Sample[] })
  | (Named & { readonly type: 'histogram'; readonly points: readonly HistogramReading[] });

export function readingOf(metric: Metric): MetricReading {
  const { name, help } = metric;
  if (metric.type === 'histogram') return { type: metric.type, name, help, points: metric.read() };
  return { type: metric.type, name, help, points: numbersOf(metric.read()) };
}
