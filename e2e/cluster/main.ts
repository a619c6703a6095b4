/**
 * Tests three members on PD and three stores from outside. Each member serves. Acknowledged writes survive leaders that
 * are killed, paused and replaced, a PD that is gone, and restarts of all members in turn. See README.md.
 *
 *   main.ts <folder> [--rounds N]
 */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { ALL_KEYS, EtcdClient } from '../../test/support/etcd-client.ts';
import { freePort } from '../../test/support/free-port.ts';
import { stillHeld } from '../support/nothing-held.ts';
import { Lab } from '../tikv/lab.ts';
import { Checks } from './checks.ts';
import { freePlaces, type ClusterPlace, leaderAmong, MemberProcess } from './cluster-member.ts';
import { Load, RetryingClients, spread, Watcher } from './load.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '5' } },
});
const rounds = Number(values.rounds);
const folder = positionals[0] ?? '.';

const lab = await Lab.startReplicated(join(folder, 'lab'), { strict: false });
const place: ClusterPlace = {
  pd: lab.pdAddresses,
  prefix: 'e2e',
  members: await freePlaces(folder),
};
const members = place.members.map((member) => new MemberProcess(place, member));
for (const member of members) member.start();
await Promise.all(members.map((member) => member.ready()));
const endpoints = members.map(({ endpoint }) => endpoint);

const checks = new Checks(() => members);
const { check } = checks;

const leader = (): Promise<MemberProcess> => leaderAmong(members);

/**
 * Checks that every acknowledged write is at its revision, revisions have no gap, watchers saw each revision once, and
 * all copies are equal.
 */
async function checkHistory(load: Load, watchers: readonly Watcher[]): Promise<string> {
  using client = new EtcdClient(endpoints[0]!);
  const { kvs, header } = await client.range({ ...ALL_KEYS });
  const last = Number(header?.revision ?? 0);
  const found = new Map(kvs.map((kv) => [Buffer.from(kv.key).toString(), Number(kv.modRevision)]));
  for (const { key, revision } of load.acknowledged) assert.equal(found.get(key), revision, `${key} is lost or moved`);
  assert.equal(found.size, last - 1, 'each revision is one key, written once');
  for (const watcher of watchers) {
    for (let waited = 0; watcher.last < last && waited < 200; waited += 1) await sleep(50);
    assert.deepEqual(watcher.revisions.length, last - 1, 'events lost or doubled');
    assert.ok(
      watcher.revisions.every((at, index) => at === index + 2),
      'events out of order',
    );
  }
  const hashes = new Set<string>();
  for (const endpoint of endpoints) {
    using each = new EtcdClient(endpoint);
    await each.range({ key: Buffer.from('x') });
    const { hash, hashRevision } = await each.hashKv({ revision: last });
    hashes.add(`${hash} at ${hashRevision}`);
  }
  assert.equal(hashes.size, 1, `hashes differ: ${[...hashes].join('; ')}`);
  return `${load.acknowledged.length} writes acknowledged, ${load.uncertain} unknown, revision ${last}`;
}

/** How long a member without a quorum may take to serve: five seconds, and its start. */
const SERVES_MAX_MS = 20_000;
/** Changes of the membership are refused until members have been connected for 5 s, as in etcd. */
const connectedForLong = (): Promise<void> => sleep(6000);

const load = new Load(endpoints, 4);
const watchers = endpoints.map((endpoint) => new Watcher(endpoint));
await load.until(100);

await check('each member writes, and each reads it', async () => {
  for (const endpoint of endpoints) {
    using client = new EtcdClient(endpoint);
    const { count } = await client.range({ ...ALL_KEYS, countOnly: true });
    assert.ok(Number(count) >= 100);
  }
  return `${endpoints.length} members`;
});

await check(`kill -9 of the leader, ${rounds} times`, async () => {
  const pauses: number[] = [];
  let changes = 0;
  for (let round = 0; round < rounds; round += 1) {
    const victim = await leader();
    const killedMs = performance.now();
    await victim.kill();
    await load.until(load.acknowledged.length + 50);
    pauses.push(Math.round(load.longestPauseMs(killedMs, 15_000)));
    victim.start();
    await victim.ready();
    await sleep(1000);
  }
  for (const endpoint of endpoints) {
    const text = await (await fetch(`http://${endpoint}/metrics`)).text();
    const seen = Number(/^etcd_server_leader_changes_seen_total (\d+)$/m.exec(text)?.[1]);
    // A member that was killed counts from its last start on.
    assert.ok(seen >= 1, `${endpoint} has seen no leader`);
    assert.equal(text.match(/^etcd_network_active_peers\{.*\} 1$/gm)?.length, members.length - 1, 'connected members');
    changes += seen;
  }
  assert.ok(changes > endpoints.length, 'leader changes that nobody has counted');
  return `longest time without an acknowledged write: ${spread(pauses)}`;
});

await check('SIGSTOP of the leader past its successor, and on', async () => {
  const victim = await leader();
  const stoppedMs = performance.now();
  victim.signal('SIGSTOP');
  await load.until(load.acknowledged.length + 50);
  const pauseMs = Math.round(load.longestPauseMs(stoppedMs, 30_000));
  await sleep(1000);
  using stale = new EtcdClient(victim.endpoint);
  const asked = stale.range({ ...ALL_KEYS, countOnly: true });
  const before = load.acknowledged.length;
  victim.signal('SIGCONT');
  const answer = await asked.catch(() => undefined);
  if (answer !== undefined) assert.ok(Number(answer.count) >= before, 'a read that is stale');
  await sleep(2000);
  return `longest time without an acknowledged write: ${pauseMs} ms`;
});

await check('PD gone for 10 s: reads and writes go on', async () => {
  lab.signal('pd1', 'SIGSTOP');
  const stoppedMs = performance.now();
  let reads = 0;
  let writes = 0;
  try {
    while (performance.now() < stoppedMs + 10_000) {
      for (const endpoint of endpoints) {
        using client = new EtcdClient(endpoint);
        await client.range({ ...ALL_KEYS, countOnly: true });
        reads += 1;
      }
      await sleep(100);
      if (performance.now() < stoppedMs + 5000) writes = load.acknowledged.length;
    }
    writes = load.acknowledged.length - writes;
    assert.ok(writes > 100, `${writes} writes in the second half of the time`);
  } finally {
    lab.signal('pd1', 'SIGCONT');
  }
  const backMs = performance.now();
  await load.until(load.acknowledged.length + 100);
  const againMs = Math.round(performance.now() - backMs);
  return `${reads} linearizable reads meanwhile, ${writes} writes in the second half; the next 100 within ${againMs} ms after it`;
});

await check('a rolling restart of all members', async () => {
  const startMs = performance.now();
  const clients = new RetryingClients(endpoints, 6);
  for (const member of members) {
    await member.stop();
    member.start();
    await member.ready();
    await sleep(1000);
  }
  const tookMs = performance.now() - startMs;
  await clients.stop();
  const { requests, retries, failures } = clients;
  assert.deepEqual(failures, [], 'requests failed twice');
  const pauseMs = Math.round(load.longestPauseMs(startMs, tookMs));
  return `longest time without an acknowledged write: ${pauseMs} ms; ${requests} requests of clients with all endpoints, ${retries} made again once, none failed twice`;
});

await load.stop();
await check('nothing acknowledged is lost, nothing is doubled', () => checkHistory(load, watchers));
for (const watcher of watchers) await watcher.stop();

await check('no member holds anything for clients that have their answers', async () => {
  for (const endpoint of endpoints) assert.deepEqual(await stillHeld(endpoint), [], endpoint);
  return `${endpoints.length} members`;
});

await check(
  'a member without a quorum serves nobody before it is ready, and after 5 s what needs no leader',
  async () => {
    await Promise.all(members.map((member) => member.stop()));
    const [alone, ...others] = members;
    const startMs = performance.now();
    alone!.start();
    const answer = async (): Promise<string> => {
      using client = new EtcdClient(alone!.endpoint, { deadlineMs: 500 });
      try {
        const { kvs } = await client.range({ ...ALL_KEYS, limit: 1, serializable: true });
        return `${kvs.length} keys`;
      } catch (error) {
        return String(error);
      }
    };
    for (let answered = ''; answered !== '1 keys'; await sleep(100)) {
      answered = await answer();
      assert.ok(performance.now() - startMs < SERVES_MAX_MS, `it serves nobody: ${answered}`);
    }
    const tookMs = Math.round(performance.now() - startMs);
    assert.ok(tookMs >= 5000, `it served after ${tookMs} ms`);
    for (const other of others) other.start();
    await Promise.all(members.map((member) => member.ready()));
    return `a serializable read was answered after ${tookMs} ms`;
  },
);

/** A member that was promoted is told so a moment later than the leader, which has answered by then. */
async function onceNoLearner<Result>(call: () => Promise<Result>): Promise<Result> {
  for (const started = performance.now(); performance.now() - started < 10_000; await sleep(50)) {
    try {
      return await call();
    } catch (error) {
      assert.match(String(error), /not supported for learner/);
    }
  }
  assert.fail('the member is a learner ten seconds after its promotion');
}

await check(
  'a learner is added, has all data, and is promoted; removed, it ends with 0, then and at each start',
  async () => {
    using client = new EtcdClient((await leader()).endpoint);
    const learner = {
      name: 'd',
      clientPort: await freePort(),
      peerPort: await freePort(),
      dataDir: join(folder, 'learner'),
    };
    const joined = new MemberProcess({ ...place, members: [...place.members, learner] }, learner, [
      '--initial-cluster-state=existing',
    ]);
    await connectedForLong();
    const { member } = await client.memberAdd({
      peerURLs: [`http://127.0.0.1:${learner.peerPort}`],
      isLearner: true,
    });
    const { ID } = member!;
    await assert.rejects(client.memberPromote(ID), /in sync with leader/, 'before it has started');
    joined.start();
    const probes = { statuses: new Set<number>(), going: true };
    const probe = async (): Promise<void> => {
      probes.statuses.add((await fetch(`http://${joined.endpoint}/readyz`)).status);
    };
    const probing = (async () => {
      // Its port refuses connections until it serves.
      for (; probes.going; await sleep(5)) await probe().catch(() => undefined);
    })();
    try {
      await joined.ready();
      probes.going = false;
      await probing;
      // A member that gets ready between two probes was asked by neither.
      await probe();
      assert.deepEqual([...probes.statuses], [503], 'a learner is never ready');
      const started = performance.now();
      for (;;) {
        const promoted = await client.memberPromote(ID).then(
          () => true,
          (error: unknown) => {
            assert.match(String(error), /in sync with leader/);
            return false;
          },
        );
        if (promoted) break;
        assert.ok(performance.now() - started < 20_000, 'the learner does not catch up');
        await sleep(100);
      }
      using own = new EtcdClient(joined.endpoint);
      const here = await onceNoLearner(() => own.range({ ...ALL_KEYS, countOnly: true }));
      const there = await client.range({ ...ALL_KEYS, countOnly: true });
      assert.equal(here.count, there.count);
      await connectedForLong();
      await client.memberRemove(ID);
      assert.equal(await joined.ended(), 0, joined.lines.slice(-5).join('\n'));
      joined.lines.length = 0;
      joined.start();
      assert.equal(await joined.ended(), 0, `started again: ${joined.lines.slice(-5).join('\n')}`);
      assert.ok(joined.lines.some((line) => line.includes('permanently removed from the cluster')));
      return `${here.count} keys`;
    } finally {
      probes.going = false;
      await joined.kill();
    }
  },
);

await check(
  'most members are lost: one goes on alone at another address, with all data, and the cluster grows again',
  async () => {
    using before = new EtcdClient((await leader()).endpoint);
    const { kvs, header } = await before.range({ ...ALL_KEYS });
    await Promise.all(members.map((member) => member.kill()));
    const [first, second] = place.members;
    const moved = { ...first!, clientPort: await freePort(), peerPort: await freePort() };
    const survivor = new MemberProcess({ ...place, members: [moved] }, moved, ['--force-new-cluster']);
    const added = { ...second!, name: 'e', dataDir: join(folder, 'grown'), peerPort: await freePort() };
    const foreign = { ...moved, name: 'z', dataDir: join(folder, 'stranger') };
    const stranger = new MemberProcess({ ...place, members: [foreign] }, foreign, ['--force-new-cluster']);
    const grown = new MemberProcess({ ...place, members: [moved, added] }, added, ['--initial-cluster-state=existing']);
    try {
      stranger.start();
      assert.equal(await stranger.ended(), 1);
      assert.ok(stranger.lines.some((line) => line.includes('has started that is called z')));
      survivor.start();
      await survivor.ready();
      using client = new EtcdClient(survivor.endpoint);
      const now = await client.range({ ...ALL_KEYS });
      assert.deepEqual(
        now.kvs.map(({ key, modRevision }) => [key, modRevision]),
        kvs.map(({ key, modRevision }) => [key, modRevision]),
      );
      const put = await client.put({ key: Buffer.from('after'), value: Buffer.from('the loss') });
      assert.equal(Number(put.header?.revision), Number(header?.revision) + 1);
      // A member that comes back after all was removed, and the flag may stay.
      const back = members[1]!;
      back.start();
      assert.equal(await back.ended(), 0);
      assert.ok(back.lines.some((line) => line.includes('permanently removed from the cluster')));
      await survivor.kill();
      survivor.start();
      await survivor.ready();
      await client.memberAdd({ peerURLs: [`http://127.0.0.1:${added.peerPort}`], isLearner: false });
      grown.start();
      await grown.ready();
      using other = new EtcdClient(grown.endpoint);
      assert.equal((await other.range({ ...ALL_KEYS, countOnly: true })).count, kvs.length + 1);
      return `${kvs.length} keys`;
    } finally {
      await Promise.all([survivor, grown, stranger].map((member) => member.kill()));
    }
  },
);
for (const member of members) await member.stop().catch(() => undefined);

await check(
  '--revision-origin=timestamp: revisions begin at the time, and go on behind it without the disk',
  async () => {
    const dataDir = join(folder, 'timed');
    const timed = { name: 't', clientPort: await freePort(), peerPort: await freePort(), dataDir };
    const timedPlace = { pd: lab.pdAddresses, prefix: 'timed', members: [timed] };
    const founded = new MemberProcess(timedPlace, timed, ['--revision-origin=timestamp']);
    // The cluster itself stores where its revisions begin.
    const again = new MemberProcess(timedPlace, timed);
    try {
      const beforeUs = Date.now() * 1000;
      founded.start();
      await founded.ready();
      using client = new EtcdClient(founded.endpoint);
      const first = Number((await client.put({ key: Buffer.from('a'), value: Buffer.from('1') })).header?.revision);
      assert.ok(first > beforeUs && first <= Date.now() * 1000, `revision ${first}, founded after ${beforeUs}`);
      await assert.rejects(client.range({ ...ALL_KEYS, revision: 5 }), /required revision has been compacted/);
      await founded.kill();
      rmSync(dataDir, { recursive: true });
      again.start();
      await again.ready();
      const second = Number((await client.put({ key: Buffer.from('a'), value: Buffer.from('2') })).header?.revision);
      assert.equal(second, first + 1);
      await assert.rejects(client.range({ ...ALL_KEYS, revision: 5 }), /required revision has been compacted/);
      return `first write at ${first}`;
    } finally {
      await Promise.all([founded, again].map((member) => member.kill()));
    }
  },
);
await lab[Symbol.asyncDispose]();
console.log(`e2e-cluster: ${checks.passed} passed, ${checks.failed} failed`);
process.exit(checks.failed === 0 ? 0 : 1);
