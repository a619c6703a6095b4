import { type Job, type Loop, settled } from '@engram/loop';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { type Metric, samplesOf } from './metric.ts';
import type { Labels } from './plain-histogram.ts';

/** A line takes some microseconds: a step for so many characters. */
const STEP_LENGTH = 50;

/** Formats metrics as Prometheus' text. */
export class Exposition {
  readonly #registry = new Registry();
  readonly #names: string[] = [];

  constructor(metrics: Iterable<Metric>) {
    for (const metric of metrics) {
      const { name, help } = metric;
      this.#names.push(name);
      const config = { name, help, registers: [this.#registry] };
      if (metric.type === 'counter') new ReadCounter(config, metric);
      else if (metric.type === 'gauge') new ReadGauge(config, metric);
      else new ReadHistogram(config, metric);
    }
  }

  /** Like the registry's `metrics()`, as a job, so that requests do not wait for thousands of lines. */
  *rendering(loop: Loop): Job<{ readonly contentType: string; readonly text: string }> {
    const texts: string[] = [];
    for (const name of this.#names) {
      const text = yield* settled(this.#registry.getSingleMetricAsString(name));
      texts.push(text);
      // The text of one histogram may have many lines, one set for each set of labels.
      if (loop.shouldYield(text.length / STEP_LENGTH)) yield;
    }
    return { contentType: this.#registry.contentType, text: `${texts.join('\n\n')}\n` };
  }
}

interface Config {
  readonly name: string;
  readonly help: string;
  readonly registers: Registry[];
}
interface PromSample {
  readonly metricName: string;
  readonly labels: Labels;
  readonly value: number;
}

function promSamples(metric: Metric): PromSample[] {
  return samplesOf(metric).map(({ suffix = '', labels, value }) => ({
    metricName: metric.name + suffix,
    labels,
    value,
  }));
}

class ReadCounter extends Counter {
  readonly #metric: Metric;

  constructor(config: Config, metric: Metric) {
    super(config);
    this.#metric = metric;
  }

  override async get(): ReturnType<Counter['get']> {
    return { ...(await super.get()), values: promSamples(this.#metric) };
  }
}

class ReadGauge extends Gauge {
  readonly #metric: Metric;

  constructor(config: Config, metric: Metric) {
    super(config);
    this.#metric = metric;
  }

  override async get(): ReturnType<Gauge['get']> {
    return { ...(await super.get()), values: promSamples(this.#metric) };
  }
}

class ReadHistogram extends Histogram {
  readonly #metric: Metric;

  constructor(config: Config, metric: Metric) {
    super(config);
    this.#metric = metric;
  }

  /** A method that prom-client's registry calls on a histogram, but its typings do not declare. */
  getForPromString(): Promise<object> {
    const { name, help } = this.#metric;
    return Promise.resolve({ name, help, type: 'histogram', aggregator: 'sum', values: promSamples(this.#metric) });
  }
}
