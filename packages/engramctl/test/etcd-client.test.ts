import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { calls } from '../src/client/calls.ts';
import { parseEndpoint } from '../src/client/endpoint.ts';
import { EtcdClient } from '../src/client/etcd-client.ts';

test('each client of an endpoint has a connection of its own', async () => {
  const sockets: Socket[] = [];
  // It takes connections, and never answers.
  const server = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const enough = new AbortController();
  const clients = [1, 2].map(
    () =>
      new EtcdClient(parseEndpoint(`127.0.0.1:${address.port}`), {
        tls: undefined,
        dialTimeoutMs: 60_000,
        commandTimeoutMs: 60_000,
        keepaliveTimeMs: 60_000,
        keepaliveTimeoutMs: 60_000,
        receiveBytesMax: 1024,
        sendBytesMax: 1024,
        token: undefined,
      }),
  );
  const asked = clients.map((client) =>
    expect(client.unary(calls.status, {}, enough.signal)).rejects.toThrow('enough'),
  );
  while (sockets.length < clients.length) await once(server, 'connection');
  enough.abort(new Error('enough'));
  await Promise.all(asked);
  for (const client of clients) client[Symbol.dispose]();
  for (const socket of sockets) socket.destroy();
  server.close();
});
