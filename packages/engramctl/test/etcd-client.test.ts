import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { calls } from '../src/client/calls.ts';
import { parseEndpoint } from '../src/client/endpoint.ts';
import { EtcdClient } from '../src/client/etcd-client.ts';

test('a client of an endpoint that hung makes a new connection', async () => {
  const sockets: Socket[] = [];
  // It takes connections, and never answers.
  const server = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  for (const count of [1, 2]) {
    using client = new EtcdClient(parseEndpoint(`127.0.0.1:${address.port}`), {
      tls: undefined,
      dialTimeoutMs: 60_000,
      commandTimeoutMs: 60_000,
      keepaliveTimeMs: 60_000,
      keepaliveTimeoutMs: 60_000,
      receiveBytesMax: 1024,
      sendBytesMax: 1024,
      token: undefined,
    });
    const enough = new AbortController();
    const asked = client.unary(calls.status, {}, enough.signal);
    while (sockets.length < count) await once(server, 'connection');
    enough.abort(new Error('enough'));
    await expect(asked).rejects.toThrow('enough');
  }
  for (const socket of sockets) socket.destroy();
  server.close();
});
