/**
 * Latency of puts and lease renewals at a fixed rate during something large: a list of many objects, a snapshot, a
 * compaction of much garbage. One store after the other, so that each has the machine to itself. With `--members 3`, runs
 * clusters, whose leaders get the requests.
 *
 *   node bench/mixed/run.ts [--members 3] [--listed 100000] [--garbage 200000] [--rate 2000] [--only engram]
 * [--markdown FILE] [--smoke]
 */
import { storeOf } from '../cluster/cluster-store.ts';
import { runLoad, runOne } from '../support/load.ts';
import { readOptions } from '../support/options.ts';
import { storeNames } from '../support/programs.ts';
import { DataFolder, report } from '../support/report.ts';
import { figure } from '../support/statistics.ts';

const options = readOptions(
  process.argv.slice(2),
  {
    members: 1,
    listed: 100_000,
    garbage: 200_000,
    keys: 2_000,
    rate: 2_000,
    renewals: 500,
    quiet: 3,
    during: 5,
    disturbances: 'none,list,snapshot,compact',
    only: storeNames.join(','),
    markdown: '',
  },
  { listed: 2_000, garbage: 2_000, keys: 200, rate: 200, renewals: 100, quiet: 1, during: 1 },
);
const LISTED = '/registry/listed/';
const phases = ['before', 'during', 'after'] as const;
const columns = [
  'disturbance',
  'store',
  'times',
  'p50 ms',
  'max ms',
  ...['put', 'renewal'].flatMap((what) => phases.map((phase) => `${what} p99 ${phase}`)),
  'put max during',
  'renewal max during',
];
const rows: (readonly string[])[] = [];
const failures: string[] = [];
using folder = new DataFolder();

async function measure(name: (typeof storeNames)[number]): Promise<void> {
  await using store = await storeOf(options.members, name, folder.path);
  const prepare = async (...args: string[]): Promise<void> => {
    const { outcome } = await runOne(store, args);
    if (outcome.failures > 0) failures.push(`preparation, ${name}: ${outcome.firstError}`);
  };
  await prepare('--op=fill', `--keys=${options.listed}`, `--prefix=${LISTED}`);
  await prepare('--op=fill', `--keys=${options.keys}`);
  for (const disturbance of options.disturbances.split(',')) {
    console.error(`${name}: ${disturbance}`);
    if (disturbance === 'compact') await prepare('--op=put', `--keys=${options.keys}`, `--requests=${options.garbage}`);
    const { outcomes } = await runLoad(store, [
      '--op=beside',
      `--disturbance=${disturbance}`,
      `--disturbed-prefix=${LISTED}`,
      `--keys=${options.keys}`,
      `--rate=${options.rate}`,
      `--keepalive-rate=${options.renewals}`,
      `--quiet=${options.quiet}s`,
      `--during=${options.during}s`,
    ]);
    const find = (op: string, phase: string): (typeof outcomes)[number] | undefined =>
      outcomes.find((outcome) => outcome.op === op && outcome.phase === phase);
    const failed = outcomes.find((outcome) => outcome.failures > 0);
    if (failed !== undefined) failures.push(`${disturbance}, ${name}: ${failed.failures}x ${failed.firstError}`);
    const itself = outcomes.find((outcome) => outcome.phase === 'disturbance');
    const of = (op: string, phase: string): string => figure(find(op, phase)?.p99Ms ?? Number.NaN);
    rows.push([
      disturbance,
      name,
      figure(itself?.requests ?? Number.NaN),
      figure(itself?.requests ? itself.p50Ms : Number.NaN),
      figure(itself?.requests ? itself.maxMs : Number.NaN),
      ...['put', 'keepalive'].flatMap((op) => phases.map((phase) => of(op, phase))),
      figure(find('put', 'during')?.maxMs ?? Number.NaN),
      figure(find('keepalive', 'during')?.maxMs ?? Number.NaN),
    ]);
  }
  if (store.output !== '') console.error(`${name} wrote:\n${store.output}`);
}

for (const name of storeNames) if (options.only.split(',').includes(name)) await measure(name);
const order = options.disturbances.split(',');
report({
  title: 'Puts and renewals beside something large',
  command: `node bench/mixed/run.ts ${process.argv.slice(2).join(' ')}`.trim(),
  tables: [
    {
      title: `${figure(options.rate)} puts and ${figure(options.renewals)} renewals a second, milliseconds`,
      columns,
      rows: rows.toSorted((left, right) => order.indexOf(left[0] ?? '') - order.indexOf(right[0] ?? '')),
    },
  ],
  notes: [
    options.members === 1 ? 'one node each' : 'three members each, with the load at the leader',
    `list: ${figure(options.listed)} objects in one answer; snapshot: the whole database; both again and again for ${options.during} s`,
    `compact: ${figure(options.garbage)} superseded versions, once, physical; times: how often it went on`,
    'requests go out at their rate whether or not the store answers; `during` counts all that were unanswered or sent then',
  ],
  failures,
  directory: folder.path,
  markdown: options.markdown,
});
