import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { CLIENT_PREFACE, settingsAckFrame, settingsFrame } from '@engram/http2';
import { grpcHeaders, grpcMessage, RawClient } from '@engram/transport/testing';
import { etcdserverpb } from '@engram/wire';
import type { Attack } from './attack.ts';
import { secured } from './dial.ts';

/* Clients that all go at once, without a goodbye: as where a machine with many of them loses its network. */

const CLIENTS = 5_000;
const range = '/etcdserverpb.KV/Range';
const watch = '/etcdserverpb.Watch/Watch';

interface Open {
  readonly socket: Socket;
  readonly client: RawClient;
}

async function openOne(port: number, secure: boolean): Promise<Open> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'connect');
  const client = new RawClient(secure ? await secured(socket) : socket);
  client.write(Buffer.from(CLIENT_PREFACE), settingsFrame([]), settingsAckFrame);
  return { socket, client };
}

/** Opens connections, leaves a watch and requests under way on each, and resets all of them in one turn. */
async function resetMany(port: number, secure: boolean): Promise<void> {
  const open: Open[] = [];
  for (let at = 0; at < CLIENTS; at += 1) {
    const one = await Promise.race([openOne(port, secure).catch(() => undefined), delay(500)]);
    if (one !== undefined) open.push(one);
    else if (at - open.length > 50) break; // no more are accepted
  }
  const key = Buffer.from('reset');
  const create = etcdserverpb.encodeWatchRequest({ createRequest: { key } });
  const get = etcdserverpb.encodeRangeRequest({ key });
  for (const { client } of open) {
    client.write(client.headers(1, grpcHeaders(watch)), client.data(1, grpcMessage(create)));
    client.write(client.request(3, range, get));
  }
  await delay(2_000);
  for (const { client } of open) client.write(client.request(5, range, get));
  for (const { socket } of open) socket.resetAndDestroy();
  await delay(3_000);
}

export const resetAttacks: readonly Attack[] = [
  {
    name: 'resets',
    what: `${CLIENTS} connections with a watch and a request each, reset at once`,
    run: ({ port }) => resetMany(port, false),
  },
  {
    name: 'resets-tls',
    what: `${CLIENTS} connections over TLS with a watch and a request each, reset at once`,
    run: ({ securePort }) => resetMany(securePort, true),
  },
];
