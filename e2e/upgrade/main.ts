/**
 * Three members of the version before, upgraded to this one and taken back under load, so that each version leads the other.
 * Throughout, clients at all members write, read, watch and hold leases. What cannot be mixed is refused by name. See README.md.
 *
 *   main.ts <folder> <engram of the version before> [--seed N]
 */
import assert from 'node:assert/strict';
import { parseArgs } from 'node:util';
import { Prng } from '@engram/sim';
import { EtcdClient, EtcdError } from '../../test/support/etcd-client.ts';
import { Checks } from '../cluster/checks.ts';
import { Clients } from './clients.ts';
import { MixedCluster, type Version } from './cluster.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seed: { type: 'string', default: String(Date.now() % 2 ** 32) } },
});
const [folder = '.', before = ''] = positionals;
const READS_LOG_MAX_MS = 60_000;
/** How often members do their work where the leadership moves by itself meanwhile, as on a busy machine. */
const ATTEMPTS_MAX = 5;
console.log(`--seed ${values.seed}`);

await using cluster = await MixedCluster.start(folder, before);
const clients = new Clients(cluster.endpoints, new Prng(Number(values.seed)));
const checks = new Checks(() => cluster.members);
const { check } = checks;

/** One member of a version, which leads, and the others of another do their work together. It leads before and after. */
const together = (leading: Version, others: Version): Promise<void> => {
  const versions = [leading, others, others].join(', ');
  return check(`${versions} (the leader first) work together`, async () => {
    for (let attempt = 1; ; attempt += 1) {
      await cluster.leadBy(leading);
      const before = await cluster.versions();
      const done = await clients.workTogether();
      const after = await cluster.versions();
      if (before === versions && after === versions) return done;
      assert.notEqual(attempt, ATTEMPTS_MAX, `each time the leadership has moved: ${before}; ${after}`);
    }
  });
};

/** A member of the version before cannot read the records of users. Whichever member is asked, none is written. */
const usersAreRefused = (): Promise<void> =>
  check('users are refused by name while a member does not know them', async () => {
    const said = new Set<string>();
    for (const endpoint of cluster.endpoints) said.add(await addUser(endpoint));
    for (const text of said) assert.match(text, REFUSED);
    return [...said].join('; ');
  });

const REFUSED = /FAILED_PRECONDITION: etcdserver: not capable|UNIMPLEMENTED/;

async function addUser(endpoint: string): Promise<string> {
  using client = new EtcdClient(endpoint);
  try {
    await client.userAdd({ name: 'root', password: 'x' });
    return 'taken';
  } catch (error) {
    if (!(error instanceof EtcdError)) throw error;
    return error.message;
  }
}

await together('before', 'before');

await check('up, the leader last: followers are upgraded, one of them without its disk', () =>
  clients.withoutFailure(async () => {
    const [first, second] = await cluster.followers();
    await cluster.change(first!, 'now', 'keeps its disk');
    await cluster.change(second!, 'now', 'loses its disk');
  }),
);
await together('before', 'now');
await usersAreRefused();

await check('the leadership moves to the new version, and the last member is upgraded', () =>
  clients.withoutFailure(async () => {
    const [last] = cluster.of('before');
    await cluster.leadBy('now');
    await cluster.change(last!, 'now', 'keeps its disk');
  }),
);
await together('now', 'now');

await check('down: followers are taken back, one of them without its disk', () =>
  clients.withoutFailure(async () => {
    const [first, second] = await cluster.followers();
    await cluster.change(first!, 'before', 'keeps its disk');
    await cluster.change(second!, 'before', 'loses its disk');
  }),
);
await together('now', 'before');
await usersAreRefused();

await check('the leadership moves to the version before, and the last member is taken back', () =>
  clients.withoutFailure(async () => {
    const [last] = cluster.of('now');
    await cluster.leadBy('before');
    await cluster.change(last!, 'before', 'keeps its disk');
  }),
);
await together('before', 'before');

await check('up, the leader first: one member is upgraded and leads', () =>
  clients.withoutFailure(async () => {
    const [first] = await cluster.followers();
    await cluster.change(first!, 'now', 'keeps its disk');
    await cluster.lead(first!);
  }),
);
await together('now', 'before');
await check('the others are upgraded', () =>
  clients.withoutFailure(async () => {
    for (const member of cluster.of('before')) await cluster.change(member, 'now', 'keeps its disk');
  }),
);
await together('now', 'now');

await check(
  'nothing acknowledged is lost, calls have an order, watchers saw each revision once, copies are equal',
  async () => {
    const problems = await clients.end();
    assert.equal(problems.join('\n'), '');
    return clients.summary;
  },
);

await check(
  'once there are users, a member of the version before ends, and serves again when it is upgraded',
  async () => {
    const [follower] = await cluster.followers();
    assert.equal(await addUser(cluster.endpoints[0]!), 'taken');
    await follower!.stop();
    follower!.lines.length = 0;
    cluster.startAgain(follower!, 'before');
    // It reads the whole log first.
    assert.notEqual(await follower!.ended(READS_LOG_MAX_MS), 0);
    const fatal = follower!.lines.filter((line) => line.includes('"level":"fatal"'));
    assert.equal(fatal.length, 1, follower!.lines.slice(-5).join('\n'));
    cluster.startAgain(follower!, 'now');
    await follower!.ready();
    return String((JSON.parse(fatal[0]!) as { readonly error: unknown }).error);
  },
);
console.log(`e2e-upgrade: ${checks.passed} passed, ${checks.failed} failed`);
process.exitCode = checks.failed === 0 ? 0 : 1;
