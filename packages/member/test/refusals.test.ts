import { nodeItself } from '@engram/backend';
import { leaseId } from '@engram/core';
import { expect, test } from 'vitest';
import { TestCluster } from './cluster.ts';
import { put } from './requests.ts';

test('a member shows what a refusal of its leader rests on, before it tells the refusal', async () => {
  const cluster = await TestCluster.start();
  const leader = await cluster.leader();
  const follower = cluster.running.find((each) => each !== leader)!;
  const { memberId: id } = follower.member.cluster;
  const { store } = follower.member;
  const lease = leaseId(7n);
  await cluster.run(store.leaseGrant(lease, 60, nodeItself));
  cluster.holdFeed(id);
  await cluster.run(leader.member.store.leaseRevoke(lease, nodeItself));

  const told: string[] = [];
  const refused = store.txn(put('leased', 'v', lease), nodeItself).catch(async (error: unknown) => {
    const leases = await store.leases('by-id', nodeItself);
    told.push(`${String(error)}; leases: ${leases.length}`);
  });
  await cluster.pass(300);
  expect(told).toEqual([]);
  cluster.releaseFeed(id);
  await cluster.run(refused);
  expect(told).toEqual([expect.stringMatching(/requested lease not found; leases: 0$/)]);
});

test('a refusal is told in time also where the member does not come to show what it rests on', async () => {
  const cluster = await TestCluster.start();
  const leader = await cluster.leader();
  const follower = cluster.running.find((each) => each !== leader)!;
  const { memberId: id } = follower.member.cluster;
  const lease = leaseId(7n);
  await cluster.run(follower.member.store.leaseGrant(lease, 60, nodeItself));
  cluster.holdFeed(id);
  await cluster.run(leader.member.store.leaseRevoke(lease, nodeItself));
  const beganMs = cluster.clock.nowMs();
  const refused = follower.member.store.txn(put('leased', 'v', lease), { ...nodeItself, timeoutMs: 500 });
  await expect(cluster.run(Promise.resolve(refused))).rejects.toMatchObject({ code: 'LeaseNotFound' });
  expect(cluster.clock.nowMs() - beganMs).toBeLessThan(1000);
  cluster.releaseFeed(id);
});
