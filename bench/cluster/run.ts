/**
 * Three members of Engram on PD and three stores, and three of etcd, one workload after another, in turn (A B A B).
 *
 *   node bench/cluster/run.ts [--only create,list] [--rounds 3] [--factor 1] [--markdown FILE] [--smoke]
 *
 * `--only` selects the rows whose names begin with one of the words. The stores are those of e2e/tikv.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { LIST_PREFIX } from '../compare/workloads.ts';
import { runOne } from '../support/load.ts';
import { readOptions } from '../support/options.ts';
import type { Outcome } from '../support/outcome.ts';
import { type StoreName, storeNames } from '../support/programs.ts';
import { DataFolder, report } from '../support/report.ts';
import { figure, median, ratio } from '../support/statistics.ts';
import { type Cluster, ClusterTarget, startEngram, startEtcd } from './cluster.ts';
import { clusterWorkloads, type ClusterWorkload } from './workloads.ts';

interface Run {
  readonly outcome: Outcome;
  /** Microseconds for each item, for each part of the cluster. */
  readonly cpuUs: Readonly<Record<string, number>>;
}

const options = readOptions(
  process.argv.slice(2),
  { only: '', rounds: 3, factor: 1, keys: 100_000, listed: 10_000, markdown: '' },
  { rounds: 1, factor: 0.02, keys: 2_000, listed: 2_000 },
);
const rows = clusterWorkloads(options).filter(
  ({ name }) => options.only === '' || options.only.split(',').some((start) => name.startsWith(start)),
);
if (rows.length === 0) throw new Error(`no row begins with ${options.only}`);

using folder = new DataFolder();
for (const name of storeNames) mkdirSync(join(folder.path, name));
await using engram = await startEngram(join(folder.path, 'engram'));
await using etcd = await startEtcd(join(folder.path, 'etcd'));
const clusters: Readonly<Record<StoreName, Cluster>> = { engram, etcd };
const failures: string[] = [];

async function load(name: StoreName, { at, args, item }: Omit<ClusterWorkload, 'name'>): Promise<Run> {
  const target = await ClusterTarget.at(clusters[name], at);
  let before = target.cpuByPart();
  const onPrepared = async (): Promise<void> => {
    before = target.cpuByPart();
  };
  const { outcome } = await runOne(target, args, { onPrepared });
  if (outcome.failures > 0) failures.push(`${args.join(' ')}, ${name}: ${outcome.failures}x ${outcome.firstError}`);
  const count = Math.max(1, item === 'request' ? outcome.requests : outcome.items);
  const cpuUs = Object.fromEntries(
    Object.entries(target.cpuByPart()).map(([part, seconds]) => [part, ((seconds - before[part]!) * 1e6) / count]),
  );
  return { outcome, cpuUs };
}

for (const name of storeNames) {
  for (const fill of [[`--keys=${options.keys}`], [`--keys=${options.listed}`, `--prefix=${LIST_PREFIX}`]])
    await load(name, { at: 'leader', args: ['--op=fill', ...fill], item: 'request' });
}

const columns = [
  'workload',
  'engram/s',
  'etcd/s',
  'ratio',
  'engram p50 ms',
  'etcd p50 ms',
  'engram p99 ms',
  'etcd p99 ms',
  'engram cpu us: leader + followers + stores + PD',
  'etcd cpu us: leader + followers',
];
const cells: (readonly string[])[] = [];
for (const workload of rows) {
  const runs: Record<StoreName, Run[]> = { engram: [], etcd: [] };
  // The first run of a workload does not count: for some seconds V8 compiles new code.
  for (const name of storeNames) await load(name, workload);
  for (let round = 0; round < options.rounds; round += 1) {
    for (const name of storeNames) runs[name].push(await load(name, workload));
  }
  const of = (name: StoreName, pick: (outcome: Outcome) => number): number =>
    median(runs[name].map(({ outcome }) => pick(outcome)));
  const rate = (outcome: Outcome): number => (workload.item === 'request' ? outcome.perSecond : outcome.itemsPerSecond);
  const cpu = (name: StoreName): string =>
    Object.keys(runs[name][0]!.cpuUs)
      .map((part) => figure(median(runs[name].map(({ cpuUs }) => cpuUs[part]!))))
      .join(' + ');
  const row = [
    workload.name,
    figure(of('engram', rate)),
    figure(of('etcd', rate)),
    ratio(of('engram', rate), of('etcd', rate)),
    ...(['p50Ms', 'p99Ms'] as const).flatMap((of99) =>
      storeNames.map((name) => figure(of(name, (outcome) => outcome[of99]))),
    ),
    cpu('engram'),
    cpu('etcd'),
  ];
  cells.push(row);
  console.error(row.join(' | '));
}

report({
  title: 'Three members of Engram beside three of etcd',
  command: `node bench/cluster/run.ts ${process.argv.slice(2).join(' ')}`.trim(),
  tables: [{ title: 'Three members each, values of 512 bytes', columns, rows: cells }],
  notes: [
    `median of ${options.rounds} rounds, in turn, behind one that is not counted; a rate counts requests, listed keys or delivered events`,
    "all processes, the load generator's too, share the cores: Engram's are three members, three stores and PD",
    'the stores are those of e2e/tikv, in Go; TiKV itself is another program',
  ],
  failures,
  directory: folder.path,
  markdown: options.markdown,
});
