/**
 * getMany of 1, 500 and 10,000 positions, one request after the other and 64 at a time, from the system's cache.
 * SMOKE=1 makes a tiny run. RECORDS=n is the number of records of 600 B (1M).
 *   node packages/storage-segment/bench/get-many.bench.ts
 */
import { join } from 'node:path';
import type { Storage } from '@engram/storage';
import { at, cpuMeter, fill, kinds, makeDirectory, never, openStorage, parameter, random, sealing } from './harness.ts';

const recordsMax = parameter('RECORDS', 1_000_000, 3_000);
const directory = makeDirectory();
let hash = 0;

async function measure(storage: Storage, count: number, order: string, parallel: number): Promise<string> {
  const rounds = Math.max(2, Math.floor(parameter('READS', 300_000, 3_000) / count / (count === 1 ? 5 : 1)));
  const positions = Array.from({ length: rounds }, () => {
    const from = random(recordsMax - count) + 1;
    return Array.from({ length: count }, (_, index) => at(order === 'random' ? 1 + random(recordsMax) : from + index));
  });
  const cpu = cpuMeter();
  const startMs = performance.now();
  for (let round = 0; round < rounds; round += parallel) {
    const requests = positions.slice(round, round + parallel);
    const answers = await Promise.all(requests.map((request) => storage.values.getMany(request, never)));
    for (const answer of answers) hash = (Math.imul(hash, 31) + answer[0]![0]!) | 0;
  }
  const elapsedMs = performance.now() - startMs;
  const each = rounds * count;
  return (
    `${((elapsedMs * 1000) / rounds).toFixed(0).padStart(8)} us a request ` +
    `${((elapsedMs * 1000) / each).toFixed(2).padStart(7)} us, ${(cpu() / each).toFixed(2).padStart(6)} us CPU a record`
  );
}

for (const kind of kinds) {
  await using storage = await openStorage(kind, join(directory, kind));
  await fill(storage, await storage.log.seal(sealing), recordsMax, 600);
  for (const count of [1, 500, 10_000]) {
    for (const order of ['sequential', 'random']) {
      for (const parallel of count === 10_000 ? [1] : [1, 64]) {
        const figures = await measure(storage, Math.min(count, recordsMax - 1), order, parallel);
        const name = `${kind.padEnd(8)} ${String(count).padStart(6)} ${order.padEnd(10)} x${String(parallel).padEnd(3)}`;
        console.log(`${name} ${figures}`);
      }
    }
  }
}
console.log(`hash ${hash}`);
