import { nodeItself } from '@engram/backend';
import { EMPTY_BYTES, isEngramError, keyBytes, leaseId, revision, type Txn } from '@engram/core';
import { expect, test } from 'vitest';
import { TestCluster } from './cluster.ts';
import { get, put, rangeOf } from './requests.ts';

async function refusal(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return 'accepted';
  } catch (error) {
    if (isEngramError(error)) return error.code;
    throw error;
  }
}

test('three members act as one store: each writes, each reads what was written anywhere', async () => {
  const cluster = await TestCluster.start();
  await cluster.leader();
  for (const [at, { member }] of cluster.running.entries()) {
    await cluster.run(member.store.txn(put(`k${at}`, 'v'), nodeItself));
    for (const other of cluster.running) expect(await cluster.run(get(other.member.store, `k${at}`))).toBe('v');
  }
  const ids = cluster.running.map(({ member }) => member.cluster.members.map(({ name }) => name));
  await cluster.pass(3000);
  expect(cluster.running.map(({ member }) => member.cluster.members.map(({ name }) => name))).toEqual([
    ['m1', 'm2', 'm3'],
    ['m1', 'm2', 'm3'],
    ['m1', 'm2', 'm3'],
  ]);
  expect(ids).toHaveLength(3);
  expect(cluster.fatal).toEqual([]);
});

test('a killed leader is replaced, nothing acknowledged is lost, and it comes back as a follower', async () => {
  const cluster = await TestCluster.start();
  const first = await cluster.leader();
  const firstId = first.member.cluster.memberId;
  for (let at = 0; at < 20; at += 1) await cluster.run(first.member.store.txn(put(`k${at}`, `${at}`), nodeItself));
  cluster.kill(firstId);
  const startMs = cluster.clock.nowMs();
  const second = await cluster.leader();
  expect(cluster.clock.nowMs() - startMs, 'the others need not wait for a timeout').toBeLessThan(1000);
  expect(second.member.cluster.memberId).not.toBe(firstId);
  const { revision } = await cluster.run(second.member.store.txn(put('after', 'x'), nodeItself));
  expect(revision).toBe(22);
  expect(second.member.cluster.counts.leaderChanges, 'the first leader, and the second').toBe(2);
  const back = await cluster.start(firstId);
  for (let at = 0; at < 20; at += 1) expect(await cluster.run(get(back.member.store, `k${at}`))).toBe(`${at}`);
  expect(await cluster.run(get(back.member.store, 'after'))).toBe('x');
  for (const { member } of cluster.running) await cluster.run(get(member.store, 'after'));
  const hashes = await Promise.all(
    cluster.running.map(({ member }) => cluster.run(member.store.hashKv(revision, nodeItself.signal))),
  );
  expect(new Set(hashes.map(({ hash }) => hash)).size).toBe(1);
  expect(cluster.fatal).toEqual([]);
});

test('a leader that is cut off serves no linearizable read, renews no lease, writes nothing, and follows afterwards', async () => {
  const cluster = await TestCluster.start();
  const old = await cluster.leader();
  const oldId = old.member.cluster.memberId;
  await cluster.run(old.member.store.leaseGrant(leaseId(5n), 60, nodeItself));
  await cluster.run(old.member.store.txn(put('k', '1'), nodeItself));
  for (const { member } of cluster.running) {
    const id = member.cluster.memberId;
    if (id === oldId) continue;
    cluster.cut.add(`${oldId}>${id}`);
    cluster.cut.add(`${id}>${oldId}`);
  }
  const others = cluster.running.filter(({ member }) => member.cluster.memberId !== oldId);
  const stale = refusal(get(old.member.store, 'k'));
  const renewal = refusal(Promise.resolve(old.member.store.leaseKeepAlive(leaseId(5n), nodeItself)));
  // The log still takes the old leader's appends until another member has sealed it.
  await cluster.pass(4000);
  const next = others.find(({ member }) => member.stats.leadsIn !== undefined)!;
  await cluster.run(next.member.store.txn(put('k', '2'), nodeItself));
  const late = refusal(old.member.store.txn(put('k', '3'), nodeItself));
  expect(await cluster.run(late)).not.toBe('accepted');
  expect(await cluster.run(stale)).not.toBe('accepted');
  expect(await cluster.run(renewal)).not.toBe('accepted');
  expect(await get(old.member.store, 'k', true), 'a serializable read may be stale, not wrong').toMatch(/[12]/);
  cluster.cut.clear();
  expect(await cluster.run(get(old.member.store, 'k'))).toBe('2');
  expect(old.member.stats.leadsIn).toBeUndefined();
  expect(cluster.fatal).toEqual([]);
});

test('a leader that is cut off refuses nothing, and answers no transaction, by what it knows', async () => {
  const cluster = await TestCluster.start();
  const old = await cluster.leader();
  const { store } = old.member;
  const oldId = old.member.cluster.memberId;
  await cluster.run(store.leaseGrant(leaseId(5n), 60, nodeItself));
  await cluster.run(store.txn(put('k', '1'), nodeItself));
  for (const { member } of cluster.running) {
    cluster.cut.add(`${oldId}>${member.cluster.memberId}`);
    cluster.cut.add(`${member.cluster.memberId}>${oldId}`);
  }
  const isUnwritten = { range: { key: keyBytes('k'), end: EMPTY_BYTES }, result: 0, target: 2, number: 0 };
  const compare = { ...isUnwritten, lease: leaseId(0n), value: EMPTY_BYTES };
  const create: Txn = { ...put('k', '2'), compares: [compare], failure: [rangeOf('k', false)] };
  // Another member may lead by now, and may have changed everything that these answers rest on.
  const answers = [
    refusal(store.txn(create, nodeItself)),
    refusal(store.txn(put('k', '2', 7n), nodeItself)),
    refusal(store.leaseGrant(leaseId(5n), 60, nodeItself)),
    refusal(store.leaseRevoke(leaseId(6n), nodeItself)),
    refusal(store.compact(1000, false, nodeItself)),
    refusal(store.deactivateAlarm({ memberId: oldId, alarm: 1 }, nodeItself)),
  ];
  await cluster.pass(4000);
  expect(await Promise.all(answers)).toEqual(answers.map(() => 'LeaderChanged'));
  expect(cluster.fatal).toEqual([]);
});

test('a member that is elected, and not any more when it has taken over, follows whoever is', async () => {
  const cluster = new TestCluster();
  const held = new Map<bigint, PromiseWithResolvers<void>>();
  for (const id of [1n, 2n, 3n]) {
    cluster.plans.set(id, { gate: (operation) => (operation === 'read' ? held.get(id)?.promise : undefined) });
    await cluster.start(id);
  }
  const first = (await cluster.leader()).member;
  await cluster.run(first.store.txn(put('k', '1'), nodeItself));
  // So the member that takes over has batches to read.
  const others = [1n, 2n, 3n].filter((id) => id !== first.cluster.memberId);
  for (const id of others) cluster.cut.add(`${first.cluster.memberId}>${id}`);
  await cluster.run(first.store.txn(put('k', '2'), nodeItself));
  for (const id of others) held.set(id, Promise.withResolvers());
  cluster.kill(first.cluster.memberId);
  for (let step = 0; others.indexOf(cluster.log.sealed.holder) < 0 && step < 500; step += 1) await cluster.pass(10);
  const second = cluster.log.sealed.holder;
  const third = others.find((id) => id !== second)!;
  await cluster.run(cluster.member(second).member.cluster.changes.moveLeader(third, nodeItself));
  held.get(second)!.resolve();
  await cluster.pass(100);
  held.get(third)!.resolve();
  for (const id of [second, third]) expect(await cluster.run(get(cluster.member(id).member.store, 'k'))).toBe('2');
  expect(cluster.member(third).member.stats.leadsIn).toBeDefined();
  expect(cluster.fatal).toEqual([]);
});

test('nobody shows what is in the log before its leader knows of it', async () => {
  const cluster = new TestCluster();
  let unanswered = false;
  const plan = { append: () => (unanswered ? 'uncertain-there' : 'none') } as const;
  for (const id of [1n, 2n, 3n]) cluster.plans.set(id, plan);
  for (const id of [1n, 2n, 3n]) await cluster.start(id);
  const leader = await cluster.leader();
  await cluster.run(leader.member.store.txn(put('k', 'known'), nodeItself));
  const [one, other] = cluster.running.filter((each) => each !== leader).map(({ member }) => member.cluster.memberId);
  for (const { member } of cluster.running) expect(await cluster.run(get(member.store, 'k'))).toBe('known');
  // `one` loses its stream and follows anew; `other` reads the log from its beginning.
  const leaderId = leader.member.cluster.memberId;
  cluster.cut.add(`${leaderId}>${one}`);
  await cluster.run(leader.member.store.txn(put('breaks', 'the stream'), nodeItself));
  unanswered = true;
  const end = cluster.log.next;
  const writing = leader.member.store.txn(put('k', 'unknown'), nodeItself);
  await cluster.pass(500);
  expect(cluster.log.next, 'it is in the log').toBeGreaterThan(end);
  cluster.cut.clear();
  cluster.kill(other!);
  const restarted = await cluster.start(other!);
  let isReady = false;
  const ready = restarted.ready(new AbortController().signal).then(() => {
    isReady = true;
  });
  await cluster.pass(500);
  expect(isReady, 'clients of a member that may show it are not served').toBe(false);
  expect(await get(cluster.member(one!).member.store, 'k', true), 'a member that follows anew').toBe('known');
  expect(await cluster.run(get(cluster.member(one!).member.store, 'k'))).toBe('known');
  let answered = false;
  const waiting = get(restarted.member.store, 'k').finally(() => {
    answered = true;
  });
  await cluster.pass(500);
  expect(await cluster.run(get(leader.member.store, 'k')), 'the leader').toBe('known');
  expect(answered, 'a member that has read the log waits').toBe(false);
  unanswered = false;
  await cluster.run(writing);
  expect(await cluster.run(waiting)).toBe('unknown');
  await cluster.run(ready);
  for (const { member } of cluster.running) expect(await cluster.run(get(member.store, 'k'))).toBe('unknown');
  expect(cluster.fatal).toEqual([]);
});

test('a leader shows what a follower has shown, also where it applies more slowly', async () => {
  const cluster = new TestCluster();
  cluster.settings = { requestTimeoutMs: 7000, cacheBytesMax: 0 };
  let held: PromiseWithResolvers<void> | undefined;
  const gate = (operation: string): Promise<void> | undefined =>
    operation === 'get-many' && held !== undefined ? held.promise : undefined;
  for (const id of [1n, 2n, 3n]) {
    cluster.plans.set(id, { cold: true, gate });
    await cluster.start(id);
  }
  const { store } = (await cluster.leader()).member;
  await cluster.run(store.txn(put('k', '1'), nodeItself));
  for (let at = 0; at < 5; at += 1) await cluster.run(store.txn(put(`other${at}`, ''), nodeItself));
  // The watcher wants the value that the next write supersedes, and the store has to read that value.
  const ignore = { events: () => true, compacted() {}, progress() {}, failed() {} };
  const stream = store.watchHub.openStream(ignore);
  const watched = stream.create({
    range: { key: keyBytes('k'), end: EMPTY_BYTES },
    startRevision: revision(0),
    prevKv: true,
    progressNotify: false,
    noPut: false,
    noDelete: false,
    fragment: false,
    watchId: 0,
  });
  if (watched.kind === 'created') stream.start(watched.watcher);
  held = Promise.withResolvers();
  const writing = store.txn(put('k', '2'), nodeItself);
  await cluster.pass(500);
  const follower = cluster.running.find(({ member }) => member.store !== store)!.member.store;
  expect(follower.revision).toBe(8);
  expect(store.revision).toBe(7);
  const read = store.range({ ...rangeOf('k', false), countOnly: true }, nodeItself);
  const compacting = store.compact(8, false, nodeItself);
  await cluster.pass(100);
  held.resolve();
  held = undefined;
  expect(await cluster.run(Promise.resolve(read))).toMatchObject({ revision: 8 });
  await cluster.run(compacting);
  expect(store.compactRevision).toBe(8);
  await cluster.run(writing);
  expect(cluster.fatal).toEqual([]);
});

test('a leader whose requests to storage go nowhere hands over, and nothing of it is lost or done twice', async () => {
  const cluster = await TestCluster.start();
  const leader = await cluster.leader();
  const id = leader.member.cluster.memberId;
  await cluster.pass(1000); // the other members have reported that their storage is healthy
  cluster.cutStorage(id);
  const waiting = cluster.run(leader.member.store.txn(put('a', '1'), nodeItself));
  const fromMs = cluster.clock.nowMs();
  while (cluster.running.every(({ member }) => member.stats.leadsIn === undefined || member.cluster.memberId === id)) {
    await cluster.pass(10);
    expect(cluster.clock.nowMs() - fromMs).toBeLessThan(4000);
  }
  const other = await cluster.leader();
  expect(other.member.cluster.memberId).not.toBe(id);
  await cluster.run(other.member.store.txn(put('b', '2'), nodeItself));
  cluster.healStorage(id);
  await waiting.catch(() => undefined);
  await cluster.pass(2000);
  expect(await cluster.run(get(leader.member.store, 'b'))).toBe('2');
  const revisions = cluster.running.map(({ member }) => member.store.revision);
  expect(new Set(revisions).size).toBe(1);
  expect(cluster.fatal).toEqual([]);
});

test('where storage is slow for all of them, the leader stays', async () => {
  const cluster = await TestCluster.start();
  const leader = await cluster.leader();
  await cluster.pass(1000);
  for (const { member } of cluster.running) cluster.cutStorage(member.cluster.memberId);
  const waiting = leader.member.store.txn(put('a', '1'), nodeItself);
  waiting.catch(() => undefined);
  await cluster.pass(5000);
  expect(leader.member.stats.leadsIn).toBeDefined();
  for (const { member } of cluster.running) cluster.healStorage(member.cluster.memberId);
  await cluster.run(waiting);
  expect(await cluster.run(get(leader.member.store, 'a'))).toBe('1');
  expect(cluster.fatal).toEqual([]);
});

test('a linearizable read that storage does not confirm ends with Timeout, and serializable reads go on', async () => {
  const cluster = await TestCluster.start();
  const leader = await cluster.leader();
  const follower = cluster.running.find((each) => each !== leader)!;
  await cluster.run(leader.member.store.txn(put('a', '1'), nodeItself));
  for (const { member } of cluster.running) cluster.cutStorage(member.cluster.memberId);
  const fromMs = cluster.clock.nowMs();
  const ended: [string, number][] = [];
  for (const { member } of [leader, follower]) {
    const end = (how: string): number => ended.push([how, cluster.clock.nowMs() - fromMs]);
    void refusal(get(member.store, 'a')).then(end);
  }
  expect(await cluster.run(get(leader.member.store, 'a', true))).toBe('1');
  expect(await cluster.run(get(follower.member.store, 'a', true))).toBe('1');
  await cluster.pass(6500);
  expect(ended).toEqual([]);
  expect(leader.member.cluster.stalledMs).toBeGreaterThan(6000);
  await cluster.pass(1500);
  expect(ended.map(([how]) => how)).toEqual(['Timeout', 'Timeout']);
  for (const { member } of cluster.running) cluster.healStorage(member.cluster.memberId);
  expect(await cluster.run(get(leader.member.store, 'a'))).toBe('1');
  expect(await cluster.run(get(follower.member.store, 'a'))).toBe('1');
  expect(cluster.fatal).toEqual([]);
});

test('a leader that only reads hands over when storage does not answer it', async () => {
  const cluster = await TestCluster.start();
  const leader = await cluster.leader();
  const id = leader.member.cluster.memberId;
  await cluster.run(leader.member.store.txn(put('a', '1'), nodeItself));
  await cluster.pass(1000); // the other members have reported that their storage is healthy
  cluster.cutStorage(id);
  const fromMs = cluster.clock.nowMs();
  expect(await cluster.run(get(leader.member.store, 'a'))).toBe('1');
  expect(cluster.clock.nowMs() - fromMs).toBeLessThan(4000);
  const other = await cluster.leader();
  expect(other.member.cluster.memberId).not.toBe(id);
  cluster.healStorage(id);
  await cluster.pass(2000);
  expect(cluster.fatal).toEqual([]);
});

test('a leader that stops hands over: writes at the others go on', async () => {
  const cluster = await TestCluster.start();
  const old = await cluster.leader();
  const oldId = old.member.cluster.memberId;
  const other = cluster.running.find(({ member }) => member.cluster.memberId !== oldId)!;
  const stopping = cluster.stop(oldId);
  const written = await cluster.run(other.member.store.txn(put('k', 'v'), nodeItself));
  await stopping;
  expect(written).toMatchObject({ revision: 2 });
  expect(cluster.fatal).toEqual([]);
});

test('members are added as learners, catch up, are promoted, and removed', async () => {
  const cluster = await TestCluster.start();
  const leader = await cluster.leader();
  await cluster.pass(6000); // members must have been connected for a while
  for (let at = 0; at < 5; at += 1) await cluster.run(leader.member.store.txn(put(`k${at}`, 'v'), nodeItself));
  const follower = cluster.running.find((each) => each !== leader)!;
  const url = 'http://127.0.0.1:1009';
  const { added } = await cluster.run(follower.member.cluster.changes.add([url], true, nodeItself));
  expect(added).toMatchObject({ isLearner: true, name: '' });
  await cluster.pass(1100); // the time in seconds is part of an id
  expect(await refusal(cluster.run(follower.member.cluster.changes.add([url], false, nodeItself)))).toBe(
    'PeerURLExist',
  );
  const joined = await cluster.start(added.id, true);
  expect(cluster.dialed.has(added.id), 'keeps the connections it was given').toBe(false);
  await cluster.pass(2000);
  expect(joined.member.cluster.isLearner).toBe(true);
  expect(await cluster.run(get(joined.member.store, 'k4'))).toBe('v');
  // Raft has nothing for the learner that it lacks. What it has of the store only the learner knows.
  const way = `${leader.member.cluster.memberId}>${added.id}`;
  cluster.cut.add(way);
  const promote = () => cluster.run(leader.member.cluster.changes.promote(added.id, nodeItself));
  expect(await refusal(promote())).toBe('LearnerNotReady');
  cluster.cut.delete(way);
  await cluster.pass(2000);
  const members = await promote();
  expect(leader.member.cluster.counts).toMatchObject({
    promotions: 1,
    refusedTakeovers: 0,
    refusedPromotions: new Map([['etcdserver: can only promote a learner member which is in sync with leader', 1]]),
  });
  expect(members.find(({ id }) => id === added.id)).toMatchObject({ isLearner: false });
  await cluster.run(leader.member.cluster.changes.moveLeader(added.id, nodeItself));
  const moved = await cluster.leader();
  expect(moved.member.cluster.memberId).toBe(added.id);
  const gone = follower.member.cluster.memberId;
  await cluster.pass(6000);
  await cluster.run(moved.member.cluster.changes.remove(gone, nodeItself));
  await cluster.pass(2000);
  expect(cluster.removed).toEqual([gone]);
  expect(await refusal(cluster.run(moved.member.cluster.changes.remove(gone, nodeItself)))).toBe('MemberNotFound');
  expect(cluster.fatal).toEqual([]);
});

test('a leader says that its writes wait for storage, and no longer when they have ended', async () => {
  const cluster = await TestCluster.start();
  const leader = await cluster.leader();
  for (const { member } of cluster.running) cluster.cutStorage(member.cluster.memberId);
  const write = leader.member.store.txn(put('k', 'v'), nodeItself).catch(() => undefined);
  await cluster.pass(4000);
  expect(leader.member.cluster.stalledMs).toBe(0);
  await cluster.pass(4000);
  expect(leader.member.cluster.stalledMs).toBeGreaterThan(5000);
  for (const { member } of cluster.running) cluster.healStorage(member.cluster.memberId);
  await cluster.pass(4000);
  await write;
  expect(cluster.running.map(({ member }) => member.cluster.stalledMs)).toEqual([0, 0, 0]);
});

test('a member that was removed before its first start ends, and does not wait for ever', async () => {
  const cluster = await TestCluster.start();
  const leader = await cluster.leader();
  await cluster.pass(6000); // members must have been connected for a while
  const { changes } = leader.member.cluster;
  const { added } = await cluster.run(changes.add(['http://127.0.0.1:1009'], true, nodeItself));
  await cluster.run(changes.remove(added.id, nodeItself));
  await cluster.start(added.id, true);
  await cluster.pass(3000);
  expect(cluster.removed).toEqual([added.id]);
  expect(cluster.fatal).toEqual([]);
});

test('a change of the membership whose answer is lost is answered once it is known here', async () => {
  const cluster = await TestCluster.start();
  const leader = await cluster.leader();
  await cluster.pass(6000); // members must have been connected for a while
  const follower = cluster.running.find((each) => each !== leader)!;
  const { changes, memberId: id } = follower.member.cluster;
  const leads = leader.member.cluster.memberId;
  cluster.unanswered.add(`${leads}>${id}`);
  const urls = ['http://127.0.0.1:2001'];
  const updated = await cluster.run(changes.update(id, urls, nodeItself));
  expect(updated.find((member) => member.id === id)?.peerUrls).toEqual(urls);
  // This change removes the leader itself.
  const left = await cluster.run(changes.remove(leads, nodeItself));
  expect(left.map((member) => member.id)).toEqual([1n, 2n, 3n].filter((each) => each !== leads));
  await cluster.pass(5000);
  expect(cluster.removed).toEqual([leads]);
  expect(cluster.fatal).toEqual([]);
});

test('a change of the membership that does not arrive ends as one that nobody knows the end of', async () => {
  const cluster = await TestCluster.start();
  const leader = await cluster.leader();
  await cluster.pass(6000);
  const follower = cluster.running.find((each) => each !== leader)!;
  const { changes, memberId: id } = follower.member.cluster;
  for (const other of cluster.running) {
    const { memberId: to } = other.member.cluster;
    if (to !== id) cluster.cut.add(`${to}>${id}`).add(`${id}>${to}`);
  }
  const code = await refusal(cluster.run(changes.update(id, ['http://127.0.0.1:2001'], nodeItself)));
  expect(['Timeout', 'NoLeader']).toContain(code);
  expect(leader.member.cluster.members.find((member) => member.id === id)?.peerUrls).not.toEqual([
    'http://127.0.0.1:2001',
  ]);
});

test('leases end once, wherever they were granted, also when their leader dies', async () => {
  const cluster = await TestCluster.start();
  const leader = await cluster.leader();
  const follower = cluster.running.find((each) => each !== leader)!;
  await cluster.run(follower.member.store.leaseGrant(leaseId(5n), 5, nodeItself));
  await cluster.run(follower.member.store.txn(put('leased', 'v', 5n), nodeItself));
  await cluster.pass(3000);
  expect(await cluster.run(Promise.resolve(follower.member.store.leaseKeepAlive(leaseId(5n), nodeItself)))).toBe(5);
  await cluster.pass(3000);
  cluster.kill(leader.member.cluster.memberId);
  await cluster.leader();
  await cluster.pass(3000);
  expect(await cluster.run(get(follower.member.store, 'leased')), 'it has its whole time again').toBe('v');
  await cluster.pass(4000);
  expect(await cluster.run(get(follower.member.store, 'leased'))).toBeUndefined();
  expect(follower.member.stats.leases).toBe(0);
  expect(cluster.fatal).toEqual([]);
});

test.each([{ ids: [1n] }, { ids: [1n, 2n, 3n] }])(
  'a member is ready once the list has its name: $ids',
  async ({ ids }) => {
    const cluster = await TestCluster.start(ids);
    const never = new AbortController().signal;
    const entries = ids.map(async (id) => {
      const started = cluster.member(id);
      await started.ready(never);
      return started.member.cluster.members.find((entry) => entry.id === id);
    });
    const expected = ids.map((id) => ({ name: `m${id}`, clientUrls: [`http://c${id}`] }));
    expect(await cluster.run(Promise.all(entries))).toMatchObject(expected);
  },
);

test('whoever waits until a member is ready can give up', async () => {
  const cluster = new TestCluster();
  const started = await cluster.start(1n);
  const abort = new AbortController();
  const ready = started.ready(abort.signal);
  await cluster.pass(100);
  abort.abort(new Error('given up'));
  await expect(cluster.run(ready)).rejects.toThrow('given up');
});

test('a member that storage will not serve again ends and says why, a follower too', async () => {
  const cluster = await TestCluster.start();
  await cluster.leader();
  cluster.endStorage.abort(new Error('PD does not keep to its protocol'));
  expect(cluster.fatal.map(({ message, cause }) => `${message}: ${String(cause)}`)).toEqual(
    Array.from(
      { length: 3 },
      () => 'storage will not serve this process again: Error: PD does not keep to its protocol',
    ),
  );
});

test('so does one that starts on a storage that has ended meanwhile', async () => {
  const cluster = new TestCluster([1n]);
  cluster.endStorage.abort(new Error('PD does not keep to its protocol'));
  await cluster.start(1n);
  expect(cluster.fatal.map(({ message }) => message)).toEqual(['storage will not serve this process again']);
});
