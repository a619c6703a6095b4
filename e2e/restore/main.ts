/**
 * Restores databases of a real etcd into an engram, and compares the two. See README.md.
 *
 *   main.ts <folder> <etcd> <etcdctl> <etcdutl> [--seed N]
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Prng } from '@engram/sim';
import { ALL_KEYS, EtcdClient } from '../../test/support/etcd-client.ts';
import { newStorePlace, StoreProcess } from '../../test/support/store-process.ts';
import { endOnSignals } from '../support/end-on-signals.ts';
import { equal, Judge } from '../support/judge.ts';
import { stillHeld } from '../support/nothing-held.ts';
import { churn, fill, revisionOf } from '../snapshot/fill.ts';
import { boundary, history, keysAt, leases, type Picture, same } from '../snapshot/picture.ts';
import { judgeArguments } from '../snapshot/tools.ts';

const BUMP = 1_000_000_000;
const DEADLINE_MS = 60_000;
const RESTORE_MAX_MS = 60_000;
const engram = join(import.meta.dirname, '../../packages/server/bin/engram');

const { folder, etcd, tools, seed } = judgeArguments();
const file = (name: string): string => join(folder, `${name}.db`);
const judge = new Judge('restore');

endOnSignals();

const clientOf = (store: StoreProcess): EtcdClient => new EtcdClient(store.endpoint, { deadlineMs: DEADLINE_MS });

const start = async (name: string, command: string): Promise<StoreProcess> =>
  StoreProcess.start(await newStorePlace(join(folder, name)), { command: [command] });

/** What `engram restore` prints: name and value of each line. Rejects with its output if it refuses. */
async function restore(
  from: string,
  name: string,
  flags: readonly string[] = [],
): Promise<ReadonlyMap<string, string>> {
  const args = ['restore', from, '--data-dir', join(folder, name), ...flags];
  const { stdout } = await promisify(execFile)(engram, args, { timeout: RESTORE_MAX_MS, killSignal: 'SIGKILL' });
  return new Map([...stdout.matchAll(/^([a-z ]+): +(.*)$/gm)].map(([, line, value]) => [line!, value!]));
}

async function startRestored(name: string, from: string, flags: readonly string[] = []): Promise<StoreProcess> {
  await restore(from, name, flags);
  return start(name, engram);
}

const revisionNow = async (client: EtcdClient): Promise<number> =>
  revisionOf((await client.range({ ...ALL_KEYS, countOnly: true })).header);

async function compare(): Promise<void> {
  console.log(`--seed ${seed}`);
  const source = await start('etcd', etcd);
  const client = clientOf(source);
  await tools.save(source.endpoint, file('empty'));
  await judge.check('of an empty etcd: an empty engram', async () => {
    await using restored = await startRestored('of-empty', file('empty'));
    using reader = clientOf(restored);
    equal('revision', await revisionNow(reader), 1);
    equal('the first write', revisionOf((await reader.put({ key: Buffer.from('a') })).header), 2);
  });

  const filled = await fill(client, new Prng(seed));
  const newest = filled.readable.at(-1) ?? 0;
  const pictures: Record<string, (of: EtcdClient) => Promise<Picture>> = {
    'keys, at the newest revision': (of) => keysAt(of, 0),
    'what is compacted': (of) => boundary(of, filled.compacted),
    'every event that is not': (of) => history(of, filled.compacted, newest),
    leases,
  };
  for (const at of filled.readable) pictures[`keys, at revision ${at}`] = (of) => keysAt(of, at);
  const wanted = new Map<string, Picture>();
  for (const [what, picture] of Object.entries(pictures)) wanted.set(what, await picture(client));
  const isTheSame = async (store: StoreProcess): Promise<void> => {
    using reader = clientOf(store);
    for (const [what, picture] of Object.entries(pictures)) same(what, await picture(reader), wanted.get(what)!);
  };

  await tools.save(source.endpoint, file('full'));
  await judge.check(
    'a snapshot: the hash, the revision, the keys and the size are those that etcdutl shows',
    async () => {
      const report = await restore(file('full'), 'report');
      const status = await tools.status(file('full'));
      equal('hash', Number.parseInt(report.get('hash') ?? '', 16), status.hash);
      equal('revision', Number(report.get('revision')), status.revision);
      equal('keys', Number(report.get('total keys')), status.totalKey);
      equal('size', Number(report.get('total size')), status.totalSize);
      equal('version', report.get('storage version'), status.version);
    },
  );

  await judge.check('a snapshot: the same store, which goes on, also after a restart and back in an etcd', async () => {
    const restored = await startRestored('of-snapshot', file('full'));
    await isTheSame(restored);
    using reader = clientOf(restored);
    const written = await churn(reader, new Prng(1), 300);
    await reader.compact({ revision: written, physical: true });
    const after = await keysAt(reader, 0);
    await restored.stop();
    await using again = await StoreProcess.start(restored.place, { command: [engram] });
    using later = clientOf(again);
    same('after a restart', await keysAt(later, 0), after);
    equal('held for calls that have ended', (await stillHeld(again.endpoint)).join(', '), '');
    await tools.save(again.endpoint, file('back'));
    const place = await newStorePlace(join(folder, 'back'));
    await tools.restore(file('back'), place.dataDir, `http://127.0.0.1:${place.peerPort}`);
    await using back = await StoreProcess.start(place, { command: [etcd] });
    using last = clientOf(back);
    same('in an etcd again', await keysAt(last, 0), after);
  });

  await judge.check('raised by engram: the store that etcdutl and an etcd make of it', async () => {
    const flags = [`--bump-revision=${BUMP}`, '--mark-compacted'];
    await using ours = await startRestored('raised', file('full'), flags);
    const place = await newStorePlace(join(folder, 'raised-etcd'));
    await tools.restore(file('full'), place.dataDir, `http://127.0.0.1:${place.peerPort}`, flags);
    await using theirs = await StoreProcess.start(place, { command: [etcd] });
    using reader = clientOf(ours);
    using other = clientOf(theirs);
    equal('revision', await revisionNow(reader), newest + BUMP);
    const bounds = (of: EtcdClient): Promise<Picture> => boundary(of, newest + BUMP);
    for (const picture of [bounds, leases, (of: EtcdClient) => keysAt(of, 0)]) {
      same('raised', await picture(reader), await picture(other));
    }
    await churn(other, new Prng(2), 50);
    const raised = await keysAt(other, 0);
    await tools.save(theirs.endpoint, file('raised'));
    await using again = await startRestored('of-raised', file('raised'));
    using last = clientOf(again);
    same('from an etcd that was raised', await keysAt(last, 0), raised);
  });

  await judge.check('the database of its data directory: the same store', async () => {
    client.close();
    await source.stop();
    const database = join(folder, 'etcd/member/snap/db');
    const refused = await restore(database, 'of-data').then(
      () => 'taken',
      (error: unknown) => String(error),
    );
    equal('without --skip-hash-check', refused.includes('snapshot missing hash but --skip-hash-check=false'), true);
    await using restored = await startRestored('of-data', database, ['--skip-hash-check']);
    await isTheSame(restored);
  });

  await judge.check('an etcd with users: with them, and without them', async () => {
    await using guarded = await StoreProcess.start(source.place, { command: [etcd] });
    for (const args of [
      ['user', 'add', 'root:x'],
      ['user', 'grant-role', 'root', 'root'],
      ['auth', 'enable'],
    ]) {
      await tools.control(guarded.endpoint, args);
    }
    await tools.control(guarded.endpoint, ['--user=root:x', 'snapshot', 'save', file('guarded')]);
    await using kept = await startRestored('guarded', file('guarded'));
    const refused = await tools.control(kept.endpoint, ['get', 'a']).then(
      () => 'taken',
      (error: unknown) => String(error),
    );
    equal('without a user', refused.includes('user name is empty'), true);
    await tools.control(kept.endpoint, ['--user=root:x', 'get', 'a']);
    await using restored = await startRestored('unguarded', file('guarded'), ['--drop-auth']);
    await isTheSame(restored);
  });
}

await judge.run(compare);
