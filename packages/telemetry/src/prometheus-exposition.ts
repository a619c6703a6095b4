import { setImmediate } from 'node:timers/promises';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Metric } from './metric.ts';
import type { Labels } from './plain-histogram.ts';

/** Takes a part of a millisecond; three milliseconds the first time, when little of the code is compiled. */
const LINES_PER_TURN = 100;
const TYPICAL_LINE_LENGTH = 100;

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

  /**
   * Like the registry's `metrics()`, but a limited number of lines per turn, so that requests do not wait for thousands
   * of lines.
   */
  async render(): Promise<{ readonly contentType: string; readonly text: string }> {
    const texts: string[] = [];
    let lines = 0;
    for (const name of this.#names) {
      const text = await this.#registry.getSingleMetricAsString(name);
      texts.push(text);
      lines += text.length / TYPICAL_LINE_LENGTH;
      // The text of one histogram may have many lines, one set for each set of labels.
      if (lines < LINES_PER_TURN) continue;
      lines = 0;
      await setImmediate();
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

function promSamples({ name, read }: Metric): PromSample[] {
  const reading = read();
  const samples = typeof reading === 'number' ? [{ labels: {}, value: reading }] : reading;
  return samples.map((sample) => ({
    metricName: 'suffix' in sample ? name + sample.suffix : name,
    labels: sample.labels,
    value: sample.value,
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
