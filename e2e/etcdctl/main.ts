/**
 * Runs every command of etcdctl and etcdutl on a real etcd and on the store, and compares. See README.md.
 *
 *   main.ts <folder> <etcd> <etcdctl> <etcdutl> [lone]
 */
import { join } from 'node:path';
import { storeCommand } from '../../test/support/store-process.ts';
import { stillHeld } from '../support/nothing-held.ts';
import { Lab } from '../tikv/lab.ts';
import { authCalls } from './auth-calls.ts';
import { clusterCalls } from './cluster-calls.ts';
import { fileCalls } from './file-calls.ts';
import { commandsOf } from './help.ts';
import { ToolJudge } from './judge.ts';
import { kvCalls } from './kv-calls.ts';
import { leaseCalls, sessionCalls } from './lease-calls.ts';
import { lastCalls, maintenanceCalls } from './maintenance-calls.ts';
import { Side } from './side.ts';
import type { Tool } from './tool.ts';
import { utilityCalls } from './utility-calls.ts';

const [folder = '', etcd = '', etcdctl = '', etcdutl = '', only] = process.argv.slice(2);
if (etcdutl === '') throw new Error('main.ts <folder> <etcd> <etcdctl> <etcdutl> [lone]');
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

/** What is not tried, and why. */
const UNTRIED: Readonly<Record<string, string>> = {
  'member promote success': 'one of the two learners is promoted until it has caught up, outside the comparison',
  'make-mirror --dest-cacert': 'TLS of clients: e2e/interop',
  'make-mirror --dest-cert': 'TLS of clients: e2e/interop',
  'make-mirror --dest-key': 'TLS of clients: e2e/interop',
};

const control: Tool = { name: 'etcdctl', path: etcdctl };
const utility: Tool = { name: 'etcdutl', path: etcdutl };
const commands = await commandsOf(control);
const judges: ToolJudge[] = [];

async function run(judge: ToolJudge, ...parts: readonly ((judge: ToolJudge) => Promise<void>)[]): Promise<void> {
  judges.push(judge);
  for (const part of parts) {
    const [startMs, before] = [Date.now(), judge.passed + judge.failed];
    try {
      await part(judge);
    } catch (error) {
      judge.failed += 1;
      console.log(`${part.name} broke off:`, error);
    }
    console.log(`${part.name}: ${judge.passed + judge.failed - before} compared in ${Date.now() - startMs} ms`);
  }
}

/** On stores of one member: etcd, and a node with its data on its own disk. */
async function loneStores(): Promise<ToolJudge> {
  await using theirs = await Side.start('etcd', join(folder, 'lone/etcd'), [etcd]);
  await using ours = await Side.start('store', join(folder, 'lone/store'), storeCommand());
  const online = new ToolJudge([theirs, ours], control, commands);
  await run(online, kvCalls, leaseCalls, maintenanceCalls, authCalls, sessionCalls, utilityCalls, lastCalls);
  online.equal('what the store still holds', [], await stillHeld(ours.endpoint));
  const offline = new ToolJudge([theirs, ours], utility, await commandsOf(utility));
  await run(offline, fileCalls);
  offline.completeness(UNTRIED);
  return online;
}

/** On clusters of three members: etcd's, and one on TiKV. */
async function clusters(before: ToolJudge): Promise<ToolJudge> {
  await using lab = await Lab.start(join(folder, 'lab'), { store: 'onenode', strict: false });
  const flags = ['--storage=tikv', `--tikv-pd-endpoints=${lab.pdAddresses.join()}`, '--tikv-prefix=etcdctl'];
  await using theirs = await Side.startThree('etcd', join(folder, 'three/etcd'), [etcd], []);
  await using ours = await Side.startThree('store', join(folder, 'three/store'), storeCommand(), flags);
  const judge = new ToolJudge([theirs, ours], control, commands, before);
  await run(judge, clusterCalls);
  return judge;
}

const lone = await loneStores();
if (only !== 'lone') (await clusters(lone)).completeness(UNTRIED);
const sum = (count: (judge: ToolJudge) => number): number => judges.reduce((total, judge) => total + count(judge), 0);
const [passed, failed] = [sum((judge) => judge.passed), sum((judge) => judge.failed)];
console.log(`e2e-etcdctl: ${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
