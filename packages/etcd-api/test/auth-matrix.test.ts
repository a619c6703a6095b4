import { SIMPLE_TOKEN_TTL_MS } from '@engram/auth';
import { expect, test } from 'vitest';
import { Api } from './api.ts';
import { AuthClient, fakeAuth } from './auth-client.ts';
import { matrixCalls, otherCalls, prepareCallers, runMatrix, runStreamMatrix, streaming } from './auth-matrix.ts';
import { lockMatrixCalls, observing, runLockMatrix, runObserveMatrix } from './lock-matrix.ts';

const open = async () => {
  const api = await Api.open({ services: { auth: fakeAuth({ clientCertAuth: true }) } });
  const run = <Value>(work: Promise<Value>): Promise<Value> => work;
  const { methods } = api;
  const endTokens = (): void => void api.clock.advance(SIMPLE_TOKEN_TTL_MS + 1);
  const clients = (await prepareCallers({ methods, run, endTokens })).at(methods);
  return { api, run, clients };
};

test('every call, by every kind of caller, with every shape of a range, is refused or permitted as etcd does it', async () => {
  const { api, run, clients } = await open();
  await using _ = api;
  const state = async (): Promise<string> =>
    `${api.backend.revision} ${api.backend.auth.state.revision} ${api.backend.leadership!.assigned.next}`;
  const { wrong, calls } = await runMatrix({ clients, run, state });
  expect(wrong).toEqual([]);
  expect(calls).toBeGreaterThan(1_000);
});

test('so is every stream, and one that is refused sends nothing', async () => {
  const { api, clients } = await open();
  await using _ = api;
  const { wrong, calls } = await runStreamMatrix({ clients, ask: streaming(clients, () => api.clock.settle(50)) });
  expect(wrong).toEqual([]);
  expect(calls).toBeGreaterThan(100);
});

test('so is every call of Lock and Election, with the code of the call inside, and Observe shows nothing', async () => {
  const { api, run, clients } = await open();
  await using _ = api;
  const state = async (): Promise<string> => `${api.backend.revision} ${api.backend.leadership!.assigned.next}`;
  const { wrong, calls } = await runLockMatrix({ clients, run, state });
  expect(wrong).toEqual([]);
  expect(calls).toBeGreaterThan(150);
  const observe = observing(clients, () => api.clock.settle(50));
  const observed = await runObserveMatrix({ clients, run, observe });
  expect(observed.wrong).toEqual([]);
  expect(observed.calls).toBeGreaterThan(20);
  await api.clock.settle(50);
  expect(api.backend.watchHub.stats.watchers).toBe(0);
});

test('no call of etcd is missing', async () => {
  await using api = await Api.open({ services: { auth: fakeAuth() } });
  const served = [...api.methods.keys()].filter((path) => !path.startsWith('/grpc.'));
  const called = [...matrixCalls, ...otherCalls].map((call) => `/etcdserverpb.${call}`);
  expect(new Set([...called, ...lockMatrixCalls])).toEqual(new Set(served));
});

test('while authentication is off, no call is asked for its token, and no right is looked up', async () => {
  await using api = await Api.open({ services: { auth: fakeAuth({ clientCertAuth: true }) } });
  const asked: string[] = [];
  const metadata = new Proxy({}, { get: (_, name) => void asked.push(String(name)) });
  const client = new AuthClient(api.methods, metadata);
  await client.put('k', 'v');
  await client.get('k');
  await client.txn({ success: [{ requestRange: { key: new Uint8Array([1]) } }] });
  await client.grant(7n);
  await client.timeToLive(7n, true);
  expect(asked.filter((name) => name === 'token' || name === 'authorization')).toEqual([]);
});
