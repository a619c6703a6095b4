import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { etcdserverpb as pb } from '@engram/wire';
import { expect, test } from 'vitest';
import { EtcdClient } from '../src/etcd-client.ts';

test('each client has a connection of its own, and one after an endpoint was given up is new', async () => {
  const sockets: Socket[] = [];
  // It takes connections, and never answers.
  const server = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const connections = async (count: number): Promise<void> => {
    while (sockets.length < count) await once(server, 'connection');
  };
  const target = { endpoints: [`127.0.0.1:${address.port}`], tls: undefined, user: undefined };
  using client = new EtcdClient(target);
  using other = new EtcdClient(target);
  const gone = new AbortController();
  const ask = (of: EtcdClient): Promise<string> =>
    of.unary('/etcdserverpb.KV/Range', new Uint8Array(0), pb.decodeRangeResponse, gone.signal).then(
      () => 'answered',
      () => 'rejected',
    );
  const asked = [client, other].map(ask);
  await connections(2);
  client[Symbol.dispose]();
  asked.push(ask(client));
  await connections(3);
  gone.abort(new Error('enough'));
  expect(await Promise.all(asked)).toEqual(['rejected', 'rejected', 'rejected']);
  for (const socket of sockets) socket.destroy();
  server.close();
});
