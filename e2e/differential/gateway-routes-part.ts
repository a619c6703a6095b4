import { routes } from '@engram/gateway';
import { answerOf, type Asked, base64, compare, linesOf, post } from './gateway-part.ts';
import type { Judge } from './judge.ts';
import { STORES } from './stores.ts';

const METHODS = ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
/** Texts that are no request of any method. */
const MALFORMED: readonly (readonly [body: string, more?: Partial<Asked>])[] = [
  ['{'],
  ['nonsense'],
  ['{"a" 1}'],
  ['{"a":"\n"}'],
  ['{"a\u0001":1}'],
  [String.raw`{"a":["\q"]}`],
  [String.raw`{"a":"\u12"}`],
  ['{"a":1.}'],
  ['{"a":1e+}'],
  [`{"a":${'['.repeat(10_000)}${']'.repeat(10_000)}}`],
  ['[]', { ownText: true }],
  ['"text"', { ownText: true }],
];
/** Of these a client may send several requests; gateway-part has what differs there. */
const STREAMS_OF_REQUESTS: ReadonlySet<string> = new Set(['/v3/watch', '/v3/lease/keepalive']);

const [foo, bar, few] = [base64('foo'), base64('bar'), base64('few')];

const BEFORE_USERS: readonly Asked[] = [
  post('/v3/cluster/member/list', { linearizable: true }),
  post('/v3/cluster/member/add', { peerURLs: [] }),
  post('/v3/cluster/member/add', { peerURLs: 'http://127.0.0.1:1' }, { ownText: true }),
  post('/v3/cluster/member/add', { peerURLs: ['nowhere'] }),
  post('/v3/cluster/member/update', { ID: 7, peerURLs: ['http://127.0.0.1:1'] }),
  post('/v3/maintenance/downgrade', { action: 'VALIDATE', version: '3.6' }),
  post('/v3/maintenance/downgrade', { action: 'ENABLE', version: '3.5' }),
  post('/v3/maintenance/downgrade', { action: 'CANCEL' }),
  post('/v3/kv/put', { key: foo, value: bar }),
  post('/v3/lease/grant', { ID: 91, TTL: 600 }),
  post('/v3/election/campaign', { name: base64('e'), lease: '91', value: bar }),
  post('/v3/election/resign', { leader: { name: base64('e'), key: base64('e/5b'), rev: '3', lease: '91' } }),
  post('/v3/auth/enable', {}),
  post('/v3/auth/role/list', {}),
  post('/v3/auth/role/add', { name: 'few' }),
  post('/v3/auth/role/add', { name: 'few' }),
  post('/v3/auth/role/add', {}),
  post('/v3/auth/role/grant', { name: 'few', perm: { permType: 'READWRITE', key: foo } }),
  post('/v3/auth/role/grant', { name: 'few', perm: { permType: 0, key: base64('g'), range_end: base64('h') } }),
  post('/v3/auth/role/grant', { name: 'few', perm: { permType: 'EXECUTE', key: foo } }),
  post('/v3/auth/role/grant', { name: 'none', perm: { key: foo } }),
  post('/v3/auth/role/grant', { name: 'few' }),
  post('/v3/auth/role/get', { role: 'few' }),
  post('/v3/auth/role/get', { role: 'none' }),
  post('/v3/auth/role/revoke', { role: 'few', key: base64('g'), range_end: base64('h') }),
  post('/v3/auth/role/revoke', { role: 'few', key: few }),
  post('/v3/auth/user/list', {}),
  post('/v3/auth/user/add', { name: 'ann', password: 'pass' }),
  post('/v3/auth/user/add', { name: 'ann', password: 'pass' }),
  post('/v3/auth/user/add', { name: '', password: 'pass' }),
  post('/v3/auth/user/add', { name: 'cn', options: { no_password: true } }),
  post('/v3/auth/user/add', { name: 'wrong', password: 7 }, { ownText: true }),
  post('/v3/auth/user/changepw', { name: 'ann', password: 'new' }),
  post('/v3/auth/user/changepw', { name: 'none', password: 'new' }),
  post('/v3/auth/user/grant', { user: 'ann', role: 'few' }),
  post('/v3/auth/user/grant', { user: 'ann', role: 'none' }),
  post('/v3/auth/user/grant', { name: 'ann', role: 'few' }),
  post('/v3/auth/user/get', { name: 'ann' }),
  post('/v3/auth/user/get', {}),
  post('/v3/auth/user/revoke', { name: 'cn', role: 'few' }),
  post('/v3/auth/user/add', { name: 'root', password: 'secret' }),
  post('/v3/auth/user/grant', { user: 'root', role: 'root' }),
  post('/v3/auth/role/add', { name: 'root' }),
  post('/v3/auth/user/grant', { user: 'root', role: 'root' }),
  post('/v3/auth/enable', {}),
  post('/v3/auth/status', {}),
];

const WITH_USERS: readonly Asked[] = [
  post('/v3/kv/range', { key: foo }),
  post('/v3/kv/range', { key: bar }),
  post('/v3/kv/put', { key: foo, value: foo }),
  post('/v3/kv/txn', { success: [{ request_put: { key: bar } }] }),
  post('/v3/lease/leases', {}),
  post('/v3/lease/revoke', { ID: 404 }),
  post('/v3/auth/user/get', { name: 'ann' }),
  post('/v3/auth/user/get', { name: 'root' }),
  post('/v3/auth/user/list', {}),
  post('/v3/auth/role/get', { role: 'few' }),
  post('/v3/maintenance/status', {}),
  post('/v3/maintenance/alarm', {}),
  post('/v3/maintenance/hash', {}),
  post('/v3/maintenance/defragment', {}),
  post('/v3/cluster/member/list', {}),
  post('/v3/cluster/member/remove', { ID: 7 }),
  post('/v3/auth/authenticate', { name: 'ann', password: 'wrong' }),
  post('/v3/auth/authenticate', { name: 'nobody', password: 'new' }),
  post('/v3/auth/authenticate', { name: 'cn', password: '' }),
  { path: '/health' },
  { path: '/readyz' },
];

const AT_THE_END: readonly Asked[] = [
  post('/v3/auth/user/delete', { name: 'root' }),
  post('/v3/auth/role/delete', { role: 'root' }),
  post('/v3/auth/user/delete', { name: 'cn' }),
  post('/v3/auth/user/delete', { name: 'cn' }),
  post('/v3/auth/role/delete', { role: 'few' }),
  post('/v3/auth/role/delete', { role: 'few' }),
  post('/v3/auth/disable', {}),
];

/** Every path of the gateway: with other methods, with what is no request, and with those requests that the other part leaves out. */
export async function gatewayRoutesPart(judge: Judge): Promise<void> {
  await judge.untilStorageVersion();
  for (const { path } of routes) {
    for (const method of METHODS) await compare(judge, { path, method }, answerOf);
    if (STREAMS_OF_REQUESTS.has(path)) continue;
    for (const [body, more] of MALFORMED) await compare(judge, post(path, body, more), answerOf);
    for (const odd of [`${path}/`, path.toUpperCase(), `${path}?key=Zm9v`])
      await compare(judge, { path: odd, method: 'GET' }, answerOf);
  }
  const known = 'etcd sends a client from a path that is not clean to the clean one';
  for (const path of ['//v3/kv/range', '//health']) await compare(judge, { path, method: 'GET', known }, answerOf);
  for (const asked of BEFORE_USERS) await compare(judge, asked, answerOf);
  await compare(judge, post('/v3/election/campaign', { name: base64('o'), lease: '91', value: foo }), answerOf);
  for (const [path, body] of [
    ['/v3/maintenance/snapshot', {}],
    ['/v3/election/observe', { name: base64('o') }],
  ] as const)
    await compare(judge, post(path, body), (base, asked) => linesOf(base, asked, 1));
  await withUsers(judge);
}

/** As nobody, as a user of few rights, as root, and with what is no token. */
async function withUsers(judge: Judge): Promise<void> {
  const tokens = async (name: string, password: string): Promise<ReadonlyMap<string, string>> =>
    new Map(
      await Promise.all(
        STORES.map(async (_name, at) => {
          const base = `http://${judge.stores.endpoint(at)}`;
          const body = JSON.stringify({ name, password });
          const answer = await fetch(`${base}/v3/auth/authenticate`, { method: 'POST', body });
          const { token } = (await answer.json()) as { readonly token?: string };
          return [base, token ?? ''] as const;
        }),
      ),
    );
  const [ann, root] = [await tokens('ann', 'new'), await tokens('root', 'secret')];
  const nonsense = new Map([...root].map(([base]) => [base, 'nonsense.7']));
  const asCaller =
    (token: ReadonlyMap<string, string>, before = '') =>
    (base: string, asked: Asked): Promise<unknown> =>
      answerOf(base, { ...asked, headers: { authorization: `${before}${token.get(base)}` } });
  for (const asked of [post('/v3/auth/status', {}), ...WITH_USERS]) {
    await compare(judge, asked, answerOf);
    await compare(judge, asked, asCaller(nonsense));
    await compare(judge, asked, asCaller(ann));
    await compare(judge, asked, asCaller(root, 'Bearer '));
  }
  for (const asked of AT_THE_END) {
    await compare(judge, asked, asCaller(ann));
    await compare(judge, asked, asCaller(root));
  }
}
