import { type JwtKeys, SIMPLE_TOKEN_TTL_MS } from '@engram/auth';
import { utf8 } from '@engram/core';
import { Prng } from '@engram/sim';
import { MemoryStorage } from '@engram/storage';
import { etcdserverpb } from '@engram/wire';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { nodeItself } from '@engram/backend';
import { Api } from './api.ts';
import { WatchClient } from './watch-client.ts';
import { FakeCall } from './fake-call.ts';
import { PendingCall } from './lock-client.ts';
import { AuthClient, fakeAuth, FakeHasher, outcome, refused } from './auth-client.ts';

/* Users, roles and log-ins of one node. */

let api: Api;
let hasher: FakeHasher;
let anybody: AuthClient;

async function open(over: Parameters<typeof fakeAuth>[0] = {}, storage?: MemoryStorage): Promise<void> {
  hasher = new FakeHasher();
  api = await Api.open({
    services: { auth: fakeAuth({ hasher, ...over }) },
    ...(storage === undefined ? {} : { storage, epoch: 2 }),
  });
  anybody = new AuthClient(api.methods);
}

beforeEach(() => open());
afterEach(() => api[Symbol.asyncDispose]());

const status = async (): Promise<string> => {
  const { enabled, authRevision } = await anybody.authStatus();
  return `${enabled ? 'on' : 'off'} at ${authRevision}`;
};

describe('with authentication off', () => {
  test('edge 94: it cannot be turned on without root and its role', async () => {
    expect(await refused(anybody.enable())).toEqual({ code: 9, message: 'etcdserver: root user does not exist' });
    await anybody.addUser('root');
    expect(await refused(anybody.enable())).toEqual({
      code: 9,
      message: 'etcdserver: root user does not have root role',
    });
    await anybody.grantRole('root', 'root');
    expect(await outcome(anybody.enable())).toBe('ok');
    expect(await outcome(anybody.enable()), 'nobody without a token').toBe('user name is empty');
    const root = anybody.with(await anybody.authenticate('root'));
    expect(await outcome(root.enable()), 'it is on already').toBe('ok');
  });

  test('edge 96: any token is ignored, and nobody logs in', async () => {
    expect(await outcome(anybody.with('garbage').put('k'))).toBe('ok');
    expect(await outcome(anybody.authenticate('root'))).toBe('authentication is not enabled');
  });

  test('edge 106 and 108: users and roles change as etcd changes them, and keep the revision of the keys', async () => {
    await anybody.put('k');
    expect(await status()).toBe('off at 1');
    await anybody.addUserWith('alice', ['r', ['a', 'c']], ['w', ['b', '']]);
    expect(await status()).toBe('off at 6');
    expect(await anybody.userRoles('alice')).toEqual(['alice']);
    expect(await outcome(anybody.addUser('alice'))).toBe('user name already exists');
    expect(await outcome(anybody.addRole('alice'))).toBe('role name already exists');
    expect(await outcome(anybody.grantRole('alice', 'alice')), 'twice').toBe('ok');
    expect(await status()).toBe('off at 6');
    expect(await outcome(anybody.forbid('alice', ['a', 'b']))).toBe('permission is not granted to the role');
    expect(await outcome(anybody.forbid('alice', ['a', 'c']))).toBe('ok');
    expect(await outcome(anybody.permit('alice', 'r', ['c', 'b']))).toBe('invalid auth management');
    expect(await outcome(anybody.grantRole('bob', 'alice'))).toBe('user name not found');
    expect(await outcome(anybody.deleteRole('alice'))).toBe('ok');
    expect(await anybody.userRoles('alice')).toEqual([]);
    expect(await status()).toBe('off at 8');
    expect((await api.range({ key: new Uint8Array([1]) })).header!.revision).toBe(2);
  });

  test('a permission that is not given is refused', async () => {
    await anybody.addRole('r');
    // The field `name` alone.
    expect(await outcome(anybody.auth('RoleGrantPermission', Buffer.from('\x0a\x01r')))).toBe('permission not given');
  });

  test('a password of more than 72 bytes is refused, and no user is made', async () => {
    expect(await outcome(anybody.addUser('long', 'p'.repeat(73)))).toBe('bcrypt: password length exceeds 72 bytes');
    expect(await outcome(anybody.addUser('long', 'p'.repeat(72)))).toBe('ok');
    expect(hasher.hashed).toBe(1);
  });
});

describe('a log-in', () => {
  const logIn = (peer?: string): PendingCall<etcdserverpb.AuthenticateResponse> =>
    new PendingCall(
      api.methods,
      '/etcdserverpb.Auth/Authenticate',
      etcdserverpb.encodeAuthenticateRequest({ name: 'alice', password: 'alice' }),
      etcdserverpb.decodeAuthenticateResponse,
      new FakeCall({}, undefined, undefined, peer),
    );
  let root: AuthClient;
  beforeEach(async () => {
    await anybody.addUserWith('alice', ['rw', ['a', 'b']]);
    await anybody.addUser('certified', '', true);
    root = await anybody.enableWithRoot();
  });

  test('gives a token that has the rights of its user', async () => {
    const token = await anybody.authenticate('alice');
    expect(token).toMatch(/^[a-zA-Z]{16}\.\d+$/);
    const alice = anybody.with(token);
    expect(await outcome(alice.put('a'))).toBe('ok');
    expect(await outcome(alice.put('b'))).toBe('permission denied');
    expect(await outcome(alice.addUser('mallory'))).toBe('permission denied');
    expect(await outcome(root.put('b'))).toBe('ok');
  });

  test('edge 97: an unknown user and a wrong password have one text', async () => {
    const failed = { code: 3, message: 'etcdserver: authentication failed, invalid user ID or password' };
    expect(await refused(anybody.authenticate('nobody'))).toEqual(failed);
    expect(await refused(anybody.authenticate('alice', 'wrong'))).toEqual(failed);
    expect(await refused(anybody.authenticate('certified', ''))).toEqual({
      code: 2,
      message: 'auth: authentication failed, password was given for no password user',
    });
  });

  test('edge 95: a token that is none is refused, also one that is empty', async () => {
    const refusal = { code: 16, message: 'etcdserver: invalid auth token' };
    for (const token of ['', 'garbage', 'abcdefghijklmnop.1', 'abcdefghijklmnop.99999999']) {
      expect(await refused(anybody.with(token).get('a')), token).toEqual(refusal);
      expect(await refused(anybody.with(token).put('a')), token).toEqual(refusal);
    }
    expect(await refused(anybody.with('garbage').authStatus())).toEqual(refusal);
    expect(await outcome(anybody.authStatus()), 'for everybody').toBe('ok');
    expect(await outcome(anybody.with('garbage').authenticate('alice'))).toBe('ok');
  });

  test('a token may also come as a bearer, and the metadata of gRPC goes before that of HTTP', async () => {
    const token = await anybody.authenticate('alice');
    const calls = (metadata: Readonly<Record<string, string>>): Promise<string> =>
      outcome(new AuthClient(api.methods, metadata).put('a'));
    expect(await calls({ authorization: token })).toBe('ok');
    expect(await calls({ authorization: `Bearer ${token}` })).toBe('ok');
    expect(await calls({ token: 'garbage', authorization: token })).toBe('invalid auth token');
  });

  test('a token lives five minutes after its last use', async () => {
    const alice = anybody.with(await anybody.authenticate('alice'));
    api.clock.advance(SIMPLE_TOKEN_TTL_MS);
    expect(await outcome(alice.put('a'))).toBe('ok');
    api.clock.advance(SIMPLE_TOKEN_TTL_MS);
    expect(await outcome(alice.put('a'))).toBe('ok');
    api.clock.advance(SIMPLE_TOKEN_TTL_MS + 1);
    expect(await outcome(alice.put('a'))).toBe('invalid auth token');
  });

  test("edge 98: a token ends with its user, and with the user's password", async () => {
    const alice = anybody.with(await anybody.authenticate('alice'));
    await root.changePassword('alice', 'other');
    expect(await outcome(alice.put('a'))).toBe('invalid auth token');
    expect(await outcome(anybody.authenticate('alice'))).toMatch(/^authentication failed/);
    const again = anybody.with(await anybody.authenticate('alice', 'other'));
    await root.deleteUser('alice');
    expect(await outcome(again.put('a'))).toBe('invalid auth token');
    expect(await outcome(anybody.authenticate('alice', 'other'))).toMatch(/^authentication failed/);
  });

  test('a password that is changed to an empty one is none', async () => {
    await root.changePassword('alice', '');
    expect(await outcome(anybody.authenticate('alice', ''))).toMatch(/^authentication failed/);
    await root.changePassword('alice', 'other');
    expect(await outcome(anybody.authenticate('alice', 'other'))).toBe('ok');
  });

  test('edge 99: a role that changes counts at once for a token that was given before', async () => {
    const alice = anybody.with(await anybody.authenticate('alice'));
    await root.permit('alice', 'rw', ['c', '']);
    expect(await outcome(alice.put('c'))).toBe('ok');
    await root.revokeRole('alice', 'alice');
    expect(await outcome(alice.put('c'))).toBe('permission denied');
  });

  test('is decided on the users as they are when the password has been compared', async () => {
    let times = 0;
    hasher.whileComparing = async () => {
      times += 1;
      if (times === 1) await root.changePassword('alice', 'other');
    };
    expect(await outcome(anybody.authenticate('alice'))).toMatch(/^authentication failed/);
    expect(times, 'the password is compared again').toBe(2);
  });

  test('whose client has gone while it waited for others compares nothing', async () => {
    const { promise, resolve: goOn } = Promise.withResolvers<void>();
    hasher.whileComparing = () => promise;
    const before = hasher.compared;
    const calls = Array.from({ length: 10 }, () => logIn());
    await api.clock.settle();
    for (const call of calls.slice(1, -1)) call.cancel();
    goOn();
    await api.clock.settle();
    // The first two had begun, and the last one waited on.
    expect([hasher.compared - before, calls.at(0)?.state, calls.at(-1)?.state]).toEqual([3, 'answered', 'answered']);
  });

  test('finds a place while one connection, or one address, asks for as many as it can', async () => {
    const { promise, resolve: goOn } = Promise.withResolvers<void>();
    hasher.whileComparing = () => promise;
    const waiting = async (calls: readonly { readonly state: string }[]): Promise<number> => {
      await api.clock.settle();
      return calls.filter(({ state }) => state === 'waits').length;
    };
    const greedy = Array.from({ length: 120 }, () => logIn('10.0.0.1:1'));
    expect(await waiting(greedy), 'of one connection').toBe(50);
    expect(greedy.at(-1)?.state).toBe('etcdserver: too many requests');
    const besides = Array.from({ length: 120 }, (_, port) => logIn(`10.0.0.1:${port + 2}`));
    expect(await waiting(besides), 'of other connections of its address').toBe(30);
    const others = Array.from({ length: 10 }, () => logIn('[::1]:1'));
    expect(await waiting(others), 'of another address').toBe(10);
    goOn();
    await api.clock.settle();
    expect(await waiting([...greedy, ...besides, ...others])).toBe(0);
    expect(others.every(({ state }) => state === 'answered')).toBe(true);
    const again = Array.from({ length: 50 }, () => logIn('10.0.0.1:1'));
    await api.clock.settle();
    expect(
      again.every(({ state }) => state === 'answered'),
      'all places are given back',
    ).toBe(true);
  });

  test('whoever may not change users has no password hashed', async () => {
    const before = hasher.hashed;
    const alice = anybody.with(await anybody.authenticate('alice'));
    for (const change of [
      (client: AuthClient) => client.addUser('new', 'secret'),
      (client: AuthClient) => client.changePassword('root', 'secret'),
    ]) {
      expect(await outcome(change(anybody))).toBe('user name is empty');
      expect(await outcome(change(alice))).toBe('permission denied');
      expect(hasher.hashed).toBe(before);
    }
    expect(await outcome(anybody.addUser('new', 'p'.repeat(73))), 'as in etcd').toMatch(/^bcrypt: password length/);
    expect(await outcome(root.addUser('new', 'secret'))).toBe('ok');
    expect(hasher.hashed).toBe(before + 1);
  });

  test('all tokens end when authentication is turned off', async () => {
    await root.disable();
    expect(await status()).toMatch(/^off/);
    await anybody.enable();
    expect(await outcome(root.put('a'))).toBe('invalid auth token');
  });

  test('edge 105: root and its role stay while authentication is on', async () => {
    expect(await outcome(root.deleteUser('root'))).toBe('invalid auth management');
    expect(await outcome(root.deleteRole('root'))).toBe('invalid auth management');
    expect(await outcome(root.revokeRole('root', 'root'))).toBe('invalid auth management');
    await root.disable();
    expect(await outcome(anybody.revokeRole('root', 'root'))).toBe('ok');
  });

  test('edge 107: users see themselves and their roles', async () => {
    const alice = anybody.with(await anybody.authenticate('alice'));
    expect(await alice.userRoles('alice')).toEqual(['alice']);
    expect(await outcome(alice.userRoles('root'))).toBe('permission denied');
    expect(await outcome(alice.auth('UserList'))).toBe('permission denied');
    expect(await outcome(alice.auth('RoleList'))).toBe('permission denied');
  });
});

describe('a certificate', () => {
  test('edge 109: says who the client is, if clients must show one; a token goes before it', async () => {
    await api[Symbol.asyncDispose]();
    await open({ clientCertAuth: true });
    await anybody.addUserWith('alice', ['rw', ['a', 'b']]);
    await anybody.addUserWith('bob', ['rw', ['b', 'c']]);
    await anybody.enableWithRoot();
    const alice = new AuthClient(api.methods, {}, 'alice');
    expect(await outcome(alice.put('a'))).toBe('ok');
    expect(await outcome(alice.put('b'))).toBe('permission denied');
    const token = await anybody.authenticate('bob');
    expect(await outcome(new AuthClient(api.methods, { token }, 'alice').put('b'))).toBe('ok');
    expect(await outcome(new AuthClient(api.methods, { token: 'garbage' }, 'alice').put('a'))).toBe(
      'invalid auth token',
    );
    expect(await outcome(new AuthClient(api.methods, { 'grpcgateway-accept': '*/*' }, 'alice').put('a'))).toBe(
      'user name is empty',
    );
    expect(await outcome(new AuthClient(api.methods, {}, 'stranger').put('a'))).toBe('permission denied');
  });

  test('has the rights that count now, on a connection that was there before', async () => {
    await api[Symbol.asyncDispose]();
    await open({ clientCertAuth: true });
    await anybody.addUserWith('alice', ['rw', ['a', 'b']]);
    const root = await anybody.enableWithRoot();
    const alice = new AuthClient(api.methods, {}, 'alice');
    for (let read = 0; read < 2; read += 1) expect(await outcome(alice.get('a'))).toBe('ok');
    await root.addRole('other');
    expect(await outcome(alice.get('a'))).toBe('ok');
    expect(await outcome(alice.put('a'))).toBe('ok');
    await root.revokeRole('alice', 'alice');
    expect(await outcome(alice.get('a'))).toBe('permission denied');
  });

  test('says nothing if clients need none', async () => {
    await anybody.addUserWith('alice', ['rw', ['a', 'b']]);
    await anybody.enableWithRoot();
    expect(await outcome(new AuthClient(api.methods, {}, 'alice').put('a'))).toBe('user name is empty');
  });
});

describe('a JWT', () => {
  /** Tokens without a signature: JSON, which is verified in a later turn. */
  const keys: { -readonly [Name in keyof JwtKeys]: JwtKeys[Name] } = {
    verify: async (token) => {
      await api.clock.settle(1);
      return token.startsWith('{') ? JSON.parse(token) : undefined;
    },
    sign: async (claims) => JSON.stringify(claims),
  };

  beforeEach(async () => {
    await api[Symbol.asyncDispose]();
    await open({ tokens: { kind: 'jwt', keys } });
    await anybody.addUserWith('alice', ['rw', ['a', 'b']]);
  });

  test('edge 99: is refused once as old after a change, until its user has logged in again', async () => {
    const root = await anybody.enableWithRoot();
    const alice = anybody.with(await anybody.authenticate('alice'));
    expect(await outcome(alice.put('a'))).toBe('ok');
    // The first read joins its rights, the second finds them.
    for (let read = 0; read < 2; read += 1) expect(await outcome(alice.get('a'))).toBe('ok');
    expect(await outcome(anybody.with('garbage').put('a'))).toBe('invalid auth token');
    await root.addRole('other');
    for (const call of [alice.put('a'), alice.get('a'), alice.get('a', true)]) {
      expect(await outcome(call)).toBe('revision of auth store is old');
    }
    expect(await outcome(root.get('a')), 'the keys are judged alike').toBe('revision of auth store is old');
    expect(await outcome(root.addRole('third')), 'root changes users and roles with an old one').toBe('ok');
    expect(await outcome(anybody.with(await anybody.authenticate('alice')).put('a'))).toBe('ok');
  });

  test('older than a change still lists leases, as long as they have no keys to judge', async () => {
    const root = await anybody.enableWithRoot();
    const alice = anybody.with(await anybody.authenticate('alice'));
    await root.grant(1n);
    await root.addRole('other');
    expect((await alice.leases()).leases).toEqual([{ ID: 1n }]);
    expect((await root.leases()).leases).toEqual([{ ID: 1n }]);
    const again = anybody.with(await anybody.authenticate('alice'));
    await again.put('a', '', { lease: 1n });
    expect(await outcome(again.leases())).toBe('ok');
    expect(await outcome(alice.leases())).toBe('revision of auth store is old');
    expect(await outcome(root.leases()), 'root is not judged by keys').toBe('ok');
  });

  test('whose verification fails does not count, also for a stream', async () => {
    await anybody.enableWithRoot();
    const verify = keys.verify;
    keys.verify = () => Promise.reject(new Error('the library has failed'));
    const client = anybody.with('{"username":"alice"}');
    expect(await outcome(client.put('a'))).toBe('invalid auth token');
    const stream = new WatchClient(client.bidi('/etcdserverpb.Watch/Watch'), api.clock);
    stream.send({ createRequest: { key: utf8('a') } });
    expect(await stream.rest()).toMatchObject([{ created: true, canceled: true }]);
    const range = client.serverStream('/etcdserverpb.KV/RangeStream', new Uint8Array([0x0a, 1, 0x61]));
    await api.clock.settle();
    expect(range.status).toMatchObject({ message: 'etcdserver: invalid auth token' });
    keys.verify = verify;
  });

  test('that is not verified yet keeps the order of the calls, and of the messages of a stream', async () => {
    await anybody.enableWithRoot();
    const alice = anybody.with(await anybody.authenticate('alice'));
    await Promise.all(['1', '2', '3'].map((value) => alice.put('a', value)));
    expect(await alice.get('a')).toBe('3');
    const other = anybody.with(
      JSON.stringify({ username: 'alice', revision: (await anybody.authStatus()).authRevision }),
    );
    const stream = new WatchClient(other.bidi('/etcdserverpb.Watch/Watch'), api.clock);
    for (const key of ['a', 'z', 'a']) stream.send({ createRequest: { key: utf8(key) } });
    expect(stream.call.sent, 'nothing before it is known who asks').toEqual([]);
    expect((await stream.rest()).map(({ watchId, canceled }) => [watchId, canceled])).toEqual([
      [0, false],
      [-1, true],
      [1, false],
    ]);
  });

  test('that is not verified yet keeps copies of the messages of a stream: the transport may use their bytes again', async () => {
    await anybody.enableWithRoot();
    const claims = { username: 'root', revision: (await anybody.authStatus()).authRevision };
    const stream = new WatchClient(anybody.with(JSON.stringify(claims)).bidi('/etcdserverpb.Watch/Watch'), api.clock);
    for (const key of ['a', 'b']) {
      const request = Buffer.from(etcdserverpb.encodeWatchRequest({ createRequest: { key: utf8(key) } }));
      stream.call.request(request);
      request.fill(0xff);
    }
    expect((await stream.rest()).map(({ watchId, created }) => [watchId, created])).toEqual([
      [0, true],
      [1, true],
    ]);
  });
});

describe('after a restart', () => {
  test.each(['the log', 'a checkpoint'])(
    'edge 108: users, roles and their revision are those before, from %s',
    async (from) => {
      await api[Symbol.asyncDispose]();
      const storage = new MemoryStorage();
      const before = await Api.open({ services: { auth: fakeAuth() }, storage });
      anybody = new AuthClient(before.methods);
      await anybody.addUserWith('alice', ['rw', ['a', 'b']]);
      const root = await anybody.enableWithRoot();
      await root.put('a', 'v');
      if (from === 'a checkpoint') {
        await before.backend.compact(2, true, nodeItself);
        await root.permit('alice', 'r', ['x', '']);
      }
      const { authRevision } = await root.authStatus();
      await before[Symbol.asyncDispose]();
      await open({ random: new Prng(8) }, storage.reopen());
      expect(await status()).toBe(`on at ${authRevision}`);
      const alice = anybody.with(await anybody.authenticate('alice'));
      expect(await alice.get('a')).toBe('v');
      expect(await outcome(alice.put('b'))).toBe('permission denied');
      const { token } = root.metadata;
      expect(await outcome(anybody.with(token!).get('a')), 'tokens do not outlive the process').toBe(
        'invalid auth token',
      );
      expect(await outcome(alice.get('x'))).toBe(from === 'a checkpoint' ? 'ok' : 'permission denied');
    },
  );
});

test('no answer to a client and no text of a refusal has a password or its hash', async () => {
  await anybody.addUser('root', 'secret');
  const texts = [
    await refused(anybody.addUser('root', 'secret')),
    await refused(anybody.authenticate('root', 'secret')),
    await refused(anybody.addUser('', 'secret')),
    await anybody.auth('UserList'),
  ].map((answer) => (answer instanceof Uint8Array ? Buffer.from(answer).toString('latin1') : JSON.stringify(answer)));
  for (const text of texts) expect(text).not.toMatch(/secret|hash of/);
});
