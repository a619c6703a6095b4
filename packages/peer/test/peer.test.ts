import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import {
  Client,
  credentials,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import { type Clock, logPosition } from '@engram/core';
import type { PeerService } from '@engram/member';
import { PeerLinks, type PeerServer, Traffic } from '@engram/peer';
import { quiet, realClock } from '@engram/sim';
import type { LogBatch } from '@engram/storage';
import { BoundPort } from '@engram/transport';
import { afterEach, expect, test } from 'vitest';
import type * as linkpb from '../src/gen/linkpb.ts';
import { EXCHANGE, FOLLOW, peerService } from '../src/methods.ts';
import { Echo, portOf, servePlain } from './echo.ts';

const CLUSTER = 0xc1n;
const never = new AbortController().signal;
const utf8 = (text: string): Uint8Array => Buffer.from(text);

let closing: AsyncDisposable[] = [];
afterEach(async () => {
  for (const each of closing.reverse()) await each[Symbol.asyncDispose]();
  closing = [];
});

type Served = PeerServer & { readonly ports: readonly number[] };

async function serve(service: PeerService, memberId: bigint, number = 0, traffic = new Traffic()): Promise<Served> {
  const { server, port } = await servePlain({ clusterId: CLUSTER, memberId, service, traffic }, number);
  closing.push(server);
  return { ...server, ports: [port] };
}

test('a member whose new process has its port, and does not serve yet, is gone', async () => {
  using port = await BoundPort.bind({ kind: 'tcp', host: '127.0.0.1', port: 0 });
  const mine = new Echo();
  dial(mine, portOf(port));
  await mine.until(() => mine.links.includes('gone 2'));
});

test('a member that refuses a connection in the words of a process that is gone is not gone', async () => {
  const server = new Server();
  let attempts = 0;
  let told = (): void => {};
  const third = new Promise<void>((resolve) => {
    told = resolve;
  });
  const details =
    'No connection established. Last error: connect ECONNREFUSED 127.0.0.1:1. Last error: read ECONNRESET';
  server.addService(
    { exchange: peerService.exchange, follow: peerService.follow },
    {
      exchange: (call: ServerDuplexStream<linkpb.Frame, linkpb.AnswersInit>) => {
        attempts += 1;
        if (attempts === 3) told();
        call.emit('error', { code: status.UNAVAILABLE, details });
      },
      follow: () => {},
    },
  );
  closing.push({ [Symbol.asyncDispose]: async () => server.forceShutdown() });
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    ),
  );
  const mine = new Echo();
  dial(mine, port);
  await third;
  expect(mine.links).toEqual([]);
});

/** A port that was closed just now, so that no server listens on it. */
async function closedPort(): Promise<number> {
  const server = await serve(new Echo(), 9n);
  await server[Symbol.asyncDispose]();
  return server.ports[0]!;
}

function dial(
  service: Echo,
  port: number,
  id = 2n,
  clusterId = CLUSTER,
  otherPorts: readonly number[] = [],
  onRoundTrip: (member: bigint, ms: number) => void = () => {},
  clock: Clock = realClock,
): PeerLinks {
  const links = new PeerLinks({
    clusterId,
    memberId: 1n,
    storeId: 5n,
    tls: undefined,
    clock,
    logger: quiet,
    service: () => service,
    onRoundTrip,
  });
  closing.push({ [Symbol.asyncDispose]: async () => links[Symbol.dispose]() });
  links.setMembers([
    { id: 1n, peerUrls: ['http://127.0.0.1:1'] },
    { id, peerUrls: [...otherPorts, port].map((each) => `http://127.0.0.1:${each}`) },
  ]);
  return links;
}

/** Counts as this one does, but timers of seconds fire after milliseconds. */
const hurriedClock: Clock = { ...realClock, after: (delayMs, fire) => realClock.after(delayMs / 10, fire) };

test('an attempt to connect that nobody accepts is given up, and the next one has a connection of its own', async () => {
  const [mine, theirs] = [new Echo(), new Echo()];
  const server = await serve(theirs, 2n);
  const sockets: Socket[] = [];
  // The first connection is taken and never answered, as by a host that has left the network.
  const relay = createServer((socket) => {
    sockets.push(socket.on('error', () => undefined));
    if (sockets.length === 1) return;
    const there = connect(server.ports[0]!, '127.0.0.1').on('error', () => undefined);
    sockets.push(there);
    socket.pipe(there).pipe(socket);
  });
  closing.push({
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => relay.close(resolve));
    },
  });
  await once(relay.listen(0, '127.0.0.1'), 'listening');
  dial(mine, (relay.address() as AddressInfo).port, 2n, CLUSTER, [], () => {}, hurriedClock);
  await mine.until(() => mine.links.includes('connected 2'));
  expect(mine.links).toEqual(['connected 2']);
});

test('messages keep their order, and calls have their answers', async () => {
  const [mine, theirs] = [new Echo(), new Echo()];
  const links = dial(mine, (await serve(theirs, 2n)).ports[0]!);
  await mine.until(() => mine.links.includes('connected 2'));
  for (let at = 0; at < 100; at += 1) links.send(2n, utf8(`m${at}`));
  const answers = await Promise.all(['a', 'b', 'c'].map((text) => links.call(2n, utf8(text), never)));
  expect(answers.map((bytes) => Buffer.from(bytes).toString())).toEqual(['answer to a', 'answer to b', 'answer to c']);
  await theirs.until(() => theirs.messages.length === 100);
  expect(theirs.messages).toEqual(Array.from({ length: 100 }, (_, at) => `m${at}`));
});

test('a call before there is a connection has not left; one whose connection ends is lost', async () => {
  const [mine, theirs] = [new Echo(), new Echo()];
  const server = await serve(theirs, 2n);
  const links = dial(mine, server.ports[0]!);
  await expect(links.call(2n, utf8('early'), never)).rejects.toMatchObject({ fault: 'unsent' });
  await expect(links.call(7n, utf8('nobody'), never)).rejects.toMatchObject({ fault: 'unsent' });
  await mine.until(() => mine.links.includes('connected 2'));
  const held = links.call(2n, utf8('hold'), never);
  const failing = links.call(2n, utf8('fail'), never);
  await links.call(2n, utf8('after'), never);
  await server[Symbol.asyncDispose]();
  await expect(held).rejects.toMatchObject({ fault: 'lost' });
  await expect(failing).rejects.toMatchObject({ fault: 'lost' });
  await mine.until(() => mine.links.includes('gone 2'));
  expect(mine.links.slice(0, 2)).toEqual(['connected 2', 'disconnected 2']);
});

test('both ends count what passes between them, and what could not be sent', async () => {
  const [mine, theirs] = [new Echo(), new Echo()];
  const served = new Traffic();
  served.setMembers([1n]);
  theirs.batches = [{ first: logPosition(4), records: [utf8('12345'), utf8('67')] }];
  const server = await serve(theirs, 2n, 0, served);
  const roundTrip = Promise.withResolvers<number>();
  const links = dial(mine, server.ports[0]!, 2n, CLUSTER, [], (member, ms) => {
    if (member === 2n) roundTrip.resolve(ms);
  });
  const counted = (): object => ({ ...links.traffic.with(2n) });
  links.send(2n, utf8('dropped'));
  await expect(links.call(2n, utf8('early'))).rejects.toMatchObject({ fault: 'unsent' });
  expect(counted()).toMatchObject({ connected: false, sendFailures: 2, sentBytes: 0 });
  await mine.until(() => mine.links.includes('connected 2'));
  links.send(2n, utf8('message'));
  await links.call(2n, utf8('call'));
  for await (const _ of links.follow(2n, logPosition(4), never)) break;
  expect(await roundTrip.promise).toBeGreaterThan(0);
  const [asked, answered] = ['message'.length + 'call'.length, 'answer to call'.length + 7];
  expect(counted()).toMatchObject({ connected: true, sendFailures: 2, sentBytes: asked, receivedBytes: answered });
  expect({ ...served.with(1n) }).toMatchObject({ sentBytes: answered, receivedBytes: asked });
  await server[Symbol.asyncDispose]();
  await mine.until(() => mine.links.includes('disconnected 2'));
  expect(counted()).toMatchObject({ connected: false, disconnections: 1 });
  links.setMembers([]);
  expect([...links.traffic], 'a member that was removed').toEqual([]);
});

test('calls without a signal are answered, or lost with the connection', async () => {
  const [mine, theirs] = [new Echo(), new Echo()];
  const server = await serve(theirs, 2n);
  const links = dial(mine, server.ports[0]!);
  await expect(links.call(2n, utf8('early'))).rejects.toMatchObject({ fault: 'unsent' });
  await expect(links.call(7n, utf8('nobody'))).rejects.toMatchObject({ fault: 'unsent' });
  await mine.until(() => mine.links.includes('connected 2'));
  const held = links.call(2n, utf8('hold'));
  // The held call does not stand in the way of those behind it, however many they are.
  for (let at = 0; at < 300; at += 1) {
    expect(Buffer.from(await links.call(2n, utf8(`${at}`))).toString()).toBe(`answer to ${at}`);
  }
  await server[Symbol.asyncDispose]();
  await expect(held).rejects.toMatchObject({ fault: 'lost' });
});

test.each([
  ['twice', [3, 3]],
  ['backwards', [3, 2]],
  ['far ahead', [3, 70_000]],
  ['out of all bounds', [3, 2 ** 52]],
  ['far ahead, in steps', [3, 60_000, 120_000]],
])('a call under a number that does not follow ends the exchange: %s', async (_, [first, ...others]) => {
  const theirs = new Echo();
  const { ports } = await serve(theirs, 2n);
  const client = new Client(`127.0.0.1:${ports[0]}`, credentials.createInsecure());
  closing.push({ [Symbol.asyncDispose]: async () => client.close() });
  const { requestSerialize, responseDeserialize } = peerService.exchange;
  const stream = client.makeBidiStreamRequest<linkpb.FrameInit, linkpb.Answers>(
    EXCHANGE,
    requestSerialize,
    responseDeserialize,
  );
  const failed = new Promise<ServiceError>((resolve) => stream.on('error', resolve));
  const answered = new Promise<linkpb.Answers>((resolve) => stream.once('data', resolve));
  stream.write({
    hello: { cluster: CLUSTER, from: 1n, to: 2n },
    calls: [{ number: first!, request: utf8('one') }],
  });
  expect((await answered).answers.map(({ number }) => number)).toEqual([first]);
  const last = others.at(-1)!;
  const held = { number: first! + 1, request: utf8('hold') };
  const calls = others.map((number) => ({ number, request: utf8('two') }));
  stream.write({ calls: last > first! ? [held, ...calls] : calls });
  expect(await failed).toMatchObject({ code: status.INVALID_ARGUMENT, details: `call ${last} is out of order` });
});

test('a service that comes after the first connections is told of them', async () => {
  const [mine, theirs] = [new Echo(), new Echo()];
  const { ports } = await serve(theirs, 2n);
  const dead = await closedPort();
  let service: PeerService | undefined;
  const links = new PeerLinks({
    clusterId: CLUSTER,
    memberId: 1n,
    storeId: 5n,
    tls: undefined,
    clock: realClock,
    logger: quiet,
    service: () => service,
  });
  closing.push({ [Symbol.asyncDispose]: async () => links[Symbol.dispose]() });
  links.setMembers([
    { id: 2n, peerUrls: [`http://127.0.0.1:${ports[0]}`] },
    { id: 3n, peerUrls: [`http://127.0.0.1:${dead}`] },
  ]);
  // Member 2 is connected when a call is answered.
  for (let answered = false; !answered; ) {
    answered = await links.call(2n, utf8('x'), never).then(
      () => true,
      () => false,
    );
    await new Promise((resolve) => setImmediate(resolve));
  }
  service = mine;
  expect(mine.links).toEqual([]);
  links.introduce();
  expect(mine.links).toEqual(['connected 2']);
});

test('a member with several URLs is reached by the first that works, and again when it was gone', async () => {
  const [mine, theirs] = [new Echo(), new Echo()];
  const [deadA, deadB] = [await closedPort(), await closedPort()];
  const server = await serve(theirs, 2n);
  const links = dial(mine, server.ports[0]!, 2n, CLUSTER, [deadA, deadB]);
  await mine.until(() => mine.links.includes('connected 2'));
  expect(Buffer.from(await links.call(2n, utf8('a'), never)).toString()).toBe('answer to a');
  await server[Symbol.asyncDispose]();
  await mine.until(() => mine.links.includes('disconnected 2'));
  await serve(theirs, 2n, deadA);
  await mine.until(() => mine.links.filter((each) => each === 'connected 2').length === 2);
  expect(Buffer.from(await links.call(2n, utf8('b'), never)).toString()).toBe('answer to b');
});

test('a batch of very many records comes in several messages, and is one batch', async () => {
  const [mine, theirs] = [new Echo(), new Echo()];
  const records = Array.from({ length: 10_000 }, (_, at) => utf8(`${at}`));
  theirs.batches = [
    { first: logPosition(1), records },
    { first: logPosition(10_001), records: [utf8('next')] },
  ];
  const links = dial(mine, (await serve(theirs, 2n)).ports[0]!);
  await mine.until(() => mine.links.includes('connected 2'));
  const seen: LogBatch[] = [];
  for await (const batch of links.follow(2n, logPosition(1), never)) seen.push(batch);
  expect(seen.map((batch) => [batch.first, batch.records.length])).toEqual([
    [1, 10_000],
    [10_001, 1],
  ]);
  expect(seen[0]!.records.findIndex((bytes, at) => Buffer.from(bytes).toString() !== `${at}`)).toBe(-1);
});

test('a member of a version that joins no pieces gets none: it is told to read the log', async () => {
  const theirs = new Echo();
  const batchOf = (first: number, count: number): LogBatch => ({
    first: logPosition(first),
    records: Array.from({ length: count }, () => utf8('r')),
  });
  theirs.batches = [batchOf(1, 4096), batchOf(4097, 4097)];
  const { ports } = await serve(theirs, 2n);
  const client = new Client(`127.0.0.1:${ports[0]}`, credentials.createInsecure());
  closing.push({ [Symbol.asyncDispose]: async () => client.close() });
  const { requestSerialize, responseDeserialize } = peerService.follow;
  const follow = async (hello: linkpb.HelloInit): Promise<{ sizes: number[]; error?: unknown }> => {
    const request = { hello, from: logPosition(1) };
    const sizes: number[] = [];
    try {
      const stream = client.makeServerStreamRequest(FOLLOW, requestSerialize, responseDeserialize, request);
      for await (const { batches } of stream) for (const { records } of batches) sizes.push(records.length);
      return { sizes };
    } catch (error) {
      return { sizes, error };
    }
  };
  const hello = { cluster: CLUSTER, from: 1n, to: 2n };
  expect(await follow(hello)).toMatchObject({ sizes: [4096], error: { code: status.OUT_OF_RANGE } });
  expect(await follow({ ...hello, store: 5n })).toEqual({ sizes: [4096, 4096, 1] });
});

test('a call that nobody waits for is given up at the other end too', async () => {
  const [mine, theirs] = [new Echo(), new Echo()];
  const links = dial(mine, (await serve(theirs, 2n)).ports[0]!);
  await mine.until(() => mine.links.includes('connected 2'));
  const abort = new AbortController();
  const held = links.call(2n, utf8('hold'), abort.signal);
  await links.call(2n, utf8('after'), never);
  abort.abort(new Error('given up'));
  await expect(held).rejects.toThrow('given up');
  await theirs.until(() => theirs.aborted.includes('hold'));
});

test('a batch comes with the chain behind it, also in several messages; a leader may not know it', async () => {
  const [mine, theirs] = [new Echo(), new Echo()];
  const long = Array.from({ length: 5000 }, (_, at) => utf8(String(at)));
  theirs.batches = [
    { first: logPosition(1), records: [utf8('a')], chain: new Uint8Array(16).fill(1) },
    { first: logPosition(2), records: long, chain: new Uint8Array(16).fill(2) },
    { first: logPosition(5002), records: [utf8('b')], chain: undefined },
  ];
  const links = dial(mine, (await serve(theirs, 2n)).ports[0]!);
  await mine.until(() => mine.links.includes('connected 2'));
  const chains: (number | undefined)[] = [];
  for await (const { records, chain } of links.follow(2n, logPosition(1), never))
    chains.push(records.length, chain?.[0]);
  expect(chains).toEqual([1, 1, 5000, 2, 1, undefined]);
});

test('batches come in order from a position on, and a feed that does not go back so far says so', async () => {
  const [mine, theirs] = [new Echo(), new Echo()];
  theirs.batches = [1, 4, 6].map((first) => ({ first: logPosition(first), records: [utf8(`r${first}`)] }));
  const links = dial(mine, (await serve(theirs, 2n)).ports[0]!);
  await mine.until(() => mine.links.includes('connected 2'));
  const found: string[] = [];
  for await (const { first, records } of links.follow(2n, logPosition(4), never)) {
    found.push(`${first}: ${records.map((record) => Buffer.from(record).toString()).join()}`);
  }
  expect(found).toEqual(['4: r4', '6: r6']);
  const behind = (async () => {
    for await (const _ of links.follow(2n, logPosition(99), never)) expect.unreachable();
  })();
  await expect(behind).rejects.toMatchObject({ fault: 'behind' });
});

test('a feed waits for a follower that does not read, and goes on when it reads', async () => {
  const [mine, theirs] = [new Echo(), new Echo()];
  const links = dial(mine, (await serve(theirs, 2n)).ports[0]!);
  await mine.until(() => mine.links.includes('connected 2'));
  let fed = 0;
  const batches = 64;
  theirs.follow = async function* (): AsyncGenerator<LogBatch> {
    for (fed = 1; fed <= batches; fed += 1) yield { first: logPosition(fed), records: [new Uint8Array(1 << 20)] };
  };
  const following = links.follow(2n, logPosition(1), never)[Symbol.asyncIterator]();
  const firsts = [(await following.next()).value!.first];
  // By the end of so many calls to the same process, a feed that did not wait would be at its end.
  for (let call = 0; call < 300; call += 1) await links.call(2n, utf8(`${call}`), never);
  expect(fed).toBeLessThan(24);
  for (let next = await following.next(); next.done !== true; next = await following.next())
    firsts.push(next.value.first);
  expect(firsts).toEqual(Array.from({ length: batches }, (_, at) => at + 1));
});

test.each([
  { what: 'another member', id: 3n, cluster: CLUSTER },
  { what: 'a member of another cluster', id: 2n, cluster: 0xddn },
])('whoever means $what is not served', async ({ id, cluster }) => {
  const [mine, theirs] = [new Echo(), new Echo()];
  const links = dial(mine, (await serve(theirs, 2n)).ports[0]!, id, cluster);
  const following = (async () => {
    for await (const _ of links.follow(id, logPosition(1), never)) expect.unreachable();
  })();
  await expect(following).rejects.toMatchObject({ fault: 'lost' });
  await expect(links.call(id, utf8('x'), never)).rejects.toMatchObject({ fault: 'unsent' });
  expect(mine.links).toEqual([]);
});

test('a member that is not dialled any more, or not reached, gets messages over the connection that it has made', async () => {
  const removed = new Echo();
  const server = await serve(new Echo(), 2n);
  server.send(1n, utf8('nobody has dialled yet'));
  dial(removed, server.ports[0]!);
  await removed.until(() => removed.links.length > 0);
  const sendBack: string[] = [];
  const links = new PeerLinks({
    clusterId: CLUSTER,
    memberId: 2n,
    storeId: 5n,
    tls: undefined,
    clock: realClock,
    logger: quiet,
    service: () => undefined,
    sendBack: (member, bytes) => {
      sendBack.push(`${member}`);
      return server.send(member, bytes);
    },
  });
  closing.push({ [Symbol.asyncDispose]: async () => links[Symbol.dispose]() });
  links.send(1n, utf8('you were removed'));
  await removed.until(() => removed.messages.length > 0);
  expect(removed.messages).toEqual(['you were removed']);
  expect(sendBack).toEqual(['1']);
  // The member does not wait for its own connection if the other member's connection stands.
  links.setMembers([{ id: 1n, peerUrls: ['http://127.0.0.1:1'] }]);
  links.send(1n, utf8('you have my vote'));
  await removed.until(() => removed.messages.length > 1);
  expect(removed.messages).toEqual(['you were removed', 'you have my vote']);
});
