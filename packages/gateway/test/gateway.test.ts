import { afterEach, beforeEach, expect, test } from 'vitest';
import { EngramError } from '@engram/core';
import { type CallHooks, etcdserverpb, type Method, type MethodTable, type UnaryMethod } from '@engram/wire';
import { routes } from '@engram/gateway';
import { base64, NodeBehind, piecesOf, textOf } from './support/node-behind.ts';

/* Requests of one answer, on a whole node. Expected values are those of etcd 3.7's gateway. */

let node: NodeBehind;
beforeEach(async () => {
  node = await NodeBehind.start();
});
afterEach(() => node[Symbol.asyncDispose]());

const header = (revision: number) => ({
  cluster_id: '193',
  member_id: '29',
  revision: String(revision),
  raft_term: '4',
});
const [foo, bar] = [base64('foo'), base64('bar')];

test.each([
  { path: '/v3/kv/put', body: { key: foo, value: bar }, json: { header: header(3) } },
  { path: '/v3beta/kv/put', body: { key: foo, value: bar }, json: { header: header(3) } },
  {
    path: '/v3/kv/put',
    body: { key: foo, prevKv: true },
    json: {
      header: header(3),
      prev_kv: { key: foo, value: bar, create_revision: '2', mod_revision: '2', version: '1' },
    },
  },
  {
    path: '/v3/kv/range',
    body: { key: foo },
    json: {
      header: header(2),
      kvs: [{ key: foo, value: bar, create_revision: '2', mod_revision: '2', version: '1' }],
      count: '1',
    },
  },
  { path: '/v3/kv/range', body: { key: bar }, json: { header: header(2) } },
  { path: '/v3/kv/range', body: { key: foo, count_only: true }, json: { header: header(2), count: '1' } },
  { path: '/v3/kv/deleterange', body: { key: foo }, json: { header: header(3), deleted: '1' } },
  {
    path: '/v3/kv/txn',
    body: {
      compare: [{ target: 'VERSION', key: foo, version: '1', result: 'EQUAL' }],
      success: [{ requestPut: { key: foo, value: foo } }, { request_range: { key: bar } }],
      failure: [{ requestDeleteRange: { key: foo } }],
    },
    json: {
      header: header(3),
      succeeded: true,
      responses: [{ response_put: { header: { revision: '3' } } }, { response_range: { header: { revision: '3' } } }],
    },
  },
  { path: '/v3/kv/txn', body: {}, json: { header: header(2), succeeded: true } },
  { path: '/v3/kv/compaction', body: { revision: '1' }, json: { header: header(2) } },
  { path: '/v3/lease/grant', body: { ID: 7, TTL: '60' }, json: { header: header(2), ID: '7', TTL: '60' } },
  { path: '/v3/lease/timetolive', body: { ID: 9 }, json: { header: header(2), ID: '9', TTL: '-1' } },
  { path: '/v3/kv/lease/timetolive', body: { ID: 9 }, json: { header: header(2), ID: '9', TTL: '-1' } },
  { path: '/v3/lease/leases', body: {}, json: { header: header(2) } },
  { path: '/v3/kv/lease/leases', body: {}, json: { header: header(2) } },
  { path: '/v3/maintenance/alarm', body: {}, json: { header: header(2) } },
  {
    path: '/v3/cluster/member/list',
    body: {},
    json: {
      header: expect.anything(),
      members: [
        { ID: '29', name: 'node-1', peerURLs: ['http://127.0.0.1:2380'], clientURLs: ['http://127.0.0.1:2379'] },
      ],
    },
  },
  { path: '/v3/auth/status', body: {}, json: expect.objectContaining({ header: expect.anything() }) },
])('edge 125: $path with $body is answered as by etcd', async ({ path, body, json }) => {
  await node.json('/v3/kv/put', { key: foo, value: bar });
  expect(await node.json(path, body)).toEqual({ status: 200, json });
});

test.each([
  {
    path: '/v3/kv/compaction',
    body: '{"revision":"999"}',
    status: 400,
    code: 11,
    message: 'etcdserver: mvcc: required revision is a future revision',
  },
  { path: '/v3/kv/txn', body: '{"success":[{}]}', status: 400, code: 3, message: 'etcdserver: key not found' },
  { path: '/v3/kv/put', body: '{}', status: 400, code: 3, message: 'etcdserver: key is not provided' },
  { path: '/v3/kv/put', body: '', status: 400, code: 3, message: 'etcdserver: key is not provided' },
  { path: '/v3/kv/put', body: '{"key":"Zm9v"', status: 400, code: 3, message: 'unexpected EOF' },
  {
    path: '/v3/kv/put',
    body: '<key>',
    status: 400,
    code: 3,
    message: "invalid character '<' looking for beginning of value",
  },
  {
    path: '/v3/kv/put',
    body: '{"key":"Zm9v","lease":5}',
    status: 404,
    code: 5,
    message: 'etcdserver: requested lease not found',
  },
  {
    path: '/v3/lease/revoke',
    body: '{"ID":5}',
    status: 404,
    code: 5,
    message: 'etcdserver: requested lease not found',
  },
  {
    path: '/v3/kv/lease/revoke',
    body: '{"ID":5}',
    status: 404,
    code: 5,
    message: 'etcdserver: requested lease not found',
  },
  {
    path: '/v3/auth/enable',
    body: '{}',
    status: 501,
    code: 12,
    message: 'unknown method AuthEnable for service etcdserverpb.Auth',
  },
  { path: '/v3/kv/rangestream', body: '{}', status: 404, code: 5, message: 'Not Found' },
  { path: '/v3/kv/range/', body: '{}', status: 404, code: 5, message: 'Not Found' },
  { path: '/v3/', body: '{}', status: 404, code: 5, message: 'Not Found' },
  { path: '/v3/constructor', body: '{}', status: 404, code: 5, message: 'Not Found' },
])('$path with $body is refused as by etcd: $status', async ({ path, body, status, code, message }) => {
  expect(await node.json(path, body)).toEqual({ status, json: { code, message } });
});

test.each(['GET', 'PUT', 'HEAD', 'DELETE', 'post'])('a path is not answered to %s', async (method) => {
  expect(await node.json('/v3/kv/range', '{}', { method })).toEqual({
    status: 501,
    json: { code: 12, message: 'Method Not Allowed' },
  });
});

test('every path of etcd leads to a method, and the messages have the names of its services', () => {
  expect(routes).toHaveLength(51);
  expect(new Set(routes.map(({ path }) => path)).size).toBe(51);
  expect(routes.every(({ path, method }) => /^\/v3\/[a-z/-]+$/.test(path) && /^\/\w+\.\w+\/\w+$/.test(method))).toBe(
    true,
  );
});

test('a value of any bytes comes back as it was put', async () => {
  const value = Buffer.from(Array.from({ length: 256 }, (_, at) => at)).toString('base64');
  await node.json('/v3/kv/put', { key: foo, value });
  const { json } = await node.json('/v3/kv/range', { key: foo });
  expect(json).toMatchObject({ kvs: [{ value }] });
});

test('a long list comes in pieces, and holds nothing when it has been taken', async () => {
  const value = base64('v'.repeat(1000));
  for (let at = 0; at < 700; at += 1) await node.json('/v3/kv/put', { key: base64(`key-${at}`), value });
  const answer = await node.ask('/v3/kv/range', JSON.stringify({ key: 'AA==', range_end: 'AA==' }));
  const pieces: string[] = [];
  for await (const piece of piecesOf(answer)) pieces.push(Buffer.from(piece).toString());
  expect(pieces.length).toBeGreaterThan(10);
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(64 * 1024);
  const { kvs, count } = JSON.parse(pieces.join(''));
  expect([kvs.length, count, kvs[699].value]).toEqual([700, '700', value]);
  expect(node.answerBytes.used).toBe(0);
});

test('a list whose client leaves in the middle holds nothing', async () => {
  const value = base64('v'.repeat(1000));
  for (let at = 0; at < 200; at += 1) await node.json('/v3/kv/put', { key: base64(`key-${at}`), value });
  const all = JSON.stringify({ key: 'AA==', range_end: 'AA==' });
  for (const leave of ['return', 'abort', 'before the first piece'] as const) {
    const gone = new AbortController();
    const answer = await node.ask('/v3/kv/range', all, { signal: gone.signal });
    const pieces = piecesOf(answer);
    if (leave !== 'before the first piece') await pieces.next();
    expect(node.answerBytes.used).toBeGreaterThan(0);
    if (leave === 'return') await pieces.return(undefined);
    else gone.abort();
    expect(node.answerBytes.used).toBe(0);
  }
  expect(node.backend.stats?.pins ?? 0).toBe(0);
});

test('a client without room for its answer is refused', async () => {
  const answerBytes = { mayGrow: false, refused: () => {}, hold: () => {}, end: () => {} };
  const body = JSON.stringify({ key: foo, value: base64('v'.repeat(100_000)) });
  expect(await node.json('/v3/kv/put', body, { answerBytes: answerBytes as never })).toEqual({
    status: 429,
    json: { code: 8, message: 'etcdserver: too many requests' },
  });
});

test.each([
  { headers: { authorization: 'abc.7' }, name: 'authorization', value: 'abc.7' },
  { headers: { authorization: 'Bearer abc.7' }, name: 'authorization', value: 'Bearer abc.7' },
  { headers: { 'grpc-metadata-token': 'abc' }, name: 'token', value: 'abc' },
  { headers: { token: 'abc' }, name: 'token', value: undefined },
  { headers: { 'grpc-metadata-hasleader': 'true' }, name: 'hasleader', value: 'true' },
  { headers: { accept: '*/*' }, name: 'grpcgateway-accept', value: '*/*' },
  { headers: { 'x-own': 'a' }, name: 'grpcgateway-x-own', value: undefined },
  { headers: { authorization: 'caf\u00e9' }, name: 'authorization', value: undefined },
  { headers: { 'grpc-metadata-a-bin': 'AA==' }, name: 'a-bin', value: undefined },
])('the headers $headers give the metadata $name: $value', async ({ headers, name, value }) => {
  const seen: (string | undefined)[] = [];
  const range: UnaryMethod = {
    kind: 'unary',
    handle(_, call) {
      seen.push(call.metadata(name), call.commonName);
      return etcdserverpb.encodeRangeResponse({});
    },
  };
  await using other = await NodeBehind.start({ methods: new Map([['/etcdserverpb.KV/Range', range]]) });
  expect(await other.json('/v3/kv/range', '{}', { headers })).toEqual({ status: 200, json: {} });
  expect(seen).toEqual([value, undefined]);
});

/** A handler that waits until its call is given up. */
const waiting: UnaryMethod = {
  kind: 'unary',
  handle: (_, { signal }) =>
    new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
};

test('a call ends at the deadline that its client names', async () => {
  await using other = await NodeBehind.start({ methods: new Map([['/etcdserverpb.KV/Range', waiting]]) });
  expect(await other.json('/v3/kv/range', '{}', { headers: { 'grpc-timeout': '5m' } })).toEqual({
    status: 504,
    json: { code: 4, message: 'context deadline exceeded' },
  });
  expect(await other.json('/v3/kv/range', '{}', { headers: { 'grpc-timeout': 'soon' } })).toEqual({
    status: 400,
    json: { code: 3, message: 'invalid grpc-timeout: soon' },
  });
});

test('a call ends when its client is gone, and is counted as cancelled', async () => {
  const counted: unknown[] = [];
  const hooks: CallHooks = {
    begin: () => void counted.push('begun'),
    admit: () => void counted.push('admitted'),
    end: (_call, { code }) => void counted.push(code),
    received: (_call, bytes) => void counted.push(['received', bytes]),
    sent: (_call, bytes) => void counted.push(['sent', bytes]),
  };
  const methods = new Map([['/etcdserverpb.KV/Range', { ...waiting, hooks }]]);
  await using other = await NodeBehind.start({ methods });
  const gone = new AbortController();
  const asked = other.ask('/v3/kv/range', '{}', { signal: gone.signal });
  await new Promise((resolve) => setImmediate(resolve));
  gone.abort();
  await asked;
  expect(counted).toEqual(['begun', ['received', 0], 'admitted', 1]);
});

test.each(['/v3/kv/range', '/v3/watch'])('%s is not called where a hook of its method refuses it', async (path) => {
  const ends: number[] = [];
  const refusing: CallHooks = {
    admit() {
      throw new EngramError('InvalidAuthToken');
    },
    end: (_call, { code }) => void ends.push(code),
  };
  const called = (): never => {
    throw new Error('the handler was called');
  };
  const methods: MethodTable = new Map<string, Method>([
    ['/etcdserverpb.KV/Range', { kind: 'unary', hooks: refusing, handle: called }],
    ['/etcdserverpb.Watch/Watch', { kind: 'bidi', hooks: refusing, open: called }],
  ]);
  await using other = await NodeBehind.start({ methods });
  expect(JSON.stringify(await other.json(path, '{}'))).toContain('etcdserver: invalid auth token');
  expect(ends).toEqual([16]);
});

test('an answer without a token says so in a header', async () => {
  const refusing: UnaryMethod = {
    kind: 'unary',
    handle() {
      throw Object.assign(new Error('x'), {});
    },
  };
  await using other = await NodeBehind.start({ methods: new Map([['/etcdserverpb.KV/Range', refusing]]) });
  expect(await other.json('/v3/kv/range', '{}')).toEqual({ status: 500, json: { code: 2, message: 'x' } });
});

test('a gateway that stops refuses new calls', async () => {
  node.gateway.stop();
  expect(await node.json('/v3/kv/range', '{}')).toEqual({
    status: 503,
    json: { code: 14, message: 'etcdserver: server stopped' },
  });
});

test('answers have the type of JSON, and name the answer of gRPC', async () => {
  const { headers, body } = await node.ask('/v3/maintenance/alarm', '{}');
  expect(headers).toEqual({ 'content-type': 'application/json', 'grpc-metadata-content-type': 'application/grpc' });
  expect(body).toBeInstanceOf(Uint8Array);
  const refused = await node.ask('/v3/kv/put', '{}');
  expect(refused.headers).toEqual({ 'content-type': 'application/json' });
  expect(await textOf(refused)).toBe('{"code":3,"message":"etcdserver: key is not provided"}');
});
