/**
 * Appends one after the other: operations a second, CPU for each, how long a batch takes. SMOKE=1 makes a tiny run.
 * SECONDS=n is the time for each row (10). STORAGE=segment or leveldb measures only that one. DIR selects the disk.
 *   node packages/storage-segment/bench/append.bench.ts
 */
import { join } from 'node:path';
import {
  append,
  cpuMeter,
  kinds,
  makeDirectory,
  openStorage,
  parameter,
  percentile,
  recordPool,
  sealing,
} from './harness.ts';

const seconds = parameter('SECONDS', 10, 0.1);
const directory = makeDirectory();

for (const [records, bytes] of [
  [200, 600],
  [20, 600],
  [1, 600],
] as const) {
  for (const kind of kinds) {
    await using storage = await openStorage(kind, join(directory, `${kind}-${records}`));
    let position: number = await storage.log.seal(sealing);
    const next = recordPool(bytes);
    const tookMs: number[] = [];
    const cpu = cpuMeter();
    const startMs = performance.now();
    for (let nowMs = startMs; nowMs - startMs < seconds * 1000; ) {
      await append(storage, position, Array.from({ length: records }, next));
      position += records;
      tookMs.push(performance.now() - nowMs);
      nowMs = performance.now();
    }
    const elapsedMs = performance.now() - startMs;
    const operations = position - 1;
    const rate = (operations / elapsedMs) * 1000;
    console.log(
      `${kind.padEnd(8)} ${`${records} x ${bytes} B`.padEnd(12)} ${rate.toFixed(0).padStart(8)} ops/s ` +
        `${(cpu() / operations).toFixed(2).padStart(7)} us CPU/op  batch p50 ${percentile(tookMs, 0.5).toFixed(2)} ` +
        `p99 ${percentile(tookMs, 0.99).toFixed(2)} p99.9 ${percentile(tookMs, 0.999).toFixed(2)} ` +
        `max ${percentile(tookMs, 1).toFixed(1)} ms`,
    );
  }
}
