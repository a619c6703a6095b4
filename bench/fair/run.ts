/**
 * Fairness among connections. A modest client, which puts and gets a small key, alone and beside one greedy connection that
 * has a thousand lists of 10,000 keys in flight; and the shares of two greedy connections.
 *
 *   node bench/fair/run.ts [--stores engram,etcd] [--rounds 3] [--seconds 10] [--lists 1000] [--keys 10000] [--interval 5]
 *     [--nice 19] [--slower 1.5] [--unequal 0.1] [--markdown FILE] [--smoke]
 *
 * The greedy client decodes what it gets on the cores that the store and the modest client use. That is no share that a
 * store could give, so it is the same in both measurements: `alone`, a process that does not talk to the store uses as much
 * CPU as the greedy client has used, at the same priority (`nice`). `idle` is without it, for comparison.
 *
 * Fails where the p99 of the modest client beside the greedy one is more than `slower` times what it is alone, or where one
 * greedy connection has more than `unequal` more than the other, in the middle of the rounds.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { Prober } from '../attacks/probing.ts';
import { TargetProcess } from '../attacks/target-process.ts';
import { readOptions } from '../support/options.ts';
import { commandOf, storeNames } from '../support/programs.ts';
import { DataFolder, report } from '../support/report.ts';
import { figure, median } from '../support/statistics.ts';
import { Burner, Greedy, unequal } from './greedy-client.ts';

const options = readOptions(
  process.argv.slice(2),
  {
    stores: 'engram',
    rounds: 3,
    seconds: 10,
    lists: 1000,
    keys: 10_000,
    interval: 5,
    nice: 19,
    slower: 1.5,
    unequal: 0.1,
    markdown: '',
  },
  { rounds: 1, seconds: 1, lists: 50, keys: 1000, slower: 1000, unequal: 1000 },
);
/** Where `TargetProcess.fill` puts its keys. */
const PREFIX = '/attacked/';
const SETTLE_MS = 1000;

const modestColumns = [
  ...['store', 'round', 'idle p99', 'alone p99', 'beside p99', 'times', 'own alone', 'own beside'],
  ...['lists/s', 'greedy cores', 'burned cores'],
];
const sharesColumns = ['store', 'round', 'one lists/s', 'other lists/s', 'one MiB/s', 'other MiB/s', 'unequal'];
const modest: string[][] = [];
const shares: string[][] = [];
const failures: string[] = [];
using folder = new DataFolder();

async function measure(store: (typeof storeNames)[number]): Promise<void> {
  const slowdowns: number[] = [];
  const differences: number[] = [];
  await using target = await TargetProcess.start(commandOf(store).join(' '), folder.path, undefined, []);
  await target.fill(options.keys);
  const greedy = (): Promise<Greedy> => Greedy.start(target.port, options.lists, PREFIX, options.nice);
  const probe = async () => {
    const prober = await Prober.start(`127.0.0.1:${target.port}`, target.pid, options.interval);
    await delay(1000 * options.seconds);
    return prober.end();
  };
  for (let round = 1; round <= options.rounds; round += 1) {
    console.error(`${store}: round ${round}`);
    const idle = await probe();
    const one = await greedy();
    await delay(SETTLE_MS);
    one.count();
    const beside = await probe();
    const had = await one.end();
    await target.idle(5000);
    const burner = await Burner.start(had.cores, options.nice);
    burner.count();
    const alone = await probe();
    const burned = await burner.end();
    const times = beside.p99Ms / alone.p99Ms;
    slowdowns.push(times);
    const latencies = [idle.p99Ms, alone.p99Ms, beside.p99Ms, times, alone.ownP99Ms, beside.ownP99Ms];
    modest.push([store, String(round), ...[...latencies, had.lists / had.seconds, had.cores, burned].map(figure)]);
    const refused = idle.failures + alone.failures + beside.failures + had.failures;
    if (refused > 0) failures.push(`${store}, round ${round}: ${refused} calls were refused`);

    const both = await Promise.all([greedy(), greedy()]);
    await delay(SETTLE_MS);
    for (const each of both) each.count();
    await delay(1000 * options.seconds);
    const [first, second] = await Promise.all([both[0].end(), both[1].end()]);
    const difference = unequal(first, second);
    differences.push(difference);
    const rates = [
      first.lists / first.seconds,
      second.lists / second.seconds,
      first.bytes / first.seconds / 2 ** 20,
      second.bytes / second.seconds / 2 ** 20,
      difference,
    ];
    shares.push([store, String(round), ...rates.map(figure)]);
    await target.idle(5000);
  }
  if (store === 'etcd') return; // for comparison only
  const [slower, apart] = [median(slowdowns), median(differences)];
  if (!(slower <= options.slower)) failures.push(`the modest client waits ${figure(slower)} times as long`);
  if (!(apart <= options.unequal)) failures.push(`the shares of two greedy connections differ by ${figure(apart)}`);
}

for (const store of storeNames) if (options.stores.split(',').includes(store)) await measure(store);
report({
  title: 'Fairness among connections',
  command: `node bench/fair/run.ts ${process.argv.slice(2).join(' ')}`.trim(),
  tables: [
    {
      title: 'A modest client alone, and beside a greedy connection: milliseconds',
      columns: modestColumns,
      rows: modest,
    },
    { title: 'Two greedy connections', columns: sharesColumns, rows: shares },
  ],
  notes: [
    `greedy: ${figure(options.lists)} lists of ${figure(options.keys)} keys of 1 KiB in flight on one connection`,
    `modest: puts and gets of a small key, ${options.interval} ms behind each answer`,
    `alone: beside a process that uses as much CPU as the greedy client and does not talk to the store, both at nice ${options.nice}`,
    'idle: with nothing beside it',
    'own: without the time in which the event loop or the modest client was ready to run and had no core',
    'unequal: what one had more than the other, in bytes; the greedy clients share the cores with the store',
  ],
  failures,
  directory: folder.path,
  markdown: options.markdown,
});
