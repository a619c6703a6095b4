import { once } from 'node:events';
import { PeerLinks, servePeers, Traffic } from '@engram/peer';
import { quiet, realClock } from '@engram/sim';
import { BoundPort } from '@engram/transport';
import { Client, credentials, Metadata, Server, ServerCredentials, type ServerDuplexStream } from '@grpc/grpc-js';
import { afterEach, expect, test } from 'vitest';
import type * as linkpb from '../src/gen/linkpb.ts';
import { EXCHANGE, peerService } from '../src/methods.ts';
import { Echo, portOf } from './echo.ts';

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

test('messages back to a member that does not read them are dropped beyond a bound', async () => {
  const port = await BoundPort.bind({ kind: 'tcp', host: '127.0.0.1', port: 0 });
  const server = servePeers({
    clusterId: CLUSTER,
    memberId: 2n,
    storeId: 5n,
    ports: [{ port, secure: false }],
    tls: undefined,
    service: new Echo(),
    traffic: new Traffic(),
    clock: realClock,
    queuedBytesMax: 4 << 20,
    logger: quiet,
  });
  closing.push(server);
  const client = new Client(`127.0.0.1:${portOf(port)}`, credentials.createInsecure());
  closing.push({ [Symbol.asyncDispose]: async () => client.close() });
  const { requestSerialize, responseDeserialize } = peerService.exchange;
  const stream = client.makeBidiStreamRequest<linkpb.FrameInit, linkpb.Answers>(
    EXCHANGE,
    requestSerialize,
    responseDeserialize,
  );
  stream.on('error', () => {});
  stream.write({ hello: { cluster: CLUSTER, from: 1n, to: 2n } });
  await once(stream, 'metadata');
  let sent = 0;
  while (sent < MANY && server.send(1n, message)) {
    sent += 1;
    await turn();
  }
  expect(sent).toBeLessThan(MANY);
});
