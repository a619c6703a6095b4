import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './root.ts';

/** A page of the site, and the file of the repository that it is. */
export interface Page {
  /** From the project's root. */
  readonly source: string;
  /** As the navigation shows it. */
  readonly title: string;
  /** In the site, without an ending. */
  readonly path: string;
}

export interface Section {
  readonly title: string;
  readonly pages: readonly Page[];
}

/** `SECURITY-GUIDE` is at `security-guide`, `helm/engram/README` at `helm/engram`. */
const page = (source: string, title: string): Page => ({
  source,
  title,
  path:
    source === 'README.md'
      ? 'index'
      : source
          .replace(/^docs\//, '')
          .replace(/(\/README)?\.md$/, '')
          .toLowerCase(),
});

const files = (folder: string): readonly string[] =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.md'))
    .sort()
    .map((name) => `${folder}/${name}`);

/** `docs/decisions/0014-seals-outlive-the-trim.md` is "14 Seals outlive the trim". */
function decision(source: string): Page {
  const [, number, words] = /(\d+)-(.*)\.md$/.exec(source) ?? [];
  if (number === undefined || words === undefined) throw new Error(`${source}: a decision has a number and a name`);
  const text = words.replaceAll('-', ' ');
  return page(source, `${Number(number)} ${text[0]!.toUpperCase()}${text.slice(1)}`);
}

/** `docs/results/2026-11-26-cluster.md` is "2026-11-26 cluster". */
function result(source: string): Page {
  const [, date, words] = /(\d{4}-\d\d-\d\d)-(.*)\.md$/.exec(source) ?? [];
  if (date === undefined || words === undefined) throw new Error(`${source}: results have a date and a name`);
  return page(source, `${date} ${words.replaceAll('-', ' ')}`);
}

/** Every page of the site, in its order. `test/docs.test.ts` says which one is missing. */
export const navigation: readonly Section[] = [
  {
    title: 'Begin',
    pages: [
      page('README.md', 'Engram'),
      page('docs/QUICKSTART.md', 'Quick start'),
      page('docs/MIGRATION.md', 'Migration from etcd'),
      page('docs/COMPARISON.md', 'Comparison'),
    ],
  },
  {
    title: 'Run',
    pages: [
      page('docs/KUBERNETES.md', 'Kubernetes'),
      page('deploy/README.md', 'What is tried'),
      page('helm/engram/README.md', 'The Helm chart'),
      page('docs/OPERATIONS.md', 'Operations'),
      page('docs/ENGRAMCTL.md', 'engramctl'),
      page('docs/TUNING.md', 'Tuning'),
      page('docs/TIKV.md', 'TiKV below Engram'),
      page('docs/COMPATIBILITY.md', 'Compatibility'),
      page('CHANGELOG.md', 'Changes'),
    ],
  },
  {
    title: 'Security',
    pages: [
      page('docs/SECURITY-GUIDE.md', 'Security guide'),
      page('docs/SECURITY.md', 'What clients can do'),
      page('docs/BOUNDS.md', 'Bounds'),
    ],
  },
  {
    title: 'Observe',
    pages: [
      page('docs/METRICS.md', 'Metrics'),
      page('docs/RUNBOOKS.md', 'Alerts and runbooks'),
      page('docs/TRACING.md', 'Traces'),
      page('docs/OTLP.md', 'Metrics by OTLP'),
    ],
  },
  {
    title: 'Reference',
    pages: [
      page('docs/FLAGS.md', 'Flags'),
      page('docs/FAILURES.md', 'Failure scenarios'),
      page('docs/EDGE-CASES.md', 'Edge cases'),
      page('docs/GLOSSARY.md', 'Glossary'),
    ],
  },
  {
    title: 'Speed',
    pages: [page('docs/BENCHMARKS.md', 'Benchmarks'), page('docs/PERFORMANCE.md', 'Performance')],
  },
  {
    title: 'Inside',
    pages: [
      page('docs/ARCHITECTURE.md', 'Architecture'),
      page('HACKING.md', 'Hacking'),
      page('docs/DEPENDENCIES.md', 'Dependencies'),
      page('e2e/README.md', 'End-to-end tests'),
      page('test/sim/README.md', 'Simulation'),
      page('bench/README.md', 'How to measure'),
    ],
  },
  { title: 'Decisions', pages: files('docs/decisions').map(decision) },
  { title: 'Results', pages: files('docs/results').map(result).toReversed() },
];

export const pages: readonly Page[] = navigation.flatMap((section) => section.pages);
