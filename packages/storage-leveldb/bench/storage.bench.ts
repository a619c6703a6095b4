import { sealOf } from '@engram/storage/testing';
/**
 * Measures the storage on this disk. SMOKE=1 makes the run small. BENCH_DIR is the directory to write to (default: the
 * system's temporary directory).
 *   node packages/storage-leveldb/bench/storage.bench.ts
 *
 * The lower bound of appends is one fdatasync for each batch. The lower bound of reads is LevelDB's own time for a record.
 * A call for a single record takes ten times as long.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Logger, type LogPosition, logPosition } from '@engram/core';
import { Prng, realClock } from '@engram/sim';
import { openLevelDbStorage } from '@engram/storage-leveldb';

const smoke = process.env['SMOKE'] !== undefined;
const BATCH = 200;
const batches = smoke ? 10 : 2_000;
const RECORD_BYTES = 600;

const quiet = (): void => {};
const logger: Logger = { debug: quiet, info: quiet, warn: console.warn, error: console.error };
const never = new AbortController().signal;

const prng = new Prng(1);
const random = (below: number): number => prng.below(below);

/** As compressible as a Kubernetes object: the same field names, other names and ids. */
function makeRecord(number: number): Uint8Array {
  const id = (): string => random(2 ** 32).toString(16);
  const text = JSON.stringify({
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: {
      name: `web-${number}`,
      namespace: `ns-${number % 97}`,
      uid: `${id()}-${id()}-${id()}`,
      labels: { app: 'web', 'pod-template-hash': id() },
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: `web-${id()}`, uid: id(), controller: true },
      ],
    },
    spec: {
      containers: [{ name: 'web', image: 'nginx:1.25', resources: {}, imagePullPolicy: 'IfNotPresent' }],
      restartPolicy: 'Always',
      nodeName: `node-${id()}`,
    },
    status: { phase: 'Running', podIP: `10.${random(256)}.${random(256)}.${random(256)}`, hostIP: id() },
  });
  return new Uint8Array(Buffer.from(text.padEnd(RECORD_BYTES).slice(0, RECORD_BYTES), 'latin1'));
}

let hash = 0;
async function time(name: string, operations: number, run: () => Promise<void>): Promise<void> {
  const cpu = process.cpuUsage();
  const startMs = performance.now();
  await run();
  const ms = performance.now() - startMs;
  const { user, system } = process.cpuUsage(cpu);
  const rate = Math.round((operations / ms) * 1000);
  const cpuUs = ((user + system) / operations).toFixed(2);
  console.log(`${name.padEnd(44)} ${String(rate).padStart(9)}/s  ${cpuUs.padStart(7)} us CPU each`);
}

function percentiles(name: string, times: number[]): void {
  times.sort((left, right) => left - right);
  const at = (share: number): string => (times[Math.floor((times.length - 1) * share)] ?? 0).toFixed(2);
  console.log(`${`  ${name}`.padEnd(44)} p50 ${at(0.5)} ms  p99 ${at(0.99)} ms  max ${at(1)} ms`);
}

const path = await mkdtemp(join(process.env['BENCH_DIR'] ?? tmpdir(), 'engram-bench-'));
try {
  const pool = Array.from({ length: 5_000 }, (_, index) => makeRecord(index));
  const options = { path, cacheBytes: 64 << 20, clock: realClock, logger };
  let storage = await openLevelDbStorage(options);
  await storage.log.seal(sealOf(1));
  const end = batches * BATCH + 1;

  const times: number[] = [];
  await time(`append, ${BATCH} x ${RECORD_BYTES} B, synced`, end - 1, async () => {
    for (let first = 1; first < end; first += BATCH) {
      const records = Array.from({ length: BATCH }, (_, index) => pool[(first + index) % pool.length]!);
      const startMs = performance.now();
      const outcome = await storage.log.append({ first: logPosition(first), records }, sealOf(1));
      times.push(performance.now() - startMs);
      if (outcome.kind !== 'committed') throw new Error(outcome.kind);
    }
  });
  percentiles('of a batch', times);
  const { totalBytes, inUseBytes } = storage.values.size();
  console.log(`  on disk ${(totalBytes / 2 ** 20).toFixed(0)} MiB, in use ${(inUseBytes / 2 ** 20).toFixed(0)} MiB`);

  await time('close and open', 1, async () => {
    await storage[Symbol.asyncDispose]();
    storage = await openLevelDbStorage(options);
  });
  await time('replay', end - 1, async () => {
    for await (const batch of storage.log.read(logPosition(1), never)) hash = (hash + batch.records[0]![40]!) | 0;
  });

  const get = async (positions: LogPosition[]): Promise<void> => {
    const records = await storage.values.getMany(positions, never);
    hash = (hash + records[0]![40]!) | 0;
  };
  const anywhere = (): LogPosition => logPosition(1 + random(end - 1));
  const reads = smoke ? 500 : 100_000;
  await time('getMany of 1, one at a time', reads / 10, async () => {
    for (let done = 0; done < reads / 10; done += 1) await get([anywhere()]);
  });
  await time('getMany of 1, 100 at a time', reads, async () => {
    for (let done = 0; done < reads; done += 100) {
      await Promise.all(Array.from({ length: 100 }, () => get([anywhere()])));
    }
  });
  await time('getMany of 500, anywhere', reads, async () => {
    for (let done = 0; done < reads; done += 500) await get(Array.from({ length: 500 }, anywhere));
  });
  await time('getMany of 500, neighbours', reads, async () => {
    for (let done = 0; done < reads; done += 500) {
      const first = 1 + random(end - 500);
      await get(Array.from({ length: 500 }, (_, index) => logPosition(first + index)));
    }
  });
  await time('getMany of 10000, anywhere', reads, async () => {
    for (let done = 0; done < reads; done += 10_000) await get(Array.from({ length: 10_000 }, anywhere));
  });

  const chunks = smoke ? 4 : 200;
  await time('checkpoint, chunks of 256 KiB', chunks, async () => {
    async function* source(): AsyncGenerator<Uint8Array> {
      for (let index = 0; index < chunks; index += 1) yield new Uint8Array(256 << 10).fill(random(256));
    }
    await storage.values.saveCheckpoint(logPosition(end), source());
  });
  await time('drop', end / 2, async () => {
    for (let first = 1; first < end; first += 2 * BATCH) {
      await storage.values.drop(Array.from({ length: BATCH }, (_, index) => logPosition(first + index)));
    }
  });
  await storage[Symbol.asyncDispose]();
  console.log(`hash ${hash}`);
} finally {
  await rm(path, { recursive: true });
}
