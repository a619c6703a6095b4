import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { type Labels, PlainHistogram, type Sample } from './plain-histogram.ts';

/** The value of a metric at a scrape: one number, or one for each set of labels. */
export type Reading = number | readonly Sample[];

/**
 * Metrics whose values are kept by those who count and only asked for at a scrape. prom-client's own counters cost
 * about 0.3 us for each increment with labels (it hashes them); a request would touch five of them. So the hot paths
 * add to plain numbers, and prom-client brings the names, the checks and the text.
 */
export class MetricRegistry {
  readonly #registry = new Registry();

  counter(name: string, help: string, read: () => Reading): void {
    new ReadCounter({ name, help, registers: [this.#registry] }, read);
  }

  gauge(name: string, help: string, read: () => Reading): void {
    new ReadGauge({ name, help, registers: [this.#registry] }, read);
  }

  histogram(name: string, help: string, bounds: readonly number[]): PlainHistogram {
    const histogram = new PlainHistogram(bounds);
    this.histograms(name, help, () => histogram.samples({}));
    return histogram;
  }

  /** Histograms under one name, told apart by labels. */
  histograms(name: string, help: string, read: () => readonly Sample[]): void {
    new ReadHistogram({ name, help, registers: [this.#registry] }, read);
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** The whole exposition as text. */
  render(): Promise<string> {
    return this.#registry.metrics();
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

function promSamples(name: string, reading: Reading): PromSample[] {
  const samples = typeof reading === 'number' ? [{ labels: {}, value: reading }] : reading;
  return samples.map((sample: Sample) => ({
    metricName: name + (sample.suffix ?? ''),
    labels: sample.labels,
    value: sample.value,
  }));
}

class ReadCounter extends Counter {
  readonly #name: string;
  readonly #read: () => Reading;

  constructor(config: Config, read: () => Reading) {
    super(config);
    this.#name = config.name;
    this.#read = read;
  }

  override async get(): ReturnType<Counter['get']> {
    return { ...(await super.get()), values: promSamples(this.#name, this.#read()) };
  }
}

class ReadGauge extends Gauge {
  readonly #name: string;
  readonly #read: () => Reading;

  constructor(config: Config, read: () => Reading) {
    super(config);
    this.#name = config.name;
    this.#read = read;
  }

  override async get(): ReturnType<Gauge['get']> {
    return { ...(await super.get()), values: promSamples(this.#name, this.#read()) };
  }
}

class ReadHistogram extends Histogram {
  readonly #config: Config;
  readonly #read: () => readonly Sample[];

  constructor(config: Config, read: () => readonly Sample[]) {
    super(config);
    this.#config = config;
    this.#read = read;
  }

  /** What prom-client's registry asks a histogram for; its typings do not name it. */
  getForPromString(): Promise<object> {
    const { name, help } = this.#config;
    return Promise.resolve({
      name,
      help,
      type: 'histogram',
      aggregator: 'sum',
      values: promSamples(name, this.#read()),
    });
  }
}
