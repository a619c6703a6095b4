/**
 * Sends the same requests to a real etcd and to the store, and compares the answers. See README.md.
 *
 *   main.ts <etcd> <folder> [part ...]       SEED=N OPS=N REQUESTS=N
 */
import { Prng } from '@engram/sim';
import { endOnSignals } from '../support/end-on-signals.ts';
import { stillHeld } from '../support/nothing-held.ts';
import { bytesPart } from './bytes-part.ts';
import { certificatePart } from './certificate-part.ts';
import { countsPart } from './counts-part.ts';
import { gatewayPart } from './gateway-part.ts';
import { gatewayRoutesPart } from './gateway-routes-part.ts';
import { http2Part } from './http2-part.ts';
import { Judge } from './judge.ts';
import { kvPart } from './kv-part.ts';
import { largePart } from './large-part.ts';
import { leasePart } from './lease-part.ts';
import { lockPart } from './lock-part.ts';
import { maintenancePart } from './maintenance-part.ts';
import { MemberStores } from './member-stores.ts';
import * as ask from './methods.ts';
import { pagesPart } from './pages-part.ts';
import { restartPart } from './restart-part.ts';
import { startPart } from './start-part.ts';
import { sizesPart } from './sizes-part.ts';
import { watchCases } from './watch-cases.ts';
import { watchPart } from './watch-part.ts';
import { Stores } from './stores.ts';
import { usersPart } from './users-part.ts';

const [etcd, folder, ...wanted] = process.argv.slice(2);
if (etcd === undefined || folder === undefined) throw new Error('main.ts <etcd> <folder> [part ...]');
const seed = Number(process.env['SEED'] ?? Date.now() % 2 ** 32);
const steps = Number(process.env['OPS'] ?? 4_000);
/** How many random requests a part sends: REQUESTS, or else its own share of OPS. */
const wholeOrShare = (share: number): number => Number(process.env['REQUESTS'] || steps * share);
const STEPS_EACH_ROUND = 1_000;

endOnSignals();
const flags = ['--unsafe-no-fsync', '--bcrypt-cost=4', '--watch-progress-notify-interval=500ms'];
await using stores = new Stores(etcd, folder, flags);
const judge = new Judge(stores);

const parts: Readonly<Record<string, (prng: Prng) => Promise<void>>> = {
  kv: (prng) => inRounds(wholeOrShare(1), STEPS_EACH_ROUND, fresh, (count) => kvPart(judge, prng, count)),
  bytes: (prng) => bytesPart(judge, prng, wholeOrShare(1 / 4)),
  lease: () => leasePart(judge),
  lock: () => lockPart(judge),
  http2: () => http2Part(judge),
  gateway: () => gatewayPart(judge),
  'gateway-routes': () => gatewayRoutesPart(judge),
  pages: () => pagesPart(judge),
  counts: () => countsPart(judge),
  sizes: () => sizesPart(judge),
  users: (prng) => inRounds(wholeOrShare(1 / 4), STEPS_EACH_ROUND, fresh, (count) => usersPart(judge, prng, count)),
  restart: (prng) => restartPart(judge, prng, wholeOrShare(1 / 4)),
  maintenance: () => maintenancePart(judge),
  start: () => startPart(judge, etcd, folder),
  certificates: () => certificatePart(judge, etcd, folder),
  'watch-cases': () => watchCases(judge),
  watch: (prng) => inRounds(wholeOrShare(1 / 2), STEPS_EACH_ROUND / 2, fresh, (count) => watchPart(judge, prng, count)),
  large: (prng) => largePart(judge, prng, wholeOrShare(1 / 20)),
  members: (prng) =>
    ofMembers('members', prng, async (members) => {
      const again = (): Promise<void> => startEmpty(members);
      await inRounds(wholeOrShare(1 / 8), STEPS_EACH_ROUND, again, (count) => kvPart(members, prng, count));
    }),
  'large-members': (prng) =>
    ofMembers('large-members', prng, (members) => largePart(members, prng, wholeOrShare(1 / 40))),
  known: knownDifferences,
};

/** Sends `count` requests, at most `each` to one pair of stores. `again` makes the next pair. */
async function inRounds(
  count: number,
  each: number,
  again: () => Promise<void>,
  round: (count: number) => Promise<void>,
): Promise<void> {
  for (let left = count; left > 0; left -= each) {
    if (left < count) await again();
    await round(Math.min(left, each));
  }
}

/** Compares etcd with a cluster of members in this process instead of the store. */
async function ofMembers(part: string, prng: Prng, run: (members: Judge) => Promise<void>): Promise<void> {
  await using cluster = new MemberStores(etcd!, `${folder}/${part}`, flags, prng.fork('members'));
  const members = new Judge(cluster);
  members.part(part);
  await startEmpty(members);
  await run(members);
  members.equal('what has ended a member, and what the members still hold', [], cluster.faults());
  judge.passed += members.passed;
  judge.failed += members.failed;
}

/** The differences that README.md lists. Runs last, because the stores differ afterwards. */
async function knownDifferences(): Promise<void> {
  const put = { requestPut: { key: 'b' } };
  const all = { requestDeleteRange: { key: 'a', rangeEnd: '\0' } };
  const nested = [
    { requestTxn: { success: [put] } },
    { requestTxn: { success: [{ requestDeleteRange: { key: 'b' } }] } },
  ];
  await judge.callKnown(ask.txn, { success: [put, all] }, 'two changes of a key in one revision');
  await judge.callKnown(ask.txn, { success: nested }, 'two changes of a key in one revision');
  await judge.callKnown(ask.leaseGrant, { ID: 1n, TTL: 500n }, 'revisions differ by now');
  await judge.callKnown(ask.put, { key: 'leased', lease: 1n }, 'revisions differ by now');
  await judge.callKnown(ask.range, { key: 'leased', keysOnly: true }, 'the lease is part of the key');
  await judge.callKnown(ask.alarm, { action: 1, alarm: 7 }, 'an alarm that nobody knows');
}

async function startEmpty(of: Judge): Promise<void> {
  await of.stores.startEmpty();
  await of.learnIdentities();
}

const fresh = (): Promise<void> => startEmpty(judge);

console.log(`SEED=${seed} OPS=${steps} REQUESTS=${process.env['REQUESTS'] || 'by part'}`);
for (const [name, run] of Object.entries(parts)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const startMs = Date.now();
  const before = judge.passed + judge.failed;
  judge.part(name);
  try {
    await fresh();
    await run(new Prng(seed));
    const held = await stillHeld(stores.endpoint(1));
    judge.equal('what the store still holds', [], held);
  } catch (error) {
    judge.failed += 1;
    console.log(`${name} broke off:`, error);
  }
  console.log(`${name}: ${judge.passed + judge.failed - before} compared in ${Date.now() - startMs} ms`);
}
console.log(`e2e-differential: ${judge.passed} passed, ${judge.failed} failed`);
process.exitCode = judge.failed > 0 || judge.passed === 0 ? 1 : 0;
