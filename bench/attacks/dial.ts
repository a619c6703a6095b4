import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { RawClient } from '@engram/transport/testing';
import { CLIENT_PREFACE, settingsAckFrame, settingsFrame } from '@engram/http2';

export async function dialMany(port: number, count: number): Promise<Socket[]> {
  const sockets: Socket[] = [];
  for (let at = 0; at < count; at += 1) {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    sockets.push(socket);
    await Promise.race([once(socket, 'connect').catch(() => {}), delay(1_000)]);
  }
  return sockets;
}

export async function secureClient(port: number): Promise<RawClient> {
  const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['h2'] });
  socket.on('error', () => {});
  await once(socket, 'secureConnect');
  const client = new RawClient(socket);
  client.write(Buffer.from(CLIENT_PREFACE), settingsFrame([]), settingsAckFrame);
  return client;
}
