import { once } from 'node:events';
import { connect } from 'node:net';
import { realClock } from '@engram/sim';
import { serve } from '@engram/transport';
import { describe, expect, test } from 'vitest';
import { CertificateFolder } from './support/certificate-folder.ts';
import { issue } from './support/certificates.ts';
import { HeldLoop } from './support/held-loop.ts';
import { startServing, until } from './support/serving.ts';

/* Connections that end at once are closed in turn. */

const CLIENTS = 20;

describe.each(['tls', 'plain'])('of clients that have not said what they want, over %s', (kind) => {
  function tls() {
    const ca = issue('ca');
    const folder = new CertificateFolder(ca, issue('server', ca));
    return {
      certFile: folder.file('server.pem'),
      keyFile: folder.file('server-key.pem'),
      clientCertAuth: false,
      minVersion: 'TLS1.2',
      cipherSuites: [],
    } as const;
  }

  async function opened(handshakeMs: number) {
    const loop = new HeldLoop(realClock, 'end');
    const { slices } = loop;
    const changes = { loop, timeouts: { handshakeMs }, ...(kind === 'tls' ? { tls: tls() } : undefined) };
    const serving = await startServing(serve, changes);
    const head = kind === 'tls' ? Buffer.from([22, 3, 1, 2]) : Buffer.from('PR');
    const sockets = Array.from({ length: CLIENTS }, () => connect(serving.port, '127.0.0.1').on('error', () => {}));
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    for (const socket of sockets) socket.write(head);
    await until(() => serving.observer.connections === CLIENTS);
    /** Each slice closes one connection. */
    const expectOneBySlice = async (): Promise<void> => {
      await until(() => slices.length === CLIENTS);
      for (let left = CLIENTS; left > 0; left -= 1) {
        expect(serving.observer.connections).toBe(left);
        slices.shift()!();
        await until(() => serving.observer.connections < left);
        for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      }
      expect(serving.observer.connections).toBe(0);
    };
    return { serving, sockets, expectOneBySlice };
  }

  test('those that leave at once', async () => {
    const { serving, sockets, expectOneBySlice } = await opened(60_000);
    for (const socket of sockets) socket.end();
    await expectOneBySlice();
    await serving[Symbol.asyncDispose]();
  });

  test('those that are given up at once', async () => {
    const { serving, expectOneBySlice } = await opened(500);
    await expectOneBySlice();
    await serving[Symbol.asyncDispose]();
  });
});
