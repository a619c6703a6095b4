import { connect } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ClientBudgets } from '@engram/core';
import { Loop, StepPace } from '@engram/loop';
import { SimClock } from '@engram/sim';
import { serve } from '@engram/transport';
import { rstStreamFrame, SettingId, settingsFrame, windowUpdateFrame } from '@engram/http2';
import type { CallContext } from '@engram/wire';
import { CONNECTION_WINDOW_BYTES, SWEEP_INTERVAL_MS } from '../src/h2/limits.ts';
import { arrayBuffersHeld } from './support/memory.ts';
import { frame, grpcHeaders, grpcMessage, RawClient, uint32 } from './support/raw-client.ts';
import { ByteClient, type Serving, startServing, until } from './support/serving.ts';

/* Limits for all connections together. Each case has greedy clients, and a modest client that is served all the time. */

const MiB = 1024 * 1024;
const budgets = new ClientBudgets({
  requestBytes: 8 * MiB,
  answerBytes: 16 * MiB,
  streams: 1_000,
  connections: 1_000,
  watcherBytes: 1,
});
let serving: Serving;
let modest: ByteClient;
beforeEach(async () => {
  serving = await startServing(serve, { budgets });
  modest = new ByteClient(serving.target);
});
afterEach(async () => {
  const request = Buffer.alloc(100_000, 'm');
  expect((await modest.unary('/test.Echo/Sync', request)).equals(request)).toBe(true);
  modest[Symbol.dispose]();
  await serving.server.close();
  await until(() => budgets.requestBytes.used === 0);
  // Everything is released.
  const { requestBytes, answerBytes, streams, connections } = budgets;
  expect([requestBytes.used, answerBytes.used, streams.used, connections.used]).toEqual([0, 0, 0, 0]);
});

const tooMuch = 'grpc-status: 8, grpc-message: grpc: too many unfinished messages on one connection';

/** Waits until the server has processed everything that was written. */
async function settled(client: RawClient): Promise<void> {
  const mark = Buffer.alloc(8);
  mark.writeUInt32BE(client.received.length, 0);
  client.write(frame('PING', 0, 0, mark));
  await client.frame(({ type, ack, payload }) => type === 'PING' && ack && payload.equals(mark));
}

test.each([
  { what: 'that lack their last byte', missing: 1 },
  { what: 'that are whole, on streams that do not end', missing: 0 },
])('requests $what are bounded together', async ({ missing }) => {
  const clients = [await RawClient.open(serving.port), await RawClient.open(serving.port)];
  const length = 200_000;
  const message = Buffer.concat([Buffer.from([0]), uint32(length), Buffer.alloc(length - missing)]);
  for (const client of clients) {
    for (let id = 1; id < 100; id += 2) {
      client.write(client.headers(id, grpcHeaders('/test.Echo/Sync')));
      for (let at = 0; at < message.length; at += 16_000)
        client.write(client.data(id, message.subarray(at, at + 16_000)));
    }
    await settled(client);
    expect(budgets.requestBytes.used).toBeLessThan(8 * MiB);
  }
  // The first client takes half, the second takes half of the rest.
  expect(budgets.requestBytes.used).toBeGreaterThan(4 * MiB);
  for (const client of clients) {
    const refused = await client.frame(({ type, fields }) => type === 'HEADERS' && fields.includes('grpc-status: 8'));
    expect(await client.outcome(refused.streamId)).toContain(tooMuch);
  }
  expect(budgets.requestBytes.refusals).toBeGreaterThan(0);
  for (const client of clients) client[Symbol.dispose]();
});

test('the heads of open streams count', async () => {
  using client = await RawClient.open(serving.port);
  for (let id = 1; id < 2 * 400; id += 2) {
    client.write(client.headers(id, grpcHeaders('/test.Echo/Open', { 'x-note': 'n'.repeat(15_000) })));
  }
  const refused = await client.frame(({ type }) => type === 'RST_STREAM');
  expect(await client.outcome(refused.streamId)).toBe('RST_STREAM REFUSED_STREAM');
  // 4 MiB of 15,000 bytes each.
  expect(refused.streamId).toBeGreaterThan(2 * 250);
  expect(refused.streamId).toBeLessThan(2 * 320);
});

test('open streams are shared', async () => {
  using greedy = await RawClient.open(serving.port);
  for (let id = 1; id < 2 * 900; id += 2) greedy.write(greedy.headers(id, grpcHeaders('/test.Echo/Open')));
  await settled(greedy);
  expect(budgets.streams.used).toBe(500);
  using second = await RawClient.open(serving.port);
  for (let id = 1; id < 2 * 900; id += 2) second.write(second.headers(id, grpcHeaders('/test.Echo/Open')));
  await settled(second);
  expect(budgets.streams.used).toBe(750);
});

test('answers that nobody reads are bounded together, and arrive when they are read', async () => {
  const closedWindow = [[SettingId.INITIAL_WINDOW_SIZE, 0]] as const;
  const clients: RawClient[] = [];
  for (let at = 0; at < 4; at += 1) clients.push(await RawClient.open(serving.port, closedWindow));
  // Of 16 MiB the first client gets half, and each other client gets half of the rest, but at least one answer.
  const held = [8, 12, 14, 15];
  for (const [at, client] of clients.entries()) {
    // In one chunk, so that no answer leaves before all calls have started.
    client.write(
      ...Array.from({ length: 20 }, (_, call) => client.request(2 * call + 1, '/test.Echo/Big', String(MiB))),
    );
    await settled(client);
    expect(Math.floor(budgets.answerBytes.used / MiB)).toBe(held[at]);
    await modest.unary('/test.Echo/Big', '50000');
  }
  expect(serving.observer.handled.filter((call) => call === 'Big 0').length).toBe(15 + 4);
  for (const client of clients) {
    client.write(windowUpdateFrame(0, 2 ** 30), settingsFrame([[SettingId.INITIAL_WINDOW_SIZE, 2 ** 30]]));
    for (let id = 1; id < 40; id += 2) expect(await client.outcome(id)).toBe('grpc-status: 0');
    client[Symbol.dispose]();
  }
});

test('400 streamed answers with windows of zero: few begin, all go on when they are read', async () => {
  using client = await RawClient.open(serving.port, [[SettingId.INITIAL_WINDOW_SIZE, 0]]);
  const ids = Array.from({ length: 400 }, (_, at) => 2 * at + 1);
  for (const id of ids) client.write(client.request(id, '/test.Echo/Chunks', '2'));
  await settled(client);
  for (let turn = 0; turn < 100; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(budgets.answerBytes.used).toBeLessThan(10 * MiB);
  expect(serving.journal.filter((entry) => entry === 'opened').length).toBeLessThan(40);
  client.write(windowUpdateFrame(0, 2 ** 30), settingsFrame([[SettingId.INITIAL_WINDOW_SIZE, 2 ** 30]]));
  for (const id of ids) {
    expect(await client.outcome(id)).toBe('grpc-status: 0');
    expect(client.body(id)).toHaveLength(2 * (256 * 1024 + 5));
  }
});

test('streams that begin under way of others wait and are told when there is room', async () => {
  const greedy: RawClient[] = [];
  for (let at = 0; at < 3; at += 1)
    greedy.push(await RawClient.open(serving.port, [[SettingId.INITIAL_WINDOW_SIZE, 0]]));
  for (const client of greedy) {
    for (let id = 1; id < 40; id += 2) client.write(client.request(id, '/test.Echo/Big', String(MiB)));
    await settled(client);
  }
  using late = await RawClient.open(serving.port);
  late.write(late.request(1, '/test.Echo/Chunks', '4'), windowUpdateFrame(0, 2 ** 20), windowUpdateFrame(1, 2 ** 20));
  late.write(windowUpdateFrame(0, 2 ** 22), windowUpdateFrame(1, 2 ** 22));
  // Its own share is small, but it reads its answers.
  expect(await late.outcome(1)).toBe('grpc-status: 0');
  for (const client of greedy) client[Symbol.dispose]();
});

test('answers that are being made count, until their handlers are through', async () => {
  const asked: boolean[] = [];
  const release = Promise.withResolvers<void>();
  const methods = new Map([
    [
      '/test.Make/Answer',
      {
        kind: 'unary' as const,
        handle: async (_: Uint8Array, call: CallContext): Promise<Uint8Array> => {
          asked.push(call.reserveAnswer?.(MiB) === true);
          await release.promise;
          return Buffer.from('made');
        },
      },
    ],
  ]);
  await using makers = await startServing(serve, { budgets, methods });
  using greedy = await RawClient.open(makers.port);
  for (let id = 1; id < 200; id += 2) greedy.write(greedy.request(id, '/test.Make/Answer', Buffer.from('x')));
  await until(() => asked.length === 100);
  // A single connection gets half of 16 MiB.
  expect(asked.filter((granted) => granted).length).toBe(7);
  expect(budgets.answerBytes.used).toBe(7 * MiB);
  // Answers to cancelled calls are still made, and still count.
  for (let id = 1; id < 200; id += 2) greedy.write(rstStreamFrame(id, 8));
  await settled(greedy);
  expect(budgets.answerBytes.used).toBe(7 * MiB);
  release.resolve();
  await until(() => budgets.answerBytes.used === 0);
  greedy.write(greedy.request(201, '/test.Make/Answer', Buffer.from('x')));
  expect(await greedy.outcome(201)).toContain('grpc-status: 0');
  await until(() => budgets.answerBytes.used === 0);
});

test('calls wait until there is room again for what those before them hold, whether or not there was', async () => {
  let begun = 0;
  const release = Promise.withResolvers<void>();
  const handle = async (_: Uint8Array, call: CallContext): Promise<Uint8Array> => {
    begun += 1;
    call.holdAnswer?.(3 * MiB);
    await release.promise;
    return Buffer.from('made');
  };
  const methods = new Map([['/test.Make/Answer', { kind: 'unary' as const, handle }]]);
  await using makers = await startServing(serve, { budgets, methods });
  using greedy = await RawClient.open(makers.port);
  for (let id = 1; id < 200; id += 2) greedy.write(greedy.request(id, '/test.Make/Answer', Buffer.from('x')));
  await settled(greedy);
  // A single connection gets half of 16 MiB, and the last one that begins may take more.
  expect(begun).toBe(3);
  expect(budgets.answerBytes.used).toBe(9 * MiB);
  release.resolve();
  for (let id = 1; id < 200; id += 2) expect(await greedy.outcome(id)).toContain('grpc-status: 0');
  await until(() => budgets.answerBytes.used === 0);
});

test('a client that has used up its window while others held too much gets a new one when they have gone', async () => {
  const clock = new SimClock();
  const small = new ClientBudgets({
    requestBytes: 300_000,
    answerBytes: MiB,
    streams: 100,
    connections: 100,
    watcherBytes: 1,
  });
  const requests = small.requestBytes;
  await using shared = await startServing(serve, { budgets: small, clock });
  using waiting = await RawClient.open(shared.port);
  const unfinished = async (client: RawClient, length: number): Promise<void> => {
    const message = Buffer.concat([Buffer.from([0]), uint32(length), Buffer.alloc(length - 1)]);
    client.write(client.headers(1, grpcHeaders('/test.Echo/Sync')));
    for (let at = 0; at < message.length; at += 16_000) client.write(client.data(1, message.subarray(at, at + 16_000)));
    await settled(client);
  };
  await unfinished(waiting, 100_000);
  const others: RawClient[] = [];
  while (requests.used < 300_000) {
    const other = await RawClient.open(shared.port);
    others.push(other);
    await unfinished(other, 60_000);
  }
  // The server has ended this stream, and drops what still comes for it.
  waiting.write(waiting.headers(3, grpcHeaders('/test.Echo/None')));
  const chunk = waiting.data(3, Buffer.alloc(16_000));
  const left = CONNECTION_WINDOW_BYTES - 100_000;
  for (let sent = 16_000; sent <= left; sent += 16_000) waiting.write(chunk);
  await settled(waiting);
  const windows = (): number =>
    waiting.received.filter(({ type, streamId }) => type === 'WINDOW_UPDATE' && streamId === 0).length;
  expect(windows()).toBe(1); // its first one
  for (const other of others) other[Symbol.dispose]();
  await until(() => requests.used < 150_000);
  clock.advance(SWEEP_INTERVAL_MS);
  await until(() => windows() === 2);
  waiting[Symbol.dispose]();
  await until(() => requests.used === 0);
}, 10_000);

test('calls of many connections that waited for room begin in slices of the loop once there is some', async () => {
  const clock = new SimClock();
  // Each start takes a slice.
  const loop = new Loop({ clock, pace: new StepPace(1) });
  const small = new ClientBudgets({
    requestBytes: MiB,
    answerBytes: 100 * MiB,
    streams: 100,
    connections: 100,
    watcherBytes: 1,
  });
  let begun = 0;
  const release = Promise.withResolvers<void>();
  const handle = async (_: Uint8Array, call: CallContext): Promise<Uint8Array> => {
    begun += 1;
    call.holdAnswer?.(MiB);
    await release.promise;
    return Buffer.from('made');
  };
  const methods = new Map([['/test.Make/Answer', { kind: 'unary' as const, handle }]]);
  await using shared = await startServing(serve, { budgets: small, clock, loop, methods });
  const others = small.answerBytes.share();
  others.hold(100 * MiB);
  const clients: RawClient[] = [];
  for (let at = 0; at < 20; at += 1) {
    const client = await RawClient.open(shared.port);
    clients.push(client);
    // One answer is always made.
    for (const id of [1, 3]) client.write(client.request(id, '/test.Make/Answer', Buffer.from('x')));
    await settled(client);
  }
  expect(begun).toBe(20);
  others.end();
  clock.advance(SWEEP_INTERVAL_MS);
  expect(begun, 'in the turn of the sweep').toBeLessThanOrEqual(22);
  await until(() => begun === 40);
  release.resolve();
  for (const client of clients) expect(await client.outcome(1)).toContain('grpc-status: 0');
  for (const client of clients) client[Symbol.dispose]();
});

test('a sweep that takes longer than its interval has no other one beside it', async () => {
  const clock = new SimClock();
  // Each connection takes a slice.
  const loop = new Loop({ clock, pace: new StepPace(1) });
  await using shared = await startServing(serve, { clock, loop });
  const clients = [await RawClient.open(shared.port), await RawClient.open(shared.port)];
  for (const client of clients) await settled(client);
  await until(() => loop.waiting('client') === 0);
  // No turn comes between.
  clock.advance(3 * SWEEP_INTERVAL_MS);
  expect(loop.waiting('client')).toBe(1);
  await until(() => loop.waiting('client') === 0);
  clock.advance(SWEEP_INTERVAL_MS);
  expect(loop.waiting('client'), 'the next one').toBe(1);
  for (const client of clients) client[Symbol.dispose]();
});

test.each(['Sync', 'Chunks'])('%s that is reset while it waits holds nothing of its request', async (method) => {
  using client = await RawClient.open(serving.port, [[SettingId.INITIAL_WINDOW_SIZE, 0]]);
  // More than a single connection may leave unread.
  for (let id = 1; id < 40; id += 2) client.write(client.request(id, '/test.Echo/Big', String(MiB)));
  await settled(client);
  const before = await arrayBuffersHeld();
  const message = grpcMessage(Buffer.alloc(240_000));
  for (let id = 101; id < 101 + 2 * 50; id += 2) {
    client.write(client.headers(id, grpcHeaders(`/test.Echo/${method}`)));
    for (let at = 0; at < message.length; at += 16_000) {
      client.write(client.data(id, message.subarray(at, at + 16_000), at + 16_000 >= message.length));
    }
    client.write(rstStreamFrame(id, 8));
  }
  await settled(client);
  // Of 12 MB.
  expect((await arrayBuffersHeld()) - before).toBeLessThan(3 * MiB);
});

test.each([
  { what: 'on streams that do not end', method: 'Sync', ends: false },
  { what: 'for a streamed answer, on streams that do not end', method: 'Chunks', ends: false },
  { what: 'that wait for room', method: 'Sync', ends: true },
  { what: 'for a streamed answer that wait for room', method: 'Chunks', ends: true },
])('short requests $what keep nothing of what came with them', async ({ method, ends }) => {
  using client = await RawClient.open(serving.port, [[SettingId.INITIAL_WINDOW_SIZE, 0]]);
  // More than a single connection may leave unread.
  for (let id = 1001; ends && id < 1040; id += 2) client.write(client.request(id, '/test.Echo/Big', String(MiB)));
  await settled(client);
  const before = await arrayBuffersHeld();
  // What comes behind a message is taken and dropped.
  const first = 2001;
  client.write(client.headers(first, grpcHeaders('/test.Echo/Sync')), client.data(first, grpcMessage('')));
  let window = 256 * 1024 - grpcMessage('').length;
  let updates = 0;
  const filling = client.data(first, Buffer.alloc(16_000));
  for (let id = first + 2; id < first + 2 * 100; id += 2) {
    const head = client.headers(id, grpcHeaders(`/test.Echo/${method}`));
    client.write(head, client.data(id, grpcMessage('2'), ends), filling, filling, filling);
    window -= 3 * 16_000;
    while (window < 3 * 16_000) {
      const opened = client.received.filter(({ type, streamId }) => type === 'WINDOW_UPDATE' && streamId === first);
      for (; updates < opened.length; updates += 1) window += opened[updates]!.payload.readUInt32BE(0);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  await settled(client);
  // Of 5 MB.
  expect((await arrayBuffersHeld()) - before).toBeLessThan(MiB);
});

test('a connection keeps nothing of what it has taken', async () => {
  const clients: RawClient[] = [];
  for (let at = 0; at < 50; at += 1) clients.push(await RawClient.open(serving.port));
  const before = await arrayBuffersHeld();
  for (const client of clients) {
    for (const id of [1, 3]) {
      const message = grpcMessage('1'.padStart(60_000, '0'));
      const head = client.headers(id, grpcHeaders('/test.Echo/Big'));
      const parts = [0, 16_000, 32_000, 48_000].map((from) =>
        client.data(id, message.subarray(from, from + 16_000), from === 48_000),
      );
      // The second chunk has no head.
      if (id === 1) client.write(head, ...parts);
      else {
        client.write(head);
        await settled(client);
        client.write(...parts);
      }
      expect(await client.outcome(id)).toBe('grpc-status: 0');
    }
  }
  // Of 6 MB.
  expect((await arrayBuffersHeld()) - before).toBeLessThan(MiB);
  for (const client of clients) client[Symbol.dispose]();
});

test('bodies of HTTP/1.1 count, too', async () => {
  const sockets = Array.from({ length: 12 }, () => connect(serving.port, '127.0.0.1'));
  const answers: string[] = [];
  for (const socket of sockets) {
    socket.on('error', () => {});
    socket.on('data', (text) => answers.push(String(text)));
    socket.write('POST /v3/kv/put HTTP/1.1\r\nhost: x\r\ncontent-length: 3000000\r\n\r\n');
    socket.write(Buffer.alloc(2_999_999));
  }
  await until(() => answers.some((answer) => answer.startsWith('HTTP/1.1 503 ')));
  expect(budgets.requestBytes.used).toBeLessThan(9 * MiB);
  for (const socket of sockets) socket.destroy();
  await until(() => serving.observer.connections <= 1);
});

test('a message on a connection whose others hold nothing is as large as it may be', async () => {
  const request = Buffer.alloc(MiB, 'r');
  expect((await modest.unary('/test.Echo/Sync', request)).equals(request)).toBe(true);
  using raw = await RawClient.open(serving.port);
  raw.write(raw.headers(1, grpcHeaders('/test.Echo/Sync')), raw.data(1, grpcMessage('x'), true));
  expect(await raw.outcome(1)).toBe('grpc-status: 0');
});
