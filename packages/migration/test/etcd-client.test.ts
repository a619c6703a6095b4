import { constants, createServer, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { EtcdClient, EtcdSource, isMigrationError } from '@engram/migration';
import { expect, test, vi } from 'vitest';

test('calls that fail together bring the client to the next endpoint, and not past it', async () => {
  // Ports where nobody listens.
  const endpoints = ['127.0.0.1:1', '127.0.0.1:2'];
  using client = new EtcdClient({ endpoints, tls: undefined, user: undefined });
  const source = new EtcdSource(client);
  const { signal } = new AbortController();
  const outcomes = await Promise.allSettled([source.revision(signal), source.revision(signal)]);
  for (const outcome of outcomes) {
    expect(outcome.status === 'rejected' && isMigrationError(outcome.reason, 'interrupted')).toBe(true);
  }
  expect(client.endpoint).toBe(endpoints[1]);
});

test('a call that could not begin leaves no timer', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const tls = { caPath: '/there/is/no/such/file.pem' };
    using client = new EtcdClient({ endpoints: ['127.0.0.1:1'], tls, user: undefined });
    const asked = new EtcdSource(client).revision(new AbortController().signal);
    await expect(asked).rejects.toSatisfy((error) => isMigrationError(error, 'refused'));
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});

const { NGHTTP2_INTERNAL_ERROR, NGHTTP2_NO_ERROR } = constants;
const refusal = (code: number, message: string) => (stream: ServerHttp2Stream) =>
  stream.respond(
    { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': code, 'grpc-message': message },
    { endStream: true },
  );

test.each([
  ['an etcd that has too much to do', refusal(2, 'etcdserver: too many requests'), 'interrupted'],
  ['a proxy that loses the etcd', (stream: ServerHttp2Stream) => stream.close(NGHTTP2_INTERNAL_ERROR), 'interrupted'],
  ['a proxy that ends', (stream: ServerHttp2Stream) => stream.close(NGHTTP2_NO_ERROR), 'interrupted'],
  ['an etcd that does not take the request', refusal(2, 'etcdserver: something else'), 'refused'],
  ['an etcd that fails', refusal(13, 'etcdserver: something else'), 'refused'],
])('%s', async (_, answer, fault) => {
  await using server = createServer();
  server.on('stream', (stream) => {
    stream.on('error', () => {});
    answer(stream);
  });
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
  using client = new EtcdClient({ endpoints: [`127.0.0.1:${port}`], tls: undefined, user: undefined });
  const asked = new EtcdSource(client).revision(new AbortController().signal);
  await expect(asked).rejects.toMatchObject({ fault });
});
