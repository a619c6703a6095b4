import { afterEach, beforeEach, expect, test } from 'vitest';
import { realRandom } from '@engram/sim';
import { base64, Lines, NodeBehind } from './support/node-behind.ts';

/* Users and tokens through the gateway. What a user may do is the services' own matter. */

let node: NodeBehind;
let token: string;
beforeEach(async () => {
  const hasher = {
    hash: async (password: string) => Buffer.from(password),
    matches: async (hash: Uint8Array, password: string) => Buffer.from(hash).toString() === password,
  };
  const settings = { hasher, random: realRandom, tokens: { kind: 'simple' }, clientCertAuth: true } as const;
  node = await NodeBehind.start({}, settings);
  await node.json('/v3/auth/user/add', { name: 'root', password: 'secret' });
  await node.json('/v3/auth/role/add', { name: 'root' });
  await node.json('/v3/auth/user/grant', { user: 'root', role: 'root' });
  expect(await node.json('/v3/auth/enable', {})).toMatchObject({ status: 200 });
  const { json } = await node.json('/v3/auth/authenticate', { name: 'root', password: 'secret' });
  token = String(json['token']);
});
afterEach(() => node[Symbol.asyncDispose]());

const put = { key: base64('a'), value: base64('1') };

test.each([
  { what: 'the token', headers: () => ({ authorization: token }) },
  { what: 'the token behind Bearer', headers: () => ({ authorization: `Bearer ${token}` }) },
  { what: 'the token as metadata', headers: () => ({ 'grpc-metadata-token': token }) },
])('$what tells who calls', async ({ headers }) => {
  expect(await node.json('/v3/kv/put', put, { headers: headers() })).toMatchObject({ status: 200 });
});

test('a call without a token has no user', async () => {
  expect(await node.json('/v3/kv/put', put)).toEqual({
    status: 400,
    json: { code: 3, message: 'etcdserver: user name is empty' },
  });
});

test('a token that does not count is refused, also by its header', async () => {
  const request = node.request('/v3/kv/put', JSON.stringify(put), { headers: { authorization: 'Bearer wrong.7' } });
  const { status, headers } = await node.gateway.answer(request);
  expect([status, headers['www-authenticate']]).toEqual([401, 'etcdserver: invalid auth token']);
});

test('a WebSocket names its token as a subprotocol', async () => {
  const { pieces, message, protocol } = node.gateway.socket(
    node.request('/v3/kv/put', '', { method: 'GET', headers: { 'sec-websocket-protocol': `Bearer, ${token}` } }),
  );
  await message(Buffer.from(JSON.stringify(put)));
  let text = '';
  for await (const { bytes } of pieces) text += Buffer.from(bytes).toString();
  expect([protocol, JSON.parse(text)]).toEqual(['Bearer', { header: expect.anything() }]);
});

test('a watch ends when its right is taken away while it runs', async () => {
  const asRoot = { headers: { authorization: token } };
  const change = async (path: string, request: object): Promise<void> =>
    expect(await node.json(path, request, asRoot)).toMatchObject({ status: 200 });
  const range = { key: base64('a'), range_end: base64('b') };
  await change('/v3/auth/user/add', { name: 'alice', password: 'hers' });
  await change('/v3/auth/role/add', { name: 'reader' });
  await change('/v3/auth/role/grant', { name: 'reader', perm: { permType: 'READ', ...range } });
  await change('/v3/auth/user/grant', { user: 'alice', role: 'reader' });
  const { json } = await node.json('/v3/auth/authenticate', { name: 'alice', password: 'hers' });
  const headers = { authorization: String(json['token']) };
  const lines = new Lines(await node.ask('/v3/watch', JSON.stringify({ create_request: range }), { headers }));
  expect(await lines.next()).toMatchObject({ result: { created: true } });
  await change('/v3/auth/role/revoke', { role: 'reader', ...range });
  await change('/v3/kv/put', put);
  expect(await lines.next()).toMatchObject({
    result: {
      canceled: true,
      cancel_reason: 'rpc error: code = PermissionDenied desc = etcdserver: permission denied',
    },
  });
  expect(node.backend.watchHub.stats.watchers).toBe(0);
});
