import { gunzipSync, gzipSync } from 'node:zlib';
import { compressionAlgorithms } from '@grpc/grpc-js';
import { SimClock } from '@engram/sim';
import { describe, expect, test } from 'vitest';
import { serve, serveGrpcJs } from '@engram/transport';
import { SettingId, windowUpdateFrame } from '@engram/http2';
import type { Method } from '@engram/wire';
import { echoMethods } from './support/echo-methods.ts';
import { ByteClient, outcome, type Serve, startServing, until } from './support/serving.ts';
import { frame, grpcHeaders, grpcMessage, RawClient } from './support/raw-client.ts';

const gzip = { 'grpc-encoding': 'gzip' } as const;
const zipped = (text: string | Uint8Array): Buffer => grpcMessage(gzipSync(text), 1);

const servers: readonly (readonly [name: string, serve: Serve])[] = [
  ['grpc-js', serveGrpcJs],
  ['the own codec', serve],
];
describe.each(servers)('served by %s', (_name, serveWith) => {
  test('a client that compresses is understood, and understands', async () => {
    await using serving = await startServing(serveWith);
    using client = new ByteClient(serving.target, undefined, {
      'grpc.default_compression_algorithm': compressionAlgorithms.gzip,
    });
    const long = Buffer.alloc(1_900_000, 'compressible ');
    expect((await client.unary('/test.Echo/Sync', 'hello')).toString()).toBe('hello');
    expect((await client.unary('/test.Echo/Sync', long)).equals(long)).toBe(true);
    expect((await client.unary('/test.Echo/Sync', '')).length).toBe(0);
    expect((await outcome(client.serverStream('/test.Echo/Count', '5'))).messages).toEqual(['1', '2', '3', '4', '5']);
    const stream = client.bidi('/test.Echo/Bidi');
    for (const text of ['a', 'b', 'c']) stream.write(Buffer.from(text));
    stream.end();
    expect((await outcome(stream)).messages).toEqual(['a', 'b', 'c']);
  });
});

// etcd's exact answers (grpc-go, rpc_util.go).
test.each([
  { body: grpcMessage('as it is'), outcome: 'grpc-status: 0', why: 'each message says whether it is compressed' },
  { body: zipped(''), outcome: 'grpc-status: 0', why: 'a message may be empty' },
  {
    body: grpcMessage(Buffer.concat([gzipSync('a'), gzipSync('b')]), 1),
    outcome: 'grpc-status: 0',
    why: 'gzip may come in members',
  },
  {
    body: grpcMessage('', 1),
    outcome: 'grpc-status: 13, grpc-message: grpc: failed to decompress the message: EOF',
    why: 'no message at all',
  },
  {
    body: grpcMessage('no gzip', 1),
    outcome: 'grpc-status: 13, grpc-message: grpc: failed to decompress the message: unexpected EOF',
    why: 'no whole head',
  },
  {
    body: grpcMessage('no gzip, and long', 1),
    outcome: 'grpc-status: 13, grpc-message: grpc: failed to decompress the message: gzip: invalid header',
    why: 'another format',
  },
  {
    body: grpcMessage(gzipSync('cut').subarray(0, -3), 1),
    outcome: 'grpc-status: 13, grpc-message: grpc: failed to read decompressed data: unexpected EOF',
    why: 'cut short',
  },
  {
    body: grpcMessage(Buffer.concat([gzipSync('sum').subarray(0, -8), Buffer.alloc(8)]), 1),
    outcome: 'grpc-status: 13, grpc-message: grpc: failed to read decompressed data: gzip: invalid checksum',
    why: 'not what was compressed',
  },
  {
    body: grpcMessage(Buffer.concat([gzipSync('x').subarray(0, 10), Buffer.from([0xff, 0, 0])]), 1),
    outcome: 'grpc-status: 13, grpc-message: grpc: failed to read decompressed data: flate: corrupt input',
    why: 'no deflate',
  },
  {
    body: zipped(Buffer.alloc(2 * 1024 * 1024 + 1)),
    outcome: 'grpc-status: 8, grpc-message: grpc: received message after decompression larger than max 2097152',
    why: 'the bound is for what it was',
  },
])('$outcome: $why', async ({ body, outcome: expected }) => {
  await using serving = await startServing(serve);
  using client = await RawClient.open(serving.port);
  for (const [at, path] of ['/test.Echo/Sync', '/test.Echo/Bidi', '/test.Echo/Count'].entries()) {
    const streamId = 2 * at + 1;
    client.write(client.headers(streamId, grpcHeaders(path, gzip)), client.data(streamId, body, true));
    expect((await client.outcome(streamId)).replace(/^:status: 200, /, '')).toBe(expected);
  }
});

test('answers are compressed exactly when the request says gzip, and long ones are not', async () => {
  await using serving = await startServing(serve);
  using client = await RawClient.open(serving.port, [[SettingId.INITIAL_WINDOW_SIZE, 2 ** 20]]);
  client.write(windowUpdateFrame(0, 2 ** 20));
  const text = 'again and '.repeat(20);
  client.write(client.request(1, '/test.Echo/Sync', text, { 'grpc-accept-encoding': 'gzip' }));
  client.write(client.request(3, '/test.Echo/Sync', text, gzip));
  client.write(client.request(5, '/test.Echo/Big', '300000', gzip));
  for (const streamId of [1, 3, 5]) expect(await client.outcome(streamId)).toBe('grpc-status: 0');
  const encodings = client.received
    .filter(({ type, endStream }) => type === 'HEADERS' && !endStream)
    .map(({ fields }) => fields.find((field) => field.startsWith('grpc-encoding')));
  expect(encodings).toEqual([undefined, 'grpc-encoding: gzip', 'grpc-encoding: gzip']);
  expect([1, 3, 5].map((streamId) => client.body(streamId)[0])).toEqual([0, 1, 0]);
  expect(gunzipSync(client.body(3).subarray(5)).toString()).toBe(text);
});

test('decompression bombs weigh nothing while they wait, and end alone', async () => {
  await using serving = await startServing(serve, { maxConcurrentStreams: 2_000 });
  using client = await RawClient.open(serving.port);
  using honest = new ByteClient(serving.target);
  const bomb = zipped(Buffer.alloc(2 * 1024 * 1024));
  const before = process.memoryUsage().arrayBuffers;
  for (let id = 1; id < 2_000; id += 2) {
    client.write(client.headers(id, grpcHeaders('/test.Echo/Hang', gzip)), client.data(id, bomb, true));
  }
  // 32 MiB of requests run at a time. The other 984 wait in compressed form.
  await until(() => serving.journal.filter((entry) => entry === 'hangs').length === 16);
  client.write(frame('PING', 0, 0, Buffer.alloc(8)));
  await client.frame(({ type, ack }) => type === 'PING' && ack);
  expect((await honest.unary('/test.Echo/Sync', 'served')).toString()).toBe('served');
  expect(serving.journal.filter((entry) => entry === 'hangs')).toHaveLength(16);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(150 * 1024 * 1024);
  client.socket.destroy();
  await until(() => serving.observer.connections === 1);
});

test.each(['/test.Echo/Open', '/test.Echo/Count'])('bombs on streams end the connection: %s', async (path) => {
  await using serving = await startServing(serve, { clock: new SimClock() });
  using client = await RawClient.open(serving.port);
  using honest = new ByteClient(serving.target);
  const bomb = zipped(Buffer.alloc(2 * 1024 * 1024));
  // The budget of 10,000 tokens pays for 78 of them.
  for (let id = 1; id < 400; id += 2)
    client.write(client.headers(id, grpcHeaders(path, gzip)), client.data(id, bomb, true));
  expect(await client.goAway()).toBe('ENHANCE_YOUR_CALM too_many compressed messages');
  expect((await honest.unary('/test.Echo/Sync', 'served')).toString()).toBe('served');
});

test('bombs on streams that had to wait end their connection, and nothing else', async () => {
  const release: (() => void)[] = [];
  const hold = (): Promise<Uint8Array> => new Promise((resolve) => release.push(() => resolve(new Uint8Array(1))));
  const methods = new Map<string, Method>([...echoMethods([]), ['/test.Hold/Hold', { kind: 'unary', handle: hold }]]);
  await using serving = await startServing(serve, { methods, clock: new SimClock(), maxConcurrentStreams: 2_000 });
  using client = await RawClient.open(serving.port);
  using honest = new ByteClient(serving.target);
  const bomb = zipped(Buffer.alloc(2 * 1024 * 1024));
  // 32 MiB of requests run at a time.
  for (let id = 1; id < 33; id += 2) {
    client.write(client.headers(id, grpcHeaders('/test.Hold/Hold', gzip)), client.data(id, bomb, true));
  }
  await until(() => release.length === 16);
  for (let id = 33; id < 433; id += 2) {
    client.write(client.headers(id, grpcHeaders('/test.Echo/Count', gzip)), client.data(id, bomb, true));
  }
  client.write(frame('PING', 0, 0, Buffer.alloc(8)));
  await client.frame(({ type, ack }) => type === 'PING' && ack);
  for (const answer of release) answer();
  expect(await client.goAway()).toBe('ENHANCE_YOUR_CALM too_many compressed messages');
  expect((await honest.unary('/test.Echo/Sync', 'served')).toString()).toBe('served');
  await until(() => serving.observer.connections === 1);
});
