import { SimClock } from '@engram/sim';
import { expect, test } from 'vitest';
import { serve, type ServeOptions } from '@engram/transport';
import { Flag, SettingId } from '@engram/http2';
import { KeepaliveTimer, PingJudge } from '../src/h2/keepalive-policy.ts';
import { frame, grpcHeaders, grpcMessage, RawClient } from './support/raw-client.ts';
import { type Serving, startServing, until } from './support/serving.ts';

const keepalive = { minTimeMs: 5_000, intervalMs: 7_200_000, timeoutMs: 20_000 };
const ping = (data: string): Buffer => frame('PING', 0, 0, Buffer.from(data.padEnd(8)));

// grpc-go: internal/transport/http2_server.go, handlePing.
test.each([
  { pings: [0, 5_000, 10_000, 15_000, 20_000], streams: 1, tooMany: [], why: 'exactly the least time apart' },
  {
    pings: [0, 4_999, 9_998, 14_997],
    streams: 1,
    tooMany: [14_997],
    why: 'the first is free, the third strike ends it',
  },
  { pings: [0, 10_000, 20_000, 30_000], streams: 0, tooMany: [30_000], why: 'without streams two hours are the least' },
  { pings: [0, 7_200_000, 14_400_000], streams: 0, tooMany: [], why: 'two hours apart' },
])('pings at $pings with $streams streams: $why', ({ pings, streams, tooMany }) => {
  const judge = new PingJudge(keepalive);
  expect(pings.filter((nowMs) => judge.onPing(nowMs, streams, false))).toEqual(tooMany);
});

test('what we send resets the strikes', () => {
  const judge = new PingJudge(keepalive);
  const sentBefore = [false, false, false, true, false, false, false];
  expect(sentBefore.map((sent, at) => judge.onPing(at, 1, sent))).toEqual([
    false,
    false,
    false,
    false,
    false,
    false,
    true,
  ]);
});

test('the timer pings after silence, waits for the answer, and gives up', () => {
  const timer = new KeepaliveTimer({ ...keepalive, intervalMs: 60_000 }, 0);
  expect(timer.onTimer(60_000, 10_000)).toEqual({ act: 'none', afterMs: 10_000 }); // 60 s after the last read
  expect(timer.onTimer(70_000, 10_000)).toEqual({ act: 'ping', afterMs: 20_000 });
  expect(timer.onTimer(90_000, 70_005)).toEqual({ act: 'none', afterMs: 40_005 }); // answered
  expect(timer.onTimer(130_005, 70_005)).toEqual({ act: 'ping', afterMs: 20_000 });
  expect(timer.onTimer(150_005, 70_005)).toEqual({ act: 'close', afterMs: 0 });
});

test('a timeout longer than the interval is waited for in steps', () => {
  const timer = new KeepaliveTimer({ ...keepalive, intervalMs: 8_000 }, 0);
  const acts = [8, 16, 24, 28].map((second) => timer.onTimer(second * 1_000, 0));
  expect(acts).toEqual([
    { act: 'ping', afterMs: 8_000 },
    { act: 'none', afterMs: 8_000 },
    { act: 'none', afterMs: 4_000 },
    { act: 'close', afterMs: 0 },
  ]);
});

async function startAt(clock: SimClock, changes: Partial<ServeOptions> = {}): Promise<Serving> {
  return startServing(serve, { clock, keepalive, ...changes });
}

/** Sends a ping and waits for the answer, so that the server has handled the ping and all earlier frames. */
async function pinged(client: RawClient, data: string): Promise<void> {
  client.write(ping(data));
  await client.frame(({ type, ack, payload }) => type === 'PING' && ack && payload.toString() === data.padEnd(8));
}

test("edge 132: too many pings: GOAWAY with ENHANCE_YOUR_CALM and grpc-go's debug data", async () => {
  await using serving = await startAt(new SimClock());
  using client = await RawClient.open(serving.port);
  for (const data of ['1', '2', '3', '4']) client.write(ping(data));
  expect(await client.goAway()).toBe('ENHANCE_YOUR_CALM too_many_pings');
  await client.untilClosed();
});

test('edge 132: pings in time while a stream is open are welcome', async () => {
  const clock = new SimClock();
  await using serving = await startAt(clock);
  using client = await RawClient.open(serving.port);
  client.write(client.headers(1, grpcHeaders('/test.Echo/Open')));
  for (let at = 0; at < 10; at += 1) {
    await pinged(client, `${at}`);
    clock.advance(5_000);
  }
});

test('an idle client is pinged, and cut when it does not answer', async () => {
  const clock = new SimClock();
  await using serving = await startAt(clock, { keepalive: { ...keepalive, intervalMs: 60_000 } });
  using client = await RawClient.open(serving.port);
  clock.advance(60_000);
  const sent = await client.frame(({ type, ack }) => type === 'PING' && !ack);
  clock.advance(10_000);
  client.write(frame('PING', Flag.ACK, 0, sent.payload));
  await pinged(client, 'seen');
  clock.advance(59_000);
  expect(client.closed).toBe(false);
  clock.advance(1_000);
  await until(() => client.received.filter(({ type, ack }) => type === 'PING' && !ack).length === 2);
  clock.advance(20_000);
  await client.untilClosed();
});

test('interval 0: nobody is pinged', async () => {
  const clock = new SimClock();
  await using serving = await startAt(clock, { keepalive: { ...keepalive, intervalMs: 0 } });
  using client = await RawClient.open(serving.port);
  clock.advance(100 * 3_600_000);
  await pinged(client, 'seen');
  expect(client.received.some(({ type, ack }) => type === 'PING' && !ack)).toBe(false);
});

test('a deadline passes on the server, too', async () => {
  const clock = new SimClock();
  await using serving = await startAt(clock);
  using client = await RawClient.open(serving.port);
  client.write(client.request(1, '/test.Echo/Hang', 'x', { 'grpc-timeout': '2S' }));
  client.write(client.headers(3, grpcHeaders('/test.Echo/Open', { 'grpc-timeout': '3000m' })));
  client.write(client.headers(5, grpcHeaders('/test.Echo/Sync', { 'grpc-timeout': '1S' }))); // without a message
  await pinged(client, 'seen');
  clock.advance(990);
  expect(serving.observer.handled).toEqual([]);
  clock.advance(30);
  expect(await client.outcome(5)).toBe(':status: 200, grpc-status: 4, grpc-message: context deadline exceeded');
  clock.advance(1_000);
  expect(await client.outcome(1)).toBe(':status: 200, grpc-status: 4, grpc-message: context deadline exceeded');
  clock.advance(1_000);
  expect(await client.outcome(3)).toBe(':status: 200, grpc-status: 4, grpc-message: context deadline exceeded');
  expect(serving.journal).toEqual(['hangs', 'aborted', 'closed']);
  expect(serving.observer.handled).toEqual(['Hang 4', 'Open 4']);
});

test('a drain: GOAWAY without a last stream, a ping, and when it is answered GOAWAY with the last stream', async () => {
  const clock = new SimClock();
  await using serving = await startAt(clock);
  using client = await RawClient.open(serving.port);
  client.write(client.headers(1, grpcHeaders('/test.Echo/Open')), client.headers(3, grpcHeaders('/test.Echo/Sync')));
  await pinged(client, 'seen');
  const drained = serving.server.drain(new AbortController().signal);
  expect(await client.outcome(1)).toBe(':status: 200, grpc-status: 14, grpc-message: etcdserver: server stopped');
  const first = await client.frame(({ type }) => type === 'GOAWAY');
  expect(first.payload.toString('latin1')).toBe('\x7f\xff\xff\xff\0\0\0\0graceful_stop');
  // Until the client has seen the GOAWAY, its new calls are served, but new streams end at once.
  client.write(client.request(5, '/test.Echo/Sync', 'x'), client.headers(7, grpcHeaders('/test.Echo/Open')));
  expect(await client.outcome(5)).toBe('grpc-status: 0');
  expect(await client.outcome(7)).toMatch(/grpc-status: 14/);
  const probe = await client.frame(({ type, ack }) => type === 'PING' && !ack);
  client.write(frame('PING', Flag.ACK, 0, probe.payload));
  const second = await client.frame((next) => next.type === 'GOAWAY' && next !== first);
  expect(second.payload.readUInt32BE()).toBe(7);
  client.write(client.request(9, '/test.Echo/Sync', 'x'));
  expect(await client.outcome(9)).toBe('RST_STREAM REFUSED_STREAM');
  // The running unary call still gets its answer. Then the connection ends.
  client.write(client.data(3, grpcMessage('late'), true));
  expect(await client.outcome(3)).toBe('grpc-status: 0');
  await client.untilClosed();
  await drained;
});

test.each([
  { why: 'the bound', end: (clock: SimClock) => clock.advance(7_000) },
  { why: 'its signal', end: (_clock: SimClock, abort: AbortController) => abort.abort() },
])('a drain that waits for a call ends at $why', async ({ end }) => {
  const clock = new SimClock();
  await using serving = await startAt(clock);
  using client = await RawClient.open(serving.port);
  client.write(client.request(1, '/test.Echo/Hang', 'x'));
  await until(() => serving.journal.includes('hangs'));
  const abort = new AbortController();
  const drained = serving.server.drain(abort.signal);
  end(clock, abort);
  await drained;
  await client.untilClosed();
});

test('a client that reads nothing for five minutes is cut', async () => {
  const clock = new SimClock();
  await using serving = await startAt(clock);
  using client = await RawClient.open(serving.port, [[SettingId.INITIAL_WINDOW_SIZE, 0]]);
  client.write(client.request(1, '/test.Echo/Big', '100'));
  await until(() => serving.observer.handled.length === 1);
  clock.advance(299_000);
  await pinged(client, 'seen');
  clock.advance(10_000);
  await client.untilClosed();
});
