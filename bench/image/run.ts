/**
 * Measures the image in TiKV: a blank node, cold reads, lists with and without a disk, updates for a long time, and the
 * cost of rounds for writers. On one PD and one store that supports delete-range, all on this machine.
 *
 *   node bench/image/run.ts [--only start,scan,lists,updates,rounds] [--keys 1000000] [--updates 3000000] [--smoke]
 */
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { logPosition } from '@engram/core';
import { inspectStorage, LogKeys, openRoot, openTikvStorage } from '@engram/storage-tikv';
import { TikvClient } from '@engram/tikv-client';
import type { MemberProcess } from '../../e2e/cluster/cluster-member.ts';
import { quiet, realClock, realRandom } from '@engram/sim';
import { EtcdClient, EtcdError } from '../../test/support/etcd-client.ts';
import { readOptions } from '../support/options.ts';
import { DataFolder } from '../support/report.ts';
import { figure, quantile } from '../support/statistics.ts';
import { usageOf } from '../support/usage.ts';
import { ImageCluster, keyOf, PREFIX } from './cluster.ts';

const options = readOptions(
  process.argv.slice(2),
  {
    only: '',
    keys: 1_000_000,
    updates: 3_000_000,
    updated: 200_000,
    compactSeconds: 20,
    reportSeconds: 60,
    listed: 10_000,
    scanned: 100_000,
  },
  { keys: 5_000, updates: 20_000, updated: 2_000, compactSeconds: 1, reportSeconds: 2, listed: 1_000, scanned: 5_000 },
);
const wanted = (part: string): boolean => options.only === '' || options.only.split(',').includes(part);
const mib = (bytes: number): string => `${figure(bytes / (1 << 20))} MiB`;
const never = new AbortController().signal;
const say = (text: string): void => console.log(text);

using folder = new DataFolder();
await using cluster = await ImageCluster.start(folder.path, [
  '--image-every-bytes-min=67108864',
  '--image-every-bytes-max=134217728',
  '--image-interval=1s',
]);
const [, , blank] = cluster.members as readonly [MemberProcess, MemberProcess, MemberProcess];
const client = await TikvClient.connect({ pdAddresses: cluster.lab.pdAddresses });

const inspect = () => inspectStorage({ client, prefix: PREFIX, signal: never, timeoutMs: 60_000 });
const imageBytesOf = ({ image }: Pick<Awaited<ReturnType<typeof inspect>>, 'image'>): number =>
  image === undefined ? 0 : image.totals.chunk.bytes + image.totals.page.bytes + image.totals.places.bytes;
const onDisk = (): number =>
  Number(
    execFileSync('du', ['-sb', join(folder.path, 'lab', 's1')])
      .toString()
      .split('\t')[0],
  );

const fillMs = performance.now();
await cluster.write(options.keys, (at) => at);
await cluster.write(100_000, (at) => at % options.keys);
say(
  `fill: ${options.keys} keys of 512 B in ${figure((performance.now() - fillMs) / 1000)} s; ${cluster.rounds} rounds`,
);
await settled();
const filled = await inspect();
say(`image: from ${filled.image?.from} of ${filled.log.next}, ${mib(imageBytesOf(filled))}; store ${mib(onDisk())}`);

const leader = await cluster.leader();
if (wanted('start')) await start();
if (wanted('scan')) await scan();
if (wanted('lists')) await lists();
if (wanted('rounds')) await rounds();
if (wanted('updates')) await updates();
await client.close();

/** Resolves when no round has run for 3 seconds. */
async function settled(): Promise<void> {
  for (let [quiet, waited] = [0, 0]; quiet < 15 && waited < 900; waited += 1) {
    quiet = cluster.roundRuns ? 0 : quiet + 1;
    await sleep(200);
  }
}

/** The second member loses its disk, starts again, and fetches everything. */
async function start(): Promise<void> {
  const follower = cluster.members.find((member) => member !== blank && member !== leader)!;
  await follower.stop();
  rmSync(follower.place.dataDir, { recursive: true, force: true });
  const startMs = performance.now();
  follower.start();
  await follower.ready();
  using reader = new EtcdClient(follower.endpoint, { deadlineMs: 60_000 });
  await reader.range({ key: keyOf(1), serializable: true });
  const readMs = performance.now() - startMs;
  const { residentMb, cpuSeconds } = usageOf(follower.pid);
  const recovered = follower.lines.findLast((line) => line.includes('recovered the store')) ?? '';
  let share = 0;
  while ((await cluster.metric(follower, 'engram_local_values_whole')) !== 1) {
    share = (await cluster.metric(follower, 'engram_local_image_bytes')) ?? 0;
    await sleep(200);
  }
  const wholeMs = performance.now() - startMs;
  const after = usageOf(follower.pid);
  const read = async (from: string): Promise<string> => {
    const items = await cluster.metric(follower, `engram_start_read_items{from="${from}"}`);
    const bytes = await cluster.metric(follower, `engram_start_read_bytes{from="${from}"}`);
    return `${items} items, ${mib(bytes ?? 0)}`;
  };
  const recoveredMs = /"took-ms":(\d+)/.exec(recovered)?.[1];
  say(
    `blank node with a disk: first read after ${figure(readMs)} ms (recovery ${recoveredMs} ms), ${figure(cpuSeconds)} s of CPU, ${figure(residentMb)} MiB resident; image ${await read('image')}; log ${await read('log')}`,
  );
  say(
    `all bytes local after ${figure(wholeMs / 1000)} s (last seen ${mib(share)}), ${figure(after.cpuSeconds)} s of CPU, ${figure(after.peakMb)} MiB at most`,
  );
}

/** Reads records in the order of their positions into this process's memory, cold each time. */
async function scan(): Promise<void> {
  const root = await openRoot({ client, keys: new LogKeys(PREFIX), timeoutMs: 10_000 });
  const from = filled.image?.from ?? logPosition(1);
  const count = Math.min(options.scanned, from - 1);
  for (const fetches of [1, 8, 1, 8]) {
    await using storage = await openTikvStorage({
      client,
      prefix: PREFIX,
      root,
      clock: realClock,
      random: realRandom,
      logger: quiet,
      local: { kind: 'memory' },
      imageFetchesMax: fetches,
    });
    await storage.image.status(never);
    const startMs = performance.now();
    const cpu = process.cpuUsage();
    for (let at = 0; at < count; at += 10_000) {
      const positions = Array.from({ length: Math.min(10_000, count - at) }, (_, each) =>
        logPosition(from - count + at + each),
      );
      await storage.values.getMany(positions, never);
    }
    const ms = performance.now() - startMs;
    const { user, system } = process.cpuUsage(cpu);
    say(
      `scan, ${fetches} fetches at a time: ${count} records in ${figure(ms)} ms, ${figure((user + system) / count)} us of CPU a record`,
    );
  }
}

/** The third member has no disk and no data yet. */
async function lists(): Promise<void> {
  if (!blank.running) {
    const startMs = performance.now();
    blank.start();
    await blank.ready();
    using first = new EtcdClient(blank.endpoint, { deadlineMs: 60_000 });
    await first.range({ key: keyOf(1), serializable: true });
    const { residentMb } = usageOf(blank.pid);
    say(
      `blank node without a disk: first read after ${figure(performance.now() - startMs)} ms, ${figure(residentMb)} MiB resident`,
    );
  }
  const list = async (member: MemberProcess, from: number): Promise<number> => {
    using reader = new EtcdClient(member.endpoint, { deadlineMs: 120_000 });
    await reader.range({ key: keyOf(0), serializable: true });
    const startMs = performance.now();
    const { kvs } = await reader.range({
      key: keyOf(from),
      rangeEnd: keyOf(from + options.listed),
      serializable: true,
    });
    if (kvs.length !== Math.min(options.listed, options.keys - from)) throw new Error(`${kvs.length} keys`);
    return performance.now() - startMs;
  };
  const part = (at: number): number => (at * options.listed) % Math.max(1, options.keys - options.listed);
  const withDisk = cluster.members.find((member) => member !== blank && member !== leader)!;
  for (const [name, member] of [
    ['memory', blank],
    ['disk', withDisk],
  ] as const) {
    const took: string[] = [];
    for (const at of [7, 7, 7, 13, 13]) took.push(figure(await list(member, part(at))));
    say(
      `lists of ${options.listed}, --local-values=${name}: ${took.join(', ')} ms (first cold, then twice the same; another cold, and again)`,
    );
  }
  const before = usageOf(blank.pid).residentMb;
  const startMs = performance.now();
  let most = 0;
  const look = setInterval(() => {
    most = Math.max(most, usageOf(blank.pid).residentMb);
  }, 100);
  const all = await Promise.allSettled(Array.from({ length: 100 }, (_, at) => list(blank, part(20 + at))));
  clearInterval(look);
  const failed = all.filter(({ status }) => status === 'rejected').length;
  say(
    `100 cold lists of ${options.listed} at once without a disk: ${figure(performance.now() - startMs)} ms, ${failed} failed, ${figure(before)} MiB resident before, ${figure(most)} at most`,
  );
}

/**
 * Single puts of 32 clients, and one watcher at each of two members. What ended during a round is counted separately. The
 * delay of an event is the time from the begin of its put until the watcher has it.
 */
async function rounds(): Promise<void> {
  const { endpoint } = await cluster.leader();
  // Overwrites keys until a round begins: single puts alone would take long.
  await cluster.write(
    1_000_000,
    (at) => (at * 7919) % options.keys,
    () => cluster.roundRuns,
  );
  const kinds = { beside: [] as number[], without: [] as number[] };
  const delays = { beside: [] as number[], without: [] as number[] };
  const cpu = { beside: 0, without: 0 };
  let stop = false;
  let failed = 0;
  const one = async (at: number): Promise<void> => {
    using writer = new EtcdClient(endpoint, { deadlineMs: 60_000 });
    for (let turn = 0; !stop; turn += 1) {
      const [startMs, during] = [performance.now(), cluster.roundRuns];
      try {
        const value = Buffer.from(`${startMs} `.padEnd(512, '.'));
        await writer.put({ key: keyOf((at * 7919 + turn) % options.keys), value });
      } catch (error) {
        if (!(error instanceof EtcdError)) throw error;
        failed += 1;
      }
      if (during === cluster.roundRuns) kinds[during ? 'beside' : 'without'].push(performance.now() - startMs);
    }
  };
  const ended = new AbortController();
  const watch = async (member: MemberProcess): Promise<void> => {
    using watcher = new EtcdClient(member.endpoint, { deadlineMs: 600_000 });
    const range = { key: keyOf(0), rangeEnd: keyOf(options.keys) };
    for await (const { events } of watcher.watch(range, ended.signal)) {
      const [nowMs, during] = [performance.now(), cluster.roundRuns];
      for (const { kv } of events) {
        const startMs = Number(
          Buffer.from(kv?.value ?? [])
            .toString()
            .split(' ', 1)[0],
        );
        delays[during ? 'beside' : 'without'].push(nowMs - startMs);
      }
    }
  };
  const untilEnded = (watching: Promise<void>): Promise<void> =>
    watching.catch((error: unknown) => {
      if (!ended.signal.aborted) throw error;
    });
  const watchers = cluster.members.slice(0, 2).map((member) => untilEnded(watch(member)));
  const before = cluster.rounds;
  const writers = Array.from({ length: 32 }, (_, at) => one(at));
  let last = cluster.cpu();
  const endMs = performance.now() + (options.keys > 10_000 ? 90_000 : 5_000);
  while (performance.now() < endMs) {
    const during = cluster.roundRuns;
    await sleep(500);
    const now = cluster.cpu();
    if (during === cluster.roundRuns)
      cpu[during ? 'beside' : 'without'] += now.members + now.store - last.members - last.store;
    last = now;
  }
  stop = true;
  await Promise.all(writers);
  ended.abort();
  await Promise.all(watchers);
  for (const [name, took] of Object.entries(kinds)) {
    const seconds = name === 'beside' ? cpu.beside : cpu.without;
    say(
      `puts of 32 clients, ${name} a round: ${took.length} puts, p50 ${figure(quantile(took, 0.5))} ms, p99 ${figure(quantile(took, 0.99))} ms, ${figure((seconds * 1e6) / Math.max(1, took.length))} us of CPU a put (members and store)`,
    );
    const waited = delays[name as keyof typeof delays];
    say(
      `events at two members, ${name} a round: ${waited.length} events, delay p50 ${figure(quantile(waited, 0.5))} ms, p99 ${figure(quantile(waited, 0.99))} ms`,
    );
  }
  say(`rounds meanwhile: ${cluster.rounds - before}; puts that failed: ${failed}`);
}

async function updates(): Promise<void> {
  const startMs = performance.now();
  const [roundsBefore, cpuBefore] = [cluster.rounds, cluster.cpu()];
  const first = (await inspect()).log.next;
  let done = false;
  const compactions = (async () => {
    let count = 0;
    for (let waited = 0; !done; waited += 1) {
      await sleep(1000);
      if (waited % options.compactSeconds !== options.compactSeconds - 1) continue;
      using compactor = new EtcdClient((await cluster.leader()).endpoint, { deadlineMs: 60_000 });
      const { header } = await compactor.range({ key: keyOf(0) });
      await compactor.compact({ revision: Number(header?.revision ?? 0) });
      count += 1;
    }
    return count;
  })();
  const written = cluster.write(options.updates, (at) => (at * 7919) % options.updated);
  const report = async (): Promise<void> => {
    const { log, image } = await inspect();
    const batches = log.segments.reduce((sum, { values }) => sum + values, 0);
    const cpu = cluster.cpu();
    say(
      `after ${figure((performance.now() - startMs) / 1000)} s: ${log.next - first} records, ${mib(log.recordBytes)} of them ever; ${log.segments.length} segments, ${batches} batches; image ${image?.round}; round ${cluster.rounds - roundsBefore}; ${mib(imageBytesOf({ image }))}; store on disk ${mib(onDisk())}, resident ${figure(usageOf(cluster.lab.pid('s1')).residentMb)} MiB; ${cluster.failed} transactions sent again; CPU members ${figure(cpu.members - cpuBefore.members)} s, store ${figure(cpu.store - cpuBefore.store)} s`,
    );
  };
  const reports = (async () => {
    for (let waited = 1; !done; waited += 1) {
      await sleep(1000);
      if (waited % options.reportSeconds === 0) await report();
    }
  })();
  await written;
  await report();
  done = true;
  await reports;
  const now = cluster.cpu();
  const us = (seconds: number): string => figure((seconds * 1e6) / options.updates);
  say(
    `updates: ${cluster.rounds - roundsBefore} rounds, ${await compactions} compactions; CPU an update: members ${us(now.members - cpuBefore.members)} us, store ${us(now.store - cpuBefore.store)} us`,
  );
}
