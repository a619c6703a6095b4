import { once } from 'node:events';
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  type OutgoingHttpHeaders,
  type Settings,
} from 'node:http2';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { serve } from '@engram/transport';
import { grpcMessage } from './support/raw-client.ts';
import { type Serving, startServing, until } from './support/serving.ts';

// nghttp2's client, an independent implementation of the RFCs.
let serving: Serving;
beforeEach(async () => {
  serving = await startServing(serve);
});
afterEach(() => serving.server.close());

async function session(settings: Settings = {}): Promise<ClientHttp2Session> {
  const client = connect(`http://${serving.target}`, { settings });
  client.on('error', () => {});
  await once(client, 'connect');
  return client;
}

function call(client: ClientHttp2Session, path: string, headers: OutgoingHttpHeaders = {}): ClientHttp2Stream {
  return client.request({
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    te: 'trailers',
    ...headers,
  });
}

async function finish(stream: ClientHttp2Stream): Promise<{ status: unknown; body: Buffer }> {
  let status: unknown;
  stream.on('response', (headers) => {
    status = headers['grpc-status'];
  });
  stream.on('trailers', (headers) => {
    status = headers['grpc-status'];
  });
  const body: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => body.push(chunk));
  await once(stream, 'close');
  return { status, body: Buffer.concat(body) };
}

test.each<{ settings: Settings; why: string }>([
  { settings: {}, why: 'the usual settings' },
  { settings: { headerTableSize: 0 }, why: 'no header table' },
  { settings: { headerTableSize: 64 }, why: 'a header table for one field of the two' },
  { settings: { headerTableSize: 65_536 }, why: 'a larger header table than we use' },
  { settings: { initialWindowSize: 1 }, why: 'a window of a byte' },
  { settings: { initialWindowSize: 1_000_000, maxFrameSize: 1_000_000 }, why: 'large frames' },
])('calls with $why', async ({ settings }) => {
  const client = await session(settings);
  for (let round = 0; round < 3; round += 1) {
    const stream = call(client, '/test.Echo/Pieces');
    stream.end(grpcMessage(`round ${round}`));
    expect(await finish(stream)).toEqual({ status: '0', body: grpcMessage(`<round ${round}>`) });
  }
  const big = call(client, '/test.Echo/Big');
  big.end(grpcMessage(settings.initialWindowSize === 1 ? '200' : '3000000'));
  expect((await finish(big)).body.subarray(5).every((byte) => byte === 0x78)).toBe(true);
  client.destroy();
});

test('a header table that changes between calls', async () => {
  const client = await session();
  for (const headerTableSize of [4096, 0, 4096, 40, 100, 4096]) {
    client.settings({ headerTableSize });
    await once(client, 'localSettings');
    for (let round = 0; round < 2; round += 1) {
      const stream = call(client, '/test.Echo/Sync');
      stream.end(grpcMessage('x'));
      expect((await finish(stream)).status).toBe('0');
    }
  }
  client.destroy();
});

test('metadata that spans CONTINUATION frames', async () => {
  const client = await session();
  const token = 't'.repeat(50_000);
  const stream = call(client, '/test.Echo/Metadata', { token });
  stream.end(grpcMessage('token'));
  expect((await finish(stream)).body).toEqual(grpcMessage(token));
  client.destroy();
});

test('a ping is answered, and the server tells its settings', async () => {
  const client = await session();
  const data = Buffer.from('pingpong');
  const answered = await new Promise<Buffer>((resolve, reject) => {
    client.ping(data, (error, _duration, payload) => (error === null ? resolve(payload) : reject(error)));
  });
  expect(answered.equals(data)).toBe(true);
  expect(client.remoteSettings).toMatchObject({ initialWindowSize: 262_144, maxConcurrentStreams: 65_536 });
  client.destroy();
});

test('a hundred streams at once, small and large, both ways', async () => {
  const client = await session();
  const outcomes = await Promise.all(
    Array.from({ length: 100 }, async (_, at) => {
      const message = Buffer.alloc(at % 10 === 0 ? 700_000 : 10 * at, at);
      const stream = call(client, '/test.Echo/Bidi');
      stream.write(grpcMessage(message));
      stream.end(grpcMessage('end'));
      const { status, body } = await finish(stream);
      return status === '0' && body.equals(Buffer.concat([grpcMessage(message), grpcMessage('end')]));
    }),
  );
  expect(outcomes.every(Boolean)).toBe(true);
  client.destroy();
});

test('a stream whose answers nobody reads stops taking requests, and goes on when they are read', async () => {
  const client = await session();
  const stream = call(client, '/test.Echo/Bidi');
  const message = grpcMessage(Buffer.alloc(60_000, 'm'));
  const total = 500; // 30 MB in each direction: more than all windows and buffers in between
  let written = 0;
  stream.pause();
  const pump = (): void => {
    while (written < total) {
      written += 1;
      if (!stream.write(message)) {
        stream.once('drain', pump);
        return;
      }
    }
    stream.end();
  };
  pump();
  // While the client does not read, the server receives no more than its window and what its queue accepts above its
  // mark.
  let before = -1;
  await until(() => {
    const still = before === serving.observer.received;
    before = serving.observer.received;
    return still && before > 1_000_000;
  });
  expect(serving.observer.received).toBeLessThan(10_000_000);
  const finished = finish(stream);
  stream.resume();
  const { status, body } = await finished;
  expect({ status, length: body.length }).toEqual({ status: '0', length: total * message.length });
  client.destroy();
});

test('a session that is closed in the middle leaves nothing', async () => {
  const client = await session();
  const stream = call(client, '/test.Echo/Open');
  stream.on('error', () => {});
  stream.write(grpcMessage('x'));
  await until(() => serving.observer.open === 1);
  client.destroy();
  await until(() => serving.observer.open === 0 && serving.observer.connections === 0);
  expect(serving.journal).toEqual(['closed']);
});
