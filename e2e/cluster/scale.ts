/**
 * One member on TiKV becomes three, five, and three again, under the clients and the judges of e2e/chaos.
 *
 *   scale.ts <folder> [--seed N]
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EtcdClient } from '../../test/support/etcd-client.ts';
import { freePort } from '../../test/support/free-port.ts';
import { campaign, type Fault } from '../chaos/campaign.ts';
import { campaignArguments } from '../support/campaign-arguments.ts';
import { Lab } from '../tikv/lab.ts';
import { Checks } from './checks.ts';
import { type ClusterPlace, leaderAmong, type MemberPlace, MemberProcess } from './cluster-member.ts';

const MEMBERS_MAX = 5;
const MEMBERS_AT_END = 3;
const CHANGE_MAX_MS = 60_000;

const { positionals, prng } = campaignArguments({ faults: {}, seconds: 0 });
const folder = positionals[0] ?? '.';
const places: readonly MemberPlace[] = await Promise.all(
  Array.from({ length: MEMBERS_MAX }, async (_, at) => ({
    name: `infra${at + 1}`,
    clientPort: await freePort(),
    peerPort: await freePort(),
    dataDir: join(folder, `infra${at + 1}`),
  })),
);
const lab = await Lab.start(join(folder, 'lab'), { store: 'onenode', strict: false });
/** The cluster as its first `count` members are told of it. */
const placeOf = (count: number): ClusterPlace => ({
  pd: lab.pdAddresses,
  prefix: 'scale',
  members: places.slice(0, count),
});
const members = places.map((place, at) => {
  const flags = at === 0 ? [] : ['--initial-cluster-state=existing'];
  return new MemberProcess(placeOf(at + 1), place, flags);
});
const peerUrl = ({ peerPort }: MemberPlace): string => `http://127.0.0.1:${peerPort}`;

/** Makes a change by a member that leads. As in etcd, it is refused until members have been connected for five seconds. */
async function change(make: (client: EtcdClient) => Promise<unknown>, isMade: RegExp): Promise<void> {
  for (const endMs = performance.now() + CHANGE_MAX_MS; ; await sleep(200)) {
    using client = new EtcdClient((await leaderAmong(members)).endpoint);
    try {
      await make(client);
      return;
    } catch (error) {
      if (isMade.test(String(error))) return;
      if (performance.now() > endMs) throw error;
    }
  }
}

async function listed(): Promise<readonly { readonly id: bigint; readonly name: string }[]> {
  using client = new EtcdClient(members[0]!.endpoint);
  const { members: all } = await client.memberList();
  return all.map(({ ID, name }) => ({ id: ID, name }));
}

const hasMembers = async (count: number): Promise<void> =>
  assert.deepEqual(
    (await listed()).map(({ name }) => name).sort(),
    places.slice(0, count).map(({ name }) => name),
  );

const grow = (from: number, to: number): Fault<object> => {
  return async () => {
    for (const member of members.slice(from, to)) {
      const peerURLs = [peerUrl(member.place)];
      await change((client) => client.memberAdd({ peerURLs, isLearner: false }), /Peer URLs already exists/);
      member.start();
      await member.ready();
    }
    await hasMembers(to);
    return async () => undefined;
  };
};

const shrink = (from: number, to: number): Fault<object> => {
  return async () => {
    for (const member of members.slice(to, from).reverse()) {
      const { id } = (await listed()).find(({ name }) => name === member.place.name)!;
      await change((client) => client.memberRemove(id), /member not found/);
      assert.equal(await member.ended(), 0, member.lines.slice(-5).join('\n'));
    }
    await hasMembers(to);
    return async () => undefined;
  };
};

const steps: Readonly<Record<string, Fault<object>>> = {
  'from one member to three': grow(1, 3),
  'from three members to five': grow(3, 5),
  'from five members to three': shrink(5, MEMBERS_AT_END),
};
members[0]!.start();
await members[0]!.ready();

const checks = new Checks(() => members);
await checks.check('nothing is lost while one member becomes three, five, and three again', async () => {
  const { problems, print } = await campaign<object>({
    prng,
    endpoints: members.slice(0, MEMBERS_AT_END).map(({ endpoint }) => endpoint),
    faults: steps,
    chosen: Object.keys(steps),
    inOrder: true,
    seconds: 0,
    rounds: 1,
    scene: () => ({}),
  });
  print();
  if (problems.length > 0) throw new Error(problems.join('\n'));
  return `${MEMBERS_AT_END} members`;
});
for (const member of members) await member.stop().catch(() => undefined);
await lab[Symbol.asyncDispose]();
console.log(`e2e-scale: ${checks.passed} passed, ${checks.failed} failed`);
process.exit(checks.failed === 0 ? 0 : 1);
