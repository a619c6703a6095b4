/**
 * Three members, each on its own host, under one fault after another in an order that the seed decides. Meanwhile clients
 * at all members write, read, watch and hold leases. At the end the recorded calls must have a valid order, watchers must
 * have seen every event once, and the members' copies must be equal. See README.md.
 *
 *   main.ts <folder> --seconds N [--seed N] [--only fault,fault]
 *   main.ts <folder> --rounds N  ...   each fault N times, each until writes continue, instead of for some seconds
 */
import { join } from 'node:path';
import { type ClusterPlace, leaderAmong, MemberProcess } from '../cluster/cluster-member.ts';
import { campaignArguments } from '../support/campaign-arguments.ts';
import { Lab } from '../tikv/lab.ts';
import { campaign } from './campaign.ts';
import { faults, type Scene } from './faults.ts';
import { CLIENTS_HOST, memberPlaces, STORES_HOST, storesPlace, Wire } from './wire.ts';

const { positionals, prng, seconds, rounds, chosen } = campaignArguments({ faults, seconds: 60 });
const folder = positionals[0] ?? '.';

using wire = new Wire(join(folder, 'wire.sock'));
const lab = await Lab.startReplicated(join(folder, 'lab'), { strict: false, place: storesPlace() });
const place: ClusterPlace = { pd: lab.pdAddresses, prefix: 'chaos', members: memberPlaces(folder) };
const members = place.members.map((member) => new MemberProcess(place, member));
for (const member of members) member.start();
await Promise.all(members.map((member) => member.ready()));
const endpoints = members.map(({ endpoint }) => endpoint);

const { problems, print } = await campaign<Scene>({
  prng,
  endpoints,
  faults,
  chosen,
  seconds,
  rounds,
  scene: (clients) => ({
    ...clients,
    members,
    lab,
    storesHost: STORES_HOST,
    clientsHost: CLIENTS_HOST,
    wire,
    prng,
    leader: () => leaderAmong(members, 500),
  }),
});
for (const problem of problems) console.log(`FAILED: ${problem}`);
if (problems.length > 0) {
  for (const { place: at, lines } of members) console.log(`-- ${at.name}\n${lines.slice(-15).join('\n')}`);
}
for (const member of members) await member.stop().catch(() => undefined);
await lab[Symbol.asyncDispose]();
print();
console.log(`e2e-chaos: ${problems.length === 0 ? 1 : 0} passed, ${problems.length} failed`);
process.exit(problems.length === 0 ? 0 : 1);
