import { type Job, type Loop, settled } from '@engram/loop';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { type Metric, samplesOf } from './metric.ts';
import type { Labels } from './plain-histogram.ts';

/** A line takes some microseconds: a step for so many characters. */
const STEP_LENGTH = 50;
/** Lines that are formatted in one go, in about a tenth of a slice. The histograms of all methods have some thousand lines. */
const LINES = 50;

/** Formats metrics as Prometheus' text. */
export class Exposition {
  readonly #registry = new Registry();
  readonly #parts: { readonly metric: Metric; readonly shown: Shown }[] = [];

  constructor(metrics: Iterable<Metric>) {
    for (const metric of metrics) {
      const { name, help } = metric;
      const config = { name, help, registers: [this.#registry] };
      this.#parts.push({ metric, shown: shownAs(metric.type, config) });
    }
  }

  /** Like the registry's `metrics()`, as a job, so that requests do not wait for thousands of lines. */
  *rendering(loop: Loop): Job<{ readonly contentType: string; readonly text: string }> {
    const texts: string[] = [];
    for (const { metric, shown } of this.#parts) {
      const samples = promSamples(metric);
      const lines: string[] = [];
      for (let at = 0; at === 0 || at < samples.length; at += LINES) {
        shown.samples = samples.slice(at, at + LINES);
        const text = yield* settled(this.#registry.getSingleMetricAsString(metric.name));
        lines.push(at === 0 ? text : text.replace(HEAD, ''));
        if (loop.shouldYield(text.length / STEP_LENGTH)) yield;
      }
      texts.push(lines.join('\n'));
    }
    return { contentType: this.#registry.contentType, text: `${texts.join('\n\n')}\n` };
  }
}

/** The lines that describe a metric, which the registry puts ahead of its samples. */
const HEAD = /^# HELP .*\n# TYPE .*\n/;

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

interface Shown {
  /** What the registry formats when it is asked next. */
  samples: readonly PromSample[];
}

function shownAs(type: Metric['type'], config: Config): Shown {
  if (type === 'counter') return new ShownCounter(config);
  return type === 'gauge' ? new ShownGauge(config) : new ShownHistogram(config);
}

class ShownCounter extends Counter implements Shown {
  samples: readonly PromSample[] = [];

  override async get(): ReturnType<Counter['get']> {
    const values = [...this.samples];
    return { ...(await super.get()), values };
  }
}

class ShownGauge extends Gauge implements Shown {
  samples: readonly PromSample[] = [];

  override async get(): ReturnType<Gauge['get']> {
    const values = [...this.samples];
    return { ...(await super.get()), values };
  }
}

class ShownHistogram extends Histogram implements Shown {
  samples: readonly PromSample[] = [];
  readonly #config: Config;

  constructor(config: Config) {
    super(config);
    this.#config = config;
  }

  /** A method that prom-client's registry calls on a histogram, but its typings do not declare. */
  getForPromString(): Promise<object> {
    const { name, help } = this.#config;
    return Promise.resolve({ name, help, type: 'histogram', aggregator: 'sum', values: this.samples });
  }
}
