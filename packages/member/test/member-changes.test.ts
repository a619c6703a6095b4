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
