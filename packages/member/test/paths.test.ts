import { nodeItself } from '@engram/backend';
import { namedRooms, PassedRooms } from '@engram/sim';
import { expect, test } from 'vitest';
import { TestCluster } from './cluster.ts';
import { put } from './requests.ts';

test('a forwarded put and a leader change pass the rooms that the picture names, and no other', async () => {
  using rooms = await PassedRooms.begin();
  const cluster = await TestCluster.start();
  const leader = await cluster.leader();
  const follower = cluster.running.find((member) => member !== leader)!;
  await cluster.pass(1000);
  const forward = () => cluster.run(follower.member.store.txn(put('k', 'v'), nodeItself));
  await forward();
  expect(await rooms.of(forward), 'forwarded put').toEqual(namedRooms('forwarded put'));
  const changed = await rooms.of(async () => {
    cluster.kill((await cluster.leader()).member.cluster.memberId);
    await rooms.take();
    await cluster.leader();
  }, 1);
  expect(changed, 'leader change').toEqual(namedRooms('leader change'));
  expect(cluster.fatal).toEqual([]);
});
