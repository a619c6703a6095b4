/**
 * The way in from etcd for a cluster: what `engram restore --storage=tikv` takes on the lab of e2e/tikv, and whether its members serve
 * the same store.
 *
 *   node bench/restore/cluster.ts [--keys 250000] [--value 512] [--updates 25000] [--leases 250] [--users 25] [--markdown FILE] [--smoke]
 */
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type ClusterPlace, freePlaces, MemberProcess } from '../../e2e/cluster/cluster-member.ts';
import { Lab } from '../../e2e/tikv/lab.ts';
import { commandOf } from '../support/programs.ts';
import { readOptions } from '../support/options.ts';
import { DataFolder, report } from '../support/report.ts';
import { figure } from '../support/statistics.ts';
import { measuredCommand } from './measured-command.ts';
import { differences } from './snapshot.ts';
import { digestRows, filledNote, saveFilledEtcd } from './source.ts';
import { digestOf } from './store-digest.ts';

const options = readOptions(
  process.argv.slice(2),
  { keys: 250_000, value: 512, updates: 25_000, leases: 250, users: 25, markdown: '' },
  { keys: 5_000, updates: 1_000, leases: 50, users: 10 },
);
const say = (text: string): void => console.error(text);
using folder = new DataFolder();
const snapshot = join(folder.path, 'etcd.db');
const rows: string[][] = [];
const failures: string[] = [];

const { readable, digest: wanted } = await saveFilledEtcd(folder.path, snapshot, options);
mkdirSync(join(folder.path, 'lab'));
await using lab = await Lab.startReplicated(join(folder.path, 'lab'), { strict: false });
const place: ClusterPlace = { pd: lab.pdAddresses, prefix: 'bench', members: await freePlaces(folder.path) };
say('restores into TiKV');
const cost = await measuredCommand([
  ...commandOf('engram'),
  'restore',
  snapshot,
  '--storage=tikv',
  `--tikv-pd-endpoints=${place.pd.join()}`,
  `--tikv-prefix=${place.prefix}`,
  `--data-dir=${join(folder.path, 'copy')}`,
  `--initial-cluster=${place.members.map(({ name, peerPort }) => `${name}=http://127.0.0.1:${peerPort}`).join()}`,
]);
say(`${figure(cost.seconds)} s, ${figure(cost.cpuSeconds)} s of CPU, ${figure(cost.peakMb)} MiB`);
rows.push(
  ['snapshot, MiB', figure(statSync(snapshot).size / 2 ** 20)],
  ['restore, s', figure(cost.seconds)],
  ['CPU of it, s', figure(cost.cpuSeconds)],
  ['peak RSS of it, MiB', figure(cost.peakMb)],
);
const members = place.members.map((member) => new MemberProcess(place, member, ['--log-level=info']));
try {
  const startMs = performance.now();
  for (const member of members) member.start();
  await Promise.all(members.map((member) => member.ready()));
  rows.push(['start of three members on it, s', figure((performance.now() - startMs) / 1000)]);
  for (const member of members) {
    say(`reads the member ${member.place.name}`);
    failures.push(...differences(`member ${member.place.name}`, await digestOf(member.endpoint, readable), wanted));
  }
} finally {
  for (const member of members) await member.stop();
}
report({
  title: `${figure(options.keys)} keys of ${options.value} bytes, restored into TiKV`,
  command: `node bench/restore/cluster.ts ${process.argv.slice(2).join(' ')}`.trim(),
  tables: [
    { title: '`engram restore --storage=tikv`', columns: ['', 'engram'], rows },
    {
      title: 'What is equal in the etcd and on each member',
      columns: ['', 'digest'],
      rows: digestRows(wanted),
    },
  ],
  notes: [
    'keys and updates in transactions of 100; the lab: a PD and three stores on this machine; RSS counts pages of mapped files',
    filledNote(options),
  ],
  failures,
  directory: folder.path,
  markdown: options.markdown,
});
// Connections of the lab are left.
process.exit();
