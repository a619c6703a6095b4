import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Engram } from './support/engram-process.ts';
import { GrpcClient } from './support/grpc-client.ts';

let engram: Engram;
beforeAll(async () => {
  engram = await Engram.start(['--max-request-bytes=100000']);
});
afterAll(() => engram[Symbol.asyncDispose]());

/** After each case the server must still serve other clients. */
async function stillServes(): Promise<void> {
  using client = new GrpcClient(engram.url);
  expect(await client.put('alive', '1')).toBeGreaterThan(1);
  expect(engram.lines.filter(({ level }) => level === 'fatal')).toEqual([]);
}

function dial(): Socket {
  return connect({ port: engram.port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => {});
}

/** All bytes that the server sends until it closes the connection. */
function untilClosed(socket: Socket): Promise<Buffer> {
  const pieces: Buffer[] = [];
  return new Promise((resolve) => {
    socket.on('data', (piece) => pieces.push(piece));
    socket.once('end', () => socket.end());
    socket.once('close', () => resolve(Buffer.concat(pieces)));
  });
}

test.each([
  { what: 'zeros', bytes: Buffer.alloc(1000) },
  { what: 'a TLS hello', bytes: Buffer.from('16030100c8010000c40303', 'hex') },
  { what: 'half a word of HTTP', bytes: Buffer.from('NONSENSE without a version\r\n\r\n') },
  {
    what: 'a preface and then garbage',
    bytes: Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), Buffer.alloc(500, 0xff)]),
  },
  {
    what: 'a frame that says it is 16 MB',
    bytes: Buffer.concat([
      Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
      Buffer.from('ffffff0000000000010000', 'hex'),
    ]),
  },
])('$what ends that connection alone', async ({ bytes }) => {
  const socket = dial();
  const closed = untilClosed(socket);
  socket.write(bytes);
  await closed;
  await stillServes();
});

test('a client that goes away in the middle of a request takes nothing with it', async () => {
  const socket = dial();
  await new Promise<void>((resolve) =>
    socket.write('POST /v3/kv/put HTTP/1.1\r\nhost: a\r\ncontent-length: 1000\r\n\r\n{', () => resolve()),
  );
  socket.resetAndDestroy();
  await stillServes();
});

test('a client that has said all and still listens gets its answer', async () => {
  const socket = dial();
  const closed = untilClosed(socket);
  socket.end('GET /health HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n');
  expect((await closed).toString()).toContain('{"health":"true","reason":""}');
});

test('connections that say nothing take no place from others', async () => {
  const silent = Array.from({ length: 200 }, dial);
  await stillServes();
  for (const socket of silent) socket.destroy();
});

// grpc-go sends both the HTTP status and the gRPC status.
test.each(['application/json', 'text/plain'])('content type %s over HTTP/2 is refused', async (contentType) => {
  using client = new GrpcClient(engram.url);
  const range = client.unary('/etcdserverpb.KV/Range', Buffer.from('0a0161', 'hex'), contentType);
  await expect(range).rejects.toThrow(/^(?:HTTP 415|3: invalid gRPC request content-type)/);
  await stillServes();
});

test.each([
  {
    what: 'a message that is no protobuf',
    path: '/etcdserverpb.KV/Range',
    bytes: Buffer.alloc(9, 0xff),
    status: /^(?:13|3|2): /,
  },
  { what: 'a method that is not there', path: '/etcdserverpb.KV/Nothing', bytes: Buffer.alloc(0), status: /^12: / },
  { what: 'a service that is not there', path: '/a.B/C', bytes: Buffer.alloc(0), status: /^12: / },
  {
    what: 'a write above --max-request-bytes',
    path: '/etcdserverpb.KV/Put',
    bytes: Buffer.concat([Buffer.from('0a01611280b518', 'hex'), Buffer.alloc(400_000, 0x61)]),
    status: /^3: etcdserver: request is too large/,
  },
  {
    what: 'a message above the limit of the transport',
    path: '/etcdserverpb.KV/Put',
    bytes: Buffer.alloc(700_000, 0x61),
    status: /^8: grpc: received message larger than max \(/,
  },
  {
    what: 'a request without a key',
    path: '/etcdserverpb.KV/Range',
    bytes: Buffer.alloc(0),
    status: /^3: etcdserver: key is not provided/,
  },
])('$what gets its status, and the connection goes on', async ({ path, bytes, status }) => {
  using client = new GrpcClient(engram.url);
  await expect(client.unary(path, bytes)).rejects.toThrow(status);
  expect(await client.put('same connection', '1')).toBeGreaterThan(1);
});

test('a HTTP request with headers without end is cut', async () => {
  const socket = dial();
  const closed = untilClosed(socket);
  socket.write(`GET /health HTTP/1.1\r\nx: ${'y'.repeat(200_000)}`);
  expect((await closed).toString()).toMatch(/^HTTP\/1\.1 431 /);
  await stillServes();
});
