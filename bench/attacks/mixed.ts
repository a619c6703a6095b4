/**
 * All attacks at random for MINUTES, two at a time, during a load like that of a kube-apiserver: each writer reads and
 * writes its own objects (a transaction on mod_revision), clients list pages, and one watches all keys. An operator disarms
 * the alarms that an attack raises, and another compacts as a kube-apiserver does, five times as often. Fails if the process
 * ends, an acknowledged write or an event is lost, few of the writes are acknowledged, or memory keeps growing.
 *
 *   MINUTES=10 node bench/attacks/mixed.ts [--store new|etcd] [--memory-limit BYTES] [--only NAMES]
 *     [--markdown FILE]
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ALL_KEYS, EtcdClient } from '../../test/support/etcd-client.ts';
import { readOptions } from '../support/options.ts';
import { commandOf } from '../support/programs.ts';
import { DataFolder, report } from '../support/report.ts';
import { figure, quantile } from '../support/statistics.ts';
import { noAttack } from './attack.ts';
import { attacks } from './attacks.ts';
import { beginRequest, type Taken } from './core-time.ts';
import { TargetProcess } from './target-process.ts';

const minutes = Number(process.env['MINUTES'] || 10);
const options = readOptions(
  process.argv.slice(2),
  { store: 'new', 'memory-limit': 0, only: '', keys: 5_000, patience: 5, markdown: '' },
  { keys: 500, patience: 2 },
);
const WRITERS = 4;
const OBJECTS = 50;
const ATTACKERS = 2;
const PAUSE_MS = 5;
const ALARM_GET = 0;
const ALARM_OFF = 2;
const DISARMED_TOGETHER = 500;
const OPERATOR_PAUSE_MS = 1_000;
/** Otherwise memory would grow by each version. A kube-apiserver compacts what is older than five minutes. */
const COMPACTION_EVERY_MS = 60_000;
/** At least this share of the writes must be acknowledged. Some are refused: because of alarms, or because an attack takes all of a budget. */
const ACKNOWLEDGED_SHARE_MIN = 0.5;
/** Accepted growth of memory from the end of the first third to the end of the last one. */
const GROWTH_MAX_MB = 64;
/** Attacks with a descriptor limit need a process with fewer descriptors than this load. */
const only = options.only === '' ? undefined : options.only.split(',');
const chosen = attacks.filter(
  (attack) => attack.descriptors === undefined && attack !== noAttack && (only?.includes(attack.name) ?? true),
);

using folder = new DataFolder();
const more = options['memory-limit'] > 0 ? [`--memory-limit=${options['memory-limit']}`] : [];
if (options.store === 'new') more.push('--loop-budget-cpu');
const command = commandOf(options.store === 'etcd' ? 'etcd' : 'engram').join(' ');
await using target = await TargetProcess.start(command, folder.path, undefined, more);
await target.fill(options.keys);

const endMs = performance.now() + 60_000 * minutes;
const goesOn = (): boolean => performance.now() < endMs && target.running;
const failures: string[] = [];
const latencies = { write: [] as Taken[], list: [] as Taken[] };
/** Refused calls of the load, by code and text. */
const refusals = new Map<string, number>();
let acknowledgedWrites = 0;
/** The newest acknowledged mod_revision of each object. */
const acknowledged = new Map<string, number>();
const seen = new Map<string, number>();

async function timed<Result>(into: Taken[], work: () => Promise<Result>): Promise<Result | undefined> {
  const ended = beginRequest(target.pid);
  try {
    return await work();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    refusals.set(why, (refusals.get(why) ?? 0) + 1);
    return undefined;
  } finally {
    into.push(ended());
  }
}

async function writer(name: string): Promise<void> {
  using client = new EtcdClient(`127.0.0.1:${target.port}`, { deadlineMs: 30_000 });
  for (let round = 0; goesOn(); round += 1) {
    const key = `/registry/${name}/${round % OBJECTS}`;
    const value = Buffer.alloc(600, `${round} `);
    const compare = [{ target: 2, result: 0, key: Buffer.from(key), modRevision: acknowledged.get(key) ?? 0 }];
    const txn = {
      compare,
      success: [{ requestPut: { key: Buffer.from(key), value } }],
      failure: [{ requestRange: { key: Buffer.from(key) } }],
    };
    const answer = await timed(latencies.write, () => client.txn(txn));
    const revision = answer?.header?.revision ?? 0;
    if (answer !== undefined) acknowledgedWrites += 1;
    if (answer?.succeeded === true) acknowledged.set(key, revision);
    // A write whose answer was lost may have happened.
    else if (answer !== undefined) {
      const found = answer.responses[0]?.responseRange?.kvs[0]?.modRevision ?? 0;
      if (found < (acknowledged.get(key) ?? 0)) failures.push(`${key} went back to ${found}`);
      acknowledged.set(key, found);
    }
    await delay(PAUSE_MS);
  }
}

async function lister(): Promise<void> {
  using client = new EtcdClient(`127.0.0.1:${target.port}`, { deadlineMs: 30_000 });
  while (goesOn()) {
    await timed(latencies.list, () =>
      client.range({ key: Buffer.from('/registry/'), rangeEnd: Buffer.from('/registry0'), limit: 500 }),
    );
    await delay(20 * PAUSE_MS);
  }
}

/** Otherwise no write of the load would be taken once an attack has raised an alarm. */
async function operator(): Promise<void> {
  using client = new EtcdClient(`127.0.0.1:${target.port}`, { deadlineMs: 30_000 });
  while (goesOn()) {
    try {
      const { alarms } = await client.alarm({ action: ALARM_GET });
      await Promise.all(alarms.slice(0, DISARMED_TOGETHER).map((each) => client.alarm({ ...each, action: ALARM_OFF })));
      if (alarms.length > 0) continue;
    } catch {
      // Some attacks take what every call needs.
    }
    await delay(OPERATOR_PAUSE_MS);
  }
}

async function compactor(): Promise<void> {
  using client = new EtcdClient(`127.0.0.1:${target.port}`, { deadlineMs: 30_000 });
  let compactMs = performance.now() + COMPACTION_EVERY_MS;
  let before = 0;
  for (; goesOn(); await delay(OPERATOR_PAUSE_MS)) {
    if (performance.now() < compactMs) continue;
    compactMs += COMPACTION_EVERY_MS;
    try {
      const { header } = await client.range({ key: Buffer.from('/registry/') });
      if (before > 0) await client.compact({ revision: before });
      before = header?.revision ?? 0;
    } catch {
      // An attack may have compacted further, or take what every call needs.
    }
  }
}

async function watcher(client: EtcdClient): Promise<void> {
  for await (const { events } of client.watch({
    key: Buffer.from('/registry/'),
    rangeEnd: Buffer.from('/registry0'),
  })) {
    for (const { kv } of events) if (kv !== undefined) seen.set(Buffer.from(kv.key).toString(), kv.modRevision);
  }
}

async function attacker(first: number): Promise<void> {
  for (let at = first; goesOn(); at += ATTACKERS) {
    const { name } = chosen[at % chosen.length]!;
    const args = [name, String(target.port), String(target.securePort), String(1000 * options.patience)];
    const child: ChildProcess = spawn(process.execPath, [join(import.meta.dirname, 'attacker.ts'), ...args], {
      stdio: 'ignore',
    });
    await Promise.race([once(child, 'close'), delay(1000 * (options.patience + 10))]);
    child.kill('SIGKILL');
  }
}

const memoryMb: number[] = [];
async function weigh(): Promise<void> {
  while (goesOn()) {
    memoryMb.push(target.usage()?.residentMb ?? Number.NaN);
    await delay(1_000);
  }
}

const watching = new EtcdClient(`127.0.0.1:${target.port}`);
let over = false;
watcher(watching).catch((error: unknown) => {
  if (!over) failures.push(`the watch ended: ${String(error)}`);
});
await Promise.all([
  ...Array.from({ length: WRITERS }, (_, at) => writer(`kind-${at}`)),
  ...Array.from({ length: ATTACKERS }, (_, at) => attacker(at)),
  lister(),
  operator(),
  compactor(),
  weigh(),
]);

if (!target.running) failures.push(`the process ended:\n${target.output}`);
else {
  using client = new EtcdClient(`127.0.0.1:${target.port}`, { deadlineMs: 60_000 });
  const { kvs } = await client.range({
    ...ALL_KEYS,
    key: Buffer.from('/registry/'),
    rangeEnd: Buffer.from('/registry0'),
  });
  const stored = new Map(kvs.map(({ key, modRevision }) => [Buffer.from(key).toString(), modRevision]));
  for (const [key, revision] of acknowledged) {
    if ((stored.get(key) ?? 0) < revision)
      failures.push(`${key}: acknowledged at ${revision}, found at ${stored.get(key)}`);
  }
  // The watch may lag behind.
  for (const waitUntilMs = performance.now() + 10_000; performance.now() < waitUntilMs; await delay(100)) {
    if ([...stored].every(([key, revision]) => seen.get(key) === revision)) break;
  }
  for (const [key, revision] of stored)
    if (seen.get(key) !== revision) failures.push(`${key}: no event of ${revision}`);
}
const stretches = target.running ? await target.stretches() : [];
over = true;
watching.close();
const share = acknowledgedWrites / latencies.write.length;
if (!(share >= ACKNOWLEDGED_SHARE_MIN)) failures.push(`of the writes ${figure(share)} were acknowledged`);
const third = Math.floor(memoryMb.length / 3);
const [early, late] = [Math.max(...memoryMb.slice(0, third)), Math.max(...memoryMb.slice(-third))];
if (late - early > GROWTH_MAX_MB) failures.push(`memory grew from ${figure(early)} to ${figure(late)} MiB`);

/** etcd works on many threads, so figures of its first thread mean nothing. */
const row = (name: string, calls: readonly Taken[]): readonly string[] => {
  const shares = (values: readonly number[]): string[] =>
    [0.5, 0.99, 1].map((share) => figure(quantile(values, share)));
  const own = options.store === 'etcd' ? ['-', '-', '-'] : shares(calls.map(({ ownMs }) => ownMs));
  return [name, String(calls.length), ...shares(calls.map(({ ms }) => ms)), ...own];
};
report({
  title: 'All attacks beside a load',
  command: `MINUTES=${minutes} node bench/attacks/mixed.ts ${process.argv.slice(2).join(' ')}`,
  tables: [
    {
      title: 'The load',
      columns: ['what', 'calls', 'p50 ms', 'p99 ms', 'worst ms', 'own p50', 'own p99', 'own worst'],
      rows: [row('write', latencies.write), row('list', latencies.list)],
    },
    {
      title: 'The process',
      columns: ['peak MiB, first third', 'last third', 'writes acknowledged'],
      rows: [[figure(early), figure(late), figure(share)]],
    },
    {
      title: 'Refused calls of the load',
      columns: ['why', 'times'],
      rows: [...refusals].toSorted(([, left], [, right]) => right - left).map(([why, times]) => [why, String(times)]),
    },
    {
      title: 'Stretches of the event loop above its budget, CPU time',
      columns: ['what', 'times', 'longest ms'],
      rows: stretches.map(({ by, count, ms }) => [by, String(count), figure(ms)]),
    },
  ],
  notes: [
    `${ATTACKERS} of ${chosen.length} kinds of attacks at a time`,
    'own: without the time in which the event loop or the load was ready to run and had no core',
    'a stretch `gc` is within the budget without the pauses of the collector in it; `other` is what no code reports',
  ],
  failures,
  directory: folder.path,
  markdown: options.markdown,
});
