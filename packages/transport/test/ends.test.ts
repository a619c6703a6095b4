import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { realClock, SimClock } from '@engram/sim';
import { type HttpResponse, serve } from '@engram/transport';
import { CLIENT_PREFACE, settingsAckFrame, settingsFrame } from '@engram/http2';
import { describe, expect, test } from 'vitest';
import { CertificateFolder } from './support/certificate-folder.ts';
import { issue } from './support/certificates.ts';
import { HeldLoop } from './support/held-loop.ts';
import { RawClient } from './support/raw-client.ts';
import { type Serving, startServing, until } from './support/serving.ts';

/* Connections that end at once are closed in turn. */

const CLIENTS = 20;

const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

function tls() {
  const ca = issue('ca');
  const folder = new CertificateFolder(ca, issue('server', ca));
  return folder.tls();
}

describe.each(['tls', 'plain'])('of clients that have not said what they want, over %s', (kind) => {
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
        await turns(3);
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

  test('those that are reset at once', async () => {
    const { serving, sockets, expectOneBySlice } = await opened(60_000);
    for (const socket of sockets) socket.resetAndDestroy();
    await expectOneBySlice();
    await serving[Symbol.asyncDispose]();
  });

  test('those that are given up at once', async () => {
    const { serving, expectOneBySlice } = await opened(500);
    await expectOneBySlice();
    await serving[Symbol.asyncDispose]();
  });
});

interface Client {
  /** Over TLS or not. */
  readonly socket: Socket;
  /** The socket of TCP. */
  readonly below: Socket;
}

/** Clients with a call under way each, and the loop that holds their ends. */
async function withCalls(kind: string): Promise<{ serving: Serving; loop: HeldLoop; clients: Client[] }> {
  const loop = new HeldLoop(realClock, 'end');
  const serving = await startServing(serve, { loop, ...(kind === 'tls' ? { tls: tls() } : undefined) });
  const clients: Client[] = [];
  for (let at = 0; at < CLIENTS; at += 1) {
    const below = connect(serving.port, '127.0.0.1');
    await once(below, 'connect');
    let socket = below;
    if (kind === 'tls') {
      socket = connectTls({ socket: below, rejectUnauthorized: false, ALPNProtocols: ['h2'] });
      await once(socket, 'secureConnect');
    }
    const client = new RawClient(socket);
    client.write(Buffer.from(CLIENT_PREFACE), settingsFrame([]), settingsAckFrame);
    client.write(client.request(1, '/test.Echo/Hang', 'x'));
    clients.push({ socket, below });
  }
  await until(() => serving.observer.open === CLIENTS);
  return { serving, loop, clients };
}

describe.each(['tls', 'plain'])('of clients with calls under way, over %s', (kind) => {
  test.each([
    { what: 'leave', end: ({ socket }: Client) => void socket.end() },
    { what: 'are reset', end: ({ below }: Client) => void below.resetAndDestroy() },
  ])('those that $what at once', async ({ end }) => {
    const { serving, loop, clients } = await withCalls(kind);
    const { observer } = serving;
    for (const client of clients) end(client);
    await until(() => loop.slices.length === CLIENTS);
    await turns(10);
    expect(observer).toMatchObject({ connections: CLIENTS, open: CLIENTS });
    while (observer.connections > 0 || observer.open > 0) {
      await until(() => loop.slices.length > 0);
      const { connections, open } = observer;
      loop.slices.shift()!();
      await turns(3);
      // A slice ends a connection, or its calls.
      expect(connections - observer.connections + (open - observer.open)).toBeLessThanOrEqual(1);
    }
    expect(serving.journal.filter((what) => what === 'aborted')).toHaveLength(CLIENTS);
    await serving[Symbol.asyncDispose]();
  });
});

test('idle clients of HTTP/1.1 that leave at once', async () => {
  const loop = new HeldLoop(realClock, 'end');
  const serving = await startServing(serve, { loop });
  const { observer } = serving;
  const sockets = Array.from({ length: CLIENTS }, () => connect(serving.port, '127.0.0.1'));
  for (const socket of sockets) {
    socket.write('GET /version HTTP/1.1\r\nhost: x\r\n\r\n');
    await once(socket, 'data');
  }
  for (const socket of sockets) socket.end();
  await until(() => loop.slices.length === CLIENTS);
  await turns(10);
  expect(observer.connections).toBe(CLIENTS);
  while (observer.connections > 0) {
    await until(() => loop.slices.length > 0);
    const { connections } = observer;
    loop.slices.shift()!();
    await turns(3);
    expect(connections - observer.connections).toBeLessThanOrEqual(1);
  }
  await serving[Symbol.asyncDispose]();
});

test('clients of HTTP/1.1 whose heads are late at once', async () => {
  const loop = new HeldLoop(realClock, 'end');
  let asked = 0;
  const http = (): HttpResponse => {
    asked += 1;
    return { status: 200, headers: {}, body: '' };
  };
  const serving = await startServing(serve, { loop, clock: new SimClock(), timeouts: { headersMs: 50 }, http });
  const texts: string[] = [];
  const sockets = Array.from({ length: CLIENTS }, (_, at) => {
    texts.push('');
    const socket = connect(serving.port, '127.0.0.1').on('error', () => {});
    socket.on('data', (piece: Buffer) => (texts[at] += piece.toString()));
    socket.write('GET /version HTTP/1.1\r\nhost: x\r\n');
    return socket;
  });
  const answered = (): number => texts.filter((text) => text.startsWith('HTTP/1.1 408 ')).length;
  await until(() => loop.slices.length === CLIENTS);
  // What is late is not served, even if it comes before the end.
  for (const socket of sockets) socket.write(`x-more: ${'x'.repeat(2000)}\r\n\r\n`);
  await turns(20);
  for (let done = 0; done < CLIENTS; done += 1) {
    expect(answered()).toBe(done);
    loop.slices.shift()!();
    await until(() => answered() > done);
    await turns(3);
  }
  expect(answered()).toBe(CLIENTS);
  expect(asked).toBe(0);
  // Each client ends behind its answer, and that is seen at once: no time passes by the server's clock.
  await until(() => {
    loop.slices.shift()?.();
    return serving.observer.connections === 0;
  });
  await serving[Symbol.asyncDispose]();
});

test('a connection that is to be closed drops what still comes', async () => {
  const loop = new HeldLoop(realClock, 'end');
  await using serving = await startServing(serve, { loop, protocols: 'grpc' });
  const socket = connect(serving.port, '127.0.0.1').on('error', () => {});
  socket.write('GET / HTTP/1.1\r\n\r\n');
  await until(() => loop.slices.length === 1);
  socket.write('more');
  await turns(20);
  expect(socket.destroyed).toBe(false);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.resume();
  loop.slices.shift()!();
  await closed;
});
