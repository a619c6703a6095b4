import { bounded } from '../../test/support/bounded.ts';
import type { Judge } from './judge.ts';
import { STORES } from './stores.ts';

const ANSWER_MAX_MS = 10_000;

/** What each store chooses itself. */
const CHOSEN = new Set([
  'cluster_id',
  'member_id',
  'raft_term',
  'hash',
  'compact_revision',
  'dbSize',
  'dbSizeInUse',
  'raftIndex',
  'raftAppliedIndex',
  'raftTerm',
  'leader',
  'remaining_bytes',
  'blob',
  'version',
  'name',
  'ID',
  'peerURLs',
  'clientURLs',
  'storageVersion',
  'dbSizeQuota',
]);
/** Ids that a request names are compared. */
const NAMED_ID = /^\d{1,3}$/;

/** A request of HTTP. */
export interface Asked {
  readonly path: string;
  readonly body?: string | undefined;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Why the store may answer otherwise. */
  readonly known?: string;
  /** Only the status and the code of an error are compared: its text is the library's own. */
  readonly ownText?: true;
}

export const base64 = (text: string): string => Buffer.from(text).toString('base64');
const [foo, bar] = [base64('foo'), base64('bar')];
export const post = (path: string, body: unknown, more: Partial<Asked> = {}): Asked => ({
  path,
  body: typeof body === 'string' ? body : JSON.stringify(body),
  ...more,
});

const CASES: readonly Asked[] = [
  post('/v3/kv/put', { key: foo, value: bar }),
  post('/v3/kv/put', { key: foo, value: foo, prev_kv: true }),
  post('/v3/kv/put', { key: foo, ignoreValue: true }),
  post('/v3beta/kv/put', { key: foo, value: bar }),
  post('/v3/kv/range', { key: foo }),
  post('/v3/kv/range', { key: foo, serializable: true, unknown: [{ x: 'y' }] }),
  post('/v3/kv/range', { key: 'AA==', range_end: 'AA==', count_only: true }),
  post('/v3/kv/range', { key: 'AA==', rangeEnd: 'AA', sort_order: 'DESCEND', sortTarget: 'KEY', limit: '1' }),
  post('/v3/kv/range', { key: base64('none') }),
  post('/v3/kv/range', '{"key":"Zm9v","limit":1e0}'),
  post('/v3/kv/range', '{"key":"Zm9v","sort_order":"SIDEWAYS"}'),
  post('/v3/kv/range', '{"key":"Zm9v","sort_order":9}'),
  post('/v3/kv/range', '{"key":"Zm9v"} behind'),
  post('/v3/kv/range', '{"key":"Z\\u006d9v"}'),
  post('/v3/kv/range', '{"key":"_-8="}'),
  post('/v3/kv/range', '{"key":null}'),
  post('/v3/kv/txn', {
    compare: [{ target: 'VALUE', key: foo, value: bar, result: 'EQUAL' }],
    success: [{ request_put: { key: foo, value: base64('x') } }, { request_range: { key: foo } }],
    failure: [{ request_delete_range: { key: foo } }],
  }),
  post('/v3/kv/txn', { success: [{ requestTxn: { success: [{ requestPut: { key: bar } }] } }] }),
  post('/v3/kv/txn', {}),
  post('/v3/kv/txn', { success: [{}] }),
  post('/v3/kv/txn', { compare: [{ target: 'MOD', key: foo, mod_revision: 0 }] }),
  post('/v3/kv/deleterange', { key: bar, prev_kv: true }),
  post('/v3/kv/deleterange', {}),
  post('/v3/kv/compaction', { revision: 2 }),
  post('/v3/kv/compaction', { revision: 2 }),
  post('/v3/kv/compaction', { revision: '9999' }),
  post('/v3/lease/grant', { ID: 77, TTL: 600 }),
  post('/v3/lease/grant', { ID: '77', TTL: '600' }),
  post('/v3/lease/grant', { ID: '78', TTL: '99999999999' }),
  post('/v3/kv/put', { key: base64('leased'), lease: '77' }),
  post('/v3/kv/put', { key: base64('leased'), lease: '404' }),
  post('/v3/lease/leases', {}),
  post('/v3/kv/lease/leases', {}),
  post('/v3/lease/timetolive', { ID: 404 }),
  post('/v3/kv/lease/timetolive', { ID: 404, keys: true }),
  post('/v3/lease/keepalive', '{"ID":77}{"ID":404}'),
  post('/v3/lease/keepalive', ''),
  post('/v3/lease/revoke', { ID: 77 }),
  post('/v3/kv/lease/revoke', { ID: 77 }),
  post('/v3/maintenance/alarm', {}),
  post('/v3/maintenance/alarm', { action: 'ACTIVATE', memberID: 123, alarm: 'NOSPACE' }),
  post('/v3/kv/put', { key: foo }),
  post('/v3/maintenance/alarm', { action: 'DEACTIVATE', memberID: '123', alarm: 1 }),
  post('/v3/maintenance/status', {}),
  post('/v3/maintenance/defragment', {}),
  post('/v3/maintenance/hash', {}),
  post('/v3/maintenance/hashkv', {}),
  post('/v3/maintenance/hashkv', { revision: 99_999 }),
  post('/v3/maintenance/transfer-leadership', { targetID: 5 }),
  post('/v3/maintenance/downgrade', { action: 'VALIDATE', version: 'abc' }),
  post('/v3/cluster/member/list', {}),
  post('/v3/cluster/member/remove', { ID: 1 }),
  post('/v3/cluster/member/promote', { ID: 1 }),
  post('/v3/auth/status', {}),
  post('/v3/auth/authenticate', { name: 'root', password: 'x' }),
  post('/v3/auth/disable', {}),
  post('/v3/lease/grant', { ID: 81, TTL: 600 }),
  post('/v3/lock/lock', { name: base64('m'), lease: 81 }),
  post('/v3/lock/lock', { name: base64('m'), lease: 404 }),
  post('/v3/lock/unlock', { key: base64('m/51') }),
  post('/v3/lock/unlock', { key: base64('none') }),
  post('/v3/lock/unlock', {}),
  post('/v3/election/leader', { name: base64('none') }),
  post('/v3/election/campaign', { name: base64('e'), lease: '81', value: bar }),
  post('/v3/election/leader', { name: base64('e') }),
  post('/v3/election/proclaim', { leader: { key: base64('e/51'), rev: 1, lease: 81 }, value: foo }),
  post('/v3/election/proclaim', { value: foo }),
  post('/v3/election/resign', {}),
  // Tokens do not count without authentication.
  post('/v3/kv/range', { key: foo }, { headers: { authorization: 'nonsense' } }),
  post('/v3/kv/range', { key: foo }, { headers: { authorization: 'Bearer nonsense' } }),
  post('/v3/kv/range', { key: foo }, { headers: { 'grpc-metadata-hasleader': 'true' } }),
  post('/v3/kv/range', { key: foo }, { headers: { 'grpc-timeout': '5S' } }),
  post('/v3/kv/range', { key: foo }, { headers: { 'grpc-timeout': 'soon' } }),
  post('/v3/kv/range', { key: foo }, { headers: { 'content-type': 'application/x-www-form-urlencoded' } }),
  post('/v3/kv/range', { key: foo }, { headers: { origin: 'http://elsewhere.example' } }),
  // Bodies that are none.
  post('/v3/kv/put', ''),
  post('/v3/kv/put', ' \n'),
  post('/v3/kv/put', '{'),
  post('/v3/kv/put', '{"key":"Zm9v"'),
  post('/v3/kv/put', 'key'),
  post('/v3/kv/put', '{"key" "Zm9v"}'),
  post('/v3/kv/put', '{"key":"Zm9v",}'),
  post('/v3/kv/put', '{"key":"Zm9v" "value":""}'),
  post('/v3/kv/put', '{"keys":[1 2]}'),
  post('/v3/kv/put', '{"prev_kv":trve}'),
  post('/v3/kv/put', '[]', { ownText: true }),
  post('/v3/kv/put', 'null', { ownText: true }),
  post('/v3/kv/put', '7', { ownText: true }),
  post('/v3/kv/put', '{"key":7}', { ownText: true }),
  post('/v3/kv/put', '{"key":"!"}', { ownText: true }),
  post('/v3/kv/put', '{"key":"AA="}', { ownText: true }),
  post('/v3/kv/put', '{"key":"+_+_"}', { ownText: true }),
  post('/v3/kv/put', '{"key":"Zm9v","lease":1.5}', { ownText: true }),
  post('/v3/kv/put', '{"key":"Zm9v","lease":"0x1"}', { ownText: true }),
  post('/v3/kv/put', '{"key":"Zm9v","lease":"9223372036854775808"}', { ownText: true }),
  post('/v3/kv/put', '{"key":"Zm9v","key":"YQ=="}', { ownText: true }),
  post('/v3/kv/put', '{"key":"Zm9v","prevKv":true,"prev_kv":true}', { ownText: true }),
  post('/v3/kv/put', '{"key":"Zm9v","prev_kv":"true"}', { ownText: true }),
  post('/v3/kv/txn', '{"compare":[null]}', { ownText: true }),
  post('/v3/kv/txn', '{"compare":{}}', { ownText: true }),
  post('/v3/kv/txn', '{"compare":[{"version":1,"lease":2}]}', { ownText: true }),
  post('/v3/kv/txn', '{"success":null,"compare":[]}'),
  post('/v3/auth/authenticate', '{"name":"\\ud800"}', { ownText: true }),
  // Paths and methods.
  post('/v3/kv/nothing', {}),
  post('/v3/kv/range/', { key: foo }),
  post('/v3/', {}),
  { path: '/v3/kv/range', method: 'GET' },
  { path: '/v3/kv/range', method: 'PUT', body: '{}' },
  { path: '/v3/kv/range', method: 'DELETE' },
  { path: '/v3/kv/range', method: 'OPTIONS' },
  { path: '/v3/nothing', method: 'GET' },
  // Beside the gateway.
  { path: '/health' },
  { path: '/health?serializable=true' },
  { path: '/health?exclude=NOSPACE&exclude=' },
  { path: '/health', method: 'POST', body: '' },
  { path: '/livez' },
  { path: '/livez?verbose' },
  { path: '/livez/serializable_read' },
  { path: '/readyz?exclude=linearizable_read&exclude=nothing' },
  { path: '/readyz/data_corruption' },
  { path: '/readyz', method: 'PUT' },
  { path: '/debug/vars', method: 'POST', body: '' },
  { path: '/nothing' },
];

/** Streams: the lines that come until there are so many. */
const STREAMS: readonly (Asked & { readonly lines: number })[] = [
  { ...post('/v3/watch', { create_request: { key: foo, start_revision: 3 } }), lines: 2 },
  { ...post('/v3/watch', { create_request: { key: 'AA==', range_end: 'AA==', watch_id: 5 } }), lines: 1 },
  { ...post('/v3/watch', { create_request: { key: foo, start_revision: 1 } }), lines: 2 },
  { ...post('/v3/watch', { create_request: { key: foo, start_revision: -1 } }), lines: 1 },
  { ...post('/v3/watch', '{"create_request":{"key":"Zm9v"}}\n{"cancel_request":{"watch_id":0}}'), lines: 2 },
];

/** Asks the gateways and the pages beside them the same. */
export async function gatewayPart(judge: Judge): Promise<void> {
  await judge.untilStorageVersion();
  for (const asked of CASES) await compare(judge, asked, answerOf);
  for (const asked of STREAMS) await compare(judge, asked, (base) => linesOf(base, asked, asked.lines));
  for (const asked of STREAMS) await compare(judge, asked, (base) => messagesOf(base, asked, asked.lines));
}

/** Asks both stores, and compares the answers. */
export async function compare(
  judge: Judge,
  asked: Asked,
  answer: (base: string, asked: Asked) => Promise<unknown>,
): Promise<void> {
  const label = `${asked.method ?? (asked.body === undefined ? 'GET' : 'POST')} ${asked.path} ${asked.body ?? ''}`;
  const [etcd, store] = await Promise.all(
    STORES.map((name, at) =>
      bounded(`${name} answers ${label}`, ANSWER_MAX_MS, answer(`http://${judge.stores.endpoint(at)}`, asked)),
    ),
  );
  if (asked.known === undefined) judge.equal(label, etcd, store);
  else judge.known(label, etcd, store);
}

/** What the store at `base` answers, without what it chooses itself. */
export async function answerOf(base: string, { path, body, method, headers, ownText }: Asked): Promise<unknown> {
  const response = await fetch(`${base}${path}`, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: { ...headers },
    ...(body === undefined ? {} : { body }),
  });
  const text = await response.text();
  const kept = ['content-type', 'allow', 'access-control-allow-origin', 'grpc-metadata-content-type'];
  return {
    status: response.status,
    headers: Object.fromEntries(kept.map((name) => [name, response.headers.get(name)])),
    body: ownText === undefined ? bodyOf(text) : JSON.parse(text).code,
  };
}

/** Lines that are JSON, or the text. The order of the checks of a health page is random in etcd. */
function bodyOf(text: string): unknown {
  try {
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => masked(JSON.parse(line)));
  } catch {
    return text.split('\n').toSorted();
  }
}

/** What a stream says by HTTP. */
export async function linesOf(base: string, { path, body }: Asked, count: number): Promise<unknown> {
  const gone = new AbortController();
  const response = await fetch(`${base}${path}`, { method: 'POST', body: body ?? '', signal: gone.signal });
  const lines: unknown[] = [];
  let text = '';
  for await (const piece of response.body!) {
    text += Buffer.from(piece).toString();
    const whole = text.split('\n');
    text = whole.pop() ?? '';
    lines.push(...whole.map((line) => masked(JSON.parse(line))));
    if (lines.length >= count) break;
  }
  gone.abort();
  return { status: response.status, lines };
}

/** What it says by WebSocket. */
async function messagesOf(base: string, { path, body = '' }: Asked, count: number): Promise<unknown> {
  const socket = new WebSocket(`${base.replace('http', 'ws')}${path}`, ['Bearer', 'nonsense']);
  const messages: unknown[] = [];
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('error', () => reject(new Error('the socket failed')));
    socket.addEventListener('open', () => {
      for (const line of body.split('\n')) socket.send(line);
    });
    socket.addEventListener('message', ({ data }) => {
      messages.push(masked(JSON.parse(String(data))));
      if (messages.length >= count) resolve();
    });
    socket.addEventListener('close', () => resolve());
  });
  socket.close();
  return { protocol: socket.protocol, messages };
}

function masked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(masked);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => {
      const kept = name === 'ID' && typeof one === 'string' && NAMED_ID.test(one);
      return [name, CHOSEN.has(name) && !kept ? 'chosen' : masked(one)];
    }),
  );
}
