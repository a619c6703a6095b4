import type { Job, Loop } from '@engram/loop';
import { type Metric, samplesOf } from './metric.ts';
import type { Exemplar, Labels } from './plain-histogram.ts';

const CONTENT_TYPE = 'application/openmetrics-text; version=1.0.0; charset=utf-8';
const TOTAL = '_total';

/**
 * Metrics as OpenMetrics 1.0, as a job. The samples have the names that Prometheus' text gives them: OpenMetrics would put `_total`
 * behind each counter, and series would change their names with the format. So a counter whose name does not end so, as some of
 * etcd's, has the type `unknown`.
 */
export function* openMetrics(
  metrics: Iterable<Metric>,
  loop: Loop,
): Job<{ readonly contentType: string; readonly text: string }> {
  const lines: string[] = [];
  for (const metric of metrics) {
    const { name, help } = metric;
    const family = familyOf(metric);
    lines.push(`# TYPE ${family} ${typeOf(metric)}`, `# HELP ${family} ${escaped(help)}`);
    for (const { suffix = '', labels, value, exemplar } of samplesOf(metric)) {
      lines.push(`${name}${suffix}${braced(labels)} ${numberOf(value)}${exemplarOf(exemplar)}`);
      if (loop.shouldYield()) yield;
    }
  }
  return { contentType: CONTENT_TYPE, text: `${lines.join('\n')}\n# EOF\n` };
}

const familyOf = ({ type, name }: Metric): string =>
  type === 'counter' && name.endsWith(TOTAL) ? name.slice(0, -TOTAL.length) : name;

const typeOf = ({ type, name }: Metric): string => (type === 'counter' && !name.endsWith(TOTAL) ? 'unknown' : type);

function braced(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(String(value))}"`);
  return pairs.length === 0 ? '' : `{${pairs.join()}}`;
}

/** Of a help text or the value of a label. */
const escaped = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');

function numberOf(value: number): string {
  if (Number.isFinite(value)) return String(value);
  if (Number.isNaN(value)) return 'NaN';
  return value > 0 ? '+Inf' : '-Inf';
}

const exemplarOf = (exemplar: Exemplar | undefined): string =>
  exemplar === undefined
    ? ''
    : ` # {trace_id="${exemplar.traceId}"} ${numberOf(exemplar.value)} ${(exemplar.wallMs / 1000).toFixed(3)}`;
