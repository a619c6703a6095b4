import { once } from 'node:events';
import { connect } from 'node:tls';
import { expect, test } from 'vitest';
import { JOBS_TURN_MS, Loop } from '@engram/loop';
import { SimClock } from '@engram/sim';
import { type HttpRequest, type HttpResponse, serve } from '@engram/transport';
import { CLIENT_PREFACE, rstStreamFrame, SettingId, settingsAckFrame, settingsFrame } from '@engram/http2';
import { CertificateFolder } from './support/certificate-folder.ts';
import { issue } from './support/certificates.ts';
import { HeldLoop } from './support/held-loop.ts';
import { frame, RawClient } from './support/raw-client.ts';
import { type Serving, startServing } from './support/serving.ts';

/* Plain requests over HTTP/2, such as GET /metrics, which TLS listeners serve. They are admitted like calls. */

const ca = issue('test ca');
const server = issue('server', ca);

async function serving(
  http: (request: HttpRequest) => HttpResponse | Promise<HttpResponse>,
  streams: number,
  // It stands still, so that no tokens are refilled, however slow the machine is.
  clock = new SimClock(),
  loop = new Loop({ clock }),
): Promise<Serving> {
  const folder = new CertificateFolder(ca, server);
  return startServing(serve, {
    clock,
    loop,
    http,
    maxConcurrentStreams: streams,
    tls: folder.tls(),
  });
}

async function open(port: number, settings: readonly (readonly [number, number])[] = []): Promise<RawClient> {
  const socket = connect({ host: '127.0.0.1', port, ca: ca.certificate, ALPNProtocols: ['h2'] });
  await once(socket, 'secureConnect');
  const client = new RawClient(socket);
  client.write(Buffer.from(CLIENT_PREFACE), settingsFrame(settings), settingsAckFrame);
  await client.frame(({ type, ack }) => type === 'SETTINGS' && ack);
  return client;
}

const get = (client: RawClient, id: number): Buffer =>
  client.headers(id, { ':method': 'GET', ':scheme': 'https', ':path': '/metrics', ':authority': 'x' }, true);

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('the authority is the host, whatever a header says', async () => {
  const hosts: (string | undefined)[] = [];
  await using served = await serving(({ headers }) => {
    hosts.push(headers['host']);
    return { status: 200, headers: {}, body: '' };
  }, 10);
  using client = await open(served.port);
  const head = { ':method': 'GET', ':scheme': 'https', ':path': '/metrics' };
  client.write(client.headers(1, { ...head, ':authority': 'x', host: 'x' }, true));
  client.write(client.headers(3, { ...head, ':authority': 'x', host: 'y' }, true));
  client.write(client.headers(5, { ...head, host: 'y' }, true));
  for (const id of [1, 3, 5]) await client.frame(({ streamId, endStream }) => streamId === id && endStream);
  expect(hosts).toEqual(['x', 'x', 'y']);
});

test('an answer that breaks off is reset, and does not look whole', async () => {
  async function* broken(): AsyncGenerator<string> {
    yield 'first';
    throw new Error('the rest cannot be had');
  }
  await using served = await serving(() => ({ status: 200, headers: {}, body: broken() }), 10);
  using client = await open(served.port);
  client.write(get(client, 1));
  expect(await client.outcome(1)).toBe('RST_STREAM INTERNAL_ERROR');
});

test('an answer that nobody takes is cut after five minutes, also where the client takes others', async () => {
  const clock = new SimClock();
  let ended = 0;
  async function* endless(): AsyncGenerator<string> {
    try {
      for (;;) yield 'x'.repeat(100_000);
    } finally {
      ended += 1;
    }
  }
  const bodies = [endless(), 'short', 'short'];
  await using served = await serving(() => ({ status: 200, headers: {}, body: bodies.shift()! }), 10, clock);
  using client = await open(served.port, [[SettingId.INITIAL_WINDOW_SIZE, 100]]);
  client.write(get(client, 1));
  await client.frame(({ type, streamId }) => type === 'DATA' && streamId === 1);
  clock.advance(4 * 60_000);
  client.write(get(client, 3));
  await client.frame(({ streamId, endStream }) => streamId === 3 && endStream);
  expect(client.received.some(({ type }) => type === 'RST_STREAM')).toBe(false);
  clock.advance(70_000);
  expect(await client.outcome(1)).toBe('RST_STREAM INTERNAL_ERROR');
  while (ended === 0) await turn();
  client.write(get(client, 5));
  await client.frame(({ streamId, endStream }) => streamId === 5 && endStream);
});

test('those that are reset at once: no more handlers run than streams are allowed, and the connection ends', async () => {
  let begun = 0;
  const hangs = (): Promise<HttpResponse> => {
    begun += 1;
    return new Promise(() => {});
  };
  await using served = await serving(hangs, 10);
  using client = await open(served.port);
  for (let id = 1; id < 20; id += 2) client.write(get(client, id));
  while (begun < 10) await turn();
  for (let id = 1; id < 20; id += 2) client.write(rstStreamFrame(id, 8));
  for (let id = 21; id < 80_000 && !client.closed; id += 2) {
    client.write(get(client, id), rstStreamFrame(id, 8));
    if (client.socket.writableNeedDrain) {
      await Promise.race([once(client.socket, 'drain'), once(client.socket, 'close')]);
    }
  }
  expect(await client.goAway()).toMatch(/^ENHANCE_YOUR_CALM too_many/);
  await client.untilClosed();
  expect(begun).toBe(10);
});

test('those whose answers are not read: no more begin than fit', async () => {
  let begun = 0;
  const body = Buffer.alloc(2_000_000);
  const answers = (): HttpResponse => {
    begun += 1;
    return { status: 200, headers: {}, body };
  };
  await using served = await serving(answers, 1_000);
  using client = await open(served.port, [[SettingId.INITIAL_WINDOW_SIZE, 0]]);
  // One after another: requests in one slice of frames all start before any of them has answered. 16 MiB of answers are
  // allowed.
  for (let id = 1; id < 18; id += 2) {
    client.write(get(client, id));
    await client.frame(({ type, streamId }) => type === 'HEADERS' && streamId === id);
  }
  for (let id = 19; id < 400; id += 2) client.write(get(client, id));
  client.write(frame('PING', 0, 0, Buffer.alloc(8)));
  await client.frame(({ type, ack }) => type === 'PING' && ack);
  expect(begun).toBe(9);
});

const MANY = 200;
const many = (client: RawClient): Buffer =>
  Buffer.concat(Array.from({ length: MANY }, (_, at) => get(client, 2 * at + 1)));

test('those that come at once start over several turns', async () => {
  const HANDLER_MS = JOBS_TURN_MS / 4;
  class Working extends SimClock {
    workedMs = 0;
    override nowMs(): number {
      return super.nowMs() + this.workedMs;
    }
  }
  const clock = new Working();
  let [begun, most] = [0, 0];
  const answers = (): HttpResponse => {
    begun += 1;
    clock.workedMs += HANDLER_MS;
    return { status: 200, headers: {}, body: '' };
  };
  await using served = await serving(answers, 1_000, clock);
  using client = await open(served.port);
  client.write(many(client));
  for (let before = 0; begun < MANY; before = begun) {
    await turn();
    most = Math.max(most, begun - before);
  }
  // The loop may have turned twice between two checks of this test.
  expect(most).toBeLessThanOrEqual((2 * JOBS_TURN_MS) / HANDLER_MS);
});

test('one that is reset before its slice is not handled, and makes room', async () => {
  const clock = new SimClock();
  const loop = new HeldLoop(clock, 'http');
  let begun = 0;
  const answers = (): HttpResponse => {
    begun += 1;
    return { status: 200, headers: {}, body: '' };
  };
  await using served = await serving(answers, 1, clock, loop);
  using client = await open(served.port);
  client.write(get(client, 1), rstStreamFrame(1, 8), get(client, 3));
  while (loop.slices.length < 1) await turn();
  loop.slices.shift()!();
  while (loop.slices.length < 1) await turn();
  expect(begun).toBe(0);
  loop.slices.shift()!();
  while (loop.slices.length < 1) await turn();
  loop.slices.shift()!();
  await client.frame(({ type, streamId }) => type === 'HEADERS' && streamId === 3);
  expect(begun).toBe(1);
});

test('those that wait for the same answer are answered in slices', async () => {
  const clock = new SimClock();
  const loop = new HeldLoop(clock);
  const { slices } = loop;
  const page = Promise.withResolvers<HttpResponse>();
  let begun = 0;
  const answers = (): Promise<HttpResponse> => {
    begun += 1;
    return page.promise;
  };
  await using served = await serving(answers, 1_000, clock, loop);
  using client = await open(served.port);
  client.write(many(client));
  while (begun < MANY) await turn();
  loop.held = 'http';
  page.resolve({ status: 200, headers: {}, body: 'the text' });
  while (slices.length < MANY) await turn();
  const answered = (): number => client.received.filter(({ type }) => type === 'HEADERS').length;
  for (let count = 0; count < 3; count += 1) slices.shift()!();
  client.write(frame('PING', 0, 0, Buffer.alloc(8)));
  await client.frame(({ type, ack }) => type === 'PING' && ack);
  expect(answered()).toBe(3);
  for (const fire of slices) fire();
  await client.outcome(2 * MANY - 1);
  expect(answered()).toBe(MANY);
});
