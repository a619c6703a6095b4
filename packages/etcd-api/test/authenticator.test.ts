import { AuthState } from '@engram/auth';
import type { AuthView, Store } from '@engram/backend';
import { SimClock } from '@engram/sim';
import { EMPTY_BYTES } from '@engram/core';
import { expect, test } from 'vitest';
import { Authenticator } from '../src/auth/authenticator.ts';
import { authorizedMethods } from '../src/auth/authorized-methods.ts';
import { fakeAuth } from './auth-client.ts';
import { FakeCall } from './fake-call.ts';
import { PendingCall } from './lock-client.ts';

/* Calls that come together are admitted by one look at their credentials: these are looked at again where something else counts. */

const enabled = AuthState.first.next({ enabled: true, revision: 7 });

function admitting(): { auth: Authenticator; view: { state: AuthState } } {
  const view = { enabled: true, state: enabled, listen: () => ({ [Symbol.dispose]: () => {} }) };
  const store: Pick<Store, 'auth'> = { auth: view satisfies AuthView };
  return { auth: new Authenticator(store as Store, new SimClock(), fakeAuth({ clientCertAuth: true })), view };
}

test('a call behind a change of users or roles has their new revision, in the same callback too', () => {
  const { auth, view } = admitting();
  const head = { admitted: undefined };
  const revisionOf = () => auth.admitKnown(new FakeCall({}, 'alice', head))?.authRevision;
  expect([revisionOf(), revisionOf()]).toEqual([7, 7]);
  view.state = enabled.next({ revision: 8 });
  expect(revisionOf()).toBe(8);
});

test('calls of several clients that come together have each its own user', () => {
  const { auth } = admitting();
  const heads = ['alice', 'bob', undefined].map((name) => ({ name, head: { admitted: undefined } }));
  const admitted = [...heads, ...heads.toReversed()].map(({ name, head }) => {
    const call = new FakeCall({}, name, head);
    auth.admit(call);
    return call.user?.name;
  });
  expect(admitted).toEqual(['alice', 'bob', undefined, undefined, 'bob', 'alice']);
});

test('a call whose token does not count is refused behind one that was admitted', () => {
  const { auth } = admitting();
  const head = { admitted: undefined };
  auth.admit(new FakeCall({}, 'alice', head));
  expect(auth.admitKnown(new FakeCall({ token: 'garbage.1' }))).toBeUndefined();
  auth.admit(new FakeCall({}, 'alice', head));
});

test('a call of a member alone that nobody has made a rule for is refused, one of the store is left to the store', async () => {
  const { auth } = admitting();
  const paths = ['/etcdserverpb.Maintenance/Newer', '/etcdserverpb.Cluster/Newer', '/etcdserverpb.KV/Newer'];
  const handle = () => EMPTY_BYTES;
  const methods = authorizedMethods(new Map(paths.map((path) => [path, { kind: 'unary', handle } as const])), auth);
  const states = paths.map(async (path) => {
    const call = new PendingCall(methods, path, EMPTY_BYTES, (bytes) => bytes, new FakeCall({}, 'alice'));
    await call.done.catch(() => undefined);
    return call.state;
  });
  expect(await Promise.all(states)).toEqual([
    'etcdserver: user name not found',
    'etcdserver: user name not found',
    'answered',
  ]);
});
