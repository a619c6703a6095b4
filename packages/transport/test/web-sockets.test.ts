import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ClientBudgets } from '@engram/core';
import {
  type HttpRequest,
  type HttpResponse,
  serve,
  type WebSocketPiece,
  type WebSocketSession,
} from '@engram/transport';
import { arrayBuffersHeld } from './support/memory.ts';
import { type Serving, startServing, until } from './support/serving.ts';

/* WebSockets over HTTP/1.1. The client is node's own. */

let serving: Serving;
let budgets: ClientBudgets;
let opened: HttpRequest[];
let open: (request: HttpRequest) => WebSocketSession | HttpResponse;

/** Says what it hears, until it hears "end". */
function echo({ signal }: HttpRequest): WebSocketSession {
  const heard: Uint8Array[] = [];
  let wake = (): void => {};
  signal.addEventListener('abort', () => wake());
  async function* pieces(): AsyncGenerator<WebSocketPiece> {
    while (!signal.aborted) {
      const bytes = heard.shift();
      if (bytes === undefined) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        continue;
      }
      if (Buffer.from(bytes).toString() === 'end') return;
      // In two parts, of which the first may end within a character.
      yield { bytes: bytes.subarray(0, 1), last: false };
      yield { bytes: bytes.subarray(1), last: true };
    }
  }
  return {
    protocol: 'Bearer',
    pieces: pieces(),
    async message(bytes) {
      heard.push(bytes);
      wake();
    },
  };
}

beforeEach(async () => {
  opened = [];
  open = echo;
  const bytes = 64 * 1024 * 1024;
  budgets = new ClientBudgets({
    requestBytes: bytes,
    answerBytes: bytes,
    streams: 100,
    connections: 100,
    watcherBytes: bytes,
  });
  serving = await startServing(serve, {
    budgets,
    maxRequestBytes: 256 * 1024,
    webSockets: {
      at: (path) => path.startsWith('/v3/'),
      open(request) {
        opened.push(request);
        return open(request);
      },
    },
  });
});
afterEach(() => serving.server.close());

interface Dialed {
  readonly socket: WebSocket;
  readonly messages: string[];
  readonly closed: Promise<CloseEvent>;
}

async function dial(path: string, protocols: readonly string[] = ['Bearer', 'token']): Promise<Dialed> {
  const socket = new WebSocket(`ws://127.0.0.1:${serving.port}${path}`, [...protocols]);
  const messages: string[] = [];
  socket.addEventListener('message', ({ data }) => messages.push(String(data)));
  socket.addEventListener('error', () => {});
  const closed = new Promise<CloseEvent>((resolve) => socket.addEventListener('close', resolve));
  await Promise.race([new Promise((resolve) => socket.addEventListener('open', resolve)), closed]);
  return { socket, messages, closed };
}

test('messages go both ways, whole, and the socket closes behind the last', async () => {
  const { socket, messages, closed } = await dial('/v3/watch?a=1');
  expect(socket.protocol).toBe('Bearer');
  const long = 'é'.repeat(100_000);
  for (const text of ['é', 'two', long, 'end']) socket.send(text);
  expect((await closed).code).toBe(1000);
  expect(messages).toEqual(['é', 'two', long]);
  expect(opened).toMatchObject([
    { method: 'GET', path: '/v3/watch', headers: { 'sec-websocket-protocol': 'Bearer, token' }, secure: false },
  ]);
  await until(() => opened[0]!.signal.aborted);
  expect([budgets.requestBytes.used, budgets.answerBytes.used]).toEqual([0, 0]);
});

test('a client that leaves ends its session', async () => {
  const { socket } = await dial('/v3/watch');
  expect(opened[0]!.signal.aborted).toBe(false);
  socket.close();
  await until(() => opened[0]!.signal.aborted);
});

test('messages are handed on one at a time', async () => {
  const done: (() => void)[] = [];
  open = (request) => ({
    ...echo(request),
    message: () => new Promise<void>((resolve) => done.push(resolve)),
  });
  const { socket } = await dial('/v3/watch');
  for (let sent = 0; sent < 5; sent += 1) socket.send('x');
  await until(() => done.length === 1);
  for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(done).toHaveLength(1);
  for (let sent = 1; sent <= 5; sent += 1) {
    await until(() => done.length === sent);
    done[sent - 1]!();
  }
  socket.close();
});

test('a message that is longer than a body may be closes the socket', async () => {
  const { socket, closed } = await dial('/v3/watch');
  socket.send('x'.repeat(600 * 1024));
  expect((await closed).code).toBe(1009);
});

test('a session that is refused is answered as a request', async () => {
  open = () => ({ status: 403, headers: { 'content-type': 'text/plain' }, body: 'no\n' });
  const { socket, text } = await raw();
  socket.write(upgrade('/v3/watch'));
  await once(socket, 'close');
  expect(text()).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n[\s\S]*\r\n\r\nno\n$/);
});

test('a session that fails closes the socket with an error', async () => {
  open = (request) => ({
    ...echo(request),
    message: () => Promise.reject(new Error('no')),
  });
  const { socket, closed } = await dial('/v3/watch');
  socket.send('x');
  expect((await closed).code).toBe(1011);
});

test.each([
  { what: 'another path', request: () => upgrade('/version') },
  { what: 'another protocol', request: () => upgrade('/version', 'h2c') },
])('a request for a WebSocket at $what is a request', async ({ request }) => {
  const { socket, text } = await raw();
  socket.write(request());
  await until(() => text().includes('GET /version'));
  expect(text()).toMatch(/^HTTP\/1\.1 200 OK/);
  expect(opened).toEqual([]);
  socket.destroy();
});

test('what is asked behind the upgrade, or ahead of it, gets no answer', async () => {
  const { socket, text } = await raw();
  socket.write(`GET /version HTTP/1.1\r\nhost: x\r\n\r\n${upgrade('/v3/watch')}`);
  await once(socket, 'close');
  expect(text()).not.toContain('101');
});

test('a handshake that is none is refused, and kills nothing', async () => {
  const { socket, text } = await raw();
  socket.write(`GET /v3/watch HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n`);
  await once(socket, 'close');
  expect(text()).toMatch(/^HTTP\/1\.1 400 Bad Request/);
  const { socket: next } = await dial('/v3/watch');
  expect(next.readyState).toBe(WebSocket.OPEN);
  next.close();
});

test('pings and pongs are held no longer than they take', async () => {
  const { socket, text } = await raw();
  socket.write(upgrade('/v3/watch'));
  await until(() => text().includes('101'));
  const control = (opcode: number): Buffer =>
    Buffer.concat([Buffer.from([0x80 | opcode, 0x80 | 125]), Buffer.alloc(4 + 125)]);
  let answered = text().length;
  for (let sent = 0; sent < 100; sent += 1) {
    socket.write(Buffer.concat([control(0xa), control(0x9)]));
    answered += 2 + 125;
    await until(() => text().length >= answered);
  }
  expect(budgets.requestBytes.used).toBeLessThan(1024);
  socket.destroy();
  await until(() => budgets.requestBytes.used === 0);
});

test.each([
  { what: 'keeps little', fragments: 100, pongs: 450, counted: 0 },
  { what: 'counts, if there are many fragments', fragments: 400, pongs: 60, counted: 1024 * 1024 },
])('of what comes between the fragments of a message a socket $what', async ({ fragments, pongs, counted }) => {
  const { socket, text } = await raw();
  socket.write(upgrade('/v3/watch'));
  await until(() => text().includes('101'));
  const frame = (head: number, bytes: number): Buffer =>
    Buffer.concat([Buffer.from([head, 0x80 | bytes]), Buffer.alloc(4 + bytes)]);
  const between = Buffer.concat(Array.from({ length: pongs }, () => frame(0x8a, 125)));
  const before = await arrayBuffersHeld();
  for (let sent = 0; sent < fragments; sent += 1) {
    const answered = text().length + 3;
    socket.write(Buffer.concat([frame(sent === 0 ? 0x01 : 0x00, 1), between, frame(0x89, 1)]));
    await until(() => text().length >= answered);
  }
  // Of 3 MB and more.
  expect((await arrayBuffersHeld()) - before).toBeLessThan(512 * 1024);
  expect(budgets.requestBytes.used).toBeGreaterThan(counted);
  socket.destroy();
  await until(() => budgets.requestBytes.used === 0);
});

test('a stop of the server closes sockets', async () => {
  const { closed } = await dial('/v3/watch');
  await serving.server.close();
  expect((await closed).code).toBe(1006);
  expect(opened[0]!.signal.aborted).toBe(true);
});

const upgrade = (path: string, protocol = 'websocket'): string =>
  `GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: ${protocol}\r\nsec-websocket-version: 13\r\nsec-websocket-key: ${Buffer.alloc(16).toString('base64')}\r\n\r\n`;

async function raw(): Promise<{ readonly socket: Socket; text(): string }> {
  const socket = connect(serving.port, '127.0.0.1');
  let text = '';
  socket.setEncoding('latin1').on('data', (piece: string) => (text += piece));
  socket.on('error', () => {});
  await once(socket, 'connect');
  return { socket, text: () => text };
}
