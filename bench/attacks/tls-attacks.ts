import { setTimeout as delay } from 'node:timers/promises';
import { clientHello, type RawClient } from '@engram/transport/testing';
import type { Attack } from './attack.ts';
import { dialMany, secureClient } from './dial.ts';

/** Sends these bytes on each of many connections at once, and leaves them open for a while. */
export async function stallMany(port: number, count: number, bytes: Buffer, forMs: number): Promise<void> {
  const sockets = await dialMany(port, count);
  for (const socket of sockets) {
    socket.resume();
    if (!socket.destroyed) socket.write(bytes);
  }
  await delay(forMs);
  for (const socket of sockets) socket.destroy();
}

export const tlsAttacks: readonly Attack[] = [
  {
    name: 'handshakes',
    what: '4,000 connections that send a client hello at once, and nothing more',
    async run({ securePort }) {
      await stallMany(securePort, 4_000, await clientHello(), 3_000);
    },
  },
  {
    name: 'half-open-tls',
    what: '6,000 connections that send 4 bytes of a handshake',
    async run({ securePort }) {
      await stallMany(securePort, 6_000, (await clientHello()).subarray(0, 4), 3_000);
    },
  },
  {
    name: 'idle-tls',
    what: '2,000 idle connections over TLS',
    async run({ securePort }) {
      const clients: RawClient[] = [];
      for (let at = 0; at < 2_000; at += 1) {
        const client = await Promise.race([secureClient(securePort).catch(() => undefined), delay(500)]);
        if (client !== undefined) clients.push(client);
        else if (at - clients.length > 50) break; // no more are accepted
      }
      await delay(1_000);
      for (const client of clients) client[Symbol.dispose]();
    },
  },
];
