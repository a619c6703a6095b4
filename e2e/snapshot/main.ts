/**
 * Checks snapshots of the store with etcd's own tools, and with an etcd that starts from them. See README.md.
 *
 *   main.ts <folder> <etcd> <etcdctl> <etcdutl> [--seed N]
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Prng } from '@engram/sim';
import { ALL_KEYS, EtcdClient } from '../../test/support/etcd-client.ts';
import { newStorePlace, StoreProcess } from '../../test/support/store-process.ts';
import { endOnSignals } from '../support/end-on-signals.ts';
import { equal, Judge } from '../support/judge.ts';
import { stillHeld } from '../support/nothing-held.ts';
import { churn, fill, REVOCABLE_LEASE, revisionOf } from './fill.ts';
import { boundary, history, keysAt, leases, type Picture, same } from './picture.ts';
import { judgeArguments } from './tools.ts';

const HASH_BYTES = 32;
const BUMP = 1_000_000_000;
const DEADLINE_MS = 60_000;

const { folder, etcd, tools, seed } = judgeArguments();
const prng = new Prng(seed);
const file = (name: string): string => join(folder, `${name}.db`);
const judge = new Judge('snapshot');

endOnSignals();

/** Starts a real etcd on a restored snapshot. */
async function startRestored(name: string, flags: readonly string[] = []): Promise<StoreProcess> {
  const place = await newStorePlace(join(folder, `restored-${name}-${flags.length}`));
  await tools.restore(file(name), place.dataDir, `http://127.0.0.1:${place.peerPort}`, flags);
  return StoreProcess.start(place, { command: [etcd] });
}

async function checkFile(name: string, revision: number, keys: number): Promise<void> {
  const bytes = await readFile(file(name));
  equal('bytes beyond 512', bytes.length % 512, HASH_BYTES);
  const data = bytes.subarray(0, -HASH_BYTES);
  equal('SHA-256', bytes.subarray(-HASH_BYTES).toString('hex'), createHash('sha256').update(data).digest('hex'));
  const status = await tools.status(file(name));
  equal('revision', status.revision, revision);
  equal('keys', status.totalKey, keys);
  equal('bytes', status.totalSize, data.length);
  equal('version', status.version, '3.7.0');
}

const countOf = async (client: EtcdClient, revision = 0): Promise<number> =>
  (await client.range({ ...ALL_KEYS, revision, countOnly: true })).count;
const revisionNow = async (client: EtcdClient): Promise<number> =>
  revisionOf((await client.range({ ...ALL_KEYS, countOnly: true })).header);

async function compare(): Promise<void> {
  console.log(`--seed ${seed}`);
  const store = await StoreProcess.start(await newStorePlace(join(folder, 'data')));
  const client = new EtcdClient(store.endpoint, { deadlineMs: DEADLINE_MS });

  await judge.check('of an empty store', async () => {
    await tools.save(store.endpoint, file('empty'));
    await using restored = await startRestored('empty');
    using reader = new EtcdClient(restored.endpoint);
    equal('revision', await revisionNow(reader), 1);
    equal('keys', await countOf(reader), 0);
    equal('the first write', revisionOf((await reader.put({ key: Buffer.from('a') })).header), 2);
  });

  const filled = await fill(client, prng);
  const newest = filled.readable.at(-1) ?? 0;
  const keys = await countOf(client);
  console.log(`${keys} keys at revision ${newest}, compacted at ${filled.compacted}`);

  await judge.check('of a full store is a whole file, and a sound one for etcdutl', async () => {
    await tools.save(store.endpoint, file('full'));
    await checkFile('full', newest, keys);
  });

  const pictures: Record<string, (of: EtcdClient) => Promise<Picture>> = {
    'keys, at the newest revision': (of) => keysAt(of, 0),
    'what is compacted': (of) => boundary(of, filled.compacted),
    'every event that is not': (of) => history(of, filled.compacted, newest),
    leases,
  };
  for (const at of filled.readable) pictures[`keys, at revision ${at}`] = (of) => keysAt(of, at);

  const restored = await startRestored('full');
  const reader = new EtcdClient(restored.endpoint, { deadlineMs: DEADLINE_MS });
  for (const [what, picture] of Object.entries(pictures)) {
    await judge.check(`an etcd restored from it has the same: ${what}`, async () => {
      same(what, await picture(reader), await picture(client));
    });
  }

  await judge.check('the restored etcd goes on where the store was', async () => {
    const revoked = await reader.leaseRevoke({ ID: REVOCABLE_LEASE });
    equal('a revoked lease', revisionOf(revoked.header), newest + 1);
    const gone = await reader.range({ key: Buffer.from('leased/99/'), rangeEnd: Buffer.from('leased/99/~') });
    equal('its keys', gone.count, 0);
    const written = await churn(reader, new Prng(1), 400);
    await reader.compact({ revision: written, physical: true });
    await tools.defragment(restored.endpoint);
    const before = await keysAt(reader, 0);
    await restored.stop();
    await tools.status(join(restored.place.dataDir, 'member/snap/db'));
    await using again = await StoreProcess.start(restored.place, { command: [etcd] });
    using later = new EtcdClient(again.endpoint, { deadlineMs: DEADLINE_MS });
    same('after a compaction, a defragmentation and a restart', await keysAt(later, 0), before);
  });
  reader.close();

  await judge.check('restored with its revision raised, as below Kubernetes', async () => {
    await using raised = await startRestored('full', [`--bump-revision=${BUMP}`, '--mark-compacted']);
    using later = new EtcdClient(raised.endpoint, { deadlineMs: DEADLINE_MS });
    equal('revision', await revisionNow(later), newest + BUMP);
    same('keys', await keysAt(later, 0), await keysAt(client, 0));
    const refused = await later.range({ ...ALL_KEYS, revision: newest }).then(
      () => 'readable',
      (error: unknown) => String(error),
    );
    equal('an older revision is compacted', refused.includes('required revision has been compacted'), true);
  });

  await judge.check('taken while others write: of one revision, and nothing missing in it', async () => {
    const lowest = await revisionNow(client);
    let saving = true;
    const saved = tools.save(store.endpoint, file('moving')).finally(() => {
      saving = false;
    });
    while (saving) await churn(client, prng, 20);
    await saved;
    const { revision } = await tools.status(file('moving'));
    const highest = await revisionNow(client);
    console.log(`of revision ${revision}, with others writing from ${lowest} to ${highest}`);
    if (revision < lowest || revision >= highest) throw new Error('not taken while others wrote');
    await checkFile('moving', revision, await countOf(client, revision));
    await using moved = await startRestored('moving');
    using later = new EtcdClient(moved.endpoint, { deadlineMs: DEADLINE_MS });
    equal('revision', await revisionNow(later), revision);
    same('keys', await keysAt(later, 0), await keysAt(client, revision));
    const events = (of: EtcdClient) => history(of, filled.compacted, revision);
    same('events', await events(later), await events(client));
  });

  await judge.check('nothing is held for calls that have ended', async () => {
    equal('held', (await stillHeld(store.endpoint)).join(', '), '');
  });

  await judge.check('the same after the store was killed and started again', async () => {
    const before = await tools.status(file('full'));
    const revision = await revisionNow(client);
    client.close();
    await store.kill();
    await using again = await StoreProcess.start(store.place);
    using later = new EtcdClient(again.endpoint, { deadlineMs: DEADLINE_MS });
    await tools.save(again.endpoint, file('again'));
    await checkFile('again', revision, await countOf(later));
    if (before.revision > revision) throw new Error('the store went back');
    await using backup = await startRestored('again');
    using of = new EtcdClient(backup.endpoint, { deadlineMs: DEADLINE_MS });
    same('keys', await keysAt(of, 0), await keysAt(later, 0));
    same('events', await history(of, filled.compacted, revision), await history(later, filled.compacted, revision));
  });
}

await judge.run(compare);
