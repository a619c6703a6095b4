import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { expect, test } from 'vitest';
import { ClientBudgets } from '@engram/core';
import { serve } from '@engram/transport';
import { CertificateFolder } from './support/certificate-folder.ts';
import { issue } from './support/certificates.ts';
import { startServing, until } from './support/serving.ts';

/* The process's descriptors are shared, so connections are limited to leave enough for the storage. */

const budgetsFor = (connections: number): ClientBudgets =>
  new ClientBudgets({ requestBytes: 2 ** 20, answerBytes: 2 ** 20, streams: 100, connections, watcherBytes: 1 });

/** True if the connection stays open. */
async function stays(port: number, localAddress: string): Promise<boolean> {
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  socket.on('error', () => {});
  socket.resume();
  // After the client's preface and settings, the server sends SETTINGS.
  socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0');
  return await new Promise((resolve) => {
    socket.on('data', () => resolve(true));
    socket.on('close', () => resolve(false));
  });
}

async function count(port: number, localAddress: string, tries: number): Promise<number> {
  let open = 0;
  for (let at = 0; at < tries; at += 1) if (await stays(port, localAddress)) open += 1;
  return open;
}

test('one address gets four fifths of the connections, and leaves room for others', async () => {
  const budgets = budgetsFor(100);
  await using serving = await startServing(serve, { budgets });
  expect(await count(serving.port, '127.0.0.1', 120)).toBe(80);
  expect(await count(serving.port, '127.0.0.2', 120)).toBe(16);
  expect(budgets.connections.refusals).toBe(40 + 104);
  expect(serving.observer.connections).toBe(96);
  expect(await stays(serving.port, '127.0.0.3')).toBe(true);
});

test('a connection that ends makes room', async () => {
  const budgets = budgetsFor(5);
  await using serving = await startServing(serve, { budgets });
  const sockets: Socket[] = [];
  for (let at = 0; at < 4; at += 1) {
    const socket = connect(serving.port, '127.0.0.1');
    await once(socket, 'connect');
    sockets.push(socket);
  }
  await until(() => serving.observer.connections === 4);
  expect(await stays(serving.port, '127.0.0.1')).toBe(false);
  sockets[0]?.destroy();
  await until(() => serving.observer.connections === 3);
  expect(await stays(serving.port, '127.0.0.1')).toBe(true);
  for (const socket of sockets) socket.destroy();
});

test('listeners of a process share the bound, TLS or not', async () => {
  const budgets = budgetsFor(5);
  const ca = issue('ca');
  const folder = new CertificateFolder(ca, issue('server', ca));
  const tls = folder.tls();
  await using plain = await startServing(serve, { budgets });
  await using secure = await startServing(serve, { budgets, tls });
  expect(await count(plain.port, '127.0.0.1', 6)).toBe(4);
  const dial = async (): Promise<boolean> => {
    const socket = connectTls({ port: secure.port, host: '127.0.0.1', ca: ca.certificate });
    return await new Promise((resolve) => {
      socket.on('secureConnect', () => resolve(true));
      socket.on('error', () => resolve(false));
    });
  };
  // Each listener counts the connections of a host on its own, but the limit is shared.
  expect(await dial()).toBe(true);
  expect(await dial()).toBe(false);
});
