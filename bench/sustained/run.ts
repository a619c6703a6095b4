/**
 * A store at full load for a long time: creates, updates and deletes that keep about as many keys alive, watchers that
 * must get every event once and in order, lease renewals, and a compaction in each slice of time. Reports each slice,
 * and compares the last ones with the first. One store after the other. With `--members 3`, runs clusters, whose leaders
 * get the requests.
 *
 *   node bench/sustained/run.ts [--minutes 30] [--members 3] [--keys 100000] [--only engram] [--markdown FILE] [--smoke]
 */
import { loadavg } from 'node:os';
import { runLoad } from '../support/load.ts';
import { storeOf } from '../cluster/cluster-store.ts';
import { readOptions } from '../support/options.ts';
import type { Outcome } from '../support/outcome.ts';
import { type StoreName, storeNames } from '../support/programs.ts';
import { DataFolder, report } from '../support/report.ts';
import { figure } from '../support/statistics.ts';
import type { Table } from '../support/table.ts';
import { type Slice, sliceColumns, sliceRow, verdict } from './slices.ts';

const options = readOptions(
  process.argv.slice(2),
  {
    minutes: 30,
    members: 1,
    slice: 60,
    keys: 100_000,
    value: 512,
    turnover: 20,
    groups: 10,
    connections: 8,
    inflight: 32,
    watchers: 100,
    watching: 10,
    renewals: 100,
    keep: 10_000,
    only: storeNames.join(','),
    markdown: '',
  },
  { minutes: 0.1, slice: 1, keys: 2_000, renewals: 20, keep: 1_000 },
);
/** The time limit for the preparation and the final checks. */
const AROUND_MAX_S = 600;
const failures: string[] = [];
const verdicts: string[] = [];
using folder = new DataFolder();

async function measure(name: StoreName): Promise<Table> {
  await using store = await storeOf(options.members, name, folder.path);
  const slices: Slice[] = [];
  let outcomes = new Map<string, Outcome>();
  let cpuSeconds = store.usage().cpuSeconds;
  const onOutcome = (outcome: Outcome): void => {
    outcomes.set(outcome.op, outcome);
    if (outcome.op !== 'slice') return;
    const usage = store.usage();
    slices.push({
      outcomes,
      residentMb: usage.residentMb,
      anonymousMb: usage.anonymousMb,
      diskMb: store.diskMb(),
      cpuSeconds: usage.cpuSeconds - cpuSeconds,
      loadAverage: loadavg()[0] ?? Number.NaN,
    });
    ({ cpuSeconds } = usage);
    outcomes = new Map();
    const row = sliceRow(slices.length, slices.at(-1)!);
    console.error(`${name}: ${sliceColumns.map((column, at) => `${column} ${row[at]}`).join(', ')}`);
  };
  const seconds = Math.max(1, Math.floor((options.minutes * 60) / options.slice)) * options.slice;
  const load = await runLoad(
    store,
    [
      '--op=sustained',
      `--duration=${seconds}s`,
      `--slice=${options.slice}s`,
      `--compact-every=${options.slice}s`,
      `--compact-keep=${options.keep}`,
      `--keys=${options.keys}`,
      `--value=${options.value}`,
      `--turnover=${options.turnover}`,
      `--groups=${options.groups}`,
      `--connections=${options.connections}`,
      `--inflight=${options.inflight}`,
      `--watchers=${options.watchers}`,
      `--watch-connections=${options.watching}`,
      `--keepalive-rate=${options.renewals}`,
    ],
    {
      maxSeconds: seconds + AROUND_MAX_S,
      onPrepared: () => {
        ({ cpuSeconds } = store.usage());
        return Promise.resolve();
      },
      onOutcome,
    },
  );
  const last = load.outcomes.at(-1);
  if (last === undefined || last.failures > 0) failures.push(`${name}: ${last?.failures}x ${last?.firstError}`);
  if (last?.op !== 'verify') failures.push(`${name}: what the store holds was not verified`);
  verdicts.push(`${name}, ${verdict(slices) ?? 'too few slices for a verdict'}`);
  const usage = load.after;
  verdicts.push(
    `${name}, at rest afterwards: RSS ${figure(usage.residentMb)} MiB, of it anonymous ${figure(usage.anonymousMb)}, ` +
      `most ever ${figure(usage.peakMb)}; disk ${figure(store.diskMb())} MiB; ${figure(last?.items ?? Number.NaN)} keys verified`,
  );
  if (store.output !== '') console.error(`${name} wrote:\n${store.output}`);
  return {
    title: `${name}, by slices of ${options.slice} s`,
    columns: sliceColumns,
    rows: slices.map((slice, at) => sliceRow(at + 1, slice)),
  };
}

const tables: Table[] = [];
for (const name of storeNames) if (options.only.split(',').includes(name)) tables.push(await measure(name));
report({
  title: 'Under full load for long',
  command: `node bench/sustained/run.ts ${process.argv.slice(2).join(' ')}`.trim(),
  tables,
  notes: [
    options.members === 1
      ? 'one node each'
      : 'three members each; figures of Engram include PD and the three stores of e2e/tikv',
    `${options.connections} connections with ${options.inflight} writes in flight each: guarded transactions on about ${figure(options.keys)} keys of ${options.value} bytes, ${options.turnover}% creates, as many deletes, the rest updates`,
    `${options.watchers} watchers on ${options.watching} connections, each of one of ${options.groups} prefixes: every event must come once and in order, and at the end every key is read and compared`,
    `${options.renewals} lease renewals a second; a compaction in each slice at the newest revision less ${figure(options.keep)}`,
    'event: from the sending of the write to the arrival at each watcher; behind: revisions that the slowest watcher has before it; CPU cores: of the store',
    ...verdicts,
  ],
  failures,
  directory: folder.path,
  markdown: options.markdown,
});
