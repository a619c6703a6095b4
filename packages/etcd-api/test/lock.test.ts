import { SharedBudget } from '@engram/core';
import { v3lockpb } from '@engram/wire';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ALL, Api, b, failure, keysOf, t } from './api.ts';
import { AuthClient, fakeAuth } from './auth-client.ts';
import { LockClient, type PendingCall } from './lock-client.ts';

/* etcd's service Lock: its keys, who has the lock, who is next, and what takes a place away. */

let api: Api;
let client: LockClient;
beforeEach(async () => {
  api = await Api.open();
  client = new LockClient(api.methods);
  for (const lease of [1n, 2n, 3n, 0x1fn]) await api.grant(60, lease);
});
afterEach(() => api[Symbol.asyncDispose]());

type Locking = PendingCall<v3lockpb.LockResponse>;
const settle = (): Promise<void> => api.clock.settle();
/** Calls `Lock` for each lease, one behind the other. */
async function line(name: string, ...leases: readonly bigint[]): Promise<Locking[]> {
  const calls: Locking[] = [];
  for (const lease of leases) {
    calls.push(client.lock(name, lease));
    await settle();
  }
  return calls;
}
const keys = async (): Promise<string[]> => keysOf(await api.range(ALL));
const states = (calls: readonly Locking[]): string[] => calls.map(({ state }) => state);
const keyOf = ({ answer }: Locking): string => t(answer!.key);

describe('a lock that is free', () => {
  test.each([
    ['m', 1n, 'm/1'],
    ['m', 0x1fn, 'm/1f'],
    ['', 1n, '/1'],
    ['a/b', 2n, 'a/b/2'],
  ])('name %j and lease %s take the key %s, and the header is that of the write', async (name, lease, key) => {
    const { key: taken, header } = await client.lock(name, lease).done;
    expect([t(taken), header?.revision]).toEqual([key, 2]);
    const [kv] = (await api.range({ key: b(key) })).kvs;
    expect(kv).toMatchObject({ lease, value: new Uint8Array(0), createRevision: 2 });
  });

  test('an id with the sign of a 64-bit number is written with it, as Go does', async () => {
    await api.grant(60, -255n);
    expect(t((await client.lock('m', -255n).done).key)).toBe('m/-ff');
  });

  test('a name of bytes that are no text', async () => {
    const request = v3lockpb.encodeLockRequest({ name: Uint8Array.of(0xff, 0), lease: 1n });
    const { key } = v3lockpb.decodeLockResponse(await api.call('/v3lockpb.Lock/Lock', request));
    expect([...key]).toEqual([0xff, 0, 0x2f, 0x31]);
  });

  test('lease 0 is a new one of 60 seconds, which nobody keeps alive', async () => {
    const { key } = await client.lock('m').done;
    const [, hex = ''] = t(key).split('/');
    expect(await api.timeToLive(BigInt(`0x${hex}`))).toMatchObject({ grantedTTL: 60 });
    api.clock.advance(61_000);
    await settle();
    expect(await keys()).toEqual([]);
  });

  test('the same lease again has it at once, under the same key', async () => {
    const first = await client.lock('m', 1n).done;
    await api.fill('x');
    const again = await client.lock('m', 1n).done;
    expect([again.key, again.header?.revision]).toEqual([first.key, 3]);
    expect(await keys()).toEqual(['m/1', 'x']);
  });

  test('keys of other names do not count: neither longer nor shorter ones', async () => {
    await api.fill('m', 'm/', 'm0', 'm.');
    await api.deleteRange({ key: b('m/') });
    expect(states(await line('m', 1n))).toEqual(['answered']);
    expect(states(await line('m/x', 2n))).toEqual(['answered']);
  });
});

describe('edge 133: a lock that is taken', () => {
  test('the next in line has it when the holder unlocks, and the line is that of the create revisions', async () => {
    const calls = await line('m', 3n, 1n, 2n);
    expect(states(calls)).toEqual(['answered', 'waits', 'waits']);
    expect(calls.map(({ call }) => call.waiting)).toEqual([false, true, true]);
    for (const [at, call] of calls.entries()) {
      expect(states(calls)).toEqual(calls.map((_, other) => (other <= at ? 'answered' : 'waits')));
      await client.unlock(keyOf(call)).done;
      await settle();
    }
    expect(await keys()).toEqual([]);
  });

  test('the header of the answer is that of the last look, above the end of the one before', async () => {
    const [holder, waiter] = await line('m', 1n, 2n);
    const { header } = await client.unlock(keyOf(holder!)).done;
    await settle();
    expect(waiter!.answer?.header?.revision).toBe(header?.revision);
  });

  test('a lease that ends gives its lock away', async () => {
    await api.grant(5, 9n);
    const calls = await line('m', 9n, 1n);
    api.clock.advance(4_000);
    await settle();
    expect(states(calls)).toEqual(['answered', 'waits']);
    api.clock.advance(4_000);
    await settle();
    expect(states(calls)).toEqual(['answered', 'answered']);
  });

  test('a key that is deleted by hand, or by a recipe of a client, counts as unlocked', async () => {
    const calls = await line('m', 1n, 2n);
    await api.deleteRange({ key: b('m/'), rangeEnd: b('m0') });
    await settle();
    expect(calls[1]!.state).toBe('mutex: session is expired');
  });

  test('a change of the key before is no end of it', async () => {
    const calls = await line('m', 1n, 2n);
    await api.put({ key: b('m/1'), value: b('other'), lease: 1n });
    await settle();
    expect(states(calls)).toEqual(['answered', 'waits']);
  });

  test('who waits for the one before it waits on when that one leaves, if another holds the lock', async () => {
    const calls = await line('m', 1n, 2n, 3n);
    await api.revoke(2n);
    await settle();
    expect(states(calls)).toEqual(['answered', 'waits', 'waits']);
    await api.revoke(1n);
    await settle();
    // The second one is told only now that its own lease has ended.
    expect(states(calls)).toEqual(['answered', 'mutex: session is expired', 'answered']);
  });

  test('edge 133: a waiter whose own lease has ended is told so when its turn comes', async () => {
    const calls = await line('m', 1n, 2n);
    await api.revoke(2n);
    await settle();
    expect(calls[1]!.state).toBe('waits');
    await client.unlock('m/1').done;
    await settle();
    expect(calls[1]!.status).toEqual({ code: 2, message: 'mutex: session is expired' });
  });

  test('a key that is made anew after the end of its lease waits behind those that were there', async () => {
    const calls = await line('m', 1n, 2n);
    await client.unlock('m/1').done;
    await settle();
    const again = client.lock('m', 1n);
    await settle();
    expect(states([...calls, again])).toEqual(['answered', 'answered', 'waits']);
  });

  test('a waiter whose key was made anew does not get the lock of those before the new one', async () => {
    const calls = await line('m', 1n, 2n);
    await client.unlock('m/2').done;
    const other = client.lock('m', 3n);
    await settle();
    const again = client.lock('m', 2n);
    await settle();
    await client.unlock('m/1').done;
    await settle();
    expect(states([...calls, other, again])).toEqual(['answered', 'mutex: session is expired', 'answered', 'waits']);
    expect(await keys()).toEqual(['m/2', 'm/3']);
  });

  test('two waiters under one lease get the lock together', async () => {
    const [, ...waiters] = await line('m', 1n, 2n, 2n);
    expect(await keys()).toEqual(['m/1', 'm/2']);
    await client.unlock('m/1').done;
    await settle();
    expect(states(waiters)).toEqual(['answered', 'answered']);
  });

  test('a compaction above all that was seen changes nothing', async () => {
    const calls = await line('m', 1n, 2n);
    const at = await api.fill('x', 'x', 'x');
    await api.compact(at);
    await client.unlock('m/1').done;
    await settle();
    expect(states(calls)).toEqual(['answered', 'answered']);
  });
});

describe('a wait that is given up', () => {
  test('takes its key away, and those behind it wait for those before it', async () => {
    const calls = await line('m', 1n, 2n, 3n);
    calls[1]!.cancel();
    await settle();
    expect(await keys()).toEqual(['m/1', 'm/3']);
    expect(calls[2]!.state).toBe('waits');
    await client.unlock('m/1').done;
    await settle();
    expect(calls[2]!.state).toBe('answered');
  });

  test('its key is gone before what its client asks for next', async () => {
    const [, waiter] = await line('m', 1n, 2n);
    waiter!.cancel();
    const { key, header } = await (async () => {
      const again = client.lock('n', 2n);
      return await again.done;
    })();
    const [{ createRevision } = { createRevision: 0 }] = (await api.range({ key })).kvs;
    expect([createRevision, header?.revision]).toEqual([5, 5]); // the cancelled one's deletion is revision 4
    expect(await keys()).toEqual(['m/1', 'n/2']);
  });

  test('leaves no watcher and nothing of its memory', async () => {
    const watcherBytes = new SharedBudget({ max: 1024 * 1024, greed: 1, floor: 16 * 1024 });
    await using bounded = await Api.open({ services: { watcherBytes } });
    const other = new LockClient(bounded.methods);
    await bounded.grant(60, 1n);
    await bounded.grant(60, 2n);
    await other.lock('m', 1n).done;
    const waiter = other.lock('m', 2n);
    await bounded.clock.settle();
    expect(bounded.backend.watchHub.stats.watchers).toBe(1);
    expect(watcherBytes.used).toBeGreaterThan(1_500);
    waiter.cancel();
    await bounded.clock.settle();
    expect(bounded.backend.watchHub.stats).toMatchObject({ watchers: 0, streams: 0 });
    expect(watcherBytes.used).toBe(0);
  });

  test('one too many is refused, and leaves no key', async () => {
    const watcherBytes = new SharedBudget({ max: 64 * 1024, greed: 1, floor: 1024 });
    await using bounded = await Api.open({ services: { watcherBytes } });
    const other = new LockClient(bounded.methods);
    const calls: Locking[] = [];
    for (let lease = 1n; lease <= 64n; lease += 1n) {
      await bounded.grant(60, lease);
      calls.push(other.lock('m', lease));
      await bounded.clock.settle();
    }
    const refused = calls.filter(({ status }) => status !== undefined);
    expect(refused.length).toBeGreaterThan(16);
    expect(new Set(refused.map(({ state }) => state))).toEqual(new Set(['etcdserver: too many requests']));
    expect((await bounded.range({ ...ALL, countOnly: true })).count).toBe(64 - refused.length);
  });
});

describe('refusals have the code UNKNOWN and the text of the call inside', () => {
  test('an unknown lease', async () => {
    expect(await failure(client.lock('m', 99n).done)).toEqual({
      code: 2,
      message: 'etcdserver: requested lease not found',
    });
    expect(await keys()).toEqual([]);
  });

  test('a name that is too long', async () => {
    const call = client.lock('n'.repeat(1.6 * 1024 * 1024), 1n);
    expect(await failure(call.done)).toEqual({ code: 2, message: 'etcdserver: request is too large' });
  });

  test('Unlock without a key; a key that is not there is no error', async () => {
    expect(await failure(client.unlock('').done)).toEqual({ code: 2, message: 'etcdserver: key is not provided' });
    expect((await client.unlock('none').done).header?.revision).toBe(1);
  });

  test('bytes that are no message', async () => {
    const call = api.call('/v3lockpb.Lock/Lock', Uint8Array.of(0xff));
    expect(await failure(call)).toMatchObject({ code: 13 });
  });
});

describe('with users', () => {
  let root: AuthClient;
  const as = async (user: string): Promise<LockClient> =>
    new LockClient(users.methods, { token: await new AuthClient(users.methods).authenticate(user) });
  let users: Api;
  beforeEach(async () => {
    users = await Api.open({ services: { auth: fakeAuth() } });
    const anybody = new AuthClient(users.methods);
    await anybody.addUserWith('alice', ['rw', ['m/', 'm0']]);
    await anybody.addUserWith('reader', ['r', ['m/', 'm0']]);
    await anybody.addUserWith('writer', ['w', ['m/', 'm0']]);
    await anybody.addUserWith('bob', ['rw', ['m/', 'm0']]);
    root = await anybody.enableWithRoot();
    for (const lease of [1n, 2n]) await root.grant(lease);
  });
  afterEach(() => users[Symbol.asyncDispose]());
  const state = async (call: PendingCall<unknown>): Promise<string> => {
    await users.clock.settle();
    return call.state;
  };

  test('a lock needs the right to read its line and to write its key', async () => {
    const denied = 'etcdserver: permission denied';
    expect(await state((await as('reader')).lock('m', 1n))).toBe(denied);
    expect(await state((await as('writer')).lock('m', 1n))).toBe(denied);
    expect(await state((await as('alice')).lock('n', 1n))).toBe(denied);
    expect(await state(new LockClient(users.methods).lock('m', 1n))).toBe('etcdserver: user name is empty');
    expect((await root.range(ALL)).count).toBe(0);
    expect(await state((await as('alice')).lock('m', 1n))).toBe('answered');
    expect(await state((await as('reader')).unlock('m/1'))).toBe(denied);
    expect(await state((await as('writer')).unlock('m/1'))).toBe('answered');
  });

  test('a token that is none is refused with the code of the call inside', async () => {
    const call = new LockClient(users.methods, { token: 'x' }).lock('m', 1n);
    expect(await failure(call.done)).toEqual({ code: 2, message: 'etcdserver: invalid auth token' });
  });

  test('a right that is taken away ends the wait', async () => {
    await (await as('bob')).lock('m', 1n).done;
    const waiter = (await as('alice')).lock('m', 2n);
    expect(await state(waiter)).toBe('waits');
    await root.forbid('alice', ['m/', 'm0']);
    expect(await state(waiter)).toBe('etcdserver: permission denied');
    expect(users.backend.watchHub.stats.watchers).toBe(0);
  });

  test('a wait that is given up takes its key away by the rights of its user', async () => {
    await (await as('bob')).lock('m', 1n).done;
    const waiter = (await as('alice')).lock('m', 2n);
    expect(await state(waiter)).toBe('waits');
    waiter.cancel();
    await users.clock.settle();
    expect(keysOf(await root.range(ALL))).toEqual(['m/1']);
  });

  test('a lock of the leases of others needs the right to their keys', async () => {
    await root.put('secret', 'x', { lease: 1n });
    expect(await state((await as('alice')).lock('m', 1n))).toBe('etcdserver: permission denied');
  });
});
