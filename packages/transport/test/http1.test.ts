import { connect, type Socket } from 'node:net';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { ClientBudgets } from '@engram/core';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type HttpRequest, type HttpResponse, serve } from '@engram/transport';
import { realClock, SimClock } from '@engram/sim';
import { type Serving, startServing, until } from './support/serving.ts';

/* HTTP/1.1 connections with pipelined and other unusual requests. */

const MiB = 1024 * 1024;

let serving: Serving;
let asked: string[];
let running: number;
let most: number;
/** Releases the answers that wait for this call. */
let release: () => void;
let answer: (request: HttpRequest) => Promise<HttpResponse>;

beforeEach(async () => {
  asked = [];
  running = 0;
  most = 0;
  const released = new Promise<void>((resolve) => (release = resolve));
  answer = async ({ path, body }) => {
    if (path === '/wait') await released;
    return { status: 200, headers: {}, body: `<${path} ${Buffer.from(body).toString()}>` };
  };
  serving = await startServing(serve, {
    async http(request) {
      asked.push(request.path);
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setImmediate(resolve));
      const answered = await answer(request);
      running -= 1;
      return answered;
    },
  });
});
afterEach(() => serving.server.close());

const get = (path: string, more = ''): string => `GET ${path} HTTP/1.1\r\nhost: x\r\n${more}\r\n`;
const post = (path: string, body: string): string =>
  `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n${body}`;

async function dial(): Promise<{ socket: Socket; text(): string }> {
  const socket = connect(serving.port, '127.0.0.1');
  let text = '';
  socket.setEncoding('latin1').on('data', (piece: string) => (text += piece));
  socket.on('error', () => {});
  await once(socket, 'connect');
  return { socket, text: () => text };
}

test.each([
  { target: 'http://other.example/health?a=1', path: '/health', host: 'other.example' },
  { target: 'HTTPS://user@other.example:80/', path: '/', host: 'other.example:80' },
  { target: 'http://other.example', path: '/', host: 'other.example' },
  { target: '/http://other.example/', path: '/http://other.example/', host: 'x' },
  { target: 'http:///health', path: '/health', host: 'x' },
])('the target $target asks for $path at $host', async ({ target, path, host }) => {
  const seen: HttpRequest[] = [];
  answer = async (request) => {
    seen.push(request);
    return { status: 200, headers: {}, body: 'here' };
  };
  const { text, socket } = await dial();
  socket.write(get(target));
  await until(() => text().includes('here'));
  expect(seen).toMatchObject([{ path, headers: { host } }]);
});

test('edge 135: headers have a bound', async () => {
  for (const [bytes, status] of [
    [60_000, '200 OK'],
    [70_000, '431 Request Header Fields Too Large'],
  ] as const) {
    const { socket, text } = await dial();
    socket.write(get('/a', `x-long: ${'x'.repeat(bytes)}\r\n`));
    await until(() => text() !== '');
    expect(text().split('\r\n')[0]).toBe(`HTTP/1.1 ${status}`);
    socket.destroy();
  }
});

test.each(['get', 'Get', 'FOO', 'a.b-c'])('the method %s is not allowed', async (method) => {
  const { socket, text } = await dial();
  const closed = once(socket, 'close');
  socket.write(`${method} /health HTTP/1.0\r\n\r\n`);
  await closed;
  expect(text()).toMatch(/^HTTP\/1\.1 405 Method Not Allowed\r\n/);
});

test.each(['get /health', 'get /health HTTP/2.0', 'hello'])('%s is not HTTP/1, and gets no answer', async (line) => {
  const { socket, text } = await dial();
  const closed = once(socket, 'close');
  socket.write(`${line}\r\n\r\n`);
  await closed;
  expect(text()).toBe('');
});

test('requests that are sent ahead are served one after another, in their order, bodies too', async () => {
  const { socket, text } = await dial();
  socket.write(get('/1') + post('/2', 'two') + get('/3'));
  socket.write(post('/4', 'four'));
  await until(() => text().includes('</4 four>'));
  expect(text().match(/<.*?>/g)).toEqual(['</1 >', '</2 two>', '</3 >', '</4 four>']);
  expect(most).toBe(1);
  socket.destroy();
});

test('a body that comes late, behind a request that waits, is read', async () => {
  const { socket, text } = await dial();
  const second = post('/second', 'abcdef');
  socket.write(get('/wait') + second.slice(0, -3));
  await until(() => asked.length === 1);
  socket.write(second.slice(-3));
  release();
  await until(() => text().includes('</second abcdef>'));
  socket.destroy();
});

test('thousands of them end the connection, and next to none is served', async () => {
  const clients = await Promise.all(Array.from({ length: 4 }, dial));
  for (const { socket } of clients) socket.write(get('/').repeat(1_500));
  await until(() => serving.observer.connections === 0);
  expect(asked.length).toBeLessThanOrEqual(4);
});

test('of thousands at once the parser works off a few, also behind the one that ends the connection', async () => {
  let parsed = 0;
  const count = (): void => {
    parsed += 1;
  };
  subscribe('http.server.request.start', count);
  const { socket } = await dial();
  socket.write(get('/wait').repeat(2_000));
  await once(socket, 'close');
  unsubscribe('http.server.request.start', count);
  expect(parsed).toBeGreaterThan(8);
  // Those of one piece of 512 bytes, and some that were read ahead.
  expect(parsed).toBeLessThan(50);
});

test('while one is served no more is read than may wait', async () => {
  const { socket } = await dial();
  let sent = 0;
  socket.write(get('/wait'));
  await until(() => asked.length === 1);
  // One at a time, so that each may arrive as its own chunk.
  for (; sent < 3; sent += 1) {
    socket.write(get(`/${sent}`));
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  }
  expect(asked).toEqual(['/wait']);
  release();
  await until(() => asked.length === 4);
  socket.destroy();
});

test('an answer that is not read keeps the next request from being served', async () => {
  answer = () => Promise.resolve({ status: 200, headers: {}, body: Buffer.alloc(20_000_000) });
  const { socket } = await dial();
  socket.pause();
  socket.write(get('/1') + get('/2') + get('/3'));
  await until(() => asked.length === 1);
  for (let turn = 0; turn < 200; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(asked).toEqual(['/1']);
  socket.resume();
  await until(() => asked.length === 3);
  socket.destroy();
});

test('a client that takes no piece of a long answer for too long is cut', async () => {
  await using impatient = await startServing(serve, {
    timeouts: { stallMs: 50 },
    http: () => ({ status: 200, headers: {}, body: endless() }),
  });
  let ended = false;
  async function* endless(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) yield Buffer.alloc(64 * 1024);
    } finally {
      ended = true;
    }
  }
  const socket = connect(impatient.port, '127.0.0.1');
  socket.on('error', () => {});
  socket.pause();
  socket.write(get('/'));
  await until(() => ended);
  await until(() => impatient.observer.connections === 0);
  socket.destroy();
});

test('a client that takes nothing of an answer that is whole is cut', async () => {
  const budgets = new ClientBudgets({
    requestBytes: 64 * MiB,
    answerBytes: 64 * MiB,
    streams: 100,
    connections: 100,
    watcherBytes: MiB,
  });
  await using impatient = await startServing(serve, {
    budgets,
    timeouts: { stallMs: 50 },
    http: () => ({ status: 200, headers: {}, body: Buffer.alloc(20 * MiB) }),
  });
  const socket = connect(impatient.port, '127.0.0.1');
  socket.on('error', () => {});
  socket.pause();
  socket.write(get('/'));
  await until(() => budgets.answerBytes.used > 0);
  await until(() => impatient.observer.connections === 0);
  expect(budgets.answerBytes.used).toBe(0);
  socket.destroy();
});

test('a client that goes away while its requests wait leaves none behind', async () => {
  const { socket } = await dial();
  socket.write(get('/wait') + get('/2') + get('/3'));
  await until(() => asked.length === 1);
  socket.destroy();
  await until(() => serving.observer.connections === 0);
  release();
  await until(() => running === 0);
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(asked).toEqual(['/wait']);
});

// With long headers, the head of the request behind begins in a later piece.
test.each([0, 3000])(
  'a client that has sent much behind a request without end is cut after five minutes: it may be gone; %d',
  async (padding) => {
    const clock = new SimClock();
    const signals: AbortSignal[] = [];
    await using waiting = await startServing(serve, {
      clock,
      http({ signal }) {
        signals.push(signal);
        return new Promise(() => {});
      },
    });
    const socket = connect(waiting.port, '127.0.0.1');
    socket.write(get('/wait', `x: ${'x'.repeat(padding)}\r\n`) + post('/next', 'x'.repeat(1_000_000)));
    await until(() => signals.length === 1);
    for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    socket.destroy();
    for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    clock.advance(4 * 60_000);
    for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect([waiting.observer.connections, signals[0]!.aborted]).toEqual([1, false]);
    await until(() => {
      clock.advance(60_000);
      return waiting.observer.connections === 0;
    });
    expect([signals.length, signals[0]!.aborted]).toEqual([1, true]);
  },
);

test('a stream that ends while the server drains takes its connection along', async () => {
  // The bound of a drain never comes.
  const clock = {
    ...realClock,
    after: (ms: number, fire: () => void) => realClock.after(ms < 5_000 ? ms : 2 ** 31 - 1, fire),
  };
  const stop = Promise.withResolvers<void>();
  async function* lines(): AsyncGenerator<string> {
    yield 'first\n';
    await stop.promise;
    yield 'last\n';
  }
  const draining = await startServing(serve, { clock, http: () => ({ status: 200, headers: {}, body: lines() }) });
  const socket = connect(draining.port, '127.0.0.1');
  let text = '';
  socket.setEncoding('latin1').on('data', (piece: string) => (text += piece));
  socket.write(get('/'));
  await until(() => text.includes('first'));
  const drained = draining.server.drain(new AbortController().signal);
  stop.resolve();
  await drained;
  await until(() => text.includes('last'));
});

test('two Host headers are refused', async () => {
  const { socket, text } = await dial();
  socket.write(get('/', 'Host: y\r\n'));
  await once(socket, 'close');
  expect(text()).toMatch(/^HTTP\/1\.1 400 [\s\S]*too many Host headers/);
  expect(asked).toEqual([]);
});

test('what is asked behind an answer that ends the connection is not served', async () => {
  const { socket, text } = await dial();
  socket.write(get('/', 'Host: y\r\n') + get('/next'));
  await once(socket, 'close');
  await until(() => serving.observer.connections === 0);
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  expect([text().match(/HTTP/g)!.length, asked]).toEqual([1, []]);
});

test('what comes while such an answer leaves is not served', async () => {
  const { socket } = await dial();
  const states: boolean[] = [];
  const finished = async (message: unknown): Promise<void> => {
    const { socket: served } = message as { socket: Duplex };
    for (let left = 50; left > 0; left -= 1) await undefined; // the answer counts as sent
    states.push(served.writable, served.destroyed);
    served.push(get('/next'));
  };
  subscribe('http.server.response.finish', finished);
  socket.write(get('/', 'Host: y\r\n'));
  await once(socket, 'close');
  unsubscribe('http.server.response.finish', finished);
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  expect([states, asked]).toEqual([[false, false], []]);
});

test('what is asked behind the last answer of a server that drains is not served', async () => {
  const { socket, text } = await dial();
  socket.write(get('/wait') + get('/next'));
  await until(() => asked.length === 1);
  const drained = serving.server.drain(new AbortController().signal);
  release();
  await drained;
  await until(() => text().includes('</wait >'));
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(text()).toContain('Connection: close');
  expect(asked).toEqual(['/wait']);
});

test('a request with a malformed one behind it ends with its connection, although the client stays', {
  timeout: 5_000,
}, async () => {
  const signals: AbortSignal[] = [];
  answer = ({ signal }) => {
    signals.push(signal);
    return new Promise(() => {});
  };
  const socket = connect({ port: serving.port, host: '127.0.0.1', allowHalfOpen: true });
  let text = '';
  socket.setEncoding('latin1').on('data', (piece: string) => (text += piece));
  socket.on('error', () => {});
  socket.write(`${get('/first')}GET /second HTTP/1.1\r\nno header\r\n\r\n`);
  await until(() => text.includes('400 Bad Request') && signals[0]?.aborted === true);
  socket.destroy();
});
