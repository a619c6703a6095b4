/**
 * Moves a real etcd under load into an engram, and back. See README.md.
 *
 *   main.ts <folder> <etcd> <etcdctl> <etcdutl> [--seed N]
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Prng } from '@engram/sim';
import { newStorePlace, type StorePlace, StoreProcess } from '../../test/support/store-process.ts';
import { fill, REVOCABLE_LEASE, revisionOf } from '../snapshot/fill.ts';
import { judgeArguments } from '../snapshot/tools.ts';
import { endOnSignals } from '../support/end-on-signals.ts';
import { equal, Judge } from '../support/judge.ts';
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

/** More than a deletion of a range may delete here. */
const TXN_OPS = ['--max-txn-ops=100000'];

const { folder, etcd, tools, seed } = judgeArguments();
const judge = new Judge('migrate');
endOnSignals();
console.log(`--seed ${seed}`);

const source = await StoreProcess.start(await newStorePlace(join(folder, 'etcd')), { command: [etcd] });
const place: StorePlace = await newStorePlace(join(folder, 'engram'));
const migrating = (): Promise<StoreProcess> =>
  StoreProcess.start(place, { command: [engram, 'migrate'], flags: [`--from=${source.endpoint}`] });
const cutOver = (): Promise<string> => command('cut-over', `--data-dir=${place.dataDir}`);
let moved: StoreProcess | undefined;
let compacted = 0;

await judge.check('an etcd under load is followed, also across kills and restarts of both', async () => {
  using client = clientOf(source);
  ({ compacted } = await fill(client, new Prng(seed)));
  const writer = new Writer(source, new Prng(seed + 1));
  let node = await migrating();
  equal('readyz', (await readyz(node)).includes('[-]migration failed: follows an etcd'), true);
  await node.kill();
  const refused = await refusalOf(StoreProcess.start(place, { command: [engram] }));
  equal('a start without the command', refused.includes('takes no writes: start it with engram migrate'), true);
  node = await migrating();
  await client.leaseRevoke({ ID: REVOCABLE_LEASE });
  await client.leaseGrant({ ID: 4321n, TTL: 1234 });
  await client.put({ key: Buffer.from('leased late'), lease: 4321n });
  await client.leaseGrant({ ID: 4322n, TTL: 2345 });
  using reader = clientOf(node);
  const write = await refusalOf(reader.put({ key: Buffer.from('mine') }));
  equal('a write', write.includes('follows an etcd and takes no writes before the cut-over'), true);
  process.kill(source.pid, 'SIGSTOP');
  const silent = await refusalOf(cutOver());
  process.kill(source.pid, 'SIGCONT');
  equal(`a cut-over from a silent etcd: ${silent}`, SAYS_SILENT.test(silent), true);
  await writer.end();
  await caughtUp(async () => node, await revisionNow(source));
  await compareAll('before the cut-over', node, source, compacted);
  moved = node;
});

await judge.check('the cut-over: the same store, whose next write has the next revision', async () => {
  if (moved === undefined) throw new Error('there is no store');
  const newest = await revisionNow(source);
  equal('what it says', await cutOver(), `cut over at revision ${newest}: the store takes writes\n`);
  await compareAll('after the cut-over', moved, source, compacted);
  await source.stop();
  using client = clientOf(moved);
  equal('the next revision', revisionOf((await client.put({ key: Buffer.from('mine') })).header), newest + 1);
  equal('readyz', (await readyz(moved)).endsWith('ok\n'), true);
  await moved.stop();
  moved = await StoreProcess.start(place, { command: [engram] });
  using again = clientOf(moved);
  equal('after a restart', revisionOf((await again.put({ key: Buffer.from('mine') })).header), newest + 2);
});

await judge.check('back: an etcd restored from a snapshot follows the engram, also across a kill', async () => {
  if (moved === undefined) throw new Error('there is no store');
  const file = join(folder, 'back.db');
  await tools.save(moved.endpoint, file);
  const backPlace = await newStorePlace(join(folder, 'back'));
  await tools.restore(file, backPlace.dataDir, `http://127.0.0.1:${backPlace.peerPort}`);
  await using back = await StoreProcess.start(backPlace, { command: [etcd], flags: TXN_OPS });
  const writer = new Writer(moved, new Prng(seed + 2));
  const mirror = [`--from=${moved.endpoint}`, `--to=${back.endpoint}`];
  const begin = await revisionNow(back);
  const first = spawn(engram, ['mirror', ...mirror], { stdio: 'ignore' });
  const ended = once(first, 'exit');
  while ((await revisionNow(back)) < begin + 20) await sleep(20);
  first.kill('SIGKILL');
  await ended;
  await writer.end();
  const said = await command('mirror', ...mirror, '--until-equal');
  equal('what it says', said, `equal at revision ${await revisionNow(moved)}\n`);
  await compareAll('back', back, moved, compacted);
  using foreign = clientOf(back);
  await foreign.put({ key: Buffer.from('foreign') });
  using client = clientOf(moved);
  await client.put({ key: Buffer.from('own') });
  const refused = await refusalOf(command('mirror', ...mirror, '--until-equal'));
  equal('a foreign write', refused.includes('here is not that of the source: the key \\"own\\"'), true);
});

await moved?.kill();
await source.kill();
judge.end();
process.exit();
