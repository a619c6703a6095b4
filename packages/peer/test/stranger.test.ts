import { connect, type Socket } from 'node:net';
import { type Clock, logPosition } from '@engram/core';
import { PeerLinks, type PeerServer, Traffic } from '@engram/peer';
import { quiet, realClock, SimClock } from '@engram/sim';
import { Client, credentials, type ServiceError, status } from '@grpc/grpc-js';
import { afterEach, expect, test, vi } from 'vitest';
import type * as linkpb from '../src/gen/linkpb.ts';
import { channelOptions, EXCHANGE, FOLLOW, peerService } from '../src/methods.ts';
import { ASKING_MS } from '../src/peer-calls.ts';
import { STRANGERS_MAX } from '../src/peer-sockets.ts';
import { STRANGER_BYTES_MAX } from '../src/receive-limits.ts';
import { Echo, servePlain } from './echo.ts';

const CLUSTER = 0xc1n;
const utf8 = (text: string): Uint8Array => Buffer.from(text);
const hello = (from: bigint): linkpb.HelloInit => ({ cluster: CLUSTER, from, to: 2n });

let closing: AsyncDisposable[] = [];
afterEach(async () => {
  for (const each of closing.reverse()) await each[Symbol.asyncDispose]();
  closing = [];
});

async function serve(
  service: Echo,
  traffic = new Traffic(),
  clock: Clock = realClock,
): Promise<{ server: PeerServer; port: number }> {
  const served = await servePlain({ clusterId: CLUSTER, foundingId: 8n, service, traffic, clock });
  closing.push(served.server);
  return served;
}

function clientAt(port: number, options = {}): Client {
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), {
    ...channelOptions,
    'grpc.use_local_subchannel_pool': 1, // otherwise all clients share one connection
    ...options,
  });
  closing.push({ [Symbol.asyncDispose]: async () => client.close() });
  return client;
}

/** A stream of `exchange` that sends these frames, and how it ends. */
function exchange(client: Client, frames: readonly linkpb.FrameInit[]) {
  const { requestSerialize, responseDeserialize } = peerService.exchange;
  const stream = client.makeBidiStreamRequest<linkpb.FrameInit, linkpb.Answers>(
    EXCHANGE,
    requestSerialize,
    responseDeserialize,
  );
  const failed = new Promise<ServiceError>((resolve) => stream.on('error', resolve));
  const greeted = new Promise<void>((resolve) => stream.on('metadata', () => resolve()));
  stream.on('data', () => {});
  for (const frame of frames) stream.write(frame);
  return { stream, failed, greeted };
}

type Asked = ReturnType<typeof exchange>;

function follow(client: Client, from: bigint): Promise<ServiceError> {
  const { requestSerialize, responseDeserialize } = peerService.follow;
  const request = { hello: hello(from), from: logPosition(1) };
  const stream = client.makeServerStreamRequest(FOLLOW, requestSerialize, responseDeserialize, request);
  stream.on('data', () => {});
  return new Promise((resolve) => stream.on('error', resolve));
}

test.each([
  { what: 'no hello', frame: {}, details: 'a peer that does not say who it is' },
  { what: 'an unknown member', frame: { hello: hello(9n) }, details: 'member 9 is not in the member list' },
  {
    what: 'another cluster',
    frame: { hello: { ...hello(1n), cluster: 5n } },
    details: 'this is a member of cluster c1',
  },
  {
    what: 'another store',
    frame: { hello: { ...hello(1n), store: 6n } },
    details: 'the data of this member is at another place of TiKV',
  },
  {
    what: 'another founding of the store',
    frame: { hello: { ...hello(1n), store: 5n, founding: 9n } },
    details: 'this is a member of a cluster that was founded at this place at another time',
  },
  { what: 'another receiver', frame: { hello: { ...hello(1n), to: 7n } }, details: 'this is member 2' },
])('$what is refused, and nothing of it is taken', async ({ frame, details }) => {
  const theirs = new Echo();
  theirs.admissions.set(9n, 'unknown');
  const { port } = await serve(theirs);
  const call = { number: 1, request: utf8('call') };
  const { failed } = exchange(clientAt(port), [{ ...frame, messages: [utf8('message')], calls: [call] }]);
  expect(await failed).toMatchObject({ code: status.FAILED_PRECONDITION, details });
  expect(theirs.messages).toEqual([]);
});

test.each([
  { what: 'of the same founding', said: { founding: 8n } },
  { what: 'of a program that does not say which', said: {} },
])('a member $what is served', async ({ said }) => {
  const { port } = await serve(new Echo());
  await exchange(clientAt(port), [{ hello: { ...hello(1n), store: 5n, ...said } }]).greeted;
});

test('a member says of which founding it is, if it knows', async () => {
  for (const foundingId of [8n, 9n, undefined]) {
    const mine = new Echo();
    const { port } = await serve(new Echo());
    const links = new PeerLinks({
      clusterId: CLUSTER,
      memberId: 1n,
      storeId: 5n,
      foundingId,
      tls: undefined,
      clock: realClock,
      logger: quiet,
      service: () => mine,
    });
    closing.push({ [Symbol.asyncDispose]: async () => links[Symbol.dispose]() });
    links.setMembers([{ id: 2n, peerUrls: [`http://127.0.0.1:${port}`] }]);
    if (foundingId !== 9n) await mine.until(() => mine.links.includes('connected 2'));
    else {
      const batches = links.follow(2n, logPosition(1), AbortSignal.timeout(10_000))[Symbol.asyncIterator]();
      await expect(batches.next()).rejects.toThrow('the stream of committed batches has ended');
      expect(mine.links).not.toContain('connected 2');
    }
  }
});

test.each([
  { admission: 'unknown' as const, details: 'member 9 is not in the member list' },
  { admission: 'asking' as const, details: 'member 9 is not in the member list' },
  { admission: 'removed' as const, details: 'member 9 was removed from the cluster' },
])('who is $admission does not follow the writes', async ({ admission, details }) => {
  const theirs = new Echo();
  theirs.batches = [{ first: logPosition(1), records: [utf8('secret')] }];
  theirs.admissions.set(9n, admission);
  const { port } = await serve(theirs);
  expect(await follow(clientAt(port), 9n)).toMatchObject({ code: status.FAILED_PRECONDITION, details });
});

test('the streams of a member end when it is removed, and it may come back to hear of that', async () => {
  const theirs = new Echo();
  const { server, port } = await serve(theirs);
  const { failed, greeted } = exchange(clientAt(port), [{ hello: hello(1n) }]);
  await greeted;
  server.review();
  theirs.admissions.set(1n, 'removed');
  server.review();
  const details = 'member 1 was removed from the cluster';
  expect(await failed).toMatchObject({ code: status.FAILED_PRECONDITION, details });
  const back = exchange(clientAt(port), [{ hello: hello(1n), messages: [utf8('hostile'), utf8('may I go?')] }]);
  await back.greeted;
  await theirs.until(() => theirs.messages.includes('may I go?'));
  const told = new Promise<linkpb.Answers>((resolve) => back.stream.on('data', resolve));
  expect(server.send(1n, utf8('removed'))).toBe(true);
  expect((await told).messages.map((bytes) => Buffer.from(bytes).toString())).toEqual(['removed']);
});

test('at most sixteen streams are for others than members', async () => {
  const theirs = new Echo();
  for (let id = 100n; id < 120n; id += 1n) theirs.admissions.set(id, 'removed');
  const { port } = await serve(theirs);
  for (let id = 100n; id < 116n; id += 1n) await exchange(clientAt(port), [{ hello: hello(id) }]).greeted;
  const other = exchange(clientAt(port), [{ hello: hello(117n) }]);
  expect(await other.failed).toMatchObject({ details: 'too many streams of others than members' });
});

test('a stream of who is no member ends after a while, and another one has its place; that of a member stays', async () => {
  const theirs = new Echo();
  const clock = new SimClock();
  for (let id = 100n; id < 120n; id += 1n) theirs.admissions.set(id, 'removed');
  const { port } = await serve(theirs, new Traffic(), clock);
  const member = exchange(clientAt(port), [{ hello: hello(1n) }]);
  await member.greeted;
  const silent: Asked[] = [];
  for (let id = 100n; id < 116n; id += 1n) {
    silent.push(exchange(clientAt(port), [{ hello: hello(id) }]));
    await silent.at(-1)!.greeted;
  }
  theirs.admissions.set(100n, 'member'); // it was added again
  clock.advance(ASKING_MS);
  for (const { failed } of silent.slice(1)) {
    expect(await failed).toMatchObject({ code: status.FAILED_PRECONDITION, details: 'who is no member may ask again' });
  }
  await exchange(clientAt(port), [{ hello: hello(117n) }]).greeted;
  for (const { stream } of [member, silent[0]!]) {
    const told = new Promise((resolve) => stream.once('data', resolve));
    stream.write({ ping: 1 });
    expect(await told).toMatchObject({ pong: 1 });
  }
});

test('the socket of who is no member is that of a stranger again when its stream has ended', async () => {
  const theirs = new Echo();
  const { server, port } = await serve(theirs);
  for (let id = 100n; id < 100n + BigInt(STRANGERS_MAX) + 8n; id += 1n) {
    theirs.admissions.set(id, 'asking');
    const { stream, greeted, failed } = exchange(clientAt(port), [{ hello: hello(id) }]);
    await greeted;
    stream.cancel();
    await failed;
  }
  await exchange(clientAt(port), [{ hello: hello(1n) }]).greeted;
  expect(server.sockets).toBeLessThanOrEqual(STRANGERS_MAX + 1);
});

test('a socket is no stranger while another stream of it is served', async () => {
  const theirs = new Echo();
  theirs.admissions.set(100n, 'removed');
  const { server, port } = await serve(theirs);
  const client = clientAt(port);
  const [ending, staying] = [1, 2].map(() => exchange(client, [{ hello: hello(100n) }])) as [Asked, Asked];
  await Promise.all([ending.greeted, staying.greeted]);
  expect(server.sockets).toBe(1);
  ending.stream.cancel();
  await ending.failed;
  staying.stream.write({ ping: 1 });
  await new Promise((resolve) => staying.stream.once('data', resolve));
  const strangers = Array.from({ length: STRANGERS_MAX }, () => connect(port, '127.0.0.1').on('error', () => {}));
  await vi.waitFor(() => expect(server.sockets).toBe(1 + STRANGERS_MAX), { timeout: 10_000, interval: 5 });
  staying.stream.write({ ping: 2 });
  const told = new Promise((resolve) => staying.stream.once('data', resolve));
  expect(await Promise.race([told, staying.failed])).toMatchObject({ pong: 2 });
  for (const stranger of strangers) stranger.destroy();
});

test('a message that is refused ends the stream that it came on, and is counted; the next one is served', async () => {
  const theirs = new Echo();
  const traffic = new Traffic();
  traffic.setMembers([1n]);
  const { port } = await serve(theirs, traffic);
  const { failed } = exchange(clientAt(port), [
    { hello: hello(1n), messages: [utf8('good'), utf8('hostile'), utf8('late')] },
  ]);
  expect(await failed).toMatchObject({
    code: status.INVALID_ARGUMENT,
    details: 'refused a message: the test says so',
  });
  expect(theirs.messages).toEqual(['good', 'hostile']);
  expect(theirs.speakers).toEqual(['1', '1']);
  expect(traffic.with(1n)?.refused).toBe(1);
  await exchange(clientAt(port), [{ hello: hello(1n) }]).greeted;
});

test('what the dialed member sends back is told apart, and a refused message ends that connection', async () => {
  const [mine, theirs] = [new Echo(), new Echo()];
  const { server, port } = await serve(theirs);
  const links = new PeerLinks({
    clusterId: CLUSTER,
    memberId: 1n,
    storeId: 5n,
    tls: undefined,
    clock: realClock,
    logger: quiet,
    service: () => mine,
  });
  closing.push({ [Symbol.asyncDispose]: async () => links[Symbol.dispose]() });
  links.setMembers([{ id: 2n, peerUrls: [`http://127.0.0.1:${port}`] }]);
  await mine.until(() => mine.links.length === 1);
  while (!server.send(1n, utf8('back'))) await new Promise((resolve) => setImmediate(resolve));
  await mine.until(() => mine.messages.length === 1);
  expect(mine.speakers).toEqual(['2 dialed']);
  server.send(1n, utf8('hostile'));
  await mine.until(() => mine.links.includes('disconnected 2'));
  expect(links.traffic.with(2n)?.refused).toBe(1);
  await mine.until(() => mine.links.filter((link) => link === 'connected 2').length === 2);
});

test('a stream is short until it is greeted, and long messages of members pass', async () => {
  const theirs = new Echo();
  theirs.admissions.set(9n, 'unknown');
  const { port } = await serve(theirs);
  const large = new Uint8Array(STRANGER_BYTES_MAX + 1).fill(65);
  const stranger = exchange(clientAt(port), [{ hello: hello(1n), messages: [large] }]);
  expect(await stranger.failed).toMatchObject({ code: status.RESOURCE_EXHAUSTED });
  expect(theirs.messages).toEqual([]);
  const member = exchange(clientAt(port), [{ hello: hello(1n) }]);
  await member.greeted;
  member.stream.write({ messages: [new Uint8Array(8 << 20).fill(66)] });
  await theirs.until(() => theirs.messages.length === 1);
  expect(theirs.messages[0]).toHaveLength(8 << 20);
});

test('compressed messages are refused, of whatever they consist', async () => {
  const theirs = new Echo();
  const { port } = await serve(theirs);
  const client = clientAt(port, { 'grpc.default_compression_algorithm': 2 });
  const { failed } = exchange(client, [{ hello: hello(1n), messages: [new Uint8Array(64 << 20)] }]);
  const { code, details } = await failed;
  expect([status.UNIMPLEMENTED, status.RESOURCE_EXHAUSTED]).toContain(code);
  if (code === status.UNIMPLEMENTED) expect(details).toBe('members do not compress');
  expect(theirs.messages).toEqual([]);
});

test('sockets of strangers are bounded, and a member is served beside them', async () => {
  const theirs = new Echo();
  const { server, port } = await serve(theirs);
  const sockets: Socket[] = [];
  let closed = 0;
  try {
    for (let at = 0; at < 3 * STRANGERS_MAX; at += 1) {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => {});
      socket.resume();
      socket.on('close', () => {
        closed += 1;
      });
      sockets.push(socket);
      await new Promise<void>((resolve) => {
        socket.once('connect', () => resolve());
        socket.once('close', () => resolve());
      });
    }
    while (closed < 2 * STRANGERS_MAX) await new Promise((resolve) => setImmediate(resolve));
    expect(server.sockets).toBeLessThanOrEqual(STRANGERS_MAX);
    await exchange(clientAt(port), [{ hello: hello(1n) }]).greeted;
  } finally {
    for (const socket of sockets) socket.destroy();
  }
});

test('a member has a few sockets at most', async () => {
  const { port } = await serve(new Echo());
  const pools = Array.from({ length: 5 }, () => clientAt(port));
  for (const pool of pools.slice(0, 4)) await exchange(pool, [{ hello: hello(1n) }]).greeted;
  expect(await exchange(pools[4]!, [{ hello: hello(1n) }]).failed).toMatchObject({
    details: 'too many connections of this member',
  });
});
