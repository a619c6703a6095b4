/**
 * Many keys: the rate of the load, memory and disk, the cost of requests at that size, and the time of restarts. One
 * store after the other, so that each has the machine to itself.
 *
 *   node bench/million/run.ts [--keys 1000000] [--value 512] [--lists 30] [--only engram] [--markdown FILE] [--smoke]
 */
import { runOne } from '../support/load.ts';
import { readOptions } from '../support/options.ts';
import { storeNames } from '../support/programs.ts';
import { DataFolder, report } from '../support/report.ts';
import { figure } from '../support/statistics.ts';
import { Store } from '../support/store.ts';

const options = readOptions(
  process.argv.slice(2),
  { keys: 1_000_000, value: 512, page: 10_000, requests: 40_000, lists: 30, only: storeNames.join(','), markdown: '' },
  { keys: 5_000, page: 1_000, requests: 1_000 },
);
/** How long a store may finish deferred work after the load. */
const SETTLE_MAX_MS = 60_000;
/** The lowest load rate, in puts per second, at which a store still finishes its load. */
const LOAD_RATE_MIN = 2_000;
const maxSeconds = 600 + Math.ceil(options.keys / LOAD_RATE_MIN);
const failures: string[] = [];
using folder = new DataFolder();

type Measured = Map<string, string>;

async function measure(name: (typeof storeNames)[number]): Promise<Measured> {
  const measured: Measured = new Map();
  await using store = await Store.start(name, folder.path);
  const common = [`--keys=${options.keys}`, `--value=${options.value}`];
  const run = async (what: string, ...args: string[]): ReturnType<typeof runOne> => {
    console.error(`${name}: ${what}`);
    const load = await runOne(store, [...common, ...args], { maxSeconds });
    if (load.outcome.failures > 0) failures.push(`${what}, ${name}: ${load.outcome.firstError}`);
    return load;
  };
  const note = (what: string, value: number): void => {
    measured.set(what, figure(value));
    // Printed at once, so that the figure is not lost if the store fails later.
    console.error(`${name}: ${what}: ${figure(value)}`);
  };

  const fill = await run('load', '--op=fill');
  note('load, puts/s', fill.outcome.perSecond);
  note('load, p99 ms', fill.outcome.p99Ms);
  note('load, max ms', fill.outcome.maxMs);
  const settled = await store.idle(SETTLE_MAX_MS);
  note('load, CPU us/put', ((fill.cpuSeconds + settled.cpuSeconds - fill.after.cpuSeconds) * 1e6) / options.keys);
  note('RSS after the load, MiB', settled.residentMb);
  note('of it anonymous, MiB', settled.anonymousMb);
  note('most RSS during the load, MiB', settled.peakMb);
  note('on disk, MiB', store.diskMb());

  for (const op of ['get', 'put']) {
    const size = `--requests=${options.requests}`;
    const { outcome } = await run(op, `--op=${op}`, size, '--connections=8', '--inflight=4', '--warm=2000');
    note(`${op}, /s (32 clients)`, outcome.perSecond);
    note(`${op}, p50 ms`, outcome.p50Ms);
    note(`${op}, p99 ms`, outcome.p99Ms);
    note(`${op}, max ms`, outcome.maxMs);
  }
  const lists = `--requests=${options.lists}`;
  const alone = ['--connections=1', '--inflight=1'];
  const list = await run('list', '--op=list', `--limit=${options.page}`, lists, '--warm=3', ...alone);
  note(`page of ${options.page}, p50 ms`, list.outcome.p50Ms);
  note(`page of ${options.page}, max ms`, list.outcome.maxMs);
  const count = await run('count', '--op=count', lists, '--warm=3', ...alone);
  note('count of all, p50 ms', count.outcome.p50Ms);

  console.error(`${name}: restarts`);
  note('SIGTERM to the end, ms', await store.stop());
  note('start after SIGTERM to the first read, ms', await store.start());
  note('RSS after that start, MiB', (await store.idle(SETTLE_MAX_MS)).residentMb);
  // These writes are not cleaned up by an orderly stop.
  await run('put', '--op=put', `--requests=${options.requests}`);
  await store.kill();
  note('start after kill -9 to the first read, ms', await store.start());
  const afterKill = await run('count', '--op=count', '--requests=1', ...alone);
  note('count after kill -9, ms', afterKill.outcome.p50Ms);
  note('on disk at the end, MiB', store.diskMb());
  if (store.output !== '') console.error(`${name} wrote:\n${store.output}`);
  return measured;
}

const chosen = storeNames.filter((name) => options.only.split(',').includes(name));
const columns: Measured[] = [];
for (const name of chosen) columns.push(await measure(name));
report({
  title: `${figure(options.keys)} keys of ${options.value} bytes`,
  command: `node bench/million/run.ts ${process.argv.slice(2).join(' ')}`.trim(),
  tables: [
    {
      title: 'One store after the other',
      columns: ['', ...chosen],
      rows: [...(columns[0]?.keys() ?? [])].map((what) => [what, ...columns.map((column) => column.get(what) ?? '-')]),
    },
  ],
  notes: [
    'sizes are taken when the store has nothing left to do; RSS counts pages of mapped files',
    `the load is 8 connections with 32 requests in flight each; before kill -9 come ${figure(options.requests)} more puts`,
  ],
  failures,
  directory: folder.path,
  markdown: options.markdown,
});
