/**
 * Runs a cluster of three on this machine, in the foreground: PD, three stores, three members, with the client endpoints
 * of etcd's own Procfile. Ctrl-C ends all of them.
 *
 *   up.ts <folder of the lab>
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Lab } from '../tikv/lab.ts';
import { type ClusterPlace, MemberProcess } from './cluster-member.ts';

const folder = process.argv[2] ?? '.e2e/cluster';
rmSync(folder, { recursive: true, force: true });
console.log('starting PD and three stores ...');
const lab = await Lab.start(join(folder, 'lab'), { strict: false });
const place: ClusterPlace = {
  pd: lab.pdAddresses,
  prefix: 'cluster',
  members: [2379, 22379, 32379].map((clientPort, at) => ({
    name: `infra${at + 1}`,
    clientPort,
    peerPort: clientPort + 1,
    dataDir: join(folder, `infra${at + 1}`),
  })),
};
const members = place.members.map(
  (member) => new MemberProcess(place, member, [], (line) => console.log(`${member.name} | ${line}`)),
);
let ending = false;
async function end(): Promise<void> {
  if (ending) return;
  ending = true;
  await Promise.allSettled(members.map((member) => member.stop()));
  await lab[Symbol.asyncDispose]();
  process.exit(0);
}
process.removeAllListeners('SIGINT');
process.removeAllListeners('SIGTERM');
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void end());
for (const member of members) member.start();
await Promise.all(members.map((member) => member.ready()));
const endpoints = members.map((member) => member.endpoint).join();
console.log(`
A cluster of three serves on ${endpoints}. In another terminal:
  etcdctl --endpoints ${endpoints} endpoint status --write-out table
  etcdctl --endpoints ${endpoints} put hello world
Ctrl-C ends all of it; the data goes with it.`);
