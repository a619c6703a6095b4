/**
 * Asks a real etcd and the store the same, and holds the answers against each other. See README.md.
 *
 *   main.ts <etcd> <folder> [part ...]       SEED=N OPS=N
 */
import { Prng } from '@engram/sim';
import { Judge } from './judge.ts';
import { kvPart } from './kv-part.ts';
import { leasePart } from './lease-part.ts';
import { maintenancePart } from './maintenance-part.ts';
import { watchPart } from './watch-part.ts';
import { Stores } from './stores.ts';

const [etcd, folder, ...wanted] = process.argv.slice(2);
if (etcd === undefined || folder === undefined) throw new Error('main.ts <etcd> <folder> [part ...]');
const seed = Number(process.env['SEED'] ?? Date.now() % 2 ** 32);
const steps = Number(process.env['OPS'] ?? 4_000);
const STEPS_EACH_ROUND = 1_000;

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
await using stores = new Stores(etcd, folder, ['--unsafe-no-fsync', '--watch-progress-notify-interval=500ms']);
const judge = new Judge(stores);

const parts: Readonly<Record<string, (prng: Prng) => Promise<void>>> = {
  async kv(prng) {
    for (let left = steps; left > 0; left -= STEPS_EACH_ROUND) {
      if (left < steps) await fresh();
      await kvPart(judge, prng, Math.min(left, STEPS_EACH_ROUND));
    }
  },
  lease: () => leasePart(judge),
  maintenance: () => maintenancePart(judge),
  async watch(prng) {
    for (let left = steps / 2; left > 0; left -= STEPS_EACH_ROUND / 2) {
      if (left < steps / 2) await fresh();
      await watchPart(judge, prng, Math.min(left, STEPS_EACH_ROUND / 2));
    }
  },
};

async function fresh(): Promise<void> {
  await stores.startEmpty();
  await judge.learnIdentities();
}

console.log(`SEED=${seed} OPS=${steps}`);
for (const [name, run] of Object.entries(parts)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const startMs = Date.now();
  const before = judge.passed + judge.failed;
  judge.part(name);
  try {
    await fresh();
    await run(new Prng(seed));
  } catch (error) {
    judge.failed += 1;
    console.log(`${name} broke off:`, error);
  }
  console.log(`${name}: ${judge.passed + judge.failed - before} compared in ${Date.now() - startMs} ms`);
}
console.log(`e2e-differential: ${judge.passed} passed, ${judge.failed} failed`);
process.exitCode = judge.failed > 0 || judge.passed === 0 ? 1 : 0;
