/**
 * The effect of hostile clients on a store. Each attack runs on a fresh store, while a modest client on its own connection
 * puts and gets a small key. Its longest latency is what other clients see.
 *
 *   node bench/attacks/run.ts [--only txn-merge,pipelining] [--stores new,old,etcd] [--old DIR] [--patience 60]
 *     [--fatal MS] [--memory-limit BYTES] [--markdown FILE] [--smoke]
 *
 * `old` is another checkout of this repository, `etcd` the release that bench-compare builds. With `--fatal`
 * a `new` store ends, and the run fails, where the event loop was kept for more than MS of CPU time.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { readOptions } from '../support/options.ts';
import { commandOf } from '../support/programs.ts';
import { DataFolder, report } from '../support/report.ts';
import { figure } from '../support/statistics.ts';
import type { Attack } from './attack.ts';
import { attacks } from './attacks.ts';
import type { Probed } from './probed.ts';
import { Prober } from './probing.ts';
import { TargetProcess } from './target-process.ts';

const options = readOptions(
  process.argv.slice(2),
  {
    only: attacks.map(({ name }) => name).join(','),
    stores: 'new',
    old: '',
    patience: 60,
    interval: 5,
    fatal: 0,
    'memory-limit': 0,
    markdown: '',
  },
  { only: 'txn-merge,refused-calls,pipelining,announced' },
);
const QUIET_MS = 1_000;
const IDLE_MAX_MS = 10_000;
const columns = [
  'attack',
  'store',
  'worst ms',
  'p99 ms',
  'own worst',
  'own p99',
  'CPU in worst',
  'memory +MiB',
  'peak MiB',
  'CPU s',
  'longest stretch',
  'load',
  'end',
];

function commandFor(store: string): string {
  if (store === 'old') return join(options.old, 'packages/server/bin/engram');
  return commandOf(store === 'etcd' ? 'etcd' : 'engram').join(' ');
}

/** Ends with the attack, or 30 seconds after the patience. */
async function attackIt(attack: Attack, target: TargetProcess): Promise<void> {
  const file = join(import.meta.dirname, 'attacker.ts');
  const args = [attack.name, String(target.port), String(target.securePort), String(1000 * options.patience)];
  const attacker = spawn(process.execPath, [file, ...args], { stdio: ['ignore', 'ignore', 'inherit'] });
  await Promise.race([once(attacker, 'close'), delay(1000 * (options.patience + 30))]);
  attacker.kill('SIGKILL');
}

async function measure(attack: Attack, store: string, parent: string): Promise<readonly string[]> {
  // Older versions do not know this flag. It excludes the effect of other programs on the machine.
  const more = store === 'new' ? ['--loop-budget-cpu'] : [];
  if (store === 'new' && options.fatal > 0) more.push(`--loop-budget=${options.fatal}ms`, '--loop-budget-fatal');
  if (store === 'new' && options['memory-limit'] > 0) more.push(`--memory-limit=${options['memory-limit']}`);
  await using target = await TargetProcess.start(commandFor(store), parent, attack.descriptors, more);
  if (attack.keys !== undefined) await target.fill(attack.keys);
  const prober = await Prober.start(`127.0.0.1:${target.port}`, target.pid, options.interval);
  await delay(QUIET_MS);
  target.resetPeak();
  const before = target.usage();
  await attackIt(attack, target);
  const after = await target.idle(IDLE_MAX_MS);
  // A request that is still unanswered counts with the time so far.
  const probed = await prober.end();
  const grown = (after?.peakMb ?? Number.NaN) - (before?.residentMb ?? Number.NaN);
  const cpu = (after?.cpuSeconds ?? Number.NaN) - (before?.cpuSeconds ?? Number.NaN);
  const stretch = target.running ? await target.longestStretch() : '-';
  if (!target.running) failures.push(`${attack.name}, ${store}: the process ended: ${target.output.trim()}`);
  const end = target.running ? (probed.failures > 0 ? `${probed.failures} refused` : 'serves') : 'DEAD';
  return [
    attack.name,
    store,
    figure(probed.maxMs),
    figure(probed.p99Ms),
    ...ownOf(probed, store),
    figure(grown),
    figure(after?.peakMb ?? Number.NaN),
    figure(cpu),
    stretch,
    figure(loadavg()[0]!),
    end,
  ];
}

/** etcd works on many threads, so figures of its first thread mean nothing. */
const ownOf = ({ ownMaxMs, ownP99Ms, worstCpuMs }: Probed, store: string): string[] =>
  store === 'etcd' ? ['-', '-', '-'] : [ownMaxMs, ownP99Ms, worstCpuMs].map(figure);

using folder = new DataFolder();
const rows: (readonly string[])[] = [];
const failures: string[] = [];
const chosen = attacks.filter(({ name }) => options.only.split(',').includes(name));
for (const attack of chosen) {
  for (const store of options.stores.split(',')) {
    console.error(`${attack.name}: ${store}`);
    try {
      const row = await measure(attack, store, folder.path);
      rows.push(row);
      console.error(row.join('  '));
    } catch (error) {
      failures.push(`${attack.name}, ${store}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}
report({
  title: 'Attacks',
  command: `node bench/attacks/run.ts ${process.argv.slice(2).join(' ')}`,
  tables: [{ title: 'What a modest client waits while another one attacks', columns, rows }],
  notes: [
    'own: without the time in which the event loop or the modest client was ready to run and had no core',
    'load: of the machine, in the last minute of the attack',
    'CPU in worst: what the event loop ran while the longest request was out',
    ...chosen.map(({ name, what }) => `${name}: ${what}`),
  ],
  failures,
  directory: folder.path,
  markdown: options.markdown,
});
