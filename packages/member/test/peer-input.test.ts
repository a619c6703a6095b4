import { nodeItself } from '@engram/backend';
import { isEngramError } from '@engram/core';
import { expect, test } from 'vitest';
import * as peerpb from '../src/gen/peerpb.ts';
import { TestCluster } from './cluster.ts';
import { put } from './requests.ts';

async function refusal(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return 'accepted';
  } catch (error) {
    if (isEngramError(error)) return error.code;
    throw error;
  }
}

test('a member that no member can dial is not added, wherever it is asked for', async () => {
  const cluster = await TestCluster.start();
  const leader = await cluster.leader();
  await cluster.pass(6000); // members must have been connected for a while
  const follower = cluster.running.find((each) => each !== leader)!;
  for (const url of ['unix:///nowhere', 'unix://a b', 'http://h:65536', 'nonsense']) {
    for (const { member } of [leader, follower]) {
      const { changes, memberId } = member.cluster;
      expect(await refusal(cluster.run(changes.add([url], true, nodeItself)))).toBe('MemberBadURLs');
      expect(await refusal(cluster.run(changes.update(memberId, [url], nodeItself)))).toBe('MemberBadURLs');
    }
    // As a member of another version passes it on, which has not looked at the URLs.
    const { memberId } = leader.member.cluster;
    const caller = { ...nodeItself, member: follower.member.cluster.memberId };
    for (const kind of [peerpb.MemberChangeKind.ADD, peerpb.MemberChangeKind.UPDATE]) {
      const request = peerpb.encodeRequest({
        member: caller.member,
        memberChange: { kind, id: memberId, peerUrls: [url], learner: true },
      });
      const answer = peerpb.decodeAnswer(await cluster.run(leader.service.call(request, caller)));
      expect(answer.error).toBe('MemberBadURLs');
    }
  }
  expect(cluster.fatal).toEqual([]);
  expect(leader.member.cluster.members).toHaveLength(3);
});

test('a member list that the network fails to take ends no member, and none at its start', async () => {
  const cluster = await TestCluster.start();
  const leader = await cluster.leader();
  await cluster.pass(6000); // members must have been connected for a while
  cluster.failingNetworks = true;
  await cluster.run(leader.member.cluster.changes.add(['http://127.0.0.1:1009'], true, nodeItself));
  await cluster.pass(2000);
  for (const id of [1n, 2n, 3n]) cluster.kill(id);
  for (const id of [1n, 2n, 3n]) await cluster.start(id);
  expect(await cluster.run((await cluster.leader()).member.store.txn(put('k', 'v'), nodeItself))).toBeDefined();
  expect(cluster.fatal).toEqual([]);
});
