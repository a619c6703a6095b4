import { nodeItself } from '@engram/backend';
import { errorTable, GrpcCode } from '@engram/core';
import { expect, test } from 'vitest';
import { TestCluster } from './cluster.ts';

test('a change of a leader that reaches no other member ends by the time of a request', async () => {
  const cluster = await TestCluster.start();
  const leader = await cluster.leader();
  const id = leader.member.cluster.memberId;
  for (const other of [1n, 2n, 3n].filter((one) => one !== id)) {
    cluster.cut.add(`${id}>${other}`);
    cluster.cut.add(`${other}>${id}`);
  }
  const changed = leader.member.cluster.changes!.update(id, ['http://127.0.0.1:2001'], nodeItself);
  await expect(cluster.run(changed, 800)).rejects.toMatchObject({ code: 'Timeout' });
});

test('a leader whose successor does not answer ends the request by the time of a request, and stays', async () => {
  const cluster = await TestCluster.start();
  const leader = await cluster.leader();
  const id = leader.member.cluster.memberId;
  const target = [1n, 2n, 3n].find((one) => one !== id)!;
  cluster.cut.add(`${id}>${target}`);
  cluster.cut.add(`${target}>${id}`);
  const moved = leader.member.cluster.changes!.moveLeader(target, nodeItself);
  await expect(cluster.run(moved, 800)).rejects.toMatchObject({ code: 'TimeoutLeaderTransfer' });
  expect(errorTable.TimeoutLeaderTransfer).toEqual({
    grpc: GrpcCode.UNKNOWN,
    message: 'etcdserver: request timed out, leader transfer took too long',
  });
  expect(leader.member.stats.leadsIn).toBeDefined();
});

test('a member shows a change of the membership that another one was told of before', async () => {
  const cluster = await TestCluster.start();
  const leader = await cluster.leader();
  await cluster.pass(6000);
  const leads = leader.member.cluster.memberId;
  const follower = cluster.running.find((each) => each !== leader)!;
  const { memberId: id } = follower.member.cluster;
  const peerUrls = ['http://127.0.0.1:2001'];
  cluster.holdMessages(id);
  await cluster.run(leader.member.cluster.changes.update(leads, peerUrls, nodeItself));
  const urls = (): readonly string[] => follower.member.cluster.members.find((member) => member.id === leads)!.peerUrls;
  await cluster.run(Promise.resolve(follower.member.store.readIndex(nodeItself)));
  expect(urls(), 'it has not heard of the change').not.toEqual(peerUrls);
  const caughtUp = follower.member.cluster.membersCaughtUp(nodeItself).then(urls);
  await cluster.pass(100);
  cluster.releaseMessages(id);
  expect(await cluster.run(caughtUp)).toEqual(peerUrls);

  cluster.holdMessages(id);
  await cluster.run(leader.member.cluster.changes.update(leads, ['http://127.0.0.1:2002'], nodeItself));
  await cluster.run(Promise.resolve(follower.member.store.readIndex(nodeItself)));
  const late = follower.member.cluster.membersCaughtUp({ ...nodeItself, timeoutMs: 100 });
  await expect(cluster.run(late)).rejects.toMatchObject({ code: 'TimeoutWaitAppliedIndex' });
  const abort = new AbortController();
  const givenUp = follower.member.cluster.membersCaughtUp({ ...nodeItself, signal: abort.signal });
  abort.abort(new Error('given up'));
  await expect(cluster.run(givenUp)).rejects.toThrow('given up');
});

test('a member shows at once a change that its own client has made, unless it lags or is to go', async () => {
  const cluster = await TestCluster.start();
  const leader = await cluster.leader();
  await cluster.pass(6000);
  const leads = leader.member.cluster.memberId;
  const follower = cluster.running.find((each) => each !== leader)!;
  const { memberId: id, changes } = follower.member.cluster;
  for (const changed of [leads, id]) {
    const peerUrls = [`http://127.0.0.1:${3000n + changed}`];
    cluster.holdMessages(id);
    const shown = changes
      .update(changed, peerUrls, nodeItself)
      .then(() => follower.member.cluster.members.find((member) => member.id === changed)!.peerUrls);
    await cluster.pass(200);
    cluster.releaseMessages(id);
    expect(await cluster.run(shown)).toEqual(peerUrls);
    await cluster.pass(6000);
  }

  cluster.holdMessages(id);
  const beganMs = cluster.clock.nowMs();
  const listed = await cluster.run(changes.update(leads, ['http://127.0.0.1:2002'], nodeItself));
  expect(listed.find((member) => member.id === leads)!.peerUrls).toEqual(['http://127.0.0.1:2002']);
  expect(cluster.clock.nowMs() - beganMs).toBeLessThan(1200);

  cluster.releaseMessages(id);
  await cluster.pass(3000);
  cluster.holdMessages(id);
  const askedMs = cluster.clock.nowMs();
  const left = await cluster.run(changes.remove(id, nodeItself));
  expect(left.map((member) => member.id)).not.toContain(id);
  expect(cluster.clock.nowMs() - askedMs).toBeLessThan(200);
});

test('a leader that was replaced does not refuse a change by the list of before', async () => {
  const cluster = await TestCluster.start();
  const old = await cluster.leader();
  await cluster.pass(6000);
  const { memberId: oldId, members } = old.member.cluster;
  const others = [1n, 2n, 3n].filter((id) => id !== oldId);
  for (const id of others) cluster.cut.add(`${oldId}>${id}`).add(`${id}>${oldId}`);
  for (const id of others) cluster.member(id).service.gone(oldId);
  let next = old;
  for (let steps = 0; next === old; steps += 1) {
    expect(steps).toBeLessThan(100);
    await cluster.pass(10);
    next = others.map((id) => cluster.member(id)).find(({ member }) => member.stats.leadsIn !== undefined) ?? old;
  }
  const moved = others.find((id) => id !== next.member.cluster.memberId)!;
  await cluster.run(next.member.cluster.changes.update(moved, ['http://127.0.0.1:2001'], nodeItself));
  expect(old.member.cluster.leaderId, 'it takes itself for the leader').toBe(oldId);
  const { peerUrls } = members.find(({ id }) => id === moved)!;
  const refused = old.member.cluster.changes.update(oldId, peerUrls, nodeItself);
  const code = await cluster.run(refused.then(String, ({ code }: { code: string }) => code));
  expect(['NotLeader', 'LeaderChanged', 'Timeout']).toContain(code);

  const taken = next.member.cluster.changes.update(moved, members.find(({ id }) => id === oldId)!.peerUrls, nodeItself);
  await expect(cluster.run(taken), 'a leader that still leads').rejects.toMatchObject({ code: 'PeerURLExist' });
});
