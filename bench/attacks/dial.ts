import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { connect as connectTls, type TLSSocket } from 'node:tls';
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

/** TLS over a connected socket. */
export async function secured(socket: Socket): Promise<TLSSocket> {
  const secure = connectTls({ socket, rejectUnauthorized: false, ALPNProtocols: ['h2'] });
  secure.on('error', () => {});
  await once(secure, 'secureConnect');
  return secure;
}

export async function secureClient(port: number): Promise<RawClient> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  const client = new RawClient(await secured(socket));
  client.write(Buffer.from(CLIENT_PREFACE), settingsFrame([]), settingsAckFrame);
  return client;
}
