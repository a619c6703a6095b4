import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { realClock } from '@engram/sim';
import { serve } from '@engram/transport';
import { CLIENT_PREFACE, settingsFrame } from '@engram/http2';
import { expect, test } from 'vitest';
import { CertificateFolder } from './support/certificate-folder.ts';
import { issue } from './support/certificates.ts';
import { clientHello } from './support/client-hello.ts';
import { HeldLoop } from './support/held-loop.ts';
import { startServing, until } from './support/serving.ts';

/* Connections that say at once what they want are served in turn. */

const CLIENTS = 20;

const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

async function dial(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

test('each connection in plain text opens in a slice', async () => {
  const loop = new HeldLoop(realClock, 'open');
  await using serving = await startServing(serve, { loop });
  const sockets = await Promise.all(Array.from({ length: CLIENTS }, () => dial(serving.port)));
  let greeted = 0;
  for (const socket of sockets) {
    socket.once('data', () => (greeted += 1));
    socket.write(Buffer.concat([Buffer.from(CLIENT_PREFACE), settingsFrame([])]));
  }
  await until(() => loop.slices.length === CLIENTS);
  for (let served = 0; served < CLIENTS; served += 1) {
    await turns(3);
    expect(greeted).toBe(served);
    loop.slices.shift()!();
    await until(() => greeted > served);
  }
  for (const socket of sockets) socket.destroy();
});

test('a client that has said all before its connection opens gets its answer', async () => {
  const loop = new HeldLoop(realClock, 'open');
  await using serving = await startServing(serve, { loop });
  const socket = await dial(serving.port);
  socket.end('GET /version HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
  await until(() => loop.slices.length === 1);
  await turns(20);
  loop.slices.shift()!();
  const [answer] = (await once(socket, 'data')) as [Buffer];
  expect(answer.toString()).toMatch(/^HTTP\/1\.1 200/);
});

test('clients that leave before their handshake begins are gone before it', async () => {
  const ca = issue('ca');
  const folder = new CertificateFolder(ca, issue('server', ca));
  const tls = folder.tls();
  const loop = new HeldLoop(realClock, 'handshake');
  await using serving = await startServing(serve, { loop, tls });
  const sockets = await Promise.all(Array.from({ length: CLIENTS }, () => dial(serving.port)));
  const hello = await clientHello();
  for (const socket of sockets) socket.end(hello);
  await until(() => loop.slices.length > 0);
  await until(() => serving.observer.connections === 0);
  loop.held = undefined;
  for (const slice of loop.slices.splice(0)) slice();
  const late = connectTls({ host: '127.0.0.1', port: serving.port, rejectUnauthorized: false });
  await once(late, 'secureConnect');
  late.destroy();
});
