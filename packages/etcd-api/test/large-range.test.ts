import { afterAll, beforeAll, expect, test } from 'vitest';
import { etcdserverpb, type Message } from '@engram/wire';
import { ALL, Api, b, t } from './api.ts';
import { FakeCall } from './fake-call.ts';

// More keys than are encoded at once, and more bytes than one slice: the answer is put together over several turns.
const KEYS = 2_500;
const VALUE = 300;
const keys = Array.from({ length: KEYS }, (_, at) => `/key/${String(at).padStart(6, '0')}`);

let api: Api;
beforeAll(async () => {
  api = await Api.open();
  const value = Buffer.alloc(VALUE, 'v');
  for (let from = 0; from < KEYS; from += 100) {
    const success = keys.slice(from, from + 100).map((key) => ({ requestPut: { key: b(key), value } }));
    await api.call('/etcdserverpb.KV/Txn', etcdserverpb.encodeTxnRequest({ success }));
  }
});
afterAll(() => api[Symbol.asyncDispose]());

test.each([
  { limit: 0, keys: KEYS, why: 'all of them' },
  { limit: 2_400, keys: 2_400, why: 'a page that is sliced too' },
  { limit: 100, keys: 100, why: 'a page that is encoded at once' },
])('a list with limit $limit: $why', async ({ limit, keys: expected }) => {
  const response = await api.range({ ...ALL, limit });
  expect(response.kvs.map(({ key }) => t(key))).toEqual(keys.slice(0, expected));
  expect(response.kvs.every(({ value }) => value.length === VALUE)).toBe(true);
  expect(response).toMatchObject({ count: KEYS, more: expected < KEYS, header: { revision: 1 + KEYS / 100 } });
});

const handle = (call: FakeCall): Promise<Message> => {
  const method = api.methods.get('/etcdserverpb.KV/Range');
  if (method?.kind !== 'unary') throw new Error('Range is no unary method');
  return Promise.resolve(method.handle(etcdserverpb.encodeRangeRequest(ALL), call));
};

test('no piece of a large answer takes long to make', async () => {
  const message = await handle(new FakeCall());
  const sizes = message instanceof Uint8Array ? [message.length] : message.map(({ length }) => length);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeGreaterThan(KEYS * VALUE);
  expect(Math.max(...sizes)).toBeLessThan(300_000);
});

test('a client that goes away ends the work on its answer', async () => {
  const call = new FakeCall();
  const answer = handle(call);
  call.cancel();
  await expect(answer).rejects.toThrow();
});
