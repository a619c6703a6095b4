import { once } from 'node:events';
import { connect } from 'node:http2';
import { PeerLinks } from '@engram/peer';
import { quiet, realClock } from '@engram/sim';
import { Metadata, Server, ServerCredentials, type ServerDuplexStream } from '@grpc/grpc-js';
import { afterEach, expect, test, vi } from 'vitest';
import type * as linkpb from '../src/gen/linkpb.ts';
import { EXCHANGE, peerService } from '../src/methods.ts';
import { Echo, servePlain } from './echo.ts';

const CLUSTER = 0xc1n;
const message = new Uint8Array(1024);
/** Of messages of a KiB, which are more than the windows of a connection take. */
const MANY = 10_000;
/** What is sent in one turn goes in one frame. */
const turn = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));

let closing: AsyncDisposable[] = [];
afterEach(async () => {
  for (const each of closing.reverse()) await each[Symbol.asyncDispose]();
  closing = [];
});

test('messages to a member that does not read them are dropped beyond a bound', async () => {
  const server = new Server();
  server.addService(
    { exchange: peerService.exchange },
    { exchange: (call: ServerDuplexStream<linkpb.Frame, linkpb.AnswersInit>) => call.sendMetadata(new Metadata()) },
  );
  closing.push({ [Symbol.asyncDispose]: async () => server.forceShutdown() });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  const mine = new Echo();
  const clock = realClock;
  const ids = { clusterId: CLUSTER, memberId: 1n, storeId: 5n };
  const links = new PeerLinks({ ...ids, tls: undefined, clock, logger: quiet, service: () => mine });
  closing.push({ [Symbol.asyncDispose]: async () => links[Symbol.dispose]() });
  links.setMembers([{ id: 2n, peerUrls: [`http://127.0.0.1:${port}`] }]);
  await mine.until(() => mine.links.includes('connected 2'));
  const traffic = links.traffic.with(2n)!;
  const { sendFailures } = traffic;
  for (let sent = 0; sent < MANY && traffic.sendFailures === sendFailures; sent += 1) {
    links.send(2n, message);
    await turn();
  }
  expect(traffic).toMatchObject({ connected: true, sendFailures: sendFailures + 1 });
});

/** A member's connection to a server. It reads what comes only if it is told to. */
async function connected(answersBytesMax?: number) {
  const bound = answersBytesMax === undefined ? {} : { answersBytesMax };
  const service = new Echo();
  const { server, port } = await servePlain({ clusterId: CLUSTER, service, ...bound });
  closing.push(server);
  const session = connect(`http://127.0.0.1:${port}`);
  session.on('error', () => {});
  closing.push({ [Symbol.asyncDispose]: async () => session.destroy() });
  const headers = { ':method': 'POST', ':path': EXCHANGE, 'content-type': 'application/grpc', te: 'trailers' };
  const stream = session.request(headers);
  stream.on('error', () => {});
  const say = (frame: linkpb.FrameInit): void => {
    const bytes = peerService.exchange.requestSerialize(frame);
    const head = Buffer.alloc(5);
    head.writeUInt32BE(bytes.length, 1);
    stream.write(Buffer.concat([head, bytes]));
  };
  say({ hello: { cluster: CLUSTER, from: 1n, to: 2n } });
  await once(stream, 'response');
  return { server, service, stream, say };
}

test('messages back to a member that does not read them are dropped beyond a bound', async () => {
  const { server } = await connected();
  let sent = 0;
  while (sent < MANY && server.send(1n, message)) {
    sent += 1;
    await turn();
  }
  expect(sent).toBeLessThan(MANY);
});

/** Each answer has some bytes more. */
const calls = (count: number): linkpb.CallInit[] =>
  Array.from({ length: count }, (_, at) => ({ number: at + 1, request: new Uint8Array(64 << 10).fill(65) }));

test('a member that leaves too many answers unread loses its connection', async () => {
  const { server, say } = await connected(1 << 20);
  expect(server.sockets).toBe(1);
  for (const call of calls(64)) {
    say({ calls: [call] });
    await new Promise((resolve) => setImmediate(resolve));
  }
  await vi.waitFor(() => expect(server.sockets).toBe(0), { timeout: 10_000, interval: 5 });
});

test('a member that leaves too many short answers unread loses its connection, too', async () => {
  const { server, say } = await connected(1 << 20);
  for (let number = 1; number <= MANY && server.sockets === 1; number += 1) {
    say({ calls: [{ number, request: Buffer.from('x') }] });
    await new Promise((resolve) => setImmediate(resolve));
  }
  await vi.waitFor(() => expect(server.sockets).toBe(0), { timeout: 10_000, interval: 5 });
});

test('pings of a member that reads no answers have none beyond a bound', async () => {
  const { service, stream, say } = await connected();
  for (let sent = 0; sent < 2 * MANY; sent += 1) say({ ping: 1 });
  say({ messages: [Buffer.from('pinged')], calls: [{ number: 1, request: Buffer.from('last') }] });
  await service.until(() => service.messages.includes('pinged'));
  let read = Buffer.alloc(0);
  stream.on('data', (chunk: Buffer) => {
    read = Buffer.concat([read, chunk]);
  });
  const told = (): boolean => read.includes('answer to last');
  await vi.waitFor(() => expect(told() || stream.closed).toBe(true), { timeout: 10_000, interval: 5 });
  // What the window takes, and what waits behind it.
  const pong = Buffer.concat([Buffer.from([0, 0, 0, 0, 2]), peerService.exchange.responseSerialize({ pong: 1 })]);
  expect(read.length / pong.length).toBeLessThan(1.5 * MANY);
});

test('a member that reads gets as many answers as it asks for', async () => {
  const { stream, say } = await connected(1 << 20);
  let bytes = 0;
  stream.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  for (const [at, call] of calls(64).entries()) {
    say({ calls: [call] });
    while (bytes < (at + 1) * call.request!.length) await once(stream, 'data');
  }
});
