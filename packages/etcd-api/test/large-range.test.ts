import { afterAll, beforeAll, expect, test } from 'vitest';
import { dropMessage, etcdserverpb, gatherMessage, isLong, type Message } from '@engram/wire';
import { ALL, Api, b, t } from './api.ts';
import { FakeCall } from './fake-call.ts';

// More keys than one turn scans, and more bytes than an answer that is built at once.
const KEYS = 5_000;
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
  { limit: 4_800, keys: 4_800, why: 'a page of more than one slice' },
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

test('a large answer is made while it leaves, into whatever room there is', async () => {
  const message = await handle(new FakeCall());
  if (!isLong(message)) throw new Error('the answer was put together at once');
  expect(message.bytes).toBeGreaterThan(KEYS * VALUE);
  const whole = new Uint8Array(message.bytes);
  for (let at = 0, room = 1; at < whole.length; room = (room * 7) % 20_011) {
    const end = Math.min(whole.length, at + room);
    await message.prepare(end - at);
    at = message.read(whole, at, end);
  }
  dropMessage(message);
  expect(etcdserverpb.decodeRangeResponse(whole).kvs.map(({ key }) => t(key))).toEqual(keys);
});

test('an answer holds its places, not its versions, until it is read or dropped', async () => {
  const message = await handle(new FakeCall());
  if (!isLong(message)) throw new Error('the answer was put together at once');
  expect(message.heldBytes).toBeLessThan(message.bytes / 4);
  const { pins } = api.backend.replica;
  expect(pins.size).toBe(1);
  await gatherMessage(message);
  expect(pins.size).toBe(0);
  const dropped = await handle(new FakeCall());
  expect(pins.size).toBe(1);
  dropMessage(dropped);
  expect(pins.size).toBe(0);
});

test('what a list will hold counts before it waits for the leader', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { backend } = api;
  const readIndex = backend.readIndex.bind(backend);
  backend.readIndex = () => promise;
  const held: number[] = [];
  const call = Object.assign(new FakeCall(), { holdAnswer: (bytes: number) => held.push(bytes) });
  const answer = handle(call);
  expect(held).toHaveLength(1);
  resolve();
  const message = await answer;
  backend.readIndex = readIndex;
  if (!isLong(message)) throw new Error('the answer was put together at once');
  expect(held[0]).toBe(message.heldBytes);
  dropMessage(message);
});

test.each([
  { valueBytes: 200_000, calls: 1 },
  { valueBytes: 1_000, calls: 0 },
])('a value of $valueBytes bytes counts before it is read in $calls calls', async ({ valueBytes, calls }) => {
  await using store = await Api.open();
  const request = { key: b('long'), value: Buffer.alloc(valueBytes, 'v') };
  await store.call('/etcdserverpb.KV/Put', etcdserverpb.encodePutRequest(request));
  const { promise, resolve } = Promise.withResolvers<void>();
  store.backend.readIndex = () => promise;
  const held: number[] = [];
  const call = Object.assign(new FakeCall(), { holdAnswer: (bytes: number) => held.push(bytes) });
  const method = store.methods.get('/etcdserverpb.KV/Range');
  if (method?.kind !== 'unary') throw new Error('Range is no unary method');
  const answer = method.handle(etcdserverpb.encodeRangeRequest({ key: b('long') }), call);
  expect(held).toHaveLength(calls);
  for (const bytes of held) expect(bytes).toBeGreaterThan(valueBytes);
  resolve();
  await answer;
});

test('a client that goes away ends the work on its answer', async () => {
  const call = new FakeCall();
  const answer = handle(call);
  call.cancel();
  await expect(answer).rejects.toThrow();
  expect(api.backend.replica.pins.size).toBe(0);
});
