/**
 * A store that is updated for a long time: appends without a pause, where each record replaces an older one of some
 * key. Now and then a checkpoint is saved, and then the records that were replaced before it are dropped, as a
 * compaction does. Prints one line for each interval: throughput, CPU, how long batches take, space. At the end prints
 * how long opening takes, and reading the records that a replay needs.
 *
 * SMOKE=1 makes a tiny run. SECONDS (60), OPERATIONS (no bound), INTERVAL (5), KEYS (200,000), RECORD (600 B), BATCH
 * (200), RATE (0: as fast as possible) operations a second, CHECKPOINT (15) seconds between checkpoints,
 * CHECKPOINT_BYTES for each key (120), STORAGE=segment or leveldb, SEGMENT_BYTES, DIR.
 *   node packages/storage-segment/bench/sustained.bench.ts
 */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LogPosition } from '@engram/core';
import type { Storage } from '@engram/storage';
import {
  append,
  at,
  cpuMeter,
  kinds,
  makeDirectory,
  never,
  openStorage,
  parameter,
  percentile,
  random,
  recordPool,
  sealing,
} from './harness.ts';

const seconds = parameter('SECONDS', 60, 0.6);
const operationsMax = parameter('OPERATIONS', Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY);
const intervalMs = parameter('INTERVAL', 5, 0.2) * 1000;
const keys = parameter('KEYS', 200_000, 2000);
const recordBytes = parameter('RECORD', 600, 600);
const batchRecords = parameter('BATCH', 200, 20);
const rate = parameter('RATE', 0, 0);
const checkpointMs = parameter('CHECKPOINT', 15, 0.2) * 1000;
const checkpointBytes = parameter('CHECKPOINT_BYTES', 120, 120) * keys;
const MIB = 1 << 20;
const DROPS = 2000;

function directoryBytes(path: string): number {
  let bytes = 0;
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const name = join(path, entry.name);
    if (entry.isDirectory()) bytes += directoryBytes(name);
    else bytes += (statSync(name, { throwIfNoEntry: false })?.blocks ?? 0) * 512;
  }
  return bytes;
}

/** Chunks of 64 KiB, one in each turn of the event loop, as an index is walked. */
async function* checkpointChunks(): AsyncGenerator<Uint8Array> {
  for (let left = checkpointBytes; left > 0; left -= 64 << 10) {
    yield new Uint8Array(Math.min(left, 64 << 10)).fill(left & 0xff);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

class Load {
  readonly #storage: Storage;
  readonly #newest = new Float64Array(keys);
  #garbage: LogPosition[] = [];
  #position: number;
  #checkpointing: Promise<void> | undefined;
  readonly #record = recordPool(recordBytes);
  checkpoints = 0;
  dropped = 0;

  constructor(storage: Storage, position: number) {
    this.#storage = storage;
    this.#position = position;
  }

  get position(): number {
    return this.#position;
  }

  async batch(): Promise<void> {
    const first = this.#position;
    await append(this.#storage, first, Array.from({ length: batchRecords }, this.#record));
    for (let index = 0; index < batchRecords; index += 1) {
      // Nine of ten updates go to a tenth of the keys.
      const key = random(10) === 0 ? random(keys) : random(Math.ceil(keys / 10));
      if (this.#newest[key]! > 0) this.#garbage.push(at(this.#newest[key]!));
      this.#newest[key] = first + index;
    }
    this.#position = first + batchRecords;
  }

  checkpoint(): void {
    this.#checkpointing ??= this.#checkpoint().finally(() => {
      this.#checkpointing = undefined;
    });
  }

  async settle(): Promise<void> {
    await this.#checkpointing;
  }

  async #checkpoint(): Promise<void> {
    const { values } = this.#storage;
    const from = at(this.#position);
    const garbage = this.#garbage;
    this.#garbage = [];
    await values.saveCheckpoint(from, checkpointChunks());
    this.checkpoints += 1;
    for (let begin = 0; begin < garbage.length; begin += DROPS) {
      await values.drop(garbage.slice(begin, begin + DROPS));
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.dropped += garbage.length;
  }
}

async function run(kind: string, path: string): Promise<void> {
  const storage = await openStorage(kind, path);
  const load = new Load(storage, await storage.log.seal(sealing));
  const loop = monitorEventLoopDelay({ resolution: 5 });
  loop.enable();
  const startMs = performance.now();
  let nextCheckpointMs = startMs + checkpointMs;
  const over = (): boolean => performance.now() - startMs >= seconds * 1000 || load.position > operationsMax;
  while (!over()) {
    const tookMs: number[] = [];
    const cpu = cpuMeter();
    const begin = load.position;
    const beginMs = performance.now();
    let nowMs = beginMs;
    while (nowMs - beginMs < intervalMs && load.position <= operationsMax) {
      await load.batch();
      const doneMs = performance.now();
      tookMs.push(doneMs - nowMs);
      if (doneMs > nextCheckpointMs) {
        load.checkpoint();
        nextCheckpointMs = doneMs + checkpointMs;
      }
      if (rate > 0) {
        const aheadMs = ((load.position - 1) / rate) * 1000 - (doneMs - startMs);
        if (aheadMs > 1) await sleep(aheadMs);
      }
      nowMs = performance.now();
    }
    const elapsedMs = nowMs - beginMs;
    const operations = load.position - begin;
    const { totalBytes, inUseBytes } = storage.values.size();
    console.log(
      `${kind.padEnd(8)} ${((nowMs - startMs) / 1000).toFixed(0).padStart(4)} s ` +
        `${((operations / elapsedMs) * 1000).toFixed(0).padStart(7)} ops/s ${(cpu() / operations).toFixed(2).padStart(6)} us CPU/op ` +
        `batch p50 ${percentile(tookMs, 0.5).toFixed(2)} p99 ${percentile(tookMs, 0.99).toFixed(2)} p99.9 ` +
        `${percentile(tookMs, 0.999).toFixed(1)} max ${percentile(tookMs, 1).toFixed(0)} ms  loop max ` +
        `${(loop.max / 1e6).toFixed(0)} ms  live ${(inUseBytes / MIB).toFixed(0)} total ${(totalBytes / MIB).toFixed(0)} ` +
        `disk ${(directoryBytes(path) / MIB).toFixed(0)} MiB  checkpoints ${load.checkpoints} dropped ${load.dropped}`,
    );
    loop.reset();
  }
  await load.settle();
  const closingMs = performance.now();
  await storage[Symbol.asyncDispose]();
  const openingMs = performance.now();
  await using opened = await openStorage(kind, path);
  const openedMs = performance.now();
  const from = (await opened.values.loadCheckpoint())?.from ?? at(1);
  let replayed = 0;
  for await (const batch of opened.log.read(from, never)) replayed += batch.records.length;
  console.log(
    `${kind.padEnd(8)} closed in ${(openingMs - closingMs).toFixed(0)} ms, opened in ${(openedMs - openingMs).toFixed(0)} ms, ` +
      `replayed ${replayed} records in ${(performance.now() - openedMs).toFixed(0)} ms, ` +
      `memory ${(process.memoryUsage().rss / MIB).toFixed(0)} MiB`,
  );
}

const directory = makeDirectory();
for (const kind of kinds) await run(kind, join(directory, kind));
