import { connect as connectTcp } from 'node:net';
import { once } from 'node:events';
import { SimClock } from '@engram/sim';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { serve } from '@engram/transport';
import { CLIENT_PREFACE, Flag, rstStreamFrame, SettingId, settingsFrame, windowUpdateFrame } from '@engram/http2';
import { flood } from './support/flood.ts';
import { ByteClient, type Serving, startServing, until } from './support/serving.ts';
import { frame, grpcHeaders, grpcMessage, RawClient, uint32 } from './support/raw-client.ts';

const hang = '/test.Echo/Hang';
const calm = /^ENHANCE_YOUR_CALM too_many/;

let serving: Serving;
let honest: ByteClient;
beforeEach(async () => {
  // The clock stands still, so that no tokens are refilled, however slow the machine is.
  serving = await startServing(serve, { clock: new SimClock() });
  honest = new ByteClient(serving.target);
});
afterEach(async () => {
  // After each attack, other clients are served.
  expect((await honest.unary('/test.Echo/Sync', 'served')).toString()).toBe('served');
  honest[Symbol.dispose]();
  await serving.server.close();
  expect(serving.observer.connections).toBe(0);
});

test('rapid reset (CVE-2023-44487): the connection ends', async () => {
  using client = await RawClient.open(serving.port);
  await flood(honest, client, 40_000, (round) => {
    const id = 2 * round + 1;
    return Buffer.concat([client.request(id, hang, 'x'), rstStreamFrame(id, 8)]);
  });
  expect(await client.goAway()).toMatch(calm);
  await client.untilClosed();
});

test('rapid reset: no more handlers run than streams are allowed, cancelled or not', async () => {
  await using small = await startServing(serve, { maxConcurrentStreams: 10 });
  using client = await RawClient.open(small.port);
  for (let id = 1; id < 400; id += 2) client.write(client.request(id, hang, 'x'), rstStreamFrame(id, 8));
  client.write(client.request(1001, '/test.Echo/Sync', 'waits'), frame('PING', 0, 0, Buffer.alloc(8)));
  await client.frame(({ type, ack }) => type === 'PING' && ack);
  expect(small.journal.filter((entry) => entry === 'hangs')).toHaveLength(10);
  expect(client.received.some(({ streamId }) => streamId === 1001)).toBe(false);
});

test('made you reset (CVE-2025-8671): resets that the client provokes count, and do not free handlers', async () => {
  using client = await RawClient.open(serving.port);
  await flood(honest, client, 5_000, (round) => {
    const id = 2 * round + 1;
    return Buffer.concat([client.request(id, hang, 'x'), frame('WINDOW_UPDATE', 0, id, uint32(0))]);
  });
  expect(await client.goAway()).toMatch(calm);
  await client.untilClosed();
  expect(serving.journal.filter((entry) => entry === 'hangs').length).toBeLessThanOrEqual(1_000);
});

test('CONTINUATION flood (CVE-2024-27316): a header block without end', async () => {
  using client = await RawClient.open(serving.port);
  client.write(frame('HEADERS', 0, 1, client.encoder.encode([])));
  const fields = client.encoder.encode(
    Array.from({ length: 200 }, (_, at) => ({ name: `x-${at}`, value: 'v'.repeat(50), indexing: 'once' as const })),
  );
  await flood(honest, client, 1_000, () => frame('CONTINUATION', 0, 1, fields));
  expect(await client.goAway()).toBe('ENHANCE_YOUR_CALM header block above 131072 bytes');
  await client.untilClosed();
});

test('CONTINUATION flood of empty frames', async () => {
  using client = await RawClient.open(serving.port);
  client.write(frame('HEADERS', 0, 1));
  const empty = Buffer.concat(Array.from({ length: 1_000 }, () => frame('CONTINUATION', 0, 1)));
  await flood(honest, client, 50, () => empty);
  expect(await client.goAway()).toMatch(calm);
});

test.each([
  { cve: 'CVE-2019-9512', what: 'pings', bytes: frame('PING', 0, 0, Buffer.alloc(8)) },
  { cve: 'CVE-2019-9512', what: 'ping answers', bytes: frame('PING', Flag.ACK, 0, Buffer.alloc(8)) },
  { cve: 'CVE-2019-9513', what: 'priorities', bytes: frame('PRIORITY', 0, 3, Buffer.alloc(5)) },
  { cve: 'CVE-2019-9515', what: 'settings', bytes: settingsFrame([[SettingId.MAX_FRAME_SIZE, 16_384]]) },
  { cve: 'CVE-2019-9515', what: 'empty settings', bytes: settingsFrame([]) },
  { cve: 'CVE-2019-9518', what: 'empty DATA', bytes: frame('DATA', 0, 1) },
  { cve: 'CVE-2019-9518', what: 'padding', bytes: frame('DATA', Flag.PADDED, 1, Buffer.from([0])) },
  {
    cve: 'CVE-2019-9511',
    what: 'window updates',
    bytes: Buffer.concat([windowUpdateFrame(0, 1), windowUpdateFrame(1, 1)]),
  },
  { cve: 'no CVE', what: 'frames that ask for nothing', bytes: frame('GOAWAY', 0, 0, Buffer.alloc(8)) },
])('a flood of $what ($cve) ends the connection', async ({ bytes }) => {
  using client = await RawClient.open(serving.port);
  client.write(client.headers(1, grpcHeaders('/test.Echo/Open')));
  const many = Buffer.concat(Array.from({ length: 500 }, () => bytes));
  await flood(honest, client, 100, () => many);
  expect(await client.goAway()).toMatch(/^ENHANCE_YOUR_CALM too_many/);
  await client.untilClosed();
  await until(() => serving.journal.includes('closed'));
});

test('a reset flood (CVE-2019-9514): streams that provoke RST_STREAM', async () => {
  using client = await RawClient.open(serving.port);
  await flood(honest, client, 5_000, (round) => client.headers(2 * round + 1, { ':method': 'POST' }, true));
  expect(await client.goAway()).toMatch(calm);
});

test('a reset flood whose answers are not read holds next to nothing', async () => {
  using client = await RawClient.open(serving.port);
  client.socket.pause();
  await flood(honest, client, 3_000, (round) => client.headers(2 * round + 1, { ':method': 'POST' }, true));
  await until(() => client.socket.destroyed || client.socket.writableLength === 0);
});

test('data dribble (CVE-2019-9511): windows opened byte by byte', async () => {
  using client = await RawClient.open(serving.port, [[SettingId.INITIAL_WINDOW_SIZE, 0]]);
  client.write(client.request(1, '/test.Echo/Big', '1000000'));
  const dribble = Buffer.concat(Array.from({ length: 500 }, () => windowUpdateFrame(1, 1)));
  await flood(honest, client, 200, () => dribble);
  expect(await client.goAway()).toMatch(calm);
});

test('headers without names (CVE-2019-9516) are refused', async () => {
  using client = await RawClient.open(serving.port);
  client.write(client.headers(1, grpcHeaders('/test.Echo/Sync', { '': '' })));
  expect(await client.outcome(1)).toBe('RST_STREAM PROTOCOL_ERROR');
});

test('internal data buffering (CVE-2019-9517): open windows and a socket that nobody reads', async () => {
  using client = await RawClient.open(serving.port, [[SettingId.INITIAL_WINDOW_SIZE, 2 ** 31 - 1]]);
  client.write(windowUpdateFrame(0, 2 ** 30));
  client.socket.pause();
  const calls = 60;
  for (let at = 0; at < calls; at += 1) client.write(client.request(2 * at + 1, '/test.Echo/Big', '2000000'));
  // 16 MiB of answers, and what the kernel's buffers take, may leave. The other calls do not start.
  const turns = 50;
  for (let turn = 0; turn < turns; turn += 1) await honest.unary('/test.Echo/Sync', 'x');
  expect(serving.observer.handled.filter((call) => call === 'Big 0').length).toBeLessThan(30);
  client.socket.resume();
  for (let at = 0; at < calls; at += 1) await client.outcome(2 * at + 1);
  expect(serving.observer.handled.filter((call) => call === 'Big 0')).toHaveLength(calls);
});

test('a zero window holds answers, and no more calls start than fit', async () => {
  using client = await RawClient.open(serving.port, [[SettingId.INITIAL_WINDOW_SIZE, 0]]);
  for (let at = 0; at < 40; at += 1) client.write(client.request(2 * at + 1, '/test.Echo/Big', '2000000'));
  client.write(frame('PING', 0, 0, Buffer.alloc(8)));
  await client.frame(({ type, ack }) => type === 'PING' && ack);
  expect(serving.observer.handled.length).toBeLessThan(12);
  client.write(windowUpdateFrame(0, 2 ** 30), settingsFrame([[SettingId.INITIAL_WINDOW_SIZE, 2 ** 30]]));
  for (let at = 0; at < 40; at += 1) expect(await client.outcome(2 * at + 1)).toBe('grpc-status: 0');
});

test('an HPACK bomb (CVE-2016-6581) costs what it weighs, and its stream', async () => {
  using client = await RawClient.open(serving.port);
  const bomb = client.encoder.encode([
    ...Object.entries(grpcHeaders('/test.Echo/Sync')).map(([name, value]) => ({
      name,
      value: value ?? '',
      indexing: 'once' as const,
    })),
    { name: 'x', value: 'b'.repeat(4000), indexing: 'remember' },
    ...Array.from({ length: 10_000 }, () => ({ name: 'x', value: 'b'.repeat(4000), indexing: 'remember' as const })),
  ]);
  client.write(
    frame('HEADERS', Flag.END_HEADERS | Flag.END_STREAM, 1, bomb),
    client.request(3, '/test.Echo/Sync', 'next'),
  );
  expect(await client.outcome(1)).toBe('RST_STREAM FRAME_SIZE_ERROR');
  expect(await client.outcome(3)).toBe('grpc-status: 0');
});

test('a header list above the bound is refused, its table kept in step', async () => {
  using client = await RawClient.open(serving.port);
  const long = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`x-${at}`, 'v'.repeat(2000)]));
  const remembered = client.encoder.encode([{ name: 'x-late', value: 'kept', indexing: 'remember' }]);
  const whole = Buffer.concat([
    client.encoder.encode(
      Object.entries({ ...grpcHeaders('/test.Echo/Sync'), ...long }).map(([name, value]) => ({
        name,
        value: value ?? '',
        indexing: 'once' as const,
      })),
    ),
    remembered,
  ]);
  client.write(frame('HEADERS', 0, 1, whole.subarray(0, 16_000)));
  for (let at = 16_000; at < whole.length; at += 16_000) {
    client.write(
      frame('CONTINUATION', at + 16_000 < whole.length ? 0 : Flag.END_HEADERS, 1, whole.subarray(at, at + 16_000)),
    );
  }
  expect(await client.outcome(1)).toBe('RST_STREAM FRAME_SIZE_ERROR');
  const headers = { ...grpcHeaders('/test.Echo/Metadata'), 'x-late': 'kept' };
  client.write(client.headers(3, headers), client.data(3, grpcMessage('x-late'), true));
  await client.outcome(3);
  expect(client.body(3).toString('latin1', 5)).toBe('kept');
});

test('streams above the limit are refused, those below are served', async () => {
  await using small = await startServing(serve, { maxConcurrentStreams: 3 });
  using client = await RawClient.open(small.port);
  for (const id of [1, 3, 5, 7]) client.write(client.headers(id, grpcHeaders('/test.Echo/Bidi')));
  expect(await client.outcome(7)).toBe('RST_STREAM REFUSED_STREAM');
  client.write(client.data(3, grpcMessage('x'), true));
  expect(await client.outcome(3)).toBe('grpc-status: 0');
  client.write(client.request(9, '/test.Echo/Sync', 'x'));
  expect(await client.outcome(9)).toBe('grpc-status: 0');
  const settings = await client.frame(({ type, ack }) => type === 'SETTINGS' && !ack);
  expect(settings.payload.subarray(0, 6).toString('hex')).toBe('000300000003');
});

test('more DATA than the windows allow is an error', async () => {
  await using large = await startServing(serve, { maxRequestBytes: 64 * 1024 * 1024 });
  using client = await RawClient.open(large.port);
  const chunk = Buffer.alloc(16_384);
  client.write(client.headers(1, grpcHeaders('/test.Echo/Sync')));
  client.write(client.headers(3, grpcHeaders('/test.Echo/Sync')));
  // Stream 3 announces a message that needs more than its window. The window is opened for that message only.
  client.write(client.data(3, grpcMessage(Buffer.alloc(300_000)).subarray(0, 5)));
  const opened = await client.frame(({ type, streamId }) => type === 'WINDOW_UPDATE' && streamId === 3);
  expect(opened.payload.readUInt32BE()).toBe(300_000 - (262_144 - 5));
  for (let sent = 0; sent <= 300_000; sent += chunk.length) client.write(client.data(3, chunk));
  expect(await client.outcome(3)).toMatch(/RST_STREAM FLOW_CONTROL_ERROR|cardinality/);
});

test('unfinished messages on many streams are bounded', async () => {
  using client = await RawClient.open(serving.port);
  // 255 KiB of a message of 256 KiB on each stream: each fits its window, but all together exceed the limit.
  const part = Buffer.concat([Buffer.from([0]), uint32(256 * 1024 - 5), Buffer.alloc(255 * 1024)]);
  for (let id = 1; id < 700; id += 2) {
    client.write(client.headers(id, grpcHeaders('/test.Echo/Sync')));
    for (let at = 0; at < part.length; at += 16_384) client.write(client.data(id, part.subarray(at, at + 16_384)));
  }
  const refused = await client.frame(({ type, fields }) => type === 'HEADERS' && fields.includes('grpc-status: 8'));
  expect(refused.streamId).toBeGreaterThan(2 * 200);
});

test('long messages are let in one after another, and all arrive', async () => {
  using client = new ByteClient(serving.target);
  const request = Buffer.alloc(2 * 1024 * 1024 - 100, 'long');
  const answers = await Promise.all(Array.from({ length: 40 }, () => client.unary('/test.Echo/Sync', request)));
  expect(answers.every((answer) => answer.equals(request))).toBe(true);
});

test.each([
  { bytes: '', why: 'says nothing' },
  { bytes: 'PR', why: 'says too little' },
])('a client that $why is cut', async ({ bytes }) => {
  await using quick = await startServing(serve, { timeouts: { handshakeMs: 50 } });
  using client = await RawClient.silent(quick.port);
  client.socket.write(bytes);
  await client.untilClosed();
});

test('slow headers over HTTP/1.1 (slowloris) are cut', async () => {
  await using quick = await startServing(serve, { timeouts: { headersMs: 50 } });
  const socket = connectTcp(quick.port, '127.0.0.1');
  let answer = '';
  socket.on('data', (chunk: Buffer) => {
    answer += chunk.toString();
  });
  socket.write('GET /version HTTP/1.1\r\nhost: x\r\nx-slow: ');
  await once(socket, 'close');
  expect(answer).toMatch(/^HTTP\/1\.1 408 /);
});

test.each([
  { length: 'content-length: 2001', why: 'announced' },
  { length: 'transfer-encoding: chunked', why: 'found out' },
])('a body above the bound over HTTP/1.1 is refused: $why', async ({ length }) => {
  await using small = await startServing(serve, { maxRequestBytes: 1000 });
  const socket = connectTcp(small.port, '127.0.0.1');
  let answer = '';
  socket.on('data', (chunk: Buffer) => {
    answer += chunk.toString();
  });
  socket.write(`POST /v3/kv/put HTTP/1.1\r\nhost: x\r\n${length}\r\n\r\n`);
  if (length.endsWith('chunked')) {
    for (let chunks = 0; chunks < 3; chunks += 1) socket.write(`3e8\r\n${'x'.repeat(1000)}\r\n`);
  }
  await once(socket, 'close');
  expect(answer).toMatch(/^HTTP\/1\.1 413 /);
});

test('a preface without settings is cut when the sweep finds it', async () => {
  const clock = new SimClock();
  await using still = await startServing(serve, { clock });
  using client = await RawClient.silent(still.port);
  client.socket.write(CLIENT_PREFACE);
  await client.frame(({ type }) => type === 'SETTINGS');
  clock.advance(20_000);
  await client.untilClosed();
});
