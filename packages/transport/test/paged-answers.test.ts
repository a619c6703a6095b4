import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { serve, serveGrpcJs } from '@engram/transport';
import { rstStreamFrame, SettingId, settingsFrame, windowUpdateFrame } from '@engram/http2';
import { echoMethods, Pages } from './support/echo-methods.ts';
import { frame, RawClient } from './support/raw-client.ts';
import { ByteClient, outcome, type Serving, startServing, until } from './support/serving.ts';

/* Answers whose bytes are loaded while they are sent: only their own stream waits for the bytes. */

const path = '/test.Echo/Paged';
const open = [[SettingId.INITIAL_WINDOW_SIZE, 2 ** 30]] as const;
let pages: Pages;
let serving: Serving;
beforeEach(async () => {
  pages = new Pages();
  serving = await startServing(serve, { methods: echoMethods([], pages) });
});
afterEach(() => serving.server.close());

/** Loads the requested bytes until the call has its outcome. */
async function bringAll(client: RawClient, streamId: number): Promise<string> {
  let done = false;
  const outcome = client.outcome(streamId).finally(() => {
    done = true;
  });
  while (!done) {
    pages.waiting.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
  return outcome;
}

async function answersPings(client: RawClient): Promise<void> {
  client.write(frame('PING', 0, 0, Buffer.alloc(8, 1)));
  await client.frame(({ type, ack }) => type === 'PING' && ack);
}

test('an answer waits for its bytes, other streams do not, and it arrives whole', async () => {
  using client = await RawClient.open(serving.port, open);
  client.write(windowUpdateFrame(0, 2 ** 30), client.request(1, path, '1000000'));
  await until(() => pages.waiting.length === 1);
  client.write(client.request(3, '/test.Echo/Sync', 'x'));
  expect(await client.outcome(3)).toBe('grpc-status: 0');
  expect(client.body(1).length).toBeLessThanOrEqual(5);
  expect(await bringAll(client, 1)).toBe('grpc-status: 0');
  expect(client.body(1).length).toBe(1_000_005);
  expect(pages.dropped).toBe(0);
});

test('windows that open meanwhile bring nothing twice', async () => {
  using client = await RawClient.open(serving.port, [[SettingId.INITIAL_WINDOW_SIZE, 50_000]]);
  client.write(client.request(1, path, '120000'));
  await until(() => pages.waiting.length === 1);
  for (let at = 0; at < 10; at += 1) client.write(windowUpdateFrame(1, 10_000), windowUpdateFrame(0, 10_000));
  client.write(settingsFrame([[SettingId.INITIAL_WINDOW_SIZE, 60_000]]));
  await answersPings(client);
  expect(pages.waiting).toHaveLength(1);
  expect(await bringAll(client, 1)).toBe('grpc-status: 0');
  expect(client.body(1).length).toBe(120_005);
});

test('bytes that cannot be had any more end their stream with a reset, and nothing else', async () => {
  using client = await RawClient.open(serving.port, open);
  client.write(windowUpdateFrame(0, 2 ** 20), client.request(1, path, '1000000'));
  await until(() => pages.waiting.length === 1);
  pages.waiting.shift()!();
  await until(() => pages.waiting.length === 1);
  pages.waiting.shift()!(new Error('compacted'));
  expect(await client.outcome(1)).toBe('RST_STREAM INTERNAL_ERROR');
  expect(pages.dropped).toBe(1);
  client.write(client.request(3, '/test.Echo/Sync', 'x'));
  expect(await client.outcome(3)).toBe('grpc-status: 0');
});

test.each([
  { what: 'is cancelled', leave: (client: RawClient) => client.write(rstStreamFrame(1, 8)) },
  { what: 'loses its connection', leave: (client: RawClient) => client.socket.destroy() },
  { what: 'breaks the protocol', leave: (client: RawClient) => client.write(frame('DATA', 0, 0, Buffer.alloc(1))) },
])('an answer whose client $what is dropped, waiting or not', async ({ leave }) => {
  for (const brought of [0, 1]) {
    using client = await RawClient.open(serving.port, [[SettingId.INITIAL_WINDOW_SIZE, 70_000]]);
    client.write(client.request(1, path, '1000000'));
    await until(() => pages.waiting.length === 1);
    if (brought === 1) {
      pages.waiting.shift()!();
      await client.frame(({ type }) => type === 'DATA');
    }
    const before = pages.dropped;
    leave(client);
    await until(() => pages.dropped === before + 1);
    for (const wake of pages.waiting.splice(0)) wake(new Error('nobody waits'));
  }
});

test('one for a client that has gone, and one that is too long, are dropped before they begin', async () => {
  let answer = (): void => {};
  const methods = echoMethods([], pages);
  const late = new Promise<void>((resolve) => (answer = resolve));
  const handle = (): Promise<ReturnType<Pages['message']>> => late.then(() => pages.message(100_000));
  const more = new Map([...methods, ['/test.Echo/Late', { kind: 'unary' as const, handle }]]);
  await using other = await startServing(serve, { methods: more });
  using client = await RawClient.open(other.port, open);
  client.write(client.request(1, '/test.Echo/Late', ''), rstStreamFrame(1, 8));
  await answersPings(client);
  answer();
  await until(() => pages.dropped === 1);
  client.write(client.request(3, path, String(2 ** 31)));
  expect(await client.outcome(3)).toContain('grpc: trying to send message larger than max');
  expect(pages.dropped).toBe(2);
});

test('an answer that its client leaves unread is told so, one that leaves at once is not', async () => {
  using reading = await RawClient.open(serving.port, open);
  reading.write(reading.request(1, '/test.Echo/Ready', '100'));
  expect(await reading.outcome(1)).toBe('grpc-status: 0');
  expect(pages.stayed).toBe(0);
  using client = await RawClient.open(serving.port, [[SettingId.INITIAL_WINDOW_SIZE, 0]]);
  client.write(client.request(1, '/test.Echo/Ready', '100'));
  await answersPings(client);
  expect(pages.stayed).toBe(1);
});

test('unread answers count for what they hold, so others of their connection start', async () => {
  using client = await RawClient.open(serving.port, [[SettingId.INITIAL_WINDOW_SIZE, 0]]);
  for (let id = 1; id < 20; id += 2) client.write(client.request(id, path, String(2 ** 30)));
  await answersPings(client);
  expect(serving.observer.handled.filter((call) => call === 'Paged 0')).toHaveLength(10);
});

test('a client that takes gzip gets it as it is', async () => {
  using client = await RawClient.open(serving.port, open);
  client.write(
    windowUpdateFrame(0, 2 ** 20),
    client.request(1, path, '100000', { 'grpc-encoding': 'gzip', 'grpc-accept-encoding': 'gzip' }),
  );
  expect(await bringAll(client, 1)).toBe('grpc-status: 0');
  expect(client.body(1).length).toBe(100_005);
});

test('the other server gathers it first', async () => {
  await using other = await startServing(serveGrpcJs, { methods: echoMethods([], pages) });
  using client = new ByteClient(other.target);
  const answer = client.unary(path, '250000');
  for (let page = 0; page < 3; page += 1) {
    await until(() => pages.waiting.length === 1);
    pages.waiting.shift()!();
  }
  expect(await answer).toHaveLength(250_000);
});

test('another client than our own reads it whole', async () => {
  const session = connectHttp2(`http://127.0.0.1:${serving.port}`);
  const stream = session.request({
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    te: 'trailers',
  });
  stream.end(Buffer.from('\0\0\0\0\x06300000', 'latin1'));
  let bytes = 0;
  stream.on('data', (chunk: Buffer) => (bytes += chunk.length));
  const ended = once(stream, 'end');
  for (let page = 0; page < 3; page += 1) {
    await until(() => pages.waiting.length === 1);
    pages.waiting.shift()!();
  }
  await ended;
  expect(bytes).toBe(300_005);
  session.close();
});

const zipped = { 'grpc-encoding': 'gzip', 'grpc-accept-encoding': 'gzip' };

test.each([
  { what: 'alone', bytes: '100', headers: {}, before: [] },
  { what: 'behind a long answer of its connection', bytes: '100', headers: {}, before: ['3000000'] },
  { what: 'compressed', bytes: '100', headers: zipped, before: [] },
  { what: 'long', bytes: '1000000', headers: {}, before: [] },
])('an answer that leaves $what is given back with its last byte', async ({ bytes, headers, before }) => {
  using client = await RawClient.open(serving.port, open);
  client.write(
    windowUpdateFrame(0, 2 ** 30),
    ...before.map((long, at) => client.request(1 + 2 * at, '/test.Echo/Big', long)),
    client.request(9, '/test.Echo/Ready', bytes, headers),
    client.request(11, '/test.Echo/Ready', bytes, headers),
  );
  for (const id of [9, 11]) expect(await client.outcome(id)).toBe('grpc-status: 0');
  expect(pages.released).toBe(2);
});

test.each([
  { name: 'the own codec', serveWith: serve },
  { name: 'grpc-js', serveWith: serveGrpcJs },
])('messages of a stream are given back, sent or too late ($name)', async ({ serveWith }) => {
  await using other = await startServing(serveWith, { methods: echoMethods([], pages) });
  using client = new ByteClient(other.target);
  const { messages } = await outcome(client.serverStream('/test.Echo/ReadyStream', '1000'));
  expect(messages).toHaveLength(1);
  expect(pages.released).toBe(2);
});
