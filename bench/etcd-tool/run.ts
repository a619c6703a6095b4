/**
 * etcd's own benchmark tool on Engram and etcd, one workload after another, in turn (A B A B). Its clients are etcd's
 * own, over grpc-go. They take most of the machine, so ratios are closer to one than with a cheap generator.
 *
 *   node bench/etcd-tool/run.ts [--only put,range] [--rounds 3] [--factor 1] [--markdown FILE] [--smoke]
 */
import { execFileSync } from 'node:child_process';
import { readOptions } from '../support/options.ts';
import { etcdTool, type StoreName, storeNames } from '../support/programs.ts';
import { DataFolder, report } from '../support/report.ts';
import { figure, median, ratio } from '../support/statistics.ts';
import { Store } from '../support/store.ts';
import { type Summary, summaryOf } from './summary.ts';

const options = readOptions(
  process.argv.slice(2),
  { only: '', rounds: 3, factor: 1, markdown: '' },
  { rounds: 1, factor: 0.01 },
);
const RUN_MAX_MS = 300_000;
const KEYS = '--key-space-size=100000';
const VALUE = '--val-size=512';
const many = ['--clients=100', '--conns=10'];
const one = ['--clients=1', '--conns=1'];
const total = (count: number): string => `--total=${Math.max(1, Math.round(count * options.factor))}`;
const puts = (count: number): string => `--put-total=${Math.max(1, Math.round(count * options.factor))}`;

/** Few requests in the rows where etcd walks all keys regardless of the limit: each takes it a tenth of a second. */
const workloads: readonly (readonly [name: string, args: readonly string[]])[] = [
  ['put', ['put', ...many, total(100_000), '--key-size=32', VALUE, KEYS, '--sequential-keys']],
  ['put, one client', ['put', ...one, total(5_000), '--key-size=32', VALUE, KEYS]],
  ['txn-put', ['txn-put', ...many, total(100_000), '--key-size=32', VALUE, KEYS]],
  ['txn-put of 8', ['txn-put', ...many, total(20_000), '--key-size=32', VALUE, KEYS, '--txn-ops=8']],
  ['range, one key', ['range', 'foo', ...many, total(100_000)]],
  ['range, one key, one client', ['range', 'foo', ...one, total(5_000)]],
  ['range, 1000 keys', ['range', '\u0001', '\u00ff', '--limit=1000', '--clients=10', '--conns=10', total(200)]],
  ['txn-mixed', ['txn-mixed', '\u0001', '--limit=1', ...many, total(2_000), '--key-size=32', VALUE, KEYS]],
  ['stm', ['stm', ...many, '--keys=10000', '--keys-per-txn=4', total(20_000), VALUE]],
  ['watch', ['watch', ...many, '--streams=10', '--watch-per-stream=100', '--watched-key-total=10', puts(5_000)]],
  ['watch-latency', ['watch-latency', '--streams=10', '--watchers-per-stream=10', '--put-rate=500', puts(2_000)]],
  ['lease-keepalive', ['lease-keepalive', ...many, total(100_000)]],
];
const only = options.only === '' ? workloads.map(([name]) => name) : options.only.split(',');

interface Run extends Summary {
  readonly cpuSeconds: number;
}

using folder = new DataFolder();
await using engram = await Store.start('engram', folder.path);
await using etcd = await Store.start('etcd', folder.path);
const stores: Readonly<Record<StoreName, Store>> = { engram, etcd };
const failures: string[] = [];

function run(name: string, store: Store, args: readonly string[]): Run {
  const before = store.usage().cpuSeconds;
  let text = '';
  try {
    text = execFileSync(etcdTool(), [...args, `--endpoints=${store.target}`, '--precise'], {
      timeout: RUN_MAX_MS,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  } catch (error) {
    failures.push(`${name}, ${store.name}: ${String(error)}`);
  }
  const summary = summaryOf(text);
  if (summary.errors > 0) failures.push(`${name}, ${store.name}: ${summary.errors} errors`);
  return { ...summary, cpuSeconds: store.usage().cpuSeconds - before };
}

const columns = [
  'workload',
  ...['/s', 'p99 ms', 'CPU s'].flatMap((what) => [...storeNames.map((store) => `${store} ${what}`), 'ratio']),
];
const rows: (readonly string[])[] = [];
for (const [name, args] of workloads.filter(([each]) => only.includes(each))) {
  const runs: Readonly<Record<StoreName, Run[]>> = { engram: [], etcd: [] };
  for (let round = 0; round < options.rounds; round += 1) {
    for (const store of storeNames) runs[store].push(run(name, stores[store], args));
  }
  const cells = (['rate', 'p99Ms', 'cpuSeconds'] as const).flatMap((what) => {
    const [ours, theirs] = [median(runs.engram.map((each) => each[what])), median(runs.etcd.map((each) => each[what]))];
    return [figure(ours), figure(theirs), ratio(ours, theirs)];
  });
  rows.push([name, ...cells]);
  console.error(columns.map((column, at) => (at === 0 ? name : `${column} ${cells[at - 1]}`)).join(', '));
}

report({
  title: "etcd's own benchmark tool",
  command: `node bench/etcd-tool/run.ts ${process.argv.slice(2).join(' ')}`.trim(),
  tables: [{ title: 'One node, values of 512 bytes', columns, rows }],
  notes: [
    `median of ${options.rounds} rounds, in turn; 100 clients on 10 connections where nothing else is said`,
    'rates are those that the tool prints: requests, and for watches events received',
    'CPU is of the store alone, for the whole run',
  ],
  failures,
  directory: folder.path,
  markdown: options.markdown,
});
