/**
 * Moves a real etcd under load into a prefix of TiKV, with three members. See README.md.
 *
 *   cluster.ts <folder> <etcd> <etcdctl> <etcdutl> [--seed N]
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Prng, realClock } from '@engram/sim';
import { LogKeys, newestRoot } from '@engram/storage-tikv';
import { TikvClient } from '@engram/tikv-client';
import { newStorePlace, StoreProcess } from '../../test/support/store-process.ts';
import { type ClusterPlace, freePlaces, leaderAmong, MemberProcess } from '../cluster/cluster-member.ts';
import { fill, REVOCABLE_LEASE, revisionOf } from '../snapshot/fill.ts';
import { judgeArguments } from '../snapshot/tools.ts';
import { endOnSignals } from '../support/end-on-signals.ts';
import { equal, Judge } from '../support/judge.ts';
import { Lab } from '../tikv/lab.ts';
import {
  caughtUp,
  clientOf,
  command,
  compareAll,
  engram,
  readyz,
  refusalOf,
  revisionNow,
  SAYS_SILENT,
  Writer,
} from './moving.ts';

const ROUNDS = 5;
const FOUNDINGS = 4;
const FOUNDED_MAX_MS = 120_000;
const SEEN_MAX_MS = 30_000;
const REFUSED_MAX_MS = 60_000;
/** Each of a minute. */
const STARTS_MAX = 3;
const REFUSED = 'follows an etcd and takes no writes before the cut-over';

const { folder, etcd, seed } = judgeArguments();
const judge = new Judge('migrate, to a cluster');
const prng = new Prng(seed);
endOnSignals();
console.log(`--seed ${seed}`);

await using lab = await Lab.startReplicated(join(folder, 'lab'), { strict: false });
const place: ClusterPlace = { pd: lab.pdAddresses, prefix: 'moved', members: await freePlaces(join(folder, 'moved')) };
const members = place.members.map((member) => new MemberProcess(place, member));
await using source = await StoreProcess.start(await newStorePlace(join(folder, 'etcd')), { command: [etcd] });
using loader = clientOf(source);
const { compacted } = await fill(loader, new Prng(seed));
/** So that a busy machine can follow. */
const writer = new Writer(source, new Prng(seed + 1), 100);

const migrate = (member: MemberProcess, ...flags: readonly string[]): void =>
  member.start(engram, 'migrate', `--from=${source.endpoint}`, ...flags);
/** A member on a busy machine takes long to start. */
async function serves(member: MemberProcess): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await member.ready();
    } catch (error) {
      if (!member.running || tries === STARTS_MAX) throw error;
    }
  }
}
const leader = (): Promise<MemberProcess> => leaderAmong(members);
const others = async (): Promise<readonly MemberProcess[]> => {
  const leads = await leader();
  return members.filter((member) => member !== leads);
};
const cutOver = (member: MemberProcess): Promise<string> => command('cut-over', `--data-dir=${member.place.dataDir}`);
const write = async (member: MemberProcess): Promise<number> => {
  using client = clientOf(member);
  return revisionOf((await client.put({ key: Buffer.from('mine') })).header);
};

/** While the leader changes, it refuses for other reasons. */
const refuses = (member: MemberProcess): Promise<void> =>
  until(`a write at ${member.place.name} is refused`, REFUSED_MAX_MS, async () => {
    const refused = await refusalOf(write(member));
    if (refused === 'taken') throw new Error(`${member.place.name} takes a write`);
    return refused.includes(REFUSED);
  });

/** How a store is founded: 'missing', 'unfinished', or 'founded'. */
async function founding(): Promise<string> {
  await using client = await TikvClient.connect({ pdAddresses: place.pd, clock: realClock, random: new Prng(1) });
  const { signal } = new AbortController();
  const root = await newestRoot({ client, keys: new LogKeys(place.prefix), signal, timeoutMs: FOUNDED_MAX_MS });
  return typeof root === 'string' ? root : 'founded';
}

function says(what: string, text: string, part: string): void {
  if (!text.includes(part)) throw new Error(`${what}: no ${JSON.stringify(part)} in ${text}`);
}

async function until(what: string, maxMs: number, holds: () => Promise<boolean>): Promise<void> {
  const untilMs = performance.now() + maxMs;
  while (!(await holds())) {
    if (performance.now() > untilMs) throw new Error(`${what}: not in time`);
    await sleep(20);
  }
}

await judge.check(
  'a founding that is killed goes on with the same command, and others are refused by name',
  async () => {
    const [first, second] = members as [MemberProcess, MemberProcess];
    for (let attempt = 0; attempt < FOUNDINGS; attempt += 1) {
      migrate(first);
      await sleep(prng.below(1500));
      await first.kill();
    }
    migrate(first);
    await until('a founding has begun', FOUNDED_MAX_MS, async () => (await founding()) !== 'missing');
    await first.kill();
    if ((await founding()) === 'unfinished') {
      migrate(second);
      const refused = await refusalOf(serves(second));
      says('another member while it is half founded', refused, 'with --discard-unfinished');
    }
    migrate(first);
    await until('the store is founded', FOUNDED_MAX_MS, async () => (await founding()) === 'founded');
    for (const member of members) if (!member.running) migrate(member);
    await Promise.all(members.map(serves));
  },
);

await judge.check('an etcd under load is followed by whoever leads, across kills and pauses of all', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const member of members) await refuses(member);
    const victim = round % 2 === 0 ? await leader() : members[prng.below(members.length)]!;
    const isPaused = round % 3 === 2;
    console.log(`  ${victim.place.name} is ${isPaused ? 'paused' : 'killed'}`);
    if (isPaused) victim.signal('SIGSTOP');
    else await victim.kill();
    await sleep(prng.below(4000));
    if (isPaused) victim.signal('SIGCONT');
    else migrate(victim);
    await serves(victim);
    await sleep(prng.below(1500));
  }
  await loader.leaseRevoke({ ID: REVOCABLE_LEASE });
  await loader.leaseGrant({ ID: 4321n, TTL: 1234 });
  await loader.put({ key: Buffer.from('leased late'), lease: 4321n });
  await loader.leaseGrant({ ID: 4322n, TTL: 2345 });
});

await judge.check('a start without the command is refused by name, and readyz says who follows', async () => {
  const [stopped, other] = (await others()) as [MemberProcess, MemberProcess];
  await stopped.stop();
  stopped.start();
  const refused = await refusalOf(serves(stopped));
  says('what it says', refused, 'takes no writes: start its members with engram migrate');
  migrate(stopped);
  await serves(stopped);
  equal('readyz', /\[-\]migration failed: follows an etcd: the leader [\da-f]+ does/.test(await readyz(other)), true);
});

await judge.check('before the cut-over every revision is equal at every member', async () => {
  await writer.end();
  await caughtUp(leader, await revisionNow(source));
  for (const member of members) await compareAll(`at ${member.place.name}`, member, source, compacted);
});

await judge.check('the cut-over is refused where nobody follows, and while the etcd is silent', async () => {
  const [other] = await others();
  const elsewhere = await refusalOf(cutOver(other!));
  says('at another member', elsewhere, 'this member does not follow the etcd');
  process.kill(source.pid, 'SIGSTOP');
  const silent = await refusalOf(cutOver(await leader()));
  process.kill(source.pid, 'SIGCONT');
  equal(`from a silent etcd: ${silent}`, SAYS_SILENT.test(silent), true);
});

await judge.check('the cut-over: the same store, and every member takes writes with the next revisions', async () => {
  const newest = await revisionNow(source);
  await caughtUp(leader, newest);
  const leads = await leader();
  equal('what it says', await cutOver(leads), `cut over at revision ${newest}: the store takes writes\n`);
  for (const member of members) await compareAll(`at ${member.place.name}`, member, source, compacted);
  await source.stop();
  let next = newest;
  for (const member of members) {
    next += 1;
    equal(`the next revision, at ${member.place.name}`, await write(member), next);
    const isReady = async (): Promise<boolean> => (await readyz(member)).endsWith('ok\n');
    await until(`${member.place.name} is ready`, SEEN_MAX_MS, isReady);
  }
  const again = await refusalOf(cutOver(leads));
  equal('once more', again, 'taken');
  for (const member of members) {
    await member.stop();
    member.start();
    await serves(member);
  }
  const hashes = new Set<string>();
  for (const member of members) {
    next += 1;
    equal(`after a restart, at ${member.place.name}`, await write(member), next);
  }
  for (const member of members) {
    using client = clientOf(member);
    await client.range({ key: Buffer.from('mine') });
    const { hash, hashRevision } = await client.hashKv({ revision: next });
    hashes.add(`${hash} at ${hashRevision}`);
  }
  equal('hashes of the members', hashes.size, 1);
  const late = members[0]!;
  await late.stop();
  migrate(late);
  const refused = await refusalOf(serves(late));
  says('the command behind the cut-over', refused, 'follows no etcd: start its members without');
});

for (const member of members) await member.kill();
judge.end();
process.exit();
