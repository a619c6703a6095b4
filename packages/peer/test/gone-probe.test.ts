import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { realClock, Scheduler, SimClock } from '@engram/sim';
import { afterEach, expect, test } from 'vitest';
import { GoneProbe } from '../src/gone-probe.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function listening(serve: (socket: Socket) => void): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    serve(socket);
  }).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

test('who resets what connects is gone', async () => {
  const port = await listening((socket) => socket.resetAndDestroy());
  await new Promise<void>((onGone) => new GoneProbe({ host: '127.0.0.1', port, clock: realClock, onGone }));
});

test('an address at which nobody listens is gone', async () => {
  const port = await listening(() => {});
  const [server] = servers.splice(0);
  await new Promise((resolve) => server!.close(resolve));
  await new Promise<void>((onGone) => new GoneProbe({ host: '127.0.0.1', port, clock: realClock, onGone }));
});

test.each([
  { what: 'ends the connection in order', serve: (socket: Socket) => socket.end() },
  { what: 'speaks', serve: (socket: Socket) => socket.write('x') },
])('who $what is there', async ({ serve }) => {
  let told = 0;
  const left = Promise.withResolvers<void>();
  const port = await listening((socket) => {
    socket.on('close', () => left.resolve());
    socket.resume();
    serve(socket);
  });
  new GoneProbe({ host: '127.0.0.1', port, clock: realClock, onGone: () => (told += 1) });
  await left.promise;
  expect(told).toBe(0);
});

test('who says nothing is there, and is left after a second', async () => {
  const clock = new SimClock({ scheduler: new Scheduler() });
  const accepted = Promise.withResolvers<Socket>();
  const port = await listening((socket) => accepted.resolve(socket.resume()));
  let told = 0;
  new GoneProbe({ host: '127.0.0.1', port, clock, onGone: () => (told += 1) });
  const socket = await accepted.promise;
  const closed = once(socket, 'close');
  await clock.pass(1000);
  await closed;
  expect(told).toBe(0);
});

test('a probe that is cancelled tells nothing', async () => {
  const accepted = Promise.withResolvers<Socket>();
  const port = await listening((socket) => accepted.resolve(socket.resume()));
  let told = 0;
  const probe = new GoneProbe({ host: '127.0.0.1', port, clock: realClock, onGone: () => (told += 1) });
  const socket = await accepted.promise;
  const closed = once(socket, 'close');
  probe.cancel();
  socket.resetAndDestroy();
  await closed;
  await new Promise((resolve) => setImmediate(resolve));
  expect(told).toBe(0);
});

test('any other error says nothing', async () => {
  let told = 0;
  const over = Promise.withResolvers<void>();
  const clock = { ...realClock, after: () => ({ cancel: () => over.resolve() }) };
  // No connection can be made to all hosts of a network.
  new GoneProbe({ host: '255.255.255.255', port: 9, clock, onGone: () => (told += 1) });
  await over.promise;
  await new Promise((resolve) => setImmediate(resolve));
  expect(told).toBe(0);
});
