/**
 * The way in from etcd and back, with many keys: what `engram restore` takes beside `etcdutl snapshot restore`, and whether the
 * store is the same there and back.
 *
 *   node bench/restore/run.ts [--keys 1000000] [--value 512] [--updates 100000] [--leases 1000] [--users 100] [--rounds 2]
 *     [--markdown FILE] [--smoke]
 */
import { statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { newStorePlace, type StorePlace, StoreProcess } from '../../test/support/store-process.ts';
import { diskBytes } from '../support/disk-size.ts';
import { readOptions } from '../support/options.ts';
import { commandOf, etcdCommand, type StoreName } from '../support/programs.ts';
import { DataFolder, report } from '../support/report.ts';
import { figure, median } from '../support/statistics.ts';
import { usageOf } from '../support/usage.ts';
import { type CommandCost, measuredCommand } from './measured-command.ts';
import { differences, save } from './snapshot.ts';
import { digestRows, filledNote, saveFilledEtcd } from './source.ts';
import { digestOf } from './store-digest.ts';

const options = readOptions(
  process.argv.slice(2),
  { keys: 1_000_000, value: 512, updates: 100_000, leases: 1_000, users: 100, rounds: 2, markdown: '' },
  { keys: 5_000, updates: 1_000, leases: 50, users: 10, rounds: 1 },
);
const QUOTA = '--quota-backend-bytes=8589934592';
const failures: string[] = [];
const rows: string[][] = [];
using folder = new DataFolder();
const place = (name: string): string => join(folder.path, name);
const say = (text: string): void => console.error(text);
const sizeMb = (file: string): number => statSync(file).size / 2 ** 20;

const restoreCommand = (by: StoreName, file: string, { dataDir, peerPort }: StorePlace): readonly string[] => [
  ...(by === 'engram' ? [...commandOf('engram'), 'restore'] : [etcdCommand('etcdutl'), 'snapshot', 'restore']),
  file,
  '--name=default',
  `--data-dir=${dataDir}`,
  `--initial-cluster=default=http://127.0.0.1:${peerPort}`,
  `--initial-advertise-peer-urls=http://127.0.0.1:${peerPort}`,
];

/** In turn, A B B A. The data of the last round of each stays. */
async function restoreByBoth(what: string, file: string): Promise<ReadonlyMap<StoreName, StorePlace>> {
  const costs = new Map<StoreName, CommandCost[]>([
    ['engram', []],
    ['etcd', []],
  ]);
  const kept = new Map<StoreName, StorePlace>();
  for (let round = 0; round < options.rounds; round += 1) {
    for (const by of round % 2 === 0 ? (['etcd', 'engram'] as const) : (['engram', 'etcd'] as const)) {
      const before = kept.get(by);
      if (before !== undefined) await rm(before.dataDir, { recursive: true });
      const to = await newStorePlace(place(`${what.replaceAll(' ', '-')}-${by}-${round}`));
      kept.set(by, to);
      const cost = await measuredCommand(restoreCommand(by, file, to));
      say(`${what}, ${by}: ${figure(cost.seconds)} s, ${figure(cost.peakMb)} MiB`);
      costs.get(by)?.push(cost);
    }
  }
  const row = (title: string, of: (cost: CommandCost) => number): void => {
    const values = (['engram', 'etcd'] as const).map((by) => median((costs.get(by) ?? []).map(of)));
    rows.push([`${what}: ${title}`, ...values.map(figure)]);
  };
  row('s', (cost) => cost.seconds);
  row('CPU s', (cost) => cost.cpuSeconds);
  row('peak RSS, MiB', (cost) => cost.peakMb);
  row('of it anonymous, MiB', (cost) => cost.anonymousMb);
  const sizes = (['engram', 'etcd'] as const).map((by) => diskBytes(kept.get(by)?.dataDir ?? '') / 2 ** 20);
  rows.push([`${what}: on disk, MiB`, ...sizes.map(figure)]);
  return kept;
}

async function started(by: StoreName, at: StorePlace | undefined): Promise<StoreProcess> {
  if (at === undefined) throw new Error(`nothing was restored by ${by}`);
  return await StoreProcess.start(at, { command: commandOf(by), flags: [QUOTA] });
}

const fromEtcd = place('etcd.db');
const fromEngram = place('engram.db');
const { readable, digest: wanted, cost: saved } = await saveFilledEtcd(folder.path, fromEtcd, options);
rows.push(['snapshot save: s', '-', figure(saved.seconds)], ['snapshot: MiB', '-', figure(sizeMb(fromEtcd))]);
const restored = await restoreByBoth('the snapshot of etcd', fromEtcd);
await rm(restored.get('etcd')?.dataDir ?? '', { recursive: true, force: true });
{
  const startMs = performance.now();
  await using engram = await started('engram', restored.get('engram'));
  rows.push(['start on it: s', figure((performance.now() - startMs) / 1000), '-']);
  say('reads the engram');
  failures.push(...differences('engram, restored from etcd', await digestOf(engram.endpoint, readable), wanted));
  rows.push(['peak RSS of the node that was read, MiB', figure(usageOf(engram.pid).peakMb), '-']);
  const cost = await save(engram.endpoint, fromEngram);
  rows.push(
    ['snapshot save of it: s', figure(cost.seconds), '-'],
    ['snapshot of it: MiB', figure(sizeMb(fromEngram)), '-'],
  );
}
const back = await restoreByBoth('the snapshot of engram', fromEngram);
for (const by of ['etcd', 'engram'] as const) {
  await using again = await started(by, back.get(by));
  say(`reads the ${by}`);
  failures.push(...differences(`${by}, restored from the engram`, await digestOf(again.endpoint, readable), wanted));
}
report({
  title: `${figure(options.keys)} keys of ${options.value} bytes, in and out`,
  command: `node bench/restore/run.ts ${process.argv.slice(2).join(' ')}`.trim(),
  tables: [
    { title: '`engram restore` and `etcdutl snapshot restore`', columns: ['', 'engram', 'etcd'], rows },
    {
      title: 'What is equal in the etcd, in both engrams and in the etcd at the end',
      columns: ['', 'digest'],
      rows: digestRows(wanted),
    },
  ],
  notes: [
    `keys and updates in transactions of 100; medians of ${options.rounds} rounds, in turn; RSS counts pages of mapped files`,
    filledNote(options),
  ],
  failures,
  directory: folder.path,
  markdown: options.markdown,
});
