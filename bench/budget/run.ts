/**
 * The CPU time of one node: microseconds for each request, on the event loop by stage and on other threads.
 *
 *   node bench/budget/run.ts [--only put,get] [--markdown FILE] [--smoke]
 */
import { freePort } from '../../test/support/free-port.ts';
import { LIST_PREFIX, workloads } from '../compare/workloads.ts';
import { runOne } from '../support/load.ts';
import { readOptions } from '../support/options.ts';
import { DataFolder, report } from '../support/report.ts';
import { Store } from '../support/store.ts';
import { Inspector } from './inspector.ts';
import { COLLECTOR, microsecondsByStage, stages } from './profile.ts';

const options = readOptions(
  process.argv.slice(2),
  {
    only: 'put,get,create,delete,create 300 clients,list,watch 100 watchers,keepalive',
    factor: 2,
    keys: 100_000,
    listed: 10_000,
    markdown: '',
  },
  { factor: 0.05, keys: 2_000, listed: 2_000 },
);
const plain = (name: string): string => name.replaceAll(',', '');
const chosen = options.only.split(',').map((name) => {
  const found = workloads(options).find((workload) => plain(workload.name) === name);
  if (found === undefined) throw new Error(`there is no workload ${name}`);
  return found;
});

const LIBUV = 'libuv, polling, reading';
const LOOP = 'event loop';
const OTHERS = 'other threads';
const WHOLE = 'the whole process';
const LIMIT = 'limit of the loop, /s';
const RATE = 'measured, /s';

using folder = new DataFolder();
const inspectPort = await freePort();
process.env['NODE_OPTIONS'] = `--inspect=127.0.0.1:${inspectPort}`;
await using store = await Store.start('engram', folder.path);
delete process.env['NODE_OPTIONS'];
using inspector = await Inspector.connect(inspectPort);

const failures: string[] = [];
for (const fill of [[`--keys=${options.keys}`], [`--keys=${options.listed}`, `--prefix=${LIST_PREFIX}`]]) {
  const { outcome } = await runOne(store, ['--op=fill', ...fill]);
  if (outcome.failures > 0) failures.push(`fill: ${outcome.firstError}`);
}

const order = [...stages.map(([stage]) => stage), COLLECTOR];
const columns = new Map<string, ReadonlyMap<string, string>>();
for (const { name, args, item } of chosen) {
  await runOne(store, args); // so that the measured code is compiled
  const { outcome, cpuSeconds, mainThreadSeconds } = await runOne(store, args, {
    onPrepared: () => inspector.startProfile(),
  });
  const byStage = microsecondsByStage(await inspector.stopProfile());
  if (outcome.failures > 0) failures.push(`${name}: ${outcome.failures}x ${outcome.firstError}`);
  const items = Math.max(1, item === 'request' ? outcome.requests : outcome.items);
  const us = (microseconds: number): string => (microseconds / items).toPrecision(2);
  const staged = [...byStage.values()].reduce((sum, one) => sum + one, 0);
  const loop = mainThreadSeconds * 1e6;
  columns.set(
    name,
    new Map([
      ...order.map((stage): [string, string] => [stage, us(byStage.get(stage) ?? 0)]),
      [LIBUV, us(Math.max(0, loop - staged))],
      [LOOP, us(loop)],
      [OTHERS, us(cpuSeconds * 1e6 - loop)],
      [WHOLE, us(cpuSeconds * 1e6)],
      [LIMIT, String(Math.round((items * 1e6) / loop))],
      [RATE, String(Math.round(items / outcome.seconds))],
    ]),
  );
}

report({
  title: 'What a request costs',
  command: `node bench/budget/run.ts ${process.argv.slice(2).join(' ')}`.trim(),
  tables: [
    {
      title: 'Microseconds of CPU for each request, listed key or delivered event',
      columns: ['stage', ...columns.keys()],
      rows: [...order, LIBUV, LOOP, OTHERS, WHOLE, LIMIT, RATE].map((stage) => [
        stage,
        ...[...columns.values()].map((column) => column.get(stage) ?? ''),
      ]),
    },
  ],
  notes: [
    'sampled by the profiler of V8 every half millisecond, which costs about a tenth itself',
    'builtins and calls of the kernel count for the stage that makes them',
    "other threads: the collector's helpers, the compiler, and the pool in which storage writes",
    'the limit is what one event loop could do at that price if it never waited',
  ],
  failures,
  directory: folder.path,
  markdown: options.markdown,
});
