import { nodeItself } from '@engram/backend';
import { putOp } from '@engram/core';
import type { v3electionpb } from '@engram/wire';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ALL, Api, b, failure, keysOf, t } from './api.ts';
import { AuthClient, fakeAuth } from './auth-client.ts';
import type { FakeCall } from './fake-call.ts';
import { LockClient, observed, type PendingCall } from './lock-client.ts';

/* etcd's service Election. */

let api: Api;
let client: LockClient;
beforeEach(async () => {
  api = await Api.open();
  client = new LockClient(api.methods);
  for (const lease of [1n, 2n, 3n]) await api.grant(60, lease);
});
afterEach(() => api[Symbol.asyncDispose]());

const settle = (): Promise<void> => api.clock.settle();
const keys = async (): Promise<string[]> => keysOf(await api.range(ALL));
const notLeader = { code: 2, message: 'election: not leader' };

async function candidates(...leases: readonly bigint[]): Promise<PendingCall<v3electionpb.CampaignResponse>[]> {
  const calls: PendingCall<v3electionpb.CampaignResponse>[] = [];
  for (const lease of leases) {
    calls.push(client.campaign('e', lease, `v${lease}`));
    await settle();
  }
  return calls;
}
const states = (calls: readonly PendingCall<unknown>[]): string[] => calls.map(({ state }) => state);

async function lead(lease: bigint, value: string): Promise<v3electionpb.LeaderKey> {
  return (await client.campaign('e', lease, value).done).leader!;
}

describe('Campaign', () => {
  test('the first candidate leads: key, revision and lease are in the answer', async () => {
    const { header, leader } = await client.campaign('e', 1n, 'v').done;
    expect(header?.revision).toBe(2);
    expect(leader).toEqual({ name: b('e'), key: b('e/1'), rev: 2, lease: 1n });
    expect(t((await api.range({ key: b('e/1') })).kvs[0]!.value)).toBe('v');
  });

  test('the next candidates lead in the order of their create revisions; the header is that of their write', async () => {
    const calls = await candidates(3n, 1n, 2n);
    expect(states(calls)).toEqual(['answered', 'waits', 'waits']);
    await client.resign(calls[0]!.answer!.leader).done;
    await settle();
    expect(states(calls)).toEqual(['answered', 'answered', 'waits']);
    expect(calls[1]!.answer).toMatchObject({ header: { revision: 3 }, leader: { rev: 3, lease: 1n } });
    await api.revoke(1n);
    await settle();
    expect(states(calls)).toEqual(['answered', 'answered', 'answered']);
  });

  test('a candidate again says what it says now, in the same place', async () => {
    await lead(1n, 'old');
    const { header, leader } = await client.campaign('e', 1n, 'new').done;
    expect([header?.revision, leader?.rev]).toEqual([2, 2]);
    expect((await api.range({ key: b('e/1') })).kvs[0]).toMatchObject({ value: b('new'), version: 2 });
    await client.campaign('e', 1n, 'new').done;
    expect((await api.range({ key: b('e/1') })).kvs[0]).toMatchObject({ version: 2 });
  });

  test('lease 0 is a new one, which the answer names', async () => {
    const leader = await lead(0n, 'v');
    expect(leader.lease).not.toBe(0n);
    expect(await api.timeToLive(leader.lease)).toMatchObject({ grantedTTL: 60 });
  });

  test('a candidate that gives up takes its key away', async () => {
    const calls = await candidates(1n, 2n, 3n);
    calls[1]!.cancel();
    await settle();
    expect(await keys()).toEqual(['e/1', 'e/3']);
    expect(calls[2]!.state).toBe('waits');
  });

  test('a candidate that gives up takes no key away that was made anew', async () => {
    const calls = await candidates(1n, 2n);
    await api.deleteRange({ key: b('e/2') });
    await api.put({ key: b('e/2'), lease: 2n });
    calls[1]!.cancel();
    await settle();
    expect(await keys()).toEqual(['e/1', 'e/2']);
  });

  test('a candidate whose lease has ended while it waited is told that it does not lead', async () => {
    const calls = await candidates(1n, 2n);
    await api.revoke(2n);
    await api.revoke(1n);
    await settle();
    expect(calls[1]!.status).toEqual(notLeader);
  });

  test('a lock and an election of one name have one line', async () => {
    await client.lock('e', 1n).done;
    const [candidate] = await candidates(2n);
    expect(candidate!.state).toBe('waits');
    await client.unlock('e/1').done;
    await settle();
    expect(candidate!.state).toBe('answered');
  });
});

describe('Proclaim and Resign', () => {
  test('a leader says something new', async () => {
    const leader = await lead(1n, 'old');
    expect((await client.proclaim(leader, 'new').done).header?.revision).toBe(3);
    expect((await api.range({ key: leader.key })).kvs[0]).toMatchObject({ value: b('new'), lease: 1n, version: 2 });
  });

  test('who leads no more says nothing, and resigns without an error', async () => {
    const leader = await lead(1n, 'old');
    await api.deleteRange({ key: leader.key });
    await api.put({ key: leader.key, value: b('of another life') });
    expect(await failure(client.proclaim(leader, 'new').done)).toEqual(notLeader);
    expect((await client.resign(leader).done).header?.revision).toBe(4);
    expect(t((await api.range({ key: leader.key })).kvs[0]!.value)).toBe('of another life');
  });

  test('Resign deletes the key of the leader', async () => {
    const leader = await lead(1n, 'v');
    expect((await client.resign(leader).done).header?.revision).toBe(3);
    expect(await keys()).toEqual([]);
  });

  test('without a leader they are refused; a leader without a key, too', async () => {
    const missing = { code: 2, message: '"leader" field must be provided' };
    expect(await failure(client.proclaim(undefined, 'v').done)).toEqual(missing);
    expect(await failure(client.resign(undefined).done)).toEqual(missing);
    const none = { name: b('e'), key: b(''), rev: 1, lease: 1n };
    const empty = { code: 2, message: 'etcdserver: key is not provided' };
    expect(await failure(client.proclaim(none, 'v').done)).toEqual(empty);
    expect(await failure(client.resign(none).done)).toEqual(empty);
  });

  test('a proclamation under an unknown lease is refused', async () => {
    const leader = await lead(1n, 'v');
    expect(await failure(client.proclaim({ ...leader, lease: 99n }, 'w').done)).toEqual({
      code: 2,
      message: 'etcdserver: requested lease not found',
    });
  });
});

describe('Leader', () => {
  test('is who was created first, with what it says', async () => {
    expect(await failure(client.leader('e').done)).toEqual({ code: 2, message: 'election: no leader' });
    await candidates(2n, 1n);
    const { kv, header } = await client.leader('e').done;
    expect([t(kv!.key), t(kv!.value), kv!.createRevision, header?.revision]).toEqual(['e/2', 'v2', 2, 3]);
  });
});

describe('Observe', () => {
  let calls: FakeCall[] = [];
  const observe = async (): Promise<FakeCall> => {
    const call = client.observe('e');
    calls.push(call);
    await settle();
    return call;
  };
  afterEach(() => {
    for (const call of calls) call.cancel();
    calls = [];
  });

  test('edge 134: the leader, what it proclaims, and then the next one', async () => {
    const leader = await lead(1n, 'a');
    const [next] = await candidates(2n);
    const call = await observe();
    expect(observed(call)).toEqual(['e/1=a']);
    await client.proclaim(leader, 'b').done;
    await settle();
    await client.proclaim(leader, 'c').done;
    await settle();
    await client.resign(leader).done;
    await settle();
    expect(next!.state).toBe('answered');
    expect(observed(call)).toEqual(['e/1=a', 'e/1=b', 'e/1=c', 'e/2=v2']);
    expect(call.status).toBeUndefined();
  });

  test('waits where nobody leads, and forgets nobody who leads for a moment', async () => {
    const call = await observe();
    expect([observed(call), call.waiting]).toEqual([[], true]);
    const leader = await lead(1n, 'a');
    await client.proclaim(leader, 'b').done;
    await client.resign(leader).done;
    await settle();
    expect(observed(call)).toEqual(['e/1=a', 'e/1=b']);
    await lead(2n, 'c');
    await settle();
    expect(call.waiting).toBe(false);
    expect(observed(call)).toEqual(['e/1=a', 'e/1=b', 'e/2=c']);
  });

  test('candidates behind the leader are not shown, whatever they say', async () => {
    await lead(1n, 'a');
    const call = await observe();
    await candidates(2n);
    await client.campaign('e', 2n, 'other');
    await settle();
    expect(observed(call)).toEqual(['e/1=a']);
  });

  test('a client that reads nothing delays its own stream, and gets the rest when it reads', async () => {
    const leader = await lead(1n, 'a');
    const call = await observe();
    call.stalled = true;
    call.queuedBytes = 3 * 1024 * 1024;
    const said = Array.from({ length: 50 }, (_, at) => `${at}`);
    for (const value of said) {
      await client.proclaim(leader, value).done;
      await settle();
    }
    expect(observed(call).length).toBeLessThan(4);
    call.stalled = false;
    call.read();
    await settle();
    expect(observed(call)).toEqual(['e/1=a', ...said.map((value) => `e/1=${value}`)]);
  });

  test('leaves no watcher when its client goes', async () => {
    const call = await observe();
    expect(api.backend.watchHub.stats.watchers).toBe(1);
    call.cancel();
    await settle();
    expect(api.backend.watchHub.stats).toMatchObject({ watchers: 0, streams: 0 });
  });

  /** Alice and another one, who has no right to the election, and a lease. */
  async function withUsers(users: Api) {
    const anybody = new AuthClient(users.methods);
    await anybody.addUserWith('alice', ['rw', ['e/', 'e0']]);
    await anybody.addUserWith('other', ['rw', ['f/', 'f0']]);
    const root = await anybody.enableWithRoot();
    await root.grant(1n);
    const as = async (user: string): Promise<LockClient> =>
      new LockClient(users.methods, { token: await anybody.authenticate(user) });
    return { root, as };
  }

  test('with users, it shows nothing that may not be read, and ends without an error, as in etcd', async () => {
    await using users = await Api.open({ services: { auth: fakeAuth() } });
    const { root, as } = await withUsers(users);
    const alice = await as('alice');
    await alice.campaign('e', 1n, 'a').done;
    const denied = [(await as('other')).observe('e'), new LockClient(users.methods, { token: 'x' }).observe('e')];
    const seen = alice.observe('e');
    await users.clock.settle();
    for (const call of denied) expect([call.sent, call.status]).toEqual([[], { code: 0, message: '' }]);
    expect([observed(seen), seen.status]).toEqual([['e/1=a'], undefined]);
    await root.forbid('alice', ['e/', 'e0']);
    await root.put('e/1', 'secret');
    await users.clock.settle();
    expect([observed(seen), seen.status]).toEqual([['e/1=a'], { code: 0, message: '' }]);
    expect(users.backend.watchHub.stats.watchers).toBe(0);
  });

  test('shows no event that takes effect together with the loss of the right, and after it', async () => {
    await using users = await Api.open({ services: { auth: fakeAuth() } });
    const { root, as } = await withUsers(users);
    const alice = await as('alice');
    await alice.campaign('e', 1n, 'a').done;
    const seen = alice.observe('e');
    await users.clock.settle();
    const secret = putOp(b('e/1'), b('secret'));
    // The node may write at once; a client could only when the loss has taken effect.
    await Promise.all([
      root.forbid('alice', ['e/', 'e0']),
      users.backend.txn({ compares: [], success: [secret], failure: [] }, nodeItself),
    ]);
    await users.clock.settle();
    expect(users.backend.watchHub.stats.watchers).toBe(0);
    expect([observed(seen), seen.status]).toEqual([['e/1=a'], { code: 0, message: '' }]);
  });

  test('a client that reads nothing while it loses the right sees no more when it reads again', async () => {
    await using users = await Api.open({ services: { auth: fakeAuth() } });
    const { root, as } = await withUsers(users);
    const alice = await as('alice');
    await alice.campaign('e', 1n, 'a').done;
    const seen = alice.observe('e');
    // Set before the first message: behind it the stream waits for room, and watches nothing.
    seen.crowded = true;
    await users.clock.settle();
    expect([users.backend.watchHub.stats.watchers, seen.status]).toEqual([0, undefined]);
    await root.forbid('alice', ['e/', 'e0']);
    seen.crowded = false;
    seen.read();
    await users.clock.settle();
    await root.put('e/1', 'secret');
    await users.clock.settle();
    expect([observed(seen), seen.status]).toEqual([['e/1=a'], { code: 0, message: '' }]);
    expect(users.backend.watchHub.stats.watchers).toBe(0);
  });
});
