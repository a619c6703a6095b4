import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type ClientHttp2Session, connect } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Engram } from './support/engram-process.ts';

/* The JSON gateway of a real process: HTTP/1.1, HTTP/2 under TLS, WebSockets. */

let node: Engram;
beforeAll(async () => {
  node = await Engram.start(['--cors=http://named.example']);
});
afterAll(() => node[Symbol.asyncDispose]());

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const [foo, bar] = [base64('foo'), base64('bar')];

async function ask(path: string, body: unknown, headers: Record<string, string> = {}): Promise<unknown> {
  const response = await fetch(`${node.url}${path}`, { method: 'POST', body: JSON.stringify(body), headers });
  return { status: response.status, json: await response.json() };
}

test('puts and gets a key', async () => {
  expect(await ask('/v3/kv/put', { key: foo, value: bar })).toMatchObject({ status: 200 });
  expect(await ask('/v3/kv/range', { key: foo })).toMatchObject({
    status: 200,
    json: { kvs: [{ value: bar }], count: '1' },
  });
});

test('a list of megabytes arrives whole over HTTP/1.1', async () => {
  const value = base64('v'.repeat(100_000));
  for (let at = 0; at < 40; at += 1) await ask('/v3/kv/put', { key: base64(`long/${at}`), value });
  const range = { key: base64('long/'), range_end: base64('long0') };
  const { json } = (await ask('/v3/kv/range', range)) as { json: { kvs: { value: string }[] } };
  expect(json.kvs.map((kv) => kv.value === value)).toEqual(Array(40).fill(true));
});

/** The lines of a stream as they come. */
async function* linesOf(response: Response): AsyncGenerator<Record<string, unknown>> {
  let text = '';
  for await (const piece of response.body!) {
    text += Buffer.from(piece).toString();
    const lines = text.split('\n');
    text = lines.pop()!;
    for (const line of lines) yield JSON.parse(line);
  }
}

async function metric(name: string): Promise<number> {
  const page = await (await fetch(`${node.url}/metrics`)).text();
  return Number(new RegExp(`^${name} (.*)$`, 'm').exec(page)?.[1]);
}

test('a watch streams lines, is counted, and ends with its client', async () => {
  const gone = new AbortController();
  const body = JSON.stringify({ create_request: { key: base64('watched') } });
  const response = await fetch(`${node.url}/v3/watch`, { method: 'POST', body, signal: gone.signal });
  const lines = linesOf(response);
  expect((await lines.next()).value).toMatchObject({ result: { created: true } });
  await ask('/v3/kv/put', { key: base64('watched'), value: bar });
  expect((await lines.next()).value).toMatchObject({ result: { events: [{ kv: { value: bar } }] } });
  expect(await metric('etcd_debugging_mvcc_watcher_total')).toBe(1);
  gone.abort();
  const handled = /grpc_server_handled_total\{[^}]*grpc_method="Watch"[^}]*grpc_code="Canceled"\} 1/;
  const page = async (): Promise<string> => (await fetch(`${node.url}/metrics`)).text();
  // The page is rendered once a second: one that shows no watcher may be of a moment before the call had ended.
  while (!handled.test(await page()));
  while ((await metric('etcd_debugging_mvcc_watcher_total')) > 0);
});

test('a WebSocket watches, and answers the subprotocol of tokens', async () => {
  const socket = new WebSocket(`${node.url.replace('http', 'ws')}/v3/watch`, ['Bearer', 'token']);
  const messages: Record<string, unknown>[] = [];
  let heard = (): void => {};
  socket.addEventListener('message', ({ data }) => {
    messages.push(JSON.parse(String(data)));
    heard();
  });
  await new Promise((resolve) => socket.addEventListener('open', resolve));
  expect(socket.protocol).toBe('Bearer');
  const until = async (count: number): Promise<void> => {
    while (messages.length < count) await new Promise<void>((resolve) => (heard = resolve));
  };
  for (const key of ['a', 'b']) socket.send(JSON.stringify({ create_request: { key: base64(key) } }));
  await until(2);
  const value = base64('v'.repeat(200_000));
  await ask('/v3/kv/put', { key: base64('b'), value });
  await until(3);
  expect(messages).toMatchObject([
    { result: { created: true } },
    { result: { created: true, watch_id: '1' } },
    { result: { watch_id: '1', events: [{ kv: { value } }] } },
  ]);
  const closed = new Promise((resolve) => socket.addEventListener('close', resolve));
  socket.close();
  await closed;
});

test('a WebSocket of one answer closes behind it', async () => {
  const socket = new WebSocket(`${node.url.replace('http', 'ws')}/v3/kv/range`);
  const messages: unknown[] = [];
  socket.addEventListener('message', ({ data }) => messages.push(JSON.parse(String(data))));
  socket.addEventListener('open', () => socket.send(JSON.stringify({ key: foo })));
  const closed = await new Promise<CloseEvent>((resolve) => socket.addEventListener('close', resolve));
  expect([closed.code, messages]).toMatchObject([1000, [{ count: '1' }]]);
});

test.each([
  { origin: 'http://named.example', status: 200 },
  { origin: 'http://elsewhere.example', status: 403 },
  { origin: 'null', status: 403 },
])('a page of $origin gets $status where origins are named', async ({ origin, status }) => {
  const response = await fetch(`${node.url}/v3/kv/range`, {
    method: 'POST',
    body: '{"key":"YQ=="}',
    headers: { origin },
  });
  expect(response.status).toBe(status);
  await response.text();
  const own = await fetch(`${node.url}/v3/kv/range`, {
    method: 'POST',
    body: '{"key":"YQ=="}',
    headers: { origin: node.url },
  });
  expect(own.status).toBe(200);
  await own.text();
});

test('a member that is alone leads', async () => {
  const response = await fetch(`${node.url}/health/leader`);
  expect([response.status, await response.json()]).toEqual([200, { health: 'true', reason: '' }]);
});

test('without the gateway its paths are unknown', async () => {
  await using without = await Engram.start(['--enable-grpc-gateway=false']);
  const response = await fetch(`${without.url}/v3/kv/range`, { method: 'POST', body: '{}' });
  expect([response.status, await response.text()]).toEqual([404, '404 page not found\n']);
  expect(without.stderr).not.toContain('flags without effect');
});

test('a stop ends streams in order', async () => {
  await using other = await Engram.start();
  const body = JSON.stringify({ create_request: { key: foo } });
  const lines = linesOf(await fetch(`${other.url}/v3/watch`, { method: 'POST', body }));
  await lines.next();
  const rest = (async () => {
    const seen: unknown[] = [];
    for await (const line of lines) seen.push(line);
    return seen;
  })();
  expect((await other.stop()).code).toBe(0);
  expect(await rest).toEqual([{ error: { code: 14, message: 'etcdserver: server stopped' } }]);
});

test('the gateway answers over HTTP/2 under TLS, also at length', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'engram-gateway-'));
  const urls = ['--listen-client-urls=https://127.0.0.1:0', '--advertise-client-urls=https://127.0.0.1:0'];
  await using secure = await Engram.start(['--data-dir', dataDir, '--auto-tls', ...urls], { defaults: false });
  const session = connect(`https://${secure.address}`, { rejectUnauthorized: false });
  await once(session, 'connect');
  const value = base64('v'.repeat(300_000));
  for (let at = 0; at < 5; at += 1) await askOver(session, '/v3/kv/put', { key: base64(`k${at}`), value });
  const { status, text } = await askOver(session, '/v3/kv/range', { key: base64('k'), range_end: base64('l') });
  const { kvs } = JSON.parse(text) as { kvs: { value: string }[] };
  expect([status, kvs.map((kv) => kv.value === value)]).toEqual([200, Array(5).fill(true)]);
  session.close();
  await secure.stop();
  rmSync(dataDir, { recursive: true });
});

async function askOver(
  session: ClientHttp2Session,
  path: string,
  body: unknown,
): Promise<{ readonly status: number; readonly text: string }> {
  const stream = session.request({ ':method': 'POST', ':path': path });
  stream.end(JSON.stringify(body));
  let status = 0;
  stream.on('response', (headers) => {
    status = Number(headers[':status']);
  });
  const pieces: Buffer[] = [];
  for await (const piece of stream) pieces.push(piece as Buffer);
  return { status, text: Buffer.concat(pieces).toString() };
}
