import { ALARM_CORRUPT, nodeItself } from '@engram/backend';
import type { ClusterMember } from '@engram/member';
import { type CallContext, etcdserverpb, gatherMessage, statusOf } from '@engram/wire';
import { expect, test } from 'vitest';
import { TestCluster } from './cluster.ts';

const call: CallContext = {
  client: 'test',
  method: '/test',
  head: { admitted: undefined },
  metadata: () => undefined,
  signal: nodeItself.signal,
  peer: '127.0.0.1:1',
  commonName: undefined,
};

async function listAlarms(cluster: TestCluster, { member }: ClusterMember) {
  const method = member.methods.get('/etcdserverpb.Maintenance/Alarm');
  if (method?.kind !== 'unary') throw new Error('no method');
  const request = etcdserverpb.encodeAlarmRequest({ action: etcdserverpb.AlarmRequestAlarmAction.GET });
  const answering = (async () => gatherMessage(await method.handle(request, call)))().then(
    (bytes) => etcdserverpb.decodeAlarmResponse(bytes).alarms,
    (error: unknown) => statusOf(error).message,
  );
  return await cluster.run(answering);
}

test('the list of alarms at any member has every alarm that was raised before; without a quorum there is no list', async () => {
  const cluster = await TestCluster.start();
  const leader = await cluster.leader();
  const alarm = { memberId: 7n, alarm: ALARM_CORRUPT };
  const others = cluster.running.filter((member) => member !== leader);
  for (const each of [leader, ...others]) {
    await cluster.run(each.member.store.activateAlarm(alarm, nodeItself));
    for (const asked of cluster.running) expect(await listAlarms(cluster, asked)).toEqual([{ memberID: 7n, alarm: 2 }]);
    await cluster.run(each.member.store.deactivateAlarm(alarm, nodeItself));
    for (const asked of cluster.running) expect(await listAlarms(cluster, asked)).toEqual([]);
  }
  const cutOff = others[0]!;
  const id = cutOff.member.cluster.memberId;
  for (const { member } of cluster.running) {
    cluster.cut.add(`${id}>${member.cluster.memberId}`);
    cluster.cut.add(`${member.cluster.memberId}>${id}`);
  }
  await cluster.pass(3000);
  await cluster.run(leader.member.store.activateAlarm(alarm, nodeItself));
  expect(await listAlarms(cluster, cutOff)).toBe('etcdserver: request timed out');
  cluster.cut.clear();
  await cluster.pass(3000);
  expect(await listAlarms(cluster, cutOff)).toEqual([{ memberID: 7n, alarm: 2 }]);
  expect(cluster.fatal).toEqual([]);
});
