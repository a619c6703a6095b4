import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { etcdserverpb as pb } from '@engram/wire';
import { expect, test } from 'vitest';
import { EtcdClient } from '../src/etcd-client.ts';

test('the next call after an endpoint was given up has a new connection', async () => {
  const sockets: Socket[] = [];
  // It takes connections, and never answers.
  const server = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const connections = async (count: number): Promise<void> => {
    while (sockets.length < count) await once(server, 'connection');
  };
  using client = new EtcdClient({ endpoints: [`127.0.0.1:${address.port}`], tls: undefined, user: undefined });
  for (const count of [1, 2]) {
    const gone = new AbortController();
    const asked = client.unary('/etcdserverpb.KV/Range', new Uint8Array(0), pb.decodeRangeResponse, gone.signal);
    await connections(count);
    client[Symbol.dispose]();
    gone.abort(new Error('enough'));
    await expect(asked).rejects.toThrow('enough');
  }
  for (const socket of sockets) socket.destroy();
  server.close();
});
