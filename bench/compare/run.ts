/**
 * Engram and etcd side by side, one workload after another, in turn (A B B A), with the same flags on the same disk.
 *
 *   node bench/compare/run.ts [--only put,get] [--rounds 3] [--markdown FILE] [--smoke]
 */
import { readOptions } from '../support/options.ts';
import { runOne } from '../support/load.ts';
import { type StoreName, storeNames } from '../support/programs.ts';
import { DataFolder, report } from '../support/report.ts';
import { Store } from '../support/store.ts';
import { columns, figuresOf, type Run, row } from './figures.ts';
import { LIST_PREFIX, workloads } from './workloads.ts';

const options = readOptions(
  process.argv.slice(2),
  { only: '', rounds: 3, factor: 1, keys: 100_000, listed: 10_000, markdown: '' },
  { rounds: 1, factor: 0.02, keys: 2_000, listed: 2_000 },
);
const all = workloads(options);
const only = options.only === '' ? all.map(({ name }) => name) : options.only.split(',');
for (const name of only) {
  if (!all.some((workload) => workload.name === name)) {
    throw new Error(`there is no workload ${name}; there are: ${all.map((workload) => workload.name).join(',')}`);
  }
}

using folder = new DataFolder();
await using engram = await Store.start('engram', folder.path);
await using etcd = await Store.start('etcd', folder.path);
const stores: Readonly<Record<StoreName, Store>> = { engram, etcd };
const failures: string[] = [];
for (const name of storeNames) {
  for (const fill of [[`--keys=${options.keys}`], [`--keys=${options.listed}`, `--prefix=${LIST_PREFIX}`]]) {
    const { outcome } = await runOne(stores[name], ['--op=fill', ...fill]);
    if (outcome.failures > 0) failures.push(`fill, ${name}: ${outcome.firstError}`);
  }
}

const rows: (readonly string[])[] = [];
for (const { name, args, item } of all.filter((workload) => only.includes(workload.name))) {
  const runs: Readonly<Record<StoreName, Run[]>> = { engram: [], etcd: [] };
  for (let round = 0; round < options.rounds; round += 1) {
    // The first of two programs that are the same took 4 % more CPU in each round (measured): each is first in turn.
    for (const store of round % 2 === 0 ? storeNames : storeNames.toReversed()) {
      const { outcome, cpuSeconds, after } = await runOne(stores[store], args);
      runs[store].push({ outcome, cpuSeconds, residentMb: after.residentMb });
      if (outcome.failures > 0) failures.push(`${name}, ${store}: ${outcome.failures}x ${outcome.firstError}`);
    }
  }
  const cells = row(name, figuresOf(runs.engram, item), figuresOf(runs.etcd, item));
  rows.push(cells);
  console.error(columns.map((column, at) => (at === 0 ? cells[at] : `${column} ${cells[at]}`)).join(', '));
}

report({
  title: 'Engram beside etcd',
  command: `node bench/compare/run.ts ${process.argv.slice(2).join(' ')}`.trim(),
  tables: [{ title: 'One node, values of 512 bytes', columns, rows }],
  notes: [
    `median of ${options.rounds} rounds, in turn; a rate counts requests, listed keys or delivered events`,
    'CPU is of the store alone, for each of what the rate counts, with what it puts off until after the load',
    'RSS counts pages of mapped files, which etcd reads its database through',
  ],
  failures,
  directory: folder.path,
  markdown: options.markdown,
});
