import { nodeItself } from '@engram/backend';
import { leaseId, utf8 } from '@engram/core';
import { AuthClient, fakeAuth, outcome } from '@engram/etcd-api/testing';
import type { ClusterMember } from '@engram/member';
import { peerpb } from '@engram/member/testing';
import { Prng } from '@engram/sim';
import { encodeTxn, etcdserverpb } from '@engram/wire';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { TestCluster } from './cluster.ts';
import { put } from './requests.ts';

/* Users and roles of a cluster: whichever member is asked, and whoever leads. */

const denied = 'permission denied';
const old = 'revision of auth store is old';

let cluster: TestCluster;
let leader: ClusterMember;
let followers: readonly ClusterMember[];
let tokens: { readonly root: string; readonly alice: string };

beforeEach(async () => {
  cluster = await TestCluster.start([1n, 2n, 3n], (id) => fakeAuth({ random: new Prng(Number(id)) }));
  leader = await cluster.leader();
  followers = cluster.running.filter((member) => member !== leader);
});
afterEach(() => expect(cluster.fatal).toEqual([]));

const at = ({ member }: ClusterMember): AuthClient => new AuthClient(member.methods);
const run = <Value>(work: Promise<Value>): Promise<Value> => cluster.run(work);
const says = (work: Promise<unknown>): Promise<string> => run(outcome(work));

/** Root, and alice who may write and read [a, c), made at a follower. */
async function enable(): Promise<void> {
  const client = at(followers[0]!);
  await run(client.addUserWith('alice', ['rw', ['a', 'c']]));
  await run(client.addUser('root'));
  await run(client.grantRole('root', 'root'));
  await run(client.enable());
  tokens = { root: await run(client.authenticate('root')), alice: await run(client.authenticate('alice')) };
}

describe('on every member', () => {
  beforeEach(enable);

  test('a token of any of them counts, and gives the same rights', async () => {
    for (const member of cluster.running) {
      const alice = at(member).with(tokens.alice);
      expect(await says(alice.put('a', 'v'))).toBe('ok');
      expect(await says(alice.put('z'))).toBe(denied);
      expect(await says(alice.get('a'))).toBe('ok');
      expect(await says(alice.get('a', true))).toBe('ok');
      expect(await says(alice.get('z', true))).toBe(denied);
      expect(await says(at(member).put('a'))).toBe('user name is empty');
      expect(await says(at(member).get('a', true))).toBe('user name is empty');
      expect(await says(at(member).with('x').put('a'))).toBe('invalid auth token');
    }
  });

  test('a token counts at a member that does not know it yet', async () => {
    const login = at(leader).authenticate('alice');
    const used = login.then((token) => outcome(at(followers[1]!).with(token).get('a')));
    expect(await run(used)).toBe('ok');
    const again = at(leader).authenticate('alice');
    expect(await run(again.then((token) => outcome(at(followers[1]!).with(token).put('a'))))).toBe('ok');
  });

  test('a right that is taken away at one of them counts for what comes later at the others', async () => {
    await run(at(leader).with(tokens.root).forbid('alice', ['a', 'c']));
    for (const member of cluster.running) {
      expect(await says(at(member).with(tokens.alice).put('a'))).toBe(denied);
      expect(await says(at(member).with(tokens.alice).get('a'))).toBe(denied);
    }
  });

  test('a watch at any of them ends when its right is taken away at another, before what comes later', async () => {
    const watches = cluster.running.map((member) => at(member).with(tokens.alice).bidi('/etcdserverpb.Watch/Watch'));
    const request = etcdserverpb.encodeWatchRequest({ createRequest: { key: utf8('a'), rangeEnd: utf8('c') } });
    for (const watch of watches) watch.request(request);
    await cluster.pass(100);
    const root = at(followers[0]!).with(tokens.root);
    await run(root.put('a', 'before'));
    await run(root.forbid('alice', ['a', 'c']));
    await run(root.put('a', 'behind'));
    await cluster.pass(300);
    for (const { sent } of watches) {
      expect(sent.map((bytes) => etcdserverpb.decodeWatchResponse(bytes))).toMatchObject([
        { created: true },
        { events: [{ kv: { value: utf8('before') } }] },
        { canceled: true, cancelReason: 'rpc error: code = PermissionDenied desc = etcdserver: permission denied' },
      ]);
    }
  });

  test('a user that is deleted at one of them has no token at the others', async () => {
    await run(at(followers[1]!).with(tokens.root).deleteUser('alice'));
    for (const member of cluster.running) {
      expect(await says(at(member).with(tokens.alice).put('a'))).toMatch(/^invalid auth token$/);
    }
  });

  test('a renewal is judged for its own user, whatever others renew in the same turn', async () => {
    const [follower] = followers;
    await run(at(follower!).with(tokens.root).grant(7n));
    await run(at(follower!).with(tokens.root).put('z', '', { lease: 7n }));
    const renew = (token: string) => {
      const call = at(follower!).with(token).bidi('/etcdserverpb.Lease/LeaseKeepAlive');
      call.request(etcdserverpb.encodeLeaseKeepAliveRequest({ ID: 7n }));
      return call;
    };
    const calls = [renew(tokens.alice), renew(tokens.root)];
    await cluster.pass(100);
    expect(calls[0]!.status?.message).toBe('etcdserver: permission denied');
    expect(etcdserverpb.decodeLeaseKeepAliveResponse(calls[1]!.sent[0]!)).toMatchObject({ TTL: 60 });
    expect(calls[0]!.sent).toEqual([]);
  });

  test('users, roles and log-ins outlive the leader', async () => {
    cluster.kill(leader.member.cluster.memberId);
    leader = await cluster.leader();
    for (const member of cluster.running) {
      expect(await says(at(member).with(tokens.alice).put('b'))).toBe('ok');
      expect(await says(at(member).with(tokens.alice).put('z'))).toBe(denied);
    }
    expect(await says(at(leader).with(tokens.root).addUser('bob'))).toBe('ok');
  });

  test('a member that starts again has them from the log, and tokens are new', async () => {
    const id = followers[0]!.member.cluster.memberId;
    await cluster.stop(id);
    const again = await cluster.start(id);
    await cluster.leader();
    await cluster.pass(1_000);
    expect(await says(at(again).with(tokens.alice).get('a'))).toBe('invalid auth token');
    const token = await run(at(again).authenticate('alice'));
    expect(await says(at(again).with(token).put('a'))).toBe('ok');
  });
});

describe('the leader', () => {
  beforeEach(enable);

  test('judges what a follower forwards, when it decides: not by what the follower knew', async () => {
    const forbidding = at(leader).with(tokens.root).forbid('alice', ['a', 'c']);
    const putting = outcome(at(followers[0]!).with(tokens.alice).put('a'));
    await run(forbidding);
    expect(await run(putting)).toBe(old);
    expect(await run(at(leader).with(tokens.root).get('a'))).toBeUndefined();
  });

  const forms: readonly (readonly [name: string, call: peerpb.RequestInit, ofUser: string])[] = [
    ['txn', { txn: encodeTxn(put('z', 'v')) }, 'PermissionDenied'],
    ['compact', { compact: { revision: 1 } }, 'PermissionDenied'],
    ['leaseRevoke', { leaseRevoke: { id: leaseId(7n) } }, 'PermissionDenied'],
    ['leaseTimeToLive', { leaseTimeToLive: { id: leaseId(7n), keys: true } }, 'PermissionDenied'],
    ['alarm', { alarm: { member: 1n, alarm: 1, active: true } }, 'PermissionDenied'],
    ['alarm that is cleared', { alarm: { member: 1n, alarm: 1, active: false } }, 'PermissionDenied'],
    ['memberChange', { memberChange: { kind: 1, id: 3n } }, 'PermissionDenied'],
    ['authChange', { authChange: { record: Uint8Array.of(2, 1) } }, 'PermissionDenied'],
    ['leaseGrant', { leaseGrant: { id: leaseId(8n), ttlSeconds: 60 } }, ''],
  ];

  test.each(forms)('refuses %s of a member that names no user, or one without the right', async (_, call, ofUser) => {
    await run(leader.member.store.leaseGrant(leaseId(7n), 60, nodeItself));
    await run(leader.member.store.txn(put('z', 'v', 7n), nodeItself));
    const { authRevision } = await run(at(leader).authStatus());
    const member = followers[0]!.member.cluster.memberId;
    const ask = async (over: peerpb.RequestInit): Promise<string> => {
      const request = peerpb.encodeRequest({ member, ...call, ...over });
      return peerpb.decodeAnswer(await run(leader.service.call(request, { ...nodeItself, member }))).error;
    };
    const before = leader.member.store.revision;
    expect(await ask({})).toBe('UserEmpty');
    expect(await ask({ user: 'alice', authRevision })).toBe(ofUser);
    expect(await ask({ user: 'stranger', authRevision })).toMatch(
      ofUser === '' ? /^$|^LeaseExist$/ : /PermissionDenied|UserNotFound/,
    );
    expect(leader.member.store.revision).toBe(before);
    expect((await run(at(leader).authStatus())).authRevision).toBe(authRevision);
    expect(leader.member.store.alarms()).toEqual([]);
    expect(leader.member.cluster.members).toHaveLength(3);
  });

  test('refuses nobody by the users that it knows, if it is cut off: another member may lead by now, with other users', async () => {
    await run(leader.member.store.leaseGrant(leaseId(7n), 60, nodeItself));
    await run(leader.member.store.txn(put('z', 'v', 7n), nodeItself));
    const { authRevision } = await run(at(leader).authStatus());
    const member = followers[0]!.member.cluster.memberId;
    const id = leader.member.cluster.memberId;
    for (const other of followers) {
      cluster.cut.add(`${id}>${other.member.cluster.memberId}`).add(`${other.member.cluster.memberId}>${id}`);
    }
    const refusals = forms.filter(([, , ofUser]) => ofUser !== '');
    const asked = refusals.map(async ([what, call]) => {
      const request = peerpb.encodeRequest({ member, user: 'alice', authRevision, ...call });
      const { error } = peerpb.decodeAnswer(await leader.service.call(request, { ...nodeItself, member }));
      return `${what}: ${error}`;
    });
    const own = [
      etcdserverpb.encodeAlarmRequest({ action: 1, memberID: 1n, alarm: 1 }),
      etcdserverpb.encodeAlarmRequest({ action: 2, memberID: 1n, alarm: 1 }),
    ].map((request) => outcome(at(leader).with(tokens.alice).call('/etcdserverpb.Maintenance/Alarm', request)));
    for (const answer of await run(Promise.all(asked))) expect(answer).toMatch(/: (?:NotLeader|LeaderChanged)$/);
    expect(await run(Promise.all(own))).toEqual(['leader changed', 'leader changed']);
  });

  test('refuses a renewal of a member that names no user', async () => {
    await run(leader.member.store.leaseGrant(leaseId(7n), 60, nodeItself));
    await run(leader.member.store.txn(put('z', 'v', 7n), nodeItself));
    const { authRevision } = await run(at(leader).authStatus());
    const member = followers[0]!.member.cluster.memberId;
    for (const [who, error] of [
      [{}, 'UserEmpty'],
      [{ user: 'alice', authRevision }, 'PermissionDenied'],
    ] as const) {
      const request = peerpb.encodeRequest({ member, leaseKeepAlive: { ids: [leaseId(7n)] }, ...who });
      const answer = peerpb.decodeAnswer(await run(leader.service.call(request, { ...nodeItself, member })));
      expect(answer.renewals).toMatchObject([{ error, ttlSeconds: 0 }]);
    }
  });

  test('refuses a write of an older log-in', async () => {
    const { authRevision } = await run(at(leader).authStatus());
    const member = followers[0]!.member.cluster.memberId;
    const ask = async (revision: number): Promise<string> => {
      const request = peerpb.encodeRequest({
        member,
        txn: encodeTxn(put('a', 'v')),
        user: 'alice',
        authRevision: revision,
      });
      return peerpb.decodeAnswer(await run(leader.service.call(request, { ...nodeItself, member }))).error;
    };
    expect(await ask(authRevision - 1)).toBe('AuthOldRevision');
    expect(await ask(authRevision)).toBe('');
  });

  test('refuses a log-in on users that are others by now, and a change that cannot be read', async () => {
    const member = followers[0]!.member.cluster.memberId;
    const { authRevision } = await run(at(leader).authStatus());
    const ask = async (call: peerpb.RequestInit): Promise<string> => {
      const request = peerpb.encodeRequest({ member, user: 'root', authRevision, ...call });
      return peerpb.decodeAnswer(await run(leader.service.call(request, { ...nodeItself, member }))).error;
    };
    const digest = new Uint8Array(32);
    expect(await ask({ login: { user: 'alice', authRevision: authRevision - 1, digest } })).toBe('AuthOldRevision');
    expect(await ask({ login: { user: 'nobody', authRevision, digest } })).toBe('AuthFailed');
    expect(await ask({ login: { user: 'alice', authRevision, digest: new Uint8Array(31) } })).toBe('NotCapable');
    expect(await ask({ authChange: { record: Uint8Array.of(99, 1) } })).toBe('NotCapable');
    expect(await ask({ authChange: { record: Uint8Array.of() } })).toBe('NotCapable');
  });
});

test("the node's own calls need no user, also where another member leads", async () => {
  await enable();
  for (const { member } of cluster.running) {
    await run(member.store.activateAlarm({ memberId: 9n, alarm: 1 }, nodeItself));
    expect(await run(member.store.deactivateAlarm({ memberId: 9n, alarm: 1 }, nodeItself))).toBe(true);
    expect(await run(member.health.health(new Set(), false, nodeItself.signal))).toBeUndefined();
  }
});

test('nothing of users is written while a member might not know them', async () => {
  cluster.changeAnswer = (bytes) => peerpb.encodeAnswer({ ...peerpb.decodeAnswer(bytes), knowsAuth: false });
  expect(await says(at(leader).addUser('root'))).toBe('not capable');
  expect(await says(at(followers[0]!).addRole('r'))).toBe('not capable');
  const { authRevision } = await run(at(leader).authStatus());
  expect(authRevision).toBe(1);
  cluster.changeAnswer = (bytes) => bytes;
  cluster.kill(followers[0]!.member.cluster.memberId);
  expect(await says(at(leader).addRole('r')), 'one that does not answer').toBe('not capable');
  await cluster.start(followers[0]!.member.cluster.memberId);
  await cluster.pass(1_000);
  expect(await says(at(await cluster.leader()).addRole('r'))).toBe('ok');
  cluster.kill(followers[1]!.member.cluster.memberId);
  expect(await says(at(await cluster.leader()).addRole('s')), 'later ones need no answers').toBe('ok');
});
