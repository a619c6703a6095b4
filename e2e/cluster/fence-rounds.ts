/**
 * Three members on PD and one store that supports delete-range. Each round deposes a leader and keeps it away until the
 * log is trimmed past what it knows, and lets it come back. No acknowledged write may be lost, no linearizable read
 * stale, all copies must be equal, and a member that ends must say why. See README.md.
 *
 *   fence-rounds.ts <folder> [--rounds N] [--seed N] [--way TEXT]     only the ways whose names contain TEXT
 *   fence-rounds.ts <folder> --wire SOCKET ...     members on hosts of their own (e2e/chaos), which are cut off
 */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Prng } from '@engram/sim';
import { freePort } from '../../test/support/free-port.ts';
import { isAlive } from '../../test/support/is-alive.ts';
import { memberPlaces, storesPlace, Wire } from '../chaos/wire.ts';
import { Lab } from '../tikv/lab.ts';
import { Checks } from './checks.ts';
import { freePlaces, type ClusterPlace, leaderAmong, MemberProcess } from './cluster-member.ts';
import { cuts } from './fence-cuts.ts';
import { deleteOnce, FenceLoad, hashesAt, readsAt } from './fence-load.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '3' },
    seed: { type: 'string' },
    way: { type: 'string', default: '' },
    wire: { type: 'string' },
  },
});
const rounds = Number(values.rounds);
const folder = positionals[0] ?? '.';
const random = new Prng(values.seed === undefined ? Date.now() : Number(values.seed));
console.log(`seed ${random.seed}`);

/** A member that is silent for longer does not keep the log from being trimmed. */
const SILENT_S = 4;
/** A leader is away for the silence and so many trims behind it. */
const TRIMS_AWAY = 2;
const TRIMS_MAX_MS = 60_000;
/** Until the appends that are under way wait at a store that stands still. */
const UNDER_WAY_MS = 300;
/** A member that was let go on, and one that was replaced, end so soon if they do. */
const SETTLE_MS = 2000;
const WRITES_MAX_MS = 60_000;
const START_MAX_MS = 30_000;
const FATAL = /"level":"fatal"/;

const wire = values.wire === undefined ? undefined : new Wire(values.wire);
const lab = await Lab.start(join(folder, 'lab'), {
  store: 'onenode',
  strict: false,
  ...(wire === undefined ? {} : { place: storesPlace() }),
});
const place: ClusterPlace = {
  pd: lab.pdAddresses,
  prefix: 'fence',
  members: wire === undefined ? await freePlaces(folder) : memberPlaces(folder),
};
const flags = [
  '--log-segment-bytes=65536',
  '--image-every-bytes-min=262144',
  '--image-interval=500ms',
  `--log-member-timeout=${SILENT_S}s`,
];
let trims = 0;
/** How appends whose first attempt was uncertain have ended, in this round. */
let settled: string[] = [];
/** The newest fatal line of each process that runs or has ended. */
const fatal = new Map<MemberProcess, string>();
const members = place.members.map((member) => processAt(member, flags));
const endpoints = members.map(({ endpoint }) => endpoint);
for (const member of members) member.start();
await Promise.all(members.map((member) => member.ready()));

const checks = new Checks(() => members);
const endings: string[] = [];
const total = { writes: 0, unknown: 0, reads: 0, lost: 0, stale: 0, unequal: 0, unnamed: 0 };
const leader = (): Promise<MemberProcess> => leaderAmong(members);

function processAt(at: ClusterPlace['members'][number], own: readonly string[]): MemberProcess {
  const process: MemberProcess = new MemberProcess(place, at, own, (line) => {
    if (line.includes('trimmed the log')) trims += 1;
    if (line.includes('"settled an append"')) settled.push(/"outcome":"(\w+)"/.exec(line)?.[1] ?? 'settled');
    if (line.includes('"gave up an append')) settled.push('superseded');
    if (FATAL.test(line)) fatal.set(process, line);
  });
  return process;
}

/** Resolves when the log was trimmed, as often as TRIMS_AWAY, behind the time that a silent member can hold it. */
async function awayUntilTrimmed(): Promise<void> {
  await sleep(SILENT_S * 1000 + 500);
  const due = trims + TRIMS_AWAY;
  for (const endMs = performance.now() + TRIMS_MAX_MS; trims < due; await sleep(50))
    assert.ok(performance.now() < endMs, 'the log is not trimmed');
}

/** Notes how a member has ended that nobody has killed, and starts it again. */
async function startAgain(member: MemberProcess): Promise<void> {
  await noteEnd(member, member.place.name);
  member.start();
  await member.ready();
}

async function noteEnd(member: MemberProcess, name: string): Promise<void> {
  const code = await member.ended();
  const reason = fatal.get(member);
  fatal.delete(member);
  const text = reason
    ?.replace(/^.*?"ts":"[^"]*",/, '')
    .replace(/"stack":.*(?="msg")/, '')
    .slice(0, 300);
  endings.push(`${name} with ${code}: ${text}`);
  console.log(`  ${endings.at(-1)}`);
  if (code === 1 && reason !== undefined) return;
  total.unnamed += 1;
  console.log(`  ${name} has ended without a reason:\n${member.lines.slice(-20).join('\n')}`);
}

/** Makes the leader stand still with appends under way. The store executes them, or loses them with its life. */
async function stopWithAppendUnderWay(victim: MemberProcess, lose: boolean): Promise<void> {
  lab.signal('s1', 'SIGSTOP');
  await sleep(UNDER_WAY_MS);
  victim.signal('SIGSTOP');
  if (lose) await restartStore();
  else lab.signal('s1', 'SIGCONT');
}

async function restartStore(): Promise<void> {
  const pid = lab.pid('s1');
  process.kill(pid, 'SIGKILL');
  while (isAlive(pid)) await sleep(20);
  lab.restartStore(1);
}

/** A second process of `member`, on another disk, that is reached at other ports. */
async function twinOf(member: MemberProcess): Promise<MemberProcess> {
  const dataDir = join(folder, 'twin');
  rmSync(dataDir, { recursive: true, force: true });
  const clientPort = await freePort();
  const own = [...flags, `--listen-peer-urls=http://127.0.0.1:${await freePort()}`];
  const twin = processAt({ ...member.place, clientPort, dataDir }, own);
  const startedMs = performance.now();
  for (;;) {
    twin.start();
    try {
      await twin.ready();
      return twin;
    } catch (error) {
      // Both processes say what the member needs, so the log may be trimmed before the second has read it. It starts again.
      if (twin.running || performance.now() - startedMs > START_MAX_MS) throw error;
      await noteEnd(twin, `the second process of ${member.place.name}`);
    }
  }
}

/** How a leader is deposed and comes back, where all are on this host. */
const here: Readonly<Record<string, (victim: MemberProcess) => Promise<void>>> = {
  'SIGSTOP, an append under way dies with the store': async (victim) => {
    await stopWithAppendUnderWay(victim, true);
    await awayUntilTrimmed();
    victim.signal('SIGCONT');
  },
  'SIGSTOP, an append under way is executed': async (victim) => {
    await stopWithAppendUnderWay(victim, false);
    await awayUntilTrimmed();
    victim.signal('SIGCONT');
  },
  'SIGSTOP with the store killed before and started behind the election': async (victim) => {
    process.kill(lab.pid('s1'), 'SIGKILL');
    await sleep(random.below(5 * UNDER_WAY_MS));
    victim.signal('SIGSTOP');
    await sleep(random.between(500, 2500));
    lab.restartStore(1);
    await awayUntilTrimmed();
    victim.signal('SIGCONT');
  },
  'kill -9, and a restart with its disk': async (victim) => {
    lab.signal('s1', 'SIGSTOP');
    await sleep(UNDER_WAY_MS);
    await victim.kill();
    lab.signal('s1', 'SIGCONT');
    await awayUntilTrimmed();
    victim.start();
    await victim.ready();
  },
  'a second process beside the first, which stands still with an append under way': async (victim) => {
    await stopWithAppendUnderWay(victim, random.chance(0.5));
    const twin = await twinOf(victim);
    try {
      await awayUntilTrimmed();
      victim.signal('SIGCONT');
      await noteEnd(victim, `${victim.place.name}, replaced,`);
    } finally {
      await twin.kill();
    }
    victim.start();
    await victim.ready();
  },
  'a second process beside the first, which lives': async (victim) => {
    const twin = await twinOf(victim);
    try {
      await noteEnd(victim, `${victim.place.name}, replaced,`);
      await awayUntilTrimmed();
    } finally {
      await twin.kill();
    }
    victim.start();
    await victim.ready();
  },
  'a second process that finds its ports taken, then SIGSTOP of the first': async (victim) => {
    const dataDir = join(folder, 'twin');
    rmSync(dataDir, { recursive: true, force: true });
    const second = processAt({ ...victim.place, dataDir }, flags);
    second.start();
    await noteEnd(second, `the second process of ${victim.place.name}`);
    // The election behind it would end the first, if the second had taken its state.
    await stopWithAppendUnderWay(victim, true);
    await awayUntilTrimmed();
    victim.signal('SIGCONT');
    await sleep(SETTLE_MS);
    assert.ok(!fatal.get(victim)?.includes('has taken its state over'), 'a start that failed has replaced the first');
  },
};

const WAYS = wire === undefined ? here : cuts({ wire, members, awayUntilTrimmed });

/** The ways of all rounds: the first way first, then each once in random order, and so on. */
function* ways(): Generator<string> {
  const names = Object.keys(WAYS).filter((name) => name.includes(values.way));
  assert.ok(names.length > 0, `no way is called ${values.way}`);
  const [first, ...others] = names;
  yield* [first!, ...random.shuffled(others)];
  for (;;) yield* random.shuffled(names);
}

async function judge(load: FenceLoad): Promise<string> {
  for (const member of members) if (!member.running) await startAgain(member);
  await Promise.all(endpoints.map((endpoint) => readsAt(endpoint, START_MAX_MS)));
  const lost = (await Promise.all(endpoints.map((endpoint) => load.lostAt(endpoint)))).flat();
  const { hashes, revision } = await hashesAt(endpoints);
  total.writes += load.acknowledged.length;
  total.unknown += load.unknown;
  total.reads += load.reads;
  total.lost += lost.length;
  total.stale += load.stale.length;
  const equal = new Set(hashes).size === 1;
  if (!equal) total.unequal += 1;
  const found = [
    ...lost.slice(0, 5),
    ...load.stale.slice(0, 5),
    ...(equal ? [] : [`hashes at ${revision}: ${hashes}`]),
  ];
  assert.ok(found.length === 0, `${lost.length} writes lost, ${load.stale.length} reads stale: ${found.join('; ')}`);
  return `${load.acknowledged.length} writes, ${load.unknown} unknown, ${load.reads} reads, hash ${hashes[0]} at ${revision}`;
}

const way = ways();
for (let round = 1; round <= rounds && checks.failed === 0; round += 1) {
  const name = String(way.next().value);
  await checks.check(`round ${round}: ${name}`, async () => {
    const startMs = performance.now();
    const before = { trims, unnamed: total.unnamed };
    settled = [];
    const load = new FenceLoad(round, endpoints, random);
    await load.until(100, WRITES_MAX_MS);
    try {
      await WAYS[name]!(await leader());
      await load.until(100, WRITES_MAX_MS);
      await sleep(SETTLE_MS);
    } finally {
      for (const member of members) member.signal('SIGCONT');
      await load.stop();
    }
    const judged = await judge(load);
    assert.equal(total.unnamed, before.unnamed, 'a member has ended without a reason');
    await deleteOnce((await leader()).endpoint);
    const appends = settled.length === 0 ? 'no append' : settled.join();
    return `${judged}, ${trims - before.trims} trims, ${appends} settled, ${((performance.now() - startMs) / 1000).toFixed(1)} s`;
  });
}

for (const member of members) await member.stop().catch(() => undefined);
await lab[Symbol.asyncDispose]();
wire?.[Symbol.dispose]();
console.log(`${JSON.stringify(total)}, ${trims} trims, ${endings.length} processes ended by themselves`);
console.log(`e2e-cluster-fence: ${checks.passed} rounds, ${checks.failed} failed`);
process.exit(checks.failed === 0 ? 0 : 1);
