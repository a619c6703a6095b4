import { assert } from '@engram/core';
import { type Job, Loop, type Task } from '@engram/loop';
import { type Metric, type MetricReading, type Reading, readingOf } from './metric.ts';
import { openMetrics } from './open-metrics.ts';
import { type HistogramReading, PlainHistogram } from './plain-histogram.ts';
import type { Exposition } from './prometheus-exposition.ts';

/** Prometheus' text, or OpenMetrics, which has a form for exemplars. */
export type MetricsFormat = 'prometheus' | 'openmetrics';

const PAGE: Task = { work: 'background', caller: 'metrics', stage: 'metrics' };

/**
 * Metrics whose values are kept by the code that counts, and read only at a scrape. prom-client's own counters cost
 * about 0.3 us for each increment with labels, and a request would touch five. So hot paths add to plain numbers, and
 * prom-client only produces and checks the text.
 */
export class MetricRegistry {
  readonly #metrics = new Map<string, Metric>();
  readonly #preparations: (() => Promise<void>)[] = [];
  readonly #loop: Loop;
  #exposition: Promise<Exposition> | undefined;

  /** `loop` is the owner of the event loop's time. If undefined, the registry has one of its own. */
  constructor(loop?: Loop) {
    const clock = { nowMs: () => performance.now(), soon: (fire: () => void) => void setImmediate(fire) };
    this.#loop = loop ?? new Loop({ clock });
  }

  counter(name: string, help: string, read: () => Reading): void {
    this.#add({ type: 'counter', name, help, read });
  }

  gauge(name: string, help: string, read: () => Reading): void {
    this.#add({ type: 'gauge', name, help, read });
  }

  histogram(name: string, help: string, bounds: readonly number[]): PlainHistogram {
    const histogram = new PlainHistogram(bounds);
    this.histograms(name, help, () => [histogram.reading({})]);
    return histogram;
  }

  /** Histograms of one name that differ in their labels. */
  histograms(name: string, help: string, read: () => readonly HistogramReading[]): void {
    this.#add({ type: 'histogram', name, help, read });
  }

  /** `prepare` is called before each scrape, for metrics whose value needs asynchronous work. */
  beforeEach(prepare: () => Promise<void>): void {
    this.#preparations.push(prepare);
  }

  /** The whole exposition as text, with its HTTP content type. */
  async render(format: MetricsFormat = 'prometheus'): Promise<{ readonly contentType: string; readonly text: string }> {
    await this.#prepare();
    if (format === 'openmetrics') return this.#loop.run(PAGE, openMetrics(this.#metrics.values(), this.#loop));
    this.#exposition ??= this.#makeExposition();
    return this.#loop.run(PAGE, (await this.#exposition).rendering(this.#loop));
  }

  /** What all metrics read now. Each is read whole, and the event loop is given back between them. */
  async read(): Promise<readonly MetricReading[]> {
    await this.#prepare();
    return this.#loop.run(PAGE, this.#reading());
  }

  /** Loads prom-client, which blocks the event loop for some 15 ms. Otherwise the first scrape does. */
  async load(): Promise<void> {
    await import('./prometheus-exposition.ts');
  }

  async #prepare(): Promise<void> {
    await Promise.all(this.#preparations.map((prepare) => prepare()));
  }

  *#reading(): Job<readonly MetricReading[]> {
    const readings: MetricReading[] = [];
    for (const metric of this.#metrics.values()) {
      const reading = readingOf(metric);
      readings.push(reading);
      if (this.#loop.shouldYield(reading.points.length)) yield;
    }
    return readings;
  }

  async #makeExposition(): Promise<Exposition> {
    const { Exposition } = await import('./prometheus-exposition.ts');
    const exposition = new Exposition(this.#metrics.values());
    // Creating the exposition is a slice of work of its own.
    await this.#loop.pause(PAGE);
    return exposition;
  }

  #add(metric: Metric): void {
    assert(!this.#metrics.has(metric.name), `two metrics are called ${metric.name}`);
    // A metric that is added after a scrape is included in the next.
    this.#exposition = undefined;
    this.#metrics.set(metric.name, metric);
  }
}
