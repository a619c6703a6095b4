import { setImmediate as turn } from 'node:timers/promises';
import { nodeItself, openBackend } from '@engram/backend';
import { epoch, keyBytes, leaseId, putOp, type Txn } from '@engram/core';
import { quiet, realClock, realRandom } from '@engram/sim';
import { MemoryStorage } from '@engram/storage';

/**
 * The store without network and disk: the cost of sequencing, index, records, cache, publishing and answering. Prints
 * operations a second and CPU time for each. `revision` at the end shows that all of them took effect.
 */
const operations = process.env['SMOKE'] === undefined ? 400_000 : 2_000;
const inFlight = 256;
const backend = await openBackend({
  storage: new MemoryStorage(),
  epoch: epoch(1),
  clock: realClock,
  random: realRandom,
  logger: quiet,
  memberId: 1n,
  onFatal: (error) => {
    throw error;
  },
});
const value = new Uint8Array(512).fill(7);
const put = (key: string): Txn => ({
  compares: [],
  success: [putOp(keyBytes(key), value)],
  failure: [],
});
const create = (key: string): Txn => ({
  ...put(key),
  compares: [
    {
      range: { key: keyBytes(key), end: new Uint8Array(0) },
      result: 0,
      target: 2,
      number: 0,
      lease: leaseId(0n),
      value: new Uint8Array(0),
    },
  ],
});

async function run(name: string, txn: (at: number) => Txn): Promise<void> {
  const cpu = process.cpuUsage();
  const startNs = process.hrtime.bigint();
  for (let at = 0; at < operations; ) {
    const waits: Promise<unknown>[] = [];
    for (const end = Math.min(operations, at + inFlight); at < end; at += 1)
      waits.push(backend.txn(txn(at), nodeItself));
    await Promise.all(waits);
  }
  const seconds = Number(process.hrtime.bigint() - startNs) / 1e9;
  const { user, system } = process.cpuUsage(cpu);
  console.log(
    `${name}: ${Math.round(operations / seconds)}/s, ${((user + system) / operations).toFixed(2)} us CPU, revision ${backend.revision}`,
  );
}

await run('create', (at) => create(`/registry/pods/namespace-${at % 50}/pod-${at}`));
await run('put on 100k keys', (at) => put(`/registry/pods/namespace-${at % 50}/pod-${(at * 7919) % 100_000}`));
await turn();
await backend[Symbol.asyncDispose]();
