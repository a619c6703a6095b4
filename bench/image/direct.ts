/**
 * The image in TiKV under many updates, and with many keys. A leader's store runs in this process, without sockets and
 * without Raft, on one PD and one store that supports delete-range. It writes, makes images and trims as a member does.
 *
 *   node bench/image/direct.ts updates [--keys 200000] [--value-bytes 512] [--updates 20000000] [--updated 200000]
 *     [--compact-seconds 60]
 *   node bench/image/direct.ts blank [--keys 10000000] [--value-bytes 100]
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type Backend, nodeItself, openReplica } from '@engram/backend';
import {
  EMPTY_BYTES,
  isEngramError,
  epoch,
  type Logger,
  type LogPosition,
  logPosition,
  type Op,
  putOp,
  rangeOp,
} from '@engram/core';
import { defaultImagePolicy, ImageKeeper } from '@engram/member';
import { RetryQueue } from '@engram/retry-queue';
import { realClock, realRandom } from '@engram/sim';
import { StorageUnavailableError } from '@engram/storage';
import { openSegmentStorage } from '@engram/storage-segment';
import { inspectStorage, LogKeys, openRoot, openTikvStorage, type TikvStorage } from '@engram/storage-tikv';
import { isTikvError, TikvClient } from '@engram/tikv-client';
import { Lab } from '../../e2e/tikv/lab.ts';
import { DataFolder } from '../support/report.ts';
import { figure } from '../support/statistics.ts';
import { usageOf } from '../support/usage.ts';
import { keyOf } from './cluster.ts';

const { values, positionals } = parseArgs({
  options: {
    keys: { type: 'string' },
    'value-bytes': { type: 'string' },
    updates: { type: 'string', default: '20000000' },
    /** Updates go to this many of the first keys. All by default. */
    updated: { type: 'string' },
    /** How long TiKV's old versions are kept. */
    'retention-seconds': { type: 'string', default: '3600' },
    'report-seconds': { type: 'string', default: '60' },
    'compact-seconds': { type: 'string', default: '60' },
    /** Used by this program to start the blank node in another process. */
    pd: { type: 'string' },
    path: { type: 'string' },
  },
  allowPositionals: true,
});
// With the lab's own limits the store ended by itself after seven million updates.
process.env['STORE_DATA_KIB'] ??= '12000000';
process.env['STORE_HEAP'] ??= '3GiB';
const [task] = positionals;
const blank = task === 'blank' || task === 'node';
const keys = Number(values.keys ?? (blank ? 10_000_000 : 200_000));
const valueBytes = Number(values['value-bytes'] ?? (blank ? 100 : 512));
const updated = Number(values.updated ?? keys);
const TXN_PUTS = 500;
/** Few, so that the round and the reports get their turns. */
const AT_ONCE = 2;
const PREFIX = 'direct';
const never = new AbortController().signal;
const mib = (bytes: number): string => `${figure(bytes / (1 << 20))} MiB`;
const say = (text: string): void => console.log(text);
const logger: Logger = {
  debug() {},
  info: (fields, text) => {
    if (/image|trimmed|bytes of the store|settled/.test(text)) say(`  ${text} ${JSON.stringify(fields)}`);
  },
  warn: (fields, text) => say(`  warning: ${text} ${JSON.stringify(fields)}`),
  error: (fields, text) => say(`  error: ${text} ${JSON.stringify(fields)}`),
};
const nobody = new Proxy({} as never, { get: () => () => Promise.reject(new Error('nobody else leads')) });

interface OpenStore extends AsyncDisposable {
  readonly storage: TikvStorage;
  readonly store: Backend;
}

async function openStore(client: TikvClient, member: bigint, path: string | undefined): Promise<OpenStore> {
  const parts = { clock: realClock, random: realRandom, logger };
  const root = await openRoot({
    client,
    keys: new LogKeys(PREFIX),
    found: { clusterId: 1n, members: [] },
    timeoutMs: 60_000,
  });
  const storage = await openTikvStorage({
    client,
    prefix: PREFIX,
    root,
    member,
    readTimeoutMs: 60_000,
    safePoint: { retentionMs: 1000 * Number(values['retention-seconds']), intervalMs: 5_000 },
    appendTimeoutMs: 5_000,
    local:
      path === undefined
        ? { kind: 'memory' }
        : {
            kind: 'disk',
            path,
            openStorage: (directory) => openSegmentStorage({ path: directory, ...parts, durability: 'none' }),
          },
    ...parts,
  });
  const log = new RetryQueue({ log: storage.log, clock: realClock, logger, signal: never });
  const store = await openReplica({
    storage: { log, values: storage.values, [Symbol.asyncDispose]: () => storage[Symbol.asyncDispose]() },
    ...parts,
    memberId: member,
    cluster: { leader: nobody, readIndex: () => undefined, confirm: () => Promise.resolve() },
    onDeposed: () => fail(new Error('deposed')),
    onFatal: fail,
  });
  return { storage, store, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() };
}

function fail(error: Error): void {
  console.error(error);
  process.exit(1);
}

/** On a busy machine a request may exceed its limit. It is then sent again. */
function refused(error: unknown): void {
  if (!isEngramError(error) && !isTikvError(error) && !(error instanceof StorageUnavailableError)) throw error;
  say(`  refused: ${error.message}`);
}

/** Puts `count` keys. `next` maps a count to a key number. */
async function write(store: Backend, count: number, next: (at: number) => number, done: (puts: number) => void) {
  let begun = 0;
  const one = async (): Promise<void> => {
    while (begun < count) {
      const from = begun;
      begun += TXN_PUTS;
      const success = Array.from(
        { length: TXN_PUTS },
        (_, at): Op => putOp(keyOf(next(from + at)), Buffer.from(`${from + at} `.padEnd(valueBytes, '.'))),
      );
      // In a member each put takes its own revision. Here 500 share one, which costs the log no less.
      for (;;) {
        try {
          await store.txn({ compares: [], success, failure: [] }, nodeItself);
          break;
        } catch (error) {
          refused(error);
          await sleep(100);
        }
      }
      done(TXN_PUTS);
      await sleep(2);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
}

async function updates(): Promise<void> {
  using folder = new DataFolder();
  await using lab = await Lab.start(join(folder.path, 'lab'), { store: 'onenode', strict: false });
  const client = await TikvClient.connect({ pdAddresses: lab.pdAddresses });
  await using node = await openStore(client, 1n, join(folder.path, 'node'));
  const { store, storage } = node;
  await store.lead(epoch(1));
  await using _keeper = new ImageKeeper({
    replica: store.replica,
    image: storage.image,
    leads: () => true,
    nameOf: () => undefined,
    policy: { ...defaultImagePolicy, everyBytesMin: 64 << 20, everyBytesMax: 128 << 20, intervalMs: 1000 },
    clock: realClock,
    logger,
    onFatal: fail,
  });
  await write(
    store,
    keys,
    (at) => at,
    () => {},
  );
  const [startMs, count] = [performance.now(), Number(values.updates)];
  let [written, over] = [0, false];
  const seconds = (): number => (performance.now() - startMs) / 1000;
  const beside = async (everySeconds: number, work: () => Promise<void>): Promise<void> => {
    for (let next = everySeconds; !over; await sleep(200)) {
      if (seconds() < next) continue;
      next = seconds() + everySeconds;
      await work().catch(refused);
    }
  };
  const report = async (): Promise<void> => {
    const at = { client, prefix: PREFIX, signal: never, timeoutMs: 60_000 };
    const { log, image, rounds } = await inspectStorage(at);
    const totals = image === undefined ? 0 : Object.values(image.totals).reduce((sum, { bytes }) => sum + bytes, 0);
    const files = filesOf(join(folder.path, 'lab', 's1', 'kv'));
    const cpu = usageOf(process.pid);
    say(
      `${figure(seconds())} s: ${written} updates; records ever ${mib(log.recordBytes)}; log ${log.segments.length} segments; image ${image?.round}, ${mib(totals)}, rounds with pieces ${rounds.length}; store ${mib(files.all)} (write-ahead ${mib(files.ahead)}, tables ${mib(files.all - files.ahead)}), resident ${figure(usageOf(lab.pid('s1')).residentMb)} MiB; node's disk ${mib(du(join(folder.path, 'node')))}, resident ${figure(cpu.residentMb)} MiB; CPU ${figure(cpu.cpuSeconds)} s, store ${figure(usageOf(lab.pid('s1')).cpuSeconds)} s`,
    );
  };
  const reports = beside(Number(values['report-seconds']), report);
  const compactions = beside(Number(values['compact-seconds']), async () => {
    await store.compact(store.revision, false, nodeItself);
  });
  await write(
    store,
    count,
    (at) => (at * 7919) % updated,
    (puts) => (written += puts),
  );
  over = true;
  await Promise.all([reports, compactions]);
  await report();
  await client.close();
}

function filesOf(path: string): { all: number; ahead: number } {
  const sizes = { all: 0, ahead: 0 };
  for (const name of readdirSync(path)) {
    const size = statSync(join(path, name), { throwIfNoEntry: false })?.size ?? 0;
    sizes.all += size;
    if (name.endsWith('.vlog')) sizes.ahead += size;
  }
  return sizes;
}

const du = (path: string): number => Number(execFileSync('du', ['-sb', path]).toString().split('\t')[0]);

/** Fills the store, writes an image, and trims. Then another process starts from the image. */
async function fillAndStart(): Promise<void> {
  using folder = new DataFolder();
  await using lab = await Lab.start(join(folder.path, 'lab'), { store: 'onenode', strict: false });
  const client = await TikvClient.connect({ pdAddresses: lab.pdAddresses });
  const startMs = performance.now();
  const seconds = (): string => figure((performance.now() - startMs) / 1000);
  {
    await using node = await openStore(client, 1n, join(folder.path, 'node'));
    const { store, storage } = node;
    await store.lead(epoch(1));
    let written = 0;
    const reports = setInterval(() => say(`${seconds()} s: ${written} keys`), 60_000);
    await write(
      store,
      keys,
      (at) => at,
      (puts) => (written += puts),
    );
    say(`${seconds()} s: filled ${written} keys of ${valueBytes} B`);
    const { from, parts } = store.replica.sharedImage({ pageBytes: 64 << 10, pace: async () => {}, signal: never });
    say(`${await storage.image.save(from, parts, never)} after ${seconds()} s`);
    clearInterval(reports);
    await storage.image.need(store.replica.applied, never);
    await storage.image.trim(never);
  }
  const args = [import.meta.filename, 'node', '--keys', `${keys}`, '--pd', lab.pdAddresses.join()];
  for (const more of [[], ['--path', join(folder.path, 'blank')]])
    say(
      execFileSync(process.execPath, [...args, ...more], { maxBuffer: 1 << 20 })
        .toString()
        .trimEnd(),
    );
  await client.close();
}

/** A node without data, with a disk or without. */
async function startBlank(): Promise<void> {
  const startMs = performance.now();
  const ms = (since = startMs): string => figure(performance.now() - since);
  const client = await TikvClient.connect({ pdAddresses: values.pd!.split(',') });
  await using node = await openStore(client, 2n, values.path);
  const { store, storage } = node;
  const range = { key: keyOf(keys >> 1), end: EMPTY_BYTES };
  const { kvs } = await store.range(rangeOp(range, { serializable: true }), nodeItself);
  const first = usageOf(process.pid);
  const where = values.path === undefined ? 'without a disk' : 'with a disk';
  say(
    `blank node ${where}: ${store.replica.state.index.liveKeys} keys, first read (${kvs.length} key) after ${ms()} ms, ${figure(first.cpuSeconds)} s of CPU, ${figure(first.residentMb)} MiB resident`,
  );
  if (values.path === undefined) {
    for (const fetches of [1, 8, 1, 8]) await scan(client, fetches, store.replica.applied);
  } else {
    await storage.image.need(store.replica.applied, never);
    while (storage.image.local?.whole !== true) await sleep(100);
    const { cpuSeconds, peakMb } = usageOf(process.pid);
    say(`all bytes local after ${ms()} ms, ${figure(cpuSeconds)} s of CPU, ${figure(peakMb)} MiB at most`);
  }
  await client.close();
}

async function scan(client: TikvClient, fetches: number, next: LogPosition): Promise<void> {
  const root = await openRoot({ client, keys: new LogKeys(PREFIX), timeoutMs: 60_000 });
  await using storage = await openTikvStorage({
    client,
    prefix: PREFIX,
    root,
    clock: realClock,
    random: realRandom,
    logger,
    local: { kind: 'memory' },
    imageFetchesMax: fetches,
  });
  await storage.image.status(never);
  const [startMs, cpu] = [performance.now(), process.cpuUsage()];
  const count = Math.min(500_000, next - 1);
  for (let at = 0; at < count; at += 10_000) {
    const positions = Array.from({ length: Math.min(10_000, count - at) }, (_, each) => logPosition(1 + at + each));
    await storage.values.getMany(positions, never);
  }
  const { user, system } = process.cpuUsage(cpu);
  say(
    `scan of ${count} records, ${fetches} fetches at a time: ${figure(performance.now() - startMs)} ms, ${figure((user + system) / count)} us of CPU a record`,
  );
}

if (task === 'updates') await updates();
else if (task === 'blank') await fillAndStart();
else if (task === 'node') await startBlank();
else throw new Error('updates or blank');
