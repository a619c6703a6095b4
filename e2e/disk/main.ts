/**
 * Records the system calls of a node, makes states of the disk after a loss of power from them, and opens each. See
 * README.md.
 *
 *   main.ts <folder> [--states N] [--seed N]
 */
import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Prng } from '@engram/sim';
import { bounded } from '../../test/support/bounded.ts';
import { StoreProcess, newStorePlace, type StorePlace } from '../../test/support/store-process.ts';
import { endOnSignals } from '../support/end-on-signals.ts';
import { DiskModel } from './disk-model.ts';
import { History, load, readAll } from './history.ts';
import { type Engine, judgeState } from './judge.ts';
import { type Recorded, RecordedNode } from './recording.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    states: { type: 'string', default: '300' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 32) },
  },
});
const states = Number(values.states);
const seed = Number(values.seed);
const random = new Prng(seed);
const scratch = positionals[0] ?? '.';
const LOAD_MS = 6000;
const STATE_MAX_MS = 60_000;
const JUDGES = 3;
/** Recoveries that are recorded, each from another state. */
const RECOVERIES = 3;
const WHOLE_NODES = 8;
/** A mark that is not synced shows in one of four states. */
const MUTANT_STATES_MIN = 60;

endOnSignals();

let [passed, failed] = [0, 0];
function tell(name: string, wrong: readonly string[]): void {
  if (wrong.length === 0) passed += 1;
  else failed += 1;
  console.log(`${wrong.length === 0 ? 'ok  ' : 'FAIL'} ${name}`);
  for (const text of wrong.slice(0, 5)) console.log(`     ${text}`);
  if (wrong.length > 5) console.log(`     and ${wrong.length - 5} more`);
}

/** A recording, and the folder whose durable content it begins with. The folder must not change. */
interface Recording {
  readonly engine: Engine;
  /** The folder that held the data directory when it was recorded. */
  readonly root: string;
  readonly begins: string | undefined;
  readonly changes: readonly Recorded[];
  readonly history: History;
}

let laid = 0;

/** Judges states at random moments of these changes. Returns what was wrong. */
async function judge(
  { engine, root, begins, changes, history }: Recording,
  {
    from,
    to,
    count,
    kept,
  }: { from: number; to: number; count: number; kept?: (folder: string, atMs: number) => boolean },
  mutate: (change: Recorded) => Recorded | undefined = (change) => change,
): Promise<string[]> {
  const model = new DiskModel(root, begins);
  const moments = Array.from({ length: count }, () => from + random.below(to - from)).sort(
    (left, right) => left - right,
  );
  const wrong: string[] = [];
  const running = new Set<Promise<void>>();
  let next = 0;
  for (const moment of moments) {
    for (; next <= moment; next += 1) {
      const change = mutate(changes[next]!);
      if (change !== undefined) model.apply(change);
    }
    const atMs = changes[moment]!.endMs;
    laid += 1;
    const folder = join(scratch, 'states', String(laid));
    model.layAfterPowerLoss(random, folder);
    if (kept?.(folder, atMs) === true) continue;
    // The limit also keeps this process alive: the timers of the store in it do not.
    const work = bounded('a state', STATE_MAX_MS, judgeState(join(folder, 'data'), engine, history, atMs))
      .catch((error: unknown) => String(error))
      .then((found) => {
        if (found !== undefined) wrong.push(`after call ${moment} of ${changes.length}: ${found}`);
        if (found === undefined || process.env['E2E_KEEP'] !== '1') rmSync(folder, { recursive: true, force: true });
      })
      .finally(() => running.delete(work));
    running.add(work);
    if (running.size >= JUDGES) await Promise.race(running);
  }
  await Promise.all(running);
  return wrong;
}

async function record(
  place: StorePlace,
  engine: Engine,
  name: string,
  history: History,
  signal: 'SIGKILL' | 'SIGTERM',
): Promise<readonly Recorded[]> {
  const folder = join(scratch, 'calls', name);
  mkdirSync(folder, { recursive: true });
  const node = await RecordedNode.start(place, folder, [`--storage=${engine}`]);
  await load(node.endpoint, history, random.fork(name), LOAD_MS);
  history.pause();
  const changes = await node.end(signal);
  rmSync(folder, { recursive: true, force: true });
  return changes;
}

/** A first start under load, a kill, and another start under load. */
async function recordLives(
  engine: Engine,
): Promise<Recording & { readonly firstLoad: number; readonly restart: number }> {
  const root = join(scratch, `node-${engine}`);
  mkdirSync(root, { recursive: true });
  const place = await newStorePlace(join(root, 'data'));
  const history = new History();
  const first = await record(place, engine, `${engine}-first`, history, 'SIGKILL');
  const second = await record(place, engine, `${engine}-second`, history, 'SIGTERM');
  const changes = [...first, ...second];
  console.log(`${engine}: ${changes.length} calls recorded, ${history.acknowledged} writes acknowledged`);
  const firstLoad = Math.max(
    1,
    changes.findIndex(({ endMs }) => history.acknowledgedAt(endMs) > 0),
  );
  return { engine, root, begins: undefined, changes, history, firstLoad, restart: first.length };
}

/** Records what a start does to states that lost their power, and judges states of that time. */
async function judgeRecoveries(lives: Recording & { readonly firstLoad: number }, count: number): Promise<string[]> {
  const { engine, history } = lives;
  const folders: { folder: string; atMs: number }[] = [];
  const kept = (folder: string, atMs: number): boolean => folders.push({ folder, atMs }) > 0;
  await judge(lives, { from: lives.firstLoad, to: lives.changes.length, count: RECOVERIES, kept });
  const wrong: string[] = [];
  for (const [at, { folder, atMs }] of folders.entries()) {
    const root = `${folder}-opened`;
    cpSync(folder, root, { recursive: true });
    const place = await newStorePlace(join(root, 'data'));
    const calls = join(scratch, 'calls', `${engine}-recovery-${at}`);
    mkdirSync(calls, { recursive: true });
    let changes: readonly Recorded[];
    try {
      const node = await RecordedNode.start(place, calls, [`--storage=${engine}`]);
      changes = await node.end('SIGKILL');
    } catch (error) {
      wrong.push(String(error));
      continue;
    }
    // Nobody wrote since the loss of power: the history is that of then.
    const recovery: Recording = { engine, root, begins: folder, changes, history: history.until(atMs) };
    wrong.push(...(await judge(recovery, { from: 0, to: changes.length, count: Math.ceil(count / RECOVERIES) })));
    rmSync(root, { recursive: true, force: true });
    rmSync(folder, { recursive: true, force: true });
  }
  return wrong;
}

/** Starts whole processes on states, and asks them over their port. */
async function judgeWholeNodes(lives: Recording & { readonly firstLoad: number }): Promise<string[]> {
  const folders: { folder: string; atMs: number }[] = [];
  const kept = (folder: string, atMs: number): boolean => folders.push({ folder, atMs }) > 0;
  await judge(lives, { from: 0, to: lives.changes.length, count: WHOLE_NODES, kept });
  const wrong: string[] = [];
  for (const { folder, atMs } of folders) {
    const place = await newStorePlace(join(folder, 'data'));
    mkdirSync(place.dataDir, { recursive: true });
    try {
      await using store = await StoreProcess.start(place, { flags: [`--storage=${lives.engine}`] });
      const { revision, seen } = await readAll(`127.0.0.1:${place.clientPort}`);
      const found = lives.history.judge(atMs, revision, seen);
      if (found !== undefined) wrong.push(found);
      await store.kill();
    } catch (error) {
      wrong.push(String(error));
    }
    rmSync(folder, { recursive: true, force: true });
  }
  return wrong;
}

/** The recording of programs that lack a sync: the judge must find each of them. */
function mutants(
  engine: Engine,
): readonly { readonly name: string; readonly mutate: (change: Recorded) => Recorded | undefined }[] {
  const log = engine === 'segment' ? /\/[0-9a-f]{16}\.seg$/ : /\/records\/\d+\.log$/;
  const mark = /\/acknowledged$/i;
  return [
    {
      name: 'the log is not synced',
      mutate: (change) => {
        if (!log.test(change.path)) return change;
        if (change.kind === 'write') return { ...change, durable: false };
        return change.kind === 'sync' ? undefined : change;
      },
    },
    {
      name: 'no name of a file is synced',
      mutate: (change) => (change.kind === 'sync' && isDirectory(change.path) ? undefined : change),
    },
    {
      name: 'the mark is not synced',
      mutate: (change) => (change.kind === 'sync' && mark.test(change.path) ? undefined : change),
    },
  ];
}

const isDirectory = (path: string): boolean =>
  !/\.[a-z]+$|\/[A-Z]+$|MANIFEST-\d+$|\/(?:acknowledged|state)$/.test(path) || path.endsWith('.new');

console.log(`seed ${seed}`);
for (const engine of ['segment', 'leveldb'] as const) {
  const count = engine === 'segment' ? states : Math.ceil(states / 3);
  const lives = await recordLives(engine);
  const end = lives.changes.length;
  const { firstLoad, restart } = lives;
  tell(`${engine}: ${count} states of the first start`, await judge(lives, { from: 0, to: firstLoad, count }));
  tell(`${engine}: ${count} states of the load`, await judge(lives, { from: firstLoad, to: restart, count }));
  tell(
    `${engine}: ${count} states after a kill, from the next start on`,
    await judge(lives, { from: restart, to: end, count }),
  );
  tell(`${engine}: ${count} states of recoveries`, await judgeRecoveries(lives, count));
  tell(`${engine}: ${WHOLE_NODES} states, each opened by a whole node`, await judgeWholeNodes(lives));
  for (const { name, mutate } of mutants(engine)) {
    const found = await judge(
      lives,
      { from: 0, to: end, count: Math.max(MUTANT_STATES_MIN, Math.ceil(count / 5)) },
      mutate,
    );
    tell(`${engine}: ${found.length} losses are found where ${name}`, found.length > 0 ? [] : ['none was found']);
  }
}
console.log(`${laid} states of the disk`);
console.log(`e2e-disk: ${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
