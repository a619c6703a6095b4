import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { epoch, logPosition } from '@engram/core';
import { openLevelDbStorage } from '@engram/storage-leveldb';
const clock = {
  nowMs: () => performance.now(),
  wallMs: () => 0,
  after(d: number, f: () => void) {
    const t = setTimeout(f, d);
    return { cancel: () => clearTimeout(t) };
  },
  soon: (f: () => void) => void setImmediate(f),
};
const q = () => {};
const path = await mkdtemp(join(tmpdir(), 'engram-ap-'));
const storage = await openLevelDbStorage({
  path,
  cacheBytes: 64 << 20,
  clock,
  logger: { debug: q, info: q, warn: q, error: q },
});
await storage.log.seal(epoch(1));
const N = 1500,
  B = 200;
const same = process.argv[2] === 'same';
const pool = Array.from({ length: same ? 1 : 5000 }, () => {
  const r = new Uint8Array(600);
  for (let i = 0; i < 600; i++) r[i] = Math.random() * 256;
  return r;
});
const cpu = process.cpuUsage();
const t = performance.now();
for (let n = 0; n < N; n++) {
  const records = Array.from({ length: B }, (_, i) => pool[(n * B + i) % pool.length]!);
  await storage.log.append({ first: logPosition(n * B + 1), records }, epoch(1));
}
const c = process.cpuUsage(cpu);
console.log(
  process.argv[2],
  'ops/s',
  Math.round(((N * B) / (performance.now() - t)) * 1000),
  'cpu us/op',
  ((c.user + c.system) / N / B).toFixed(2),
  'user',
  (c.user / N / B).toFixed(2),
);
await storage[Symbol.asyncDispose]();
await rm(path, { recursive: true });
