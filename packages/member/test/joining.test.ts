import { nodeItself } from '@engram/backend';
import { encodePeerMessage } from '@engram/election';
import type { ClusterMember } from '@engram/member';
import type { Message } from '@engram/raft-ts';
import { expect, test } from 'vitest';
import * as peerpb from '../src/gen/peerpb.ts';
import { TestCluster } from './cluster.ts';
import { get, put } from './requests.ts';

const CLUSTER = 0xc1n;
const STRANGER = 0x666n;
const ID = 9n;

const raft = (message: unknown): Uint8Array =>
  encodePeerMessage({ kind: 'raft', clusterId: CLUSTER, storageHealthy: true, message: message as Message });

/** A cluster that has added a learner, which is not started yet. */
async function withAdded() {
  const cluster = await TestCluster.start();
  const leader = await cluster.leader();
  await cluster.pass(6000); // members must have been connected for a while
  await cluster.run(leader.member.store.txn(put('k', 'v'), nodeItself));
  const { added } = await cluster.run(
    leader.member.cluster.changes.add([`http://127.0.0.1:100${ID}`], true, nodeItself),
  );
  return { cluster, leader, id: added.id };
}

async function expectJoins(cluster: TestCluster, joined: ClusterMember): Promise<void> {
  await cluster.pass(3000);
  expect(joined.member.cluster.members).toHaveLength(4);
  expect(await cluster.run(get(joined.member.store, 'k'))).toBe('v');
  expect(cluster.fatal).toEqual([]);
}

test('a member that joins takes nobody for a member but those that it was told of, from its first second', async () => {
  const { cluster, leader, id: to } = await withAdded();
  for (const other of [1n, 2n, 3n]) cluster.cut.add(`${other}>${to}`);
  const joined = await cluster.start(to, true);
  expect(joined.member.cluster.members).toEqual([]);
  const { term } = joined.member.cluster;
  const head = { from: STRANGER, to, term: 99 };
  const messages = [
    { ...head, type: 'heartbeat', commit: 0, readRound: 0 },
    { ...head, type: 'append', prevIndex: 0, prevTerm: 0, entries: [], commit: 0 },
    { ...head, type: 'append-response', index: 0, rejection: undefined },
    { ...head, type: 'vote', lastIndex: 9, lastTerm: 98, transfer: true },
  ];
  const { service } = joined;
  for (const dialed of [true, false]) {
    for (const message of messages) {
      expect(service.message(raft(message), { member: STRANGER, dialed }), message.type).toBe(
        'a message of a member that is not in the list',
      );
    }
  }
  expect(service.admission(STRANGER)).toBe('unknown');
  const asked = peerpb.encodeRequest({ member: STRANGER, readIndex: {} });
  const answer = await cluster.run(service.call(asked, { ...nodeItself, member: STRANGER }));
  expect(peerpb.decodeAnswer(answer).error).toBe('NotLeader');
  await cluster.pass(200);
  expect([joined.member.cluster.term, joined.member.cluster.leaderId]).toEqual([term, 0n]);
  expect(service.admission(leader.member.cluster.memberId)).toBe('member');
  cluster.cut.clear();
  await expectJoins(cluster, joined);
});

test('a member that joins and was told only of members that have gone asks again', async () => {
  const { cluster, id } = await withAdded();
  cluster.introduced = [id];
  const joined = await cluster.start(id, true);
  await cluster.pass(2000);
  expect(joined.member.cluster.members).toEqual([]);
  expect(new Set(cluster.refused)).toEqual(new Set(['a message of a member that is not in the list']));
  // No list comes from the leader, and it asks all the same.
  for (const other of [1n, 2n, 3n]) cluster.cut.add(`${other}>${id}`);
  await cluster.pass(20_000);
  expect(joined.member.cluster.members).toEqual([]);
  expect(cluster.dialed.get(id)).toEqual(expect.arrayContaining([1n, 2n, 3n]));
  cluster.cut.clear();
  await expectJoins(cluster, joined);
});
