import { AuthClient, fakeAuth, LockClient, observed } from '@engram/etcd-api/testing';
import type { ClusterMember } from '@engram/member';
import { Prng } from '@engram/sim';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { TestCluster } from './cluster.ts';
import { get } from './requests.ts';

/* Locks and elections of a cluster: each client asks another member, and each member waits by its own replica. */

let cluster: TestCluster;
let leader: ClusterMember;
let followers: readonly ClusterMember[];
beforeEach(async () => {
  cluster = await TestCluster.start([1n, 2n, 3n], (id) => fakeAuth({ random: new Prng(Number(id)) }));
  leader = await cluster.leader();
  followers = cluster.running.filter((member) => member !== leader);
  for (const lease of [1n, 2n, 3n]) await run(new AuthClient(leader.member.methods).grant(lease, 600));
});
afterEach(() => expect(cluster.fatal).toEqual([]));

const run = <Value>(work: Promise<Value>): Promise<Value> => cluster.run(work);
const at = ({ member }: ClusterMember, token?: string): LockClient =>
  new LockClient(member.methods, token === undefined ? {} : { token });

test('a lock goes from member to member, in the order of the keys', async () => {
  const members = [followers[0]!, leader, followers[1]!];
  const calls = [];
  for (const [index, member] of members.entries()) {
    calls.push(at(member).lock('m', BigInt(index + 1)));
    await cluster.pass(100);
  }
  for (const [index, call] of calls.entries()) {
    expect(calls.map(({ state }) => state)).toEqual(calls.map((_, other) => (other <= index ? 'answered' : 'waits')));
    await run(at(members[(index + 1) % 3]!).unlock(Buffer.from(call.answer!.key).toString()).done);
    await cluster.pass(100);
  }
});

test('a client of a follower that gives up takes its key away', async () => {
  await run(at(leader).lock('m', 1n).done);
  const waiting = at(followers[0]!).lock('m', 2n);
  await cluster.pass(100);
  expect(await run(get(leader.member.store, 'm/2'))).toBe('');
  waiting.cancel();
  await cluster.pass(100);
  expect(await run(get(leader.member.store, 'm/2'))).toBeUndefined();
});

test('a wait goes on over a change of the leader', async () => {
  await run(at(leader).lock('m', 1n).done);
  const waiting = at(followers[0]!).lock('m', 2n);
  await cluster.pass(100);
  cluster.kill(leader.member.cluster.memberId);
  await cluster.leader();
  expect(waiting.state).toBe('waits');
  await run(at(followers[1]!).unlock('m/1').done);
  await cluster.pass(100);
  expect(waiting.state).toBe('answered');
});

test('the end of a lease hands a lock on, at whichever member its heir waits', async () => {
  await run(new AuthClient(leader.member.methods).grant(9n, 3));
  await run(at(followers[0]!).lock('m', 9n).done);
  const heir = at(followers[1]!).lock('m', 2n);
  await cluster.pass(1_000);
  expect(heir.state).toBe('waits');
  await cluster.pass(6_000);
  expect(heir.state).toBe('answered');
});

test('an observer at a follower sees the leaders that others elect', async () => {
  const seen = at(followers[0]!).observe('e');
  await cluster.pass(100);
  const { leader: first } = await run(at(leader).campaign('e', 1n, 'a').done);
  const next = at(followers[1]!).campaign('e', 2n, 'b');
  await run(at(followers[1]!).proclaim(first, 'c').done);
  await run(at(followers[0]!).resign(first).done);
  await run(next.done);
  await cluster.pass(100);
  expect(observed(seen)).toEqual(['e/1=a', 'e/1=c', 'e/2=b']);
  seen.cancel();
});

test('rights are judged for the client, whichever member it asks', async () => {
  const anybody = new AuthClient(followers[0]!.member.methods);
  await run(anybody.addUserWith('alice', ['rw', ['m/', 'm0']]));
  await run(anybody.addUser('root'));
  await run(anybody.grantRole('root', 'root'));
  await run(anybody.enable());
  const token = await run(anybody.authenticate('alice'));
  for (const [index, member] of cluster.running.entries()) {
    const says = async (name: string, as?: string): Promise<string> => {
      const call = at(member, as).lock(name, BigInt(index + 1));
      await run(call.done.catch(() => undefined));
      await cluster.pass(10);
      return call.state;
    };
    expect(await says('n', token)).toBe('etcdserver: permission denied');
    expect(await says('m')).toBe('etcdserver: user name is empty');
    expect(await says('m', token)).toBe('answered');
    await run(at(member, token).unlock(`m/${index + 1}`).done);
  }
});
