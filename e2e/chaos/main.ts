/**
 * Three members, each on its own host, under one fault after another in an order that the seed decides. Meanwhile clients
 * at all members write, read, watch and hold leases. At the end the recorded calls must have a valid order, watchers must
 * have seen every event once, and the members' copies must be equal. See README.md.
 *
 *   main.ts <folder> --seconds N [--seed N] [--only fault,fault]
 *   main.ts <folder> --rounds N  ...   each fault N times, each until writes continue, instead of for some seconds
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Prng } from '@engram/sim';
import { Recorder } from '../../test/linearizability/record.ts';
import { type ClusterPlace, leaderAmong, MemberProcess } from '../cluster/cluster-member.ts';
import { Load, spread } from '../cluster/load.ts';
import { stillHeld } from '../support/nothing-held.ts';
import { Lab } from '../tikv/lab.ts';
import { RecordedClients } from './clients.ts';
import { faults, type Scene } from './faults.ts';
import { judge } from './judge.ts';
import { LeaseHolder } from './lease-holder.ts';
import { type Seen, Witness } from './witness.ts';
import { Wire } from './wire.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '60' },
    rounds: { type: 'string' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 32) },
    only: { type: 'string', default: Object.keys(faults).join() },
  },
});
const folder = positionals[0] ?? '.';
const seed = Number(values.seed);
const prng = new Prng(seed);
console.log(`--seed ${seed}`);

/** The longest time without progress after a fault has ended. */
const RECOVERY_MAX_MS = 30_000;
const WRITES_AFTER = 100;
/** The number of readers at a fault's victim. */
const READERS = 4;
const netns = (host: string): string => {
  const path = process.env[`NETNS_${host}`];
  if (path === undefined) throw new Error(`there is no host ${host}: see run`);
  return path;
};

using wire = new Wire(join(folder, 'wire.sock'));
const lab = await Lab.startReplicated(join(folder, 'lab'), {
  strict: false,
  place: { netns: netns('stores'), address: '10.77.0.10' },
});
const place: ClusterPlace = {
  pd: lab.pdAddresses,
  prefix: 'chaos',
  members: ['a', 'b', 'c'].map((name, at) => ({
    name,
    host: `10.77.0.${at + 1}`,
    netns: netns(name),
    clientPort: 2379,
    peerPort: 2380,
    dataDir: join(folder, name),
  })),
};
const members = place.members.map((member) => new MemberProcess(place, member));
for (const member of members) member.start();
await Promise.all(members.map((member) => member.ready()));
const endpoints = members.map(({ endpoint }) => endpoint);

const leader = (): Promise<MemberProcess> => leaderAmong(members, 500);

const seen: Seen[] = [];
const witnesses = [
  new Witness('anywhere', endpoints, (event) => seen.push(event)),
  ...members.map(({ endpoint, place: { name } }) => new Witness(`at ${name}`, [endpoint])),
];
const load = new Load(endpoints, 2, { deadlineMs: 3000, betweenMs: 5 });
const recorder = new Recorder(prng);
const recorded = new RecordedClients(recorder, [...endpoints, ...endpoints]);
const holders = endpoints.flatMap((_, at) => [
  new LeaseHolder(`${at}a`, endpoints, prng),
  new LeaseHolder(`${at}b`, endpoints, prng),
]);
await load.until(200);

const readAt = (endpoint: string): RecordedClients =>
  new RecordedClients(
    recorder,
    Array.from({ length: READERS }, () => endpoint),
    'get',
  );
const scene: Scene = {
  members,
  lab,
  storesHost: 'stores',
  clientsHost: 'judge',
  wire,
  prng,
  leader,
  acknowledged: () => load.acknowledged.length,
  readAt,
};
const stallsMs = new Map<string, number[]>();
const problems: string[] = [];
const endMs = performance.now() + Number(values.seconds) * 1000;
const chosen = values.only.split(',');
const rounds = values.rounds === undefined ? undefined : Number(values.rounds);
let queue: string[] = [];

/** Waits for `more` acknowledged writes. False if they do not come within RECOVERY_MAX_MS. */
async function acknowledges(more: number): Promise<boolean> {
  const [enough, lateMs] = [load.acknowledged.length + more, performance.now() + RECOVERY_MAX_MS];
  while (load.acknowledged.length < enough && performance.now() < lateMs) await sleep(10);
  return load.acknowledged.length >= enough;
}

for (let round = 0; problems.length === 0; ) {
  if (rounds === undefined && performance.now() >= endMs) break;
  if (queue.length === 0) {
    if (round === rounds) break;
    // Each fault once, in a new order, before any is repeated.
    queue = chosen.toSorted(() => prng.fraction() - 0.5);
    round += 1;
  }
  const name = queue.shift()!;
  const fault = faults[name];
  if (fault === undefined) throw new Error(`there is no fault "${name}"`);
  const startMs = performance.now();
  try {
    const end = await fault(scene);
    if (rounds === undefined) await sleep(1000 + prng.below(4000));
    else if (!(await acknowledges(WRITES_AFTER))) problems.push(`${name}: no writes for ${RECOVERY_MAX_MS} ms`);
    await end();
  } catch (error) {
    problems.push(`${name}: ${error instanceof Error ? error.stack : String(error)}`);
  }
  const healedMs = performance.now();
  if (!(await acknowledges(WRITES_AFTER))) problems.push(`${name}: no writes for ${RECOVERY_MAX_MS} ms after it`);
  const stallMs = Math.round(load.longestPauseMs(startMs, performance.now() - startMs));
  stallsMs.set(name, [...(stallsMs.get(name) ?? []), stallMs]);
  console.log(
    `${name}: ${stallMs} ms without an acknowledged write, healed after ${Math.round(healedMs - startMs)} ms`,
  );
}

await Promise.all([load.stop(), recorded.stop(), ...holders.map((holder) => holder.stop())]);
problems.push(...(await judge({ endpoints, load, recorder, holders, witnesses, seen })));
for (const witness of witnesses) await witness.stop();
for (const endpoint of endpoints) {
  for (const held of await stillHeld(endpoint)) problems.push(`${endpoint} holds for calls that have ended: ${held}`);
}
for (const problem of problems) console.log(`FAILED: ${problem}`);
if (problems.length > 0) {
  for (const { place: at, lines } of members) console.log(`-- ${at.name}\n${lines.slice(-15).join('\n')}`);
}
for (const member of members) await member.stop().catch(() => undefined);
await lab[Symbol.asyncDispose]();
for (const [name, stalls] of stallsMs) {
  console.log(`without an acknowledged write, ${name}: ${spread(stalls)}`);
}
console.log(
  `${load.acknowledged.length} writes acknowledged, ${load.uncertain} without an answer, ${recorder.calls} calls checked, ` +
    `${holders.reduce((sum, { leases }) => sum + leases.size, 0)} leases, ${seen.length} events, ` +
    `${witnesses.reduce((sum, { breaks }) => sum + breaks, 0)} watches resumed`,
);
console.log(`e2e-chaos: ${problems.length === 0 ? 1 : 0} passed, ${problems.length} failed`);
process.exit(problems.length === 0 ? 0 : 1);
