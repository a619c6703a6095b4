/**
 * Restores a snapshot of a real etcd into a prefix of TiKV, starts three members on it, and compares. See README.md.
 *
 *   cluster.ts <folder> <etcd> <etcdctl> <etcdutl> [--seed N]
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Prng, realClock } from '@engram/sim';
import { LogKeys } from '@engram/storage-tikv';
import { TikvClient } from '@engram/tikv-client';
import { EtcdClient } from '../../test/support/etcd-client.ts';
import { newStorePlace, StoreProcess } from '../../test/support/store-process.ts';
import { type ClusterPlace, freePlaces, MemberProcess } from '../cluster/cluster-member.ts';
import { churn, fill, revisionOf } from '../snapshot/fill.ts';
import { boundary, history, keysAt, leases, type Picture, same } from '../snapshot/picture.ts';
import { judgeArguments } from '../snapshot/tools.ts';
import { endOnSignals } from '../support/end-on-signals.ts';
import { equal, Judge } from '../support/judge.ts';
import { Lab } from '../tikv/lab.ts';

const DEADLINE_MS = 60_000;
const RESTORE_MAX_MS = 60_000;
const KILLS_MAX = 5;
const engram = join(import.meta.dirname, '../../packages/server/bin/engram');

const { folder, etcd, tools, seed } = judgeArguments();
const judge = new Judge('restore, of a cluster');
const snapshot = join(folder, 'full.db');
endOnSignals();
console.log(`--seed ${seed}`);

/** What is in the etcd, by name. */
async function pictures(client: EtcdClient): Promise<Record<string, (of: EtcdClient) => Promise<Picture>>> {
  const filled = await fill(client, new Prng(seed));
  const newest = filled.readable.at(-1) ?? 0;
  return {
    'keys, at the newest revision': (of) => keysAt(of, 0),
    'what is compacted': (of) => boundary(of, filled.compacted),
    'every event that is not': (of) => history(of, filled.compacted, newest),
    leases,
    ...Object.fromEntries(filled.readable.map((at) => [`keys, at revision ${at}`, (of: EtcdClient) => keysAt(of, at)])),
  };
}

await using lab = await Lab.startReplicated(join(folder, 'lab'), { strict: false });
const placeOf = async (prefix: string): Promise<ClusterPlace> => ({
  pd: lab.pdAddresses,
  prefix,
  members: await freePlaces(join(folder, prefix)),
});
const argsOf = ({ pd, prefix, members }: ClusterPlace, more: readonly string[] = []): readonly string[] => [
  'restore',
  snapshot,
  '--storage=tikv',
  `--tikv-pd-endpoints=${pd.join()}`,
  `--tikv-prefix=${prefix}`,
  `--data-dir=${join(folder, `${prefix}-copy`)}`,
  `--initial-cluster=${members.map(({ name, peerPort }) => `${name}=http://127.0.0.1:${peerPort}`).join()}`,
  ...more,
];

/** What `engram restore` prints. Rejects with its output if it refuses. */
async function restore(place: ClusterPlace, more: readonly string[] = []): Promise<string> {
  const options = { timeout: RESTORE_MAX_MS, killSignal: 'SIGKILL' as const };
  return (await promisify(execFile)(engram, argsOf(place, more), options)).stdout;
}

const refusalOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'taken',
    (error: unknown) => String(error),
  );

await using source = await StoreProcess.start(await newStorePlace(join(folder, 'etcd')), { command: [etcd] });
using filler = new EtcdClient(source.endpoint, { deadlineMs: DEADLINE_MS });
const all = await pictures(filler);
const wanted = new Map<string, Picture>();
for (const [what, picture] of Object.entries(all)) wanted.set(what, await picture(filler));
await tools.save(source.endpoint, snapshot);

/** Starts the members, compares each with the etcd and with the others, and lets the store go on. */
async function serves(place: ClusterPlace): Promise<void> {
  const members = place.members.map((member) => new MemberProcess(place, member));
  for (const member of members) member.start();
  try {
    await Promise.all(members.map((member) => member.ready()));
    for (const { endpoint } of members) {
      using reader = new EtcdClient(endpoint, { deadlineMs: DEADLINE_MS });
      for (const [what, picture] of Object.entries(all)) same(what, await picture(reader), wanted.get(what)!);
    }
    using writer = new EtcdClient(members[0]!.endpoint, { deadlineMs: DEADLINE_MS });
    await churn(writer, new Prng(1), 50);
    const revision = revisionOf((await writer.put({ key: Buffer.from('behind') })).header);
    const hashes = new Set<string>();
    for (const { endpoint } of members) {
      using reader = new EtcdClient(endpoint, { deadlineMs: DEADLINE_MS });
      await reader.range({ key: Buffer.from('behind') });
      const { hash, hashRevision } = await reader.hashKv({ revision });
      hashes.add(`${hash} at ${hashRevision}`);
    }
    equal('hashes of the members', hashes.size, 1);
  } finally {
    for (const member of members) await member.stop();
  }
}

await judge.check(
  'three members on a restored prefix: the store of the etcd, equal on all, and it goes on',
  async () => {
    const place = await placeOf('whole');
    const report = await restore(place);
    equal('report', /into the prefix "whole" of TiKV, for a, b, c\n/.test(report), true);
    await serves(place);
    const again = await refusalOf(restore(place, ['--discard-unfinished']));
    equal('again on the same prefix', again.includes('is not empty: a cluster, or something else, has it'), true);
  },
);

await judge.check('a restore that is killed leaves nothing that a member starts on, and can be repeated', async () => {
  for (let at = 1; at <= KILLS_MAX; at += 1) {
    const place = await placeOf(`killed-${at}`);
    const child = spawn(engram, argsOf(place), { stdio: 'ignore' });
    const ended = once(child, 'exit');
    await begun(place);
    child.kill('SIGKILL');
    await ended;
    const copy = `--data-dir=${join(folder, `again-${at}`)}`;
    const refused = await refusalOf(restore(place, [copy]));
    // It was done before the kill.
    if (refused.includes('is not empty')) continue;
    equal('what it says', refused.includes('--discard-unfinished'), true);
    const member = new MemberProcess(place, place.members[0]!);
    member.start();
    equal('what a member says', (await refusalOf(member.ready())).includes('--discard-unfinished'), true);
    await restore(place, [copy, '--discard-unfinished']);
    await serves(place);
    return;
  }
  throw new Error(`${KILLS_MAX} restores were done before they were killed`);
});

/** Resolves when the restore has put its mark. */
async function begun({ pd, prefix }: ClusterPlace): Promise<void> {
  await using client = await TikvClient.connect({ pdAddresses: pd, clock: realClock, random: new Prng(1) });
  const { root } = new LogKeys(prefix);
  const untilMs = performance.now() + RESTORE_MAX_MS;
  while ((await client.get(root)) === undefined) {
    if (performance.now() > untilMs) throw new Error('the restore does not begin');
  }
}

judge.end();
process.exit();
