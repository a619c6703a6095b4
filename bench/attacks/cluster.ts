/**
 * The effect of hostile clients, and of strangers at the peer port, on three members: Engram's on PD and three stores, and etcd's. A
 * modest client of the leader puts and gets a small key meanwhile.
 *
 *   node bench/attacks/cluster.ts [--only large-answers,peer-idle] [--stores engram,etcd] [--patience 20]
 *     [--memory-limit BYTES] [--markdown FILE] [--smoke]
 */
import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { EtcdClient } from '../../test/support/etcd-client.ts';
import { type Cluster, type Endpoint, leaderOf, startEngram, startEtcd } from '../cluster/cluster.ts';
import { readOptions } from '../support/options.ts';
import { DataFolder, report } from '../support/report.ts';
import { figure } from '../support/statistics.ts';
import { untilIdle, usageOf } from '../support/usage.ts';
import { type ClusterAttack, clusterAttacks, LARGE_BYTES, LARGE_KEYS, LARGE_PREFIX } from './cluster-attacks.ts';
import { Prober } from './probing.ts';

const options = readOptions(
  process.argv.slice(2),
  {
    only: clusterAttacks.map(({ name }) => name).join(','),
    stores: 'engram,etcd',
    patience: 20,
    interval: 5,
    'memory-limit': 0,
    markdown: '',
  },
  { patience: 3 },
);
const QUIET_MS = 1000;
const IDLE_SHARE = 0.2;
const IDLE_MAX_MS = 5000;
const columns = [
  'attack',
  'store',
  'worst ms',
  'p99 ms',
  'own worst',
  'own p99',
  'CPU in worst',
  'leader +MiB',
  'follower +MiB',
  'follower MiB',
  'members CPU s',
  'load',
  'end',
];

async function fill({ endpoint }: Endpoint): Promise<void> {
  using client = new EtcdClient(endpoint, { deadlineMs: 60_000 });
  for (let at = 0; at < LARGE_KEYS; at += 1)
    await client.put({ key: Buffer.from(LARGE_PREFIX + String(at).padStart(4, '0')), value: randomBytes(LARGE_BYTES) });
}

/** The term, and who leads, as one member says. */
async function termAt({ endpoint }: Endpoint): Promise<string> {
  using client = new EtcdClient(endpoint, { deadlineMs: 10_000 });
  const { raftTerm, leader } = await client.status();
  return `${raftTerm} ${leader}`;
}

async function attackIt({ name }: ClusterAttack, leader: Endpoint, follower: Endpoint): Promise<void> {
  const file = join(import.meta.dirname, 'cluster-attacker.ts');
  const target = JSON.stringify({ leader, follower, patienceMs: 1000 * options.patience });
  const attacker = spawn(process.execPath, [file, name, target], { stdio: ['ignore', 'ignore', 'inherit'] });
  await Promise.race([once(attacker, 'close'), delay(1000 * (options.patience + 30))]);
  attacker.kill('SIGKILL');
}

async function measure(attack: ClusterAttack, store: string, cluster: Cluster): Promise<readonly string[]> {
  const leader = await leaderOf(cluster);
  const follower = cluster.members.find((member) => member !== leader)!;
  const term = await termAt(leader);
  const prober = await Prober.start(leader.endpoint, leader.pid, options.interval);
  await delay(QUIET_MS);
  for (const { pid } of cluster.members) execFileSync('sh', ['-c', `echo 5 > /proc/${pid}/clear_refs`]);
  const usages = () => cluster.members.map(({ pid }) => usageOf(pid));
  const cpuSeconds = (): number => usages().reduce((sum, usage) => sum + usage.cpuSeconds, 0);
  const before = { cpu: cpuSeconds(), leader: usageOf(leader.pid), follower: usageOf(follower.pid) };
  await attackIt(attack, leader, follower);
  await Promise.all([leader, follower].map(({ pid }) => untilIdle(() => usageOf(pid), IDLE_SHARE, IDLE_MAX_MS)));
  const after = { cpu: cpuSeconds(), leader: usageOf(leader.pid), follower: usageOf(follower.pid) };
  const probed = await prober.end();
  const kept = await termAt(leader).catch(() => 'no answer');
  if (kept !== term && store !== 'etcd')
    failures.push(`${attack.name}, ${store}: term and leader were ${term}, and are ${kept}`);
  const { ownMaxMs, ownP99Ms, worstCpuMs } = probed;
  const own = store === 'etcd' ? ['-', '-', '-'] : [ownMaxMs, ownP99Ms, worstCpuMs].map(figure);
  return [
    attack.name,
    store,
    figure(probed.maxMs),
    figure(probed.p99Ms),
    ...own,
    figure(after.leader.peakMb - before.leader.residentMb),
    figure(after.follower.peakMb - before.follower.residentMb),
    figure(after.follower.peakMb),
    figure(after.cpu - before.cpu),
    figure(loadavg()[0]!),
    probed.failures > 0 ? `${probed.failures} refused` : kept === term ? 'serves' : 'another term',
  ];
}

using folder = new DataFolder();
const rows: (readonly string[])[] = [];
const failures: string[] = [];
const chosen = clusterAttacks.filter(({ name }) => options.only.split(',').includes(name));
const flags = options['memory-limit'] > 0 ? [`--memory-limit=${options['memory-limit']}`] : [];
for (const store of options.stores.split(',')) {
  for (const secure of [false, true]) {
    const attacks = chosen.filter((attack) => (attack.secure ?? false) === secure);
    if (attacks.length === 0) continue;
    const path = join(folder.path, `${store}${secure ? '-tls' : ''}`);
    mkdirSync(path);
    await using cluster = await (store === 'etcd' ? startEtcd(path, { secure }) : startEngram(path, { secure, flags }));
    await fill(await leaderOf(cluster));
    for (const attack of attacks) {
      const row = await measure(attack, store, cluster);
      rows.push(row);
      console.error(row.join('  '));
    }
  }
}
report({
  title: 'Attacks on clusters',
  command: `node bench/attacks/cluster.ts ${process.argv.slice(2).join(' ')}`,
  tables: [{ title: 'What a modest client of the leader waits while another one attacks', columns, rows }],
  notes: [
    'own: without the time in which the event loop or the modest client was ready to run and had no core',
    'load: of the machine, in the last minute of the attack',
    ...chosen.map(({ name, what }) => `${name}: ${what}`),
  ],
  failures,
  directory: folder.path,
  markdown: options.markdown,
});
